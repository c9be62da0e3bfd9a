//! A recorded request to Gemini as a configuration and messages of ours, and when two such bodies mean the same.
//!
//! Calls have no ids here, or such as the client made up: results are named by their place, `#0` for the first.

use looplet::engine::model::config::{ResponseFormat, ToolChoice, ToolConfig};
use looplet::engine::model::message::{Block, Json, MediaSource, Message, Origin, Role, ToolInput};
use serde_json::{Map, Value, json};

use crate::convert::{Setup, empty};

/// The setup that makes this request. What has no option of ours goes through `body`.
pub fn setup(url: &str, request: &Value) -> Setup {
    let (_, name) = url.split_once("/models/").unwrap();
    let (name, verb) = name.split_once(':').unwrap();
    let mut request = request.clone();
    canonical(&mut request);
    let mut rest = request.as_object().unwrap().clone();
    rest.retain(|_, value| !value.is_null());
    let mut setup = empty("gemini", name);
    let contents = rest.shift_remove("contents").unwrap();
    setup.messages = messages(name, contents.as_array().unwrap());
    setup.system = rest
        .shift_remove("systemInstruction")
        .map(|system| system["parts"][0]["text"].as_str().unwrap().to_owned());
    setup.tools = tools(&mut rest);
    let model = &mut setup.model;
    model.stream = verb.starts_with("stream");
    if let Some(config) = rest.get_mut("generationConfig").and_then(Value::as_object_mut) {
        config.retain(|_, value| !value.is_null());
        let mut take = |key: &str| config.shift_remove(key).map(|value| json_of(&value));
        model.max_output_tokens = take("maxOutputTokens").map(|json| json.as_str().parse().unwrap());
        model.temperature = take("temperature");
        model.top_p = take("topP");
        model.top_k = take("topK");
        model.seed = take("seed");
        model.thinking = take("thinkingConfig");
        if let Some(schema) = take("responseJsonSchema") {
            take("responseMimeType");
            model.response_format = Some(ResponseFormat {
                name: String::new(),
                schema,
                strict: true,
            });
        }
    }
    let choice = &rest.get("toolConfig").unwrap_or(&Value::Null)["functionCallingConfig"];
    let choice = match (
        choice["mode"].as_str(),
        choice.as_object().is_some_and(|choice| choice.len() == 1),
    ) {
        (Some("AUTO"), true) => Some(ToolChoice::Auto),
        (Some("ANY"), true) => Some(ToolChoice::Required),
        (Some("NONE"), true) => Some(ToolChoice::None),
        _ => None,
    };
    if choice.is_some() {
        model.tool_choice = choice;
        rest["toolConfig"]
            .as_object_mut()
            .unwrap()
            .shift_remove("functionCallingConfig");
    }
    rest.retain(|_, value| *value != json!({}));
    if !rest.is_empty() {
        model.body = Some(json_of(&Value::Object(rest)));
    }
    setup
}

fn json_of(value: &Value) -> Json {
    Json::parse(&value.to_string()).unwrap()
}

/// Our own form of the tools, if they are functions with nothing that we would not write.
fn tools(rest: &mut Map<String, Value>) -> Vec<ToolConfig> {
    let Some([tool]) = rest.get("tools").and_then(Value::as_array).map(Vec::as_slice) else {
        return Vec::new();
    };
    let plain = |tool: &Value| {
        let schema = &tool["parametersJsonSchema"];
        // Upper case types are those of OpenAPI's dialect, which our options do not speak.
        if schema.is_null() || schema.to_string().contains(":\"OBJECT\"") {
            return None;
        }
        Some(ToolConfig {
            name: tool["name"].as_str()?.to_owned(),
            description: tool["description"].as_str().unwrap_or_default().to_owned(),
            input_schema: json_of(schema),
            ..serde_json::from_str(r#"{"name":"","inputSchema":{}}"#).unwrap()
        })
    };
    if tool.as_object().unwrap().len() > 1 {
        return Vec::new();
    }
    let functions = tool["functionDeclarations"].as_array().into_iter().flatten();
    let own: Option<Vec<ToolConfig>> = functions.map(plain).collect();
    let own = own.unwrap_or_default();
    if !own.is_empty() {
        rest.shift_remove("tools");
    }
    own
}

/// The functions in a field `tools` of whatever protocol.
pub fn declarations(tools: &Value) -> Vec<&Value> {
    let tools = tools.as_array().into_iter().flatten();
    tools
        .flat_map(|tool| match &tool["functionDeclarations"] {
            Value::Array(functions) => functions.iter().collect(),
            _ => vec![tool],
        })
        .filter(|tool| ["name", "function"].iter().any(|key| tool.get(key).is_some()))
        .collect()
}

pub fn nth_id(nth: usize) -> String {
    format!("#{nth}")
}

/// The results with the ids of the calls in `turn`; as they are if their ids are those already.
pub fn in_order(turn: &Message, results: &[Block]) -> Vec<Block> {
    let ids: Vec<&String> = turn
        .content
        .iter()
        .filter_map(|block| match block {
            Block::ToolCall { id, .. } => Some(id),
            _ => None,
        })
        .collect();
    let mut results = results.to_vec();
    for (at, result) in results.iter_mut().enumerate() {
        if let Block::ToolResult { call_id, .. } = result
            && *call_id == nth_id(at)
        {
            ids[at].clone_into(call_id);
        }
    }
    results
}

/// What `next` has after the model's turn.
pub fn results(request: &Value, next: &Value) -> Vec<Block> {
    let (mut request, mut next) = (request.clone(), next.clone());
    canonical(&mut request);
    canonical(&mut next);
    let before = request["contents"].as_array().unwrap().len();
    let new = &next["contents"].as_array().unwrap()[before + 1..];
    new.iter().flat_map(user).collect()
}

fn messages(model: &str, contents: &[Value]) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for content in contents {
        if content["role"] == "model" {
            let parts = content["parts"].as_array().unwrap();
            messages.push(Message {
                origin: Some(Origin {
                    protocol: "gemini".to_owned(),
                    model: model.to_owned(),
                    prefix: None,
                    thread: None,
                }),
                ..Message::assistant(
                    parts
                        .iter()
                        .enumerate()
                        .map(|(at, part)| said(at, part))
                        .collect(),
                )
            });
        } else {
            let blocks = user(content);
            let blocks = match messages.last() {
                Some(turn) if turn.role == Role::Assistant => in_order(turn, &blocks),
                _ => blocks,
            };
            messages.push(Message::user(blocks));
        }
    }
    messages
}

fn said(at: usize, part: &Value) -> Block {
    let mut further = part.as_object().unwrap().clone();
    ["text", "functionCall", "thought"]
        .iter()
        .for_each(|key| drop(further.shift_remove(*key)));
    let vendor = Some(json_of(&Value::Object(further)));
    let text = part["text"].as_str().map(str::to_owned);
    match (text, &part["functionCall"]) {
        (Some(text), _) if part["thought"] == true => Block::Thinking {
            text,
            signature: part["thoughtSignature"].as_str().map(str::to_owned),
            vendor: None,
        },
        (Some(text), _) if !text.is_empty() => Block::Text {
            text,
            purpose: None,
            vendor,
        },
        (_, call) if call.is_object() => Block::ToolCall {
            id: format!("call_{at}"),
            name: call["name"].as_str().unwrap().to_owned(),
            input: ToolInput::Json(json_of(&call["args"])),
            vendor,
        },
        _ => Block::Raw { json: json_of(part) },
    }
}

/// Media beside results are a part of the last of them.
fn user(content: &Value) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut count = 0;
    for part in content["parts"].as_array().unwrap() {
        let response = &part["functionResponse"];
        if response.is_object() {
            let mut content = vec![Block::text(response["response"].to_string())];
            content.extend(
                response["parts"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(media),
            );
            blocks.push(Block::ToolResult {
                call_id: nth_id(count),
                content,
                is_error: false,
                pending: None,
            });
            count += 1;
        } else if let Some(text) = part["text"].as_str() {
            blocks.push(Block::text(text));
        } else {
            let block = media(part).unwrap_or_else(|| Block::Raw { json: json_of(part) });
            match blocks.last_mut() {
                Some(Block::ToolResult { content, .. }) => content.push(block),
                _ => blocks.push(block),
            }
        }
    }
    blocks
}

fn media(part: &Value) -> Option<Block> {
    let (kind, place, source): (_, _, fn(String) -> MediaSource) =
        match part.as_object()?.keys().next()?.as_str() {
            "inlineData" => ("inlineData", "data", MediaSource::Data),
            _ => ("fileData", "fileUri", MediaSource::Url),
        };
    Some(Block::Media {
        media_type: part[kind]["mimeType"].as_str()?.to_owned(),
        source: source(part[kind][place].as_str()?.to_owned()),
        name: None,
        vendor: part
            .get("thoughtSignature")
            .map(|signature| json_of(&json!({ "thoughtSignature": signature }))),
    })
}

/// The body without what carries no meaning: the other spelling of names, the other alphabet of base64, the client's
/// ids, thoughts without a signature, `thought: false`, the instruction's role, empty objects, neighbouring contents
/// of the user, which schema field a function has.
pub fn canonical(body: &mut Value) {
    if body.get("contents").is_none() {
        return;
    }
    respell(body);
    let body = body.as_object_mut().unwrap();
    if let Some(system) = body.get_mut("systemInstruction").and_then(Value::as_object_mut) {
        system.shift_remove("role");
        system["parts"].as_array_mut().unwrap().iter_mut().for_each(part);
    }
    let contents = std::mem::take(body["contents"].as_array_mut().unwrap());
    let mut joined: Vec<Value> = Vec::new();
    for mut content in contents {
        let is_user = content["role"] == "user";
        let parts = content["parts"].as_array_mut().unwrap();
        parts.iter_mut().for_each(part);
        parts.retain(|part| part["thought"] != true || part["thoughtSignature"].is_string());
        match joined.last_mut() {
            Some(last) if is_user && last["role"] == "user" => {
                last["parts"].as_array_mut().unwrap().append(parts);
            }
            _ => joined.push(content),
        }
    }
    body["contents"] = json!(joined);
    for tool in body
        .get_mut("tools")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        for function in tool["functionDeclarations"].as_array_mut().into_iter().flatten() {
            let function = function.as_object_mut().unwrap();
            if let Some(schema) = function.shift_remove("parameters") {
                function.insert("parametersJsonSchema".to_owned(), schema);
            }
        }
    }
    body.retain(|_, value| *value != json!({}));
}

fn part(part: &mut Value) {
    let fields = part.as_object_mut().unwrap();
    if fields.get("thought") == Some(&json!(false)) {
        fields.shift_remove("thought");
    }
    if let Some(Value::String(signature)) = fields.get_mut("thoughtSignature") {
        *signature = signature.replace('-', "+").replace('_', "/");
    }
    for kind in ["functionCall", "functionResponse"] {
        if let Some(function) = fields.get_mut(kind).and_then(Value::as_object_mut) {
            function.shift_remove("id");
        }
    }
}

/// `inline_data` as `inlineData`, but for names that are the user's.
fn respell(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, mut value) in std::mem::take(fields) {
                let mut words = key.split('_');
                let first = words.next().unwrap().to_owned();
                let key = words.fold(first, |key, word| key + &word[..1].to_uppercase() + &word[1..]);
                if ![
                    "args",
                    "response",
                    "parameters",
                    "parametersJsonSchema",
                    "responseJsonSchema",
                    "responseSchema",
                ]
                .contains(&key.as_str())
                {
                    respell(&mut value);
                }
                fields.insert(key, value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(respell),
        _ => {}
    }
}
