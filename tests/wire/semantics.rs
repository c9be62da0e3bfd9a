//! When two request bodies mean the same.

use serde_json::{Map, Value, json};

use crate::convert_gemini;
use crate::convert_responses;

/// Fields of an assistant message or block that clients echo or leave out as they like.
const OPTIONAL: &[&str] = &[
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "annotations",
    "audio",
    "refusal",
    "function_call",
    "caller",
    "citations",
    "extra_content",
    "extra_fields",
    "index",
    "provider_specific_fields",
    "prefix",
    "name",
];

/// The body without what carries no meaning: nulls, defaults, cache markers, a text as a list of one block, the
/// instructions in several messages.
pub fn canonical(body: &Value) -> Value {
    if body.get("input").is_some() {
        return convert_responses::canonical(body);
    }
    let mut body = strip(body);
    convert_gemini::canonical(&mut body);
    if let Some(messages) = body.get_mut("messages").and_then(Value::as_array_mut) {
        join_system(messages);
        for message in messages {
            let role = message["role"].as_str().unwrap_or_default().to_owned();
            let fields = message.as_object_mut().unwrap();
            if role == "assistant" {
                OPTIONAL.iter().for_each(|key| drop(fields.shift_remove(*key)));
                calls(fields);
            }
            for block in fields
                .get_mut("content")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                let Some(block) = block.as_object_mut() else {
                    continue;
                };
                if role == "assistant" {
                    block.shift_remove("caller");
                    block.shift_remove("citations");
                }
                content(block);
            }
            content(fields);
        }
    }
    body
}

fn join_system(messages: &mut Vec<Value>) {
    let count = messages.iter().take_while(|message| is_system(message)).count();
    if count > 0 {
        let texts: Vec<String> = messages
            .drain(..count)
            .map(|message| text_of(&message["content"]))
            .collect();
        messages.insert(0, json!({ "role": "system", "content": texts.join("\n") }));
    }
}

/// `developer` is OpenAI's newer name for `system`.
pub fn is_system(message: &Value) -> bool {
    message["role"] == "system" || message["role"] == "developer"
}

pub fn text_of(content: &Value) -> String {
    match content {
        Value::Array(blocks) => blocks
            .iter()
            .map(|block| block["text"].as_str().unwrap_or_default())
            .collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

fn calls(message: &mut Map<String, Value>) {
    for call in message
        .get_mut("tool_calls")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        let fields = call.as_object_mut().unwrap();
        OPTIONAL.iter().for_each(|key| drop(fields.shift_remove(*key)));
        let arguments = &mut call["function"]["arguments"];
        let text = arguments.as_str().unwrap_or_default();
        *arguments = if text.is_empty() {
            json!({})
        } else {
            serde_json::from_str(text).unwrap_or(json!(text))
        };
    }
}

/// A list of one text is that text; no content, or blanks alone, is no field.
fn content(fields: &mut Map<String, Value>) {
    let one = match fields.get("content") {
        Some(Value::Array(blocks)) => match blocks.as_slice() {
            [block] if block["type"] == "text" && block.as_object().unwrap().len() == 2 => {
                block["text"].clone()
            }
            [] => json!(""),
            _ => return,
        },
        Some(other) => other.clone(),
        None => return,
    };
    if one.as_str().is_some_and(|text| text.trim().is_empty()) {
        fields.shift_remove("content");
    } else {
        fields.insert("content".to_owned(), one);
    }
}

pub fn strip(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(key, value)| {
                let default = match key.as_str() {
                    "is_error" | "stream" => **value == json!(false),
                    "description" => **value == json!(""),
                    "cache_control" => true,
                    // Converse: `"system":[]`, `"inferenceConfig":{}`, the status of every result that is no error.
                    "system" | "inferenceConfig" => **value == json!([]) || **value == json!({}),
                    "status" => **value == json!("success"),
                    _ => false,
                };
                !value.is_null() && !default
            })
            .map(|(key, value)| (key.clone(), strip(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(strip).collect(),
        other => other.clone(),
    }
}

/// Where two canonical bodies first differ.
pub fn difference(got: &Value, want: &Value, path: &str) -> Option<String> {
    match (got, want) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            keys.filter_map(|key| {
                let (a, b) = (
                    a.get(key).unwrap_or(&Value::Null),
                    b.get(key).unwrap_or(&Value::Null),
                );
                difference(a, b, &format!("{path}.{key}"))
            })
            .next()
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(at, (a, b))| difference(a, b, &format!("{path}[{at}]"))),
        _ if got.as_f64().is_some() && got.as_f64() == want.as_f64() => None,
        _ if got == want => None,
        _ => Some(format!("{path}: got {got}, want {want}")),
    }
}
