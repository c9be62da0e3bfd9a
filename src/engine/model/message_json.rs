//! Messages and blocks from and to JSON, by hand: see [`crate::engine::model::config_json`].

use crate::engine::json::record::{Record, document, each_of, within};
use crate::engine::json::writer::{
    push_comma, push_flag, push_key, push_raw, push_string, push_text, push_text_if,
};
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::{Block, Json, MediaSource, Message, Origin, Role, ToolInput};

/// Tool results within each other.
const MAX_LEVELS: u32 = 32;

impl Block {
    /// Reads an array of blocks, as the host hands it in.
    ///
    /// # Errors
    /// The first field that does not fit, under `content`.
    pub fn list_from_json(json: &str) -> Result<Vec<Block>, ConfigError> {
        blocks(document("content", json)?, 0).map_err(|(index, problem)| within("content", index, problem))
    }
}

/// The blocks of valid JSON.
pub(in crate::engine) fn blocks(json: &str, level: u32) -> Result<Vec<Block>, (Option<usize>, ConfigError)> {
    let mut blocks = Vec::new();
    if level == MAX_LEVELS {
        return Err((None, ConfigError::new("", "nests too many tool results")));
    }
    each_of(json, &mut |json| {
        blocks.push(block(json, level)?);
        Ok(())
    })?;
    Ok(blocks)
}

/// The field `messages`.
pub fn messages(r: &mut Record<'_>) -> Vec<Message> {
    let mut messages = Vec::new();
    r.each("messages", &mut |json| {
        messages.push(message(json)?);
        Ok(())
    });
    messages
}

fn message(json: &str) -> Result<Message, ConfigError> {
    let mut record = Record::new(json);
    let r = &mut record;
    let role = match r.word("role", &["user", "assistant"]) {
        Some(1) => Role::Assistant,
        Some(_) => Role::User,
        None => {
            r.refuse("role", "is missing");
            Role::User
        }
    };
    let message = Message {
        role,
        content: content(r, 0),
        partial: r.flag("partial", false),
        compacted: r.flag("compacted", false),
        origin: r.given("origin").and_then(|json| {
            let mut record = Record::new(json);
            let origin = Origin {
                protocol: record.text("protocol"),
                model: record.text("model"),
            };
            r.within("origin", record.finish(origin))
        }),
    };
    record.finish(message)
}

/// The field `content`, which must be there.
fn content(r: &mut Record<'_>, level: u32) -> Vec<Block> {
    let Some(json) = r.given("content") else {
        r.refuse("content", "is missing");
        return Vec::new();
    };
    let read = blocks(json, level).map_err(|(index, problem)| within("", index, problem));
    r.within("content", read).unwrap_or_default()
}

fn block(json: &str, level: u32) -> Result<Block, ConfigError> {
    let mut record = Record::new(json);
    let r = &mut record;
    let kind = r.text("type");
    let block = match kind.as_str() {
        "text" => Block::Text {
            text: r.text("text"),
            vendor: r.json_if("vendor"),
        },
        "thinking" => Block::Thinking {
            text: r.text("text"),
            signature: r.text_if("signature"),
            vendor: r.json_if("vendor"),
        },
        "redacted_thinking" => Block::RedactedThinking { data: r.text("data") },
        "refusal" => Block::Refusal { text: r.text("text") },
        "tool_call" => Block::ToolCall {
            id: r.text("id"),
            name: r.text("name"),
            input: match (r.json_if("input"), r.text_if("inputText")) {
                (Some(json), _) => ToolInput::Json(json),
                (None, Some(text)) => ToolInput::Invalid(text),
                (None, None) => ToolInput::Json(r.json_given("input")),
            },
            vendor: r.json_if("vendor"),
        },
        "tool_result" => Block::ToolResult {
            call_id: r.text("callId"),
            content: content(r, level + 1),
            is_error: r.flag("isError", false),
        },
        "media" => Block::Media {
            media_type: r.text("mediaType"),
            source: match (r.text_if("data"), r.text_if("url")) {
                (Some(data), _) => MediaSource::Data(data),
                (None, Some(url)) => MediaSource::Url(url),
                (None, None) => {
                    r.refuse("data", "or url is missing");
                    MediaSource::Data(String::new())
                }
            },
            vendor: r.json_if("vendor"),
        },
        "raw" => Block::Raw {
            json: r.json_given("json"),
        },
        other => {
            let problem = [
                "\"",
                other,
                "\" is unknown: use text, thinking, redacted_thinking, refusal, tool_call, tool_result, media or raw",
            ];
            r.refuse("type", &problem.concat());
            Block::text("")
        }
    };
    record.finish(block)
}

/// Appends a field with messages.
pub fn push_messages(into: &mut Vec<u8>, messages: &[Message]) {
    push_key(into, "messages");
    into.push(b'[');
    for message in messages {
        push_comma(into);
        push_message(into, message);
    }
    into.push(b']');
}

/// Appends a message.
pub fn push_message(into: &mut Vec<u8>, message: &Message) {
    into.push(b'{');
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    push_text(into, "role", role);
    push_key(into, "content");
    push_blocks(into, &message.content);
    if message.partial {
        push_flag(into, "partial", true);
    }
    if message.compacted {
        push_flag(into, "compacted", true);
    }
    if let Some(origin) = &message.origin {
        push_key(into, "origin");
        into.push(b'{');
        push_text(into, "protocol", &origin.protocol);
        push_text(into, "model", &origin.model);
        into.push(b'}');
    }
    into.push(b'}');
}

/// Appends an array of blocks.
pub fn push_blocks(into: &mut Vec<u8>, blocks: &[Block]) {
    into.push(b'[');
    for block in blocks {
        push_comma(into);
        push_block(into, block);
    }
    into.push(b']');
}

fn push_block(into: &mut Vec<u8>, block: &Block) {
    into.extend_from_slice(b"{\"type\":");
    match block {
        Block::Text { text, vendor } => {
            push_string(into, "text");
            push_text(into, "text", text);
            push_json_if(into, "vendor", vendor.as_ref());
        }
        Block::Thinking {
            text,
            signature,
            vendor,
        } => {
            push_string(into, "thinking");
            push_text(into, "text", text);
            push_text_if(into, "signature", signature.as_deref());
            push_json_if(into, "vendor", vendor.as_ref());
        }
        Block::RedactedThinking { data } => {
            push_string(into, "redacted_thinking");
            push_text(into, "data", data);
        }
        Block::Refusal { text } => {
            push_string(into, "refusal");
            push_text(into, "text", text);
        }
        Block::ToolCall {
            id,
            name,
            input,
            vendor,
        } => {
            push_string(into, "tool_call");
            push_text(into, "id", id);
            push_text(into, "name", name);
            match input {
                ToolInput::Json(json) => push_raw(into, "input", json.as_str()),
                ToolInput::Invalid(text) => push_text(into, "inputText", text),
            }
            push_json_if(into, "vendor", vendor.as_ref());
        }
        Block::ToolResult {
            call_id,
            content,
            is_error,
        } => {
            push_string(into, "tool_result");
            push_text(into, "callId", call_id);
            push_key(into, "content");
            push_blocks(into, content);
            if *is_error {
                push_flag(into, "isError", true);
            }
        }
        Block::Media {
            media_type,
            source,
            vendor,
        } => {
            push_string(into, "media");
            match source {
                MediaSource::Data(data) => push_text(into, "data", data),
                MediaSource::Url(url) => push_text(into, "url", url),
            }
            push_text(into, "mediaType", media_type);
            push_json_if(into, "vendor", vendor.as_ref());
        }
        Block::Raw { json } => {
            push_string(into, "raw");
            push_raw(into, "json", json.as_str());
        }
    }
    into.push(b'}');
}

fn push_json_if(into: &mut Vec<u8>, key: &str, json: Option<&Json>) {
    if let Some(json) = json {
        push_raw(into, key, json.as_str());
    }
}
