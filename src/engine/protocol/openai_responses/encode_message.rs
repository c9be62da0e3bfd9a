//! Encodes one message in the form of Responses: an item per message text, reasoning, call and result.
//!
//! The encoder leaves out items that the API rejects:
//! - reasoning and raw items of another protocol, or of a model with reasoning that the requested model does not
//!   read;
//! - reasoning that the server cannot know, because it is neither stored nor encrypted nor open;
//! - reasoning with nothing after it (`… of type 'reasoning' was provided without its required following item`).
//!
//! Items keep their ids only if each item of the message has one and is sent. The API requires the reasoning that
//! belongs to a call's id, and rejects ids longer than 64 characters. <https://github.com/vercel/ai/issues/7099>,
//! <https://github.com/laravel/ai/pull/1052>, <https://github.com/TanStack/ai/issues/1212> (2026-11-21). Recorded
//! requests without any ids were accepted, too. Nothing fails here.

use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_comma, push_raw, push_string, push_text};
use crate::engine::model::message::{Block, Json, MediaSource, Message, Role};
use crate::engine::protocol::RequestSpec;
use crate::engine::protocol::answer::made_media::told;
use crate::engine::protocol::openai_parts::{
    custom_input, open, push_arguments, push_data_url, result_text, text_of,
};
use crate::engine::protocol::openai_responses::NAME;
use crate::engine::protocol::openai_responses::item::CUSTOM_CALL;
use crate::engine::protocol::openai_responses::item_call::{item_type, push_item_input, push_item_output};
use crate::engine::protocol::request::accepts::OPENAI_RESPONSES;
use crate::engine::protocol::request::message_parts::{calls_by_id, can_return, without_last_thinking};
use crate::engine::protocol::vendor_fields::push_vendor;

/// The longest id that OpenAI accepts.
const MAX_ID_BYTES: usize = 64;

/// Appends the items, each with a comma before it.
pub fn encode_message(spec: &RequestSpec<'_>, message: &Message, into: &mut Vec<u8>) {
    match message.role {
        Role::Assistant => push_assistant(spec, &told(message), into),
        Role::User => push_user(spec, &message.content, into),
    }
}

fn push_assistant(spec: &RequestSpec<'_>, message: &Message, into: &mut Vec<u8>) {
    let own = spec.reads(message, NAME);
    let content = without_last_thinking(&message.content);
    let body = spec.model.body.as_ref();
    let body = body.and_then(|json| Object::parse(json.as_str()));
    let stored = body.is_some_and(|body| body.get("store") == Some("true"));
    let mut items = Items {
        into,
        own,
        stored,
        ids: own && !spec.is_digested && content.iter().all(|block| keeps_id(block, stored)),
        message: None,
        thoughts: Vec::new(),
    };
    content.iter().for_each(|block| items.push(block));
    items.close_message();
}

/// True when the block's item has an id that may be sent, or needs none.
fn keeps_id(block: &Block, stored: bool) -> bool {
    let vendor = match block {
        // The id of a custom tool's call cannot be the id of a function's call.
        Block::ToolCall { vendor, .. }
            if item_of(vendor).is_some()
                && item_type(block).is_none()
                && custom_input(block, CUSTOM_CALL).is_none() =>
        {
            return false;
        }
        Block::Text { vendor, .. } | Block::ToolCall { vendor, .. } => vendor,
        Block::Thinking {
            signature, vendor, ..
        } => match item_of(vendor) {
            Some(object) if stored || signature.is_some() || object.get("field").is_some() => vendor,
            // The part is not the last of its item.
            None => return true,
            Some(_) => return false,
        },
        Block::Refusal { .. } => return false,
        _ => return true,
    };
    id_of(vendor.as_ref()).is_some_and(|id| (1..=MAX_ID_BYTES).contains(&id.len()))
}

fn id_of(vendor: Option<&Json>) -> Option<String> {
    Some(Object::parse(vendor?.as_str())?.string("id")?.into_owned())
}

/// The fields of the reasoning item, which are stored in its last part.
fn item_of(vendor: &Option<Json>) -> Option<Object<'_>> {
    Object::parse(vendor.as_ref()?.as_str()).filter(|object| object.get("type").is_some())
}

/// The items of an assistant message while they are written.
struct Items<'a, 'b> {
    into: &'b mut Vec<u8>,
    own: bool,
    stored: bool,
    ids: bool,
    /// The open message item, as the vendor fields of its first part.
    message: Option<Option<&'a Json>>,
    /// The parts of a reasoning item before its last.
    thoughts: Vec<&'a Block>,
}

impl<'a> Items<'a, '_> {
    fn push(&mut self, block: &'a Block) {
        match block {
            Block::Text { text, vendor, .. } if !text.is_empty() => {
                let vendor = vendor.as_ref().filter(|_| self.own);
                self.open_message(vendor);
                open(self.into, "output_text");
                push_text(self.into, "text", text);
                let object = vendor.and_then(|json| Object::parse(json.as_str()));
                if let Some(annotations) = object.and_then(|object| object.get("annotations")) {
                    push_raw(self.into, "annotations", annotations);
                }
                self.into.push(b'}');
            }
            Block::Refusal { text } => {
                let same = self.message.flatten();
                self.open_message(same);
                open(self.into, "refusal");
                push_text(self.into, "refusal", text);
                self.into.push(b'}');
            }
            Block::Thinking { .. } if self.own => {
                self.thoughts.push(block);
                self.close_reasoning(block);
            }
            Block::ToolCall {
                id,
                name,
                input,
                vendor,
            } => {
                self.close_message();
                if let Some(kind) = item_type(block).filter(|_| self.own) {
                    open_item(self.into, &kind);
                    OPENAI_RESPONSES.push_id(self.into, "call_id", id);
                    push_item_input(input, self.into);
                    return self.push_further(vendor.as_ref(), &["type"]);
                }
                let custom = custom_input(block, CUSTOM_CALL).filter(|_| self.own);
                open_item(
                    self.into,
                    if custom.is_some() {
                        "custom_tool_call"
                    } else {
                        "function_call"
                    },
                );
                OPENAI_RESPONSES.push_id(self.into, "call_id", id);
                push_text(self.into, "name", &OPENAI_RESPONSES.tool_name(name));
                match custom {
                    Some(input) => push_text(self.into, "input", &input),
                    None => push_arguments(input, self.into),
                }
                self.push_further(vendor.as_ref(), &["type"]);
            }
            Block::Raw { json } if self.own && can_return(block) => {
                self.close_message();
                self.into.push(b',');
                self.into.extend_from_slice(json.as_str().as_bytes());
            }
            _ => {}
        }
    }

    /// Opens a message item. Parts with equal ids, or without ids, belong to one item.
    fn open_message(&mut self, vendor: Option<&'a Json>) {
        if self.message.is_some_and(|known| id_of(known) == id_of(vendor)) {
            return;
        }
        self.close_message();
        self.message = Some(vendor);
        open_item(self.into, "message");
        self.into.extend_from_slice(br#","role":"assistant","content":["#);
    }

    fn close_message(&mut self) {
        self.thoughts.clear();
        if let Some(vendor) = self.message.take() {
            self.into.push(b']');
            self.push_further(vendor, &["type", "annotations", "logprobs"]);
        }
    }

    /// Writes the reasoning item that ends with `block`.
    fn close_reasoning(&mut self, block: &'a Block) {
        let Block::Thinking {
            signature, vendor, ..
        } = block
        else {
            return;
        };
        let Some(item) = item_of(vendor) else { return };
        let thoughts = std::mem::take(&mut self.thoughts);
        if !self.stored && signature.is_none() && item.get("field").is_none() {
            return;
        }
        self.close_message();
        open_item(self.into, "reasoning");
        push_thoughts(&thoughts, "summary", "summary_text", self.into);
        let is_open = |block: &&Block| matches!(block, Block::Thinking { vendor, .. } if came_in_content(vendor.as_ref()));
        if thoughts.iter().any(is_open) {
            push_thoughts(&thoughts, "content", "reasoning_text", self.into);
        }
        if let Some(signature) = signature {
            push_text(self.into, "encrypted_content", signature);
        }
        self.push_further(vendor.as_ref(), &["type", "field"]);
    }

    /// Ends an item with the vendor's other fields.
    fn push_further(&mut self, vendor: Option<&Json>, ours: &[&str]) {
        let mut ours = ours.to_vec();
        if !self.ids {
            ours.push("id");
        }
        push_vendor(self.into, vendor.filter(|_| self.own), &ours);
        self.into.push(b'}');
    }
}

fn open_item(into: &mut Vec<u8>, r#type: &str) {
    into.extend_from_slice(b",{");
    push_text(into, "type", r#type);
}

/// Writes the texts that were in `list`.
fn push_thoughts(thoughts: &[&Block], list: &str, r#type: &str, into: &mut Vec<u8>) {
    push_raw(into, list, "[");
    for block in thoughts {
        if let Block::Thinking { text, vendor, .. } = block
            && !text.is_empty()
            && came_in_content(vendor.as_ref()) == (list == "content")
        {
            open(into, r#type);
            push_text(into, "text", text);
            into.push(b'}');
        }
    }
    into.push(b']');
}

fn came_in_content(vendor: Option<&Json>) -> bool {
    let object = vendor.and_then(|json| Object::parse(json.as_str()));
    object.is_some_and(|object| object.get("field").is_some())
}

/// Writes a user's message: results, then raw items, then a message of the other blocks. Raw parts of a message
/// (`input_…`) stay in it.
fn push_user(spec: &RequestSpec<'_>, content: &[Block], into: &mut Vec<u8>) {
    let calls = calls_by_id(spec.before.filter(|before| spec.reads(before, NAME)));
    for block in content {
        if let Block::ToolResult {
            call_id,
            content,
            is_error,
            ..
        } = block
        {
            let call = calls.get(call_id.as_str()).copied();
            let item = call.and_then(item_type);
            let is_custom = call.is_some_and(|call| custom_input(call, CUSTOM_CALL).is_some());
            match &item {
                Some(kind) => open_item(into, &format!("{kind}_output")),
                None if is_custom => open_item(into, "custom_tool_call_output"),
                None => open_item(into, "function_call_output"),
            }
            OPENAI_RESPONSES.push_id(into, "call_id", call_id);
            match &item {
                Some(kind) => push_item_output(kind, content, *is_error, into),
                None => push_output(content, into),
            }
            if let Some(caller) = call.and_then(caller_of) {
                push_raw(into, "caller", caller);
            }
            into.push(b'}');
        }
    }
    let mut parts = Vec::new();
    for block in content {
        match block {
            Block::ToolResult { .. } => {}
            Block::Raw { json } if !is_part(json) => {
                into.push(b',');
                into.extend_from_slice(json.as_str().as_bytes());
            }
            _ => parts.push(block),
        }
    }
    let start = into.len();
    into.extend_from_slice(br#",{"role":"user","content":"#);
    match parts.as_slice() {
        [Block::Text { text, .. }] if !text.is_empty() => push_string(into, text),
        parts => {
            into.push(b'[');
            let empty = into.len();
            parts.iter().for_each(|block| push_part(block, into));
            if into.len() == empty {
                return into.truncate(start);
            }
            into.push(b']');
        }
    }
    into.push(b'}');
}

/// The program of the vendor that made this call, if any. Its result names it too.
fn caller_of(call: &Block) -> Option<&str> {
    match call {
        Block::ToolCall {
            vendor: Some(vendor), ..
        } => Object::parse(vendor.as_str())?.get("caller"),
        _ => None,
    }
}

fn is_part(json: &Json) -> bool {
    let object = Object::parse(json.as_str());
    object.is_some_and(|object| object.word("type").starts_with("input_"))
}

/// Writes a result: only text as a string, any other content as a list.
fn push_output(content: &[Block], into: &mut Vec<u8>) {
    if content.iter().all(|block| text_of(block).is_some()) {
        push_text(into, "output", &result_text(content));
        return;
    }
    push_raw(into, "output", "[");
    content.iter().for_each(|block| push_part(block, into));
    into.push(b']');
}

fn push_part(block: &Block, into: &mut Vec<u8>) {
    match block {
        Block::Text { text, .. } | Block::Refusal { text } if !text.is_empty() => {
            open(into, "input_text");
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

/// Writes an image, or a file for every other type: <https://platform.openai.com/docs/guides/pdf-files> (2026-11-21).
fn push_media(media_type: &str, source: &MediaSource, name: Option<&str>, into: &mut Vec<u8>) {
    let is_image = media_type.starts_with("image/");
    open(into, if is_image { "input_image" } else { "input_file" });
    match (source, is_image) {
        (MediaSource::Url(url), true) => push_text(into, "image_url", url),
        (MediaSource::Url(url), false) => push_text(into, "file_url", url),
        (MediaSource::Data(data), true) => {
            into.extend_from_slice(br#","image_url":"#);
            push_data_url(media_type, data, into);
        }
        (MediaSource::Data(data), false) => {
            // The name must have an ending. The API accepts `.txt` for every kind of text.
            let is_text = media_type.starts_with("text/");
            let kind = media_type.split_once('/').map_or(media_type, |(_, kind)| kind);
            let ending = if is_text { "txt" } else { kind };
            let name = match name {
                Some(name) if name.contains('.') => name.to_owned(),
                name => format!("{}.{ending}", name.unwrap_or("document")),
            };
            push_text(into, "filename", &name);
            into.extend_from_slice(br#","file_data":"#);
            push_data_url(media_type, data, into);
        }
    }
    into.push(b'}');
}
