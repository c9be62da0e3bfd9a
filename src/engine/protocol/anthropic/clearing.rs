//! Hides calls and results of old answers from Claude: `context_management` in a request, with the edit
//! `clear_tool_uses_20250919`.
//!
//! The vendor clears them after it has compared the request with its reasoning, so the history remains complete and
//! the reasoning valid. The field follows the messages, because it changes and they do not. It excludes the vendor's
//! search for tools, because the results of the search declare the tools to the model. A caller who sets the field in
//! `body` overrides it. <https://platform.claude.com/docs/en/build-with-claude/context-editing> (2026-11-29)

use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_key, push_raw};
use crate::engine::model::config::ModelConfig;
use crate::engine::policy::models::Row;
use crate::engine::protocol::anthropic::NAME;
use crate::engine::protocol::{Protocol, RequestSpec};

/// The value of `anthropic-beta` that the field needs.
pub const BETA: &str = "context-management-2025-06-27";

/// The field of a request and of its answer.
pub const FIELD: &str = "context_management";

/// True if requests to this model can hide old calls, and the caller has not decided about it.
pub fn clears(protocol: &Protocol, row: &Row, model: &ModelConfig) -> bool {
    protocol.name == NAME && row.clears.contains(&model.vendor.as_str()) && !is_decided(model)
}

/// True if the caller lets the vendor shorten or store the conversation in another way.
pub fn is_decided(model: &ModelConfig) -> bool {
    let body = model.body.as_ref().and_then(|body| Object::parse(body.as_str()));
    body.is_some_and(|body| [FIELD, "thread"].iter().any(|field| body.has(field)))
}

/// Appends the field to a request that shows the model the latest `keep` calls.
pub fn push(spec: &RequestSpec<'_>, keep: usize, into: &mut Vec<u8>) {
    let limit = format!(r#"{{"type":"tool_uses","value":{}}}"#, keep.max(1));
    push_key(into, FIELD);
    into.extend_from_slice(br#"{"edits":[{"type":"clear_tool_uses_20250919""#);
    push_raw(into, "trigger", &limit);
    push_raw(into, "keep", &limit);
    push_raw(into, "clear_tool_inputs", "true");
    let mut entries = spec.declared(NAME).filter_map(|(_, entry)| entry);
    let own = entries.find(|entry| entry.contains("\"tool_search"));
    let search = own.or(spec.search_entry(NAME)).and_then(Object::parse);
    if let Some(name) = search.as_ref().and_then(|search| search.get("name")) {
        push_raw(into, "exclude_tools", &format!("[{name}]"));
    }
    into.extend_from_slice(b"}]}");
}

/// The number of calls and of answers' thoughts that the vendor has cleared, and their tokens. `None` if the message
/// or event does not say.
pub fn read(from: &Object<'_>) -> Option<(u64, u64)> {
    let edits = from.object(FIELD)?;
    let mut sum = (0, 0);
    for edit in edits.items("applied_edits").into_iter().filter_map(Object::parse) {
        let number = |key: &str| edit.number(key).unwrap_or_default();
        sum.0 += number("cleared_tool_uses") + number("cleared_thinking_turns");
        sum.1 += number("cleared_input_tokens");
    }
    Some(sum)
}
