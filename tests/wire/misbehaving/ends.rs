//! How answers end: with the wrong reason, with none, twice.

use serde_json::{Value, json};

use super::frames::{DONE, N1, ONE, add, all_ending, bedrock_end};
use super::speak::{End, Say, begin, chunk, data, event, finish, item, line, message, say};
use super::{PROTOCOLS, Row};

pub fn rows() -> Vec<Row> {
    vec![
        Row {
            server: "says `stop` although there are calls",
            run: "runs the calls",
            bodies: all_ending(&[add("t1", N1)], End::Stop),
            expect: ONE,
            ..Row::default()
        },
        Row {
            server: "says `length` after a complete call, or closes the call's JSON itself",
            run: "does not run the call, and reports to the model that it was cut off; `toolCalls.runCutOff` runs it",
            bodies: all_ending(&[add("t1", N1)], End::Length),
            expect: &["sent call t1, result t1 cut_off", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "says `length` within text",
            run: "completes with the text; `finishReason` says so",
            bodies: all_ending(&[Say::Text("Once upon")], End::Length),
            expect: &["completed \"Once upon\""],
            ..Row::default()
        },
        Row {
            server: "says that there are calls where there is only text",
            run: "completes with the text",
            bodies: all_ending(&[Say::Text("Hi.")], End::Calls),
            expect: &["completed \"Hi.\""],
            ..Row::default()
        },
        Row {
            server: "gives null as the reason, to the protocol's end",
            run: "completes all the same",
            bodies: vec![
                ("anthropic", anthropic(json!({"stop_reason": null}))),
                ("openai_chat", [openai(&[Value::Null]), DONE.to_vec()].concat()),
                ("ndjson", ndjson(json!({"type": "finish", "reason": null}))),
                (
                    "openai_responses",
                    responses(json!({"status": null, "incomplete_details": null})),
                ),
                (
                    "bedrock_converse",
                    bedrock_end(&hi("bedrock_converse"), json!({"stopReason": null})),
                ),
            ],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "gives null as the reason after a call",
            run: "runs the call",
            bodies: vec![
                (
                    "anthropic",
                    [
                        begin("anthropic"),
                        call("anthropic"),
                        stop_reason(json!({"stop_reason": null})),
                        event(json!({"type": "message_stop"})),
                    ]
                    .concat(),
                ),
                (
                    "openai_chat",
                    [
                        begin("openai_chat"),
                        call("openai_chat"),
                        chunk(json!({}), Value::Null),
                        DONE.to_vec(),
                    ]
                    .concat(),
                ),
                (
                    "openai_responses",
                    [
                        begin("openai_responses"),
                        call("openai_responses"),
                        event(json!({"type": "response.completed", "response": {"status": null}})),
                    ]
                    .concat(),
                ),
                (
                    "bedrock_converse",
                    bedrock_end(&call("bedrock_converse"), json!({"stopReason": null})),
                ),
                (
                    "ndjson",
                    [
                        begin("ndjson"),
                        call("ndjson"),
                        line(json!({"type": "finish", "reason": null})),
                    ]
                    .concat(),
                ),
            ],
            expect: ONE,
            ..Row::default()
        },
        Row {
            server: "gives no reason, only the protocol's end",
            run: "completes all the same",
            bodies: vec![
                ("anthropic", anthropic(json!({}))),
                (
                    "openai_chat",
                    [begin("openai_chat"), hi("openai_chat"), DONE.to_vec()].concat(),
                ),
                ("ndjson", ndjson(json!({"type": "finish"}))),
                ("openai_responses", responses(json!({}))),
                (
                    "bedrock_converse",
                    bedrock_end(&hi("bedrock_converse"), json!({})),
                ),
            ],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "gives a reason and no protocol's end",
            run: "completes when the body ends",
            bodies: vec![
                (
                    "anthropic",
                    [
                        begin("anthropic"),
                        hi("anthropic"),
                        stop_reason(json!({"stop_reason": "end_turn"})),
                    ]
                    .concat(),
                ),
                ("openai_chat", openai(&[json!("stop")])),
                ("gemini", reasons(&["STOP"])),
                ("bedrock_converse", stops(&["end_turn"])),
            ],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "gives neither a reason nor an end",
            run: "takes the answer as cut off: `reset`, and again",
            bodies: vec![
                ("anthropic", [begin("anthropic"), hi("anthropic")].concat()),
                ("openai_chat", [begin("openai_chat"), hi("openai_chat")].concat()),
                ("ndjson", [begin("ndjson"), hi("ndjson")].concat()),
                (
                    "openai_responses",
                    [begin("openai_responses"), hi("openai_responses")].concat(),
                ),
                ("gemini", reasons(&[])),
                ("bedrock_converse", stops(&[])),
            ],
            expect: &["reset", "retry after malformed_stream", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "gives a call and neither a reason nor an end",
            run: "does not run the call: `reset`, and again",
            bodies: PROTOCOLS
                .iter()
                .map(|protocol| {
                    (
                        *protocol,
                        [begin(protocol), say(protocol, 0, &add("t1", N1))].concat(),
                    )
                })
                .collect(),
            expect: &["reset", "retry after malformed_stream", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "gives its reason twice",
            run: "takes the last",
            bodies: vec![
                (
                    "anthropic",
                    [
                        begin("anthropic"),
                        hi("anthropic"),
                        stop_reason(json!({"stop_reason": "end_turn"})),
                        finish("anthropic", End::Stop),
                    ]
                    .concat(),
                ),
                (
                    "openai_chat",
                    [openai(&[json!("stop"), json!("stop")]), DONE.to_vec()].concat(),
                ),
                (
                    "ndjson",
                    [
                        begin("ndjson"),
                        hi("ndjson"),
                        finish("ndjson", End::Stop),
                        finish("ndjson", End::Stop),
                    ]
                    .concat(),
                ),
                ("openai_responses", {
                    let end = finish("openai_responses", End::Stop);
                    [
                        begin("openai_responses"),
                        hi("openai_responses"),
                        end.clone(),
                        end,
                    ]
                    .concat()
                }),
                ("gemini", reasons(&["STOP", "STOP"])),
                ("bedrock_converse", stops(&["end_turn", "end_turn"])),
            ],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "gives its reason before the last text",
            run: "reads the text too",
            bodies: vec![
                (
                    "openai_chat",
                    [
                        begin("openai_chat"),
                        chunk(json!({"content": "Hi"}), json!("stop")),
                        chunk(json!({"content": "."}), Value::Null),
                        DONE.to_vec(),
                    ]
                    .concat(),
                ),
                (
                    "gemini",
                    [
                        begin("gemini"),
                        data(json!({"candidates": [{"content": {"parts": [{"text": "Hi"}]},
                        "finishReason": "STOP"}]})),
                        data(json!({"candidates": [{"content": {"parts": [{"text": "."}]},
                        "finishReason": "STOP"}]})),
                    ]
                    .concat(),
                ),
            ],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "continues after the protocol's end",
            run: "ignores the rest",
            bodies: vec![
                (
                    "anthropic",
                    [
                        begin("anthropic"),
                        hi("anthropic"),
                        finish("anthropic", End::Stop),
                        b"event: data\ndata: [DONE]\n\n".to_vec(),
                        hi("anthropic"),
                    ]
                    .concat(),
                ),
                (
                    "openai_chat",
                    [
                        openai(&[json!("stop")]),
                        DONE.to_vec(),
                        hi("openai_chat"),
                        DONE.to_vec(),
                    ]
                    .concat(),
                ),
                (
                    "ndjson",
                    [
                        begin("ndjson"),
                        hi("ndjson"),
                        finish("ndjson", End::Stop),
                        hi("ndjson"),
                    ]
                    .concat(),
                ),
                ("openai_responses", {
                    let end = finish("openai_responses", End::Stop);
                    [
                        begin("openai_responses"),
                        hi("openai_responses"),
                        end,
                        hi("openai_responses"),
                    ]
                    .concat()
                }),
                ("bedrock_converse", {
                    let end = finish("bedrock_converse", End::Stop);
                    [
                        begin("bedrock_converse"),
                        hi("bedrock_converse"),
                        end,
                        hi("bedrock_converse"),
                    ]
                    .concat()
                }),
            ],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "gives its own reason",
            run: "completes; `rawFinishReason` has the word",
            bodies: vec![
                ("anthropic", anthropic(json!({"stop_reason": "model_got_bored"}))),
                ("openai_chat", [openai(&[json!("eos")]), DONE.to_vec()].concat()),
                ("ndjson", ndjson(json!({"type": "finish", "reason": "bored"}))),
                (
                    "openai_responses",
                    responses(json!({"status": "incomplete", "incomplete_details": {"reason": "bored"}})),
                ),
                ("gemini", reasons(&["BORED"])),
                ("bedrock_converse", stops(&["bored"])),
            ],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "sends an answer of nothing",
            run: "completes without text, and sends no empty message",
            bodies: all_ending(&[], End::Stop),
            expect: &["completed \"\""],
            ..Row::default()
        },
        Row {
            server: "pauses a long turn (`pause_turn`)",
            run: "sends the turn back unchanged and continues",
            bodies: vec![
                (
                    "anthropic",
                    super::speak::answer("anthropic", &[Say::Text("Hi.")], End::Pause),
                ),
                (
                    "ndjson",
                    super::speak::answer("ndjson", &[Say::Text("Hi.")], End::Pause),
                ),
            ],
            expect: &["sent \"Hi.\"", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "refuses",
            run: "completes with the refusal as text; `finishReason` says so",
            bodies: vec![
                ("anthropic", anthropic(json!({"stop_reason": "refusal"}))),
                (
                    "openai_chat",
                    [
                        begin("openai_chat"),
                        chunk(json!({"refusal": "Hi."}), Value::Null),
                        finish("openai_chat", End::Stop),
                    ]
                    .concat(),
                ),
                (
                    "ndjson",
                    [
                        begin("ndjson"),
                        line(json!({"type": "refusal", "text": "Hi."})),
                        finish("ndjson", End::Stop),
                    ]
                    .concat(),
                ),
                ("openai_responses", {
                    let part = json!({"type": "refusal", "refusal": "Hi."});
                    let whole =
                        json!({"id": "msg_0", "type": "message", "role": "assistant", "content": [part]});
                    [
                        begin("openai_responses"),
                        item("done", 0, whole),
                        finish("openai_responses", End::Stop),
                    ]
                    .concat()
                }),
            ],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "sends further choices (`n` > 1), one of which ends first",
            run: "reads only the first",
            bodies: vec![
                ("openai_chat", {
                    let other = json!({"id": "c_1", "choices": [{"index": 1, "delta": {"content": "Other"},
                    "finish_reason": "length"}]});
                    [
                        begin("openai_chat"),
                        data(other),
                        openai(&[json!("stop")]),
                        DONE.to_vec(),
                    ]
                    .concat()
                }),
                ("gemini", {
                    let other = json!({"candidates": [{"index": 1, "content": {"parts": [{"text": "Other"}]},
                    "finishReason": "MAX_TOKENS"}]});
                    [data(other), reasons(&["STOP"])].concat()
                }),
            ],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "sends call, reason and usage in one chunk",
            run: "reads all of it",
            bodies: vec![(
                "openai_chat",
                [
                    data(
                        json!({"id": "c_1", "choices": [{"index": 0, "finish_reason": "tool_calls",
                        "delta": {"role": "assistant", "content": "", "tool_calls": [{"index": 0, "id": "t1",
                            "type": "function", "function": {"name": "add", "arguments": N1}}]}}],
                        "usage": {"prompt_tokens": 10, "completion_tokens": 5}}),
                    ),
                    DONE.to_vec(),
                ]
                .concat(),
            )],
            expect: ONE,
            ..Row::default()
        },
    ]
}

const HI: &[&str] = &["completed \"Hi.\""];

fn hi(protocol: &str) -> Vec<u8> {
    say(protocol, 0, &Say::Text("Hi."))
}

fn call(protocol: &str) -> Vec<u8> {
    say(protocol, 0, &add("t1", N1))
}

/// `Hi.` and a `message_delta` with this.
fn anthropic(delta: Value) -> Vec<u8> {
    let stop = event(json!({"type": "message_stop"}));
    [begin("anthropic"), hi("anthropic"), stop_reason(delta), stop].concat()
}

fn stop_reason(delta: Value) -> Vec<u8> {
    event(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}))
}

/// `Hi.` and a chunk for each of these reasons; no `[DONE]`.
fn openai(reasons: &[Value]) -> Vec<u8> {
    let mut body = [begin("openai_chat"), hi("openai_chat")].concat();
    for reason in reasons {
        body.extend(chunk(json!({}), reason.clone()));
    }
    body
}

/// Responses: `Hi.`, and the last event with this instead of its `status`.
fn responses(fields: Value) -> Vec<u8> {
    let mut response = json!({"id": "resp_1", "output": []});
    for (key, value) in fields.as_object().unwrap() {
        response[key] = value.clone();
    }
    let end = event(json!({"type": "response.completed", "response": response}));
    [begin("openai_responses"), hi("openai_responses"), end].concat()
}

/// Bedrock: `Hi.` and an end for each of these reasons, without the usage.
fn stops(reasons: &[&str]) -> Vec<u8> {
    let mut body = [begin("bedrock_converse"), hi("bedrock_converse")].concat();
    for reason in reasons {
        body.extend(message("messageStop", json!({"stopReason": reason})));
    }
    body
}

/// Gemini: `Hi.` and a chunk for each of these reasons.
fn reasons(reasons: &[&str]) -> Vec<u8> {
    let mut body = [begin("gemini"), hi("gemini")].concat();
    for reason in reasons {
        body.extend(data(json!({"candidates": [{"finishReason": reason}]})));
    }
    body
}

fn ndjson(last: Value) -> Vec<u8> {
    [begin("ndjson"), hi("ndjson"), line(last)].concat()
}
