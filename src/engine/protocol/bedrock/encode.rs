//! Writes the head of a request to Converse: every field except the messages.
//!
//! Options that Converse itself lacks go into `additionalModelRequestFields`, in the form of the model's family. The
//! model call encodes the head again for each request. An option that the family lacks is a [`ConfigError`] with its
//! path.

use looplet_scan::reader::{Object, string};

use crate::engine::json::writer::{push_comma, push_flag, push_key, push_number, push_raw, push_text};
use crate::engine::model::config::{ModelConfig, ToolChoice};
use crate::engine::model::error::ConfigError;
use crate::engine::protocol::RequestSpec;
use crate::engine::protocol::bedrock::{Family, NAME, family};
use crate::engine::protocol::request::accepts::BEDROCK;
use crate::engine::protocol::request::body_fields::BodyFields;
use crate::engine::protocol::request::claude_thinking::{BETA, FIELD};
use crate::engine::protocol::request::sampling::{check_sampling, check_ttl, push_sampling};
use crate::engine::protocol::request::tool_schema::mended;

/// Writes `{…,"messages":[`.
pub fn encode_head(spec: &RequestSpec<'_>, into: &mut Vec<u8>) -> Result<(), ConfigError> {
    let model = spec.model;
    let fields = BodyFields::new(model.body.as_ref(), "messages")?;
    check(spec)?;
    into.push(b'{');
    if let Some(system) = spec.system.filter(|system| !system.trim().is_empty())
        && fields.key(into, "system")
    {
        into.extend_from_slice(b"[{");
        push_text(into, "text", system);
        into.push(b'}');
        push_cache_point(spec, into);
        into.push(b']');
    }
    // Fields of the configured `body` are merged over the object that is written here.
    let plain = BodyFields::default();
    let mut ours = b"{".to_vec();
    if let Some(tokens) = model.max_output_tokens {
        plain.number(&mut ours, "maxTokens", tokens);
    }
    push_sampling(&plain, model, &["temperature", "topP", "", "", "", ""], &mut ours);
    plain.texts(&mut ours, "stopSequences", &model.stop_sequences);
    fields.merged(into, "inferenceConfig", ours);
    if has_tools(spec) {
        let mut ours = b"{".to_vec();
        push_tools(spec, &mut ours);
        if !is_single(model) {
            push_tool_choice(model, &mut ours);
        }
        fields.merged(into, "toolConfig", ours);
    }
    let mut ours = b"{".to_vec();
    push_of_family(spec, &plain, &mut ours);
    fields.merged(into, "additionalModelRequestFields", ours);
    let mut ours = b"{".to_vec();
    if let Some(effort) = model.effort.as_ref().filter(|_| family(model) != Family::Nova) {
        push_text(&mut ours, "effort", effort);
    }
    if let Some(format) = &model.response_format {
        push_key(&mut ours, "textFormat");
        ours.extend_from_slice(br#"{"type":"json_schema","structure":{"jsonSchema":{"#);
        push_text(&mut ours, "name", &format.name);
        // Converse wants the schema as text.
        push_text(&mut ours, "schema", format.schema.as_str());
        ours.extend_from_slice(b"}}}");
    }
    fields.merged(into, "outputConfig", ours);
    fields.json(into, "requestMetadata", model.metadata.as_ref());
    fields.finish(into, MERGED);
    push_key(into, "messages");
    into.push(b'[');
    Ok(())
}

const MERGED: &[&str] = &[
    "inferenceConfig",
    "toolConfig",
    "additionalModelRequestFields",
    "outputConfig",
];

/// Closes the body.
pub fn encode_tail(_spec: &RequestSpec<'_>, into: &mut Vec<u8>) {
    into.extend_from_slice(b"]}");
}

fn check(spec: &RequestSpec<'_>) -> Result<(), ConfigError> {
    let model = spec.model;
    let family = family(model);
    let none = "is not an option of Converse: leave it out, or use body.additionalModelRequestFields";
    // The third option's place depends on the family.
    check_sampling(model, &["temperature", "topP", "topK", "", "", ""], none)?;
    if is_single(model) && family != Family::Claude && spec.has_tools(NAME) {
        return Err(ConfigError::new("model.parallelToolCalls", none));
    }
    if let Some(thinking) = &model.thinking {
        check_thinking(model, family, thinking.as_str())?;
    }
    if family == Family::Nova && matches!(model.effort.as_deref(), Some("xhigh" | "max")) {
        return Err(ConfigError::new(
            "model.effort",
            "must be \"low\", \"medium\" or \"high\" for a model of Nova",
        ));
    }
    if let Some(metadata) = &model.metadata {
        let object = Object::parse(metadata.as_str());
        let mut fits = object.is_some();
        for (_, value) in object.unwrap_or_default().fields() {
            fits &= string(value).is_some();
        }
        if !fits {
            return Err(ConfigError::new("model.metadata", "must be an object of texts"));
        }
    }
    check_ttl(model, ["5m", "1h"], "must be \"5m\" or \"1h\"")
}

fn check_thinking(model: &ModelConfig, family: Family, thinking: &str) -> Result<(), ConfigError> {
    let object = Object::parse(thinking).unwrap_or_default();
    let own = object.get("type").is_some();
    let budget = object.number(if own { "budget_tokens" } else { "budgetTokens" });
    match family {
        Family::Claude | Family::Unknown if own || budget.is_some() => {
            match (model.max_output_tokens, budget) {
                (Some(tokens), Some(budget)) if tokens <= budget => Err(ConfigError::new(
                    "model.maxOutputTokens",
                    "must be greater than thinking.budgetTokens, which is a part of it",
                )),
                _ => Ok(()),
            }
        }
        Family::Nova if own => Ok(()),
        Family::Nova => Err(ConfigError::new(
            "model.thinking",
            "must be Nova's own object with a type, for example { type: \"enabled\", maxReasoningEffort: \"low\" }, or use effort",
        )),
        Family::Other => Err(ConfigError::new(
            "model.thinking",
            "is for models of Claude and Nova: use effort or body.additionalModelRequestFields",
        )),
        _ => Err(ConfigError::new(
            "model.thinking",
            "must be { budgetTokens: n } or Claude's own object with a type, for example { type: \"adaptive\" }",
        )),
    }
}

/// Writes the fields that only the models of one vendor accept.
fn push_of_family(spec: &RequestSpec<'_>, plain: &BodyFields<'_>, into: &mut Vec<u8>) {
    let model = spec.model;
    if family(model) == Family::Nova {
        // <https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html> (2026-11-21)
        if let Some(top_k) = &model.top_k {
            push_key(into, "inferenceConfig");
            into.push(b'{');
            push_raw(into, "topK", top_k.as_str());
            into.push(b'}');
        }
        match (&model.thinking, &model.effort) {
            (Some(own), _) => push_raw(into, "reasoningConfig", own.as_str()),
            (None, Some(effort)) => {
                push_key(into, "reasoningConfig");
                into.extend_from_slice(br#"{"type":"enabled""#);
                push_text(into, "maxReasoningEffort", effort);
                into.push(b'}');
            }
            _ => {}
        }
        return;
    }
    plain.json(into, "top_k", model.top_k.as_ref());
    if let Some(thinking) = &model.thinking {
        if thinking.as_str().contains(FIELD) {
            push_raw(into, "anthropic_beta", &format!("[\"{BETA}\"]"));
        }
        push_key(into, "thinking");
        let budget = Object::parse(thinking.as_str()).and_then(|object| object.number("budgetTokens"));
        match budget {
            Some(tokens) => {
                into.extend_from_slice(br#"{"type":"enabled","budget_tokens":"#);
                push_number(into, tokens);
                into.push(b'}');
            }
            None => into.extend_from_slice(thinking.as_str().as_bytes()),
        }
    }
    // Converse itself cannot forbid parallel calls, and it rejects its own tool choice together with Claude's.
    if is_single(model) && has_tools(spec) {
        push_key(into, "tool_choice");
        into.extend_from_slice(br#"{"disable_parallel_tool_use":true,"type":"#);
        match &model.tool_choice {
            Some(ToolChoice::Required) => into.extend_from_slice(b"\"any\""),
            Some(ToolChoice::Tool(name)) => {
                into.extend_from_slice(b"\"tool\"");
                push_text(into, "name", &BEDROCK.tool_name(name));
            }
            _ => into.extend_from_slice(b"\"auto\""),
        }
        into.push(b'}');
    }
}

fn is_single(model: &ModelConfig) -> bool {
    model.parallel_tool_calls == Some(false)
}

/// True when the request has tools. Without them it has no `toolConfig`, and no message may have a call or a result.
/// Converse has no choice that forbids calls, so tools that must not be called are left out.
pub fn has_tools(spec: &RequestSpec<'_>) -> bool {
    let own = spec
        .model
        .body
        .as_ref()
        .and_then(|body| Object::parse(body.as_str()));
    let own = own.is_some_and(|body| body.get("toolConfig").is_some());
    own || (spec.has_tools(NAME) && spec.model.tool_choice != Some(ToolChoice::None))
}

fn push_tools(spec: &RequestSpec<'_>, into: &mut Vec<u8>) {
    if !spec.has_tools(NAME) {
        return;
    }
    push_key(into, "tools");
    into.push(b'[');
    for (tool, entry) in spec.declared(NAME) {
        push_comma(into);
        if let Some(entry) = entry {
            into.extend_from_slice(entry.as_bytes());
            continue;
        }
        into.extend_from_slice(br#"{"toolSpec":{"#);
        push_text(into, "name", &BEDROCK.tool_name(&tool.name));
        if !tool.description.trim().is_empty() {
            push_text(into, "description", &tool.description);
        }
        into.extend_from_slice(br#","inputSchema":{"#);
        let given = tool.input_schema.as_str();
        push_raw(into, "json", mended(given, &BEDROCK).as_deref().unwrap_or(given));
        into.push(b'}');
        // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html (2026-11-21)
        if tool.strict {
            push_flag(into, "strict", true);
        }
        into.extend_from_slice(b"}}");
    }
    // Nova caches the tools together with the text after them, and rejects a marker among them.
    if family(spec.model) != Family::Nova {
        push_cache_point(spec, into);
    }
    into.push(b']');
}

fn push_tool_choice(model: &ModelConfig, into: &mut Vec<u8>) {
    let Some(choice) = &model.tool_choice else { return };
    push_key(into, "toolChoice");
    match choice {
        ToolChoice::Required => into.extend_from_slice(br#"{"any":{}}"#),
        ToolChoice::Tool(name) => {
            into.extend_from_slice(br#"{"tool":{"#);
            push_text(into, "name", &BEDROCK.tool_name(name));
            into.extend_from_slice(b"}}");
        }
        _ => into.extend_from_slice(br#"{"auto":{}}"#),
    }
}

fn push_cache_point(spec: &RequestSpec<'_>, into: &mut Vec<u8>) {
    if let Some(marker) = cache_point(spec) {
        push_comma(into);
        into.extend_from_slice(marker.as_bytes());
    }
}

/// The end of a message with a marker. The message is the user's, because a marker may follow its blocks.
pub fn marked_end(spec: &RequestSpec<'_>) -> String {
    cache_point(spec).map_or(String::new(), |marker| format!("}},{marker}]}}"))
}

/// The block that ends a cached prefix, if the prompt is to be cached. A request has at most four: after the tools,
/// after the system prompt, after the last message, and at the end of the previous request. Models without markers
/// reject them, so by default only models of Claude from the fourth generation on get them.
fn cache_point(spec: &RequestSpec<'_>) -> Option<String> {
    // <https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html> (2026-11-21)
    let has = |part| spec.model.model.contains(part);
    let by_default = has("claude-") && !["claude-3", "claude-v", "claude-instant"].into_iter().any(has);
    if !spec.marks_cache(by_default) {
        return None;
    }
    let ttl = match &spec.model.prompt_caching.ttl {
        Some(ttl) => format!(",\"ttl\":\"{ttl}\""),
        None => String::new(),
    };
    Some(format!("{{\"cachePoint\":{{\"type\":\"default\"{ttl}}}}}"))
}
