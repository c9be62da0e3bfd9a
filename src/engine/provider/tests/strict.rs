use serde_json::{Value, json};

use super::super::super::config::{ModelConfig, ToolConfig};
use super::super::super::message::Json;
use super::super::{RequestSpec, find};

/// The first tool of a request, under this vendor and protocol.
fn tool(vendor: &str, protocol: &str, strict: bool) -> Value {
    let mut model = ModelConfig::new(vendor.into(), "m".into());
    model.protocol = Some(protocol.into());
    model.base_url = Some("https://x".into());
    let schema = Json::parse(r#"{"type":"object"}"#).unwrap();
    let mut tool = ToolConfig::new("t".into(), schema);
    tool.strict = strict;
    let spec = RequestSpec {
        model: &model,
        system: None,
        tools: &[tool],
        before: None,
    };
    let (_, protocol) = find(&model).unwrap();
    let mut body = Vec::new();
    (protocol.encode_head)(&spec, &mut body).unwrap();
    (protocol.encode_tail)(&spec, &mut body);
    let body: Value = serde_json::from_slice(&body).unwrap();
    body["tools"][0].clone()
}

#[test]
fn a_strict_tool_says_so_where_the_protocol_has_a_word_for_it() {
    let rows = [
        ("anthropic", "anthropic", "/strict", json!(null)),
        ("openai", "openai_chat", "/function/strict", json!(null)),
        ("openai", "openai_responses", "/strict", json!(false)),
        ("custom", "ndjson", "/strict", json!(null)),
    ];
    for (vendor, protocol, at, otherwise) in rows {
        assert_eq!(
            tool(vendor, protocol, true).pointer(at),
            Some(&json!(true)),
            "{protocol}"
        );
        let plain = tool(vendor, protocol, false);
        assert_eq!(
            plain.pointer(at).unwrap_or(&Value::Null),
            &otherwise,
            "{protocol}"
        );
    }
}
