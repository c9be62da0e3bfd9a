//! Writes the head of a Chat Completions request: every field except the messages, and the system message.
//!
//! Options are where OpenAI's documentation has them, unless a quirk of the server says otherwise: see
//! [`crate::engine::protocol::quirks`]. The model call encodes the head again for each request. Fields of the
//! configuration's `body` override it. An option that the server does not have is a [`ConfigError`] with its path.

use looplet_scan::reader::{Object, string};

use crate::engine::json::writer::{
    decimal_u64, push_comma, push_flag, push_key, push_raw, push_text, written,
};
use crate::engine::model::config::{ModelConfig, ResponseFormat};
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::Json;
use crate::engine::protocol::RequestSpec;
use crate::engine::protocol::openai_chat::NAME;
use crate::engine::protocol::openai_parts::push_tool_choice;
use crate::engine::protocol::quirks::Quirks;
use crate::engine::protocol::request::accepts::OPENAI_CHAT;
use crate::engine::protocol::request::body_fields::BodyFields;
use crate::engine::protocol::request::message_parts::push_tool;
use crate::engine::protocol::request::sampling::{Names, OPTIONS, values};

/// Writes `{…,"messages":[` and the system message.
pub fn encode_head(spec: &RequestSpec<'_>, into: &mut Vec<u8>) -> Result<(), ConfigError> {
    let model = spec.model;
    let fields = BodyFields::new(model.body.as_ref(), "messages")?;
    let mut quirks = Quirks::new(model, &fields)?;
    into.push(b'{');
    fields.text(into, "model", &model.model);
    let tokens = model.max_output_tokens.map(decimal_u64);
    quirks.push(into, "maxOutputTokens", "max_tokens", tokens.as_deref())?;
    fields.tools(into, tools(spec));
    if spec.has_tools(NAME) || fields.has("tools") {
        push_tool_choice(model, &fields, true, into);
        let parallel = model
            .parallel_tool_calls
            .map(|parallel| if parallel { "true" } else { "false" });
        quirks.push(into, "parallelToolCalls", "parallel_tool_calls", parallel)?;
    }
    push_reasoning(model, &mut quirks, into)?;
    push_sampling(model, &mut quirks, &fields, into)?;
    if let Some(format) = &model.response_format {
        push_response_format(format, &mut quirks, into)?;
    }
    push_caching(model, &mut quirks, into)?;
    quirks.push(
        into,
        "metadata",
        "metadata",
        model.metadata.as_ref().map(Json::as_str),
    )?;
    if model.stream {
        fields.raw(into, "stream", "true");
        if quirks.get("streamUsage") != Some("false") {
            fields.raw(into, "stream_options", r#"{"include_usage":true}"#);
        }
    }
    fields.finish(into, &["tools"]);
    push_key(into, "messages");
    into.push(b'[');
    if let Some(system) = spec.system.filter(|system| !system.trim().is_empty()) {
        into.push(b'{');
        let role = quirks.get("systemRole").and_then(string);
        push_text(into, "role", role.as_deref().unwrap_or("system"));
        push_text(into, "content", system);
        into.push(b'}');
    }
    Ok(())
}

/// Closes the body.
pub fn encode_tail(_spec: &RequestSpec<'_>, into: &mut Vec<u8>) {
    into.extend_from_slice(b"]}");
}

/// Writes the options of reasoning. `thinking` is `{ budgetTokens }`, which few servers have, or an object with a
/// `type`. Such an object is sent unchanged, unless a quirk names the server's own switch.
fn push_reasoning(
    model: &ModelConfig,
    quirks: &mut Quirks<'_>,
    into: &mut Vec<u8>,
) -> Result<(), ConfigError> {
    let effort = model.effort.as_deref().map(Json::string);
    quirks.push(
        into,
        "effort",
        "reasoning_effort",
        effort.as_ref().map(Json::as_str),
    )?;
    let Some(thinking) = &model.thinking else {
        return Ok(());
    };
    let object = Object::parse(thinking.as_str());
    let kind = object.as_ref().and_then(|object| object.string("type"));
    let budget = object.as_ref().and_then(|object| object.number("budgetTokens"));
    match (kind, budget) {
        (Some(kind), _) => {
            let option = format!("thinking.{kind}");
            let option = if quirks.get(&option).is_some() {
                &option
            } else {
                "thinking"
            };
            quirks.push(into, option, "thinking", Some(thinking.as_str()))
        }
        (None, Some(tokens)) => quirks.push(into, "budgetTokens", "", Some(&decimal_u64(tokens))),
        (None, None) => Err(ConfigError::new(
            "model.thinking",
            "must be { budgetTokens: n } or the server's own object with a type, for example { type: \"enabled\" }",
        )),
    }
}

const SAMPLING: &Names = &[
    "temperature",
    "top_p",
    "top_k",
    "frequency_penalty",
    "presence_penalty",
    "seed",
];

fn push_sampling(
    model: &ModelConfig,
    quirks: &mut Quirks<'_>,
    fields: &BodyFields<'_>,
    into: &mut Vec<u8>,
) -> Result<(), ConfigError> {
    for (at, value) in values(model).into_iter().enumerate() {
        let name = |names: &Names| names.get(at).copied().unwrap_or_default();
        quirks.push(into, name(&OPTIONS), name(SAMPLING), value.map(Json::as_str))?;
    }
    fields.texts(into, "stop", &model.stop_sequences);
    Ok(())
}

/// <https://platform.openai.com/docs/guides/structured-outputs> (2026-11-21)
fn push_response_format(
    format: &ResponseFormat,
    quirks: &mut Quirks<'_>,
    into: &mut Vec<u8>,
) -> Result<(), ConfigError> {
    let mut schema = b"{".to_vec();
    push_text(&mut schema, "name", &format.name);
    push_raw(&mut schema, "schema", format.schema.as_str());
    push_flag(&mut schema, "strict", format.strict);
    schema.push(b'}');
    let schema = written(schema);
    if quirks.get("responseFormat").is_some() {
        return quirks.push(into, "responseFormat", "", Some(&schema));
    }
    let whole = format!("{{\"type\":\"json_schema\",\"json_schema\":{schema}}}");
    quirks.push(into, "responseFormat", "response_format", Some(&whole))
}

/// Writes the options of caching. Most servers cache automatically, and a key selects the same cache. Markers are
/// possible only if a quirk defines them. <https://platform.openai.com/docs/guides/prompt-caching> (2026-11-21)
fn push_caching(model: &ModelConfig, quirks: &mut Quirks<'_>, into: &mut Vec<u8>) -> Result<(), ConfigError> {
    let caching = &model.prompt_caching;
    if caching.enabled == Some(false) {
        return Ok(());
    }
    let key = caching.key.as_deref().map(Json::string);
    quirks.push(
        into,
        "cacheKey",
        "prompt_cache_key",
        key.as_ref().map(Json::as_str),
    )?;
    let ttl = caching.ttl.as_deref().map(Json::string);
    let ttl = ttl.as_ref().map(Json::as_str);
    if caching.enabled == Some(true) && quirks.get("promptCaching").is_some() {
        return quirks.push(into, "promptCaching", "", Some(ttl.unwrap_or("\"5m\"")));
    }
    quirks.push(into, "cacheTtl", "prompt_cache_retention", ttl)
}

/// The list of tools, without its closing bracket.
fn tools(spec: &RequestSpec<'_>) -> Vec<u8> {
    let mut list = b"[".to_vec();
    for (tool, entry) in spec.declared(NAME) {
        push_comma(&mut list);
        if let Some(entry) = entry {
            list.extend_from_slice(entry.as_bytes());
            continue;
        }
        list.extend_from_slice(br#"{"type":"function","function":{"#);
        push_tool(tool, "parameters", &OPENAI_CHAT, &mut list);
        if tool.strict {
            push_flag(&mut list, "strict", true);
        }
        list.extend_from_slice(b"}}");
    }
    list
}
