//! Decodes Converse's answers, streamed or complete, into an [`ModelAnswer`].
//!
//! The order of events is `messageStart`; for each block `contentBlockStart` (tools only), deltas,
//! `contentBlockStop`; then `messageStop` with the reason and `metadata` with the usage. Every event has a padding
//! `p`. Unknown events and fields are ignored.
//!
//! The model call feeds messages of the binary framing, then calls [`BedrockDecoder::finish`]. An exception,
//! unreadable JSON and an early end fail.

use std::collections::BTreeMap;

use looplet_scan::reader::Object;

use crate::engine::model::answer::ModelAnswer;
use crate::engine::model::error::Failure;
use crate::engine::model::usage::{Tier, Usage};
use crate::engine::protocol::answer::finish_reason::note_reason;
use crate::engine::protocol::answer::opening::{body_object, body_text, event_object, event_text};
use crate::engine::protocol::bedrock::block::{KINDS, OpenBlock, place_citations, said};
use crate::engine::protocol::failure::{decode_error_value, decode_exception, malformed};

/// The state between events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BedrockDecoder {
    /// Blocks that have started and not stopped, by the vendor's index.
    open: BTreeMap<u32, OpenBlock>,
    /// True if `messageStop` was received, with or without a reason.
    stopped: bool,
    /// True if `metadata` was received, after the end of the message.
    done: bool,
}

impl BedrockDecoder {
    /// Decodes the payload of one message. `event` is its name as in [`crate::engine::protocol::eventstream`].
    ///
    /// # Errors
    /// The failure that an exception reports, or `malformed_stream`.
    pub fn decode_event(
        &mut self,
        event: &[u8],
        data: &[u8],
        answer: &mut ModelAnswer,
    ) -> Result<(), Failure> {
        if self.done {
            return Ok(());
        }
        if let Some(kind) = event.strip_prefix(b"!") {
            return Err(decode_exception(kind, data));
        }
        self.decode_object(event, &event_object(&event_text(data)?)?, answer);
        Ok(())
    }

    fn decode_object(&mut self, event: &[u8], body: &Object<'_>, answer: &mut ModelAnswer) {
        // A delta without an index continues the last block, or begins the first.
        let last = self.open.last_key_value().map_or(0, |(index, _)| *index);
        let index = body
            .number("contentBlockIndex")
            .map_or(Some(last.into()), Some)
            .and_then(|index| u32::try_from(index).ok());
        match event {
            b"contentBlockStart" => {
                if let (Some(index), Some(start)) = (index, body.object("start")) {
                    self.stop(index, answer);
                    if let Some(block) = OpenBlock::start(&start, answer) {
                        self.open.insert(index, block);
                    }
                }
            }
            b"contentBlockDelta" => {
                if let (Some(index), Some(delta)) = (index, body.object("delta")) {
                    self.read_delta(index, &delta, answer);
                }
            }
            b"contentBlockStop" => {
                if let Some(index) = index {
                    self.stop(index, answer);
                }
            }
            b"messageStop" => {
                self.stop_all(answer);
                self.stopped = true;
                read_stop_reason(body, answer);
            }
            b"metadata" => {
                read_usage(body, answer);
                if self.stopped {
                    answer.complete = true;
                    self.done = true;
                }
            }
            _ => {}
        }
    }

    /// Reads a delta. A delta that does not match the block of its index begins another one.
    fn read_delta(&mut self, index: u32, delta: &Object<'_>, answer: &mut ModelAnswer) {
        let known = |key: &str, value: &str| KINDS.contains(&key) && value != "null";
        let mut keys: Vec<&str> = Vec::new();
        keys.extend(
            delta
                .fields()
                .filter(|(key, value)| known(key, value))
                .map(|(key, _)| key),
        );
        if keys.is_empty() {
            keys.extend(said(delta).map(|(key, _)| key));
        }
        for key in keys {
            let open = self.open.get(&index);
            if !open.is_some_and(|block| block.takes(key, delta, answer)) {
                let Some(block) = OpenBlock::start_by(key, delta, answer) else {
                    continue;
                };
                self.stop(index, answer);
                self.open.insert(index, block);
            }
            if let Some(block) = self.open.get_mut(&index) {
                block.read_delta(key, delta, answer);
            }
        }
        if let Some(block) = self.open.get_mut(&index) {
            block.keep_others(delta, answer);
        }
    }

    /// Ends the body. A stream with a stopped message is complete, even without `metadata`.
    ///
    /// # Errors
    /// `malformed_stream` if the body ended earlier.
    pub fn finish(&mut self, answer: &mut ModelAnswer) -> Result<(), Failure> {
        if !self.stopped {
            return Err(malformed("the stream ended before the message did", &[]));
        }
        self.stop_all(answer);
        answer.complete = true;
        self.done = true;
        Ok(())
    }

    /// Decodes a message that is not streamed.
    ///
    /// # Errors
    /// The failure that the body reports, or `malformed_stream`.
    pub fn decode_body(&mut self, body: &[u8], answer: &mut ModelAnswer) -> Result<(), Failure> {
        let text = body_text(body)?;
        self.read_body(&body_object(&text)?, &text, body, answer)
    }

    fn read_body(
        &mut self,
        whole: &Object<'_>,
        text: &str,
        body: &[u8],
        answer: &mut ModelAnswer,
    ) -> Result<(), Failure> {
        let output = whole.object("output");
        let Some(message) = output.and_then(|output| output.object("message")) else {
            let is_error = ["message", "Message", "error", "__type"]
                .iter()
                .any(|key| whole.get(key).is_some());
            return Err(if is_error {
                decode_error_value(text)
            } else {
                malformed("the body is not a message", body)
            });
        };
        for block in message.items("content") {
            let block = Object::parse(block).unwrap_or_default();
            if let Some(open) = OpenBlock::start(&block, answer) {
                open.stop(answer);
            }
        }
        self.stop_all(answer);
        read_stop_reason(whole, answer);
        read_usage(whole, answer);
        answer.complete = true;
        self.done = true;
        Ok(())
    }

    fn stop(&mut self, index: u32, answer: &mut ModelAnswer) {
        if let Some(block) = self.open.remove(&index) {
            block.stop(answer);
        }
    }

    fn stop_all(&mut self, answer: &mut ModelAnswer) {
        for block in std::mem::take(&mut self.open).into_values() {
            block.stop(answer);
        }
        place_citations(answer);
    }
}

fn read_stop_reason(from: &Object<'_>, answer: &mut ModelAnswer) {
    note_reason(from.owned("stopReason"), answer);
}

/// Reads the usage. `inputTokens` excludes tokens read from or written to the cache.
fn read_usage(from: &Object<'_>, answer: &mut ModelAnswer) {
    let Some(usage) = from.object("usage") else { return };
    let tier = from.object("serviceTier");
    answer.terms.tier = tier.and_then(|tier| Tier::read(tier.word("type")));
    let count = |name: &str| usage.number(name).unwrap_or(0);
    let (read, write) = (count("cacheReadInputTokens"), count("cacheWriteInputTokens"));
    let mut hour = 0u64;
    for detail in usage.items("cacheDetails") {
        let detail = Object::parse(detail).unwrap_or_default();
        if detail.is("ttl", "1h") {
            hour = hour.saturating_add(detail.number("inputTokens").unwrap_or(0));
        }
    }
    answer.set_usage(Usage {
        input_tokens: count("inputTokens").saturating_add(read).saturating_add(write),
        output_tokens: count("outputTokens"),
        cache_read_tokens: read,
        cache_write_tokens: write,
        cache_write_hour_tokens: hour,
        ..Usage::default()
    });
}
