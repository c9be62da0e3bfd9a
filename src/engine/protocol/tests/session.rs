//! Tests that every protocol can continue a rich session that another one wrote, and that no server rejects a
//! request.
//!
//! The checks follow the vendors' documentation by hand, independently of the encoders.

use serde_json::{Value, json};

use crate::engine::agent::history::transcript::Transcript;
use crate::engine::model::config::{ModelConfig, ToolConfig};
use crate::engine::model::message::Message;
use crate::engine::protocol::{Appended, Clearing, PROTOCOLS, Protocol, RequestSpec, protocol};

/// The blocks that only the protocol `origin` can have written, and the blocks that every protocol has.
fn session(origin: &str) -> Vec<Message> {
    let thinking_vendor = match origin {
        "openai_chat" => json!({"field": "reasoning_content"}),
        "openai_responses" => {
            json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "abc", "field": "summary"})
        }
        _ => Value::Null,
    };
    let raw = match origin {
        "anthropic" => vec![
            json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "rain"}}),
            json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}),
        ],
        "openai_responses" => vec![json!({"type": "web_search_call", "id": "ws_1", "status": "completed"})],
        "gemini" => vec![json!({"executableCode": {"language": "PYTHON", "code": "1+1"}})],
        _ => vec![],
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "media", "mediaType": "image/png", "data": "iVBORw0KGgo="});
    let mut first = vec![
        json!({"type": "thinking", "text": "Let me see.", "signature": "c2ln", "vendor": thinking_vendor}),
        json!({"type": "redacted_thinking", "data": "b3BhcXVl"}),
    ];
    first.extend(raw.into_iter().map(|json| json!({"type": "raw", "json": json})));
    first.push(
        json!({"type": "text", "text": "I look.", "vendor": {"citations": [{"type": "char_location"}]}}),
    );
    first.push(json!({"type": "media", "mediaType": "image/png", "data": "bWFkZQ==", "vendor": {"thoughtSignature": "c2ln"}}));
    first.push(json!({"type": "media", "mediaType": "audio/L16;rate=24000", "data": "c291bmQ="}));
    // Ids in the form of some servers.
    first.push(
        json!({"type": "tool_call", "id": "functions.weather:0", "name": "weather", "input": {"city": "Bern"},
        "vendor": {"thoughtSignature": "c2ln", "extra_content": {"google": {}}}}),
    );
    first.push(
        json!({"type": "tool_call", "id": "toolu_2", "name": "weather", "inputText": "{\"city\": \"Ba"}),
    );
    let custom = json!({"type": "custom_tool_call", "id": "ctc_1"});
    first.push(json!({"type": "tool_call", "id": "call_3", "name": "shell", "input": {"input": "ls -l"}, "vendor": custom}));
    let messages = json!([
        {"role": "user", "content": [text("Umbrella?"), image]},
        {"role": "assistant", "content": first, "origin": {"protocol": origin, "model": "theirs"}},
        {"role": "user", "content": [
            {"type": "tool_result", "callId": "functions.weather:0", "content": [text("rain"), image]},
            {"type": "tool_result", "callId": "toolu_2", "content": [text("no JSON")], "isError": true},
            {"type": "tool_result", "callId": "call_3", "content": [text("files")]},
            text("Quick!")
        ]},
        {"role": "assistant", "content": [{"type": "refusal", "text": "I cannot."}],
            "origin": {"protocol": origin, "model": "theirs"}},
        {"role": "user", "content": [text("Then cut short.")]},
        {"role": "assistant", "partial": true, "content": [
            text("Wel"), {"type": "thinking", "text": "unsigned"}
        ], "origin": {"protocol": origin, "model": "theirs"}},
        {"role": "user", "content": [text("Once more.")]},
        {"role": "assistant", "content": [{"type": "tool_call", "id": "never", "name": "weather", "input": {},
            "vendor": {"thoughtSignature": "c2ln"}}],
            "origin": {"protocol": origin, "model": "theirs"}},
        {"role": "user", "content": [text("Forget it.")]}
    ]);
    serde_json::from_value(messages).unwrap()
}

fn sent(target: &Protocol, model: &str, history: Vec<Message>) -> Value {
    let config = json!({
        "vendor": "compatible", "protocol": target.name, "model": model, "baseUrl": "https://x.example",
        "promptCaching": {"enabled": true}
    });
    let model: ModelConfig = serde_json::from_value(config).unwrap();
    let tool = json!({"name": "weather", "description": "Of a city", "inputSchema": {"type": "object"}});
    let tools: Vec<ToolConfig> = vec![serde_json::from_value(tool).unwrap()];
    let spec = RequestSpec {
        model: &model,
        system: Some("s"),
        tools: &tools,
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    let mut transcript = Transcript::from_history(history, |_| true).unwrap();
    let body = transcript.body(target, &spec).unwrap();
    serde_json::from_slice(body).unwrap()
}

#[test]
fn s002_02_i_09_a_session_goes_on_with_every_other_protocol() {
    for origin in PROTOCOLS {
        for target in PROTOCOLS {
            let models: &[&str] = if origin.name == target.name {
                &["ours", "theirs"]
            } else {
                &["ours"]
            };
            for model in models {
                let body = sent(target, model, session(origin.name));
                let told = format!("{} to {} {model}: {body:#}", origin.name, target.name);
                check(target.name, &body).unwrap_or_else(|problem| panic!("{problem} in {told}"));
                let text = body.to_string();
                for kept in [
                    "Umbrella?",
                    "I look.",
                    "Bern",
                    "ls -l",
                    "rain",
                    "Quick!",
                    "I cannot.",
                    "Wel",
                    "Forget it.",
                ] {
                    assert!(text.contains(kept), "{kept} is lost from {told}");
                }
                let is_neutral = target.name == "ndjson";
                let moves = |secret: &str| text.contains(secret) && !is_neutral;
                demand(
                    *model == "theirs" || !moves("b3BhcXVl"),
                    "reasoning of another model",
                )
                .unwrap();
                let is_home = origin.name == target.name;
                for secret in ["web_search", "executableCode", "char_location"] {
                    assert!(is_home || !moves(secret), "{secret} has moved from {told}");
                }
                let is_gemini = is_home && target.name == "gemini";
                for (made, stays) in [
                    ("bWFkZQ==", is_gemini),
                    ("c291bmQ=", is_gemini && *model == "theirs"),
                    (
                        "custom_tool_call_output",
                        target.name == "openai_responses" && *model == "theirs",
                    ),
                ] {
                    assert_eq!(moves(made), stays, "{made} in {told}");
                }
                let is_told = text.contains("[audio/L16;rate=24000 made by the model]");
                assert_eq!(
                    is_told,
                    !is_neutral && (!is_gemini || *model != "theirs"),
                    "{told}"
                );
            }
        }
    }
}

#[test]
fn the_checks_see_a_history_that_is_refused() {
    let broken = [
        (
            "anthropic",
            json!({"messages": [{"role": "assistant", "content": [{"type": "text", "text": "a"}]}]}),
        ),
        (
            "anthropic",
            json!({"messages": [{"role": "user", "content": [{"type": "text", "text": " "}]}]}),
        ),
        (
            "anthropic",
            json!({"messages": [
                {"role": "user", "content": [{"type": "text", "text": "a"}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}
            ]}),
        ),
        (
            "openai_chat",
            json!({"messages": [{"role": "assistant", "content": null}]}),
        ),
        (
            "openai_chat",
            json!({"messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}]}),
        ),
        (
            "openai_responses",
            json!({"input": [{"type": "function_call_output", "call_id": "a", "output": "x"}]}),
        ),
        (
            "openai_responses",
            json!({"input": [{"type": "reasoning", "summary": []}]}),
        ),
        ("gemini", json!({"contents": [{"role": "user", "parts": []}]})),
        (
            "gemini",
            json!({"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}),
        ),
        (
            "bedrock_converse",
            json!({"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "a"}}]}]}),
        ),
    ];
    for (name, body) in broken {
        assert!(check(name, &body).is_err(), "{name} {body}");
    }
}

type Checked = Result<(), String>;

fn check(name: &str, body: &Value) -> Checked {
    match name {
        "anthropic" => anthropic(body),
        "openai_chat" => chat(body),
        "openai_responses" => responses(body),
        "gemini" => gemini(body),
        "bedrock_converse" => bedrock(body),
        "ndjson" => Ok(()),
        other => Err(format!("no check of {other}")),
    }
}

fn demand(holds: bool, what: &str) -> Checked {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn is_id(id: &Value, marks: &str) -> bool {
    let legal = |byte: char| byte.is_ascii_alphanumeric() || marks.contains(byte);
    id.as_str()
        .is_some_and(|id| (1..=64).contains(&id.len()) && id.chars().all(legal))
}

/// <https://platform.claude.com/docs/en/api/messages>,
/// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use> (2026-11-21)
fn anthropic(body: &Value) -> Checked {
    let messages = list(body, "messages");
    demand(
        messages.first().is_some_and(|first| first["role"] == "user"),
        "the user begins",
    )?;
    demand(
        body.to_string().matches("\"cache_control\"").count() <= 4,
        "at most 4 cache markers",
    )?;
    let mut open: Vec<&Value> = Vec::new();
    for message in messages {
        let content = list(message, "content");
        demand(!content.is_empty(), "content")?;
        let is_assistant = message["role"] == "assistant";
        let answered: Vec<&Value> = content
            .iter()
            .take_while(|block| block["type"] == "tool_result")
            .map(|block| &block["tool_use_id"])
            .collect();
        demand(
            answered == open,
            "results of all calls first, in the next message",
        )?;
        open.clear();
        for block in content {
            match block["type"].as_str().unwrap_or_default() {
                "text" => demand(
                    block["text"].as_str().is_some_and(|text| !text.trim().is_empty()),
                    "text",
                )?,
                "thinking" => demand(is_assistant && block["signature"].is_string(), "a signature")?,
                "redacted_thinking" => demand(is_assistant && block["data"].is_string(), "data")?,
                "tool_use" => {
                    demand(
                        is_assistant && is_id(&block["id"], "_-") && block["input"].is_object(),
                        "a legal call",
                    )?;
                    open.push(&block["id"]);
                }
                "tool_result" => demand(!is_assistant, "a result of the user")?,
                "image" | "document" => demand(
                    !is_assistant && block["source"].is_object(),
                    "a source, of the user",
                )?,
                "server_tool_use" | "web_search_tool_result" => demand(is_assistant, "a server tool's")?,
                other => return Err(format!("a block of type {other}")),
            }
        }
        let last = content.last().and_then(|block| block["type"].as_str());
        demand(
            !is_assistant || !last.is_some_and(|kind| kind.ends_with("thinking")),
            "no thinking last",
        )?;
    }
    demand(open.is_empty(), "each call has a result")
}

/// <https://platform.openai.com/docs/api-reference/chat/create> (2026-11-21)
fn chat(body: &Value) -> Checked {
    let mut open: Vec<&Value> = Vec::new();
    for message in list(body, "messages") {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let at = open.iter().position(|id| **id == message["tool_call_id"]);
            demand(message["content"].is_string(), "a result is text")?;
            open.remove(at.ok_or("a result without a call")?);
            continue;
        }
        demand(open.is_empty(), "all results follow their calls")?;
        let content = &message["content"];
        let parts = list(message, "content");
        demand(
            content.is_string() || !parts.is_empty() || role == "assistant",
            "content",
        )?;
        for part in parts {
            let kind = part["type"].as_str().unwrap_or_default();
            demand(
                ["text", "image_url", "input_audio", "file"].contains(&kind) && part[kind] != Value::Null,
                kind,
            )?;
        }
        if role == "assistant" {
            let calls = list(message, "tool_calls");
            demand(
                !calls.is_empty() || content.is_string(),
                "an answer says something",
            )?;
            for call in calls {
                let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
                let parsed = serde_json::from_str::<Value>(arguments);
                demand(
                    parsed.is_ok_and(|parsed| parsed.is_object()),
                    "arguments are an object",
                )?;
                open.push(&call["id"]);
            }
        }
    }
    demand(open.is_empty(), "each call has a result")
}

/// <https://platform.openai.com/docs/api-reference/responses/create> (2026-11-21)
fn responses(body: &Value) -> Checked {
    let input = list(body, "input");
    let (mut open, mut answered): (Vec<&Value>, Vec<&Value>) = (Vec::new(), Vec::new());
    let mut custom: Vec<&Value> = Vec::new();
    for (at, item) in input.iter().enumerate() {
        match item["type"].as_str().unwrap_or("message") {
            "message" => {
                let wanted = if item["role"] == "assistant" {
                    "output_"
                } else {
                    "input_"
                };
                let content = list(item, "content");
                demand(item["content"].is_string() || !content.is_empty(), "content")?;
                for part in content {
                    let kind = part["type"].as_str().unwrap_or_default();
                    demand(kind.starts_with(wanted) || kind == "refusal", kind)?;
                }
            }
            "function_call" => {
                let id = item["call_id"].as_str().unwrap_or_default();
                demand(
                    (1..=64).contains(&id.len()) && item["arguments"].is_string(),
                    "a legal call",
                )?;
                open.push(&item["call_id"]);
            }
            "custom_tool_call" => {
                demand(item["input"].is_string() && item["arguments"].is_null(), "a text")?;
                custom.push(&item["call_id"]);
                open.push(&item["call_id"]);
            }
            kind @ ("function_call_output" | "custom_tool_call_output") => {
                let is_custom = custom.contains(&&item["call_id"]);
                demand(
                    is_custom == (kind == "custom_tool_call_output"),
                    "a result of its call's kind",
                )?;
                answered.push(&item["call_id"]);
            }
            "reasoning" => {
                let next = input.get(at + 1).map(|next| &next["type"]);
                let follows =
                    next.is_some_and(|kind| !kind.as_str().is_some_and(|kind| kind.ends_with("_output")));
                demand(
                    follows && item["summary"].is_array(),
                    "reasoning with what it led to",
                )?;
            }
            "web_search_call" => {}
            other => return Err(format!("an item of type {other}")),
        }
    }
    demand(open == answered, "each call has one result, each result a call")
}

/// <https://ai.google.dev/gemini-api/docs/function-calling>,
/// <https://ai.google.dev/gemini-api/docs/thought-signatures> (2026-11-21)
fn gemini(body: &Value) -> Checked {
    let data = [
        "text",
        "inlineData",
        "fileData",
        "functionCall",
        "functionResponse",
        "executableCode",
        "codeExecutionResult",
    ];
    let mut open = 0;
    for content in list(body, "contents") {
        let parts = list(content, "parts");
        let is_model = content["role"] == "model";
        demand(
            !parts.is_empty() && (is_model || content["role"] == "user"),
            "parts of a role",
        )?;
        let count = |key: &str| parts.iter().filter(|part| part[key].is_object()).count();
        demand(
            count("functionResponse") == open,
            "as many results as calls, in the next content",
        )?;
        for part in parts {
            demand(
                data.iter().filter(|key| !part[**key].is_null()).count() == 1,
                "one kind of data",
            )?;
        }
        let first = parts.iter().find(|part| part["functionCall"].is_object());
        demand(
            first.is_none_or(|first| first["thoughtSignature"].is_string()),
            "a signature of the first call",
        )?;
        open = if is_model { count("functionCall") } else { 0 };
    }
    demand(open == 0, "each call has a result")
}

/// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html> (2026-11-21)
fn bedrock(body: &Value) -> Checked {
    let mut open: Vec<&Value> = Vec::new();
    let mut before = "assistant";
    for message in list(body, "messages") {
        let role = message["role"].as_str().unwrap_or_default();
        demand(role != before, "roles take turns, the user begins")?;
        before = role;
        let content = list(message, "content");
        demand(!content.is_empty(), "content")?;
        let results = content.iter().filter(|block| block["toolResult"].is_object());
        let answered: Vec<&Value> = results.map(|block| &block["toolResult"]["toolUseId"]).collect();
        demand(answered == open, "results of all calls, in the next message")?;
        open.clear();
        for block in content {
            let fields: Vec<&String> = block
                .as_object()
                .map(|block| block.keys().collect())
                .unwrap_or_default();
            demand(fields.len() == 1, "one kind of block")?;
            if let Some(text) = block["text"].as_str() {
                demand(!text.trim().is_empty(), "text")?;
            }
            demand(role == "user" || block["image"].is_null(), "an image of the user")?;
            if block["toolUse"].is_object() {
                let call = &block["toolUse"];
                demand(
                    is_id(&call["toolUseId"], "_.:-") && call["input"].is_object(),
                    "a legal call",
                )?;
                open.push(&call["toolUseId"]);
            }
        }
        let last = content
            .last()
            .is_some_and(|block| block["reasoningContent"].is_object());
        demand(!last || role == "user", "no reasoning last")?;
    }
    demand(open.is_empty(), "each call has a result")
}

/// A raw block stays with the protocol that wrote it. A configuration of `compatible` may use this name.
#[test]
fn every_protocol_has_its_check() {
    for row in PROTOCOLS {
        assert!(protocol(row.name).is_some());
        let problem = check(row.name, &json!({"messages": [], "contents": [], "input": []}));
        assert!(
            !problem.is_err_and(|problem| problem.starts_with("no check")),
            "{}",
            row.name
        );
    }
}
