//! Refuses messages that no vendor takes, and renames calls with the id of an earlier one.
//! [`crate::engine::agent::history::transcript::Transcript`] asks for each message of a history that it is given.

use std::collections::HashSet;

use crate::engine::model::answer::call_ids::CallIds;
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

/// The ids of the calls of these messages.
pub fn ids_of(messages: &[Message]) -> CallIds {
    let mut ids = CallIds::default();
    for block in messages.iter().flat_map(|message| &message.content) {
        if let Block::ToolCall { id, .. } = block {
            ids.admit(id);
        }
    }
    ids
}

/// Gives the calls of a message another id if an earlier message has a call with theirs. Returns the old ids with the
/// new ones.
pub fn rename_repeated(message: &mut Message, ids: &mut CallIds) -> Vec<(String, String)> {
    let mut renamed = Vec::new();
    for block in &mut message.content {
        let Block::ToolCall { id, .. } = block else {
            continue;
        };
        if !ids.admit(id) {
            let mut names = (2..).map(|count| format!("{id}_{count}"));
            let free = names.find(|name| ids.admit(name)).unwrap_or_default();
            renamed.push((std::mem::replace(id, free.clone()), free));
        }
    }
    renamed
}

/// Gives results the new ids of their calls.
pub fn answer_renamed(message: &mut Message, renamed: &[(String, String)]) {
    for block in &mut message.content {
        if let Block::ToolResult { call_id, .. } = block
            && let Some((_, new)) = renamed.iter().find(|(old, _)| old == call_id)
        {
            call_id.clone_from(new);
        }
    }
}
