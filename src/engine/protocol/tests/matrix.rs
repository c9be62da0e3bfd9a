//! Tests of every option in every protocol: the fields that it adds or changes in a request, or the error that names
//! it.

use serde_json::{Map, Value, json};

use crate::engine::agent::history::body::Body;
use crate::engine::model::config::{ModelConfig, ToolConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::protocol::{Appended, Clearing, RequestSpec, find};

/// The columns of the table.
const PROTOCOLS: [(&str, &str); 6] = [
    ("anthropic", "claude-sonnet-4-6"),
    ("openai_chat", "m"),
    ("openai_responses", "gpt-5"),
    ("gemini", "gemini-3-pro"),
    ("bedrock_converse", "us.anthropic.claude-sonnet-4-6-v1:0"),
    ("ndjson", "m"),
];

/// An option and its effect in each protocol: fields, or `!` and the field of the error.
type Row = (&'static str, [&'static str; 6]);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (
        r#"{"maxOutputTokens":99}"#,
        [
            r#"{"max_tokens":99}"#,
            r#"{"max_tokens":99}"#,
            r#"{"max_output_tokens":99}"#,
            r#"{"generationConfig":{"maxOutputTokens":99}}"#,
            r#"{"inferenceConfig":{"maxTokens":99}}"#,
            r#"{"maxOutputTokens":99}"#,
        ],
    ),
    (
        r#"{"temperature":0.5}"#,
        [
            r#"{"temperature":0.5}"#,
            r#"{"temperature":0.5}"#,
            r#"{"temperature":0.5}"#,
            r#"{"generationConfig":{"temperature":0.5}}"#,
            r#"{"inferenceConfig":{"temperature":0.5}}"#,
            r#"{"temperature":0.5}"#,
        ],
    ),
    (
        r#"{"topP":0.9}"#,
        [
            r#"{"top_p":0.9}"#,
            r#"{"top_p":0.9}"#,
            r#"{"top_p":0.9}"#,
            r#"{"generationConfig":{"topP":0.9}}"#,
            r#"{"inferenceConfig":{"topP":0.9}}"#,
            r#"{"topP":0.9}"#,
        ],
    ),
    (
        r#"{"topK":5}"#,
        [
            r#"{"top_k":5}"#,
            r#"{"top_k":5}"#,
            r#"!model.topK"#,
            r#"{"generationConfig":{"topK":5}}"#,
            r#"{"additionalModelRequestFields":{"top_k":5}}"#,
            r#"{"topK":5}"#,
        ],
    ),
    (
        r#"{"seed":7}"#,
        [
            r#"!model.seed"#,
            r#"{"seed":7}"#,
            r#"!model.seed"#,
            r#"{"generationConfig":{"seed":7}}"#,
            r#"!model.seed"#,
            r#"{"seed":7}"#,
        ],
    ),
    (
        r#"{"frequencyPenalty":0.1}"#,
        [
            r#"!model.frequencyPenalty"#,
            r#"{"frequency_penalty":0.1}"#,
            r#"!model.frequencyPenalty"#,
            r#"{"generationConfig":{"frequencyPenalty":0.1}}"#,
            r#"!model.frequencyPenalty"#,
            r#"{"frequencyPenalty":0.1}"#,
        ],
    ),
    (
        r#"{"presencePenalty":0.2}"#,
        [
            r#"!model.presencePenalty"#,
            r#"{"presence_penalty":0.2}"#,
            r#"!model.presencePenalty"#,
            r#"{"generationConfig":{"presencePenalty":0.2}}"#,
            r#"!model.presencePenalty"#,
            r#"{"presencePenalty":0.2}"#,
        ],
    ),
    (
        r#"{"stopSequences":["x"]}"#,
        [
            r#"{"stop_sequences":["x"]}"#,
            r#"{"stop":["x"]}"#,
            r#"!model.stopSequences"#,
            r#"{"generationConfig":{"stopSequences":["x"]}}"#,
            r#"{"inferenceConfig":{"stopSequences":["x"]}}"#,
            r#"{"stopSequences":["x"]}"#,
        ],
    ),
    (
        r#"{"effort":"low"}"#,
        [
            r#"{"output_config":{"effort":"low"}}"#,
            r#"{"reasoning_effort":"low"}"#,
            r#"{"reasoning":{"effort":"low"}}"#,
            r#"{"generationConfig":{"thinkingConfig":{"thinkingLevel":"low"}}}"#,
            r#"{"outputConfig":{"effort":"low"}}"#,
            r#"{"effort":"low"}"#,
        ],
    ),
    (
        r#"{"thinking":{"budgetTokens":2000}}"#,
        [
            r#"{"max_tokens":10192,"thinking":{"type":"enabled","budget_tokens":2000}}"#,
            r#"!model.thinking.budgetTokens"#,
            r#"!model.thinking"#,
            r#"{"generationConfig":{"thinkingConfig":{"thinkingBudget":2000,"includeThoughts":true}}}"#,
            r#"{"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2000}}}"#,
            r#"{"thinking":{"budgetTokens":2000}}"#,
        ],
    ),
    (
        r#"{"thinking":{"type":"disabled"}}"#,
        [
            r#"{"thinking":{"type":"disabled"}}"#,
            r#"{"thinking":{"type":"disabled"}}"#,
            r#"!model.thinking"#,
            r#"!model.thinking"#,
            r#"{"additionalModelRequestFields":{"thinking":{"type":"disabled"}}}"#,
            r#"{"thinking":{"type":"disabled"}}"#,
        ],
    ),
    (
        r#"{"toolChoice":"auto"}"#,
        [
            r#"{"tool_choice":{"type":"auto"}}"#,
            r#"{"tool_choice":"auto"}"#,
            r#"{"tool_choice":"auto"}"#,
            r#"{"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}}"#,
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"add","description":"Adds","inputSchema":{"json":{"type":"object"}}}},{"cachePoint":{"type":"default"}}],"toolChoice":{"auto":{}}}}"#,
            r#"{"toolChoice":"auto"}"#,
        ],
    ),
    (
        r#"{"toolChoice":"none"}"#,
        [
            r#"{"tool_choice":{"type":"none"}}"#,
            r#"{"tool_choice":"none"}"#,
            r#"{"tool_choice":"none"}"#,
            r#"{"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}"#,
            r#"{"toolConfig":"gone"}"#,
            r#"{"toolChoice":"none"}"#,
        ],
    ),
    (
        r#"{"toolChoice":"required"}"#,
        [
            r#"{"tool_choice":{"type":"any"}}"#,
            r#"{"tool_choice":"required"}"#,
            r#"{"tool_choice":"required"}"#,
            r#"{"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}"#,
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"add","description":"Adds","inputSchema":{"json":{"type":"object"}}}},{"cachePoint":{"type":"default"}}],"toolChoice":{"any":{}}}}"#,
            r#"{"toolChoice":"required"}"#,
        ],
    ),
    (
        r#"{"toolChoice":{"tool":"add"}}"#,
        [
            r#"{"tool_choice":{"type":"tool","name":"add"}}"#,
            r#"{"tool_choice":{"type":"function","function":{"name":"add"}}}"#,
            r#"{"tool_choice":{"type":"function","name":"add"}}"#,
            r#"{"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["add"]}}}"#,
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"add","description":"Adds","inputSchema":{"json":{"type":"object"}}}},{"cachePoint":{"type":"default"}}],"toolChoice":{"tool":{"name":"add"}}}}"#,
            r#"{"toolChoice":{"tool":"add"}}"#,
        ],
    ),
    (
        r#"{"parallelToolCalls":false}"#,
        [
            r#"{"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}"#,
            r#"{"parallel_tool_calls":false}"#,
            r#"{"parallel_tool_calls":false}"#,
            r#"!model.parallelToolCalls"#,
            r#"{"additionalModelRequestFields":{"tool_choice":{"disable_parallel_tool_use":true,"type":"auto"}}}"#,
            r#"{"parallelToolCalls":false}"#,
        ],
    ),
    (
        r#"{"parallelToolCalls":true}"#,
        [
            r#"{}"#,
            r#"{"parallel_tool_calls":true}"#,
            r#"{"parallel_tool_calls":true}"#,
            r#"{}"#,
            r#"{}"#,
            r#"{"parallelToolCalls":true}"#,
        ],
    ),
    (
        r#"{"responseFormat":{"name":"n","schema":{"type":"object"},"strict":true}}"#,
        [
            r#"{"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}"#,
            r#"{"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"},"strict":true}}}"#,
            r#"{"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true}}}"#,
            r#"{"generationConfig":{"responseJsonSchema":{"type":"object"},"responseMimeType":"application/json"}}"#,
            r#"{"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"name":"n","schema":"{\"type\":\"object\"}"}}}}}"#,
            r#"{"responseFormat":{"name":"n","schema":{"type":"object"},"strict":true}}"#,
        ],
    ),
    (
        r#"{"responseFormat":{"name":"n","schema":{"type":"object"},"strict":false}}"#,
        [
            r#"{"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}"#,
            r#"{"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"},"strict":false}}}"#,
            r#"{"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":false}}}"#,
            r#"{"generationConfig":{"responseJsonSchema":{"type":"object"},"responseMimeType":"application/json"}}"#,
            r#"{"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"name":"n","schema":"{\"type\":\"object\"}"}}}}}"#,
            r#"{"responseFormat":{"name":"n","schema":{"type":"object"},"strict":false}}"#,
        ],
    ),
    (
        r#"{"promptCaching":{"enabled":true}}"#,
        [
            r#"{"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"add","description":"Adds","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}]}"#,
            r#"{}"#,
            r#"{}"#,
            r#"{}"#,
            r#"{}"#,
            r#"{"promptCaching":{"enabled":true}}"#,
        ],
    ),
    (
        r#"{"promptCaching":{"enabled":true,"ttl":"1h"}}"#,
        [
            r#"{"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}],"tools":[{"name":"add","description":"Adds","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral","ttl":"1h"}}]}"#,
            r#"{"prompt_cache_retention":"1h"}"#,
            r#"!model.promptCaching.ttl"#,
            r#"{}"#,
            r#"{"system":[{"text":"s"},{"cachePoint":{"type":"default","ttl":"1h"}}],"toolConfig":{"tools":[{"toolSpec":{"name":"add","description":"Adds","inputSchema":{"json":{"type":"object"}}}},{"cachePoint":{"type":"default","ttl":"1h"}}]}}"#,
            r#"{"promptCaching":{"enabled":true,"ttl":"1h"}}"#,
        ],
    ),
    (
        r#"{"promptCaching":{"key":"k"}}"#,
        [
            r#"{}"#,
            r#"{"prompt_cache_key":"k"}"#,
            r#"{"prompt_cache_key":"k"}"#,
            r#"{}"#,
            r#"{}"#,
            r#"{"promptCaching":{"key":"k"}}"#,
        ],
    ),
    (
        r#"{"metadata":{"user_id":"u"}}"#,
        [
            r#"{"metadata":{"user_id":"u"}}"#,
            r#"{"metadata":{"user_id":"u"}}"#,
            r#"{"metadata":{"user_id":"u"}}"#,
            r#"!model.metadata"#,
            r#"{"requestMetadata":{"user_id":"u"}}"#,
            r#"{"metadata":{"user_id":"u"}}"#,
        ],
    ),
    (
        r#"{"stream":false}"#,
        [
            r#"{"stream":"gone"}"#,
            r#"{"stream":"gone","stream_options":"gone"}"#,
            r#"{"stream":"gone"}"#,
            r#"{}"#,
            r#"{}"#,
            r#"{}"#,
        ],
    ),
    (
        r#"{"body":{"further":{"a":1}}}"#,
        [
            r#"{"further":{"a":1}}"#,
            r#"{"further":{"a":1}}"#,
            r#"{"further":{"a":1}}"#,
            r#"{"further":{"a":1}}"#,
            r#"{"further":{"a":1}}"#,
            r#"{"further":{"a":1}}"#,
        ],
    ),
];

#[test]
fn every_option_reaches_every_protocol_or_is_refused_by_its_name() {
    let mut problems = Vec::new();
    for (options, expected) in ROWS {
        for ((protocol, name), expected) in PROTOCOLS.iter().zip(expected) {
            let made = match added(protocol, name, options) {
                Ok(fields) => Value::Object(fields).to_string(),
                Err(error) => ["!", &error.field].concat(),
            };
            if made != *expected {
                problems.push(format!("{options} in {protocol}: {made}"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The fields of a body that differ from a body without the options.
fn added(protocol: &str, name: &str, options: &str) -> Result<Map<String, Value>, ConfigError> {
    let without = body(protocol, name, "{}")?;
    let mut with = body(protocol, name, options)?;
    for key in without
        .keys()
        .filter(|key| !with.contains_key(*key))
        .collect::<Vec<_>>()
    {
        with.insert(key.clone(), json!("gone"));
    }
    with.retain(|key, value| without.get(key) != Some(value));
    Ok(with)
}

fn body(protocol: &str, name: &str, options: &str) -> Result<Map<String, Value>, ConfigError> {
    let mut config =
        json!({"vendor": "compatible", "protocol": protocol, "model": name, "baseUrl": "https://x.example"});
    for (key, value) in serde_json::from_str::<Map<String, Value>>(options).unwrap() {
        config[key] = value;
    }
    let model: ModelConfig = serde_json::from_value(config).unwrap();
    let tool: ToolConfig =
        serde_json::from_str(r#"{"name":"add","description":"Adds","inputSchema":{"type":"object"}}"#)
            .unwrap();
    let spec = RequestSpec {
        model: &model,
        system: Some("s"),
        tools: &[tool],
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    let (_, protocol) = find(&model)?;
    let body = Body::whole(protocol, &spec, &[])?;
    Ok(serde_json::from_slice(&body).unwrap())
}
