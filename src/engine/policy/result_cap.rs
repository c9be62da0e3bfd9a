//! Shortens a very long tool result: the model sees its beginning and the number of missing characters.
//!
//! The agent shortens each result before it is added to the transcript. Characters are Unicode code points, so no
//! character is split. Media do not count and remain complete.

use crate::engine::model::message::Block;

/// The first `most` characters of a longer text, and a statement about the rest. `None` if the text is short enough.
pub fn cut(text: &str, most: usize) -> Option<String> {
    // A character has at least one byte.
    if text.len() <= most {
        return None;
    }
    let length = text.chars().count();
    (length > most).then(|| shortened(text, most, most, length))
}

/// Shortens the texts of a result together. Texts after the cut are left out.
pub fn cut_blocks(blocks: &[Block], most: usize) -> Option<Vec<Block>> {
    let text_of = |block: &Block| match block {
        Block::Text { text, .. } => text.chars().count(),
        _ => 0,
    };
    let length: usize = blocks.iter().map(text_of).sum();
    if length <= most {
        return None;
    }
    let (mut room, mut is_cut) = (most, false);
    let mut kept = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block {
            Block::Text { .. } if is_cut => {}
            Block::Text { text, .. } if text_of(block) > room => {
                kept.push(Block::text(shortened(text, room, most, length)));
                is_cut = true;
            }
            _ => {
                room -= text_of(block);
                kept.push(block.clone());
            }
        }
    }
    Some(kept)
}

fn shortened(text: &str, room: usize, most: usize, length: usize) -> String {
    let end = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
    let missing = length - most;
    format!(
        "{}\n[Cut off here: the first {most} of {length} characters are shown, {missing} are missing.]",
        text.get(..end).unwrap_or_default()
    )
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
