//! Encodes one message in Gemini's form: one content, with its blocks as parts in their order, results first.
//!
//! The encoder leaves out empty text, reasoning of other models, and raw blocks of other protocols. Images that a
//! Gemini made stay, with their signatures. A call that another model wrote has no thought signature of Gemini's.
//! Gemini 3 answers 400 without one on the first call of a content, so the encoder writes the placeholder that the
//! vendor documents for that case. Ids are sent only where Gemini gave them: results are matched by name and order.
//! <https://ai.google.dev/gemini-api/docs/thought-signatures> (2026-11-21)
//!
//! A message is encoded once, when the transcript grows. Nothing fails.

use looplet_scan::check::check;
use looplet_scan::reader::{Object, string};

use crate::engine::json::writer::{push_comma, push_key, push_raw, push_string, push_text, push_text_if};
use crate::engine::model::message::{Block, Json, MediaSource, Message, Role, ToolInput};
use crate::engine::protocol::RequestSpec;
use crate::engine::protocol::answer::made_media::note;
use crate::engine::protocol::gemini::NAME;
use crate::engine::protocol::gemini::decode::SOURCES;
use crate::engine::protocol::request::accepts::GEMINI;
use crate::engine::protocol::request::media::is_text;
use crate::engine::protocol::request::message_parts::{calls_by_id, push_input};
use crate::engine::protocol::vendor_fields::push_vendor;

const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Appends `,{"role":…,"parts":[…]}`.
pub fn encode_message(spec: &RequestSpec<'_>, message: &Message, into: &mut Vec<u8>) {
    let start = into.len();
    into.extend_from_slice(match message.role {
        Role::User => br#",{"role":"user","parts":["#,
        Role::Assistant => br#",{"role":"model","parts":["#,
    });
    let parts = into.len();
    match message.role {
        Role::User => push_user(spec, message, into),
        Role::Assistant => push_model(spec, message, into),
    }
    if into.len() == parts {
        into.truncate(start);
    } else {
        into.extend_from_slice(b"]}");
    }
}

fn push_model(spec: &RequestSpec<'_>, message: &Message, into: &mut Vec<u8>) {
    let is_own = is_own(message);
    let is_same_model = spec.wrote(message, NAME);
    let mut is_first_call = true;
    for block in &message.content {
        match block {
            Block::Thinking {
                text,
                signature,
                vendor,
            } if is_same_model => {
                open(into);
                push_text(into, "text", text);
                push_raw(into, "thought", "true");
                push_text_if(into, "thoughtSignature", signature.as_deref());
                push_vendor(into, vendor.as_ref(), &["text", "thought", "thoughtSignature"]);
                into.push(b'}');
            }
            Block::ToolCall {
                id,
                name,
                input,
                vendor,
            } => {
                let vendor = vendor.as_ref().filter(|_| is_own);
                push_call(id, name, input, vendor, into);
                let is_signed = vendor_field(vendor, "thoughtSignature").is_some();
                if is_first_call && !is_signed && !is_same_model {
                    push_text(into, "thoughtSignature", NO_SIGNATURE);
                }
                into.push(b'}');
                is_first_call = false;
            }
            // Any Gemini accepts images. Only the model that made a sound is known to accept it.
            Block::Media { media_type, .. }
                if !is_same_model && (!is_own || !media_type.starts_with("image/")) =>
            {
                push_part(&note(media_type), false, into);
            }
            Block::Raw { .. } if !is_own => {}
            _ => push_part(block, is_own, into),
        }
    }
}

fn is_own(message: &Message) -> bool {
    message
        .origin
        .as_ref()
        .is_some_and(|origin| origin.protocol == NAME)
}

/// Writes the parts that both roles share. `own` says that the vendor's fields may be sent.
fn push_part(block: &Block, own: bool, into: &mut Vec<u8>) {
    match block {
        Block::Text { text, vendor, .. } if !text.is_empty() => {
            open(into);
            push_text(into, "text", text);
            let mut ours = SOURCES.to_vec();
            ours.extend(["text", "thought"]);
            push_vendor(into, vendor.as_ref().filter(|_| own), &ours);
            into.push(b'}');
        }
        Block::Refusal { text } => push_part(&Block::text(text.as_str()), false, into),
        Block::Media {
            media_type,
            source,
            vendor,
            ..
        } => {
            open(into);
            let (field, place, value) = match source {
                MediaSource::Data(data) => ("inlineData", "data", data),
                MediaSource::Url(url) => ("fileData", "fileUri", url),
            };
            push_key(into, field);
            into.push(b'{');
            // Of the types of text it knows those of `text/`.
            let is_foreign = is_text(media_type) && !media_type.starts_with("text/");
            push_text(
                into,
                "mimeType",
                if is_foreign { "text/plain" } else { media_type },
            );
            push_text(into, place, value);
            into.push(b'}');
            push_vendor(into, vendor.as_ref().filter(|_| own), &[field]);
            into.push(b'}');
        }
        Block::Raw { json } => {
            push_comma(into);
            into.extend_from_slice(json.as_str().as_bytes());
        }
        _ => {}
    }
}

/// Writes a call and leaves its part open.
fn push_call(id: &str, name: &str, input: &ToolInput, vendor: Option<&Json>, into: &mut Vec<u8>) {
    open(into);
    push_key(into, "functionCall");
    into.push(b'{');
    push_id(id, vendor, into);
    push_text(into, "name", &GEMINI.tool_name(name));
    push_input("args", input, &[], into);
    into.push(b'}');
    push_vendor(into, vendor, &["id", "functionCall"]);
}

/// Writes an id. A repeated id was replaced with one that Gemini does not know, so it is left out.
fn push_id(id: &str, vendor: Option<&Json>, into: &mut Vec<u8>) {
    if let Some(given) = vendor_field(vendor, "id")
        && string(given).as_deref() == Some(id)
    {
        push_raw(into, "id", given);
    }
}

fn vendor_field<'a>(vendor: Option<&'a Json>, name: &str) -> Option<&'a str> {
    Object::parse(vendor?.as_str())?.get(name)
}

fn open(into: &mut Vec<u8>) {
    push_comma(into);
    into.push(b'{');
}

/// Writes a user's message. All results of a round are in one content, in the order of the calls.
fn push_user(spec: &RequestSpec<'_>, message: &Message, into: &mut Vec<u8>) {
    // Before Gemini 3 a result cannot contain media, so they follow it.
    // <https://ai.google.dev/gemini-api/docs/function-calling#multimodal> (2026-11-21)
    let model = &spec.model.model;
    let takes_media = !model.contains("gemini-1") && !model.contains("gemini-2");
    let calls = calls_by_id(spec.before);
    let is_own_call = spec.before.is_some_and(is_own);
    for block in &message.content {
        if let Block::ToolResult {
            call_id,
            content,
            is_error,
            ..
        } = block
        {
            let call = calls.get(call_id.as_str()).copied();
            push_result(call, is_own_call, call_id, content, *is_error, into);
            let head = into.len();
            into.extend_from_slice(br#","parts":["#);
            if !takes_media || !push_media(content, into) {
                into.truncate(head);
            } else {
                into.push(b']');
            }
            into.extend_from_slice(b"}}");
        }
    }
    for block in &message.content {
        match block {
            Block::ToolResult { content, .. } if !takes_media => {
                push_media(content, into);
            }
            _ => push_part(block, true, into),
        }
    }
}

/// Writes the media and the vendor's own parts. Returns true if there are any.
fn push_media(content: &[Block], into: &mut Vec<u8>) -> bool {
    let start = into.len();
    for block in content {
        if matches!(block, Block::Media { .. } | Block::Raw { .. }) {
            push_part(block, false, into);
        }
    }
    into.len() > start
}

/// Writes the result of a call, which is Gemini's if `is_own_call`. A text that is a JSON object is the response
/// itself. Any other text is its `output` or `error`. Leaves the part and its object open.
fn push_result(
    call: Option<&Block>,
    is_own_call: bool,
    call_id: &str,
    content: &[Block],
    is_error: bool,
    into: &mut Vec<u8>,
) {
    let (mut name, mut given) = (call_id, None);
    if let Some(Block::ToolCall {
        name: known, vendor, ..
    }) = call
    {
        name = known;
        given = vendor.as_ref().filter(|_| is_own_call);
    }
    let mut text = String::new();
    for block in content {
        if let Block::Text { text: more, .. } | Block::Refusal { text: more } = block {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(more);
        }
    }
    open(into);
    push_key(into, "functionResponse");
    into.push(b'{');
    push_id(call_id, given, into);
    push_text(into, "name", &GEMINI.tool_name(name));
    push_key(into, "response");
    let object = Some(text.trim_ascii()).filter(|text| text.starts_with('{') && check(text).is_ok());
    let is_whole = object
        .and_then(Object::parse)
        .is_some_and(|object| !is_error || object.get("error").is_some());
    if !is_whole {
        into.push(b'{');
        if !text.is_empty() {
            push_key(into, if is_error { "error" } else { "output" });
        }
    }
    match object {
        Some(json) => into.extend_from_slice(json.as_bytes()),
        None if text.is_empty() => {}
        None => push_string(into, &text),
    }
    if !is_whole {
        into.push(b'}');
    }
}
