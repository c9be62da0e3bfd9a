//! Tests of bodies and URLs for Gemini.

use serde_json::{Value, json};

use crate::engine::agent::history::body::Body;
use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::model::config::{ModelConfig, ToolConfig};
use crate::engine::model::message::Message;
use crate::engine::protocol::{Appended, Clearing, RequestSpec, protocol};

fn model(further: Value) -> ModelConfig {
    let mut config = json!({"vendor": "google", "model": "gemini-3-pro"});
    for (key, value) in further.as_object().unwrap() {
        config[key] = value.clone();
    }
    serde_json::from_str(&config.to_string()).unwrap()
}

fn tools() -> Vec<ToolConfig> {
    let tool = json!({"name": "weather", "description": "Of a city", "inputSchema": {"type": "object", "$defs": {}}});
    vec![
        serde_json::from_str(&tool.to_string()).unwrap(),
        serde_json::from_str(r#"{"name":"now","inputSchema":{}}"#).unwrap(),
    ]
}

fn text(model: &ModelConfig, tools: &[ToolConfig], messages: &[Message]) -> Result<String, String> {
    let protocol = protocol("gemini").unwrap();
    let spec = RequestSpec {
        model,
        system: Some("Be brief."),
        tools,
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    let body = Body::whole(protocol, &spec, messages).map_err(|error| error.field)?;
    Ok(String::from_utf8(body).unwrap())
}

fn body(model: &ModelConfig, tools: &[ToolConfig], messages: &[Message]) -> Result<Value, String> {
    text(model, tools, messages).map(|text| serde_json::from_str(&text).unwrap())
}

fn messages(json: Value) -> Vec<Message> {
    serde_json::from_str(&json.to_string()).unwrap()
}

fn said(blocks: Value, origin: Value) -> Value {
    json!({"role": "assistant", "content": blocks, "origin": origin})
}

fn own() -> Value {
    json!({"protocol": "gemini", "model": "gemini-3-pro"})
}

fn result(id: &str, content: Value) -> Value {
    json!({"type": "tool_result", "callId": id, "content": content, "isError": id == "bad"})
}

fn texts(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn history() -> Value {
    json!([
        {"role": "user", "content": [
            {"type": "text", "text": "Look"},
            {"type": "media", "mediaType": "image/png", "data": "AAAA"},
            {"type": "media", "mediaType": "application/pdf", "url": "gs://b/c.pdf"}
        ]},
        said(json!([
            {"type": "thinking", "text": "Hm", "signature": "s0"},
            {"type": "text", "text": "Let me see.", "vendor": {"thoughtSignature": "s1", "citations": [1], "groundingMetadata": {}}},
            {"type": "raw", "json": {"executableCode": {"code": "1"}, "thoughtSignature": "s2"}},
            {"type": "tool_call", "id": "given", "name": "weather", "input": {"b": 1, "a": 2}, "vendor": {"id": "given", "thoughtSignature": "s3"}},
            {"type": "tool_call", "id": "minted", "name": "now", "input": {}},
            {"type": "tool_call", "id": "bad", "name": "now", "inputText": "{oops"}
        ]), own()),
        {"role": "user", "content": [
            {"type": "text", "text": "Quick!"},
            result("given", texts(r#" {"sky": "blue"} "#)),
            result("minted", json!([{"type": "text", "text": "noon"}, {"type": "text", "text": "12\""}, {"type": "media", "mediaType": "image/png", "data": "BBBB"}])),
            result("bad", texts("no JSON"))
        ]}
    ])
}

#[test]
fn gemini_gets_every_part_with_its_signature_and_all_results_in_one_content() {
    let body = body(&model(json!({})), &tools(), &messages(history())).unwrap();
    assert_eq!(
        body,
        json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [
                {"name": "weather", "description": "Of a city", "parametersJsonSchema": {"type": "object", "$defs": {}}},
                {"name": "now", "parametersJsonSchema": {}}
            ]}],
            "contents": [
                {"role": "user", "parts": [
                    {"text": "Look"},
                    {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
                    {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://b/c.pdf"}}
                ]},
                {"role": "model", "parts": [
                    {"text": "Hm", "thought": true, "thoughtSignature": "s0"},
                    {"text": "Let me see.", "thoughtSignature": "s1"},
                    {"executableCode": {"code": "1"}, "thoughtSignature": "s2"},
                    {"functionCall": {"id": "given", "name": "weather", "args": {"b": 1, "a": 2}}, "thoughtSignature": "s3"},
                    {"functionCall": {"name": "now", "args": {}}},
                    {"functionCall": {"name": "now", "args": {"_invalid_json": "{oops"}}}
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"id": "given", "name": "weather", "response": {"sky": "blue"}}},
                    {"functionResponse": {"name": "now", "response": {"output": "noon\n12\""},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": "BBBB"}}]}},
                    {"functionResponse": {"name": "now", "response": {"error": "no JSON"}}},
                    {"text": "Quick!"}
                ]}
            ]
        })
    );
}

#[test]
fn a_longer_history_begins_with_the_bytes_of_the_shorter_one() {
    let (model, history) = (model(json!({})), messages(history()));
    let long = text(&model, &tools(), &history).unwrap();
    for shorter in 1..history.len() {
        let short = text(&model, &tools(), &history[..shorter]).unwrap();
        assert!(long.starts_with(short.strip_suffix("]}").unwrap()));
    }
}

#[test]
fn media_of_a_result_follow_it_before_gemini_3() {
    let body = body(
        &model(json!({"model": "gemini-2.5-flash"})),
        &tools(),
        &messages(history()),
    )
    .unwrap();
    let parts = body["contents"][2]["parts"].as_array().unwrap();
    assert_eq!(
        parts[1]["functionResponse"]["response"],
        json!({"output": "noon\n12\""})
    );
    assert_eq!(parts[1]["functionResponse"]["parts"], Value::Null);
    let media = json!({"inlineData": {"mimeType": "image/png", "data": "BBBB"}});
    assert_eq!(parts[3..], [json!({"text": "Quick!"}), media]);
}

#[test]
fn another_models_call_gets_the_word_that_stands_for_a_signature() {
    let blocks = json!([
        {"type": "thinking", "text": "Hm", "signature": "foreign"},
        {"type": "text", "text": "So", "vendor": {"citations": []}},
        {"type": "raw", "json": {"type": "server_tool_use"}},
        {"type": "tool_call", "id": "a", "name": "now", "input": {}, "vendor": {"caller": 1}},
        {"type": "tool_call", "id": "b", "name": "now", "input": {}}
    ]);
    let dummy = json!({"functionCall": {"name": "now", "args": {}}, "thoughtSignature": "skip_thought_signature_validator"});
    let bare = json!({"functionCall": {"name": "now", "args": {}}});
    for origin in [
        json!({"protocol": "anthropic", "model": "gemini-3-pro"}),
        Value::Null,
    ] {
        let history = json!([
            said(blocks.clone(), origin),
            {"role": "user", "content": [result("a", json!([])), result("b", texts("[1]"))]}
        ]);
        let body = body(&model(json!({})), &tools(), &messages(history)).unwrap();
        assert_eq!(body["contents"][1]["parts"], json!([{"text": "So"}, dummy, bare]));
        assert_eq!(
            body["contents"][2]["parts"],
            json!([
                {"functionResponse": {"name": "now", "response": {}}},
                {"functionResponse": {"name": "now", "response": {"output": "[1]"}}}
            ])
        );
    }
    // Another Gemini's signature stays. The placeholder is needed only where it gave none.
    let older = json!({"protocol": "gemini", "model": "gemini-2.5-pro"});
    let blocks = json!([
        {"type": "thinking", "text": "Hm"},
        {"type": "raw", "json": {"text": "", "thoughtSignature": "s1"}},
        {"type": "tool_call", "id": "a", "name": "now", "input": {}}
    ]);
    let history = messages(json!([said(blocks.clone(), older.clone())]));
    let parts = &body(&model(json!({})), &tools(), &history).unwrap()["contents"][1]["parts"];
    assert_eq!(*parts, json!([{"text": "", "thoughtSignature": "s1"}, dummy]));
    let mut signed = blocks;
    signed[2]["vendor"] = json!({"thoughtSignature": "s2"});
    let history = messages(json!([said(signed, older)]));
    let parts = &body(&model(json!({})), &tools(), &history).unwrap()["contents"][1]["parts"];
    assert_eq!(parts[1]["thoughtSignature"], "s2");
    // The encoder never changes the text of this very model.
    let history = messages(json!([said(
        json!([{"type": "tool_call", "id": "a", "name": "now", "input": {}}]),
        own()
    )]));
    let parts = &body(&model(json!({})), &tools(), &history).unwrap()["contents"][1]["parts"];
    assert_eq!(*parts, json!([bare]));
}

#[test]
fn a_message_of_which_nothing_remains_is_not_sent() {
    let history = json!([
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        said(json!([{"type": "thinking", "text": "Hm"}, {"type": "text", "text": ""}]), Value::Null),
        {"role": "user", "content": []}
    ]);
    let body = body(&model(json!({})), &[], &messages(history)).unwrap();
    assert_eq!(body["contents"].as_array().unwrap().len(), 1);
    assert_eq!(body["tools"], Value::Null);
}

#[test]
fn an_error_that_is_an_object_is_still_an_error() {
    let call = json!([{"type": "tool_call", "id": "bad", "name": "now", "input": {}}]);
    for (text, response) in [
        (r#"{"a":1}"#, json!({"error": {"a": 1}})),
        (
            r#"{"error":true,"code":"x"}"#,
            json!({"error": true, "code": "x"}),
        ),
        (r#"{"a":1"#, json!({"error": "{\"a\":1"})),
    ] {
        let history =
            json!([said(call.clone(), own()), {"role": "user", "content": [result("bad", texts(text))]}]);
        let body = body(&model(json!({})), &tools(), &messages(history)).unwrap();
        let part = &body["contents"][2]["parts"][0];
        assert_eq!(part["functionResponse"]["response"], response);
    }
}

#[test]
fn options_reach_gemini_in_its_own_words() {
    let options = json!({
        "maxOutputTokens": 100, "temperature": 0.5, "topP": 0.9, "topK": 40, "seed": 7,
        "presencePenalty": 0.1, "frequencyPenalty": 0.2, "stopSequences": ["END"],
        "thinking": {"budgetTokens": 512}, "toolChoice": {"tool": "now"}, "parallelToolCalls": true,
        "responseFormat": {"schema": {"type": "object"}},
        "baseUrl": "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google",
        "metadata": {"team": "a"},
        "body": {
            "generationConfig": {"temperature": 1, "seed": null, "responseModalities": ["TEXT"]},
            "toolConfig": {"includeServerSideToolInvocations": true},
            "safetySettings": []
        }
    });
    let body = body(&model(options), &tools(), &[]).unwrap();
    assert_eq!(
        body["generationConfig"],
        json!({
            "maxOutputTokens": 100, "topP": 0.9, "topK": 40, "presencePenalty": 0.1, "frequencyPenalty": 0.2,
            "stopSequences": ["END"], "thinkingConfig": {"thinkingBudget": 512, "includeThoughts": true},
            "responseMimeType": "application/json", "responseJsonSchema": {"type": "object"},
            "temperature": 1, "responseModalities": ["TEXT"]
        })
    );
    assert_eq!(
        body["toolConfig"],
        json!({
            "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["now"]},
            "includeServerSideToolInvocations": true
        })
    );
    assert_eq!(body["labels"], json!({"team": "a"}));
    assert_eq!(body["safetySettings"], json!([]));
}

#[test]
fn thinking_and_effort_become_a_thinking_config() {
    for (options, expected) in [
        (json!({"effort": "low"}), json!({"thinkingLevel": "low"})),
        (
            json!({"effort": "high", "thinking": {"includeThoughts": true}}),
            json!({"thinkingLevel": "high", "includeThoughts": true}),
        ),
        (
            json!({"thinking": {"budgetTokens": 0}}),
            json!({"thinkingBudget": 0, "includeThoughts": false}),
        ),
        (
            json!({"thinking": {"thinkingBudget": -1}}),
            json!({"thinkingBudget": -1}),
        ),
        (
            json!({"body": {"generationConfig": null}, "effort": "low"}),
            Value::Null,
        ),
        (json!({}), Value::Null),
    ] {
        let body = body(&model(options), &[], &[]).unwrap();
        assert_eq!(body["generationConfig"]["thinkingConfig"], expected);
    }
    for (choice, mode) in [("auto", "AUTO"), ("none", "NONE"), ("required", "ANY")] {
        let model = model(json!({"toolChoice": choice}));
        let body = |tools: &[ToolConfig]| body(&model, tools, &[]).unwrap()["toolConfig"].clone();
        assert_eq!(body(&tools()), json!({"functionCallingConfig": {"mode": mode}}));
        assert_eq!(body(&[]), Value::Null);
    }
}

#[test]
fn what_gemini_cannot_be_told_is_an_error_that_names_the_option() {
    for (options, field) in [
        (json!({"parallelToolCalls": false}), "model.parallelToolCalls"),
        (json!({"metadata": {"a": "b"}}), "model.metadata"),
        (json!({"effort": "xhigh"}), "model.effort"),
        (
            json!({"effort": "low", "thinking": {"budgetTokens": 5}}),
            "model.effort",
        ),
        (json!({"thinking": {"type": "enabled"}}), "model.thinking"),
        (json!({"thinking": true}), "model.thinking"),
        (json!({"body": {"contents": []}}), "model.body.contents"),
    ] {
        assert_eq!(body(&model(options), &[], &[]).unwrap_err(), field);
    }
}

#[test]
fn the_model_stands_in_the_url() {
    let google = "https://generativelanguage.googleapis.com";
    let vertex = "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google";
    let stream = ":streamGenerateContent?alt=sse";
    for (base, name, path) in [
        (google, "gemini-3-pro", "/v1beta/models/gemini-3-pro"),
        (google, "models/gemini-3-pro", "/v1beta/models/gemini-3-pro"),
        (google, "tunedModels/mine", "/v1beta/tunedModels/mine"),
        (google, "a bü?:x", "/v1beta/models/a%20b%C3%BC%3F%3Ax"),
        (vertex, "gemini-3-pro@001", "/models/gemini-3-pro@001"),
        (google, "../../files", "/v1beta/models/..%2F..%2Ffiles"),
        (google, "models/../x", "/v1beta/models/..%2Fx"),
        (google, "other/x", "/v1beta/models/other%2Fx"),
        (
            vertex,
            "../../../endpoints/1",
            "/models/..%2F..%2F..%2Fendpoints%2F1",
        ),
        ("https://proxy.example/v1", "m", "/models/m"),
        ("https://proxy.example/v1beta", "m", "/models/m"),
        ("https://proxy.example/google/", "m", "/v1beta/models/m"),
    ] {
        let url = ActiveModel::new(model(json!({"model": name, "baseUrl": base})))
            .unwrap()
            .url;
        assert_eq!(url, [base.trim_end_matches('/'), path, stream].concat());
    }
    let host = "https://eu-aiplatform.googleapis.com";
    let project = "/projects/p/locations/eu";
    for (base, name, url) in [
        ("", "m", "/v1/publishers/google/models/m"),
        ("/v1beta1", "m", "/v1beta1/publishers/google/models/m"),
        (
            "/v1beta1/publishers/google",
            "m",
            "/v1beta1/publishers/google/models/m",
        ),
        (
            "/v1beta1/projects/p/locations/eu",
            "m",
            "/v1beta1/projects/p/locations/eu/publishers/google/models/m",
        ),
        (
            "/v1/projects/p/locations/eu/publishers/google/models/",
            "publishers/google/models/m",
            "/v1/projects/p/locations/eu/publishers/google/models/m",
        ),
        (
            "/v1/projects/p/locations/eu",
            "projects/q/m",
            "/v1/projects/p/locations/eu/publishers/google/models/projects%2Fq%2Fm",
        ),
    ] {
        let base = [host, base].concat();
        let made = ActiveModel::new(model(json!({"model": name, "baseUrl": base}))).unwrap();
        assert_eq!(made.url, [host, url, stream].concat(), "{base} {name}");
    }
    let claude = ModelConfig {
        base_url: Some(format!("{host}/v1{project}")),
        ..ModelConfig::new("compatible", "claude-x@1")
    };
    let anthropic = protocol("anthropic").unwrap();
    let path = "/publishers/anthropic/models/claude-x@1:streamRawPredict";
    let base = claude.base_url.clone().unwrap();
    let url = ActiveModel::new(ModelConfig {
        protocol: Some("anthropic".into()),
        ..claude.clone()
    });
    assert_eq!(url.unwrap().url, [&base, path].concat());
    let mut head = Vec::new();
    let spec = RequestSpec {
        model: &claude,
        system: None,
        tools: &[],
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    (anthropic.encode_head)(&spec, &mut head).unwrap();
    let head = String::from_utf8(head).unwrap();
    assert!(
        head.starts_with(r#"{"anthropic_version":"vertex-2023-10-16","max_tokens""#),
        "{head}"
    );
    let url = ActiveModel::new(model(json!({"stream": false}))).unwrap().url;
    assert_eq!(
        url,
        format!("{google}/v1beta/models/gemini-3-pro:generateContent")
    );
}
