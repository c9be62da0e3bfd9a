//! Answers on the Anthropic wire, for scripts. Format: https://docs.claude.com/en/docs/build-with-claude/streaming

use serde_json::{Value, json};

/// One content block of a scripted answer.
#[derive(Clone, Debug)]
pub enum Piece {
    Text(String),
    Thinking(String, &'static str),
    /// Id, name, the arguments' text.
    Call(String, String, String),
}

pub fn text(text: &str) -> Piece {
    Piece::Text(text.into())
}

pub fn call(id: &str, name: &str, input: Value) -> Piece {
    Piece::Call(id.into(), name.into(), input.to_string())
}

/// A streamed answer of 10 input tokens and 5 output tokens.
pub fn stream(pieces: &[Piece], stop_reason: &str) -> String {
    stream_with_usage(pieces, stop_reason, 10, 5)
}

pub fn stream_with_usage(pieces: &[Piece], stop_reason: &str, input: u64, output: u64) -> String {
    let mut body = begin(input);
    for (index, piece) in pieces.iter().enumerate() {
        body += &block(index, piece);
    }
    body + &end(stop_reason, output)
}

/// The begin of a stream.
pub fn begin(input_tokens: u64) -> String {
    event(
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "model": "claude-test", "content": [], "stop_reason": null,
        "usage": {"input_tokens": input_tokens, "output_tokens": 0}}}),
    )
}

pub fn end(stop_reason: &str, output_tokens: u64) -> String {
    event(
        json!({"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": null},
        "usage": {"output_tokens": output_tokens}}),
    ) + &event(json!({"type": "message_stop"}))
}

pub fn block(index: usize, piece: &Piece) -> String {
    open(index, piece) + &event(json!({"type": "content_block_stop", "index": index}))
}

/// A block without its end.
pub fn open(index: usize, piece: &Piece) -> String {
    let (start, deltas) = match piece {
        Piece::Text(text) => (
            json!({"type": "text", "text": ""}),
            vec![json!({"type": "text_delta", "text": text})],
        ),
        Piece::Thinking(text, signature) => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": text}),
                json!({"type": "signature_delta", "signature": signature}),
            ],
        ),
        Piece::Call(id, name, input) => (
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            vec![json!({"type": "input_json_delta", "partial_json": input})],
        ),
    };
    let mut body = event(json!({"type": "content_block_start", "index": index, "content_block": start}));
    for delta in deltas {
        body += &event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    body
}

pub fn event(data: Value) -> String {
    format!("event: {}\ndata: {}\n\n", data["type"].as_str().unwrap(), data)
}

/// A request without its cache markers.
pub fn unmarked(body: &str) -> String {
    let body = body.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    body.replace(r#",{"cachePoint":{"type":"default"}}"#, "")
}
