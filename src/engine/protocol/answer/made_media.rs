//! Images and sounds that a model made, for vendors whose assistant messages cannot contain media.
//!
//! The encoders of these vendors call [`told`] on each message that another protocol wrote. The transcript keeps the
//! media. Only the request has a text instead.

use std::borrow::Cow;

use crate::engine::model::message::{Block, Message, Role};

/// Replaces each image or sound of an assistant with a text.
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

/// The text that names the omitted media.
pub fn note(media_type: &str) -> Block {
    Block::text(format!("[{media_type} made by the model]"))
}
