//! What OpenAI's two protocols write alike.

use super::super::config::{ModelConfig, ToolChoice, ToolConfig};
use super::super::json_writer::{
    push_comma, push_escaped, push_key, push_raw, push_string, push_text, written,
};
use super::super::message::{Block, ToolInput};
use super::super::text::join;
use super::body_fields::BodyFields;

/// Opens an object of this type.
pub fn open(into: &mut Vec<u8>, r#type: &str) {
    push_comma(into);
    into.push(b'{');
    push_text(into, "type", r#type);
}

/// What the model is told of a tool.
pub fn push_tool(tool: &ToolConfig, into: &mut Vec<u8>) {
    push_text(into, "name", &tool.name);
    if !tool.description.is_empty() {
        push_text(into, "description", &tool.description);
    }
    push_raw(into, "parameters", tool.input_schema.as_str());
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
            let mut object = b"{".to_vec();
            push_text(&mut object, "_invalid_json", text);
            object.push(b'}');
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
    join(&texts, "\n")
}
