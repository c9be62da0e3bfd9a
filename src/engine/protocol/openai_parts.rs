//! The parts of a request that OpenAI's two protocols write alike.
//!
//! The encoders of Chat Completions and Responses call these functions while they write tools, calls and results.
//! Differences between the two are parameters. Nothing here fails.

use looplet_scan::piece::Piece;
use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_comma, push_escaped, push_key, push_string, push_text, written};
use crate::engine::model::config::{ModelConfig, ToolChoice};
use crate::engine::model::message::{Block, ToolInput};
use crate::engine::protocol::request::accepts::{OPENAI_CHAT, OPENAI_RESPONSES};
use crate::engine::protocol::request::body_fields::BodyFields;
use crate::engine::protocol::request::message_parts::push_invalid;

/// Opens an object with this type.
pub fn open(into: &mut Vec<u8>, r#type: &str) {
    push_comma(into);
    into.push(b'{');
    push_text(into, "type", r#type);
}

/// Writes the tool choice. `is_nested` says that a tool's name is in an object `function`, as in Chat Completions.
pub fn push_tool_choice(model: &ModelConfig, fields: &BodyFields<'_>, is_nested: bool, into: &mut Vec<u8>) {
    let Some(choice) = &model.tool_choice else { return };
    if !fields.key(into, "tool_choice") {
        return;
    }
    match choice {
        ToolChoice::Auto => push_string(into, "auto"),
        ToolChoice::None => push_string(into, "none"),
        ToolChoice::Required => push_string(into, "required"),
        ToolChoice::Tool(name) => {
            into.extend_from_slice(br#"{"type":"function""#);
            if is_nested {
                into.extend_from_slice(br#","function":{"#);
            }
            let accepts = if is_nested {
                &OPENAI_CHAT
            } else {
                &OPENAI_RESPONSES
            };
            push_text(into, "name", &accepts.tool_name(name));
            into.extend_from_slice(if is_nested { b"}}" } else { b"}" });
        }
    }
}

/// The start of the object around a custom tool's plain text, so that it is a JSON object like every input.
pub const CUSTOM_HEAD: &str = "{\"input\":\"";
pub const CUSTOM_TAIL: &str = "\"}";

/// The text as it is written in a JSON string.
pub fn escaped(text: &str) -> String {
    let mut bytes = Vec::new();
    push_escaped(&mut bytes, text);
    written(bytes)
}

/// A piece in the form of a JSON string. Half a surrogate pair remains an escape, which the next piece completes.
pub fn escaped_piece(piece: &Piece<'_>) -> String {
    let escape = |half: Option<u16>| half.map_or(String::new(), |half| format!("\\u{half:04x}"));
    format!(
        "{}{}{}",
        escape(piece.head),
        escaped(&piece.text),
        escape(piece.tail)
    )
}

/// The plain text of a custom tool's call, which has this type in `vendor`. `None` for any other call, and for an
/// incomplete one.
pub fn custom_input(call: &Block, r#type: &str) -> Option<String> {
    let Block::ToolCall {
        input: ToolInput::Json(json),
        vendor: Some(vendor),
        ..
    } = call
    else {
        return None;
    };
    if !Object::parse(vendor.as_str())?.is("type", r#type) {
        return None;
    }
    Some(Object::parse(json.as_str())?.string("input")?.into_owned())
}

/// Writes a call's arguments: JSON text in a string.
pub fn push_arguments(input: &ToolInput, into: &mut Vec<u8>) {
    push_key(into, "arguments");
    match input {
        ToolInput::Json(json) => push_string(into, json.as_str()),
        // Some servers render the history through a template that parses the arguments and fails on anything but
        // JSON.
        ToolInput::Invalid(text) => {
            let mut object = Vec::new();
            push_invalid(text, &mut object);
            push_string(into, &written(object));
        }
    }
}

pub fn push_data_url(media_type: &str, data: &str, into: &mut Vec<u8>) {
    into.extend_from_slice(b"\"data:");
    push_escaped(into, media_type);
    into.extend_from_slice(b";base64,");
    push_escaped(into, data);
    into.push(b'"');
}

pub fn text_of(block: &Block) -> Option<&str> {
    match block {
        Block::Text { text, .. } | Block::Refusal { text } => Some(text),
        _ => None,
    }
}

/// The texts of a tool's result, one per line.
pub fn result_text(content: &[Block]) -> String {
    let mut texts = Vec::new();
    for block in content {
        texts.extend(text_of(block).filter(|text| !text.is_empty()));
    }
    texts.join("\n")
}
