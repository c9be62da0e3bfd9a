//! Images and sounds that a model made, for vendors whose assistants cannot have any.

use std::borrow::Cow;

use crate::engine::model::message::{Block, Message, Role};

/// The message with a text in place of each image or sound that an assistant has.
pub fn told(message: &Message) -> Cow<'_, Message> {
    let is_media = |block: &Block| matches!(block, Block::Media { .. });
    if message.role == Role::User || !message.content.iter().any(is_media) {
        return Cow::Borrowed(message);
    }
    let content = message.content.iter().map(|block| match block {
        Block::Media { media_type, .. } => note(media_type),
        other => other.clone(),
    });
    Cow::Owned(Message {
        role: message.role,
        content: content.collect(),
        partial: message.partial,
        compacted: message.compacted,
        origin: message.origin.clone(),
    })
}

/// Says what is not shown.
pub fn note(media_type: &str) -> Block {
    Block::text(["[", media_type, " made by the model]"].concat())
}
