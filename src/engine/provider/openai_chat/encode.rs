//! The body's head: everything but the messages, and the system message.

use super::super::super::config::{ModelConfig, ToolChoice};
use super::super::super::error::ConfigError;
use super::super::super::json_reader::Object;
use super::super::super::json_writer::{push_comma, push_key, push_raw, push_string, push_text};
use super::super::RequestSpec;
use super::super::body_fields::BodyFields;

/// Writes `{…,"messages":[` and the system message.
pub fn encode_head(spec: &RequestSpec<'_>, into: &mut Vec<u8>) -> Result<(), ConfigError> {
    let model = spec.model;
    let openai = model.vendor == "openai";
    let fields = BodyFields::new(model.body.as_ref(), "messages")?;
    check(model, openai)?;
    into.push(b'{');
    fields.text(into, "model", &model.model);
    if let Some(tokens) = model.max_output_tokens {
        // OpenAI's reasoning models refuse `max_tokens`; most other servers know nothing else.
        fields.number(
            into,
            if openai {
                "max_completion_tokens"
            } else {
                "max_tokens"
            },
            tokens,
        );
    }
    push_tools(spec, &fields, into);
    if !spec.tools.is_empty() || fields.has("tools") {
        push_tool_choice(model, &fields, into);
        if let Some(parallel) = model.parallel_tool_calls {
            fields.raw(
                into,
                "parallel_tool_calls",
                if parallel { "true" } else { "false" },
            );
        }
    }
    if let Some(effort) = &model.effort {
        fields.text(into, "reasoning_effort", effort);
    }
    fields.json(into, "thinking", model.thinking.as_ref());
    fields.json(into, "temperature", model.temperature.as_ref());
    fields.json(into, "top_p", model.top_p.as_ref());
    fields.json(into, "top_k", model.top_k.as_ref());
    fields.json(into, "seed", model.seed.as_ref());
    fields.texts(into, "stop", &model.stop_sequences);
    if model.stream {
        fields.raw(into, "stream", "true");
        fields.raw(into, "stream_options", r#"{"include_usage":true}"#);
    }
    fields.finish(into, &[]);
    push_key(into, "messages");
    into.push(b'[');
    if let Some(system) = spec.system.filter(|system| !system.is_empty()) {
        into.extend_from_slice(br#"{"role":"system""#);
        push_text(into, "content", system);
        into.push(b'}');
    }
    Ok(())
}

/// Closes the body.
pub fn encode_tail(_spec: &RequestSpec<'_>, into: &mut Vec<u8>) {
    into.extend_from_slice(b"]}");
}

fn check(model: &ModelConfig, openai: bool) -> Result<(), ConfigError> {
    if openai && model.top_k.is_some() {
        return Err(ConfigError::new(
            "model.topK",
            "OpenAI has no top_k: leave it out",
        ));
    }
    let thinking = model.thinking.as_ref().map(|json| Object::parse(json.as_str()));
    if openai && thinking.is_some() {
        return Err(ConfigError::new(
            "model.thinking",
            "OpenAI has no thinking option: use effort",
        ));
    }
    match thinking {
        Some(object) if object.as_ref().is_none_or(|object| object.get("type").is_none()) => {
            Err(ConfigError::new(
                "model.thinking",
                "must be the server's own object with a type, for example { type: \"enabled\" }",
            ))
        }
        _ => Ok(()),
    }
}

fn push_tools(spec: &RequestSpec<'_>, fields: &BodyFields<'_>, into: &mut Vec<u8>) {
    if spec.tools.is_empty() || !fields.key(into, "tools") {
        return;
    }
    into.push(b'[');
    for tool in spec.tools {
        push_comma(into);
        into.extend_from_slice(br#"{"type":"function","function":{"#);
        push_text(into, "name", &tool.name);
        if !tool.description.is_empty() {
            push_text(into, "description", &tool.description);
        }
        push_raw(into, "parameters", tool.input_schema.as_str());
        into.extend_from_slice(b"}}");
    }
    into.push(b']');
}

fn push_tool_choice(model: &ModelConfig, fields: &BodyFields<'_>, into: &mut Vec<u8>) {
    let Some(choice) = &model.tool_choice else { return };
    if !fields.key(into, "tool_choice") {
        return;
    }
    match choice {
        ToolChoice::Auto => push_string(into, "auto"),
        ToolChoice::None => push_string(into, "none"),
        ToolChoice::Required => push_string(into, "required"),
        ToolChoice::Tool(name) => {
            into.extend_from_slice(br#"{"type":"function","function":{"#);
            push_text(into, "name", name);
            into.extend_from_slice(b"}}");
        }
    }
}
