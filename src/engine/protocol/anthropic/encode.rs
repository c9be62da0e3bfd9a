//! Writes the head of a request to Anthropic: every field except the messages.
//!
//! A model call encodes it again for each request, because tools and options may change. Fields that the
//! configuration's `body` has win over looplet's own. A configuration that Anthropic cannot express is a
//! [`ConfigError`] with the option's path.

use looplet_scan::reader::Object;

use crate::engine::json::writer::{
    push_comma, push_flag, push_key, push_number, push_others, push_raw, push_text,
};
use crate::engine::model::config::{ModelConfig, ToolChoice, ToolConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::policy::models::options::default_output_tokens;
use crate::engine::policy::models::row;
use crate::engine::protocol::RequestSpec;
use crate::engine::protocol::anthropic::NAME;
use crate::engine::protocol::anthropic::clearing::push as push_clearing;
use crate::engine::protocol::anthropic::server_calls::container;
use crate::engine::protocol::anthropic::thread;
use crate::engine::protocol::request::accepts::ANTHROPIC;
use crate::engine::protocol::request::body_fields::BodyFields;
use crate::engine::protocol::request::message_parts::push_tool;
use crate::engine::protocol::request::sampling::{Names, check_sampling, check_ttl, push_sampling};
use crate::engine::protocol::vertex::is_vertex;

const SAMPLING: &Names = &["temperature", "top_p", "top_k", "", "", ""];

/// Writes `{…,"messages":[`.
pub fn encode_head(spec: &RequestSpec<'_>, into: &mut Vec<u8>) -> Result<(), ConfigError> {
    let model = spec.model;
    let fields = BodyFields::new(model.body.as_ref(), "messages")?;
    if fields.has("compaction") {
        return Err(ConfigError::new(
            "model.body.compaction",
            "would summarise at every request: use run.compact(), chat.compact() or context.compaction",
        ));
    }
    check_sampling(
        model,
        SAMPLING,
        "Anthropic Messages has no such option: leave it out",
    )?;
    let thinking = model
        .thinking
        .as_ref()
        .map(|json| thinking(json.as_str()))
        .transpose()?;
    check_ttl(model, ["5m", "1h"], "must be \"5m\" or \"1h\"")?;
    into.push(b'{');
    if is_vertex(model) {
        fields.text(into, "anthropic_version", "vertex-2023-10-16");
    } else {
        fields.text(into, "model", &model.model);
    }
    fields.number(into, "max_tokens", max_tokens(model, thinking.as_ref(), &fields)?);
    if let Some(system) = spec.system.filter(|system| !system.trim().is_empty()) {
        push_system(spec, system, &fields, into);
    }
    fields.tools(into, tools(spec));
    push_tool_choice(spec, &fields, into);
    if let Some(thinking) = &thinking
        && fields.key(into, "thinking")
    {
        match thinking {
            Thinking::Budget(tokens) => {
                into.extend_from_slice(br#"{"type":"enabled","budget_tokens":"#);
                push_number(into, *tokens);
                into.push(b'}');
            }
            Thinking::Own(json) => into.extend_from_slice(json.as_bytes()),
        }
    }
    push_output_config(spec, &fields, into);
    push_sampling(&fields, model, SAMPLING, into);
    fields.texts(into, "stop_sequences", &model.stop_sequences);
    fields.json(into, "metadata", model.metadata.as_ref());
    if model.stream {
        fields.raw(into, "stream", "true");
    }
    if model.server_state == Some(true) {
        fields.raw(into, "thread", thread::CREATE);
    }
    fields.finish(into, &["output_config", "tools"]);
    push_key(into, "messages");
    into.push(b'[');
    Ok(())
}

/// Closes the body.
pub fn encode_tail(spec: &RequestSpec<'_>, into: &mut Vec<u8>) {
    into.push(b']');
    if let Some(container) = spec.before.and_then(container) {
        push_text(into, "container", &container);
    }
    if let Some(keep) = spec.clearing.keep {
        push_clearing(spec, keep, into);
    }
    into.push(b'}');
}

/// The configuration's thinking.
enum Thinking<'a> {
    Budget(u64),
    Own(&'a str),
}

fn thinking(json: &str) -> Result<Thinking<'_>, ConfigError> {
    let object = Object::parse(json);
    match object
        .as_ref()
        .map(|object| (object.get("type"), object.number("budgetTokens")))
    {
        Some((Some(_), _)) => Ok(Thinking::Own(json)),
        Some((None, Some(tokens))) => Ok(Thinking::Budget(tokens)),
        _ => Err(ConfigError::new(
            "model.thinking",
            "must be { budgetTokens: n } or Anthropic's own object with a type, for example { type: \"adaptive\" }",
        )),
    }
}

/// The value of `max_tokens`. A thinking budget is a part of it and must be smaller.
fn max_tokens(
    model: &ModelConfig,
    thinking: Option<&Thinking<'_>>,
    fields: &BodyFields<'_>,
) -> Result<u64, ConfigError> {
    let budget = match thinking {
        Some(Thinking::Budget(tokens)) => *tokens,
        Some(Thinking::Own(json)) => Object::parse(json)
            .and_then(|object| object.number("budget_tokens"))
            .unwrap_or(0),
        None => 0,
    };
    match model.max_output_tokens {
        Some(tokens) if tokens <= budget && !fields.has("max_tokens") => Err(ConfigError::new(
            "model.maxOutputTokens",
            "must be greater than thinking.budgetTokens, which is a part of it",
        )),
        Some(tokens) => Ok(tokens),
        // Anthropic demands a number.
        None => {
            let row = row("anthropic", &model.vendor, &model.model);
            Ok(default_output_tokens(row, model))
        }
    }
}

/// The list of tools, which is not closed. The marker is on the last tool of our form that is not deferred.
fn tools(spec: &RequestSpec<'_>) -> Vec<u8> {
    let mut list = b"[".to_vec();
    let mut marked_at = None;
    for (tool, entry) in spec.declared(NAME) {
        push_comma(&mut list);
        if let Some(entry) = entry {
            list.extend_from_slice(entry.as_bytes());
            continue;
        }
        list.push(b'{');
        push_declaration(tool, &mut list);
        if !tool.defer_loading {
            marked_at = Some(list.len());
        }
        list.push(b'}');
    }
    if let Some(search) = spec.search_entry(NAME) {
        push_comma(&mut list);
        list.extend_from_slice(search.as_bytes());
    }
    if let (Some(at), Some(marker)) = (marked_at, marker(spec)) {
        list.splice(at..at, marker.into_bytes());
    }
    list
}

/// Writes the fields of a tool.
pub fn push_declaration(tool: &ToolConfig, into: &mut Vec<u8>) {
    push_tool(tool, "input_schema", &ANTHROPIC, into);
    // https://platform.claude.com/docs/en/agents-and-tools/tool-use/strict-tool-use (2026-11-21)
    if tool.strict {
        push_flag(into, "strict", true);
    }
    if tool.defer_loading {
        push_flag(into, "defer_loading", true);
    }
}

/// Writes the system prompt as a string, or as one block with a marker.
fn push_system(spec: &RequestSpec<'_>, system: &str, fields: &BodyFields<'_>, into: &mut Vec<u8>) {
    let Some(marker) = marker(spec) else {
        fields.text(into, "system", system);
        return;
    };
    if fields.key(into, "system") {
        into.extend_from_slice(br#"[{"type":"text""#);
        push_text(into, "text", system);
        into.extend_from_slice(marker.as_bytes());
        into.extend_from_slice(b"}]");
    }
}

/// The field of a block that ends a cached prefix, if the prompt is to be cached. A request has at most four: after
/// the tools, after the system prompt, after the last message, and at the end of the previous request. A prefix that
/// is too short (1,024 to 4,096 tokens) is not cached and costs nothing extra.
/// <https://platform.claude.com/docs/en/build-with-claude/prompt-caching> (2026-11-21)
fn marker(spec: &RequestSpec<'_>) -> Option<String> {
    if !spec.marks_cache(spec.model.vendor == "anthropic") {
        return None;
    }
    let ttl = match spec.model.prompt_caching.ttl.as_deref() {
        Some(ttl) => format!(",\"ttl\":\"{ttl}\""),
        None => String::new(),
    };
    Some(format!(",\"cache_control\":{{\"type\":\"ephemeral\"{ttl}}}"))
}

/// The last block of a message with a marker. It is never reasoning, which cannot have one, because a message does
/// not end with reasoning.
pub fn marked_end(spec: &RequestSpec<'_>) -> String {
    marker(spec).map_or(String::new(), |marker| format!("{marker}}}]}}"))
}

/// A choice without tools is an error of the API; forbidding parallel calls is a part of the choice.
fn push_tool_choice(spec: &RequestSpec<'_>, fields: &BodyFields<'_>, into: &mut Vec<u8>) {
    let single = spec.model.parallel_tool_calls == Some(false);
    // Declared tools stay declared.
    let offers_none = spec.appended.offered.is_some_and(<[ToolConfig]>::is_empty);
    let choice = match offers_none {
        true => Some(&ToolChoice::None),
        false => spec.model.tool_choice.as_ref(),
    };
    let none = !spec.has_tools(NAME) && !fields.has("tools");
    if none || (choice.is_none() && !single) || !fields.key(into, "tool_choice") {
        return;
    }
    into.extend_from_slice(br#"{"type":"#);
    match choice {
        None | Some(ToolChoice::Auto) => into.extend_from_slice(b"\"auto\""),
        Some(ToolChoice::None) => into.extend_from_slice(b"\"none\""),
        Some(ToolChoice::Required) => into.extend_from_slice(b"\"any\""),
        Some(ToolChoice::Tool(name)) => {
            into.extend_from_slice(b"\"tool\"");
            push_text(into, "name", &ANTHROPIC.tool_name(name));
        }
    }
    if single && choice != Some(&ToolChoice::None) {
        push_raw(into, "disable_parallel_tool_use", "true");
    }
    into.push(b'}');
}

/// Writes `output_config` with the effort and the answer's format. Other fields of a configured `output_config` stay
/// and win. Anthropic always enforces the schema there.
/// <https://platform.claude.com/docs/en/build-with-claude/structured-outputs> (2026-11-21)
fn push_output_config(spec: &RequestSpec<'_>, fields: &BodyFields<'_>, into: &mut Vec<u8>) {
    let (model, effort) = (spec.model, spec.effort());
    let over = fields.over("output_config");
    if effort.is_none() && model.response_format.is_none() {
        if let Some(over) = over {
            push_raw(into, "output_config", over);
        }
        return;
    }
    let own = over.and_then(Object::parse).unwrap_or_default();
    push_key(into, "output_config");
    into.push(b'{');
    if let Some(effort) = effort.filter(|_| own.get("effort").is_none()) {
        push_text(into, "effort", effort);
    }
    if let Some(format) = model
        .response_format
        .as_ref()
        .filter(|_| own.get("format").is_none())
    {
        push_raw(into, "format", r#"{"type":"json_schema""#);
        push_raw(into, "schema", format.schema.as_str());
        into.push(b'}');
    }
    push_others(into, &own, &[]);
    into.push(b'}');
}
