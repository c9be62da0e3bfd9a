//! How servers name their tool calls: by index, by id, by both, by neither.

use serde_json::{Value, json};

use super::Row;
use super::frames::{
    DONE, MINTED, N1, N2, ONE, PLACED, TWO, add, all, bedrock, blocks, calls_of_responses, chat, delta,
    gemini, lines, start, without_index,
};
use super::speak::{End, begin, block_delta, chunk, event, finish, item, message, parts, tool_start};

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
            run: "uses the first",
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
            run: "distinguishes them by id and name",
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
            run: "separates them, in the order in which they begin",
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
    ]
}
