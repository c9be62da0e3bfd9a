//! What is particular to the answers of Bedrock.

use std::path::Path;

use looplet::engine::json::checksum::crc32;
use looplet::engine::model::usage::Usage;
use serde_json::{Value, json};

/// The oracle tells nothing of server tools and counts no citations; it writes 7 where the model wrote 7.0.
pub fn overlook(got: &mut Value, expected: &Value) {
    if expected["usage"]["inputTokens"].is_null() {
        return;
    }
    for key in ["server_blocks", "citations"] {
        got[key] = expected[key].clone();
    }
    for (at, call) in got["tool_calls"].as_array_mut().unwrap().iter_mut().enumerate() {
        let wanted = &expected["tool_calls"][at]["input"];
        if crate::semantics::difference(&call["input"], wanted, "").is_none() {
            call["input"] = wanted.clone();
        }
    }
}

/// `inputTokens` is without what the cache gave or took: the total says so.
pub fn usage(raw: &Value) -> Option<Usage> {
    let number = |key: &str| raw[key].as_u64();
    let (input, output) = (number("inputTokens")?, number("outputTokens")?);
    let read = number("cacheReadInputTokens").unwrap_or(0);
    let write = number("cacheWriteInputTokens").unwrap_or(0);
    assert_eq!(raw["totalTokens"], json!(input + output + read + write));
    Some(Usage {
        input_tokens: input + read + write,
        output_tokens: output,
        cache_read_tokens: read,
        cache_write_tokens: write,
        ..Usage::default()
    })
}

/// The bytes of a fixture. A line of `.events` is a message: its headers in an object, a blank, its payload as it is.
pub fn frame(file: &Path, body: Vec<u8>) -> Vec<u8> {
    if file.extension().is_none_or(|extension| extension != "events") {
        return body;
    }
    let text = String::from_utf8(body).unwrap();
    text.lines()
        .flat_map(|line| {
            let (headers, payload) = line.split_once("} ").unwrap();
            message(&format!("{headers}}}"), payload)
        })
        .collect()
}

fn message(headers: &str, payload: &str) -> Vec<u8> {
    let headers: Value = serde_json::from_str(headers).unwrap();
    let mut block = Vec::new();
    for (name, value) in headers.as_object().unwrap() {
        let value = value.as_str().unwrap();
        block.push(name.len() as u8);
        block.extend_from_slice(name.as_bytes());
        block.push(7);
        block.extend_from_slice(&(value.len() as u16).to_be_bytes());
        block.extend_from_slice(value.as_bytes());
    }
    let total = (block.len() + payload.len() + 16) as u32;
    let mut out = total.to_be_bytes().to_vec();
    out.extend_from_slice(&(block.len() as u32).to_be_bytes());
    out.extend_from_slice(&crc32(&out).to_be_bytes());
    out.extend_from_slice(&block);
    out.extend_from_slice(payload.as_bytes());
    out.extend_from_slice(&crc32(&out).to_be_bytes());
    out
}
