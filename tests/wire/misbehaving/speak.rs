//! What well-behaved servers say, in every protocol, in pieces: a beginning, blocks, an end.

use looplet::engine::json::checksum::crc32;
use serde_json::{Value, json};

/// One block of an answer.
#[derive(Clone, Debug)]
pub enum Say<'a> {
    Text(&'a str),
    Thinking(&'a str),
    /// The arguments are the text that the model writes.
    Call {
        id: &'a str,
        name: &'a str,
        arguments: &'a str,
    },
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Stop,
    Calls,
    Length,
    Pause,
}

/// A whole answer.
pub fn answer(protocol: &str, blocks: &[Say<'_>], end: End) -> Vec<u8> {
    let mut body = begin(protocol);
    for (index, block) in blocks.iter().enumerate() {
        body.extend(say(protocol, index, block));
    }
    body.extend(finish(protocol, end));
    body
}

pub fn begin(protocol: &str) -> Vec<u8> {
    match protocol {
        "anthropic" => event(
            json!({"type": "message_start", "message": {"id": "msg_1", "type": "message",
            "role": "assistant", "model": "m", "content": [], "stop_reason": null,
            "usage": {"input_tokens": 10, "output_tokens": 1}}}),
        ),
        "openai_chat" => chunk(json!({"role": "assistant", "content": ""}), Value::Null),
        "openai_responses" => event(json!({"type": "response.created", "response":
            {"id": "resp_1", "status": "in_progress", "model": "m", "output": []}})),
        "bedrock_converse" => message("messageStart", json!({"role": "assistant"})),
        "gemini" => data(
            json!({"candidates": [{"content": {"parts": [], "role": "model"}}],
            "responseId": "r_1", "modelVersion": "m"}),
        ),
        _ => line(json!({"type": "response", "id": "r_1"})),
    }
}

pub fn say(protocol: &str, index: usize, block: &Say<'_>) -> Vec<u8> {
    match protocol {
        "anthropic" => say_anthropic(index, block),
        "openai_chat" => chunk(chat_delta(index, block), Value::Null),
        "openai_responses" => say_responses(index, block),
        "gemini" => parts(json!([gemini_part(block)])),
        "bedrock_converse" => say_bedrock(index, block),
        _ => line(match *block {
            Say::Text(text) => json!({"type": "text", "text": text}),
            Say::Thinking(text) => json!({"type": "reasoning", "text": text, "signature": "c2ln"}),
            Say::Call { id, name, arguments } => {
                json!({"type": "tool_call", "id": id, "name": name, "input": arguments})
            }
        }),
    }
}

pub fn finish(protocol: &str, end: End) -> Vec<u8> {
    let at = |words: [&'static str; 4]| words[end as usize];
    match protocol {
        "openai_responses" => {
            let (word, details) = match end {
                End::Length => ("incomplete", json!({"reason": "max_output_tokens"})),
                _ => ("completed", Value::Null),
            };
            return respond(word, json!({"incomplete_details": details}));
        }
        "bedrock_converse" => {
            let reason = at(["end_turn", "tool_use", "max_tokens", "end_turn"]);
            let usage = json!({"inputTokens": 10, "outputTokens": 5, "totalTokens": 15});
            return [
                message("messageStop", json!({"stopReason": reason})),
                message("metadata", json!({"usage": usage})),
            ]
            .concat();
        }
        "gemini" => {
            return data(
                json!({"candidates": [{"finishReason": at(["STOP", "STOP", "MAX_TOKENS", "STOP"])}],
                "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}}),
            );
        }
        _ => {}
    }
    match protocol {
        "anthropic" => {
            let reason = at(["end_turn", "tool_use", "max_tokens", "pause_turn"]);
            let mut body = event(json!({"type": "message_delta", "delta": {"stop_reason": reason},
                "usage": {"output_tokens": 5}}));
            body.extend(event(json!({"type": "message_stop"})));
            body
        }
        "openai_chat" => {
            let reason = at(["stop", "tool_calls", "length", "stop"]);
            let mut body = chunk(json!({}), json!(reason));
            body.extend(data(json!({"id": "c_1", "choices": [],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5}})));
            body.extend_from_slice(b"data: [DONE]\n\n");
            body
        }
        _ => {
            let mut body = line(json!({"type": "usage", "inputTokens": 10, "outputTokens": 5}));
            let reason = at(["stop", "tool_calls", "length", "pause"]);
            body.extend(line(json!({"type": "finish", "reason": reason})));
            body
        }
    }
}

fn say_anthropic(index: usize, block: &Say<'_>) -> Vec<u8> {
    let (start, deltas) = match *block {
        Say::Text(text) => (
            json!({"type": "text", "text": ""}),
            vec![json!({"type": "text_delta", "text": text})],
        ),
        Say::Thinking(text) => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": text}),
                json!({"type": "signature_delta", "signature": "c2ln"}),
            ],
        ),
        Say::Call { id, name, arguments } => (
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            vec![json!({"type": "input_json_delta", "partial_json": arguments})],
        ),
    };
    let mut body = event(json!({"type": "content_block_start", "index": index, "content_block": start}));
    for delta in deltas {
        body.extend(event(
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
        ));
    }
    body.extend(event(json!({"type": "content_block_stop", "index": index})));
    body
}

fn chat_delta(index: usize, block: &Say<'_>) -> Value {
    match *block {
        Say::Text(text) => json!({"content": text}),
        Say::Thinking(text) => json!({"reasoning_content": text}),
        Say::Call { id, name, arguments } => json!({"tool_calls": [{"index": index, "id": id,
            "type": "function", "function": {"name": name, "arguments": arguments}}]}),
    }
}

fn say_responses(index: usize, block: &Say<'_>) -> Vec<u8> {
    let (begun, part, delta, whole) = match *block {
        Say::Text(text) => (
            json!({"id": format!("msg_{index}"), "type": "message", "role": "assistant", "content": []}),
            "output_text",
            text,
            (
                "content",
                json!([{"type": "output_text", "text": text, "annotations": []}]),
            ),
        ),
        Say::Thinking(text) => (
            json!({"id": format!("rs_{index}"), "type": "reasoning", "summary": [],
                "encrypted_content": "c2ln"}),
            "reasoning_summary_text",
            text,
            ("summary", json!([{"type": "summary_text", "text": text}])),
        ),
        Say::Call { id, name, arguments } => (
            json!({"id": format!("fc_{index}"), "type": "function_call", "call_id": id, "name": name,
                "arguments": ""}),
            "function_call_arguments",
            arguments,
            ("arguments", json!(arguments)),
        ),
    };
    let mut done = begun.clone();
    done[whole.0] = whole.1;
    [
        item("added", index, begun),
        event(
            json!({"type": format!("response.{part}.delta"), "output_index": index, "content_index": 0,
            "summary_index": 0, "delta": delta}),
        ),
        item("done", index, done),
    ]
    .concat()
}

/// An item of Responses begins (`added`) or ends (`done`).
pub fn item(what: &str, index: usize, item: Value) -> Vec<u8> {
    event(json!({"type": format!("response.output_item.{what}"), "output_index": index, "item": item}))
}

/// The last event of Responses; `fields` are added to its response.
pub fn respond(word: &str, fields: Value) -> Vec<u8> {
    let mut response = json!({"id": "resp_1", "status": word, "output": [],
        "usage": {"input_tokens": 10, "output_tokens": 5}});
    for (key, value) in fields.as_object().unwrap() {
        response[key] = value.clone();
    }
    event(json!({"type": format!("response.{word}"), "response": response}))
}

/// Arguments that are not valid JSON are a string in Gemini, which has no other place for them.
fn gemini_part(block: &Say<'_>) -> Value {
    match *block {
        Say::Text(text) => json!({"text": text}),
        Say::Thinking(text) => json!({"text": text, "thought": true, "thoughtSignature": "c2ln"}),
        Say::Call { id, name, arguments } => {
            let args: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
            let mut call = json!({"name": name, "args": args});
            if !id.is_empty() {
                call["id"] = json!(id);
            }
            json!({"functionCall": call})
        }
    }
}

fn say_bedrock(index: usize, block: &Say<'_>) -> Vec<u8> {
    let mut body = Vec::new();
    let deltas = match *block {
        Say::Text(text) => vec![json!({"text": text})],
        Say::Thinking(text) => vec![
            json!({"reasoningContent": {"text": text}}),
            json!({"reasoningContent": {"signature": "c2ln"}}),
        ],
        Say::Call { id, name, arguments } => {
            body = tool_start(index, json!({"toolUseId": id, "name": name}));
            vec![json!({"toolUse": {"input": arguments}})]
        }
    };
    for delta in deltas {
        body.extend(block_delta(index, delta));
    }
    body.extend(message("contentBlockStop", json!({"contentBlockIndex": index})));
    body
}

/// A call of Bedrock begins.
pub fn tool_start(index: usize, tool_use: Value) -> Vec<u8> {
    message(
        "contentBlockStart",
        json!({"contentBlockIndex": index, "start": {"toolUse": tool_use}}),
    )
}

pub fn block_delta(index: usize, delta: Value) -> Vec<u8> {
    message(
        "contentBlockDelta",
        json!({"contentBlockIndex": index, "delta": delta}),
    )
}

/// A message of Bedrock's event stream; `!` before its name makes it an exception.
pub fn message(name: &str, payload: Value) -> Vec<u8> {
    let headers = match name.strip_prefix('!') {
        Some(kind) => [(":exception-type", kind), (":message-type", "exception")],
        None => [(":event-type", name), (":message-type", "event")],
    };
    let mut block = Vec::new();
    for (key, value) in headers {
        block.push(key.len() as u8);
        block.extend_from_slice(key.as_bytes());
        block.push(7);
        block.extend_from_slice(&(value.len() as u16).to_be_bytes());
        block.extend_from_slice(value.as_bytes());
    }
    framed(&block, payload.to_string().as_bytes())
}

/// A message of the event stream, with its lengths and checksums.
fn framed(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let total = (headers.len() + payload.len() + 16) as u32;
    let mut out = total.to_be_bytes().to_vec();
    out.extend_from_slice(&(headers.len() as u32).to_be_bytes());
    out.extend_from_slice(&crc32(&out).to_be_bytes());
    out.extend_from_slice(headers);
    out.extend_from_slice(payload);
    out.extend_from_slice(&crc32(&out).to_be_bytes());
    out
}

/// The same messages with other payloads.
pub fn reframed(mut body: &[u8], payload: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    while body.len() >= 16 {
        let length = |at: usize| u32::from_be_bytes(body[at..at + 4].try_into().unwrap()) as usize;
        let (total, headers) = (length(0), 12 + length(4));
        out.extend(framed(&body[12..headers], &payload(&body[headers..total - 4])));
        body = &body[total..];
    }
    out
}

/// A chunk of Gemini with these parts.
pub fn parts(parts: Value) -> Vec<u8> {
    data(json!({"candidates": [{"content": {"parts": parts, "role": "model"}}], "responseId": "r_1"}))
}

/// An event with its name.
pub fn event(value: Value) -> Vec<u8> {
    format!(
        "event: {}\ndata: {value}\n\n",
        value["type"].as_str().unwrap_or_default()
    )
    .into_bytes()
}

/// A chunk of Chat Completions with one choice.
pub fn chunk(delta: Value, finish_reason: Value) -> Vec<u8> {
    data(
        json!({"id": "c_1", "object": "chat.completion.chunk", "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}),
    )
}

/// An event without a name.
pub fn data(value: Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

/// A line of NDJSON.
pub fn line(value: Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}
