//! What several protocols write alike.

use crate::engine::json::writer::{push_key, push_raw, push_text};
use crate::engine::model::config::ToolConfig;
use crate::engine::model::message::{Block, ToolInput};

/// What the model is told of a tool, its schema under `schema`.
pub fn push_tool(tool: &ToolConfig, schema: &str, into: &mut Vec<u8>) {
    push_text(into, "name", &tool.name);
    if !tool.description.is_empty() {
        push_text(into, "description", &tool.description);
    }
    push_raw(into, schema, tool.input_schema.as_str());
}

/// A call's input where only objects are taken: what the model wrote otherwise is shown to it in one.
pub fn push_input(key: &str, input: &ToolInput, into: &mut Vec<u8>) {
    match input {
        ToolInput::Json(json) => push_raw(into, key, json.as_str()),
        ToolInput::Invalid(text) => {
            push_key(into, key);
            push_invalid(text, into);
        }
    }
}

/// An object that shows what is no JSON.
pub fn push_invalid(text: &str, into: &mut Vec<u8>) {
    into.push(b'{');
    push_text(into, "_invalid_json", text);
    into.push(b'}');
}

/// The blocks up to the last that is no reasoning, which vendors refuse at the end.
pub fn without_last_thinking(content: &[Block]) -> &[Block] {
    let is_thinking =
        |block: &Block| matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. });
    let said = content.iter().rposition(|block| !is_thinking(block));
    content.get(..said.map_or(0, |last| last + 1)).unwrap_or_default()
}
