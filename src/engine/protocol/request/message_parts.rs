//! The parts of messages and tools that several protocols write alike.
//!
//! The encoders of messages call them. They append to the body and never rewrite it, and nothing fails.

use std::collections::BTreeMap;

use looplet_scan::reader::Object;

use crate::engine::json::own_names::with_wire_names;
use crate::engine::json::writer::{push_key, push_raw, push_text};
use crate::engine::model::config::ToolConfig;
use crate::engine::model::message::{Block, Message, ToolInput};
use crate::engine::protocol::request::accepts::Accepts;
use crate::engine::protocol::request::tool_schema::mended;

/// Whether a block of the model's answer can be sent back. Vendors reject one that is not an object with a type, so a
/// damaged block would make every later request fail.
pub fn can_return(block: &Block) -> bool {
    match block {
        Block::Raw { json } => {
            Object::parse(json.as_str()).is_some_and(|object| object.filled("type").is_some())
        }
        _ => true,
    }
}

/// Writes the declaration of a tool, with its schema under the key `schema`.
pub fn push_tool(tool: &ToolConfig, schema: &str, accepts: &Accepts, into: &mut Vec<u8>) {
    push_text(into, "name", &accepts.tool_name(&tool.name));
    if !tool.description.trim().is_empty() {
        push_text(into, "description", &tool.description);
    }
    let given = tool.input_schema.as_str();
    push_raw(into, schema, mended(given, accepts).as_deref().unwrap_or(given));
}

/// Writes a call's input for vendors that accept only objects. Any other text is shown to the model inside an object.
/// `renamed` are the names that the tool's properties have on the wire, where the model has written them so.
pub fn push_input(key: &str, input: &ToolInput, renamed: &[(String, String)], into: &mut Vec<u8>) {
    match input {
        ToolInput::Json(json) if renamed.is_empty() => push_raw(into, key, json.as_str()),
        ToolInput::Json(json) => push_raw(into, key, &with_wire_names(json.as_str(), renamed)),
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

/// The calls of a message by their ids, for its results; of two with the same id the last.
pub fn calls_by_id(message: Option<&Message>) -> BTreeMap<&str, &Block> {
    let blocks = message.map_or(&[][..], |message| &message.content);
    let calls = blocks.iter().filter_map(|block| match block {
        Block::ToolCall { id, .. } => Some((id.as_str(), block)),
        _ => None,
    });
    calls.collect()
}

/// The blocks up to the last one that is not reasoning, because vendors reject reasoning at the end.
pub fn without_last_thinking(content: &[Block]) -> &[Block] {
    let is_thinking =
        |block: &Block| matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. });
    let said = content.iter().rposition(|block| !is_thinking(block));
    content.get(..said.map_or(0, |last| last + 1)).unwrap_or_default()
}
