//! How servers name the tools that they call, and calls where none belong.

use serde_json::{Value, json};

use super::Row;
use super::frames::{DONE, MINTED, N1, ONE, add, all, bedrock, chat, delta, lines};
use super::speak::{End, Say, begin, block_delta, chunk, event, finish, item};

pub fn rows() -> Vec<Row> {
    vec![
        Row {
            server: "calls a tool that does not exist",
            run: "reports to the model which tools exist",
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
            run: "reports it to the model, and writes an accepted name into the history",
            bodies: all(&[Say::Call {
                id: "t1",
                name: "functions.add <|channel|> and more of it than any vendor would ever take",
                arguments: N1,
            }]),
            expect: &["sent call t1, result t1 unknown_tool", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "sends the name after the arguments",
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
            run: "runs it with a new id",
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
            server: "sends `tool_calls` as null or as an empty list, with text",
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
