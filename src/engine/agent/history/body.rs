//! The body of an agent's requests, which grows with the conversation.
//!
//! It owns the bytes. The head is encoded once, and each message is encoded once and appended. [`Body::close`]
//! appends what is new and the end of the request. The next call removes that end. The transcript calls
//! [`Body::forget`] when it changes a message that is already encoded.

use std::borrow::Cow;

use looplet_scan::reader::Object;

use crate::engine::json::checksum::{FNV, fnv, mixed};
use crate::engine::json::writer::push_others;
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::{Block, Message, NOTHING, Role};
use crate::engine::policy::context::old_calls;
use crate::engine::protocol::request::media::mended;
use crate::engine::protocol::request::prefix::summary::{
    Signed, SummaryForm, after_summary, forget_signed, has_signed,
};
use crate::engine::protocol::request::prefix::{Prefix, without_reasoning};
use crate::engine::protocol::request::thinking_turn::model_of_turn;
use crate::engine::protocol::request::vendor_tools::with_fields;
use crate::engine::protocol::{Marks, Prefill, Protocol, RequestSpec, waits_for_results};

/// A body with the first messages of a transcript.
#[derive(Clone, Debug, Default)]
pub struct Body {
    bytes: Vec<u8>,
    /// The lengths of what precedes and of what follows the messages.
    around: (usize, usize),
    /// The number of messages that are encoded.
    encoded: usize,
    /// True when a message has content.
    has_messages: bool,
    /// True when the last message with content is the user's.
    ends_with_user: bool,
    marks: Marks,
    /// The prefix of the body, if the protocol ties reasoning to it.
    prefix: Option<Prefix>,
    /// The number of messages with reasoning that is left out because their prefix has changed.
    reasoning_left_out: usize,
    /// The encoded messages, if requests are compared. One without content is as long as nothing.
    sent: Vec<SentMessage>,
    /// The number of them that the last comparison has seen.
    compared: usize,
}

/// A message of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentMessage {
    pub digest: u64,
    /// The length of the messages up to here.
    pub end: u64,
}

impl Body {
    /// The body of a request with `messages`, which begin with the messages that are encoded already.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub fn close(
        &mut self,
        protocol: &Protocol,
        spec: &RequestSpec<'_>,
        messages: &[Message],
        is_compared: bool,
    ) -> Result<&[u8], ConfigError> {
        let is_first = self.bytes.is_empty();
        if is_first {
            let model = model_of_turn(protocol, spec.model, messages);
            let model = &with_fields(protocol, spec, model);
            let mut head = Vec::new();
            (protocol.encode_head)(&RequestSpec { model, ..*spec }, &mut head)?;
            self.prefix = Prefix::of_head(protocol, &RequestSpec { model, ..*spec })?;
            self.marks = Marks::after(&head, model);
            self.around.0 = head.len();
            self.bytes = head;
        } else if self.encoded == messages.len() {
            return Ok(&self.bytes);
        }
        self.marks.undo(&mut self.bytes);
        let start = is_first.then(|| (self.clone(), messages.len()));
        self.push_new(protocol, spec, messages, is_compared);
        let better = start.and_then(|(mut start, messages)| {
            let prefix = self.prefix.as_ref()?;
            start.prefix = Some(prefix.with_best_chain(start.prefix.as_ref()?, messages)?);
            Some(start)
        });
        if let Some(better) = better {
            *self = better;
            self.push_new(protocol, spec, messages, is_compared);
        }
        self.marks.place(&(protocol.marked_end)(spec), &mut self.bytes);
        let end = self.bytes.len();
        push_tail(protocol, spec, messages, &mut self.bytes);
        self.around.1 = self.bytes.len() - end;
        self.encoded = messages.len();
        Ok(&self.bytes)
    }

    /// A digest of what precedes the messages and of the first `upto` of them, if they are compared.
    pub fn digest(&self, upto: usize) -> Option<u64> {
        let head = fnv(FNV, self.bytes.get(..self.around.0)?);
        let sent = self.sent.get(..upto)?.iter();
        Some(sent.fold(head, |digest, message| mixed(digest, message.digest)))
    }

    /// The digest of a body after this message is added. `digest` is that of the messages before it.
    pub fn digest_with(digest: u64, protocol: &Protocol, spec: &RequestSpec<'_>, message: &Message) -> u64 {
        let mut body = Body {
            has_messages: true,
            ends_with_user: true,
            ..Body::default()
        };
        body.push(protocol, spec, &as_sent(message, &[]), 0);
        mixed(digest, fnv(FNV, &body.bytes))
    }

    /// The closed body without its messages, and the messages after the first `upto`, with a comma before each.
    pub fn split(&self, upto: usize) -> Option<(Vec<u8>, &[u8])> {
        let (head, tail) = (self.around.0, self.bytes.len().checked_sub(self.around.1)?);
        let last = upto.checked_sub(1).and_then(|at| self.sent.get(at));
        let from = self
            .marks
            .place_of(head + last.map_or(0, |last| last.end as usize));
        let without = [self.bytes.get(..head)?, self.bytes.get(tail..)?].concat();
        Some((without, self.bytes.get(from..tail)?))
    }

    /// Appends the messages that are not encoded yet.
    fn push_new(
        &mut self,
        protocol: &Protocol,
        spec: &RequestSpec<'_>,
        messages: &[Message],
        is_compared: bool,
    ) {
        let known = self.encoded.checked_sub(1).and_then(|at| messages.get(at));
        let after = |at: usize| messages.get(at + 1..).unwrap_or_default();
        let mut before = known.map(|known| as_sent(known, after(self.encoded - 1)));
        for (at, message) in messages.iter().enumerate().skip(self.encoded) {
            let start = self.bytes.len();
            let signed = Signed::of(message, protocol, spec.model).filter(|_| at == 0);
            let message = match signed {
                Some(signed) => {
                    self.begin_with(&signed);
                    match after_summary(message) {
                        Some(rest) => Cow::Owned(rest),
                        None if is_compared => {
                            self.note_sent(start);
                            continue;
                        }
                        None => continue,
                    }
                }
                None => as_sent(message, after(at)),
            };
            let before_it = before.as_deref();
            self.push(
                protocol,
                &RequestSpec {
                    before: before_it,
                    ..*spec
                },
                &message,
                at,
            );
            before = Some(message);
            self.push_changes(spec, at);
            if is_compared {
                self.note_sent(start);
            }
        }
    }

    /// The prefix that an answer to this body stores. `None` if the protocol does not tie reasoning to it.
    pub fn prefix(&self) -> Option<String> {
        self.prefix.as_ref().map(Prefix::to_text)
    }

    /// The number of messages with reasoning that is left out because their prefix has changed.
    pub fn reasoning_left_out(&self) -> usize {
        self.reasoning_left_out
    }

    /// True if reasoning is in the body that its vendor ties to what precedes it.
    pub fn has_reasoning(&self) -> bool {
        self.prefix.as_ref().is_some_and(Prefix::has_reasoning)
    }

    /// The body of a request for a summary of `messages`, and the prefix that the summary stores.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub fn of_summary(
        protocol: &Protocol,
        spec: &RequestSpec<'_>,
        messages: &[Message],
        (form, instructions): (&SummaryForm, Option<&str>),
    ) -> Result<(Vec<u8>, Option<String>), ConfigError> {
        let mut body = Body::default();
        body.close(protocol, spec, messages, false)?;
        let request = str::from_utf8(&body.bytes).ok().and_then(Object::parse);
        let mut bytes = Vec::new();
        (form.encode)(&request.unwrap_or_default(), instructions, &mut bytes);
        Ok((bytes, body.prefix.as_ref().and_then(Prefix::of_summary)))
    }

    /// The number of messages that are encoded.
    pub fn encoded(&self) -> usize {
        self.encoded
    }

    /// The body of a request with nothing but `messages`.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub fn whole(
        protocol: &Protocol,
        spec: &RequestSpec<'_>,
        messages: &[Message],
    ) -> Result<Vec<u8>, ConfigError> {
        let mut body = Body::default();
        body.close(protocol, spec, messages, false)?;
        Ok(body.bytes)
    }

    /// The body of a request with `messages` that ends with the beginning of the answer.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub fn prefilled(
        protocol: &Protocol,
        spec: &RequestSpec<'_>,
        messages: &[Message],
        (text, prefill): (&str, &Prefill<'_>),
    ) -> Result<Vec<u8>, ConfigError> {
        let mut bytes = Body::whole(protocol, spec, messages)?;
        let mut tail = Vec::new();
        push_tail(protocol, spec, messages, &mut tail);
        bytes.truncate(bytes.len().saturating_sub(tail.len()));
        let begun = Message::assistant(vec![Block::text(text)]);
        (protocol.encode_message)(spec, &begun, &mut bytes);
        push_into_object(&prefill.message, &mut bytes);
        bytes.append(&mut tail);
        push_into_object(&prefill.body, &mut bytes);
        Ok(bytes)
    }

    /// The messages, if they are compared.
    pub fn compared(&self) -> &[SentMessage] {
        &self.sent
    }

    /// The number of messages that the last comparison has seen. The next one has seen all.
    pub fn take_compared(&mut self) -> usize {
        std::mem::replace(&mut self.compared, self.sent.len())
    }

    /// Records where the bytes of a message start.
    fn note_sent(&mut self, start: usize) {
        // The first one has lost the comma before it.
        let start = start.min(self.bytes.len());
        let bytes = self.bytes.get(start..).unwrap_or_default();
        let before = self.sent.last().map_or(0, |message| message.end);
        self.sent.push(SentMessage {
            digest: fnv(FNV, bytes),
            end: before + bytes.len() as u64,
        });
    }

    /// Encodes the next body from scratch, for changed messages, another model or other tools.
    pub fn forget(&mut self) {
        *self = Body::default();
    }

    /// Starts the messages with a vendor's summary.
    fn begin_with(&mut self, signed: &Signed<'_>) {
        let start = self.bytes.len();
        signed.push(&mut self.bytes);
        if let Some(prefix) = &mut self.prefix {
            prefix.begin_with(&signed.prefix, self.bytes.get(start..).unwrap_or_default());
        }
        self.drop_comma(start);
        self.has_messages = true;
    }

    fn push(&mut self, protocol: &Protocol, spec: &RequestSpec<'_>, message: &Message, at: usize) {
        let end = self.bytes.len();
        let is_user = message.role == Role::User;
        // Nothing of the answer between two user messages is sent. Chat templates want the roles to alternate all the
        // same:
        // <https://github.com/vllm-project/vllm/issues/6862>, <https://github.com/mistralai/mistral-vibe/issues/255>
        // (2026-11-22)
        let filler = match (is_user, self.has_messages) {
            (true, _) if self.ends_with_user => Some(Message::nothing()),
            (false, false) if protocol.begins_with_user => Some(Message::user(vec![Block::text(NOTHING)])),
            _ => None,
        };
        if let Some(filler) = filler {
            (protocol.encode_message)(spec, &filler, &mut self.bytes);
            self.drop_comma(end);
        }
        // A custom model has no such row, so it gets the application's message unchanged.
        let message = &*match protocol.accepts {
            Some(accepts) => mended(message, accepts),
            None => Cow::Borrowed(message),
        };
        let start = self.bytes.len();
        self.marks.note(message, start);
        self.push_after_prefix(protocol, spec, message, (at, end));
        if self.bytes.len() == start {
            self.bytes.truncate(end);
            return;
        }
        self.ends_with_user = is_user;
        self.has_messages = true;
        self.drop_comma(start);
    }

    /// Appends a message, with its reasoning if the vendor takes that here. The bytes from `end` on belong to it.
    fn push_after_prefix(
        &mut self,
        protocol: &Protocol,
        spec: &RequestSpec<'_>,
        message: &Message,
        (at, end): (usize, usize),
    ) {
        let Some(prefix) = &mut self.prefix else {
            return (protocol.encode_message)(spec, message, &mut self.bytes);
        };
        let without = without_reasoning(message);
        let start = self.bytes.len();
        let digested = RequestSpec {
            is_digested: true,
            ..*spec
        };
        (protocol.encode_message)(&digested, without.as_ref().unwrap_or(message), &mut self.bytes);
        if self.bytes.len() == start {
            return;
        }
        let may_read = without.is_some() && spec.reads(message, protocol.name);
        let sends_reasoning =
            may_read && prefix.allows(message, at, spec.blocks_read(message, protocol.name));
        prefix.push(self.bytes.get(end..).unwrap_or_default());
        if sends_reasoning {
            prefix.note_reasoning(message);
        } else if may_read {
            self.reasoning_left_out += 1;
        }
        let sent = if sends_reasoning {
            message
        } else {
            without.as_ref().unwrap_or(message)
        };
        let has_ids =
            protocol.bound.is_some_and(|bound| bound.has_item_ids) && message.role == Role::Assistant;
        if has_ids || sends_reasoning {
            self.bytes.truncate(start);
            (protocol.encode_message)(spec, sent, &mut self.bytes);
        }
    }

    /// Appends the changes that are sent after this message.
    fn push_changes(&mut self, spec: &RequestSpec<'_>, at: usize) {
        let Some(form) = spec.appended.form.filter(|_| self.ends_with_user) else {
            return;
        };
        let changes = spec.appended.head.into_iter().flat_map(|head| &head.changes);
        let changes = changes.chain(spec.appended.last);
        for change in changes.filter(|change| change.at == at) {
            let start = self.bytes.len();
            (form.encode)(form, change, &mut self.bytes);
            if let Some(prefix) = &mut self.prefix {
                prefix.push(self.bytes.get(start..).unwrap_or_default());
            }
        }
    }

    /// Each item begins with a comma. Removes it from the first item of a list.
    fn drop_comma(&mut self, start: usize) {
        if self.bytes.get(start.wrapping_sub(1)) == Some(&b'[') {
            self.bytes.remove(start);
        }
    }
}

fn push_tail(protocol: &Protocol, spec: &RequestSpec<'_>, messages: &[Message], into: &mut Vec<u8>) {
    let before = messages.len().checked_sub(2).and_then(|at| messages.get(at));
    let mut clearing = spec.clearing;
    let old = clearing.policy.and_then(|policy| old_calls(messages, policy));
    clearing.keep = old.map(|old| old.later_calls);
    let spec = RequestSpec {
        before,
        clearing,
        ..*spec
    };
    (protocol.encode_tail)(&spec, into);
}

/// Adds fields to the object at the end of a text.
fn push_into_object(fields: &Object<'_>, into: &mut Vec<u8>) {
    into.pop();
    push_others(into, fields, &[]);
    into.push(b'}');
}

/// The form in which a message is sent. A shortened message is sent as if another model had written it, without its
/// thinking, because the signature is for the complete message. An interrupted answer is sent without unsigned
/// thinking. A vendor's summary that the model cannot read is sent as text. If another answer follows an answer
/// before its server tool has returned, the call is left out, because the vendor rejects a call without a result.
fn as_sent<'a>(message: &'a Message, after: &[Message]) -> Cow<'a, Message> {
    if let Some(next) = left_by(message, after) {
        return Cow::Owned(as_sent(&without_open_calls(message, next), &[]).into_owned());
    }
    let is_left_out = |block: &Block| match block {
        Block::Thinking { signature, .. } => message.compacted || (message.partial && signature.is_none()),
        Block::RedactedThinking { .. } => message.compacted,
        _ => false,
    };
    if !message.compacted && !message.content.iter().any(is_left_out) && !has_signed(message) {
        return Cow::Borrowed(message);
    }
    let mut as_sent = message.clone();
    forget_signed(&mut as_sent);
    as_sent.content.retain(|block| !is_left_out(block));
    as_sent.origin = as_sent.origin.filter(|_| !message.compacted);
    Cow::Owned(as_sent)
}

/// The content of the next answer, if it has no result for a server tool's call in this one.
fn left_by<'a>(message: &Message, after: &'a [Message]) -> Option<&'a [Block]> {
    let mut answers = after.iter().filter(|later| later.role == Role::Assistant);
    let next = answers.next().map(|next| next.content.as_slice());
    let is_left = |next: &&[Block]| !next.is_empty() && waits_for_results(message, next);
    next.filter(|_| message.role == Role::Assistant).filter(is_left)
}

/// The answer without its server tool calls that have no result in the next answer.
fn without_open_calls(message: &Message, next: &[Block]) -> Message {
    let mut left = message.clone();
    let mut at = 0;
    left.content.retain(|block| {
        at += 1;
        let later = [message.content.get(at..).unwrap_or_default(), next].concat();
        let only = Message {
            content: vec![block.clone()],
            origin: message.origin.clone(),
            ..Message::nothing()
        };
        !waits_for_results(&only, &later)
    });
    left
}
