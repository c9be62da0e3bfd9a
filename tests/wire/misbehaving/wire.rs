//! What a request's body says to the model, the same for every protocol.

use serde_json::Value;

/// One thing in a request, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A user's message begins (in the protocols that answer calls with messages of their own: not those).
    User,
    Assistant,
    Text {
        text: String,
    },
    /// What is neither text nor call: reasoning, a block of the vendor's own.
    Other {
        name: String,
    },
    Call {
        id: String,
        name: String,
    },
    Result {
        id: String,
        text: String,
    },
}

/// The messages of a body.
pub fn items(protocol: &str, body: &str) -> Vec<Item> {
    let body: Value = serde_json::from_str(body).unwrap();
    let mut items = Vec::new();
    for message in list(&body["messages"]) {
        match protocol {
            "anthropic" => read(message, &mut items, anthropic),
            "openai_chat" => chat(message, &mut items),
            "bedrock_converse" => read(message, &mut items, bedrock),
            _ => read(message, &mut items, ndjson),
        }
    }
    list(&body["input"])
        .iter()
        .for_each(|item| responses(item, &mut items));
    list(&body["contents"])
        .iter()
        .for_each(|content| gemini(content, &mut items));
    items
}

/// I-01, I-03 and I-04 on the wire: what must hold of every request.
pub fn check_items(items: &[Item]) {
    let mut open: Vec<&str> = Vec::new();
    let mut answered = 0;
    for item in items {
        match item {
            Item::Call { id, name } => {
                assert!(is_legal(name), "vendors refuse a call of {name:?} in the history");
                if answered > 0 {
                    // Items of one answer are told by nothing: the call is one of the next.
                    assert_eq!(answered, open.len(), "I-01: a call before a result: {items:?}");
                    open.clear();
                    answered = 0;
                }
                assert!(!id.is_empty(), "a call without an id");
                assert!(!open.contains(&id.as_str()), "I-01: two calls of one id");
                open.push(id);
            }
            Item::Result { id, .. } => {
                assert_eq!(
                    open.get(answered).copied(),
                    Some(id.as_str()),
                    "I-01, I-04: {items:?}"
                );
                answered += 1;
            }
            Item::User | Item::Assistant => {
                assert_eq!(answered, open.len(), "I-01: a call without its result: {items:?}");
                open.clear();
                answered = 0;
            }
            Item::Other { .. } => {}
            Item::Text { text } => assert!(!text.trim().is_empty(), "I-03: empty text"),
        }
    }
    assert_eq!(answered, open.len(), "I-01: a call without its result");
}

/// What every vendor takes as a tool's name.
fn is_legal(name: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(is_legal)
}

/// A message that is a role and blocks. One that begins with results goes on from the calls before it.
fn read(message: &Value, items: &mut Vec<Item>, block: fn(&Value) -> Option<Item>) {
    let blocks: Vec<Item> = match &message["content"] {
        Value::String(text) => vec![Item::Text { text: text.clone() }],
        content => list(content).iter().filter_map(block).collect(),
    };
    if message["role"] == "assistant" {
        items.push(Item::Assistant);
    } else if !matches!(blocks.first(), Some(Item::Result { .. })) {
        items.push(Item::User);
    }
    items.extend(blocks);
}

fn anthropic(block: &Value) -> Option<Item> {
    Some(match block["type"].as_str()? {
        "text" => Item::Text {
            text: text(&block["text"]),
        },
        "tool_use" => Item::Call {
            id: text(&block["id"]),
            name: text(&block["name"]),
        },
        "tool_result" => Item::Result {
            id: text(&block["tool_use_id"]),
            text: text(&block["content"]),
        },
        name => Item::Other {
            name: name.to_owned(),
        },
    })
}

fn bedrock(block: &Value) -> Option<Item> {
    let (key, inner) = block.as_object()?.iter().next()?;
    Some(match key.as_str() {
        "text" => Item::Text { text: text(inner) },
        "toolUse" => Item::Call {
            id: text(&inner["toolUseId"]),
            name: text(&inner["name"]),
        },
        "toolResult" => Item::Result {
            id: text(&inner["toolUseId"]),
            text: text(&inner["content"]),
        },
        "reasoningContent" if inner["redactedContent"].is_string() => Item::Other {
            name: "redacted_thinking".into(),
        },
        "reasoningContent" => Item::Other {
            name: "thinking".into(),
        },
        name => Item::Other {
            name: name.to_owned(),
        },
    })
}

fn ndjson(block: &Value) -> Option<Item> {
    Some(match block["type"].as_str()? {
        "text" => Item::Text {
            text: text(&block["text"]),
        },
        "tool_call" => Item::Call {
            id: text(&block["id"]),
            name: text(&block["name"]),
        },
        "tool_result" => Item::Result {
            id: text(&block["callId"]),
            text: text(&block["content"]),
        },
        name => Item::Other {
            name: name.to_owned(),
        },
    })
}

fn chat(message: &Value, items: &mut Vec<Item>) {
    match message["role"].as_str() {
        Some("tool") => items.push(Item::Result {
            id: text(&message["tool_call_id"]),
            text: text(&message["content"]),
        }),
        Some("assistant") => {
            items.push(Item::Assistant);
            for name in ["reasoning_content", "reasoning"] {
                if message[name].is_string() {
                    items.push(Item::Other { name: name.into() });
                }
            }
            let details = list(&message["reasoning_details"]).iter();
            items.extend(details.map(|detail| Item::Other {
                name: text(&detail["type"]),
            }));
            let said = text(&message["content"]);
            if !said.is_empty() {
                items.push(Item::Text { text: said });
            }
            let calls = list(&message["tool_calls"]).iter();
            items.extend(calls.map(|call| Item::Call {
                id: text(&call["id"]),
                name: text(&call["function"]["name"]),
            }));
        }
        _ => {
            items.push(Item::User);
            items.push(Item::Text {
                text: text(&message["content"]),
            });
        }
    }
}

/// Items stand for themselves; those of one answer are told by nothing.
fn responses(item: &Value, items: &mut Vec<Item>) {
    match item["type"].as_str().unwrap_or("message") {
        "message" if item["role"] == "assistant" => items.push(Item::Text {
            text: text(&item["content"]),
        }),
        "message" => {
            items.push(Item::User);
            items.push(Item::Text {
                text: text(&item["content"]),
            });
        }
        "function_call" => items.push(Item::Call {
            id: text(&item["call_id"]),
            name: text(&item["name"]),
        }),
        "function_call_output" => items.push(Item::Result {
            id: text(&item["call_id"]),
            text: text(&item["output"]),
        }),
        name => items.push(Item::Other {
            name: name.to_owned(),
        }),
    }
}

/// Calls without an id are known by their place.
fn gemini(content: &Value, items: &mut Vec<Item>) {
    let parts = list(&content["parts"]);
    if content["role"] == "model" {
        items.push(Item::Assistant);
    } else if parts.iter().all(|part| part["functionResponse"].is_null()) {
        items.push(Item::User);
    }
    let (mut calls, mut results) = (0, 0);
    let id = |value: &Value, count: &mut usize| {
        *count += 1;
        value["id"]
            .as_str()
            .map_or_else(|| format!("#{count}"), str::to_owned)
    };
    for part in parts {
        let (call, result) = (&part["functionCall"], &part["functionResponse"]);
        items.push(if call.is_object() {
            Item::Call {
                id: id(call, &mut calls),
                name: text(&call["name"]),
            }
        } else if result.is_object() {
            let response = &result["response"];
            let texts = ["output", "error"].map(|name| response[name].as_str());
            Item::Result {
                id: id(result, &mut results),
                text: texts
                    .into_iter()
                    .flatten()
                    .next()
                    .map_or_else(|| response.to_string(), str::to_owned),
            }
        } else if part["thought"] == true {
            Item::Other {
                name: "thinking".into(),
            }
        } else if part["text"].is_string() {
            Item::Text {
                text: text(&part["text"]),
            }
        } else {
            let field = part.as_object().and_then(|part| part.keys().next().cloned());
            Item::Other {
                name: field.unwrap_or_default(),
            }
        });
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A string, or the texts of a list of blocks.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(|block| text(&block["text"])).collect(),
        _ => String::new(),
    }
}
