//! Encodes one message in the form of Chat Completions.
//!
//! An assistant's message becomes one wire message. A user's message becomes a `tool` message per result, then a user
//! message with its other blocks. Reasoning is sent back in its original field, and only to the model that wrote it,
//! because some servers (Mistral) reject unknown fields. Reasoning from Mistral's content array is not sent back.
//! Media in a result follow in the user message, because `tool` messages can contain only text.
//!
//! A message is encoded once, when the transcript grows. Nothing fails.

use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_comma, push_escaped, push_key, push_raw, push_string, push_text};
use crate::engine::model::message::{Block, MediaSource, Message, Role};
use crate::engine::protocol::RequestSpec;
use crate::engine::protocol::answer::made_media::told;
use crate::engine::protocol::openai_chat::NAME;
use crate::engine::protocol::openai_chat::call::CUSTOM;
use crate::engine::protocol::openai_parts::{
    custom_input, open, push_arguments, push_data_url, result_text, text_of,
};
use crate::engine::protocol::request::accepts::OPENAI_CHAT;
use crate::engine::protocol::request::legal_id::id_of_length;
use crate::engine::protocol::request::media::{base64, is_text};
use crate::engine::protocol::vendor_fields::push_vendor;

/// Appends the wire messages, each with a comma before it.
pub fn encode_message(spec: &RequestSpec<'_>, message: &Message, into: &mut Vec<u8>) {
    match message.role {
        Role::Assistant => push_assistant(spec, &told(message), into),
        Role::User => {
            let length = id_length(spec);
            for block in &message.content {
                if let Block::ToolResult { call_id, content, .. } = block {
                    push_result(call_id, content, length, into);
                }
            }
            push_user(&message.content, into);
        }
    }
}

fn push_assistant(spec: &RequestSpec<'_>, message: &Message, into: &mut Vec<u8>) {
    let own = spec.wrote(message, NAME);
    let start = into.len();
    into.extend_from_slice(br#",{"role":"assistant""#);
    let head = into.len();
    // Some servers know no refusals and refuse the field, so a refusal is sent to them as text.
    push_joined(into, "content", &message.content, |block| match block {
        Block::Text { text, .. } => Some(text),
        Block::Refusal { text } if !own => Some(text),
        _ => None,
    });
    let has_content = into.len() > head;
    if own {
        push_joined(into, "refusal", &message.content, |block| match block {
            Block::Refusal { text } => Some(text),
            _ => None,
        });
    }
    let has_calls = message
        .content
        .iter()
        .any(|block| matches!(block, Block::ToolCall { .. }));
    let reasoning = into.len();
    if own {
        for field in ["reasoning_content", "reasoning"] {
            push_joined(into, field, &message.content, |block| match block {
                Block::Thinking {
                    text,
                    vendor: Some(vendor),
                    ..
                } => {
                    let name = Object::parse(vendor.as_str())?.string("field")?;
                    if name == field { Some(text) } else { None }
                }
                _ => None,
            });
        }
        push_details(&message.content, into);
    }
    if has_calls && into.len() == reasoning {
        push_required_reasoning(spec, &message.content, into);
    }
    let calls = message
        .content
        .iter()
        .filter(|block| matches!(block, Block::ToolCall { .. }));
    let length = id_length(spec);
    for (at, call) in calls.enumerate() {
        into.extend_from_slice(if at == 0 { br#","tool_calls":["# } else { b"," });
        push_call(call, own, length, into);
    }
    if has_calls {
        into.push(b']');
    }
    if into.len() == head {
        into.truncate(start);
        return;
    }
    if !has_content {
        push_raw(into, "content", if has_calls { "null" } else { "\"\"" });
    }
    into.push(b'}');
}

/// Writes the reasoning that thinking models of some servers require next to a call, even for a call of another
/// model. A blank is enough. An empty text is not. <https://api-docs.deepseek.com/guides/thinking_mode#tool-calls>,
/// <https://github.com/charmbracelet/crush/issues/2696> (2026-11-21)
fn push_required_reasoning(spec: &RequestSpec<'_>, content: &[Block], into: &mut Vec<u8>) {
    let quirks = spec
        .model
        .quirks
        .as_ref()
        .and_then(|json| Object::parse(json.as_str()));
    let Some(field) = quirks.and_then(|quirks| quirks.string("requiredReasoning")) else {
        return;
    };
    let before = into.len();
    push_joined(into, &field, content, |block| match block {
        Block::Thinking { text, .. } => Some(text),
        _ => None,
    });
    if into.len() == before {
        push_text(into, &field, " ");
    }
}

/// Writes one string field that joins all texts that `pick` finds, if there are any.
fn push_joined<'a>(
    into: &mut Vec<u8>,
    key: &str,
    content: &'a [Block],
    pick: impl Fn(&'a Block) -> Option<&'a String>,
) {
    let mut texts = content
        .iter()
        .filter_map(pick)
        .filter(|text| !text.is_empty())
        .peekable();
    if texts.peek().is_none() {
        return;
    }
    push_key(into, key);
    into.push(b'"');
    texts.for_each(|text| push_escaped(into, text));
    into.push(b'"');
}

fn push_details(content: &[Block], into: &mut Vec<u8>) {
    for block in content {
        if let Block::Thinking {
            vendor: Some(vendor), ..
        } = block
            && let Some(details) =
                Object::parse(vendor.as_str()).and_then(|object| object.get("reasoning_details"))
        {
            push_raw(into, "reasoning_details", details);
            return;
        }
    }
}

fn push_call(block: &Block, own: bool, length: Option<usize>, into: &mut Vec<u8>) {
    let Block::ToolCall {
        id,
        name,
        input,
        vendor,
    } = block
    else {
        return;
    };
    into.push(b'{');
    push_call_id(into, "id", id, length);
    let custom = custom_input(block, CUSTOM).filter(|_| own);
    into.extend_from_slice(if custom.is_some() {
        br#","type":"custom","custom":{"#
    } else {
        br#","type":"function","function":{"#
    });
    push_text(into, "name", &OPENAI_CHAT.tool_name(name));
    match custom {
        Some(input) => push_text(into, "input", &input),
        None => push_arguments(input, into),
    }
    into.push(b'}');
    push_vendor(into, vendor.as_ref().filter(|_| own), &["id", "type", "function"]);
    into.push(b'}');
}

/// The length of each call's id, where a server wants one.
fn id_length(spec: &RequestSpec<'_>) -> Option<usize> {
    let quirks = Object::parse(spec.model.quirks.as_ref()?.as_str())?;
    quirks.number("callIdChars")?.try_into().ok()
}

/// Writes a call's id. A call and its result become alike.
fn push_call_id(into: &mut Vec<u8>, key: &str, id: &str, length: Option<usize>) {
    match length {
        Some(chars) => push_text(into, key, &id_of_length(id, chars)),
        None => OPENAI_CHAT.push_id(into, key, id),
    }
}

fn push_result(call_id: &str, content: &[Block], length: Option<usize>, into: &mut Vec<u8>) {
    into.extend_from_slice(br#",{"role":"tool""#);
    push_call_id(into, "tool_call_id", call_id, length);
    push_key(into, "content");
    let has_media = content.iter().any(|block| matches!(block, Block::Media { .. }));
    let text = result_text(content);
    push_string(
        into,
        if text.is_empty() && has_media {
            "The result follows in the next message."
        } else {
            &text
        },
    );
    into.push(b'}');
}

/// Writes a user's message: one text as a string, any other content as a list.
fn push_user(content: &[Block], into: &mut Vec<u8>) {
    let start = into.len();
    into.extend_from_slice(br#",{"role":"user","content":"#);
    let others = || {
        content
            .iter()
            .filter(|block| !matches!(block, Block::ToolResult { .. }))
    };
    let media = content.iter().any(|block| match block {
        Block::ToolResult { content, .. } => content.iter().any(|inner| matches!(inner, Block::Media { .. })),
        _ => false,
    });
    let mut rest = others();
    if let (Some(only), None, false) = (rest.next().and_then(text_of), rest.next(), media)
        && !only.is_empty()
    {
        push_string(into, only);
        into.push(b'}');
        return;
    }
    into.push(b'[');
    let parts = into.len();
    for block in content {
        if let Block::ToolResult { call_id, content, .. } = block {
            push_result_media(call_id, content, into);
        }
    }
    others().for_each(|block| push_part(block, into));
    if into.len() == parts {
        into.truncate(start);
    } else {
        into.extend_from_slice(b"]}");
    }
}

fn push_result_media(call_id: &str, content: &[Block], into: &mut Vec<u8>) {
    let mut media = content
        .iter()
        .filter(|block| matches!(block, Block::Media { .. }))
        .peekable();
    if media.peek().is_some() {
        let label = format!("Result of tool call {call_id}:");
        push_part(&Block::text(label), into);
        media.for_each(|block| push_part(block, into));
    }
}

fn push_part(block: &Block, into: &mut Vec<u8>) {
    match block {
        Block::Text { text, .. } if !text.is_empty() => {
            open(into, "text");
            push_text(into, "text", text);
            into.push(b'}');
        }
        Block::Media {
            media_type,
            source,
            name,
            ..
        } => push_media(media_type, source, name.as_deref(), into),
        Block::Raw { json } => {
            push_comma(into);
            into.extend_from_slice(json.as_str().as_bytes());
        }
        _ => {}
    }
}

fn push_media(media_type: &str, source: &MediaSource, name: Option<&str>, into: &mut Vec<u8>) {
    let audio = media_type.strip_prefix("audio/");
    match (source, audio) {
        (MediaSource::Data(data), Some(format)) => {
            open(into, "input_audio");
            into.extend_from_slice(br#","input_audio":{"#);
            push_text(into, "data", data);
            push_text(into, "format", if format == "mpeg" { "mp3" } else { format });
            into.extend_from_slice(b"}}");
        }
        // The only file that the API takes is a PDF: <https://platform.openai.com/docs/guides/pdf-files> (not checked).
        (MediaSource::Data(data), None) if is_text(media_type) => {
            let text = String::from_utf8_lossy(&base64(data)).into_owned();
            let head = name.map_or(String::new(), |name| format!("{name}:\n"));
            push_part(&Block::text(head + &text), into);
        }
        (MediaSource::Data(data), None) if !media_type.starts_with("image/") => {
            open(into, "file");
            into.extend_from_slice(br#","file":{"#);
            push_text(into, "filename", name.unwrap_or("document"));
            into.extend_from_slice(br#","file_data":"#);
            push_data_url(media_type, data, into);
            into.extend_from_slice(b"}}");
        }
        (MediaSource::Url(url), _) if !media_type.starts_with("image/") => {
            push_part(&Block::text(url.as_str()), into);
        }
        _ => {
            open(into, "image_url");
            into.extend_from_slice(br#","image_url":{"url":"#);
            match source {
                MediaSource::Data(data) => push_data_url(media_type, data, into),
                MediaSource::Url(url) => push_string(into, url),
            }
            into.extend_from_slice(b"}}");
        }
    }
}
