//! Gemini's answers in the oracle's form, and as they go back.

use looplet::engine::model::answer::{ModelAnswer, Part, PartKind};
use looplet::engine::model::message::{Message, Origin};
use looplet::engine::model::usage::Usage;
use looplet::engine::protocol::{RequestSpec, protocol};
use serde_json::{Value, json};

use crate::shared::{self, Recording};
use crate::{chains, convert, feed};

/// What the answer says in the form of `assembled`; `None` if this is no recording of Gemini.
pub fn assembled(answer: &ModelAnswer, recording: &Recording) -> Option<Value> {
    let expected = &recording.expected;
    if !expected["oracle"].as_str()?.contains("genai") {
        return None;
    }
    let expected = &expected["assembled"];
    let parts = |kind: PartKind| answer.parts.iter().filter(move |part| part.kind == kind);
    let text = |kind: PartKind| parts(kind).map(|part| part.text.as_str()).collect::<String>();
    let calls: Vec<Value> = parts(PartKind::ToolCall)
        .map(|part| {
            let mut call = json!({ "name": part.name, "input": json(&part.text) });
            if !part.id.is_empty() {
                call["id"] = json!(part.id);
            }
            call
        })
        .collect();
    let server_blocks: Vec<String> = parts(PartKind::Raw)
        .flat_map(|part| json(&part.text).as_object().unwrap().clone())
        .map(|(key, _)| key)
        .filter(|key| ["executableCode", "codeExecutionResult"].contains(&key.as_str()))
        .collect();
    let blocked = expected.get("block_reason").is_some();
    Some(json!({
        "text": text(PartKind::Text),
        "thinking": text(PartKind::Thinking),
        "signatures": answer.parts.iter().filter_map(signature).collect::<Vec<_>>(),
        "tool_calls": calls,
        "server_blocks": server_blocks,
        if blocked { "block_reason" } else { "stop_reason" }: answer.raw_finish_reason,
        "usage": answer.usage,
    }))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn signature(part: &Part) -> Option<Value> {
    let beside = || Some(json(part.vendor.as_ref()?.as_str())["thoughtSignature"].clone());
    let found = match part.kind {
        PartKind::Thinking => part.signature.clone().map(Value::String),
        PartKind::Raw => Some(json(&part.text)["thoughtSignature"].clone()),
        _ => beside(),
    };
    found.filter(|found| !found.is_null())
}

/// Our own reading of `usageMetadata`, from the documentation; `None` if this is none, `null` if it has no counts.
pub fn usage(raw: &Value) -> Option<Value> {
    let number = |name: &str| raw[name].as_u64().unwrap_or(0);
    if raw.get("promptTokenCount").is_none() && raw.get("totalTokenCount").is_none() {
        return raw.get("trafficType").map(|_| Value::Null);
    }
    let sound = |list: &str| -> u64 {
        let counts = raw[list].as_array().into_iter().flatten();
        let sounds = counts.filter(|count| count["modality"] == "AUDIO");
        sounds.filter_map(|count| count["tokenCount"].as_u64()).sum()
    };
    let usage = Usage {
        input_tokens: number("promptTokenCount") + number("toolUsePromptTokenCount"),
        output_tokens: number("candidatesTokenCount") + number("thoughtsTokenCount"),
        cache_read_tokens: number("cachedContentTokenCount"),
        cache_write_tokens: 0,
        reasoning_tokens: number("thoughtsTokenCount"),
        audio_input_tokens: sound("promptTokensDetails"),
        audio_output_tokens: sound("candidatesTokensDetails"),
        ..Usage::default()
    };
    Some(json!(usage))
}

#[test]
fn what_gemini_sent_goes_back_part_by_part() {
    let Some(wire) = shared::wire("gemini") else {
        return;
    };
    let protocol = protocol("gemini").unwrap();
    let mut checked = 0;
    for recording in shared::recordings(&wire, "gemini") {
        if recording.status >= 400 {
            continue;
        }
        let (decoded, sent) = if recording.streaming {
            let decoded = feed::decode_stream(protocol, feed::cuts(&recording.body, 1).into_iter());
            (decoded, recording.expected["final"]["parts"].clone())
        } else {
            let body: Value = serde_json::from_slice(&recording.body).unwrap();
            let parts = body["candidates"][0]["content"]["parts"].clone();
            (feed::decode_body(protocol, &recording.body), parts)
        };
        let sent = joined(sent.as_array().map_or(&[], Vec::as_slice));
        let setup = convert::empty("gemini", "m");
        let message = Message {
            origin: Some(Origin {
                protocol: "gemini".to_owned(),
                model: "m".to_owned(),
                prefix: None,
                thread: None,
            }),
            ..Message::assistant(
                decoded
                    .answer
                    .parts
                    .iter()
                    .enumerate()
                    .map(|(at, part)| chains::block(at, part))
                    .collect(),
            )
        };
        let spec = RequestSpec {
            model: &setup.model,
            system: None,
            tools: &[],
            before: None,
            is_digested: false,
            appended: Default::default(),
            clearing: Default::default(),
        };
        let mut encoded = Vec::new();
        (protocol.encode_message)(&spec, &message, &mut encoded);
        let back: Value = serde_json::from_slice(encoded.strip_prefix(b",").unwrap_or(b"{}")).unwrap();
        let back = back["parts"].as_array().cloned().unwrap_or_default();
        assert_eq!(back, sent, "{}", recording.id);
        checked += 1;
    }
    println!("{checked} answers go back as they came");
    assert!(checked > 100);
}

/// Texts of one kind without signatures in a row become one; what is nothing is left out; a call has arguments.
fn joined(parts: &[Value]) -> Vec<Value> {
    let mut joined: Vec<Value> = Vec::new();
    for part in parts {
        let mut part = part.clone();
        if part["functionCall"].is_object() && part["functionCall"]["args"].is_null() {
            part["functionCall"]["args"] = json!({});
        }
        let is_plain = part["text"].is_string() && part["thoughtSignature"].is_null();
        if is_plain && part["text"] == json!("") {
            continue;
        }
        let last = joined
            .last_mut()
            .filter(|last| is_plain && last["text"].is_string() && last["thoughtSignature"].is_null())
            .filter(|last| last["thought"] == part["thought"]);
        match last {
            Some(last) => {
                let text = [&last["text"], &part["text"]].map(|text| text.as_str().unwrap());
                last["text"] = json!(text.concat());
            }
            None => joined.push(part),
        }
    }
    joined
}
