//! What models and servers write as the arguments of a call.

use serde_json::{Value, json};

use super::frames::{N1, ONE, add, all, bedrock, blocks, chat, gemini, lines, texts};
use super::speak::{End, Say, begin, finish, item, parts, tool_start};
use super::{PROTOCOLS, Row};

pub fn rows() -> Vec<Row> {
    vec![
        Row {
            server: "sends the arguments as an object",
            run: "takes its text",
            bodies: vec![
                (
                    "anthropic",
                    blocks(
                        &[json!({"type": "tool_use", "id": "t1", "name": "add", "input": {"n": 1}})],
                        false,
                    ),
                ),
                (
                    "openai_chat",
                    chat(&[
                        json!({"index": 0, "id": "t1", "function": {"name": "add", "arguments": {"n": 1}}}),
                    ]),
                ),
                (
                    "ndjson",
                    lines(&[json!({"type": "tool_call", "id": "t1", "name": "add", "input": {"n": 1}})]),
                ),
                (
                    "openai_responses",
                    responses(json!({"type": "function_call", "call_id": "t1", "name": "add",
                        "arguments": {"n": 1}})),
                ),
                (
                    "gemini",
                    gemini(json!({"functionCall": {"id": "t1", "name": "add", "args": {"n": 1}}})),
                ),
                (
                    "bedrock_converse",
                    bedrock(&[tool_start(
                        0,
                        json!({"toolUseId": "t1", "name": "add", "input": {"n": 1}}),
                    )]),
                ),
            ],
            expect: ONE,
            ..Row::default()
        },
        Row {
            server: "sends empty arguments",
            run: "reads `{}`",
            bodies: texts(&[wipe("")], End::Calls),
            expect: EMPTY,
            ..Row::default()
        },
        Row {
            server: "sends blanks as arguments",
            run: "reads `{}`",
            bodies: texts(&[wipe(" \n")], End::Calls),
            expect: EMPTY,
            but: &[
                ("anthropic", BLANK_AND_EMPTY),
                ("openai_chat", BLANK_AND_EMPTY),
                ("bedrock_converse", BLANK_AND_EMPTY),
            ],
            ..Row::default()
        },
        Row {
            server: "sends no arguments at all",
            run: "reads `{}`",
            bodies: vec![
                (
                    "anthropic",
                    blocks(&[json!({"type": "tool_use", "id": "t1", "name": "wipe"})], false),
                ),
                (
                    "openai_chat",
                    chat(&[json!({"index": 0, "id": "t1", "function": {"name": "wipe"}})]),
                ),
                (
                    "ndjson",
                    lines(&[json!({"type": "tool_call", "id": "t1", "name": "wipe"})]),
                ),
                (
                    "openai_responses",
                    responses(json!({"type": "function_call", "call_id": "t1", "name": "wipe"})),
                ),
                (
                    "gemini",
                    gemini(json!({"functionCall": {"id": "t1", "name": "wipe"}})),
                ),
                (
                    "bedrock_converse",
                    bedrock(&[tool_start(0, json!({"toolUseId": "t1", "name": "wipe"}))]),
                ),
            ],
            expect: EMPTY,
            ..Row::default()
        },
        Row {
            server: "sends `null` where the arguments would be",
            run: "reads `{}`",
            bodies: vec![
                (
                    "anthropic",
                    blocks(
                        &[json!({"type": "tool_use", "id": "t1", "name": "wipe", "input": null})],
                        false,
                    ),
                ),
                (
                    "openai_chat",
                    chat(&[json!({"index": 0, "id": "t1", "function": {"name": "wipe", "arguments": null}})]),
                ),
                (
                    "ndjson",
                    lines(&[json!({"type": "tool_call", "id": "t1", "name": "wipe", "input": null})]),
                ),
                (
                    "openai_responses",
                    responses(json!({"type": "function_call", "call_id": "t1", "name": "wipe",
                        "arguments": null})),
                ),
                (
                    "gemini",
                    gemini(json!({"functionCall": {"id": "t1", "name": "wipe", "args": null}})),
                ),
                (
                    "bedrock_converse",
                    bedrock(&[tool_start(
                        0,
                        json!({"toolUseId": "t1", "name": "wipe", "input": null}),
                    )]),
                ),
            ],
            expect: EMPTY,
            ..Row::default()
        },
        Row {
            server: "writes the text `null` as arguments",
            run: "reads `{}`",
            bodies: texts(&[wipe("null")], End::Calls),
            expect: EMPTY,
            ..Row::default()
        },
        Row {
            server: "reaches the length limit within the arguments",
            run: "does not run the call, and reports to the model that it was cut off",
            bodies: [
                texts(&[add("t1", "{\"n\":1,\"m\":[2")], End::Length),
                vec![("gemini", gemini_cut(End::Length))],
            ]
            .concat(),
            expect: &["sent call t1, result t1 cut_off", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "reaches the length limit before the first argument",
            run: "does not run the call: `{}` was not written",
            bodies: texts(&[wipe("")], End::Length),
            expect: &["sent call t1, result t1 cut_off", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "reaches the length limit after complete calls",
            run: "runs those, not the one that was cut off",
            bodies: texts(&[add("t1", N1), add("t2", "{\"n\":")], End::Length),
            expect: &[
                r#"run add {"n":1} as t1"#,
                "sent call t1, call t2, result t1 1, result t2 cut_off",
                "completed \"Done.\"",
            ],
            ..Row::default()
        },
        Row {
            server: "cuts arguments off but says that the calls are whole",
            run: "does not run the call, and reports to the model where its JSON ends",
            bodies: [
                texts(&[add("t1", "{\"n\":1,\"m\":[2")], End::Calls),
                vec![("gemini", gemini_cut(End::Calls))],
            ]
            .concat(),
            expect: &["sent call t1, result t1 invalid_json", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "writes the arguments in a code fence",
            run: "runs the call, with a warning",
            bodies: all(&[add("t1", "```json\n{\"n\":1}\n```")]),
            expect: REPAIRED,
            ..Row::default()
        },
        Row {
            server: "writes trailing commas",
            run: "runs the call without them, with a warning",
            bodies: all(&[add("t1", "{\"n\":1,}")]),
            expect: REPAIRED,
            ..Row::default()
        },
        Row {
            server: "writes prose around the arguments",
            run: "runs the call, with a warning",
            bodies: all(&[add("t1", "Sure! {\"n\":1} is what I need.")]),
            expect: REPAIRED,
            ..Row::default()
        },
        Row {
            server: "writes the arguments as JSON within a JSON string",
            run: "runs the call, with a warning",
            bodies: all(&[add("t1", "\"{\\\"n\\\":1}\"")]),
            expect: REPAIRED,
            // There a string is as good as the object that it holds.
            but: &[("gemini", ONE)],
            ..Row::default()
        },
        Row {
            server: "writes an array, a number or a word as arguments",
            run: "reports to the model that an object is expected",
            bodies: all(&[add("t1", "[1]"), add("t2", "1"), add("t3", "true")]),
            expect: &[
                "sent call t1, call t2, call t3, result t1 invalid_json, result t2 invalid_json, result t3 invalid_json",
                "completed \"Done.\"",
            ],
            ..Row::default()
        },
        Row {
            server: "writes only prose as arguments",
            run: "reports to the model that it is not valid JSON",
            bodies: all(&[add("t1", "one, please")]),
            expect: &["sent call t1, result t1 invalid_json", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "writes arguments that do not fit the tool's schema",
            run: "reports to the model what does not fit",
            bodies: all(&[add("t1", "{\"n\":\"one\"}")]),
            expect: &["sent call t1, result t1 invalid_input", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "writes integers beyond 2^53, and blanks between the tokens",
            run: "hands the tool the same text",
            bodies: texts(&[wipe("{ \"id\" : 12345678901234567890 }")], End::Calls),
            expect: &[
                r#"run wipe { "id" : 12345678901234567890 } as t1"#,
                "sent call t1, result t1 1",
                "completed \"Done.\"",
            ],
            ..Row::default()
        },
        Row {
            server: "writes arguments a thousand levels deep",
            run: "reports to the model how deep they may be",
            bodies: deep(),
            expect: &["sent call t1, result t1 invalid_json", "completed \"Done.\""],
            ..Row::default()
        },
    ]
}

const EMPTY: &[&str] = &[
    "run wipe {} as t1",
    "sent call t1, result t1 1",
    "completed \"Done.\"",
];

const BLANK_AND_EMPTY: &[&str] = &[
    "run wipe {} as t1",
    "sent call t1, result t1 1",
    "completed \"Done.\"",
];

const REPAIRED: &[&str] = &[
    "warn repaired_arguments",
    r#"run add {"n":1} as t1"#,
    "sent call t1, result t1 1",
    "completed \"Done.\"",
];

fn wipe(arguments: &str) -> Say<'_> {
    Say::Call {
        id: "t1",
        name: "wipe",
        arguments,
    }
}

fn deep() -> Vec<(&'static str, Vec<u8>)> {
    let arguments = ["{\"n\":", &"[".repeat(1000), &"]".repeat(1000), "}"].concat();
    let bodies = PROTOCOLS.iter().map(|protocol| {
        (
            *protocol,
            super::speak::answer(protocol, &[wipe(&arguments)], End::Calls),
        )
    });
    bodies.collect()
}

/// Gemini: arguments in pieces, of which the last never comes.
fn gemini_cut(end: End) -> Vec<u8> {
    let piece = json!({"name": "add", "id": "t1", "willContinue": true,
        "partialArgs": [{"jsonPath": "$.n", "stringValue": "on", "willContinue": true}]});
    [
        begin("gemini"),
        parts(json!([{"functionCall": piece}])),
        finish("gemini", end),
    ]
    .concat()
}

/// Responses: one item, whole.
fn responses(call: Value) -> Vec<u8> {
    [
        begin("openai_responses"),
        item("added", 0, call.clone()),
        item("done", 0, call),
        finish("openai_responses", End::Calls),
    ]
    .concat()
}
