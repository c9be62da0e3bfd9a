//! Decides whether a request may ask for thinking.
//!
//! Claude's manual thinking belongs to a whole turn. While tools answer, the assistant messages of the turn must
//! begin with thinking that this model signed. Otherwise the API rejects the request (`Expected thinking or
//! redacted_thinking, but found tool_use`). A turn that another model started, or with shortened thinking, continues
//! without thinking. <https://platform.claude.com/docs/build-with-claude/thinking-tool-workflows> (2026-11-21)
//!
//! The model call asks before each request. Nothing fails.

use looplet_scan::reader::Object;

use crate::engine::model::config::ModelConfig;
use crate::engine::model::message::{Block, Message, Role};
use crate::engine::protocol::Protocol;
use std::borrow::Cow;

/// The `model`, without its thinking if the open turn at the end of `messages` cannot have any.
pub fn model_of_turn<'a>(
    protocol: &Protocol,
    model: &'a ModelConfig,
    messages: &[Message],
) -> Cow<'a, ModelConfig> {
    let is_claude = matches!(protocol.name, "anthropic" | "bedrock_converse");
    if !is_claude || !is_manual(model) || !is_foreign_turn(protocol, model, messages) {
        return Cow::Borrowed(model);
    }
    Cow::Owned(ModelConfig {
        thinking: None,
        ..model.clone()
    })
}

/// True for `{ budgetTokens }` and `{ type: "enabled" }`. With every other form the model itself decides whether it
/// thinks.
fn is_manual(model: &ModelConfig) -> bool {
    let Some(thinking) = model
        .thinking
        .as_ref()
        .and_then(|json| Object::parse(json.as_str()))
    else {
        return false;
    };
    thinking.get("type").is_none() || thinking.string("type").as_deref() == Some("enabled")
}

/// True when an assistant message since the last prompt is not this model's, or the first of them lacks its thinking.
fn is_foreign_turn(protocol: &Protocol, model: &ModelConfig, messages: &[Message]) -> bool {
    let mut first = None;
    let mut rest = messages;
    while let [before @ .., assistant, user] = rest {
        if !is_result(user) || assistant.role != Role::Assistant {
            break;
        }
        let own = assistant
            .origin
            .as_ref()
            .is_some_and(|origin| origin.protocol == protocol.name && origin.model == model.model);
        if !own || assistant.compacted {
            return true;
        }
        first = Some(assistant);
        rest = before;
    }
    first.is_some_and(|message| !begins_with_thinking(message))
}

fn is_result(message: &Message) -> bool {
    let mut blocks = message.content.iter();
    message.role == Role::User && blocks.any(|block| matches!(block, Block::ToolResult { .. }))
}

fn begins_with_thinking(message: &Message) -> bool {
    match message.content.first() {
        Some(Block::Thinking { signature, .. }) => signature.is_some(),
        first => matches!(first, Some(Block::RedactedThinking { .. })),
    }
}

#[cfg(test)]
mod tests;
