//! How servers name their tool calls: by index, by id, by both, by neither.

use serde_json::{Value, json};

use super::speak::{
    End, Say, answer, begin, block_delta, chunk, event, finish, item, line, message, parts, tool_start,
};
use super::{PROTOCOLS, Row, TEXTUAL};

pub fn rows() -> Vec<Row> {
    vec![
        Row {
            server: "sends no id for a call",
            run: "mints one and uses it for the call and its result",
            bodies: vec![
                (
                    "anthropic",
                    blocks(&[json!({"type": "tool_use", "name": "add", "input": {}})], true),
                ),
                (
                    "openai_chat",
                    chat(&[json!({"index": 0, "function": {"name": "add", "arguments": N1}})]),
                ),
                (
                    "ndjson",
                    lines(&[json!({"type": "tool_call", "name": "add", "input": {"n": 1}})]),
                ),
                (
                    "openai_responses",
                    calls_of_responses(&[json!({"type": "function_call", "name": "add"})]),
                ),
                (
                    "gemini",
                    gemini(json!({"functionCall": {"name": "add", "args": {"n": 1}}})),
                ),
                (
                    "bedrock_converse",
                    bedrock(&[
                        tool_start(0, json!({"name": "add"})),
                        block_delta(0, json!({"toolUse": {"input": N1}})),
                    ]),
                ),
            ],
            expect: &[
                r#"run add {"n":1} as minted1"#,
                "sent call minted1, result minted1 1",
                "completed \"Done.\"",
            ],
            but: &[("gemini", PLACED)],
            ..Row::default()
        },
        Row {
            server: "sends an empty or a null id",
            run: "the same",
            bodies: vec![
                (
                    "anthropic",
                    blocks(
                        &[json!({"type": "tool_use", "id": null, "name": "add", "input": {}})],
                        true,
                    ),
                ),
                (
                    "openai_chat",
                    chat(&[json!({"index": 0, "id": "", "function": {"name": "add", "arguments": N1}})]),
                ),
                (
                    "ndjson",
                    lines(&[json!({"type": "tool_call", "id": "", "name": "add", "input": N1})]),
                ),
                (
                    "openai_responses",
                    calls_of_responses(&[json!({"type": "function_call", "call_id": "", "name": "add"})]),
                ),
                (
                    "gemini",
                    gemini(json!({"functionCall": {"id": null, "name": "add", "args": {"n": 1}}})),
                ),
                (
                    "bedrock_converse",
                    bedrock(&[
                        tool_start(0, json!({"toolUseId": "", "name": "add"})),
                        block_delta(0, json!({"toolUse": {"input": N1}})),
                    ]),
                ),
            ],
            expect: MINTED,
            but: &[("gemini", PLACED)],
            ..Row::default()
        },
        Row {
            server: "sends the index of no call, or of no block",
            run: "takes what has none as the last one's",
            bodies: vec![
                ("anthropic", without_index()),
                (
                    "openai_chat",
                    chat(&[
                        json!({"id": "t1", "function": {"name": "add", "arguments": "{\"n\""}}),
                        json!({"function": {"arguments": ":1}"}}),
                    ]),
                ),
                (
                    "ndjson",
                    lines(&[
                        json!({"type": "tool_call_start", "id": "t1", "name": "add"}),
                        json!({"type": "tool_call_delta", "text": N1}),
                        json!({"type": "tool_call_end"}),
                    ]),
                ),
                ("openai_responses", {
                    let call =
                        json!({"type": "function_call", "call_id": "t1", "name": "add", "arguments": ""});
                    let mut done = call.clone();
                    done["arguments"] = json!(N1);
                    [
                        begin("openai_responses"),
                        event(json!({"type": "response.output_item.added", "item": call})),
                        event(json!({"type": "response.function_call_arguments.delta", "delta": N1})),
                        event(json!({"type": "response.output_item.done", "item": done})),
                        finish("openai_responses", End::Calls),
                    ]
                    .concat()
                }),
                (
                    "bedrock_converse",
                    bedrock(&[
                        message(
                            "contentBlockStart",
                            json!({"start": {"toolUse": {"toolUseId": "t1", "name": "add"}}}),
                        ),
                        message("contentBlockDelta", json!({"delta": {"toolUse": {"input": N1}}})),
                        message("contentBlockStop", json!({})),
                    ]),
                ),
            ],
            expect: ONE,
            ..Row::default()
        },
        Row {
            server: "sends whole calls without index or type, several in one delta",
            run: "runs each",
            bodies: vec![("openai_chat", {
                let call = |id: &str, n: &str| json!({"id": id, "function": {"name": "add", "arguments": n}});
                let delta = json!({"tool_calls": [call("t1", N1), call("t2", N2)]});
                [
                    begin("openai_chat"),
                    chunk(delta, json!("tool_calls")),
                    DONE.to_vec(),
                ]
                .concat()
            })],
            expect: TWO,
            ..Row::default()
        },
        Row {
            server: "sends id and name only in a call's first delta",
            run: "reads what follows by its index",
            bodies: vec![
                (
                    "openai_chat",
                    chat(&[
                        json!({"index": 0, "id": "t1", "function": {"name": "add"}}),
                        json!({"index": 0, "function": {"arguments": "{\"n\""}}),
                        json!({"index": 0, "function": {"arguments": ":1}"}}),
                    ]),
                ),
                (
                    "ndjson",
                    lines(&[
                        json!({"type": "tool_call_start", "id": "t1", "name": "add", "index": 0}),
                        json!({"type": "tool_call_delta", "index": 0, "text": "{\"n\""}),
                        json!({"type": "tool_call_delta", "index": 0, "text": ":1}"}),
                    ]),
                ),
            ],
            expect: ONE,
            ..Row::default()
        },
        Row {
            server: "blanks id and name in later deltas, as empty strings or null",
            run: "keeps the first",
            bodies: vec![
                (
                    "openai_chat",
                    chat(&[
                        json!({"index": 0, "id": "t1", "function": {"name": "add", "arguments": ""}}),
                        json!({"index": 0, "id": "", "function": {"name": "", "arguments": "{\"n\""}}),
                        json!({"index": 0, "id": null, "function": {"name": null, "arguments": ":1}"}}),
                    ]),
                ),
                (
                    "ndjson",
                    lines(&[
                        json!({"type": "tool_call_start", "id": "t1", "name": "add"}),
                        json!({"type": "tool_call_delta", "id": "", "text": "{\"n\""}),
                        json!({"type": "tool_call_delta", "id": null, "name": null, "text": ":1}"}),
                    ]),
                ),
                ("openai_responses", {
                    let call = |id: Value, name: Value, arguments: &str| {
                        json!({"type": "function_call",
                        "call_id": id, "name": name, "arguments": arguments})
                    };
                    [
                        begin("openai_responses"),
                        item("added", 0, call(json!("t1"), json!("add"), "")),
                        item("done", 0, call(json!(""), Value::Null, N1)),
                        finish("openai_responses", End::Calls),
                    ]
                    .concat()
                }),
                (
                    "gemini",
                    [
                        begin("gemini"),
                        parts(json!([{"functionCall": {"id": "t1", "name": "add", "willContinue": true}}])),
                        parts(
                            json!([{"functionCall": {"id": "", "name": "", "willContinue": true,
                            "partialArgs": [{"jsonPath": "$.n", "numberValue": 1}]}}]),
                        ),
                        parts(json!([{"functionCall": {"id": null, "name": null}}])),
                        finish("gemini", End::Calls),
                    ]
                    .concat(),
                ),
            ],
            expect: ONE,
            ..Row::default()
        },
        Row {
            server: "repeats id and name in every delta",
            run: "reads one call",
            bodies: vec![
                (
                    "openai_chat",
                    chat(&[
                        json!({"index": 0, "id": "t1", "function": {"name": "add", "arguments": "{\"n\""}}),
                        json!({"index": 0, "id": "t1", "function": {"name": "add", "arguments": ":1}"}}),
                    ]),
                ),
                (
                    "ndjson",
                    lines(&[
                        json!({"type": "tool_call_start", "id": "t1", "name": "add"}),
                        json!({"type": "tool_call_delta", "id": "t1", "name": "add", "text": "{\"n\""}),
                        json!({"type": "tool_call_delta", "id": "t1", "name": "add", "text": ":1}"}),
                    ]),
                ),
                ("openai_responses", {
                    let call = |arguments: &str| {
                        json!({"type": "function_call", "call_id": "t1", "name": "add",
                        "arguments": arguments})
                    };
                    let delta = |text: &str| {
                        event(
                            json!({"type": "response.function_call_arguments.delta", "output_index": 0,
                            "call_id": "t1", "name": "add", "delta": text}),
                        )
                    };
                    [
                        begin("openai_responses"),
                        item("added", 0, call("")),
                        item("added", 0, call("")),
                        delta("{\"n\""),
                        delta(":1}"),
                        item("done", 0, call(N1)),
                        finish("openai_responses", End::Calls),
                    ]
                    .concat()
                }),
                (
                    "gemini",
                    [
                        begin("gemini"),
                        parts(json!([{"functionCall": {"id": "t1", "name": "add", "willContinue": true}}])),
                        parts(
                            json!([{"functionCall": {"id": "t1", "name": "add", "willContinue": true,
                            "partialArgs": [{"jsonPath": "$.n", "numberValue": 1}]}}]),
                        ),
                        parts(json!([{"functionCall": {"id": "t1", "name": "add"}}])),
                        finish("gemini", End::Calls),
                    ]
                    .concat(),
                ),
                (
                    "bedrock_converse",
                    bedrock(&[
                        tool_start(0, json!({"toolUseId": "t1", "name": "add"})),
                        block_delta(
                            0,
                            json!({"toolUse": {"toolUseId": "t1", "name": "add", "input": "{\"n\""}}),
                        ),
                        block_delta(
                            0,
                            json!({"toolUse": {"toolUseId": "t1", "name": "add", "input": ":1}"}}),
                        ),
                    ]),
                ),
            ],
            expect: ONE,
            ..Row::default()
        },
        Row {
            server: "repeats id and name in every delta, without an index",
            run: "reads one call",
            bodies: vec![(
                "openai_chat",
                chat(&[
                    json!({"id": "t1", "function": {"name": "add", "arguments": "{\"n\""}}),
                    json!({"id": "t1", "function": {"name": "add", "arguments": ":1}"}}),
                ]),
            )],
            expect: ONE,
            ..Row::default()
        },
        Row {
            server: "gives every call the index 0",
            run: "tells them apart by id and name",
            bodies: vec![(
                "openai_chat",
                chat(&[
                    json!({"index": 0, "id": "t1", "function": {"name": "add", "arguments": N1}}),
                    json!({"index": 0, "id": "t2", "function": {"name": "add", "arguments": N2}}),
                ]),
            )],
            expect: TWO,
            ..Row::default()
        },
        Row {
            server: "interleaves the deltas of two calls",
            run: "keeps them apart, in the order of their beginnings",
            bodies: vec![
                (
                    "anthropic",
                    [
                        begin("anthropic"),
                        start(
                            0,
                            json!({"type": "tool_use", "id": "t1", "name": "add", "input": {}}),
                        ),
                        start(
                            1,
                            json!({"type": "tool_use", "id": "t2", "name": "add", "input": {}}),
                        ),
                        delta(1, "{\"n\""),
                        delta(0, N1),
                        delta(1, ":2}"),
                        finish("anthropic", End::Calls),
                    ]
                    .concat(),
                ),
                (
                    "openai_chat",
                    chat(&[
                        json!({"index": 0, "id": "t1", "function": {"name": "add", "arguments": "{"}}),
                        json!({"index": 1, "id": "t2", "function": {"name": "add", "arguments": "{\"n\""}}),
                        json!({"index": 0, "function": {"arguments": "\"n\":1}"}}),
                        json!({"index": 1, "function": {"arguments": ":2}"}}),
                    ]),
                ),
                (
                    "ndjson",
                    lines(&[
                        json!({"type": "tool_call_start", "id": "t1", "name": "add"}),
                        json!({"type": "tool_call_start", "id": "t2", "name": "add"}),
                        json!({"type": "tool_call_delta", "id": "t2", "text": "{\"n\""}),
                        json!({"type": "tool_call_delta", "id": "t1", "text": N1}),
                        json!({"type": "tool_call_delta", "id": "t2", "text": ":2}"}),
                    ]),
                ),
                ("openai_responses", {
                    let call = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "add", "arguments": arguments});
                    let delta = |index: usize, text: &str| {
                        event(json!({"type": "response.function_call_arguments.delta",
                            "output_index": index, "delta": text}))
                    };
                    [
                        begin("openai_responses"),
                        item("added", 0, call("t1", "")),
                        item("added", 1, call("t2", "")),
                        delta(1, "{\"n\""),
                        delta(0, N1),
                        delta(1, ":2}"),
                        item("done", 1, call("t2", N2)),
                        item("done", 0, call("t1", N1)),
                        finish("openai_responses", End::Calls),
                    ]
                    .concat()
                }),
                (
                    "bedrock_converse",
                    bedrock(&[
                        tool_start(0, json!({"toolUseId": "t1", "name": "add"})),
                        tool_start(1, json!({"toolUseId": "t2", "name": "add"})),
                        block_delta(1, json!({"toolUse": {"input": "{\"n\""}})),
                        block_delta(0, json!({"toolUse": {"input": N1}})),
                        block_delta(1, json!({"toolUse": {"input": ":2}"}})),
                    ]),
                ),
            ],
            expect: TWO,
            ..Row::default()
        },
        Row {
            server: "gives two calls one id",
            run: "mints an id for the second",
            bodies: all(&[add("t1", N1), add("t1", N2)]),
            expect: &[
                r#"run add {"n":1} as t1"#,
                r#"run add {"n":2} as minted1"#,
                "sent call t1, call minted1, result t1 1, result minted1 1",
                "completed \"Done.\"",
            ],
            but: &[(
                "gemini",
                &[
                    r#"run add {"n":1} as t1"#,
                    r#"run add {"n":2} as minted1"#,
                    "sent call t1, call #2, result t1 1, result #2 1",
                    "completed \"Done.\"",
                ],
            )],
            ..Row::default()
        },
        Row {
            server: "calls a tool that does not exist",
            run: "tells the model which there are",
            bodies: all(&[Say::Call {
                id: "t1",
                name: "subtract",
                arguments: N1,
            }]),
            expect: &["sent call t1, result t1 unknown_tool", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "calls a tool without a name",
            run: "the same, and the history stays legal",
            bodies: all(&[Say::Call {
                id: "t1",
                name: "",
                arguments: N1,
            }]),
            expect: &["sent call t1, result t1 unknown_tool", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "calls a tool by a name that vendors refuse (`functions.add`, blanks, 65 characters)",
            run: "tells the model, and writes a name into the history that they take",
            bodies: all(&[Say::Call {
                id: "t1",
                name: "functions.add <|channel|> and more of it than any vendor would ever take",
                arguments: N1,
            }]),
            expect: &["sent call t1, result t1 unknown_tool", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "sends the name behind the arguments",
            run: "runs the tool of that name",
            bodies: vec![
                (
                    "openai_chat",
                    chat(&[
                        json!({"index": 0, "id": "t1", "function": {"arguments": N1}}),
                        json!({"index": 0, "function": {"name": "add"}}),
                    ]),
                ),
                ("openai_responses", {
                    let nameless = json!({"type": "function_call", "call_id": "t1", "arguments": ""});
                    let whole =
                        json!({"type": "function_call", "call_id": "t1", "name": "add", "arguments": N1});
                    [
                        begin("openai_responses"),
                        item("added", 0, nameless),
                        item("done", 0, whole),
                        finish("openai_responses", End::Calls),
                    ]
                    .concat()
                }),
            ],
            expect: ONE,
            ..Row::default()
        },
        Row {
            server: "sends deltas of a call that has ended",
            run: "passes over them",
            bodies: vec![
                (
                    "anthropic",
                    [
                        begin("anthropic"),
                        super::speak::say("anthropic", 0, &add("t1", N1)),
                        delta(0, "garbage"),
                        finish("anthropic", End::Calls),
                    ]
                    .concat(),
                ),
                (
                    "ndjson",
                    lines(&[
                        json!({"type": "tool_call_start", "id": "t1", "name": "add"}),
                        json!({"type": "tool_call_delta", "id": "t1", "text": N1}),
                        json!({"type": "tool_call_end", "id": "t1"}),
                        json!({"type": "tool_call_delta", "id": "t1", "text": "garbage"}),
                    ]),
                ),
                ("openai_responses", {
                    let late = json!({"type": "response.function_call_arguments.delta", "output_index": 0,
                        "delta": "garbage"});
                    [
                        begin("openai_responses"),
                        super::speak::say("openai_responses", 0, &add("t1", N1)),
                        event(late),
                        finish("openai_responses", End::Calls),
                    ]
                    .concat()
                }),
                (
                    "bedrock_converse",
                    bedrock(&[
                        super::speak::say("bedrock_converse", 0, &add("t1", N1)),
                        block_delta(0, json!({"toolUse": {"input": "garbage"}})),
                    ]),
                ),
            ],
            expect: ONE,
            ..Row::default()
        },
        Row {
            server: "sends the legacy `function_call`",
            run: "runs it with an id of its own",
            bodies: vec![(
                "openai_chat",
                [
                    begin("openai_chat"),
                    chunk(
                        json!({"function_call": {"name": "add", "arguments": "{\"n\""}}),
                        Value::Null,
                    ),
                    chunk(json!({"function_call": {"arguments": ":1}"}}), Value::Null),
                    chunk(json!({}), json!("function_call")),
                    DONE.to_vec(),
                ]
                .concat(),
            )],
            expect: MINTED,
            ..Row::default()
        },
        Row {
            server: "sends `tool_calls` as null or as an empty list beside text",
            run: "reads the text",
            bodies: vec![(
                "openai_chat",
                [
                    begin("openai_chat"),
                    chunk(json!({"content": "Hi", "tool_calls": null}), Value::Null),
                    chunk(json!({"content": ".", "tool_calls": []}), Value::Null),
                    finish("openai_chat", End::Stop),
                ]
                .concat(),
            )],
            expect: &["completed \"Hi.\""],
            ..Row::default()
        },
    ]
}

pub const N1: &str = "{\"n\":1}";
const N2: &str = "{\"n\":2}";
const DONE: &[u8] = b"data: [DONE]\n\n";

/// One call that was run and answered.
pub const ONE: &[&str] = &[
    r#"run add {"n":1} as t1"#,
    "sent call t1, result t1 1",
    "completed \"Done.\"",
];

const MINTED: &[&str] = &[
    r#"run add {"n":1} as minted1"#,
    "sent call minted1, result minted1 1",
    "completed \"Done.\"",
];

/// As [`MINTED`], where the vendor knows calls by their place.
const PLACED: &[&str] = &[
    r#"run add {"n":1} as minted1"#,
    "sent call #1, result #1 1",
    "completed \"Done.\"",
];

pub const TWO: &[&str] = &[
    r#"run add {"n":1} as t1"#,
    r#"run add {"n":2} as t2"#,
    "sent call t1, call t2, result t1 1, result t2 1",
    "completed \"Done.\"",
];

pub fn add<'a>(id: &'a str, arguments: &'a str) -> Say<'a> {
    Say::Call {
        id,
        name: "add",
        arguments,
    }
}

/// The same blocks in every protocol, then the end of an answer with calls.
pub fn all(blocks: &[Say<'_>]) -> Vec<(&'static str, Vec<u8>)> {
    all_ending(blocks, End::Calls)
}

/// The same where arguments are text.
pub fn texts(blocks: &[Say<'_>], end: End) -> Vec<(&'static str, Vec<u8>)> {
    let bodies = TEXTUAL
        .iter()
        .map(|protocol| (*protocol, answer(protocol, blocks, end)));
    bodies.collect()
}

pub fn all_ending(blocks: &[Say<'_>], end: End) -> Vec<(&'static str, Vec<u8>)> {
    let bodies = PROTOCOLS
        .iter()
        .map(|protocol| (*protocol, answer(protocol, blocks, end)));
    bodies.collect()
}

/// Anthropic: these blocks, one after the other, with the arguments `{"n":1}` as a delta.
pub fn blocks(blocks: &[Value], has_delta: bool) -> Vec<u8> {
    let mut body = begin("anthropic");
    for (index, block) in blocks.iter().enumerate() {
        body.extend(start(index, block.clone()));
        if has_delta {
            body.extend(delta(index, N1));
        }
        body.extend(event(json!({"type": "content_block_stop", "index": index})));
    }
    body.extend(finish("anthropic", End::Calls));
    body
}

pub fn start(index: usize, block: Value) -> Vec<u8> {
    event(json!({"type": "content_block_start", "index": index, "content_block": block}))
}

pub fn delta(index: usize, partial_json: &str) -> Vec<u8> {
    event(json!({"type": "content_block_delta", "index": index,
        "delta": {"type": "input_json_delta", "partial_json": partial_json}}))
}

fn without_index() -> Vec<u8> {
    let call = json!({"type": "tool_use", "id": "t1", "name": "add", "input": {}});
    [
        begin("anthropic"),
        event(json!({"type": "content_block_start", "content_block": call})),
        event(json!({"type": "content_block_delta",
            "delta": {"type": "input_json_delta", "partial_json": N1}})),
        event(json!({"type": "content_block_stop"})),
        finish("anthropic", End::Calls),
    ]
    .concat()
}

/// Chat Completions: a chunk for each element of `tool_calls`.
pub fn chat(calls: &[Value]) -> Vec<u8> {
    let mut body = begin("openai_chat");
    for call in calls {
        body.extend(chunk(json!({"tool_calls": [call]}), Value::Null));
    }
    body.extend(finish("openai_chat", End::Calls));
    body
}

/// Responses: an item for each, with the arguments `{"n":1}`.
fn calls_of_responses(calls: &[Value]) -> Vec<u8> {
    let mut body = begin("openai_responses");
    for (index, call) in calls.iter().enumerate() {
        body.extend(item("added", index, call.clone()));
        let mut done = call.clone();
        done["arguments"] = json!(N1);
        body.extend(item("done", index, done));
    }
    body.extend(finish("openai_responses", End::Calls));
    body
}

/// Bedrock: these messages, then the end.
pub fn bedrock(messages: &[Vec<u8>]) -> Vec<u8> {
    let end = finish("bedrock_converse", End::Calls);
    [begin("bedrock_converse"), messages.concat(), end].concat()
}

/// Gemini: one part, then the end.
pub fn gemini(part: Value) -> Vec<u8> {
    [
        begin("gemini"),
        parts(json!([part])),
        finish("gemini", End::Calls),
    ]
    .concat()
}

/// NDJSON: these lines, then the end.
pub fn lines(values: &[Value]) -> Vec<u8> {
    let mut body = begin("ndjson");
    for value in values {
        body.extend(line(value.clone()));
    }
    body.extend(finish("ndjson", End::Calls));
    body
}
