//! Encodes one message in Anthropic's form.
//!
//! The encoder leaves out blocks that the API refuses:
//! - empty text, and only blanks in a message without other content
//!   (<https://github.com/LibreChat-AI/agents/pull/124>, read 2026-11-20);
//! - reasoning and raw blocks that another protocol or model wrote (`Invalid signature in thinking block`);
//! - raw blocks of an answer that are not objects with a type;
//! - reasoning without a signature, or at the end of a message (`The final block in an assistant message cannot be
//!   thinking`).
//!
//! A message is encoded once, when the transcript grows, and its bytes are never rewritten. A message without
//! remaining blocks is not sent. Nothing fails.

use std::borrow::Cow;

use crate::engine::json::writer::{push_comma, push_key, push_raw, push_string, push_text};
use crate::engine::model::config::ToolConfig;
use crate::engine::model::message::{Block, MediaSource, Message, Role};
use crate::engine::protocol::RequestSpec;
use crate::engine::protocol::answer::made_media::told;
use crate::engine::protocol::anthropic::NAME;
use crate::engine::protocol::anthropic::server_calls::{
    CONTAINER, is_open_server_call, results_alone, waits,
};
use crate::engine::protocol::anthropic::toolset::{TOOLSET, member_name, toolset_of_call};
use crate::engine::protocol::request::accepts::ANTHROPIC;
use crate::engine::protocol::request::media::{base64, is_text};
use crate::engine::protocol::request::message_parts::{
    calls_by_id, can_return, push_input, without_last_thinking,
};
use crate::engine::protocol::vendor_fields::push_vendor;

/// Appends `,{"role":…,"content":[…]}`.
pub fn encode_message(spec: &RequestSpec<'_>, message: &Message, into: &mut Vec<u8>) {
    let message = &*told(message);
    let waits = message.role == Role::User && spec.before.is_some_and(|before| waits(before, &[]));
    let message = &*if waits {
        results_alone(message)
    } else {
        Cow::Borrowed(message)
    };
    let start = into.len();
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    into.extend_from_slice(b",{\"role\":");
    push_string(into, role);
    into.extend_from_slice(b",\"content\":[");
    let content = into.len();
    let author = Author {
        own: message.role == Role::User || spec.wrote(message, NAME),
        reads: spec.reads(message, NAME),
    };
    let results = |block: &&Block| matches!(block, Block::ToolResult { .. });
    let calls = calls_by_id(spec.before.filter(|before| spec.wrote(before, NAME)));
    for block in message.content.iter().filter(results) {
        push_block(block, author, spec.tools, into);
        if let Block::ToolResult { call_id, .. } = block
            && let Some(toolset) = calls.get(call_id.as_str()).and_then(|call| toolset_of_call(call))
        {
            into.pop();
            push_text(into, TOOLSET, &toolset);
            into.push(b'}');
        }
    }
    for (at, block) in without_last_thinking(&message.content).iter().enumerate() {
        let after = message.content.get(at + 1..).unwrap_or_default();
        let dropped = (message.partial && is_open_server_call(block, after))
            || (message.role == Role::Assistant && !can_return(block));
        if !results(&block) && !dropped {
            push_block(block, author, spec.tools, into);
        }
    }
    if into.len() == content {
        into.truncate(start);
    } else {
        into.extend_from_slice(b"]}");
    }
}

/// What a message's author allows.
#[derive(Clone, Copy)]
struct Author {
    /// Raw blocks and fields of the vendor may be sent.
    own: bool,
    /// Reasoning may be sent.
    reads: bool,
}

/// The author of the content of a result.
const GIVEN: Author = Author {
    own: true,
    reads: false,
};

fn push_block(block: &Block, author: Author, tools: &[ToolConfig], into: &mut Vec<u8>) {
    let Author { own, reads } = author;
    match block {
        Block::Text { text, vendor, .. } => {
            if !text.trim().is_empty() {
                open(into, "text");
                push_text(into, "text", text);
                push_vendor(into, vendor.as_ref().filter(|_| own), &["type", "text"]);
                into.push(b'}');
            }
        }
        Block::Refusal { text } => push_block(&Block::text(text.as_str()), author, tools, into),
        Block::Thinking {
            text,
            signature: Some(signature),
            vendor,
        } if reads => {
            open(into, "thinking");
            push_text(into, "thinking", text);
            push_text(into, "signature", signature);
            push_vendor(into, vendor.as_ref(), &["type", "thinking", "signature"]);
            into.push(b'}');
        }
        Block::RedactedThinking { data } if reads => {
            open(into, "redacted_thinking");
            push_text(into, "data", data);
            into.push(b'}');
        }
        Block::Thinking { .. } | Block::RedactedThinking { .. } => {}
        Block::ToolCall {
            id,
            name,
            input,
            vendor,
        } => {
            open(into, "tool_use");
            ANTHROPIC.push_id(into, "id", id);
            let member = member_name(name, vendor.as_ref().filter(|_| own));
            push_text(into, "name", &ANTHROPIC.tool_name(member.unwrap_or(name)));
            push_input("input", input, &ANTHROPIC.renamed(tools, name), into);
            push_vendor(
                into,
                vendor.as_ref().filter(|_| own),
                &["type", "id", "name", "input", CONTAINER],
            );
            into.push(b'}');
        }
        Block::ToolResult {
            call_id,
            content,
            is_error,
            ..
        } => {
            open(into, "tool_result");
            ANTHROPIC.push_id(into, "tool_use_id", call_id);
            push_result_content(content, into);
            push_raw(into, "is_error", if *is_error { "true" } else { "false" });
            into.push(b'}');
        }
        Block::Media {
            media_type,
            source,
            name,
            ..
        } => push_media(media_type, source, name.as_deref(), into),
        Block::Raw { json } => {
            if own {
                push_comma(into);
                into.extend_from_slice(json.as_str().as_bytes());
            }
        }
    }
}

fn open(into: &mut Vec<u8>, r#type: &str) {
    push_comma(into);
    into.push(b'{');
    push_text(into, "type", r#type);
}

/// Writes the content of a result: one text as a string, several blocks as a list, an empty result as nothing.
fn push_result_content(content: &[Block], into: &mut Vec<u8>) {
    let is_blank = |block: &Block| matches!(block, Block::Text { text, .. } if text.trim().is_empty());
    match content {
        _ if content.iter().all(is_blank) => {}
        [Block::Text { text, .. }] => push_text(into, "content", text),
        blocks => {
            push_key(into, "content");
            into.push(b'[');
            for block in blocks {
                if !matches!(block, Block::ToolCall { .. } | Block::ToolResult { .. }) {
                    push_block(block, GIVEN, &[], into);
                }
            }
            into.push(b']');
        }
    }
}

fn push_media(media_type: &str, source: &MediaSource, name: Option<&str>, into: &mut Vec<u8>) {
    let is_text = is_text(media_type);
    let is_image = media_type.starts_with("image/") && !is_text;
    open(into, if is_image { "image" } else { "document" });
    if let Some(name) = name.filter(|name| !is_image && !name.is_empty()) {
        let title: String = name.chars().take(MAX_TITLE_CHARS).collect();
        push_text(into, "title", &title);
    }
    push_key(into, "source");
    into.push(b'{');
    match source {
        MediaSource::Data(data) if is_text => {
            // The API accepts text documents only with the type `text/plain`.
            push_text(into, "type", "text");
            push_text(into, "media_type", "text/plain");
            push_text(into, "data", &String::from_utf8_lossy(&base64(data)));
        }
        MediaSource::Data(data) => {
            push_text(into, "type", "base64");
            push_text(into, "media_type", media_type);
            push_text(into, "data", data);
        }
        MediaSource::Url(url) => {
            push_text(into, "type", "url");
            push_text(into, "url", url);
        }
    }
    into.extend_from_slice(b"}}");
}

/// The characters of a document's title that the API accepts.
/// <https://platform.claude.com/docs/en/api/messages> (2026-11-23)
const MAX_TITLE_CHARS: usize = 500;

#[cfg(test)]
mod tests;
