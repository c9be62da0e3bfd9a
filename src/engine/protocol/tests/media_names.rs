//! The names of files in each protocol, and the raw blocks of results.

use serde_json::{Value, json};

use crate::engine::agent::history::body::Body;
use crate::engine::model::config::{ModelConfig, ToolConfig};
use crate::engine::model::message::{Json, Message};
use crate::engine::protocol::{Appended, Clearing, RequestSpec, find};

fn body(fields: Value, messages: &Value) -> Value {
    let text = fields.to_string();
    let model = crate::engine::model::json::read::<ModelConfig>("model", &text).unwrap();
    let tools = [ToolConfig::new("look", Json::empty_object())];
    let spec = RequestSpec {
        model: &model,
        system: None,
        tools: &tools,
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    let messages: Vec<Message> = serde_json::from_str(&messages.to_string()).unwrap();
    let (_, protocol) = find(&model).unwrap();
    serde_json::from_slice(&Body::whole(protocol, &spec, &messages).unwrap()).unwrap()
}

fn file(name: Option<&str>) -> Value {
    let mut media = json!({"type": "media", "mediaType": "application/pdf", "data": "QUJD"});
    if let Some(name) = name {
        media["name"] = json!(name);
    }
    media
}

fn asked(content: &Value) -> Value {
    json!([{"role": "user", "content": content}])
}

#[test]
fn a_file_has_its_name_where_the_protocol_has_a_place_for_it() {
    let named = asked(&json!([file(Some("report.pdf"))]));
    let bare = asked(&json!([file(None)]));
    for (fields, pointer, name, without) in [
        (
            json!({"vendor": "anthropic"}),
            "/messages/0/content/0/title",
            json!("report.pdf"),
            Value::Null,
        ),
        (
            json!({"vendor": "openai"}),
            "/messages/0/content/0/file/filename",
            json!("report.pdf"),
            json!("document"),
        ),
        (
            json!({"vendor": "openai", "protocol": "openai_responses"}),
            "/input/0/content/0/filename",
            json!("report.pdf"),
            json!("document.pdf"),
        ),
    ] {
        let mut model = fields;
        model["model"] = json!("m");
        let found = |messages: &Value| body(model.clone(), messages).pointer(pointer).cloned();
        assert_eq!(found(&named).unwrap_or_default(), name);
        assert_eq!(found(&bare).unwrap_or_default(), without);
    }
    let neutral = body(
        json!({"vendor": "custom", "model": "m", "baseUrl": "http://c.invalid"}),
        &named,
    );
    assert_eq!(neutral["messages"][0]["content"][0]["name"], "report.pdf");
    let gemini = body(json!({"vendor": "google", "model": "gemini-3-pro"}), &named);
    assert_eq!(
        gemini["contents"][0]["parts"][0],
        json!({"inlineData": {"mimeType": "application/pdf", "data": "QUJD"}})
    );
}

#[test]
fn a_name_without_an_ending_gets_one_for_responses() {
    let model = json!({"vendor": "openai", "protocol": "openai_responses", "model": "m"});
    let body = body(model, &asked(&json!([file(Some("report"))])));
    assert_eq!(body["input"][0]["content"][0]["filename"], "report.pdf");
}

#[test]
fn bedrock_gets_legal_names_that_differ() {
    let names = [
        "Q3 report_(final) [1].pdf",
        "Q3 report_(final) [1].pdf",
        "…",
        "_-_",
    ];
    let content: Vec<_> = names.iter().map(|name| file(Some(name))).collect();
    let body = body(
        json!({"vendor": "bedrock", "model": "amazon.nova-pro-v1:0"}),
        &asked(&json!(content)),
    );
    let blocks = body["messages"][0]["content"].as_array().unwrap();
    let found: Vec<&str> = blocks
        .iter()
        .filter_map(|block| block["document"]["name"].as_str())
        .collect();
    assert_eq!(found[0], "Q3 report (final) [1] pdf");
    assert!(found[1].starts_with("Q3 report (final) [1] pdf ("), "{found:?}");
    assert!(found[2].starts_with("Document "), "{found:?}");
    assert_eq!(found[3], "-");
    let long = "x".repeat(500);
    let body = self::body(
        json!({"vendor": "bedrock", "model": "amazon.nova-pro-v1:0"}),
        &asked(&json!([file(Some(&long)), file(Some(&long))])),
    );
    for block in body["messages"][0]["content"].as_array().unwrap() {
        assert!(
            block["document"]["name"]
                .as_str()
                .is_none_or(|name| name.len() <= 200)
        );
    }
}

#[test]
fn a_raw_block_of_a_result_goes_where_the_protocol_takes_it() {
    let raw = json!({"kept": "as it is"});
    let history = json!([
        {"role": "user", "content": [{"type": "text", "text": "Go."}]},
        {"role": "assistant", "content": [{"type": "tool_call", "id": "t1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "callId": "t1",
            "content": [{"type": "text", "text": "seen"}, {"type": "raw", "json": raw}]}]}
    ]);
    for (fields, is_sent) in [
        (json!({"vendor": "anthropic"}), true),
        (json!({"vendor": "openai"}), false),
        (json!({"vendor": "openai", "protocol": "openai_responses"}), true),
        (json!({"vendor": "google", "model": "gemini-3-pro"}), true),
        (json!({"vendor": "google", "model": "gemini-2.5-pro"}), true),
        (json!({"vendor": "bedrock"}), true),
        (json!({"vendor": "custom", "baseUrl": "http://c.invalid"}), true),
    ] {
        let mut model = fields;
        if model["model"].is_null() {
            model["model"] = json!("m");
        }
        let sent = body(model.clone(), &history).to_string();
        assert_eq!(sent.contains(&raw.to_string()), is_sent, "{model} {sent}");
    }
}

#[test]
fn each_vendor_gets_media_by_their_usual_type_and_no_data_address() {
    let rows = [
        ("image/jpg", "data", "QUJD", "image/jpeg", "QUJD"),
        ("image/pjpeg", "data", "QUJD", "image/jpeg", "QUJD"),
        ("IMAGE/JPEG", "data", "QUJD", "image/jpeg", "QUJD"),
        ("image/png; charset=binary", "data", "QUJD", "image/png", "QUJD"),
        (
            "image/png",
            "url",
            "data:image/png;base64,QUJD",
            "image/png",
            "QUJD",
        ),
        (
            "image/png",
            "url",
            "DATA:IMAGE/JPG;BASE64,QUJD",
            "image/jpeg",
            "QUJD",
        ),
        ("image/png", "url", "data:;base64,QUI%3D", "image/png", "QUI="),
        ("image/png", "url", "data:,A%42C", "image/png", "QUJD"),
        (
            "image/png",
            "url",
            "data:image/png;name=a.png;base64,QUJD",
            "image/png",
            "QUJD",
        ),
    ];
    for (media_type, field, value, sent_type, sent) in rows {
        let mut media = json!({"type": "media", "mediaType": media_type});
        media[field] = json!(value);
        for block in [
            media.clone(),
            json!({"type": "tool_result", "callId": "1", "content": [media]}),
        ] {
            let messages = json!([
                {"role": "assistant", "content": [{"type": "tool_call", "id": "1", "name": "look", "input": {}}]},
                {"role": "user", "content": [block]},
            ]);
            for fields in [
                json!({"vendor": "anthropic", "model": "m"}),
                json!({"vendor": "google", "model": "gemini-3-pro"}),
                json!({"vendor": "bedrock", "model": "anthropic.claude-sonnet-4"}),
                json!({"vendor": "openai", "model": "m"}),
                json!({"vendor": "openai", "model": "m", "protocol": "openai_responses"}),
            ] {
                let body = body(fields.clone(), &messages).to_string();
                let kind = sent_type.split_once('/').unwrap().1;
                let names = [
                    format!("\"{sent_type}\""),
                    format!("data:{sent_type};base64,{sent}"),
                    format!("\"format\":\"{kind}\""),
                ];
                assert!(
                    names.iter().any(|name| body.contains(name)),
                    "{fields} {value}: {body}"
                );
                assert!(
                    body.contains(sent) && !body.contains("DATA:"),
                    "{fields} {value}: {body}"
                );
            }
        }
    }
}

#[test]
fn a_picture_that_claude_does_not_take_is_named_and_text_of_any_type_is_text() {
    let sent = |media_type: &str| {
        let media = json!({"type": "media", "mediaType": media_type, "data": "e30="});
        body(json!({"vendor": "anthropic"}), &asked(&json!([media])))["messages"][0]["content"][0].clone()
    };
    assert_eq!(sent("image/heic")["type"], "text");
    for text in [
        "text/csv; charset=utf-8",
        "application/json",
        "Application/LD+JSON",
        "image/svg+xml",
    ] {
        let source = json!({"type": "text", "media_type": "text/plain", "data": "{}"});
        assert_eq!(sent(text)["source"], source, "{text}");
    }
}
