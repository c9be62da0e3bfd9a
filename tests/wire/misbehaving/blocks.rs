//! Which blocks an answer has, and in which order.

use serde_json::{Value, json};

use super::Row;
use super::frames::{N1, ONE, add, all, all_ending, bedrock, start};
use super::speak::{End, Say, begin, block_delta, chunk, event, finish, item, line, parts, say, tool_start};

/// Two texts with blanks in a block of their own between them, where blocks have ends.
fn spaced() -> Vec<(&'static str, Vec<u8>)> {
    let says = [
        Say::Text("First."),
        Say::Text("\n\n"),
        Say::Text("Then."),
        add("t1", N1),
    ];
    let mut bodies = all(&says);
    bodies.retain(|(protocol, _)| ["anthropic", "bedrock_converse"].contains(protocol));
    bodies
}

fn crowded() -> Vec<(&'static str, Vec<u8>)> {
    let ids: Vec<String> = (0..1001).map(|at| format!("t{at}")).collect();
    let says: Vec<Say> = ids.iter().map(|id| add(id, N1)).collect();
    all(&says)
}

pub fn rows() -> Vec<Row> {
    vec![
        Row {
            server: "sends an empty text block before a call",
            run: "does not send it back",
            bodies: all(&[Say::Text(""), add("t1", N1)]),
            expect: ONE,
            ..Row::default()
        },
        Row {
            server: "sends a text block of blanks before a call",
            run: "does not send it back",
            bodies: all(&[Say::Text("\n\n "), add("t1", N1)]),
            expect: ONE,
            ..Row::default()
        },
        Row {
            server: "sends an answer of blanks",
            run: "completes with them, and sends no empty message",
            bodies: all_ending(&[Say::Text(" \n")], End::Stop),
            expect: &["completed \" \\n\""],
            ..Row::default()
        },
        Row {
            server: "sends a text block of blanks between two texts",
            run: "joins it to the first of them",
            bodies: spaced(),
            expect: &[
                r#"run add {"n":1} as t1"#,
                "sent \"First.\\n\\n\", \"Then.\", call t1, result t1 1",
                "completed \"Done.\"",
            ],
            ..Row::default()
        },
        Row {
            server: "opens more than 1,000 blocks",
            run: "fails immediately, and says so",
            bodies: crowded(),
            expect: &["failed malformed_stream \"\""],
            ..Row::default()
        },
        Row {
            server: "sends text after a call",
            run: "preserves the order, if the protocol has one",
            bodies: all(&[Say::Text("First."), add("t1", N1), Say::Text("Then.")]),
            expect: &[
                r#"run add {"n":1} as t1"#,
                "sent \"First.\", call t1, \"Then.\", result t1 1",
                "completed \"Done.\"",
            ],
            but: &[(
                "openai_chat",
                &[
                    r#"run add {"n":1} as t1"#,
                    "sent \"First.Then.\", call t1, result t1 1",
                    "completed \"Done.\"",
                ],
            )],
            ..Row::default()
        },
        Row {
            server: "thinks, then sends redacted thinking, then a call",
            run: "sends all three back, unchanged and in order",
            bodies: vec![("anthropic", {
                let redacted = json!({"type": "redacted_thinking", "data": "c2VjcmV0"});
                [
                    begin("anthropic"),
                    say("anthropic", 0, &Say::Thinking("Hm.")),
                    start(1, redacted),
                    event(json!({"type": "content_block_stop", "index": 1})),
                    say("anthropic", 2, &add("t1", N1)),
                    finish("anthropic", End::Calls),
                ]
                .concat()
            }),
                ("bedrock_converse", {
                    let redacted = json!({"reasoningContent": {"redactedContent": "c2VjcmV0"}});
                    bedrock(&[
                        say("bedrock_converse", 0, &Say::Thinking("Hm.")),
                        block_delta(1, redacted),
                        say("bedrock_converse", 2, &add("t1", N1)),
                    ])
                }),
                ("openai_chat", {
                    let detail = |kind: &str, field: &str, text: &str| chunk(json!({"reasoning_details": [
                        {"type": kind, field: text, "format": "anthropic-claude-v1", "index": 0}]}), Value::Null);
                    [
                        begin("openai_chat"),
                        detail("reasoning.text", "text", "Hm."),
                        detail("reasoning.text", "signature", "c2ln"),
                        detail("reasoning.encrypted", "data", "c2VjcmV0"),
                        say("openai_chat", 0, &add("t1", N1)),
                        finish("openai_chat", End::Calls),
                    ]
                    .concat()
                }),
                ("openai_responses", {
                    let hidden = json!({"id": "rs_1", "type": "reasoning", "summary": [],
                        "encrypted_content": "c2VjcmV0"});
                    [
                        begin("openai_responses"),
                        say("openai_responses", 0, &Say::Thinking("Hm.")),
                        item("added", 1, hidden.clone()),
                        item("done", 1, hidden),
                        say("openai_responses", 2, &add("t1", N1)),
                        finish("openai_responses", End::Calls),
                    ]
                    .concat()
                }),
            ],
            expect: &[
                r#"run add {"n":1} as t1"#,
                "sent thinking, redacted_thinking, call t1, result t1 1",
                "completed \"Done.\"",
            ],
            but: &[
                (
                    "openai_chat",
                    &[
                        r#"run add {"n":1} as t1"#,
                        "sent reasoning.text, reasoning.encrypted, call t1, result t1 1",
                        "completed \"Done.\"",
                    ],
                ),
                (
                    "openai_responses",
                    &[
                        r#"run add {"n":1} as t1"#,
                        "sent reasoning, reasoning, call t1, result t1 1",
                        "completed \"Done.\"",
                    ],
                ),
            ],
            ..Row::default()
        },
        Row {
            server: "thinks before a call",
            run: "sends the thinking back where the protocol wants it",
            bodies: all(&[Say::Thinking("Hm."), add("t1", N1)]),
            expect: &[
                r#"run add {"n":1} as t1"#,
                "sent thinking, call t1, result t1 1",
                "completed \"Done.\"",
            ],
            but: &[(
                "openai_chat",
                &[
                    r#"run add {"n":1} as t1"#,
                    "sent reasoning_content, call t1, result t1 1",
                    "completed \"Done.\"",
                ],
            ), (
                "openai_responses",
                &[
                    r#"run add {"n":1} as t1"#,
                    "sent reasoning, call t1, result t1 1",
                    "completed \"Done.\"",
                ],
            )],
            ..Row::default()
        },
        Row {
            server: "thinks without a signature",
            run: "does not send that back to a protocol that would refuse it",
            bodies: vec![(
                "anthropic",
                [
                    begin("anthropic"),
                    start(0, json!({"type": "thinking", "thinking": "Hm.", "signature": ""})),
                    event(json!({"type": "content_block_stop", "index": 0})),
                    say("anthropic", 1, &add("t1", N1)),
                    finish("anthropic", End::Calls),
                ]
                .concat(),
            ),
                (
                    "bedrock_converse",
                    bedrock(&[
                        block_delta(0, json!({"reasoningContent": {"text": "Hm."}})),
                        say("bedrock_converse", 1, &add("t1", N1)),
                    ]),
                ),
            ],
            expect: ONE,
            ..Row::default()
        },
        Row {
            server: "sends a block of an unknown type",
            run: "stores it raw and sends it back",
            bodies: vec![("anthropic", {
                let block = json!({"type": "hologram", "pixels": [1, 2]});
                [
                    begin("anthropic"),
                    start(0, block),
                    event(json!({"type": "content_block_stop", "index": 0})),
                    say("anthropic", 1, &add("t1", N1)),
                    finish("anthropic", End::Calls),
                ]
                .concat()
            }), ("openai_responses", {
                let hologram = json!({"id": "h_0", "type": "hologram", "pixels": [1, 2]});
                [
                    begin("openai_responses"),
                    item("added", 0, hologram.clone()),
                    item("done", 0, hologram),
                    say("openai_responses", 1, &add("t1", N1)),
                    finish("openai_responses", End::Calls),
                ]
                .concat()
            }), (
                "gemini",
                [
                    begin("gemini"),
                    parts(json!([{"hologram": {"pixels": [1, 2]}}])),
                    say("gemini", 1, &add("t1", N1)),
                    finish("gemini", End::Calls),
                ]
                .concat(),
            )],
            expect: &[
                r#"run add {"n":1} as t1"#,
                "sent hologram, call t1, result t1 1",
                "completed \"Done.\"",
            ],
            ..Row::default()
        },
        Row {
            server: "sends events or lines of unknown types",
            run: "passes over them",
            bodies: vec![
                (
                    "anthropic",
                    [
                        begin("anthropic"),
                        event(json!({"type": "weather", "is": "fine"})),
                        hi("anthropic"),
                        event(json!({"type": "ping"})),
                        finish("anthropic", End::Stop),
                    ]
                    .concat(),
                ),
                (
                    "openai_chat",
                    [
                        begin("openai_chat"),
                        super::speak::data(json!({"id": "c_1", "object": "weather", "is": "fine"})),
                        hi("openai_chat"),
                        finish("openai_chat", End::Stop),
                    ]
                    .concat(),
                ),
                (
                    "ndjson",
                    [
                        begin("ndjson"),
                        line(json!({"type": "weather", "is": "fine"})),
                        line(json!({"no": "type"})),
                        hi("ndjson"),
                        finish("ndjson", End::Stop),
                    ]
                    .concat(),
                ),
            (
                    "openai_responses",
                    [
                        begin("openai_responses"),
                        event(json!({"type": "response.weather", "is": "fine"})),
                        hi("openai_responses"),
                        finish("openai_responses", End::Stop),
                    ]
                    .concat(),
                ),
                (
                    "gemini",
                    [
                        begin("gemini"),
                        super::speak::data(json!({"weather": {"is": "fine"}})),
                        hi("gemini"),
                        finish("gemini", End::Stop),
                    ]
                    .concat(),
                ),
                (
                    "bedrock_converse",
                    [
                        begin("bedrock_converse"),
                        super::speak::message("weather", json!({"is": "fine"})),
                        hi("bedrock_converse"),
                        finish("bedrock_converse", End::Stop),
                    ]
                    .concat(),
                ),
            ],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "sends deltas of a block that never started",
            run: "opens the block",
            bodies: vec![(
                "anthropic",
                [
                    begin("anthropic"),
                    event(json!({"type": "content_block_delta", "index": 0,
                        "delta": {"type": "text_delta", "text": "Hi."}})),
                    finish("anthropic", End::Stop),
                ]
                .concat(),
            ), (
                "openai_responses",
                [
                    begin("openai_responses"),
                    event(json!({"type": "response.output_text.delta", "output_index": 0,
                        "content_index": 0, "delta": "Hi."})),
                    finish("openai_responses", End::Stop),
                ]
                .concat(),
            )],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "never ends its blocks",
            run: "ends them with the message",
            bodies: vec![(
                "anthropic",
                [
                    begin("anthropic"),
                    start(0, json!({"type": "text", "text": "First."})),
                    start(1, json!({"type": "tool_use", "id": "t1", "name": "add", "input": {"n": 1}})),
                    finish("anthropic", End::Calls),
                ]
                .concat(),
            ), (
                "openai_responses",
                [
                    begin("openai_responses"),
                    event(json!({"type": "response.output_text.delta", "output_index": 0,
                        "content_index": 0, "delta": "First."})),
                    item("added", 1, json!({"type": "function_call", "call_id": "t1", "name": "add",
                        "arguments": ""})),
                    event(json!({"type": "response.function_call_arguments.delta", "output_index": 1,
                        "delta": N1})),
                    finish("openai_responses", End::Calls),
                ]
                .concat(),
            ),
                (
                    "bedrock_converse",
                    bedrock(&[
                        block_delta(0, json!({"text": "First."})),
                        tool_start(1, json!({"toolUseId": "t1", "name": "add"})),
                        block_delta(1, json!({"toolUse": {"input": N1}})),
                    ]),
                ),
            ],
            expect: &[
                r#"run add {"n":1} as t1"#,
                "sent \"First.\", call t1, result t1 1",
                "completed \"Done.\"",
            ],
            ..Row::default()
        },
        Row {
            server: "starts every block with the index 0",
            run: "reads them one after the other",
            bodies: vec![(
                "anthropic",
                [
                    begin("anthropic"),
                    say("anthropic", 0, &Say::Text("First.")),
                    say("anthropic", 0, &add("t1", N1)),
                    finish("anthropic", End::Calls),
                ]
                .concat(),
            ), (
                "openai_responses",
                [
                    begin("openai_responses"),
                    say("openai_responses", 0, &Say::Text("First.")),
                    say("openai_responses", 0, &add("t1", N1)),
                    finish("openai_responses", End::Calls),
                ]
                .concat(),
            ),
                (
                    "bedrock_converse",
                    bedrock(&[
                        say("bedrock_converse", 0, &Say::Text("First.")),
                        say("bedrock_converse", 0, &add("t1", N1)),
                    ]),
                ),
            ],
            expect: &[
                r#"run add {"n":1} as t1"#,
                "sent \"First.\", call t1, result t1 1",
                "completed \"Done.\"",
            ],
            ..Row::default()
        },
        Row {
            server: "sends text as a list of parts, with thinking in it",
            run: "reads each part as what it is",
            bodies: vec![(
                "openai_chat",
                [
                    begin("openai_chat"),
                    chunk(
                        json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                            {"type": "text", "text": "Hi"}]}),
                        Value::Null,
                    ),
                    chunk(json!({"content": "."}), Value::Null),
                    finish("openai_chat", End::Stop),
                ]
                .concat(),
            )],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "sends no first event, or a delta without a role",
            run: "reads the rest",
            bodies: vec![
                ("anthropic", [hi("anthropic"), finish("anthropic", End::Stop)].concat()),
                ("openai_chat", [hi("openai_chat"), finish("openai_chat", End::Stop)].concat()),
                ("ndjson", [hi("ndjson"), finish("ndjson", End::Stop)].concat()),
            ("openai_responses", [hi("openai_responses"), finish("openai_responses", End::Stop)].concat()),
                ("gemini", [hi("gemini"), finish("gemini", End::Stop)].concat()),
                ("bedrock_converse", [hi("bedrock_converse"), finish("bedrock_converse", End::Stop)].concat()),
            ],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "changes the answer's id on the way",
            run: "reads on",
            bodies: vec![(
                "openai_chat",
                [
                    super::speak::data(json!({"id": "", "choices": [], "prompt_filter_results": []})),
                    super::speak::data(json!({"id": "a", "choices": [{"delta": {"content": "Hi"}}]})),
                    super::speak::data(json!({"id": "b", "choices": [{"delta": {"content": "."}}]})),
                    finish("openai_chat", End::Stop),
                ]
                .concat(),
            )],
            expect: HI,
            ..Row::default()
        },
    ]
}

const HI: &[&str] = &["completed \"Hi.\""];

fn hi(protocol: &str) -> Vec<u8> {
    say(protocol, 0, &Say::Text("Hi."))
}
