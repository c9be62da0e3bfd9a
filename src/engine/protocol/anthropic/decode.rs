//! Decodes Anthropic's answers, streamed or complete, into an [`ModelAnswer`].
//!
//! The order of events is `message_start`; for each block `content_block_start`, deltas, `content_block_stop`; then
//! `message_delta` and `message_stop`. A `ping` may occur anywhere. Events of unknown types are ignored, and deltas
//! of unknown types are stored in their block. Everything after `message_stop` is ignored, for example a gateway's
//! `[DONE]`.
//!
//! The model call feeds events, then calls [`AnthropicDecoder::finish`]. An `error` event, unreadable JSON and an
//! early end fail.

use std::collections::BTreeMap;

use looplet_scan::reader::Object;

use crate::engine::model::answer::{FinishReason, ModelAnswer, PartKind};
use crate::engine::model::error::Failure;
use crate::engine::model::message::Json;
use crate::engine::model::usage::{Terms, Tier, Usage};
use crate::engine::protocol::answer::finish_reason::note_reason;
use crate::engine::protocol::answer::opening::{body_object, body_text, event_object, event_text, read_head};
use crate::engine::protocol::anthropic::block::OpenBlock;
use crate::engine::protocol::anthropic::clearing;
use crate::engine::protocol::anthropic::summary::is_summary;
use crate::engine::protocol::failure::{decode_error_value, malformed};

/// The state between events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnthropicDecoder {
    /// The blocks that have started and not stopped, by the vendor's index.
    open: BTreeMap<u32, OpenBlock>,
    usage: Reported,
    /// The model that continues the answer after Anthropic's fallback. The top-level counts are then its own.
    fallback: Option<String>,
    /// The usage that the top-level counts leave out, by model. `None` is the model that answers.
    other_usage: Vec<(Option<String>, Usage)>,
    /// `message_start` was received.
    has_begun: bool,
    /// `message_stop` was received.
    done: bool,
}

/// Tokens in Anthropic's terms, where `input_tokens` excludes tokens read from or written to the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Reported {
    input: u64,
    cache_write: u64,
    cache_write_hour: u64,
    cache_read: u64,
    output: u64,
    thinking: u64,
}

impl AnthropicDecoder {
    /// Decodes the data of one event.
    ///
    /// # Errors
    /// The failure that an `error` event reports, or `malformed_stream`.
    pub fn decode_event(&mut self, data: &[u8], answer: &mut ModelAnswer) -> Result<(), Failure> {
        let data = data.trim_ascii();
        if self.done || data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        let text = event_text(data)?;
        self.read_event(&event_object(&text)?, &text, answer)
    }

    fn read_event(
        &mut self,
        event: &Object<'_>,
        text: &str,
        answer: &mut ModelAnswer,
    ) -> Result<(), Failure> {
        match event.word("type") {
            "message_start" => {
                if std::mem::replace(&mut self.has_begun, true) {
                    self.restart(answer)?;
                }
                if let Some(message) = event.object("message") {
                    self.read_head(&message, answer);
                }
            }
            "content_block_start" => {
                if let (Some(index), Some(block)) = (block_index(event), event.get("content_block")) {
                    self.read_fallback(block, answer);
                    self.open(index, block, answer);
                }
            }
            "content_block_delta" => {
                if let (Some(index), Some(delta)) = (block_index(event), event.object("delta")) {
                    self.read_delta(index, &delta, answer);
                }
            }
            "content_block_stop" => {
                if let Some(block) = block_index(event).and_then(|index| self.open.remove(&index)) {
                    block.stop(answer);
                }
            }
            "message_delta" => {
                if let Some(delta) = event.object("delta") {
                    read_stop_reason(&delta, answer);
                    settle_summary(answer);
                    read_container(&delta, answer);
                }
                answer.cleared = clearing::read(event).or(answer.cleared);
                if let Some(usage) = event.object("usage") {
                    self.read_usage(&usage, answer);
                }
            }
            "message_stop" => {
                self.stop_all(answer);
                answer.complete = true;
                self.done = true;
            }
            "error" => return Err(decode_error_value(text)),
            "" if event.get("error").is_some() => return Err(decode_error_value(text)),
            _ => {}
        }
        Ok(())
    }

    /// Starts the message that a gateway sends instead of the previous one, which is discarded.
    fn restart(&mut self, answer: &mut ModelAnswer) -> Result<(), Failure> {
        self.open.clear();
        self.usage = Reported::default();
        self.fallback = None;
        self.other_usage.clear();
        if answer.void() {
            return Ok(());
        }
        Err(malformed("the stream began a second message", &[]))
    }

    /// Ends the body. A stream with its stop reason is complete, even without `message_stop`.
    ///
    /// # Errors
    /// `malformed_stream` if the body ended earlier.
    pub fn finish(&mut self, answer: &mut ModelAnswer) -> Result<(), Failure> {
        if !self.done && answer.raw_finish_reason.is_none() {
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
        self.read_message(&body_object(&text)?, &text, body, answer)
    }

    fn read_message(
        &mut self,
        message: &Object<'_>,
        text: &str,
        body: &[u8],
        answer: &mut ModelAnswer,
    ) -> Result<(), Failure> {
        if message.get("error").is_some() {
            return Err(decode_error_value(text));
        }
        if message.get("content").is_none() {
            return Err(malformed("the body is not a message", body));
        }
        self.read_head(message, answer);
        for block in message.items("content") {
            self.read_fallback(block, answer);
            OpenBlock::start(block, answer).stop(answer);
        }
        settle_summary(answer);
        answer.complete = true;
        self.done = true;
        Ok(())
    }

    fn read_head(&mut self, message: &Object<'_>, answer: &mut ModelAnswer) {
        read_head(message, answer);
        read_stop_reason(message, answer);
        read_container(message, answer);
        answer.cleared = clearing::read(message).or(answer.cleared);
        if let Some(usage) = message.object("usage") {
            self.read_usage(&usage, answer);
        }
    }

    /// Reads a delta. The first delta of a block without a start opens that block.
    fn read_delta(&mut self, index: u32, delta: &Object<'_>, answer: &mut ModelAnswer) {
        if !self.open.contains_key(&index) {
            let block = match delta.word("type") {
                "text_delta" => r#"{"type":"text","text":""}"#,
                "thinking_delta" => r#"{"type":"thinking","thinking":""}"#,
                _ => return,
            };
            self.open(index, block, answer);
        }
        if let Some(block) = self.open.get_mut(&index) {
            block.read_delta(delta, answer);
        }
    }

    /// Opens a block. An open block with the same index ends: its server forgot to stop it.
    fn open(&mut self, index: u32, block: &str, answer: &mut ModelAnswer) {
        let open = OpenBlock::start(block, answer);
        if let Some(earlier) = self.open.insert(index, open) {
            earlier.stop(answer);
        }
    }

    /// Reads usage. The last report of each number counts, because `message_delta` repeats some of them, increased by
    /// the tokens that server tools read.
    fn read_usage(&mut self, usage: &Object<'_>, answer: &mut ModelAnswer) {
        self.usage.read(usage);
        // A report that repeats none of them changes none.
        let before = answer.terms;
        answer.terms = Terms {
            tier: Tier::read(usage.word("service_tier")).or(before.tier),
            is_fast: usage.is("speed", "fast") || before.is_fast,
            is_us: usage.is("inference_geo", "us") || before.is_us,
        };
        if usage.has("iterations") {
            self.read_iterations(usage);
        }
        if self.fallback.is_none() && self.other_usage.is_empty() {
            return answer.set_usage(self.usage.counts());
        }
        let mut parts = vec![(self.fallback.clone(), self.usage.counts())];
        for (model, usage) in &self.other_usage {
            add_part(&mut parts, model.as_ref().or(self.fallback.as_ref()), usage);
        }
        answer.set_usage_by_model(parts);
    }

    /// Reads the billed iterations that the top-level counts leave out: compaction on the server, an advisor model,
    /// and a model that refused in the middle of its answer. One that refused before it wrote anything costs nothing.
    /// <https://platform.claude.com/docs/en/build-with-claude/compaction-threshold>,
    /// <https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback> and the four members of
    /// `BetaIterationsUsage` of Anthropic's SDKs (2026-11-26)
    fn read_iterations(&mut self, usage: &Object<'_>) {
        self.other_usage.clear();
        let all: Vec<Object<'_>> = usage
            .items("iterations")
            .into_iter()
            .filter_map(Object::parse)
            .collect();
        if let Some(served) = all.iter().rfind(|one| one.is("type", "fallback_message")) {
            self.fallback = served.owned("model").or(self.fallback.take());
        }
        for iteration in &all {
            let model = iteration.owned("model");
            let mut reported = Reported::default();
            reported.read(iteration);
            let is_beside = match iteration.word("type") {
                "compaction" | "advisor_message" => true,
                "message" => {
                    let is_other = model.is_some() && model != self.fallback;
                    self.fallback.is_some() && is_other && reported.output > 0
                }
                _ => false,
            };
            if is_beside {
                add_part(&mut self.other_usage, model.as_ref(), &reported.counts());
            }
        }
    }

    /// Notes the model that continues the answer after Anthropic's fallback, as reported by a block. The head has the
    /// requested model. Recorded 2026-08-20.
    fn read_fallback(&mut self, block: &str, answer: &mut ModelAnswer) {
        let block = Object::parse(block).unwrap_or_default();
        if block.is("type", "fallback")
            && let Some(model) = block.object("to").and_then(|to| to.owned("model"))
        {
            self.fallback = Some(model.clone());
            answer.model = Some(model);
        }
    }

    fn stop_all(&mut self, answer: &mut ModelAnswer) {
        for block in std::mem::take(&mut self.open).into_values() {
            block.stop(answer);
        }
    }
}

impl Reported {
    /// Takes the counts that are present.
    fn read(&mut self, usage: &Object<'_>) {
        let details = usage.object("output_tokens_details");
        let thinking = details.and_then(|details| details.number("thinking_tokens"));
        let written = usage.object("cache_creation");
        let hour = written.and_then(|written| written.number("ephemeral_1h_input_tokens"));
        for (slot, number) in [
            (&mut self.input, usage.number("input_tokens")),
            (&mut self.cache_write, usage.number("cache_creation_input_tokens")),
            (&mut self.cache_write_hour, hour),
            (&mut self.cache_read, usage.number("cache_read_input_tokens")),
            (&mut self.output, usage.number("output_tokens")),
            (&mut self.thinking, thinking),
        ] {
            if let Some(number) = number {
                *slot = number;
            }
        }
    }

    fn counts(&self) -> Usage {
        let cached = self.cache_write.saturating_add(self.cache_read);
        Usage {
            input_tokens: self.input.saturating_add(cached),
            output_tokens: self.output,
            cache_read_tokens: self.cache_read,
            cache_write_tokens: self.cache_write,
            cache_write_hour_tokens: self.cache_write_hour,
            reasoning_tokens: self.thinking,
            ..Usage::default()
        }
    }
}

/// Adds usage to its model's part. A server that names more models than requests have is not followed: the first part
/// takes the rest.
fn add_part(parts: &mut Vec<(Option<String>, Usage)>, model: Option<&String>, usage: &Usage) {
    const MOST_MODELS: usize = 16;
    let known = parts.iter().position(|(name, _)| name.as_ref() == model);
    let place = known.or((parts.len() >= MOST_MODELS).then_some(0));
    match place.and_then(|at| parts.get_mut(at)) {
        Some((_, sum)) => sum.add(usage),
        None => parts.push((model.cloned(), *usage)),
    }
}

/// The index of a block. Blocks without an index follow one after the other.
fn block_index(event: &Object<'_>) -> Option<u32> {
    u32::try_from(event.number("index").unwrap_or(0)).ok()
}

/// The container is in the message or, if the answer has created it, next to the stop reason.
fn read_container(from: &Object<'_>, answer: &mut ModelAnswer) {
    let id = from
        .object("container")
        .and_then(|container| container.owned("id"));
    answer.container = id.or(answer.container.take());
}

/// The stop reason `compaction` has two meanings: an answer that continues after the vendor has shortened the
/// conversation, and a requested summary, which nothing follows.
fn settle_summary(answer: &mut ModelAnswer) {
    let mut raw = answer.parts.iter().filter(|part| part.kind == PartKind::Raw);
    if answer.finish_reason == Some(FinishReason::Pause)
        && raw.any(|part| Object::parse(&part.text).is_some_and(|block| is_summary(&block)))
    {
        answer.finish_reason = Some(FinishReason::Stop);
    }
}

fn read_stop_reason(from: &Object<'_>, answer: &mut ModelAnswer) {
    let details = from.get("stop_details").and_then(|json| Json::parse(json).ok());
    answer.stop_details = details.or(answer.stop_details.take());
    note_reason(from.owned("stop_reason"), answer);
}
