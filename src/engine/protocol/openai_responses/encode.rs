//! Writes the head of a Responses request: every field except the items.
//!
//! The model call encodes it again for each request. Objects of the configuration's `body` are merged over looplet's
//! own and win. An option that Responses lacks is a [`ConfigError`] with its path.

use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_any, push_comma, push_flag, push_key, push_raw, push_text};
use crate::engine::model::config::{ModelConfig, ResponseFormat, ToolChoice, ToolConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::Json;
use crate::engine::protocol::RequestSpec;
use crate::engine::protocol::openai_parts::push_tool_choice;
use crate::engine::protocol::openai_responses::NAME;
use crate::engine::protocol::request::accepts::OPENAI_RESPONSES;
use crate::engine::protocol::request::body_fields::BodyFields;
use crate::engine::protocol::request::message_parts::push_tool;
use crate::engine::protocol::request::sampling::{Names, check_sampling, check_ttl, push_sampling};

const SAMPLING: &Names = &["temperature", "top_p", "", "", "", ""];

/// Writes `{…,"input":[`.
pub fn encode_head(spec: &RequestSpec<'_>, into: &mut Vec<u8>) -> Result<(), ConfigError> {
    let model = spec.model;
    let fields = BodyFields::new(model.body.as_ref(), "input")?;
    check(model)?;
    into.push(b'{');
    fields.text(into, "model", &model.model);
    if let Some(system) = spec.system.filter(|system| !system.trim().is_empty()) {
        fields.text(into, "instructions", system);
    }
    if let Some(tokens) = model.max_output_tokens {
        fields.number(into, "max_output_tokens", tokens);
    }
    fields.tools(into, tools(spec));
    if spec.has_tools(NAME) || fields.has("tools") {
        match spec.appended.offered {
            Some(offered) => push_allowed_tools(offered, spec, &fields, into),
            None => push_tool_choice(model, &fields, false, into),
        }
        if let Some(parallel) = model.parallel_tool_calls
            && fields.key(into, "parallel_tool_calls")
        {
            into.extend_from_slice(if parallel { b"true" } else { b"false" });
        }
    }
    push_reasoning(spec, &fields, into);
    push_text_options(spec, &fields, into);
    push_sampling(&fields, model, SAMPLING, into);
    fields.json(into, "metadata", model.metadata.as_ref());
    push_caching(model, &fields, into);
    // An answer that continues without a connection must be stored.
    fields.raw(into, "store", if is_background(model) { "true" } else { "false" });
    if encrypts_reasoning(&model.model) {
        fields.raw(into, "include", r#"["reasoning.encrypted_content"]"#);
    }
    if model.stream {
        fields.raw(into, "stream", "true");
    }
    fields.finish(into, &["reasoning", "text", "tools"]);
    push_key(into, "input");
    into.push(b'[');
    Ok(())
}

/// True for a request with `background`: <https://platform.openai.com/docs/guides/background> (2026-11-23).
pub fn is_background(model: &ModelConfig) -> bool {
    let body = model.body.as_ref().and_then(|json| Object::parse(json.as_str()));
    body.is_some_and(|body| body.get("background") == Some("true"))
}

/// Closes the body.
pub fn encode_tail(_spec: &RequestSpec<'_>, into: &mut Vec<u8>) {
    into.extend_from_slice(b"]}");
}

/// Refuses options that have no field here.
fn check(model: &ModelConfig) -> Result<(), ConfigError> {
    let absent = "has no counterpart in OpenAI Responses: leave it out, or use protocol \"openai_chat\"";
    check_sampling(model, SAMPLING, absent)?;
    if !model.stop_sequences.is_empty() {
        return Err(ConfigError::new("model.stopSequences", absent));
    }
    let thinking = model.thinking.as_ref().map(|json| Object::parse(json.as_str()));
    let foreign = |object: &Object<'_>| {
        ["type", "budgetTokens"]
            .iter()
            .any(|key| object.last(key).is_some())
    };
    if thinking.is_some_and(|object| object.is_none_or(|object| foreign(&object))) {
        return Err(ConfigError::new(
            "model.thinking",
            "must be fields of Responses' reasoning, for example { summary: \"auto\" }; how much is effort",
        ));
    }
    check_ttl(
        model,
        ["in_memory", "24h"],
        "must be \"in_memory\" or \"24h\" in OpenAI Responses",
    )
}

/// True when the model may be asked for encrypted reasoning. Models that do not reason refuse it: `Encrypted content
/// is not supported with this model`. <https://github.com/pydantic/pydantic-ai/issues/2865> and 3326 there
/// (2026-11-21). `body: { include: null }` leaves it out for others.
fn encrypts_reasoning(model: &str) -> bool {
    let without = ["gpt-4", "gpt-3", "chat"];
    without.iter().all(|part| !model.contains(part))
}

/// The list of tools, without its closing bracket.
fn tools(spec: &RequestSpec<'_>) -> Vec<u8> {
    let mut list = b"[".to_vec();
    for (tool, entry) in spec.declared(NAME) {
        push_comma(&mut list);
        match entry {
            Some(entry) => list.extend_from_slice(entry.as_bytes()),
            None => push_declaration(tool, &mut list),
        }
    }
    if let Some(search) = spec.search_entry(NAME) {
        push_comma(&mut list);
        list.extend_from_slice(search.as_bytes());
    }
    list
}

/// Writes a tool.
pub fn push_declaration(tool: &ToolConfig, into: &mut Vec<u8>) {
    into.extend_from_slice(br#"{"type":"function""#);
    push_tool(tool, "parameters", &OPENAI_RESPONSES, into);
    // The API's default is true, which rejects schemas with optional fields.
    push_flag(into, "strict", tool.strict);
    if tool.defer_loading {
        push_flag(into, "defer_loading", true);
    }
    into.push(b'}');
}

/// Writes a choice of tools out of more that are declared.
/// <https://platform.openai.com/docs/guides/function-calling#allowed-tools> (2026-11-28)
fn push_allowed_tools(
    offered: &[ToolConfig],
    spec: &RequestSpec<'_>,
    fields: &BodyFields<'_>,
    into: &mut Vec<u8>,
) {
    let model = spec.model;
    let is_open = matches!(
        model.tool_choice,
        None | Some(ToolChoice::Auto | ToolChoice::Required)
    );
    if offered.is_empty() || !is_open {
        let choice = match offered.is_empty() {
            true => Some(ToolChoice::None),
            false => model.tool_choice.clone(),
        };
        let model = &ModelConfig {
            tool_choice: choice,
            ..model.clone()
        };
        return push_tool_choice(model, fields, false, into);
    }
    if !fields.key(into, "tool_choice") {
        return;
    }
    into.extend_from_slice(br#"{"type":"allowed_tools""#);
    let is_required = model.tool_choice == Some(ToolChoice::Required);
    push_text(into, "mode", if is_required { "required" } else { "auto" });
    push_key(into, "tools");
    into.push(b'[');
    let offered = RequestSpec {
        tools: offered,
        ..*spec
    };
    for (tool, entry) in offered.declared(NAME) {
        push_comma(into);
        match entry.and_then(Object::parse) {
            Some(entry) => push_choice_of(&entry, into),
            None => {
                into.extend_from_slice(br#"{"type":"function""#);
                push_text(into, "name", &OPENAI_RESPONSES.tool_name(&tool.name));
                into.push(b'}');
            }
        }
    }
    if let Some(search) = offered.search_entry(NAME) {
        push_comma(into);
        into.extend_from_slice(search.as_bytes());
    }
    into.extend_from_slice(b"]}");
}

/// Writes a vendor's tool in a choice: its type, and the name or the server where there are several.
fn push_choice_of(entry: &Object<'_>, into: &mut Vec<u8>) {
    into.extend_from_slice(br#"{"type":"#);
    into.extend_from_slice(entry.get("type").unwrap_or("null").as_bytes());
    for field in ["name", "server_label"] {
        if let Some(value) = entry.get(field) {
            push_raw(into, field, value);
        }
    }
    into.push(b'}');
}

/// Writes the key of the cache. The API caches automatically, and a key selects the same cache.
/// <https://platform.openai.com/docs/guides/prompt-caching> (2026-11-21)
fn push_caching(model: &ModelConfig, fields: &BodyFields<'_>, into: &mut Vec<u8>) {
    let caching = &model.prompt_caching;
    let rows = [
        ("prompt_cache_key", &caching.key),
        ("prompt_cache_retention", &caching.ttl),
    ];
    for (field, value) in rows {
        if let Some(value) = value
            && caching.enabled != Some(false)
        {
            fields.text(into, field, value);
        }
    }
}

fn push_reasoning(spec: &RequestSpec<'_>, fields: &BodyFields<'_>, into: &mut Vec<u8>) {
    let thinking = spec
        .model
        .thinking
        .as_ref()
        .and_then(|json| Object::parse(json.as_str()));
    let effort = spec.effort().map(Json::string);
    let mut ours = Vec::new();
    if let Some(effort) = &effort {
        ours.push(("effort", effort.as_str()));
    }
    if let Some(thinking) = &thinking {
        for (key, value) in thinking.fields() {
            if key != "effort" || effort.is_none() {
                ours.push((key, value));
            }
        }
    }
    push_merged(fields, "reasoning", &ours, into);
}

/// Writes a format of answers; `None` is text.
pub fn push_format(format: Option<&ResponseFormat>, into: &mut Vec<u8>) {
    let Some(format) = format else {
        return into.extend_from_slice(br#"{"type":"text"}"#);
    };
    into.extend_from_slice(br#"{"type":"json_schema""#);
    push_text(into, "name", &format.name);
    push_raw(into, "schema", format.schema.as_str());
    push_flag(into, "strict", format.strict);
    into.push(b'}');
}

fn push_text_options(spec: &RequestSpec<'_>, fields: &BodyFields<'_>, into: &mut Vec<u8>) {
    let format = spec.format(push_format);
    let format = format.as_ref().map(|format| ("format", format.as_str()));
    push_merged(fields, "text", format.as_slice(), into);
}

/// Writes an object of our fields and the fields of `body`, which override them.
fn push_merged(fields: &BodyFields<'_>, key: &str, ours: &[(&str, &str)], into: &mut Vec<u8>) {
    let over = fields.over(key);
    let Some(object) = over.map_or(Some(Object::default()), Object::parse) else {
        // A null removes the field. A value that is not an object is sent as it is.
        if let Some(json) = over {
            push_raw(into, key, json);
        }
        return;
    };
    if (over.is_none() && fields.has(key)) || (over.is_none() && ours.is_empty()) {
        return;
    }
    push_key(into, key);
    into.push(b'{');
    for (key, value) in ours {
        if *value != "null" && object.last(key).is_none() {
            push_any(into, key, value);
        }
    }
    for (key, value) in object.fields() {
        if value != "null" {
            push_any(into, key, value);
        }
    }
    into.push(b'}');
}
