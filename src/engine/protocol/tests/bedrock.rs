//! Tests of messages in Converse's form.

mod options;
mod stream;

use looplet_scan::check::check;
use serde_json::{Value, json};

use crate::engine::agent::history::body::Body;
use crate::engine::model::config::{ModelConfig, ToolConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::{Block, Json, MediaSource, Message, Origin, ToolInput};
use crate::engine::protocol::{Appended, Clearing, RequestSpec, find};

const CLAUDE: &str = "us.anthropic.claude-3-haiku-20240307-v1:0";
const NOVA: &str = "us.amazon.nova-2-lite-v1:0";
const LLAMA: &str = "us.meta.llama4-maverick-17b-instruct-v1:0";
const PROFILE: &str = "arn:aws:bedrock:us-east-1:012345678901:application-inference-profile/abc";

fn model(id: &str, further: Value) -> ModelConfig {
    let mut config = json!({"vendor": "bedrock", "model": id});
    for (key, value) in further.as_object().unwrap() {
        config[key] = value.clone();
    }
    serde_json::from_str(&config.to_string()).unwrap()
}

fn tool(name: &str) -> ToolConfig {
    let tool =
        json!({"name": name, "description": "Of a city", "inputSchema": {"type": "object", "z": 1, "a": 2}});
    serde_json::from_str(&tool.to_string()).unwrap()
}

fn body(
    model: &ModelConfig,
    tools: &[ToolConfig],
    messages: &[Message],
) -> Result<(Value, String), ConfigError> {
    let (_, protocol) = find(model)?;
    let spec = RequestSpec {
        model,
        system: Some("Be brief."),
        tools,
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    let text = String::from_utf8(Body::whole(protocol, &spec, messages)?).unwrap();
    check(&text).unwrap_or_else(|fault| panic!("{fault:?}: {text}"));
    Ok((serde_json::from_str(&text).unwrap(), text))
}

fn messages(model: &ModelConfig, tools: &[ToolConfig], messages: &[Message]) -> Value {
    body(model, tools, messages).unwrap().0["messages"].clone()
}

fn assistant(of: &str, content: Vec<Block>) -> Message {
    let origin = Origin {
        protocol: "bedrock_converse".to_owned(),
        model: of.to_owned(),
        prefix: None,
        thread: None,
    };
    Message {
        origin: Some(origin),
        ..Message::assistant(content)
    }
}

fn call(id: &str, input: &str) -> Block {
    Block::ToolCall {
        id: id.to_owned(),
        name: "weather".to_owned(),
        input: Json::parse(input).map_or(ToolInput::Invalid(input.to_owned()), ToolInput::Json),
        vendor: Json::parse(r#"{"further":1}"#).ok(),
    }
}

fn result(id: &str, content: Vec<Block>) -> Block {
    Block::ToolResult {
        call_id: id.to_owned(),
        content,
        is_error: id == "c:2",
        pending: None,
    }
}

fn media(media_type: &str, data: &str) -> Block {
    Block::Media {
        media_type: media_type.to_owned(),
        source: MediaSource::Data(data.to_owned()),
        name: None,
        vendor: None,
    }
}

fn url(media_type: &str, url: &str) -> Block {
    Block::Media {
        media_type: media_type.to_owned(),
        source: MediaSource::Url(url.to_owned()),
        name: None,
        vendor: None,
    }
}

fn thinking(signature: Option<&str>) -> Block {
    Block::Thinking {
        text: "Hm".to_owned(),
        signature: signature.map(str::to_owned),
        vendor: None,
    }
}

fn raw(json: &str) -> Block {
    Block::Raw {
        json: Json::parse(json).unwrap(),
    }
}

/// A round with every kind of block that an answer can have.
fn round(of: &str) -> Vec<Message> {
    let cited = Block::Text {
        text: "It rains.".to_owned(),
        purpose: None,
        vendor: Json::parse(r#"{"citations":[{"title":"t"}]}"#).ok(),
    };
    vec![
        Message::user(vec![Block::text("Umbrella?")]),
        assistant(
            of,
            vec![
                thinking(Some("s")),
                Block::RedactedThinking {
                    data: "cg==".to_owned(),
                },
                thinking(None),
                Block::text(" \n"),
                Block::text("Let me see."),
                cited,
                raw(
                    r#"{"toolUse":{"toolUseId":"x","name":"nova_grounding","type":"server_tool_use","input":{}}}"#,
                ),
                raw(r#"{"image":{"format":"png","source":{"bytes":"AA=="}}}"#),
                call("c:1", r#"{"b": 1,"a":2}"#),
                call("c:2", "{oops"),
                thinking(Some("at the end")),
            ],
        ),
        Message::user(vec![
            Block::text("Quick!"),
            result("c:1", vec![Block::text(" ")]),
            result("c:2", vec![Block::text("no JSON"), media("image/jpeg", "AAAA")]),
        ]),
    ]
}

#[test]
fn every_block_of_the_model_itself_goes_back_in_its_place() {
    let model = model(CLAUDE, json!({}));
    assert_eq!(
        body(&model, &[tool("weather")], &round(CLAUDE)).unwrap().0,
        json!({
            "system": [{"text": "Be brief."}],
            "toolConfig": {"tools": [{"toolSpec": {
                "name": "weather", "description": "Of a city",
                "inputSchema": {"json": {"type": "object", "z": 1, "a": 2}}
            }}]},
            "messages": [
                {"role": "user", "content": [{"text": "Umbrella?"}]},
                {"role": "assistant", "content": [
                    {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "s"}}},
                    {"reasoningContent": {"redactedContent": "cg=="}},
                    {"text": "Let me see."},
                    {"citationsContent": {"content": [{"text": "It rains."}], "citations": [{"title": "t"}]}},
                    {"toolUse": {"toolUseId": "x", "name": "nova_grounding", "type": "server_tool_use", "input": {}}},
                    {"toolUse": {"toolUseId": "c:1", "name": "weather", "input": {"b": 1, "a": 2}, "further": 1}},
                    {"toolUse": {"toolUseId": "c:2", "name": "weather", "input": {"_invalid_json": "{oops"}, "further": 1}},
                ]},
                {"role": "user", "content": [
                    {"toolResult": {"toolUseId": "c:1", "content": [{"text": "(empty)"}]}},
                    {"toolResult": {"toolUseId": "c:2", "status": "error", "content": [
                        {"text": "no JSON"},
                        {"image": {"format": "jpeg", "source": {"bytes": "AAAA"}}}
                    ]}},
                    {"text": "Quick!"}
                ]}
            ]
        })
    );
}

#[test]
fn of_another_model_only_text_and_calls_go() {
    let found = messages(&model(LLAMA, json!({})), &[tool("weather")], &round(CLAUDE));
    assert_eq!(
        found[1]["content"],
        json!([
            {"text": "Let me see."},
            {"text": "It rains."},
            {"toolUse": {"toolUseId": "c:1", "name": "weather", "input": {"b": 1, "a": 2}}},
            {"toolUse": {"toolUseId": "c:2", "name": "weather", "input": {"_invalid_json": "{oops"}}},
        ])
    );
    assert_eq!(
        found[2]["content"][1]["toolResult"]["status"],
        Value::Null,
        "only some models know it"
    );
}

#[test]
fn roles_alternate_from_the_user_on_whatever_is_left_out() {
    let model = model(CLAUDE, json!({}));
    let text = |text: &str| vec![Block::text(text)];
    let history = [
        assistant(CLAUDE, text("Welcome.")),
        Message::user(text("One")),
        assistant(CLAUDE, vec![thinking(None)]),
        Message::user(text("Two")),
        assistant(CLAUDE, text("Three")),
        Message::user(text(" ")),
        assistant(CLAUDE, text(r#"],"role":"assistant"}"#)),
        Message::user(text("Four")),
    ];
    let roles = ["user", "assistant"].into_iter().cycle();
    let said = [
        "(empty)",
        "Welcome.",
        "One",
        "(empty)",
        "Two",
        "Three",
        "(empty)",
        r#"],"role":"assistant"}"#,
        "Four",
    ];
    let wanted: Vec<Value> = roles
        .zip(said)
        .map(|(role, text)| json!({"role": role, "content": [{"text": text}]}))
        .collect();
    assert_eq!(messages(&model, &[], &history), json!(wanted));
}

#[test]
fn a_server_tool_without_its_result_is_left_out_of_a_message_that_was_cut_off() {
    let model = model(CLAUDE, json!({}));
    let server = r#"{"toolUse":{"toolUseId":"x","name":"n","type":"server_tool_use","input":{}}}"#;
    let answer = r#"{"toolResult":{"toolUseId":"x","content":[{"text":"1"}]}}"#;
    let content = vec![raw(server), raw(answer), Block::text("So"), raw(server)];
    for (partial, blocks) in [(true, 3), (false, 4)] {
        let message = Message {
            partial,
            compacted: false,
            ..assistant(CLAUDE, content.clone())
        };
        let found = messages(
            &model,
            &[tool("weather")],
            &[Message::user(vec![Block::text("a")]), message],
        );
        assert_eq!(found[1]["content"].as_array().unwrap().len(), blocks);
    }
}

#[test]
fn a_longer_history_begins_with_the_bytes_of_the_shorter_one() {
    let model = model(CLAUDE, json!({"promptCaching": {"enabled": false}}));
    let history = round(CLAUDE);
    let mut before = String::new();
    for count in 0..=history.len() {
        let (_, text) = body(&model, &[tool("weather")], history.get(..count).unwrap()).unwrap();
        let kept = text.strip_suffix("]}").unwrap().to_owned();
        assert!(kept.starts_with(&before), "{before}\n{kept}");
        before = kept;
    }
}

#[test]
fn without_tools_calls_and_results_are_told_as_text() {
    let told = |model: &ModelConfig, tools: &[ToolConfig]| {
        let (body, _) = body(model, tools, &round(CLAUDE)).unwrap();
        assert_eq!(body.get("toolConfig"), None);
        let blocks = body["messages"].to_string();
        assert!(
            !blocks.contains("toolUse") && !blocks.contains("toolResult"),
            "{blocks}"
        );
        let content = |at: usize| body["messages"][at]["content"].as_array().unwrap().clone();
        let mut assistant = content(1).into_iter().rev().take(2).collect::<Vec<_>>();
        assistant.reverse();
        (json!(assistant), json!(content(2)))
    };
    let wanted = (
        json!([{"text": "[Call of weather: {\"b\": 1,\"a\":2}]"}, {"text": "[Call of weather: {oops]"}]),
        json!([
            {"text": "[Result of a call:]"}, {"text": "(empty)"},
            {"text": "[Result of a call:]"}, {"text": "no JSON"},
            {"image": {"format": "jpeg", "source": {"bytes": "AAAA"}}},
            {"text": "Quick!"}
        ]),
    );
    assert_eq!(told(&model(CLAUDE, json!({})), &[]), wanted);
    // Converse has no choice that forbids calls.
    assert_eq!(
        told(&model(CLAUDE, json!({"toolChoice": "none"})), &[tool("weather")]),
        wanted
    );
}

#[test]
fn media_are_named_by_their_format_and_documents_stand_before_the_text() {
    let model = model(CLAUDE, json!({}));
    let content = [
        media("image/jpg", "AA"),
        media("application/pdf", "BB"),
        url("image/png", "https://x.example/a.png"),
        url("video/quicktime", "s3://b/v"),
        media("text/markdown", "CC"),
        media("application/json", "DD"),
        media("audio/mpeg", "EE"),
    ];
    let found = messages(
        &model,
        &[],
        &[
            Message::user(content.to_vec()),
            Message::user(vec![media("text/csv", "FF")]),
        ],
    );
    let first = found[0]["content"].as_array().unwrap();
    let documents: Vec<&Value> = first.iter().filter_map(|block| block.get("document")).collect();
    let shown: Vec<(&Value, &Value)> = documents
        .iter()
        .map(|document| (&document["format"], &document["source"]["bytes"]))
        .collect();
    assert_eq!(json!(shown), json!([["pdf", "BB"], ["md", "CC"], ["txt", "DD"]]));
    let names: Vec<&str> = documents
        .iter()
        .map(|document| document["name"].as_str().unwrap())
        .collect();
    assert!(
        names.iter().all(|name| name.starts_with("Document ")),
        "{names:?}"
    );
    assert!(
        names.windows(2).all(|pair| pair.first() != pair.last()),
        "two of one name are refused"
    );
    assert_eq!(
        first.get(3..).unwrap(),
        json!([
            {"image": {"format": "jpeg", "source": {"bytes": "AA"}}},
            {"text": "https://x.example/a.png"},
            {"video": {"format": "mov", "source": {"s3Location": {"uri": "s3://b/v"}}}},
            {"audio": {"format": "mp3", "source": {"bytes": "EE"}}},
        ])
        .as_array()
        .unwrap()
    );
    // A document must have text next to it.
    assert_eq!(found[2]["content"][1], json!({"text": "(empty)"}));
}
