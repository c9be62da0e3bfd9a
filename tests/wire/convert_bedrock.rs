//! A recorded Converse request as a configuration and messages of ours.

use looplet::engine::model::config::{ToolChoice, ToolConfig};
use looplet::engine::model::message::{Block, Json, MediaSource, Message, Role, ToolInput};
use serde_json::{Map, Value, json};

use crate::convert::Setup;

/// The setup that makes this request. What has no option of ours goes through `body`.
pub fn setup(request: &Value) -> Setup {
    let mut rest = request.as_object().unwrap().clone();
    rest.retain(|_, value| !value.is_null());
    let messages = rest.shift_remove("messages").unwrap();
    let system = match rest.get("system") {
        Some(Value::Array(blocks)) => match blocks.as_slice() {
            [block] if block["text"].is_string() => Some(block["text"].as_str().unwrap().to_owned()),
            _ => None,
        },
        _ => None,
    };
    if system.is_some() {
        rest.shift_remove("system");
    }
    let mut model = json!({
        "vendor": "bedrock", "protocol": "bedrock_converse", "model": "", "promptCaching": { "enabled": false },
    });
    if let Some(config) = rest.get_mut("inferenceConfig").and_then(Value::as_object_mut) {
        for (theirs, ours) in [
            ("maxTokens", "maxOutputTokens"),
            ("temperature", "temperature"),
            ("topP", "topP"),
            ("stopSequences", "stopSequences"),
        ] {
            if let Some(value) = config.shift_remove(theirs) {
                model[ours] = value;
            }
        }
        if config.is_empty() {
            rest.shift_remove("inferenceConfig");
        }
    }
    let tools = rest
        .get_mut("toolConfig")
        .and_then(Value::as_object_mut)
        .map(|config| tools(config, &mut model))
        .unwrap_or_default();
    if rest.get("toolConfig") == Some(&json!({})) {
        rest.shift_remove("toolConfig");
    }
    if !rest.is_empty() {
        model["body"] = Value::Object(rest);
    }
    Setup {
        protocol: "bedrock_converse",
        model: serde_json::from_str(&model.to_string()).unwrap(),
        system,
        tools,
        messages: self::messages(messages.as_array().unwrap()),
    }
}

fn tools(config: &mut Map<String, Value>, model: &mut Value) -> Vec<ToolConfig> {
    let choice = match config.get("toolChoice") {
        Some(choice) if choice["auto"].is_object() => Some(ToolChoice::Auto),
        Some(choice) if choice["any"].is_object() => Some(ToolChoice::Required),
        _ => None,
    };
    if let Some(choice) = choice {
        model["toolChoice"] = serde_json::to_value(choice).unwrap();
        config.shift_remove("toolChoice");
    }
    let plain = |tool: &Value| {
        let spec = tool["toolSpec"].as_object()?;
        let known = ["name", "description", "inputSchema"];
        if !spec.keys().all(|key| known.contains(&key.as_str())) {
            return None;
        }
        let config = json!({
            "name": spec["name"],
            "description": spec.get("description").cloned().unwrap_or(json!("")),
            "inputSchema": spec["inputSchema"]["json"],
        });
        Some(serde_json::from_str(&config.to_string()).unwrap())
    };
    let own: Option<Vec<ToolConfig>> = config["tools"].as_array().unwrap().iter().map(plain).collect();
    if own.is_some() {
        config.shift_remove("tools");
    }
    own.unwrap_or_default()
}

/// The model stands in the URL, escaped or not, and with it whether the answer is a stream.
pub fn read_url(setup: &mut Setup, url: &str) {
    let Some((_, path)) = url.split_once(".amazonaws.com/model/") else {
        return;
    };
    let (model, operation) = path.rsplit_once('/').unwrap();
    setup.model.model = model.replace("%3A", ":").replace("%2F", "/");
    setup.model.stream = operation == "converse-stream";
}

pub fn messages(wire: &[Value]) -> Vec<Message> {
    wire.iter()
        .map(|message| {
            let role: Role = serde_json::from_value(message["role"].clone()).unwrap();
            let content = message["content"].as_array().unwrap().iter().map(block).collect();
            match role {
                Role::User => Message::user(content),
                Role::Assistant => Message::assistant(content),
            }
        })
        .collect()
}

fn block(block: &Value) -> Block {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (key, inner) = block.as_object().unwrap().iter().next().unwrap();
    match key.as_str() {
        "text" => Block::text(text(inner)),
        "toolUse" => Block::ToolCall {
            id: text(&inner["toolUseId"]),
            name: text(&inner["name"]),
            input: ToolInput::Json(Json::parse(&inner["input"].to_string()).unwrap()),
            vendor: None,
        },
        "toolResult" => Block::ToolResult {
            call_id: text(&inner["toolUseId"]),
            content: inner["content"]
                .as_array()
                .unwrap()
                .iter()
                .map(self::block)
                .collect(),
            is_error: inner["status"] == json!("error"),
            pending: None,
        },
        "image" if inner["source"]["bytes"].is_string() => Block::Media {
            media_type: format!("image/{}", text(&inner["format"])),
            source: MediaSource::Data(text(&inner["source"]["bytes"])),
            name: None,
            vendor: None,
        },
        _ => Block::Raw {
            json: Json::parse(&block.to_string()).unwrap(),
        },
    }
}
