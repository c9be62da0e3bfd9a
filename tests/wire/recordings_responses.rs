//! Recorded answers of OpenAI Responses.

use serde_json::{Value, json};

use crate::recordings::check_adapted;
use crate::shared::Recording;

#[test]
fn recorded_responses_answers_decode_to_what_the_oracle_says() {
    check_adapted("openai-responses", "openai_responses", 16, adapt);
}

/// The oracle's form knows the number of encrypted items only and names usage and end otherwise.
fn adapt(recording: &mut Recording) {
    let expected = &mut recording.expected;
    let output = items(recording.streaming, &recording.body, expected);
    let assembled = &mut expected["assembled"];
    if assembled.is_null() {
        return;
    }
    let mut encrypted: Vec<Value> = output
        .iter()
        .map(|item| item["encrypted_content"].clone())
        .collect();
    encrypted.retain(|content| content.as_str().is_some_and(|content| !content.is_empty()));
    let count = assembled["encrypted_reasoning"].as_u64().unwrap_or(0);
    assert_eq!(encrypted.len() as u64, count);
    assembled["signatures"] = json!(encrypted);
    let end = assembled["stop_reason"].as_str().unwrap_or_default();
    assembled["stop_reason"] = match end.strip_prefix("incomplete:") {
        Some("undefined") => json!("incomplete"),
        Some(reason) => json!(reason),
        None => json!(end),
    };
    let usage = assembled["usage"].take();
    if usage.is_object() {
        assembled["usage"] = json!({
            "prompt_tokens": usage["input_tokens"],
            "prompt_tokens_details": usage["input_tokens_details"],
            "completion_tokens": usage["output_tokens"],
            "completion_tokens_details": usage["output_tokens_details"],
            "cost_in_usd_ticks": usage["cost_in_usd_ticks"],
            "cost": usage["cost"],
        });
    }
}

/// The items as they came whole. In the last event their encrypted contents are other ones; the documentation wants
/// back those of `response.output_item.done`.
fn items(streaming: bool, body: &[u8], expected: &Value) -> Vec<Value> {
    if !streaming {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        return body["output"].as_array().cloned().unwrap_or_default();
    }
    let text = String::from_utf8_lossy(body);
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let events = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let done: Vec<Value> = events
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|mut event| event["item"].take())
        .collect();
    let last = expected["final"]["output"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    if done.is_empty() { last } else { done }
}
