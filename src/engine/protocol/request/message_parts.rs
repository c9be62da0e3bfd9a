//! The parts of messages and tools that several protocols write alike.
//!
//! The encoders of messages call them. They append to the body and never rewrite it, and nothing fails.

use crate::engine::json::writer::{push_key, push_raw, push_text};
use crate::engine::model::config::ToolConfig;
use crate::engine::model::message::{Block, ToolInput};
use crate::engine::protocol::request::tool_schema::{Accepts, mended};

/// Writes the declaration of a tool, with its schema under the key `schema`.
pub fn push_tool(tool: &ToolConfig, schema: &str, accepts: Accepts, into: &mut Vec<u8>) {
    push_text(into, "name", &tool.name);
    if !tool.description.trim().is_empty() {
        push_text(into, "description", &tool.description);
    }
    let given = tool.input_schema.as_str();
    push_raw(into, schema, mended(given, accepts).as_deref().unwrap_or(given));
}

/// Writes a call's input for vendors that accept only objects. Any other text is shown to the model inside an object.
pub fn push_input(key: &str, input: &ToolInput, into: &mut Vec<u8>) {
    match input {
        ToolInput::Json(json) => push_raw(into, key, json.as_str()),
        ToolInput::Invalid(text) => {
            push_key(into, key);
            push_invalid(text, into);
        }
    }
}

/// Writes an object that shows a text which is not valid JSON.
pub fn push_invalid(text: &str, into: &mut Vec<u8>) {
    into.push(b'{');
    push_text(into, "_invalid_json", text);
    into.push(b'}');
}

/// The blocks up to the last one that is not reasoning, because vendors refuse reasoning at the end.
pub fn without_last_thinking(content: &[Block]) -> &[Block] {
    let is_thinking =
        |block: &Block| matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. });
    let said = content.iter().rposition(|block| !is_thinking(block));
    content.get(..said.map_or(0, |last| last + 1)).unwrap_or_default()
}
