//! What OpenAI's two protocols write alike.

use crate::engine::json::writer::{push_comma, push_escaped, push_key, push_string, push_text, written};
use crate::engine::model::config::{ModelConfig, ToolChoice};
use crate::engine::model::message::{Block, ToolInput};
use crate::engine::protocol::request::body_fields::BodyFields;
use crate::engine::protocol::request::message_parts::push_invalid;

/// Opens an object of this type.
pub fn open(into: &mut Vec<u8>, r#type: &str) {
    push_comma(into);
    into.push(b'{');
    push_text(into, "type", r#type);
}

/// `is_nested`: a tool's name stands in an object `function`.
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
            push_text(into, "name", name);
            into.extend_from_slice(if is_nested { b"}}" } else { b"}" });
        }
    }
}

/// A call's arguments: JSON text in a string.
pub fn push_arguments(input: &ToolInput, into: &mut Vec<u8>) {
    push_key(into, "arguments");
    match input {
        ToolInput::Json(json) => push_string(into, json.as_str()),
        // Servers that render the history through a template parse the arguments and fail on anything else.
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

/// The texts of a tool's result, a line each.
pub fn result_text(content: &[Block]) -> String {
    let mut texts = Vec::new();
    for block in content {
        texts.extend(text_of(block).filter(|text| !text.is_empty()));
    }
    texts.join("\n")
}
