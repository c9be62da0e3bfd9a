//! Tests of cache markers: they stand in the right places, and the kept bytes never have them.

use serde_json::{Value, json};

use crate::engine::agent::history::transcript::Transcript;
use crate::engine::model::config::{ModelConfig, ToolConfig};
use crate::engine::model::message::{Block, Json, Message};
use crate::engine::protocol::{Appended, Clearing, Protocol, RequestSpec, find};

fn model(vendor: &str, caching: Value) -> ModelConfig {
    let config =
        json!({"vendor": vendor, "model": "m", "baseUrl": "https://x.example", "promptCaching": caching});
    serde_json::from_str(&config.to_string()).unwrap()
}

fn tools() -> Vec<ToolConfig> {
    ["a", "b"]
        .map(|name| {
            let tool = json!({"name": name, "inputSchema": {"type": "object"}});
            serde_json::from_str(&tool.to_string()).unwrap()
        })
        .to_vec()
}

fn round(at: u32) -> [Message; 2] {
    let call = json!({"type": "tool_call", "id": format!("c{at}"), "name": "a", "input": {}});
    let result = json!({"type": "tool_result", "callId": format!("c{at}"), "content": [{"type": "text", "text": "ok"}]});
    let message = |role: &str, block: Value| {
        serde_json::from_str(&json!({"role": role, "content": [block]}).to_string()).unwrap()
    };
    [message("assistant", call), message("user", result)]
}

fn sent(transcript: &mut Transcript, protocol: &Protocol, spec: &RequestSpec<'_>) -> String {
    String::from_utf8(transcript.body(protocol, spec).unwrap().to_vec()).unwrap()
}

const MARKER: &str = r#","cache_control":{"type":"ephemeral"}"#;

#[test]
fn s001_38_anthropic_gets_a_marker_behind_the_tools_the_system_prompt_and_the_last_block() {
    let tools = tools();
    for (vendor, caching, marker) in [
        ("anthropic", json!({}), json!({"type": "ephemeral"})),
        (
            "anthropic",
            json!({"ttl": "1h"}),
            json!({"type": "ephemeral", "ttl": "1h"}),
        ),
        ("anthropic", json!({"enabled": false, "ttl": "1h"}), Value::Null),
    ] {
        let model = model(vendor, caching);
        let (_, protocol) = find(&model).unwrap();
        let spec = RequestSpec {
            model: &model,
            system: Some("s"),
            tools: &tools,
            before: None,
            is_digested: false,
            appended: Appended::default(),
            clearing: Clearing::default(),
        };
        let mut transcript = Transcript::default();
        transcript.push_user(vec![Block::text("go")]);
        for message in round(1) {
            match message.content.first() {
                Some(Block::ToolResult { .. }) => transcript.push_round(message.content, vec![]),
                _ => transcript.push_assistant(message),
            }
        }
        let body: Value = serde_json::from_str(&sent(&mut transcript, protocol, &spec)).unwrap();
        assert_eq!(body["tools"][0]["cache_control"], Value::Null);
        assert_eq!(body["tools"][1]["cache_control"], marker);
        assert_eq!(
            body["system"][0].get("cache_control").unwrap_or(&Value::Null),
            &marker
        );
        assert_eq!(body["messages"][2]["content"][0]["cache_control"], marker);
        // The end of the previous request.
        assert_eq!(body["messages"][0]["content"][0]["cache_control"], marker);
        let count = body.to_string().matches("cache_control").count();
        assert_eq!(count, if marker.is_null() { 0 } else { 4 });
    }
}

#[test]
fn a_server_that_only_speaks_the_protocol_gets_markers_when_it_is_asked_to() {
    let mut model = model("compatible", json!({}));
    model.protocol = Some("anthropic".to_owned());
    let body = |model: &ModelConfig| {
        let (_, protocol) = find(model).unwrap();
        let spec = RequestSpec {
            model,
            system: None,
            tools: &[],
            before: None,
            is_digested: false,
            appended: Appended::default(),
            clearing: Clearing::default(),
        };
        let mut transcript = Transcript::default();
        transcript.push_user(vec![Block::text("go")]);
        sent(&mut transcript, protocol, &spec)
    };
    assert!(!body(&model).contains(MARKER));
    model.prompt_caching.enabled = Some(true);
    assert!(body(&model).contains(MARKER));
}

#[test]
fn without_its_marker_each_body_begins_with_the_one_before() {
    let model = model("anthropic", json!({}));
    let (_, protocol) = find(&model).unwrap();
    let tools = tools();
    let spec = RequestSpec {
        model: &model,
        system: Some("s"),
        tools: &tools,
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    let mut transcript = Transcript::default();
    transcript.push_user(vec![Block::text("go")]);
    let mut before = String::new();
    for at in 0..5 {
        let first = sent(&mut transcript, protocol, &spec);
        assert_eq!(first, sent(&mut transcript, protocol, &spec), "asked twice");
        assert_eq!(first.matches(MARKER).count(), if at == 0 { 3 } else { 4 });
        let plain = first.replace(MARKER, "");
        assert!(plain.starts_with(&before), "{plain}\n{before}");
        before = plain.strip_suffix("]}").unwrap().to_owned();
        let [call, result] = round(at);
        transcript.push_assistant(call);
        transcript.push_round(result.content, vec![]);
    }
}

#[test]
fn a_block_with_a_marker_of_the_users_own_gets_no_second_one() {
    let model = model("anthropic", json!({}));
    let (_, protocol) = find(&model).unwrap();
    let spec = RequestSpec {
        model: &model,
        system: None,
        tools: &[],
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    let own = r#"{"type":"text","text":"go","cache_control":{"type":"ephemeral","ttl":"1h"}}"#;
    let mut transcript = Transcript::default();
    transcript.push_user(vec![Block::Raw {
        json: Json::parse(own).unwrap(),
    }]);
    let body = sent(&mut transcript, protocol, &spec);
    assert_eq!(body.matches("cache_control").count(), 1);
    transcript.push_assistant(Message::assistant(vec![Block::text("done")]));
    transcript.push_user(vec![Block::text("more")]);
    assert_eq!(
        sent(&mut transcript, protocol, &spec)
            .matches("cache_control")
            .count(),
        2
    );
}

#[test]
fn an_unknown_lifetime_is_refused() {
    let model = model("anthropic", json!({"ttl": "1d"}));
    let (_, protocol) = find(&model).unwrap();
    let spec = RequestSpec {
        model: &model,
        system: None,
        tools: &[],
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    let error = (protocol.encode_head)(&spec, &mut Vec::new()).unwrap_err();
    assert_eq!(error.field, "model.promptCaching.ttl");
}

#[test]
fn a_round_of_many_blocks_finds_what_the_request_before_has_cached() {
    let model = model("anthropic", json!({}));
    let (_, protocol) = find(&model).unwrap();
    let tools = tools();
    let spec = RequestSpec {
        model: &model,
        system: Some("s"),
        tools: &tools,
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    let mut transcript = Transcript::default();
    transcript.push_user(vec![Block::text("go")]);
    let mut ends = Vec::new();
    for at in 0..3 {
        let body: Value = serde_json::from_str(&sent(&mut transcript, protocol, &spec)).unwrap();
        let mut marked = Vec::new();
        for (at, message) in body["messages"].as_array().unwrap().iter().enumerate() {
            let blocks = message["content"].as_array().unwrap();
            let last = blocks.len() - 1;
            for (block, value) in blocks.iter().enumerate() {
                if !value["cache_control"].is_null() {
                    assert_eq!(block, last);
                    marked.push(at);
                }
            }
        }
        ends.push(body["messages"].as_array().unwrap().len() - 1);
        assert_eq!(
            marked,
            ends[ends.len().saturating_sub(2)..],
            "this end and the one before"
        );
        let rounds: Vec<[Message; 2]> = (0..30).map(|call| round(100 * at + call)).collect();
        let pick = |side: usize| {
            rounds
                .iter()
                .flat_map(|round| round[side].content.clone())
                .collect()
        };
        transcript.push_assistant(Message::assistant(pick(0)));
        transcript.push_round(pick(1), vec![]);
    }
    // A run that was restored in between marks equal places.
    let whole = sent(&mut transcript, protocol, &spec);
    transcript.forget_body();
    assert_eq!(sent(&mut transcript, protocol, &spec), whole);
}

#[test]
fn a_request_never_has_more_than_four_markers_with_the_users_own() {
    let model = model("anthropic", json!({}));
    let (_, protocol) = find(&model).unwrap();
    let tools = tools();
    let spec = RequestSpec {
        model: &model,
        system: Some("s"),
        tools: &tools,
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    for own in 0..3 {
        let mut blocks = vec![Block::text("go".repeat(60))];
        let marked = r#"{"type":"text","text":"mine","cache_control":{"type":"ephemeral"}}"#;
        blocks.splice(
            0..0,
            (0..own).map(|_| Block::Raw {
                json: Json::parse(marked).unwrap(),
            }),
        );
        let mut transcript = Transcript::default();
        transcript.push_user(blocks);
        let mut counts = Vec::new();
        for at in 0..3 {
            counts.push(
                sent(&mut transcript, protocol, &spec)
                    .matches("cache_control")
                    .count(),
            );
            let [call, result] = round(at);
            transcript.push_assistant(call);
            transcript.push_round(result.content, vec![]);
        }
        let wanted = [[3, 4, 4], [4, 4, 4], [4, 4, 4]];
        assert_eq!(counts, wanted[own]);
    }
}
