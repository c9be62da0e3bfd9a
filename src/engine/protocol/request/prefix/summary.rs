//! Summaries that the vendor of a model writes, and signs or encrypts.
//!
//! A protocol has a [`SummaryForm`] if its vendor summarises on demand. The agent asks for a summary of the first
//! messages, and stores it as [`Signed`] in the `vendor` of the block that replaces them. A request to the same
//! vendor begins with the vendor's own items. Every other model gets the text of the block.
//!
//! Reasoning after a signed summary remains valid: the vendor treats the summary as the messages that it replaces, if
//! system prompt and tools are the same. So [`Signed::prefix`] is the prefix at the end of these messages.
//! <https://platform.claude.com/docs/en/build-with-claude/compaction-thinking-blocks> (2026-09-22),
//! <https://developers.openai.com/api/docs/guides/keep-prefix-unchanged> (2026-11-28)
//!
//! Nothing fails: a summary that cannot be read is sent as a text.

use std::borrow::Cow;

use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_flag, push_raw, push_text, push_text_if, written};
use crate::engine::model::config::ModelConfig;
use crate::engine::model::message::{Block, Json, Message, TextPurpose};
use crate::engine::policy::models::row;
use crate::engine::protocol::Protocol;

/// How a vendor summarises on demand.
#[derive(Debug)]
pub struct SummaryForm {
    /// The end of the URL after that of other requests.
    pub path: &'static str,
    /// The value of `anthropic-beta` that the request needs, and each request with the summary; empty for none.
    pub beta: &'static str,
    /// Whether the request can say what the summary has to contain.
    pub takes_instructions: bool,
    /// Fields of the caller's `body` with which the vendor shortens or stores the conversation in another way.
    pub excluded_by: &'static [&'static str],
    /// Writes the request, from the ordinary one with the messages that are summarised, and the instructions.
    pub encode: fn(&Object<'_>, Option<&str>, &mut Vec<u8>),
    /// Reads a block of the answer that has no neutral form: the text of the summary, which may be empty, and its
    /// items with commas between them. `None` for another block.
    pub read: fn(&str) -> Option<(String, String)>,
    /// Appends the items as the beginning of the messages, with a comma before them.
    pub push: fn(&str, &mut Vec<u8>),
}

/// The form in which the vendor of this model summarises; `None` if it is not known to.
pub fn summary_form(protocol: &Protocol, model: &ModelConfig) -> Option<&'static SummaryForm> {
    let row = row(protocol.name, &model.vendor, &model.model);
    let is_known = row.summaries.contains(&model.vendor.as_str());
    protocol.summary.filter(|_| is_known)
}

/// True if the caller's `body` lets the vendor shorten or store the conversation in another way.
pub fn is_excluded(form: &SummaryForm, model: &ModelConfig) -> bool {
    let body = model.body.as_ref().and_then(|body| Object::parse(body.as_str()));
    body.is_some_and(|body| form.excluded_by.iter().any(|field| body.has(field)))
}

/// A summary of a vendor within a message.
pub struct Signed<'a> {
    pub form: &'static SummaryForm,
    items: &'a str,
    /// The prefix at the end of the messages that it replaces. Empty if no reasoning after it can be sent.
    pub prefix: Cow<'a, str>,
}

impl<'a> Signed<'a> {
    /// The summary at the beginning of this message, if the model can read it.
    pub fn of(message: &'a Message, protocol: &Protocol, model: &ModelConfig) -> Option<Signed<'a>> {
        let object = Object::parse(signed_json(message)?.as_str())?;
        let form = summary_form(protocol, model)?;
        let is_same = object.is("protocol", protocol.name) && object.is("vendor", &model.vendor);
        Some(Signed {
            form,
            items: object.get("items")?.strip_prefix('[')?.strip_suffix(']')?,
            prefix: object.text("prefix"),
        })
        .filter(|_| is_same)
    }

    /// Appends the summary as the beginning of the messages.
    pub fn push(&self, into: &mut Vec<u8>) {
        (self.form.push)(self.items, into);
    }
}

/// The `vendor` of the block of a summary.
/// `is_opaque` says that only the vendor can read it.
pub fn signed(
    protocol: &Protocol,
    model: &ModelConfig,
    (items, is_opaque): (&str, bool),
    prefix: Option<&str>,
) -> Json {
    let mut out = b"{".to_vec();
    push_text(&mut out, "protocol", protocol.name);
    push_text(&mut out, "vendor", &model.vendor);
    push_raw(&mut out, "items", &format!("[{items}]"));
    push_text_if(&mut out, "prefix", prefix);
    if is_opaque {
        push_flag(&mut out, OPAQUE, true);
    }
    out.push(b'}');
    Json::from_valid(&written(out))
}

fn signed_json(message: &Message) -> Option<&Json> {
    match message.content.first()? {
        Block::Text {
            purpose: Some(TextPurpose::Summary),
            vendor,
            ..
        } => vendor.as_ref(),
        _ => None,
    }
}

const OPAQUE: &str = "isOpaque";

/// True if the message begins with a summary that only its vendor can read.
pub fn is_opaque(message: &Message) -> bool {
    let object = signed_json(message).and_then(|json| Object::parse(json.as_str()));
    object.is_some_and(|object| object.get(OPAQUE) == Some("true"))
}

/// True if the message begins with a vendor's summary.
pub fn has_signed(message: &Message) -> bool {
    signed_json(message).is_some()
}

/// Converts the vendor's summary at the beginning of a message to text.
pub fn forget_signed(message: &mut Message) {
    if has_signed(message)
        && let Some(Block::Text { vendor, .. }) = message.content.first_mut()
    {
        *vendor = None;
    }
}

/// The message without the summary at its beginning. `None` if there is nothing else in it.
pub fn after_summary(message: &Message) -> Option<Message> {
    let content = message.content.get(1..).filter(|rest| !rest.is_empty())?;
    Some(Message {
        content: content.to_vec(),
        ..Message::user(Vec::new())
    })
}
