//! A recorded request as a configuration and messages of ours.

use looplet::engine::model::config::{ModelConfig, ToolChoice, ToolConfig};
use looplet::engine::model::message::{Block, Json, MediaSource, Message, Origin, ToolInput};
use serde_json::{Map, Value, json};

use crate::convert_bedrock;
use crate::convert_responses;
use crate::semantics::{is_system, text_of};

/// What a run would have been configured with.
#[derive(Clone, Debug)]
pub struct Setup {
    pub protocol: &'static str,
    pub model: ModelConfig,
    pub system: Option<String>,
    pub tools: Vec<ToolConfig>,
    pub messages: Vec<Message>,
}

/// A setup that says nothing but its model.
pub fn empty(protocol: &'static str, model: &str) -> Setup {
    Setup {
        protocol,
        model: serde_json::from_value(json!({ "vendor": "custom", "protocol": protocol, "model": model }))
            .unwrap(),
        system: None,
        tools: Vec::new(),
        messages: Vec::new(),
    }
}

/// The setup that makes this request. What has no option of ours goes through `body`.
pub fn setup(protocol: &'static str, vendor: &str, request: &Value) -> Setup {
    if protocol == "openai_responses" {
        return convert_responses::setup(request);
    }
    if protocol == "bedrock_converse" {
        return convert_bedrock::setup(request);
    }
    let mut rest = request.as_object().unwrap().clone();
    rest.retain(|_, value| !value.is_null());
    let messages = rest.shift_remove("messages").unwrap();
    let (system, messages) = match protocol {
        "anthropic" => (anthropic_system(&mut rest), messages.as_array().unwrap().clone()),
        _ => chat_system(messages.as_array().unwrap()),
    };
    let tools = tools(&mut rest);
    let openai = vendor == "openai" && !rest.contains_key("max_tokens");
    let vendor = match protocol {
        "anthropic" => "anthropic",
        _ if openai => "openai",
        _ => "compatible",
    };
    let mut model = ModelConfig {
        model: rest
            .shift_remove("model")
            .and_then(|name| Some(name.as_str()?.to_owned()))
            .unwrap_or_default(),
        stream: rest.shift_remove("stream") == Some(json!(true)),
        max_output_tokens: take_number(
            &mut rest,
            if openai {
                "max_completion_tokens"
            } else {
                "max_tokens"
            },
        ),
        temperature: take_json(&mut rest, "temperature"),
        top_p: take_json(&mut rest, "top_p"),
        seed: take_json(&mut rest, "seed"),
        tool_choice: tool_choice(&mut rest),
        ..serde_json::from_value(json!({ "vendor": vendor, "model": "" })).unwrap()
    };
    for key in ["stop", "stop_sequences"] {
        if rest.get(key).is_some_and(Value::is_array) {
            model.stop_sequences = serde_json::from_value(rest.shift_remove(key).unwrap()).unwrap();
        }
    }
    if !openai {
        model.thinking = take_json(&mut rest, "thinking");
    }
    model.effort = rest
        .shift_remove("reasoning_effort")
        .and_then(|effort| Some(effort.as_str()?.to_owned()));
    model.parallel_tool_calls = rest
        .shift_remove("parallel_tool_calls")
        .and_then(|choice| choice.as_bool());
    if protocol == "openai_chat"
        && model.stream
        && rest.get("stream_options") != Some(&json!({"include_usage": true}))
    {
        rest.entry("stream_options").or_insert(Value::Null);
    }
    if request.get("model").is_none() {
        rest.insert("model".to_owned(), Value::Null);
    }
    if protocol == "anthropic" && model.max_output_tokens.is_none() {
        rest.insert("max_tokens".to_owned(), Value::Null);
    }
    if !rest.is_empty() {
        model.body = Some(Json::parse(&Value::Object(rest).to_string()).unwrap());
    }
    Setup {
        protocol,
        messages: self::messages(protocol, &model.model, &messages),
        model,
        system,
        tools,
    }
}

fn take_json(rest: &mut Map<String, Value>, key: &str) -> Option<Json> {
    rest.shift_remove(key)
        .map(|value| Json::parse(&value.to_string()).unwrap())
}

fn take_number(rest: &mut Map<String, Value>, key: &str) -> Option<u64> {
    rest.shift_remove(key).and_then(|value| value.as_u64())
}

fn anthropic_system(rest: &mut Map<String, Value>) -> Option<String> {
    match rest.get("system")? {
        Value::String(_) => Some(rest.shift_remove("system")?.as_str()?.to_owned()),
        _ => None,
    }
}

/// The system messages at the head, in one.
fn chat_system(messages: &[Value]) -> (Option<String>, Vec<Value>) {
    let count = messages.iter().take_while(|message| is_system(message)).count();
    let (system, rest) = messages.split_at(count);
    let texts: Vec<String> = system
        .iter()
        .map(|message| text_of(&message["content"]))
        .collect();
    (
        if texts.is_empty() {
            None
        } else {
            Some(texts.join("\n"))
        },
        rest.to_vec(),
    )
}

/// Our own form of the tools, if they have nothing that we would not write.
fn tools(rest: &mut Map<String, Value>) -> Vec<ToolConfig> {
    let plain = |tool: &Value| {
        let (tool, schema) = if tool["function"].is_object() {
            (&tool["function"], "parameters")
        } else {
            (tool, "input_schema")
        };
        let known = ["name", "description", schema, "cache_control"];
        let fields = tool.as_object()?;
        if tool[schema].is_null()
            || !fields
                .iter()
                .all(|(key, value)| known.contains(&key.as_str()) || value.is_null())
        {
            return None;
        }
        Some(ToolConfig {
            name: tool["name"].as_str()?.to_owned(),
            description: tool["description"].as_str().unwrap_or_default().to_owned(),
            input_schema: Json::parse(&tool[schema].to_string()).unwrap(),
            ..serde_json::from_value(json!({ "name": "", "inputSchema": {} })).unwrap()
        })
    };
    let own: Option<Vec<ToolConfig>> = rest
        .get("tools")
        .and_then(Value::as_array)
        .map(|tools| tools.iter().map(plain).collect())
        .unwrap_or_default();
    match own {
        Some(tools) if !tools.is_empty() => {
            rest.shift_remove("tools");
            tools
        }
        _ => Vec::new(),
    }
}

pub fn tool_choice(rest: &mut Map<String, Value>) -> Option<ToolChoice> {
    let choice = match rest.get("tool_choice")? {
        Value::String(word) => match word.as_str() {
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            "required" => ToolChoice::Required,
            _ => return None,
        },
        object => match (object["type"].as_str()?, object.as_object()?.len()) {
            ("auto", 1) => ToolChoice::Auto,
            ("any", 1) => ToolChoice::Required,
            ("none", 1) => ToolChoice::None,
            ("tool", 2) => ToolChoice::Tool(object["name"].as_str()?.to_owned()),
            ("function", 2) => {
                let function = object.get("function").unwrap_or(object);
                ToolChoice::Tool(function["name"].as_str()?.to_owned())
            }
            _ => return None,
        },
    };
    rest.shift_remove("tool_choice");
    Some(choice)
}

/// Wire messages as ours: neighbouring `tool` messages become one user message.
pub fn messages(protocol: &str, model: &str, wire: &[Value]) -> Vec<Message> {
    if protocol == "bedrock_converse" {
        return convert_bedrock::messages(wire);
    }
    let origin = Some(Origin {
        protocol: protocol.to_owned(),
        model: model.to_owned(),
        prefix: None,
        thread: None,
    });
    let mut messages: Vec<Message> = Vec::new();
    let mut after_tool = false;
    for message in wire {
        let mut content = Vec::new();
        let tool = message["role"] == "tool";
        if tool {
            content.push(Block::ToolResult {
                call_id: message["tool_call_id"].as_str().unwrap().to_owned(),
                content: vec![Block::text(text_of(&message["content"]))],
                is_error: false,
                pending: None,
            });
        } else {
            match &message["content"] {
                Value::String(text) => content.push(Block::text(text.as_str())),
                blocks => content.extend(blocks.as_array().into_iter().flatten().map(block)),
            }
            content.extend(message["tool_calls"].as_array().into_iter().flatten().map(call));
        }
        match messages.last_mut() {
            Some(last) if tool && after_tool => last.content.append(&mut content),
            _ if message["role"] == "assistant" => {
                messages.push(Message {
                    origin: origin.clone(),
                    ..Message::assistant(content)
                });
            }
            _ => messages.push(Message::user(content)),
        }
        after_tool = tool;
    }
    messages
}

fn call(call: &Value) -> Block {
    let arguments = call["function"]["arguments"].as_str().unwrap();
    Block::ToolCall {
        id: call["id"].as_str().unwrap().to_owned(),
        name: call["function"]["name"].as_str().unwrap().to_owned(),
        input: ToolInput::Json(Json::parse(arguments).unwrap_or_else(|_| Json::empty_object())),
        vendor: None,
    }
}

fn block(block: &Value) -> Block {
    let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
    let raw = || Block::Raw {
        json: Json::parse(&block.to_string()).unwrap(),
    };
    let vendor = |ours: &[&str]| {
        let mut fields = block.as_object().unwrap().clone();
        fields.retain(|key, _| !ours.contains(&key.as_str()));
        Some(Json::parse(&Value::Object(fields).to_string()).unwrap())
    };
    match block["type"].as_str().unwrap_or_default() {
        "text" => Block::Text {
            purpose: None,
            text: text("text"),
            vendor: vendor(&["type", "text", "cache_control"]),
        },
        "thinking" => Block::Thinking {
            text: text("thinking"),
            signature: Some(text("signature")),
            vendor: None,
        },
        "redacted_thinking" => Block::RedactedThinking { data: text("data") },
        "tool_use" => Block::ToolCall {
            id: text("id"),
            name: text("name"),
            input: ToolInput::Json(Json::parse(&block["input"].to_string()).unwrap()),
            vendor: vendor(&["type", "id", "name", "input", "cache_control"]),
        },
        "tool_result" => Block::ToolResult {
            call_id: text("tool_use_id"),
            content: match &block["content"] {
                Value::String(text) => vec![Block::text(text.as_str())],
                blocks => blocks.as_array().into_iter().flatten().map(self::block).collect(),
            },
            is_error: block["is_error"] == json!(true),
            pending: None,
        },
        "image" | "document" if block.as_object().unwrap().len() == 2 => {
            match block["source"]["type"].as_str() {
                Some("base64") => Block::Media {
                    media_type: block["source"]["media_type"].as_str().unwrap().to_owned(),
                    source: MediaSource::Data(block["source"]["data"].as_str().unwrap().to_owned()),
                    name: None,
                    vendor: None,
                },
                _ => raw(),
            }
        }
        _ => raw(),
    }
}

/// The blocks of a message that answer calls.
pub fn results(message: &Message) -> Vec<Block> {
    message.content.clone()
}
