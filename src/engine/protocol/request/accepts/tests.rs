//! What each protocol's vendors take: names of tools, ids of calls, files and empty texts of a history that began
//! elsewhere. The bodies are checked by the vendors' own patterns.

use serde_json::{Value, json};

use crate::engine::agent::history::body::Body;
use crate::engine::model::config::{ModelConfig, ToolChoice, ToolConfig};
use crate::engine::model::message::{Json, Message};
use crate::engine::protocol::request::accepts::{ANTHROPIC, BEDROCK, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES};
use crate::engine::protocol::{Appended, Clearing, RequestSpec, find};

const LONG: &str =
    "mcp__a_server_with_a_long_name__a_tool_whose_name_is_longer_than_any_vendor_of_today_takes_at_all";

const MODELS: &[(&str, &str)] = &[
    ("anthropic", r#"{"vendor":"anthropic","model":"claude-sonnet-5"}"#),
    (
        "bedrock",
        r#"{"vendor":"bedrock","model":"anthropic.claude-sonnet-5"}"#,
    ),
    ("chat", r#"{"vendor":"openai","model":"gpt-5"}"#),
    (
        "mistral",
        r#"{"vendor":"compatible","model":"m","baseUrl":"http://m.invalid","quirks":{"callIdChars":9}}"#,
    ),
    (
        "responses",
        r#"{"vendor":"openai","model":"gpt-5","protocol":"openai_responses"}"#,
    ),
    ("gemini", r#"{"vendor":"google","model":"gemini-3-pro"}"#),
];

fn body(model: &str, choice: Option<ToolChoice>, tools: &[ToolConfig], messages: &Value) -> Value {
    let mut model = crate::engine::model::json::read::<ModelConfig>("model", model).unwrap();
    model.tool_choice = choice;
    let spec = RequestSpec {
        model: &model,
        system: Some(" "),
        tools,
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    let messages: Vec<Message> = serde_json::from_str(&messages.to_string()).unwrap();
    let (_, protocol) = find(&model).unwrap();
    serde_json::from_slice(&Body::whole(protocol, &spec, &messages).unwrap()).unwrap()
}

/// All texts under these keys, at every depth.
fn under(value: &Value, keys: &[&str], found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| match value {
            Value::String(text) if keys.contains(&key.as_str()) => found.push(text.clone()),
            _ => under(value, keys, found),
        }),
        Value::Array(list) => list.iter().for_each(|value| under(value, keys, found)),
        _ => {}
    }
}

fn texts(value: &Value, keys: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    under(value, keys, &mut found);
    found
}

#[test]
fn names_of_tools_and_ids_of_calls_are_those_that_the_vendors_take() {
    let names = [LONG, "2fa", "-x", "plain"];
    let tools = names.map(|name| ToolConfig::new(name, Json::empty_object()));
    let ids = [
        "functions.add:0",
        "call_0fypS1hVX",
        &"x".repeat(70),
        &"x".repeat(71),
        "a|b",
        "Ab3456789",
    ];
    let mut messages = vec![json!({"role": "user", "content": [{"type": "text", "text": "Go"}]})];
    for (at, id) in ids.iter().enumerate() {
        let name = names[at % names.len()];
        messages.push(json!({"role": "assistant", "content": [{"type": "tool_call", "id": id, "name": name, "input": {}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "callId": id, "content": [{"type": "text", "text": "ok"}], "isError": false}
        ]}));
    }
    for (target, model) in MODELS {
        let body = body(
            model,
            Some(ToolChoice::Tool(LONG.into())),
            &tools,
            &json!(messages),
        );
        let (most, first) = match *target {
            "anthropic" => (128, false),
            "gemini" => (128, true),
            _ => (64, false),
        };
        let mut found = texts(&body, &["name"]);
        found.extend(texts(&body, &["allowedFunctionNames"]));
        for name in &found {
            let legal = name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
            let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            assert!(
                legal && (1..=most).contains(&name.len()) && (begins || !first),
                "{target}: {name}"
            );
        }
        // Each name is in its tool, and in each of its calls and results.
        let mut different = found.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), names.len(), "{target}: {different:?}");
        assert_eq!(
            found.iter().any(|name| name == LONG),
            LONG.len() <= most,
            "{target}"
        );

        let calls = texts(&body, &["id", "toolUseId", "call_id"]);
        let answered = texts(&body, &["tool_use_id", "tool_call_id"]);
        let fits = |id: &str| match *target {
            "anthropic" => id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)),
            "bedrock" => {
                id.len() <= 64
                    && id
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || "_.:-".contains(c))
            }
            "mistral" => id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()),
            "chat" => id.len() <= 40,
            _ => id.len() <= 64,
        };
        for id in calls.iter().chain(&answered) {
            assert!(fits(id), "{target}: {id}");
        }
        let mut sent = calls.clone();
        sent.sort();
        sent.dedup();
        if *target == "gemini" {
            assert_eq!(calls.len(), 0);
        } else {
            assert_eq!(sent.len(), ids.len(), "{target}: two ids became one");
        }
        if !answered.is_empty() {
            assert_eq!(calls, answered, "{target}");
        }
    }
}

#[test]
fn a_call_goes_back_as_the_model_wrote_it() {
    let schema = r##"{"type":"object","properties":{"uids[]":{"type":"array"},"ok":{"$ref":"#/properties/uids%5B%5D"}}}"##;
    let tools = [ToolConfig::new("list", Json::parse(schema).unwrap())];
    let messages = json!([
        {"role": "user", "content": [{"type": "text", "text": "Go"}]},
        {"role": "assistant", "content": [
            {"type": "tool_call", "id": "a", "name": "list", "input": {"uids[]": [{"uids[]": 1}], "ok": "uids[]"}}
        ]},
        {"role": "user", "content": [{"type": "tool_result", "callId": "a", "content": [], "isError": false}]}
    ]);
    let wire = &ANTHROPIC.renamed(&tools, "list")[0].0;
    let written = json!({wire: [{wire: 1}], "ok": "uids[]"});
    for (target, input, schema) in [
        (0, "/messages/1/content/0/input", "/tools/0/input_schema"),
        (
            1,
            "/messages/1/content/0/toolUse/input",
            "/toolConfig/tools/0/toolSpec/inputSchema/json",
        ),
    ] {
        let body = body(MODELS[target].1, None, &tools, &messages);
        assert_eq!(body.pointer(input), Some(&written));
        let schema = body.pointer(schema).unwrap();
        assert_eq!(schema["properties"]["ok"]["$ref"], format!("#/properties/{wire}"));
    }
    let chat = body(MODELS[2].1, None, &tools, &messages);
    assert_eq!(
        chat["messages"][1]["tool_calls"][0]["function"]["arguments"],
        r#"{"uids[]":[{"uids[]":1}],"ok":"uids[]"}"#
    );
}

#[test]
fn no_empty_text_is_sent() {
    let blank = |text: &str| json!({"type": "text", "text": text});
    let tools = [ToolConfig::new("list", Json::empty_object())];
    let messages = json!([
        {"role": "user", "content": [blank("Go"), blank("")]},
        {"role": "assistant", "content": [
            blank(""),
            {"type": "tool_call", "id": "a", "name": "list", "input": {}},
            {"type": "tool_call", "id": "b", "name": "list", "input": {}}
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "callId": "a", "content": [blank("")], "isError": false},
            {"type": "tool_result", "callId": "b", "content": [blank(""), blank("")], "isError": true},
            blank("")
        ]}
    ]);
    for (target, model) in MODELS {
        let body = body(model, None, &tools, &messages);
        for text in texts(&body, &["text", "system"]) {
            assert!(!text.trim().is_empty(), "{target}: {body}");
        }
    }
    let claude = body(MODELS[0].1, None, &tools, &messages);
    assert_eq!(
        claude["messages"][2]["content"][0],
        json!({"type": "tool_result", "tool_use_id": "a", "is_error": false})
    );
}

#[test]
fn a_file_that_a_vendor_refuses_becomes_a_text() {
    let file = |kind: &str| json!({"type": "media", "mediaType": kind, "data": "QUJD"});
    let kinds = [
        "image/JPG",
        "image/gif",
        "image/heic",
        "image/bmp",
        "image/tiff",
        "image/svg+xml",
        "audio/mp3",
        "audio/ogg",
        "video/mp4",
        "application/pdf",
        "application/zip",
        "application/json",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ];
    for (target, model) in MODELS {
        let row = match *target {
            "anthropic" => &ANTHROPIC,
            "bedrock" => &BEDROCK,
            "gemini" => &GEMINI,
            "responses" => &OPENAI_RESPONSES,
            _ => &OPENAI_CHAT,
        };
        for kind in kinds {
            let result =
                json!({"type": "tool_result", "callId": "a", "content": [file(kind)], "isError": false});
            let messages = json!([
                {"role": "user", "content": [file(kind), {"type": "text", "text": "See"}]},
                {"role": "assistant", "content": [{"type": "tool_call", "id": "a", "name": "list", "input": {}}]},
                {"role": "user", "content": [result]}
            ]);
            let tools = [ToolConfig::new("list", Json::empty_object())];
            let body = body(model, None, &tools, &messages).to_string();
            let usual = match kind {
                "image/JPG" => "image/jpeg",
                "audio/mp3" => "audio/mpeg",
                kind => kind,
            };
            let note = format!("[{} left out: {} does not take it]", usual, row.who);
            let (is_sent, notes) = (body.contains("QUJD"), body.matches(&note).count());
            let is_text = matches!(kind, "image/svg+xml" | "application/json");
            assert_eq!(
                notes,
                if row.takes(usual) || is_text { 0 } else { 2 },
                "{target} {kind}: {body}"
            );
            assert!(
                is_sent || notes == 2 || body.contains("ABC"),
                "{target} {kind}: {body}"
            );
            assert!(!body.contains("image/svg"), "{target}: {body}");
        }
    }
}
