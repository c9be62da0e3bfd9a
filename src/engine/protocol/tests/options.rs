//! Tests of options in the fields in which each server wants them.

use serde_json::{Value, json};

use crate::engine::model::config::ModelConfig;
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::Message;
use crate::engine::protocol::{Appended, Clearing, RequestSpec, find};

fn head(vendor: &str, options: Value) -> Result<Value, ConfigError> {
    let mut config = json!({"vendor": vendor, "model": "m", "baseUrl": "https://x.example", "stream": false});
    for (key, value) in options.as_object().unwrap() {
        config[key] = value.clone();
    }
    let model: ModelConfig = serde_json::from_str(&config.to_string()).unwrap();
    let (_, protocol) = find(&model)?;
    let spec = RequestSpec {
        model: &model,
        system: None,
        tools: &[],
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    let mut head = Vec::new();
    (protocol.encode_head)(&spec, &mut head)?;
    let text = String::from_utf8(head).unwrap() + "]}";
    let mut body: Value = serde_json::from_str(&text).unwrap();
    let fields = body.as_object_mut().unwrap();
    fields.retain(|key, _| !["model", "messages", "max_tokens"].contains(&key.as_str()));
    Ok(body)
}

#[test]
fn an_option_goes_where_a_quirk_says_and_else_where_openai_has_it() {
    let schema = json!({"name": "answer", "schema": {"type": "object"}, "strict": true});
    let format = json!({"schema": {"type": "object"}});
    let rows = [
        (
            json!({}),
            json!({"effort": "low"}),
            json!({"reasoning_effort": "low"}),
        ),
        (
            json!({"effort": {"reasoning": {"effort": "$"}}}),
            json!({"effort": "low"}),
            json!({"reasoning": {"effort": "low"}}),
        ),
        (
            json!({"budgetTokens": {"enable_thinking": true, "thinking_budget": "$"}}),
            json!({"thinking": {"budgetTokens": 7}}),
            json!({"enable_thinking": true, "thinking_budget": 7}),
        ),
        (
            json!({"thinking.disabled": {"chat_template_kwargs": {"enable_thinking": false}}}),
            json!({"thinking": {"type": "disabled"}}),
            json!({"chat_template_kwargs": {"enable_thinking": false}}),
        ),
        (
            json!({"thinking.disabled": {"x": 1}}),
            json!({"thinking": {"type": "enabled", "clear_thinking": false}}),
            json!({"thinking": {"type": "enabled", "clear_thinking": false}}),
        ),
        (
            json!({"seed": "random_seed"}),
            json!({"seed": 3}),
            json!({"random_seed": 3}),
        ),
        (
            json!({}),
            json!({"frequencyPenalty": 0.5, "presencePenalty": -1, "topK": 3, "metadata": {"a": "b"}}),
            json!({"frequency_penalty": 0.5, "presence_penalty": -1, "top_k": 3, "metadata": {"a": "b"}}),
        ),
        (
            json!({}),
            json!({"responseFormat": format}),
            json!({"response_format": {"type": "json_schema", "json_schema": schema}}),
        ),
        (
            json!({"responseFormat": {"response_format": {"type": "json_object"}}}),
            json!({"responseFormat": format}),
            json!({"response_format": {"type": "json_object"}}),
        ),
        (
            json!({}),
            json!({"promptCaching": {"key": "k", "ttl": "24h"}}),
            json!({"prompt_cache_key": "k", "prompt_cache_retention": "24h"}),
        ),
        (
            json!({"promptCaching": {"cache_control": {"type": "ephemeral", "ttl": "$"}}}),
            json!({"promptCaching": {"enabled": true}}),
            json!({"cache_control": {"type": "ephemeral", "ttl": "5m"}}),
        ),
        (
            json!({}),
            json!({"promptCaching": {"enabled": false, "key": "k"}}),
            json!({}),
        ),
        (json!({}), json!({"promptCaching": {"enabled": true}}), json!({})),
        (
            json!({"effort": {"a": "$"}}),
            json!({"effort": "\"$\"", "body": {"b": 1}}),
            json!({"a": "\"$\"", "b": 1}),
        ),
        (
            json!({"effort": {"reasoning": {"effort": "$"}}}),
            json!({"effort": "low", "body": {"reasoning": {"exclude": true}}}),
            json!({"reasoning": {"exclude": true}}),
        ),
    ];
    for (quirks, mut options, expected) in rows {
        options["quirks"] = quirks;
        assert_eq!(
            head("compatible", options.clone()).unwrap(),
            expected,
            "{options}"
        );
    }
}

#[test]
fn the_system_prompt_and_the_stream_take_a_servers_form() {
    let model: ModelConfig = serde_json::from_value(json!({
        "vendor": "compatible", "model": "m", "baseUrl": "https://x.example",
        "quirks": {"systemRole": "developer", "streamUsage": false}
    }))
    .unwrap();
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
    let mut head = Vec::new();
    (protocol.encode_head)(&spec, &mut head).unwrap();
    let head = String::from_utf8(head).unwrap();
    assert!(
        head.ends_with(r#""messages":[{"role":"developer","content":"s"}"#),
        "{head}"
    );
    assert!(
        head.contains(r#""stream":true"#) && !head.contains("stream_options"),
        "{head}"
    );
}

#[test]
fn an_option_that_a_server_has_not_or_wants_twice_in_one_field_is_refused() {
    let both =
        json!({"effort": {"reasoning": {"effort": "$"}}, "budgetTokens": {"reasoning": {"max_tokens": "$"}}});
    let rows = [
        (json!({"topK": false}), json!({"topK": 1}), "model.topK", "body"),
        (
            json!({"effort": false}),
            json!({"effort": "low"}),
            "model.effort",
            "compatible",
        ),
        (
            both,
            json!({"effort": "low", "thinking": {"budgetTokens": 1}}),
            "model.thinking.budgetTokens",
            "only one",
        ),
        (
            json!({"cacheTtl": false}),
            json!({"promptCaching": {"ttl": "1h"}}),
            "model.promptCaching.ttl",
            "no such",
        ),
    ];
    for (quirks, mut options, field, says) in rows {
        options["quirks"] = quirks;
        let error = head("compatible", options).unwrap_err();
        assert_eq!(error.field, field);
        assert!(error.problem.contains(says), "{}", error.problem);
    }
}

#[test]
fn anthropic_takes_a_format_beside_the_effort_and_the_users_metadata() {
    let made = head(
        "anthropic",
        json!({
            "effort": "low", "responseFormat": {"name": "x", "schema": {"type": "object"}, "strict": false},
            "metadata": {"user_id": "u"}, "body": {"output_config": {"task_budget": 1}}
        }),
    )
    .unwrap();
    assert_eq!(
        made,
        json!({
            "output_config": {
                "effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}, "task_budget": 1
            },
            "metadata": {"user_id": "u"}
        })
    );
}

#[test]
fn a_call_gets_the_reasoning_that_a_server_demands() {
    let message = |origin: &str, thinking: bool| -> Message {
        let mut content = vec![json!({"type": "tool_call", "id": "c", "name": "f", "input": {}})];
        if thinking {
            let block = json!({"type": "thinking", "text": "Hm", "vendor": {"field": "reasoning_content"}});
            content.insert(0, block);
        }
        let origin = json!({"protocol": origin, "model": "m"});
        serde_json::from_value(json!({"role": "assistant", "content": content, "origin": origin})).unwrap()
    };
    let sent = |quirks: Value, message: &Message| -> Value {
        let config =
            json!({"vendor": "compatible", "model": "m", "baseUrl": "https://x.example", "quirks": quirks});
        let model: ModelConfig = serde_json::from_value(config).unwrap();
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
        let mut body = Vec::new();
        (protocol.encode_message)(&spec, message, &mut body);
        serde_json::from_slice(&body[1..]).unwrap()
    };
    let demands = json!({"requiredReasoning": "reasoning_content"});
    let rows = [
        (&demands, message("openai_chat", true), json!("Hm")),
        (&demands, message("anthropic", true), json!("Hm")),
        (&demands, message("anthropic", false), json!(" ")),
        (&json!({}), message("openai_chat", true), json!("Hm")),
        (&json!({}), message("anthropic", true), Value::Null),
    ];
    for (quirks, message, reasoning) in rows {
        let sent = sent(quirks.clone(), &message);
        assert_eq!(sent["reasoning_content"], reasoning, "{quirks} {sent}");
    }
}

#[test]
fn a_refusal_of_another_model_is_what_was_said() {
    let config = json!({"vendor": "compatible", "model": "m", "baseUrl": "https://x.example"});
    let model: ModelConfig = serde_json::from_value(config).unwrap();
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
    for (name, content, refusal) in [
        ("m", json!(""), json!("No.")),
        ("other", json!("No."), Value::Null),
    ] {
        let message: Message = serde_json::from_value(json!({
            "role": "assistant", "content": [{"type": "refusal", "text": "No."}],
            "origin": {"protocol": "openai_chat", "model": name}
        }))
        .unwrap();
        let mut body = Vec::new();
        (protocol.encode_message)(&spec, &message, &mut body);
        let sent: Value = serde_json::from_slice(&body[1..]).unwrap();
        assert_eq!((&sent["content"], &sent["refusal"]), (&content, &refusal));
    }
}

#[test]
fn a_vendor_of_the_face_needs_its_url_and_its_protocol() {
    let model = |fields: Value| -> ModelConfig {
        let mut config = json!({"vendor": "groq", "model": "m"});
        for (key, value) in fields.as_object().unwrap() {
            config[key] = value.clone();
        }
        serde_json::from_value(config).unwrap()
    };
    let (url, protocol) = (json!("https://x.example"), json!("openai_chat"));
    let reached = model(json!({"protocol": protocol, "baseUrl": url}));
    let (row, spoken) = find(&reached).unwrap();
    assert_eq!((row.name, spoken.name), ("compatible", "openai_chat"));
    for lacking in [json!({"baseUrl": url}), json!({"protocol": protocol})] {
        assert_eq!(find(&model(lacking)).err().unwrap().field, "model.vendor");
    }
}
