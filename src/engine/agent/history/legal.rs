//! Refuses messages that no vendor takes. [`crate::engine::agent::history::transcript::Transcript`] asks for each
//! message of a history that it is given.

use std::collections::HashSet;

use crate::engine::model::error::ConfigError;
use crate::engine::model::message::{Block, Message, Role, ToolInput};

/// Refuses the message at `at` of a history if a block is illegal there. `open` are the calls that it must answer.
pub fn check(message: &Message, at: usize, open: &[String]) -> Result<(), ConfigError> {
    let open = open.iter().map(String::as_str).collect();
    let mut seen = HashSet::new();
    for (index, block) in message.content.iter().enumerate() {
        if let Some(problem) = problem_of(message.role, block, &open, &mut seen) {
            return Err(ConfigError::new(
                format!("messages[{at}].content[{index}]"),
                problem,
            ));
        }
    }
    Ok(())
}

/// `seen` are the ids of the message's earlier calls and results.
fn problem_of<'a>(
    role: Role,
    block: &'a Block,
    open: &HashSet<&str>,
    seen: &mut HashSet<&'a str>,
) -> Option<&'static str> {
    let id = match (role, block) {
        (Role::Assistant, Block::ToolResult { .. }) => {
            return Some("a tool result belongs in the user message after its call");
        }
        (Role::User, Block::ToolCall { .. }) => return Some("a tool call belongs in an assistant message"),
        (Role::User, Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::Refusal { .. }) => {
            return Some("only an assistant message can hold thinking or a refusal");
        }
        (_, Block::ToolCall { id, .. }) if id.is_empty() => return Some("a tool call needs an id"),
        (_, Block::ToolCall { name, .. }) if name.is_empty() => return Some("a tool call needs a name"),
        (
            _,
            Block::ToolCall {
                input: ToolInput::Json(json),
                ..
            },
        ) if !json.as_str().trim_ascii_start().starts_with('{') => {
            return Some("the input of a tool call must be a JSON object");
        }
        (_, Block::ToolCall { id, .. }) if seen.contains(id.as_str()) => {
            return Some("two tool calls of one message have the same id");
        }
        (_, Block::ToolResult { call_id, .. }) if !open.contains(call_id.as_str()) => {
            return Some("this tool result answers no tool call of the message before it");
        }
        (_, Block::ToolResult { call_id, .. }) if seen.contains(call_id.as_str()) => {
            return Some("this tool call has already been answered");
        }
        (_, Block::ToolCall { id, .. } | Block::ToolResult { call_id: id, .. }) => id,
        _ => return None,
    };
    seen.insert(id);
    None
}
