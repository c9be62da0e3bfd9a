//! Tests of the addresses that result from base URLs in every spelling, and of the part of an address that a failure
//! shows.

use serde_json::{Value, json};

use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::protocol::request::address::shown;

fn url(model: Value) -> String {
    let config = serde_json::from_str(&model.to_string()).unwrap();
    ActiveModel::new(config).unwrap().url
}

/// The parts of an address: the server, the base path before the version, the version, and the endpoint.
struct Row {
    vendor: Value,
    server: &'static str,
    base: &'static str,
    version: &'static str,
    endpoint: &'static str,
    query: &'static str,
}

fn rows() -> Vec<Row> {
    let row = |vendor, server, base, version, endpoint| Row {
        vendor,
        server,
        base,
        version,
        endpoint,
        query: "",
    };
    let gemini = |vendor, server, base, version| Row {
        query: "?alt=sse",
        ..row(vendor, server, base, version, "/models/m:streamGenerateContent")
    };
    let vertex = "https://us-east1-aiplatform.googleapis.com";
    let vertex_url = format!("{vertex}/v1/projects/p/locations/us-east1/publishers/google");
    vec![
        row(
            json!({"vendor": "anthropic"}),
            "https://api.anthropic.com",
            "",
            "/v1",
            "/messages",
        ),
        row(
            json!({"vendor": "openai"}),
            "https://api.openai.com",
            "",
            "/v1",
            "/chat/completions",
        ),
        row(
            json!({"vendor": "openai", "protocol": "openai_responses"}),
            "https://api.openai.com",
            "",
            "/v1",
            "/responses",
        ),
        gemini(
            json!({"vendor": "google"}),
            "https://generativelanguage.googleapis.com",
            "",
            "/v1beta",
        ),
        row(
            json!({"vendor": "bedrock"}),
            "https://bedrock-runtime.us-east-1.amazonaws.com",
            "",
            "",
            "/model/m/converse-stream",
        ),
        row(
            json!({"vendor": "openrouter", "protocol": "openai_chat", "vendorUrl": "https://openrouter.ai/api/v1"}),
            "https://openrouter.ai",
            "/api",
            "/v1",
            "/chat/completions",
        ),
        row(
            json!({"vendor": "deepseek", "protocol": "openai_chat", "vendorUrl": "https://api.deepseek.com"}),
            "https://api.deepseek.com",
            "",
            "",
            "/chat/completions",
        ),
        row(
            json!({"vendor": "zai", "protocol": "openai_chat", "vendorUrl": "https://api.z.ai/api/paas/v4"}),
            "https://api.z.ai",
            "/api/paas",
            "/v4",
            "/chat/completions",
        ),
        row(
            json!({"vendor": "compatible", "protocol": "anthropic"}),
            "http://localhost:9",
            "",
            "/v1",
            "/messages",
        ),
        row(
            json!({"vendor": "compatible"}),
            "http://localhost:11434",
            "",
            "/v1",
            "/chat/completions",
        ),
        row(
            json!({"vendor": "compatible", "protocol": "openai_responses"}),
            "http://localhost:9",
            "",
            "/v1",
            "/responses",
        ),
        gemini(
            json!({"vendor": "compatible", "protocol": "gemini"}),
            "http://localhost:9",
            "",
            "/v1beta",
        ),
        row(
            json!({"vendor": "compatible", "protocol": "bedrock_converse"}),
            "http://localhost:9",
            "",
            "",
            "/model/m/converse-stream",
        ),
        Row {
            base: "/v1/projects/p/locations/us-east1/publishers/google",
            ..gemini(
                json!({"vendor": "vertex", "protocol": "gemini", "vendorUrl": vertex_url}),
                vertex,
                "",
                "",
            )
        },
    ]
}

#[test]
fn every_spelling_of_a_base_url_comes_to_the_same_address() {
    for row in rows() {
        let Row {
            mut vendor,
            server,
            base,
            version,
            endpoint,
            query,
        } = row;
        let address = [server, base, version, endpoint, query].concat();
        let mut spellings = vec![
            server.to_owned(),
            [server, base].concat(),
            [server, base, version].concat(),
            [server, base, version, endpoint].concat(),
        ];
        // On its own server a vendor without a version takes one that is given.
        if version.is_empty() && vendor["vendor"] != "compatible" && base.is_empty() {
            spellings.push(format!("{server}/v1"));
        }
        vendor["model"] = json!("m");
        for spelling in spellings {
            for end in ["", "/", "//"] {
                vendor["baseUrl"] = json!([spelling.as_str(), end].concat());
                assert_eq!(url(vendor.clone()), address, "{vendor}");
            }
        }
    }
}

#[test]
fn a_base_url_with_a_path_of_its_own_keeps_it() {
    let chat = json!({"vendor": "compatible", "model": "m"});
    let anthropic = json!({"vendor": "anthropic", "model": "m"});
    let groq = json!({"vendor": "groq", "protocol": "openai_chat", "model": "m", "vendorUrl": "https://api.groq.com/openai/v1"});
    let gemini = json!({"vendor": "google", "model": "m"});
    let project =
        "https://us-east1-aiplatform.googleapis.com/v1/projects/p/locations/us-east1/publishers/google";
    let vertex = json!({"vendor": "vertex", "protocol": "gemini", "model": "m", "vendorUrl": project});
    for (model, base_url, address) in [
        (&chat, "/api/openai", "/api/openai/chat/completions"),
        (
            &chat,
            "https://gateway.example/openai/",
            "https://gateway.example/openai/chat/completions",
        ),
        (
            &chat,
            "https://api.test/chat/completions",
            "https://api.test/chat/completions",
        ),
        (&chat, "/", "/v1/chat/completions"),
        (&chat, "/v1/v2", "/v1/v2/chat/completions"),
        (&anthropic, "/api/anthropic", "/api/anthropic/v1/messages"),
        (
            &anthropic,
            "https://gateway.example/messages",
            "https://gateway.example/messages",
        ),
        (
            &groq,
            "https://proxy.example",
            "https://proxy.example/openai/v1/chat/completions",
        ),
        (
            &groq,
            "https://proxy.example/openai",
            "https://proxy.example/openai/chat/completions",
        ),
        (&groq, "/openai", "/openai/chat/completions"),
        (
            &groq,
            "https://API.groq.com/openai",
            "https://api.groq.com/openai/v1/chat/completions",
        ),
        (
            &gemini,
            "https://generativelanguage.googleapis.com/v1",
            "https://generativelanguage.googleapis.com/v1/models/m:streamGenerateContent?alt=sse",
        ),
        (
            &gemini,
            "https://proxy.example/v1beta/models/other:generateContent",
            "https://proxy.example/v1beta/models/m:streamGenerateContent?alt=sse",
        ),
        (
            &gemini,
            "https://generativelanguage.googleapis.com/v1beta/models",
            "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
        ),
        (
            &gemini,
            "https://proxy.example/google/v1beta/models/",
            "https://proxy.example/google/v1beta/models/m:streamGenerateContent?alt=sse",
        ),
        (
            &gemini,
            "https://proxy.example/models",
            "https://proxy.example/models/v1beta/models/m:streamGenerateContent?alt=sse",
        ),
        (
            &vertex,
            "https://us-east1-aiplatform.googleapis.com/v1beta1",
            "https://us-east1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-east1/publishers/google/models/m:streamGenerateContent?alt=sse",
        ),
        (
            &vertex,
            "https://proxy.example/v1",
            "https://proxy.example/v1/projects/p/locations/us-east1/publishers/google/models/m:streamGenerateContent?alt=sse",
        ),
        (
            &vertex,
            "https://proxy.example/google",
            "https://proxy.example/google/v1/projects/p/locations/us-east1/publishers/google/models/m:streamGenerateContent?alt=sse",
        ),
        (
            &vertex,
            "https://proxy.example/v1/publishers/google",
            "https://proxy.example/v1/publishers/google/models/m:streamGenerateContent?alt=sse",
        ),
        (
            &vertex,
            "https://proxy.example/v1/projects/other/locations/eu",
            "https://proxy.example/v1/projects/other/locations/eu/publishers/google/models/m:streamGenerateContent?alt=sse",
        ),
    ] {
        let mut model = model.clone();
        model["baseUrl"] = json!(base_url);
        assert_eq!(url(model), address, "{base_url}");
    }
    let custom = json!({"vendor": "custom", "model": "m", "baseUrl": "http://custom.invalid"});
    assert_eq!(url(custom), "http://custom.invalid");
}

#[test]
fn a_failure_tells_an_address_without_user_and_query() {
    for (url, address) in [
        (
            "https://a.example/v1/messages",
            Some("https://a.example/v1/messages"),
        ),
        (
            "https://a.example/m:go?alt=sse&key=k#x",
            Some("https://a.example/m:go"),
        ),
        (
            "https://user:word@a.example:8080/v1",
            Some("https://a.example:8080/v1"),
        ),
        ("/api/v1/messages?key=k", Some("/api/v1/messages")),
        ("https://a.example?key=k", Some("https://a.example")),
        ("http://custom.invalid", None),
        ("http://language-model.invalid/v1/chat/completions", None),
    ] {
        assert_eq!(shown(url).as_deref(), address, "{url}");
    }
}
