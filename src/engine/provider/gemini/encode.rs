//! The body's head: everything but the contents.

use super::super::super::config::{ModelConfig, ToolChoice};
use super::super::super::error::ConfigError;
use super::super::super::json_reader::Object;
use super::super::super::json_writer::{
    push_any, push_comma, push_count, push_key, push_raw, push_string, push_text,
};
use super::super::super::text::find;
use super::super::RequestSpec;
use super::super::body_fields::BodyFields;

/// Writes `{…,"contents":[`.
pub fn encode_head(spec: &RequestSpec<'_>, into: &mut Vec<u8>) -> Result<(), ConfigError> {
    let model = spec.model;
    let fields = BodyFields::new(model.body.as_ref(), "contents")?;
    let thinking = thinking_config(model)?;
    check(model)?;
    into.push(b'{');
    if let Some(system) = spec.system.filter(|system| !system.trim().is_empty())
        && fields.key(into, "systemInstruction")
    {
        into.extend_from_slice(br#"{"parts":[{"#);
        push_text(into, "text", system);
        into.extend_from_slice(b"}]}");
    }
    push_tools(spec, &fields, into);
    let has_tools = !spec.tools.is_empty() || fields.has("tools");
    fields.nested(into, "toolConfig", &mut |fields, into| {
        if let Some(choice) = model.tool_choice.as_ref().filter(|_| has_tools)
            && fields.key(into, "functionCallingConfig")
        {
            push_tool_choice(choice, into);
        }
    });
    fields.nested(into, "generationConfig", &mut |fields, into| {
        if let Some(tokens) = model.max_output_tokens {
            fields.number(into, "maxOutputTokens", tokens);
        }
        fields.json(into, "temperature", model.temperature.as_ref());
        fields.json(into, "topP", model.top_p.as_ref());
        fields.json(into, "topK", model.top_k.as_ref());
        fields.json(into, "seed", model.seed.as_ref());
        fields.json(into, "presencePenalty", model.presence_penalty.as_ref());
        fields.json(into, "frequencyPenalty", model.frequency_penalty.as_ref());
        fields.texts(into, "stopSequences", &model.stop_sequences);
        if !thinking.is_empty() {
            fields.raw(into, "thinkingConfig", &thinking);
        }
        if let Some(format) = &model.response_format {
            fields.text(into, "responseMimeType", "application/json");
            fields.json(into, "responseJsonSchema", Some(&format.schema));
        }
    });
    fields.json(into, "labels", model.metadata.as_ref());
    fields.finish(into, &["toolConfig", "generationConfig"]);
    push_key(into, "contents");
    into.push(b'[');
    Ok(())
}

/// Closes the body.
pub fn encode_tail(_spec: &RequestSpec<'_>, into: &mut Vec<u8>) {
    into.extend_from_slice(b"]}");
}

/// What cannot be said to Gemini. Only Vertex AI knows labels.
fn check(model: &ModelConfig) -> Result<(), ConfigError> {
    if model.parallel_tool_calls == Some(false) {
        return Err(ConfigError::new(
            "model.parallelToolCalls",
            "cannot be forbidden to Gemini: leave it out",
        ));
    }
    let is_vertex = model
        .base_url
        .as_deref()
        .is_some_and(|url| find(url, "/publishers/").is_some());
    if model.metadata.is_some() && !is_vertex {
        return Err(ConfigError::new(
            "model.metadata",
            "is kept by Vertex AI alone, as labels: leave it out",
        ));
    }
    Ok(())
}

/// `thinkingConfig`, empty for none. A budget (Gemini 2.5) and a level (Gemini 3) exclude each other.
/// <https://ai.google.dev/gemini-api/docs/thinking> (2026-11-21)
fn thinking_config(model: &ModelConfig) -> Result<String, ConfigError> {
    let own = model.thinking.as_ref().map(|json| Object::parse(json.as_str()));
    let has = |name: &str| matches!(&own, Some(Some(object)) if object.get(name).is_some());
    let known = [
        "budgetTokens",
        "thinkingBudget",
        "thinkingLevel",
        "includeThoughts",
    ];
    if own.is_some() && !known.iter().any(|name| has(name)) {
        return Err(ConfigError::new(
            "model.thinking",
            "must be { budgetTokens: n } or Gemini's own object with thinkingBudget, thinkingLevel or includeThoughts",
        ));
    }
    let has_amount = known.iter().take(3).any(|name| has(name));
    let mut out = b"{".to_vec();
    if let Some(effort) = &model.effort {
        if has_amount {
            return Err(ConfigError::new(
                "model.effort",
                "is Gemini's thinkingLevel: leave out either it or the amount in thinking",
            ));
        }
        if !["minimal", "low", "medium", "high"].contains(&effort.as_str()) {
            return Err(ConfigError::new(
                "model.effort",
                "must be minimal, low, medium or high for Gemini",
            ));
        }
        push_text(&mut out, "thinkingLevel", effort);
    }
    if let Some(Some(own)) = &own {
        for (key, value) in own.fields() {
            if key == "budgetTokens" {
                let tokens = own.number(key).unwrap_or(0);
                push_count(&mut out, "thinkingBudget", tokens);
                // Thoughts cannot be asked for where thinking is off.
                if tokens > 0 && !has("includeThoughts") {
                    push_raw(&mut out, "includeThoughts", "true");
                }
            } else if value != "null" {
                push_any(&mut out, key, value);
            }
        }
    }
    if out.len() > 1 {
        out.push(b'}');
    } else {
        out.clear();
    }
    Ok(String::from_utf8(out).unwrap_or_default())
}

/// `parametersJsonSchema` takes JSON Schema as it is, `parameters` a dialect of OpenAPI's.
/// <https://ai.google.dev/api/caching#FunctionDeclaration> (2026-11-21)
fn push_tools(spec: &RequestSpec<'_>, fields: &BodyFields<'_>, into: &mut Vec<u8>) {
    if spec.tools.is_empty() || !fields.key(into, "tools") {
        return;
    }
    into.extend_from_slice(br#"[{"functionDeclarations":["#);
    for tool in spec.tools {
        push_comma(into);
        into.push(b'{');
        push_text(into, "name", &tool.name);
        if !tool.description.is_empty() {
            push_text(into, "description", &tool.description);
        }
        push_raw(into, "parametersJsonSchema", tool.input_schema.as_str());
        into.push(b'}');
    }
    into.extend_from_slice(b"]}]");
}

fn push_tool_choice(choice: &ToolChoice, into: &mut Vec<u8>) {
    let mode = match choice {
        ToolChoice::Auto => "AUTO",
        ToolChoice::None => "NONE",
        ToolChoice::Required | ToolChoice::Tool(_) => "ANY",
    };
    into.push(b'{');
    push_text(into, "mode", mode);
    if let ToolChoice::Tool(name) = choice {
        push_key(into, "allowedFunctionNames");
        into.push(b'[');
        push_string(into, name);
        into.push(b']');
    }
    into.push(b'}');
}
