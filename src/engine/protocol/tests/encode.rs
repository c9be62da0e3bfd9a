//! Tests of the bodies that the protocols write for one history.

use serde_json::{Value, json};

use crate::engine::agent::history::body::Body;
use crate::engine::model::config::{ModelConfig, ToolConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::{Block, Json, MediaSource, Message, Origin, ToolInput};
use crate::engine::protocol::{Appended, Clearing, Protocol, RequestSpec, find};

pub(super) fn model(vendor: &str, further: Value) -> ModelConfig {
    let mut config = json!({"vendor": vendor, "model": "m", "baseUrl": "https://x.example"});
    for (key, value) in further.as_object().unwrap() {
        config[key] = value.clone();
    }
    serde_json::from_str(&config.to_string()).unwrap()
}

pub(super) fn weather() -> Vec<ToolConfig> {
    let tool =
        json!({"name":"weather","description":"Of a city","inputSchema":{"type":"object","z":1,"a":2}});
    vec![serde_json::from_str(&tool.to_string()).unwrap()]
}

pub(super) fn body(
    model: &ModelConfig,
    tools: &[ToolConfig],
    messages: &[Message],
) -> Result<Value, ConfigError> {
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
    Ok(serde_json::from_str(&text(protocol, &spec, messages)?).unwrap())
}

fn text(protocol: &Protocol, spec: &RequestSpec<'_>, messages: &[Message]) -> Result<String, ConfigError> {
    Ok(String::from_utf8(Body::whole(protocol, spec, messages)?).unwrap())
}

pub(super) fn origin(protocol: &str) -> Option<Origin> {
    Some(Origin {
        protocol: protocol.to_owned(),
        model: "m".to_owned(),
        prefix: None,
        thread: None,
    })
}

pub(super) fn call(id: &str, input: &str) -> Block {
    let input = Json::parse(input).map_or(ToolInput::Invalid(input.to_owned()), ToolInput::Json);
    Block::ToolCall {
        id: id.to_owned(),
        name: "weather".to_owned(),
        input,
        vendor: None,
    }
}

pub(super) fn result(id: &str, content: Vec<Block>) -> Block {
    Block::ToolResult {
        call_id: id.to_owned(),
        content,
        is_error: id == "c2",
        pending: None,
    }
}

pub(super) fn history(protocol: &str) -> Vec<Message> {
    let raw = |json: &str| Block::Raw {
        json: Json::parse(json).unwrap(),
    };
    vec![
        Message::user(vec![Block::text("Umbrella?")]),
        Message {
            origin: origin(protocol),
            ..Message::assistant(vec![
                Block::Thinking {
                    text: "Hm".to_owned(),
                    signature: Some("s".to_owned()),
                    vendor: Json::parse(r#"{"field":"reasoning_content"}"#).ok(),
                },
                Block::RedactedThinking { data: "r".to_owned() },
                Block::text(""),
                Block::Text {
                    text: "Let me see.".to_owned(),
                    purpose: None,
                    vendor: Json::parse(r#"{"citations":[1]}"#).ok(),
                },
                raw(r#"{"type":"mcp_tool_listing","id":"x","big":12345678901234567890}"#),
                call("c1", r#"{"b": 1,"a":2}"#),
                call("c2", "{oops"),
            ])
        },
        Message::user(vec![
            Block::text("Quick!"),
            result("c1", vec![Block::text("rain")]),
            result(
                "c2",
                vec![
                    Block::text("bad JSON"),
                    Block::Media {
                        media_type: "image/png".to_owned(),
                        source: MediaSource::Data("AAAA".to_owned()),
                        name: None,
                        vendor: None,
                    },
                ],
            ),
        ]),
    ]
}

#[test]
fn s002_06_s002_07_s004_22_anthropic_gets_every_block_in_order_and_all_results_before_the_text() {
    let model = model("anthropic", json!({"promptCaching": {"enabled": false}}));
    let body = body(&model, &weather(), &history("anthropic")).unwrap();
    assert_eq!(
        body,
        json!({
            "model": "m", "max_tokens": 8192, "system": "Be brief.", "stream": true,
            "tools": [{"name":"weather","description":"Of a city","input_schema":{"type":"object","z":1,"a":2}}],
            "messages": [
                {"role":"user","content":[{"type":"text","text":"Umbrella?"}]},
                {"role":"assistant","content":[
                    {"type":"thinking","thinking":"Hm","signature":"s","field":"reasoning_content"},
                    {"type":"redacted_thinking","data":"r"},
                    {"type":"text","text":"Let me see.","citations":[1]},
                    {"type":"mcp_tool_listing","id":"x","big":12_345_678_901_234_567_890u64},
                    {"type":"tool_use","id":"c1","name":"weather","input":{"b":1,"a":2}},
                    {"type":"tool_use","id":"c2","name":"weather","input":{"_invalid_json":"{oops"}}
                ]},
                {"role":"user","content":[
                    {"type":"tool_result","tool_use_id":"c1","content":"rain","is_error":false},
                    {"type":"tool_result","tool_use_id":"c2","is_error":true,"content":[
                        {"type":"text","text":"bad JSON"},
                        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}
                    ]},
                    {"type":"text","text":"Quick!"}
                ]}
            ]
        })
    );
}

#[test]
fn s004_18_chat_gets_a_tool_message_per_result_and_then_what_remains() {
    let body = body(
        &model("compatible", json!({})),
        &weather(),
        &history("openai_chat"),
    )
    .unwrap();
    assert_eq!(
        body,
        json!({
            "model": "m", "stream": true, "stream_options": {"include_usage": true},
            "tools": [{"type":"function","function":{"name":"weather","description":"Of a city","parameters":{"type":"object","z":1,"a":2,"properties":{}}}}],
            "messages": [
                {"role":"system","content":"Be brief."},
                {"role":"user","content":"Umbrella?"},
                {"role":"assistant","content":"Let me see.","reasoning_content":"Hm","tool_calls":[
                    {"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"b\": 1,\"a\":2}"}},
                    {"id":"c2","type":"function","function":{"name":"weather","arguments":"{\"_invalid_json\":\"{oops\"}"}}
                ]},
                {"role":"tool","tool_call_id":"c1","content":"rain"},
                {"role":"tool","tool_call_id":"c2","content":"bad JSON"},
                {"role":"user","content":[
                    {"type":"text","text":"Result of tool call c2:"},
                    {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},
                    {"type":"text","text":"Quick!"}
                ]}
            ]
        })
    );
}

#[test]
fn reasoning_and_raw_blocks_of_another_protocol_stay_at_home() {
    let anthropic = body(&model("anthropic", json!({})), &[], &history("openai_chat")).unwrap();
    let types: Vec<&str> = anthropic["messages"][1]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["text", "tool_use", "tool_use"]);
    assert_eq!(anthropic["messages"][1]["content"][0]["citations"], Value::Null);
    assert_eq!(anthropic["tools"], Value::Null);
    let chat = body(&model("openai", json!({})), &[], &history("anthropic")).unwrap();
    assert_eq!(chat["messages"][2]["reasoning_content"], Value::Null);
    assert_eq!(chat["tools"], Value::Null);
}

#[test]
fn a_longer_history_begins_with_the_bytes_of_the_shorter_one() {
    let history = history("anthropic");
    for vendor in ["anthropic", "openai", "custom"] {
        let model = model(vendor, json!({"promptCaching": {"enabled": false}}));
        let (_, protocol) = find(&model).unwrap();
        let spec = RequestSpec {
            model: &model,
            system: Some("s"),
            tools: &[],
            before: None,
            is_digested: false,
            appended: Appended::default(),
            clearing: Clearing::default(),
        };
        let short = text(protocol, &spec, &history[..2]).unwrap();
        let long = text(protocol, &spec, &history).unwrap();
        let common = short.strip_suffix("]}").unwrap();
        assert!(long.starts_with(common), "{vendor}");
    }
}

#[test]
fn messages_without_anything_to_send_are_not_sent() {
    let empty = [
        Message::user(vec![Block::text("hi")]),
        Message {
            origin: origin("anthropic"),
            ..Message::assistant(vec![
                Block::text(" \n"),
                Block::Thinking {
                    text: "t".to_owned(),
                    signature: None,
                    vendor: None,
                },
            ])
        },
        Message::user(vec![]),
    ];
    assert_eq!(
        body(&model("anthropic", json!({})), &[], &empty).unwrap()["messages"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        body(&model("openai", json!({})), &[], &empty[..1]).unwrap()["messages"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn a_server_call_that_an_abort_left_open_is_not_sent() {
    let raw = |json: &str| Block::Raw {
        json: Json::parse(json).unwrap(),
    };
    let content = vec![
        raw(r#"{"type":"server_tool_use","id":"a"}"#),
        raw(r#"{"type":"web_search_tool_result","tool_use_id":"a"}"#),
        raw(r#"{"type":"server_tool_use","id":"b"}"#),
    ];
    let whole = Message {
        origin: origin("anthropic"),
        ..Message::assistant(content)
    };
    let partial = Message {
        partial: true,
        compacted: false,
        ..whole.clone()
    };
    let count = |message: Message| {
        body(&model("anthropic", json!({})), &[], &[message]).unwrap()["messages"][1]["content"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((count(whole), count(partial)), (3, 2));
}

#[test]
fn documents_and_sounds_take_each_protocols_form() {
    let media = |media_type: &str, source: MediaSource| Block::Media {
        media_type: media_type.to_owned(),
        source,
        name: None,
        vendor: None,
    };
    let data = |text: &str| MediaSource::Data(text.to_owned());
    let message = [Message::user(vec![
        media("text/plain", data("R3LDvGV6aSE=")),
        media("application/pdf", data("JVBERg==")),
        media(
            "image/jpeg",
            MediaSource::Url("https://x.example/a.jpg".to_owned()),
        ),
        media("audio/mpeg", data("AAAA")),
    ])];
    let anthropic = body(&model("anthropic", json!({})), &[], &message[..]).unwrap();
    let content = &anthropic["messages"][0]["content"];
    assert_eq!(
        content[0],
        json!({"type":"document","source":{"type":"text","media_type":"text/plain","data":"Grüezi!"}})
    );
    assert_eq!(
        content[1],
        json!({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="}})
    );
    assert_eq!(
        content[2],
        json!({"type":"image","source":{"type":"url","url":"https://x.example/a.jpg"}})
    );
    let chat = body(&model("openai", json!({})), &[], &message[..]).unwrap();
    let content = &chat["messages"][1]["content"];
    assert_eq!(
        content[1],
        json!({"type":"file","file":{"filename":"document","file_data":"data:application/pdf;base64,JVBERg=="}})
    );
    assert_eq!(
        content[2],
        json!({"type":"image_url","image_url":{"url":"https://x.example/a.jpg"}})
    );
    assert_eq!(
        content[3],
        json!({"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}})
    );
}

#[test]
fn options_reach_anthropic_in_its_own_words() {
    let options = json!({
        "thinking": {"budgetTokens": 2000}, "effort": "max", "temperature": 0.70, "topP": 1e-1, "topK": 5, "stream": false,
        "stopSequences": ["a\"b"], "toolChoice": {"tool":"weather"}, "parallelToolCalls": false,
        "body": {"output_config": {"format": {"type":"json_schema"}}, "metadata": {"user_id":"u"}, "top_k": 6}
    });
    let made = body(&model("anthropic", options), &weather(), &[]).unwrap();
    assert_eq!(made["max_tokens"], 10192);
    assert_eq!(made["thinking"], json!({"type":"enabled","budget_tokens":2000}));
    assert_eq!(
        made["output_config"],
        json!({"effort":"max","format":{"type":"json_schema"}})
    );
    assert_eq!(made["stop_sequences"], json!(["a\"b"]));
    assert_eq!(
        made["tool_choice"],
        json!({"type":"tool","name":"weather","disable_parallel_tool_use":true})
    );
    assert_eq!(
        (&made["top_k"], &made["temperature"], &made["stream"]),
        (&json!(6), &json!(0.7), &Value::Null)
    );
    let adaptive = model(
        "anthropic",
        json!({"thinking": {"type":"adaptive"}, "toolChoice": "required"}),
    );
    let made = body(&adaptive, &weather(), &[]).unwrap();
    assert_eq!(
        (&made["thinking"], &made["tool_choice"]),
        (&json!({"type":"adaptive"}), &json!({"type":"any"}))
    );
}

#[test]
fn options_reach_chat_in_its_own_words() {
    let options = json!({
        "maxOutputTokens": 99, "effort": "low", "seed": 7, "stopSequences": ["x"], "toolChoice": "required",
        "parallelToolCalls": false, "body": {"stream_options": null, "seed": 8}
    });
    let made = body(&model("openai", options.clone()), &weather(), &[]).unwrap();
    assert_eq!(
        (&made["max_completion_tokens"], &made["max_tokens"]),
        (&json!(99), &Value::Null)
    );
    assert_eq!(
        (&made["reasoning_effort"], &made["seed"], &made["stop"]),
        (&json!("low"), &json!(8), &json!(["x"]))
    );
    assert_eq!(
        (&made["tool_choice"], &made["parallel_tool_calls"]),
        (&json!("required"), &json!(false))
    );
    assert_eq!(made["stream_options"], Value::Null);
    let made = body(&model("compatible", options), &[], &[]).unwrap();
    assert_eq!(
        (&made["max_tokens"], &made["max_completion_tokens"]),
        (&json!(99), &Value::Null)
    );
    assert_eq!(
        (&made["tool_choice"], &made["parallel_tool_calls"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn an_option_that_cannot_be_sent_is_an_error_that_names_it() {
    let rows = [
        ("anthropic", json!({"seed": 1}), "model.seed"),
        (
            "anthropic",
            json!({"frequencyPenalty": 1}),
            "model.frequencyPenalty",
        ),
        (
            "anthropic",
            json!({"presencePenalty": 1}),
            "model.presencePenalty",
        ),
        ("compatible", json!({"quirks": 1}), "model.quirks"),
        ("anthropic", json!({"thinking": true}), "model.thinking"),
        (
            "anthropic",
            json!({"thinking": {"budgetTokens": 100}, "maxOutputTokens": 100}),
            "model.maxOutputTokens",
        ),
        (
            "anthropic",
            json!({"body": {"messages": []}}),
            "model.body.messages",
        ),
        ("openai", json!({"topK": 1}), "model.topK"),
        (
            "openai",
            json!({"thinking": {"type":"enabled"}}),
            "model.thinking",
        ),
        (
            "compatible",
            json!({"thinking": {"budgetTokens": 1}}),
            "model.thinking.budgetTokens",
        ),
        (
            "compatible",
            json!({"body": {"stream": false}}),
            "model.body.stream",
        ),
        ("custom", json!({"body": [1]}), "model.body"),
        ("compatible", json!({"baseUrl": ""}), "model.baseUrl"),
        ("nobody", json!({}), "model.vendor"),
        ("openai", json!({"protocol": "smoke"}), "model.protocol"),
    ];
    for (vendor, options, field) in rows {
        assert_eq!(body(&model(vendor, options), &[], &[]).unwrap_err().field, field);
    }
}

#[test]
fn a_custom_model_gets_the_neutral_history() {
    let history = history("ndjson");
    let caching = json!({"enabled": true, "key": "k"});
    let format = json!({"name": "n", "schema": {"type": "object"}, "strict": false});
    let options = json!({
        "effort": "low", "promptCaching": caching, "responseFormat": format, "metadata": {"a": "b"},
        "frequencyPenalty": 0.5, "presencePenalty": -1
    });
    let made = body(&model("custom", options), &weather(), &history).unwrap();
    assert_eq!(
        (&made["promptCaching"], &made["responseFormat"]),
        (&caching, &format)
    );
    assert_eq!(
        (&made["metadata"]["a"], &made["frequencyPenalty"]),
        (&json!("b"), &json!(0.5))
    );
    assert_eq!(made["presencePenalty"], -1);
    assert_eq!(made["tools"][0]["inputSchema"]["z"], 1);
    assert_eq!(
        (&made["system"], &made["effort"]),
        (&json!("Be brief."), &json!("low"))
    );
    let back: Vec<Message> = serde_json::from_str(&made["messages"].to_string()).unwrap();
    assert_eq!(back.len(), history.len());
    assert_eq!(back[0], history[0]);
}
