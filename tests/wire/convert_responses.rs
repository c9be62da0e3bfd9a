//! Recorded requests of OpenAI Responses as configurations and messages of ours, and when two of them mean the same.

use looplet::engine::model::config::ToolConfig;
use looplet::engine::model::message::{Block, Json, Message, Origin, ToolInput};
use serde_json::{Map, Value, json};

use crate::convert::{Setup, tool_choice};
use crate::semantics::{is_system, strip, text_of};

const NAME: &str = "openai_responses";

/// The setup that makes this request. What has no option of ours goes through `body`.
pub fn setup(request: &Value) -> Setup {
    let mut rest = request.as_object().unwrap().clone();
    rest.retain(|_, value| !value.is_null());
    let mut items = items(&rest.shift_remove("input").unwrap());
    let mut system = rest
        .shift_remove("instructions")
        .map(|text| text.as_str().unwrap().to_owned());
    if system.is_none() {
        system = take_system(&mut items);
    }
    let tools = tools(&mut rest);
    let choice = tool_choice(&mut rest);
    let text = |rest: &mut Map<String, Value>, key: &str| Some(rest.shift_remove(key)?.as_str()?.to_owned());
    let mut model = json!({ "vendor": "openai", "protocol": NAME });
    model["model"] = json!(text(&mut rest, "model").unwrap_or_default());
    model["stream"] = json!(rest.shift_remove("stream") == Some(json!(true)));
    for (ours, theirs) in [
        ("maxOutputTokens", "max_output_tokens"),
        ("temperature", "temperature"),
        ("topP", "top_p"),
        ("parallelToolCalls", "parallel_tool_calls"),
        ("metadata", "metadata"),
    ] {
        model[ours] = rest.shift_remove(theirs).unwrap_or_default();
    }
    if let Some(reasoning) = rest.get_mut("reasoning").and_then(Value::as_object_mut) {
        model["effort"] = reasoning.shift_remove("effort").unwrap_or_default();
        model["thinking"] = rest.shift_remove("reasoning").unwrap();
    }
    take_format(&mut rest, &mut model);
    // What the servers take for granted.
    rest.entry("store").or_insert(json!(true));
    rest.entry("include").or_insert(Value::Null);
    model["body"] = Value::Object(rest);
    let mut model: looplet::engine::model::config::ModelConfig =
        serde_json::from_str(&model.to_string()).unwrap();
    model.tool_choice = choice;
    Setup {
        protocol: NAME,
        messages: messages(&model.model, &items),
        model,
        system,
        tools,
    }
}

/// A format that has nothing that we would not write.
fn take_format(rest: &mut Map<String, Value>, model: &mut Value) {
    let format = rest.get("text").map(|text| text["format"].clone());
    let keys = |value: &Value| value.as_object().map_or(0, Map::len);
    if let Some(format) = format
        && format["type"] == "json_schema"
        && keys(&format) == 4
        && format["strict"].is_boolean()
        && keys(&rest["text"]) == 1
    {
        rest.shift_remove("text");
        model["responseFormat"] =
            json!({ "name": format["name"], "schema": format["schema"], "strict": format["strict"] });
    }
}

fn items(input: &Value) -> Vec<Value> {
    match input {
        Value::String(text) => vec![json!({ "role": "user", "content": text })],
        list => list.as_array().unwrap().clone(),
    }
}

/// The instructions at the head, in one.
fn take_system(items: &mut Vec<Value>) -> Option<String> {
    let count = items.iter().take_while(|item| is_system(item)).count();
    let texts: Vec<String> = items
        .drain(..count)
        .map(|item| text_of(&item["content"]))
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn tools(rest: &mut Map<String, Value>) -> Vec<ToolConfig> {
    let known = ["type", "name", "description", "parameters", "strict"];
    let plain = |tool: &Value| {
        let fields = tool.as_object()?;
        let is_ours = tool["type"] == "function"
            && tool["strict"] == false
            && tool["parameters"].is_object()
            && fields.keys().all(|key| known.contains(&key.as_str()));
        is_ours.then(|| ToolConfig {
            name: tool["name"].as_str().unwrap().to_owned(),
            description: tool["description"].as_str().unwrap_or_default().to_owned(),
            input_schema: json_of(&tool["parameters"]),
            ..serde_json::from_value(json!({ "name": "", "inputSchema": {} })).unwrap()
        })
    };
    let own: Option<Vec<ToolConfig>> = rest
        .get("tools")
        .and_then(Value::as_array)
        .and_then(|tools| tools.iter().map(plain).collect());
    if own.is_some() {
        rest.shift_remove("tools");
    }
    own.unwrap_or_default()
}

fn json_of(value: &Value) -> Json {
    Json::parse(&value.to_string()).unwrap()
}

/// What the next request has behind this one's items and the answer.
pub fn results(request: &Value, next: &Value) -> Vec<Block> {
    let before = items(&request["input"]).len();
    let new = items(&next["input"]).split_off(before);
    let outputs = new.iter().filter(|item| item["type"] == "function_call_output");
    outputs.map(result).collect()
}

fn result(item: &Value) -> Block {
    Block::ToolResult {
        call_id: item["call_id"].as_str().unwrap().to_owned(),
        content: match &item["output"] {
            Value::String(text) => vec![Block::text(text.as_str())],
            parts => parts.as_array().unwrap().iter().map(part).collect(),
        },
        is_error: false,
        pending: None,
    }
}

fn part(part: &Value) -> Block {
    match part["type"].as_str() {
        Some("input_text" | "output_text") => Block::Text {
            purpose: None,
            text: part["text"].as_str().unwrap().to_owned(),
            vendor: None,
        },
        _ => Block::Raw { json: json_of(part) },
    }
}

/// Items of one side in a row are one message, but each of the user's own messages begins another.
fn messages(model: &str, items: &[Value]) -> Vec<Message> {
    let origin = Origin {
        protocol: NAME.to_owned(),
        model: model.to_owned(),
        prefix: None,
        thread: None,
    };
    let mut messages: Vec<Message> = Vec::new();
    for item in items {
        let (block, is_assistant) = block(item);
        let user = || Message::user(block.clone());
        if !is_assistant {
            match messages.last_mut() {
                Some(last) if last.role == user().role && item["role"].is_null() => {
                    last.content.extend(block)
                }
                _ => messages.push(user()),
            }
        } else {
            match messages.last_mut() {
                Some(last) if last.origin.is_some() => last.content.extend(block),
                _ => messages.push(Message {
                    origin: Some(origin.clone()),
                    ..Message::assistant(block)
                }),
            }
        }
    }
    messages
}

/// An item's blocks, and whether the model wrote them.
fn block(item: &Value) -> (Vec<Block>, bool) {
    let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let vendor = |ours: &[&str]| {
        let mut fields = item.as_object().unwrap().clone();
        fields.retain(|key, _| !ours.contains(&key.as_str()));
        Some(json_of(&Value::Object(fields)))
    };
    let content = || match &item["content"] {
        Value::String(text) => vec![Block::text(text.as_str())],
        parts => parts.as_array().unwrap().iter().map(part).collect(),
    };
    match (item["type"].as_str(), item["role"].as_str()) {
        (None | Some("message"), Some("user")) => (content(), false),
        (None | Some("message"), Some("assistant")) => (content(), true),
        (Some("function_call_output"), _) => (vec![result(item)], false),
        (Some("function_call"), _) => {
            let input = Json::parse(&text("arguments")).unwrap();
            let call = Block::ToolCall {
                id: text("call_id"),
                name: text("name"),
                input: ToolInput::Json(input),
                vendor: vendor(&["type", "call_id", "name", "arguments"]),
            };
            (vec![call], true)
        }
        (Some("reasoning"), _) => (
            thoughts(item, vendor(&["summary", "content", "encrypted_content"])),
            true,
        ),
        _ => (vec![Block::Raw { json: json_of(item) }], !is_system(item)),
    }
}

fn thoughts(item: &Value, vendor: Option<Json>) -> Vec<Block> {
    let field = if item["summary"] == json!([]) && item["content"].is_array() {
        "content"
    } else {
        "summary"
    };
    let texts = item[field].as_array().unwrap();
    let mut texts: Vec<&str> = texts.iter().map(|part| part["text"].as_str().unwrap()).collect();
    let last = texts.pop().unwrap_or_default();
    let thinking = |text: &str, vendor: Option<Json>| Block::Thinking {
        text: text.to_owned(),
        signature: None,
        vendor,
    };
    let mut blocks: Vec<Block> = texts.into_iter().map(|text| thinking(text, None)).collect();
    let mut fields: Value = serde_json::from_str(vendor.unwrap().as_str()).unwrap();
    if field == "content" {
        fields["field"] = json!("content");
    }
    blocks.push(Block::Thinking {
        text: last.to_owned(),
        signature: item["encrypted_content"].as_str().map(str::to_owned),
        vendor: Some(json_of(&fields)),
    });
    blocks
}

/// What we made, without the reasoning that the recorded client drops.
pub fn like_the_client(mut made: Value, recorded: &Value) -> Value {
    let is_reasoning = |item: &Value| item["type"] == "reasoning";
    let keeps = recorded["input"]
        .as_array()
        .is_some_and(|items| items.iter().any(is_reasoning));
    if let Some(items) = made.get_mut("input").and_then(Value::as_array_mut)
        && !keeps
    {
        items.retain(|item| !is_reasoning(item));
    }
    made
}

/// The body without what carries no meaning: ids, defaults, a text as a list of one part, where the instructions
/// stand.
pub fn canonical(body: &Value) -> Value {
    let mut body = strip(body);
    let mut items = items(&body["input"].take());
    let instructions = body["instructions"].as_str().map(str::to_owned);
    let texts: Vec<String> = instructions.into_iter().chain(take_system(&mut items)).collect();
    body["instructions"] = json!(texts.join("\n"));
    let fields = body.as_object_mut().unwrap();
    for (key, default) in [("store", json!(true)), ("include", json!([]))] {
        if fields.get(key) == Some(&default) {
            fields.shift_remove(key);
        }
    }
    for tool in body
        .get_mut("tools")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        let fields = tool.as_object_mut().unwrap();
        if fields.get("strict") == Some(&json!(false)) {
            fields.shift_remove("strict");
        }
    }
    body["input"] = items.into_iter().map(item).collect();
    body
}

fn item(mut item: Value) -> Value {
    let role = item["role"].as_str().unwrap_or_default().to_owned();
    let fields = item.as_object_mut().unwrap();
    fields.shift_remove("id");
    fields.shift_remove("status");
    if !role.is_empty() {
        fields.shift_remove("type");
        let kind = if role == "assistant" {
            "output_text"
        } else {
            "input_text"
        };
        if let Some(Value::String(text)) = fields.get("content") {
            fields["content"] = json!([{ "type": kind, "text": text }]);
        }
        for part in fields["content"].as_array_mut().unwrap() {
            let part = part.as_object_mut().unwrap();
            part.shift_remove("annotations");
            part.shift_remove("logprobs");
        }
    }
    if let Some(Value::String(text)) = fields.get("arguments") {
        fields["arguments"] = serde_json::from_str(text).unwrap_or(json!(text));
    }
    item
}
