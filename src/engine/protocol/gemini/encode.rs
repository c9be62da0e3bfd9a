//! Writes the head of a request to Gemini: every field except the contents.
//!
//! The model call encodes it again for each request. Fields that the configuration's `body` has win over looplet's
//! own. An option that Gemini cannot express is a [`ConfigError`] with its path.

use looplet_scan::reader::Object;

use crate::engine::json::writer::{
    push_any, push_comma, push_count, push_flag, push_key, push_string, push_text, push_text_if,
};
use crate::engine::model::config::{ModelConfig, ToolChoice, ToolConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::policy::models::row;
use crate::engine::protocol::RequestSpec;
use crate::engine::protocol::gemini::NAME;
use crate::engine::protocol::request::accepts::GEMINI;
use crate::engine::protocol::request::body_fields::BodyFields;
use crate::engine::protocol::request::message_parts::push_tool;
use crate::engine::protocol::request::sampling::{OPTIONS, push_sampling};
use crate::engine::protocol::vertex::is_vertex;

/// Writes `{…,"contents":[`.
pub fn encode_head(spec: &RequestSpec<'_>, into: &mut Vec<u8>) -> Result<(), ConfigError> {
    let model = spec.model;
    let fields = BodyFields::new(model.body.as_ref(), "contents")?;
    let thinking = model.thinking.as_ref().map(|json| json.as_str());
    let thinking = thinking.map(|json| Object::parse(json).unwrap_or_default());
    check(model, thinking.as_ref())?;
    into.push(b'{');
    if let Some(system) = spec.system.filter(|system| !system.trim().is_empty())
        && fields.key(into, "systemInstruction")
    {
        into.extend_from_slice(br#"{"parts":[{"#);
        push_text(into, "text", system);
        into.extend_from_slice(b"}]}");
    }
    fields.tools(into, tools(spec, &fields));
    let mut choice = b"{".to_vec();
    if spec.has_tools(NAME) || fields.has("tools") {
        push_tool_choice(spec, &mut choice);
    }
    if runs_both(spec) {
        push_flag(&mut choice, "includeServerSideToolInvocations", true);
    }
    fields.merged(into, "toolConfig", choice);
    fields.merged(
        into,
        "generationConfig",
        generation_config(model, thinking.as_ref()),
    );
    fields.json(into, "labels", model.metadata.as_ref());
    fields.finish(into, &["toolConfig", "generationConfig", "tools"]);
    push_key(into, "contents");
    into.push(b'[');
    Ok(())
}

/// Closes the body.
pub fn encode_tail(_spec: &RequestSpec<'_>, into: &mut Vec<u8>) {
    into.extend_from_slice(b"]}");
}

/// Refuses options that Gemini does not have. Only Vertex AI knows labels. A thinking budget (Gemini 2.5) and a level
/// (Gemini 3) exclude each other: <https://ai.google.dev/gemini-api/docs/thinking> (2026-11-21).
fn check(model: &ModelConfig, thinking: Option<&Object<'_>>) -> Result<(), ConfigError> {
    let has = |name: &&str| thinking.is_some_and(|thinking| thinking.get(name).is_some());
    let has_amount = ["budgetTokens", "thinkingBudget", "thinkingLevel"]
        .iter()
        .any(has);
    let is_vertex = is_vertex(model);
    let effort = model.effort.as_deref();
    let faults = [
        (
            model.parallel_tool_calls == Some(false),
            "model.parallelToolCalls",
            "cannot be disabled for Gemini: leave it out",
        ),
        (
            model.metadata.is_some() && !is_vertex,
            "model.metadata",
            "is supported only by Vertex AI, as labels: leave it out",
        ),
        (
            thinking.is_some() && !has_amount && !has(&"includeThoughts"),
            "model.thinking",
            "must be { budgetTokens: n } or Gemini's own object with thinkingBudget, thinkingLevel or includeThoughts",
        ),
        (
            effort.is_some() && has_amount,
            "model.effort",
            "is Gemini's thinkingLevel: leave out either it or the amount in thinking",
        ),
        (
            effort.is_some_and(|effort| {
                let known = row("gemini", &model.vendor, &model.model).efforts;
                !["minimal", "low", "medium", "high"].contains(&effort)
                    && !known.is_some_and(|known| known.contains(&effort))
            }),
            "model.effort",
            "must be minimal, low, medium or high for Gemini",
        ),
    ];
    match faults.iter().find(|(is_fault, _, _)| *is_fault) {
        Some((_, field, problem)) => Err(ConfigError::new(*field, *problem)),
        None => Ok(()),
    }
}

/// `generationConfig` without its last brace.
fn generation_config(model: &ModelConfig, thinking: Option<&Object<'_>>) -> Vec<u8> {
    let mut out = b"{".to_vec();
    if let Some(tokens) = model.max_output_tokens {
        push_count(&mut out, "maxOutputTokens", tokens);
    }
    let schema = model.response_format.as_ref().map(|format| &format.schema);
    let plain = BodyFields::default();
    push_sampling(&plain, model, &OPTIONS, &mut out);
    plain.json(&mut out, "responseJsonSchema", schema);
    push_text_if(&mut out, "responseMimeType", schema.map(|_| "application/json"));
    plain.texts(&mut out, "stopSequences", &model.stop_sequences);
    if thinking.is_some() || model.effort.is_some() {
        push_key(&mut out, "thinkingConfig");
        out.push(b'{');
        push_text_if(&mut out, "thinkingLevel", model.effort.as_deref());
        if let Some(own) = thinking {
            for (key, value) in own.fields() {
                let is_ours = key == "budgetTokens";
                push_any(&mut out, if is_ours { "thinkingBudget" } else { key }, value);
                // Gemini refuses a request for thoughts when thinking is off.
                if is_ours && own.get("includeThoughts").is_none() {
                    push_flag(&mut out, "includeThoughts", value != "0");
                }
            }
        }
        out.push(b'}');
    }
    out
}

/// The list of tools, without its closing bracket: our declarations, then the vendor's tools. `parametersJsonSchema`
/// accepts JSON Schema unchanged, `parameters` only a dialect of OpenAPI's.
/// <https://ai.google.dev/api/caching#FunctionDeclaration> (2026-11-21)
fn tools(spec: &RequestSpec<'_>, fields: &BodyFields<'_>) -> Vec<u8> {
    let mut list = b"[".to_vec();
    let mut of_vendor = Vec::new();
    for (tool, entry) in spec.declared(NAME) {
        if let Some(entry) = entry {
            of_vendor.push(entry);
            continue;
        }
        if fields.declares(&GEMINI.tool_name(&tool.name)) {
            continue;
        }
        let opening: &[u8] = match list.len() {
            1 => br#"{"functionDeclarations":[{"#,
            _ => b",{",
        };
        list.extend_from_slice(opening);
        push_tool(tool, "parametersJsonSchema", &GEMINI, &mut list);
        list.push(b'}');
    }
    if list.len() > 1 {
        list.extend_from_slice(b"]}");
    }
    for entry in of_vendor {
        push_comma(&mut list);
        list.extend_from_slice(entry.as_bytes());
    }
    list
}

/// True if the model may call both functions and Google's tools. It then reports its calls of Google's tools. Vertex
/// AI does not know the field. <https://ai.google.dev/gemini-api/docs/tool-combination> (2026-11-28)
fn runs_both(spec: &RequestSpec<'_>) -> bool {
    let is_ours = |(_, entry): &(&ToolConfig, Option<&str>)| entry.is_none();
    let (ours, theirs): (Vec<_>, Vec<_>) = spec.declared(NAME).partition(is_ours);
    !ours.is_empty() && theirs.iter().any(|(tool, _)| tool.is_hosted()) && !is_vertex(spec.model)
}

/// Writes the tool choice. A single declaration cannot be strict: if every tool is strict, the mode validates them
/// all. Vertex AI's `v1` does not know that mode.
/// <https://ai.google.dev/gemini-api/docs/function-calling#function_calling_modes>,
/// <https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/ToolConfig> (2026-11-21)
fn push_tool_choice(spec: &RequestSpec<'_>, into: &mut Vec<u8>) {
    let choice = spec.model.tool_choice.as_ref();
    let mut ours = spec
        .declared(NAME)
        .filter(|(_, entry)| entry.is_none())
        .peekable();
    let is_strict = ours.peek().is_some() && ours.all(|(tool, _)| tool.strict);
    let mode = match choice {
        None | Some(ToolChoice::Auto) if is_strict && !is_vertex(spec.model) => "VALIDATED",
        None => return,
        Some(ToolChoice::Auto) => "AUTO",
        Some(ToolChoice::None) => "NONE",
        Some(ToolChoice::Required | ToolChoice::Tool(_)) => "ANY",
    };
    push_key(into, "functionCallingConfig");
    into.push(b'{');
    push_text(into, "mode", mode);
    if let Some(ToolChoice::Tool(name)) = choice {
        push_key(into, "allowedFunctionNames");
        into.push(b'[');
        push_string(into, &GEMINI.tool_name(name));
        into.push(b']');
    }
    into.push(b'}');
}
