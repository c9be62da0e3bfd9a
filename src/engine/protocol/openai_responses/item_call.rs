//! Calls of tools that OpenAI defines and the run executes. They are items with a separate type instead of function
//! calls, such as `shell_call` and `apply_patch_call`. The tool's input is the item without the fields that all calls
//! have.
//!
//! The result is an item of the type with `_output`. A tool that returns an object provides the fields of that item,
//! and one that returns a list its `output`. Any other result is converted to the type's form. Nothing fails.
//! <https://platform.openai.com/docs/guides/tools-shell>, <https://platform.openai.com/docs/guides/tools-apply-patch>
//! (2026-11-28)

use looplet_scan::check::check;
use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_comma, push_key, push_others, push_raw, push_string, push_text};
use crate::engine::model::message::{Block, MediaSource, ToolInput};
use crate::engine::protocol::openai_parts::{push_data_url, result_text};
use crate::engine::protocol::openai_responses::item::CUSTOM_CALL;

/// The fields of an item that are not its tool's input.
pub const OF_CALL: &[&str] = &[
    "type",
    "id",
    "call_id",
    "status",
    "caller",
    "created_by",
    "async",
    "namespace",
];

/// The type of the item that is this call; `None` for the call of a function or a custom tool.
pub fn item_type(call: &Block) -> Option<String> {
    let Block::ToolCall {
        vendor: Some(vendor), ..
    } = call
    else {
        return None;
    };
    let object = Object::parse(vendor.as_str())?;
    object.owned("type").filter(|kind| kind != CUSTOM_CALL)
}

/// Writes the input as fields of the item.
pub fn push_item_input(input: &ToolInput, into: &mut Vec<u8>) {
    if let ToolInput::Json(json) = input {
        push_others(into, &Object::parse(json.as_str()).unwrap_or_default(), OF_CALL);
    }
}

/// Writes the result of a call of this type as fields of its item.
pub fn push_item_output(r#type: &str, content: &[Block], is_error: bool, into: &mut Vec<u8>) {
    let text = result_text(content);
    let json = text.trim_ascii();
    let is_given = !is_error && json.starts_with(['{', '[']) && check(json).is_ok();
    match Object::parse(json) {
        Some(fields) if is_given && json.starts_with('{') => return push_others(into, &fields, OF_RESULT),
        _ if is_given => return push_raw(into, "output", json),
        _ => {}
    }
    match r#type {
        "shell_call" => {
            push_raw(into, "output", r#"[{"stdout":"#);
            push_string(into, if is_error { "" } else { &text });
            push_text(into, "stderr", if is_error { &text } else { "" });
            let code = if is_error { "1" } else { "0" };
            push_key(into, "outcome");
            into.extend_from_slice(br#"{"type":"exit""#);
            push_raw(into, "exit_code", code);
            into.extend_from_slice(b"}}]");
        }
        "apply_patch_call" => {
            push_text(into, "status", if is_error { "failed" } else { "completed" });
            push_text(into, "output", &text);
        }
        "computer_call" => {
            push_key(into, "output");
            into.extend_from_slice(br#"{"type":"computer_screenshot""#);
            let media = content.iter().find_map(|block| match block {
                Block::Media {
                    media_type, source, ..
                } => Some((media_type, source)),
                _ => None,
            });
            if let Some((media_type, source)) = media {
                push_comma(into);
                into.extend_from_slice(br#""image_url":"#);
                match source {
                    MediaSource::Data(data) => push_data_url(media_type, data, into),
                    MediaSource::Url(url) => push_string(into, url),
                }
            }
            into.push(b'}');
        }
        _ => push_text(into, "output", &text),
    }
}

/// The fields of a result that the run writes itself.
const OF_RESULT: &[&str] = &["type", "id", "call_id", "caller"];
