use serde_json::{Value, json};

use crate::engine::model::config::{ModelConfig, ToolChoice, ToolConfig};
use crate::engine::model::message::Json;
use crate::engine::protocol::{Appended, Clearing, RequestSpec, find};

/// A request with a tool for each of `strict`, under this vendor and protocol.
fn body(vendor: &str, protocol: &str, strict: &[bool], url: &str, choice: Option<ToolChoice>) -> Value {
    let mut model = ModelConfig::new(vendor, "m");
    model.protocol = Some(protocol.into());
    model.base_url = Some(url.into());
    model.tool_choice = choice;
    let tool = |strict: &bool| {
        let schema = Json::parse(r#"{"type":"object"}"#).unwrap();
        let mut tool = ToolConfig::new("t", schema);
        tool.strict = *strict;
        tool
    };
    let tools: Vec<ToolConfig> = strict.iter().map(tool).collect();
    let spec = RequestSpec {
        model: &model,
        system: None,
        tools: &tools,
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    let (_, protocol) = find(&model).unwrap();
    let mut body = Vec::new();
    (protocol.encode_head)(&spec, &mut body).unwrap();
    (protocol.encode_tail)(&spec, &mut body);
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn a_strict_tool_says_so_where_the_protocol_has_a_word_for_it() {
    let rows = [
        ("anthropic", "anthropic", "/tools/0/strict", json!(null)),
        ("openai", "openai_chat", "/tools/0/function/strict", json!(null)),
        ("openai", "openai_responses", "/tools/0/strict", json!(false)),
        (
            "bedrock",
            "bedrock_converse",
            "/toolConfig/tools/0/toolSpec/strict",
            json!(null),
        ),
        ("custom", "ndjson", "/tools/0/strict", json!(null)),
    ];
    for (vendor, protocol, at, otherwise) in rows {
        let of = |strict: bool| {
            let body = body(vendor, protocol, &[strict], "https://x", None);
            body.pointer(at).cloned().unwrap_or_default()
        };
        assert_eq!(of(true), json!(true), "{protocol}");
        assert_eq!(of(false), otherwise, "{protocol}");
    }
}

#[test]
fn gemini_validates_the_calls_of_tools_that_are_all_strict_unless_the_choice_says_more() {
    let vertex = "https://x/v1/projects/p/locations/l/publishers/google";
    let rows = [
        (&[true, true][..], "https://x", None, json!("VALIDATED")),
        (&[true], "https://x", Some(ToolChoice::Auto), json!("VALIDATED")),
        (&[true], "https://x", Some(ToolChoice::Required), json!("ANY")),
        (&[true], "https://x", Some(ToolChoice::None), json!("NONE")),
        (&[true, false], "https://x", None, json!(null)),
        (&[true], vertex, None, json!(null)),
        (&[true], vertex, Some(ToolChoice::Auto), json!("AUTO")),
        (&[], "https://x", None, json!(null)),
    ];
    for (strict, url, choice, mode) in rows {
        let body = body("google", "gemini", strict, url, choice.clone());
        let said = &body["toolConfig"]["functionCallingConfig"]["mode"];
        assert_eq!(*said, mode, "{strict:?} {url} {choice:?}");
    }
}
