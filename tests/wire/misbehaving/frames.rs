//! Bodies of rows: calls as each protocol frames them, and what a run makes of them where nothing is wrong.

use serde_json::{Value, json};

use super::speak::{End, Say, answer, begin, chunk, event, finish, item, line, message, parts};
use super::{PROTOCOLS, TEXTUAL};

pub const N1: &str = "{\"n\":1}";
pub const N2: &str = "{\"n\":2}";
pub const DONE: &[u8] = b"data: [DONE]\n\n";

/// One call that was run and answered.
pub const ONE: &[&str] = &[
    r#"run add {"n":1} as t1"#,
    "sent call t1, result t1 1",
    "completed \"Done.\"",
];

pub const MINTED: &[&str] = &[
    r#"run add {"n":1} as minted1"#,
    "sent call minted1, result minted1 1",
    "completed \"Done.\"",
];

/// As [`MINTED`], where the vendor knows calls by their place.
pub const PLACED: &[&str] = &[
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

pub fn without_index() -> Vec<u8> {
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
pub fn calls_of_responses(calls: &[Value]) -> Vec<u8> {
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

/// Bedrock: these blocks, an end with these fields, and the usage behind it.
pub fn bedrock_end(blocks: &[u8], stop: Value) -> Vec<u8> {
    let usage = json!({"usage": {"inputTokens": 10, "outputTokens": 5}});
    [
        begin("bedrock_converse"),
        blocks.to_vec(),
        message("messageStop", stop),
        message("metadata", usage),
    ]
    .concat()
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
