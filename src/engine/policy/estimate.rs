//! The length of a text in tokens, estimated without the model's tokenizer.
//!
//! A token counts as 3.5 bytes. English prose has slightly more bytes per token, JSON and code about as many. A
//! character of three bytes counts as slightly less than a token. The estimate only covers text after the vendor's
//! last count.
//!
//! `bench/estimate.mjs` compares it with 339 pairs of consecutive recorded model calls. The median of estimate to
//! count is 1.05; for the 46 pairs above 1,000 tokens it is 1.00, and nine in ten lie between 0.81 and 1.31.

use crate::engine::model::message::{Block, Message, ToolInput};

/// The length of an image or a document, in bytes: about 1,500 tokens.
const MEDIA_BYTES: u64 = 5_250;
/// The bytes around a block on the wire.
const BLOCK_BYTES: u64 = 40;

/// The tokens of a text with so many bytes.
pub fn tokens(bytes: u64) -> u64 {
    bytes.saturating_mul(2) / 7
}

/// The tokens of messages.
pub fn tokens_of(messages: &[Message]) -> u64 {
    tokens(messages.iter().map(|message| bytes_of(&message.content)).sum())
}

/// The tokens of the inputs and the results of calls in messages.
pub fn tokens_of_calls(messages: &[Message]) -> u64 {
    let blocks = messages.iter().flat_map(|message| &message.content);
    let bytes = blocks.map(|block| match block {
        Block::ToolCall { input, .. } => input_of(input).len() as u64,
        Block::ToolResult { content, .. } => bytes_of(content),
        _ => 0,
    });
    tokens(bytes.sum())
}

fn input_of(input: &ToolInput) -> &str {
    match input {
        ToolInput::Json(json) => json.as_str(),
        ToolInput::Invalid(text) => text,
    }
}

fn bytes_of(blocks: &[Block]) -> u64 {
    let mut sum = 0;
    for block in blocks {
        sum += BLOCK_BYTES
            + match block {
                Block::Text { text, .. } | Block::Refusal { text } | Block::Thinking { text, .. } => {
                    text.len() as u64
                }
                Block::RedactedThinking { data } => data.len() as u64,
                Block::ToolCall { name, input, .. } => (name.len() + input_of(input).len()) as u64,
                Block::ToolResult { content, .. } => bytes_of(content),
                Block::Media { .. } => MEDIA_BYTES,
                Block::Raw { json } => json.as_str().len() as u64,
            };
    }
    sum
}
