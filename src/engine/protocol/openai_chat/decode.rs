//! Decodes Chat Completions answers, streamed or complete, into an [`ModelAnswer`].
//!
//! A stream is a list of chunks, each with a delta, and ends in `[DONE]`. The model call feeds chunks, then calls
//! [`ChatDecoder::finish`]. The decoder tolerates the deviations that [`ChatDecoder`] lists. An error chunk,
//! unreadable JSON and an early end fail.

use looplet_scan::piece::Piece;
use looplet_scan::reader::{Object, items};

use crate::engine::model::answer::{FinishReason, ModelAnswer, PartKind};
use crate::engine::model::error::Failure;
use crate::engine::model::usage::Tier;
use crate::engine::protocol::answer::finish_reason::note_reason;
use crate::engine::protocol::answer::opening::{body_object, body_text, event_object, event_text};
use crate::engine::protocol::failure::{decode_error_value, malformed};
use crate::engine::protocol::openai_chat::call::Calls;
use crate::engine::protocol::openai_chat::other_content::{OtherContent, push_image};
use crate::engine::protocol::openai_chat::reasoning::Details;
use crate::engine::protocol::openai_chat::usage::read_usage;
use crate::engine::protocol::vendor_fields::object_of;

/// The state between chunks.
///
/// The decoder tolerates:
/// - tool deltas without index, id or type, with repeated or blank heads, with arguments that are null or an object;
/// - whole calls in one chunk, several calls in one delta, and the old `function_call`;
/// - a finish reason in any chunk, twice or never, and one that does not announce the calls;
/// - usage in any chunk, also under `x_groq`;
/// - reasoning under `reasoning_content`, `reasoning`, `reasoning_details` or in a content array;
/// - errors as chunks, and a missing `[DONE]`.
///
/// It ignores every choice except the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatDecoder {
    /// The text, reasoning or refusal that is growing.
    flow: Option<(PartKind, usize)>,
    calls: Calls,
    details: Details,
    others: OtherContent,
    /// The thinking block to which the details belong.
    thinking: Option<usize>,
    /// True if `reasoning_content` was received, even if it was empty.
    has_reasoning_content: bool,
    /// `[DONE]` was received.
    done: bool,
}

impl ChatDecoder {
    /// Decodes the data of one event.
    ///
    /// # Errors
    /// The failure that an error chunk reports, or `malformed_stream`.
    pub fn decode_event(
        &mut self,
        event: &[u8],
        data: &[u8],
        answer: &mut ModelAnswer,
    ) -> Result<(), Failure> {
        let data = data.trim_ascii();
        if self.done || data.is_empty() {
            return Ok(());
        }
        if data == b"[DONE]" {
            self.close(answer);
            return Ok(());
        }
        let text = event_text(data)?;
        let chunk = event_object(&text)?;
        if event == b"error" {
            return Err(decode_error_value(&text));
        }
        self.read_chunk(&chunk, &text, "delta", answer)
    }

    /// Ends the body. A stream with its finish reason is complete, even without `[DONE]`.
    ///
    /// # Errors
    /// `malformed_stream` if the body ended earlier.
    pub fn finish(&mut self, answer: &mut ModelAnswer) -> Result<(), Failure> {
        if self.done {
            return Ok(());
        }
        if answer.raw_finish_reason.is_none() {
            return Err(malformed("the stream ended before the answer did", &[]));
        }
        self.close(answer);
        Ok(())
    }

    /// Decodes a completion that is not streamed.
    ///
    /// # Errors
    /// The failure that the body reports, or `malformed_stream`.
    pub fn decode_body(&mut self, body: &[u8], answer: &mut ModelAnswer) -> Result<(), Failure> {
        let text = body_text(body)?;
        let completion = body_object(&text)?;
        self.read_chunk(&completion, &text, "message", answer)?;
        if completion.get("choices").is_none() {
            return Err(malformed("the body is not a completion", body));
        }
        self.close(answer);
        Ok(())
    }

    /// Reads a chunk. `news` is the field of a choice with the new content, `delta` or `message`. Perplexity sends
    /// both.
    fn read_chunk(
        &mut self,
        chunk: &Object<'_>,
        text: &str,
        news: &str,
        answer: &mut ModelAnswer,
    ) -> Result<(), Failure> {
        if answer.response_id.is_none() {
            answer.response_id = chunk.owned("id");
        }
        if answer.model.is_none() {
            answer.model = chunk.owned("model");
        }
        for choice in chunk.items("choices") {
            if let Some(choice) = Object::parse(choice)
                && choice.number("index").unwrap_or(0) == 0
            {
                self.read_choice(&choice, news, answer);
                if choice.get("error").is_some() {
                    return Err(decode_error_value(choice.get("error").unwrap_or(text)));
                }
            }
        }
        self.others.read(chunk, answer);
        answer.terms.tier = Tier::read(chunk.word("service_tier")).or(answer.terms.tier);
        let groq = chunk.object("x_groq").and_then(|groq| groq.object("usage"));
        if let Some(usage) = chunk.object("usage").or(groq) {
            answer.set_usage(read_usage(&usage));
        }
        let is_error = ["object", "type"].iter().any(|name| chunk.is(name, "error"));
        if chunk.get("error").is_some() || is_error {
            Err(decode_error_value(text))
        } else {
            Ok(())
        }
    }

    fn read_choice(&mut self, choice: &Object<'_>, news: &str, answer: &mut ModelAnswer) {
        let delta = choice.object(news).or_else(|| choice.object("message"));
        if let Some(delta) = delta {
            self.read_delta(&delta, answer);
        }
        if let Some(usage) = choice.object("usage") {
            answer.set_usage(read_usage(&usage));
        }
        note_reason(choice.owned("finish_reason"), answer);
    }

    fn read_delta(&mut self, delta: &Object<'_>, answer: &mut ModelAnswer) {
        self.read_reasoning(delta, answer);
        match delta.get("content").map(|json| (Piece::of_json(json), json)) {
            Some((Some(text), _)) => self.push(PartKind::Text, &text, answer),
            Some((None, json)) => self.read_content_array(json, answer),
            None => {}
        }
        if let Some(sound) = delta.object("audio") {
            self.push(PartKind::Text, &sound.piece("transcript"), answer);
        }
        self.others.read(delta, answer);
        for image in delta.items("images") {
            self.end_flow(answer);
            push_image(image, answer);
        }
        self.push(PartKind::Refusal, &delta.piece("refusal"), answer);
        let calls = delta.items("tool_calls");
        let legacy = delta
            .object("function_call")
            .filter(|call| call.is_filled("name") || call.is_filled("arguments"));
        if !calls.is_empty() || legacy.is_some() {
            self.end_flow(answer);
        }
        for call in calls {
            self.calls.read(call, answer);
        }
        if let Some(function) = legacy {
            self.calls.read_legacy(&function, answer);
        }
    }

    fn read_reasoning(&mut self, delta: &Object<'_>, answer: &mut ModelAnswer) {
        self.has_reasoning_content |= delta.string("reasoning_content").is_some();
        let mut detailed = Vec::new();
        for detail in delta.items("reasoning_details") {
            answer.count(detail.len());
            detailed.push(self.details.read(detail));
        }
        let named = ["reasoning_content", "reasoning"]
            .into_iter()
            .map(|field| (field, delta.piece(field)))
            .find(|(_, text)| !text.is_empty());
        match named {
            Some((field, text)) => {
                self.push(PartKind::Thinking, &text, answer);
                let part = self.flow.and_then(|(_, part)| answer.parts.get_mut(part));
                if let Some(part) = part.filter(|part| part.vendor.is_none()) {
                    part.vendor = object_of(&[("field", &format!("\"{field}\""))]);
                }
            }
            None => detailed
                .iter()
                .for_each(|text| self.push(PartKind::Thinking, text, answer)),
        }
        if !self.details.is_empty() && self.thinking.is_none() {
            self.open(PartKind::Thinking, answer);
        }
    }

    /// Reads Mistral's `[{"type":"thinking","thinking":[{"type":"text","text"}]},{"type":"text","text"}]`. Every
    /// other item, such as its `reference`, is stored raw.
    fn read_content_array(&mut self, json: &str, answer: &mut ModelAnswer) {
        for item in items(json).unwrap_or_default() {
            if let Some(text) = Piece::of_json(item) {
                self.push(PartKind::Text, &text, answer);
            }
            let json = item;
            let Some(item) = Object::parse(item) else { continue };
            let is_known = ["text", "thinking"]
                .iter()
                .any(|kind| item.is("type", kind) || item.has(kind));
            if !is_known {
                self.end_flow(answer);
                let part = answer.start(PartKind::Raw);
                answer.push(part, json);
                answer.end(part);
            }
            self.push(PartKind::Text, &item.piece("text"), answer);
            self.push(PartKind::Thinking, &item.piece("thinking"), answer);
            for piece in item.items("thinking") {
                if let Some(piece) = Object::parse(piece) {
                    self.push(PartKind::Thinking, &piece.piece("text"), answer);
                }
            }
        }
    }

    fn push(&mut self, kind: PartKind, text: &Piece<'_>, answer: &mut ModelAnswer) {
        if !text.is_empty() {
            let part = self.open(kind, answer);
            answer.push_piece(part, text);
        }
    }

    /// The growing block if it has this kind, else a new one.
    fn open(&mut self, kind: PartKind, answer: &mut ModelAnswer) -> usize {
        if let Some((open, part)) = self.flow
            && open == kind
        {
            return part;
        }
        self.end_flow(answer);
        let part = answer.start(kind);
        self.flow = Some((kind, part));
        if kind == PartKind::Thinking {
            self.thinking = self.thinking.or(Some(part));
        }
        part
    }

    fn end_flow(&mut self, answer: &mut ModelAnswer) {
        if let Some((_, part)) = self.flow.take() {
            answer.end(part);
        }
    }

    /// Stores an empty `reasoning_content`. DeepSeek rejects a turn with calls that is sent back without it, even if
    /// it was empty. <https://github.com/deepseek-ai/deepseek-harness/discussions/1850> (2026-11-20)
    fn keep_empty_reasoning(&mut self, answer: &mut ModelAnswer) {
        if self.has_reasoning_content && self.thinking.is_none() {
            let part = self.open(PartKind::Thinking, answer);
            if let Some(part) = answer.parts.get_mut(part) {
                part.vendor = object_of(&[("field", "\"reasoning_content\"")]);
            }
        }
    }

    /// Completes the fields that are known only at the end.
    fn close(&mut self, answer: &mut ModelAnswer) {
        self.done = true;
        answer.complete = true;
        if !self.details.is_empty()
            && let Some(part) = self.thinking.and_then(|part| answer.parts.get_mut(part))
        {
            let known = part.vendor.take();
            let known = known.as_ref().and_then(|json| Object::parse(json.as_str()));
            let field = known
                .as_ref()
                .and_then(|object| object.get("field"))
                .unwrap_or("null");
            part.vendor = object_of(&[("field", field), ("reasoning_details", &self.details.to_json())]);
        }
        if !self.calls.is_empty() {
            self.keep_empty_reasoning(answer);
            if matches!(answer.finish_reason, None | Some(FinishReason::Stop)) {
                answer.finish_reason = Some(FinishReason::ToolCalls);
            }
            let is_cut_off = answer.finish_reason == Some(FinishReason::Length);
            self.calls.close_custom(is_cut_off, answer);
            if !is_cut_off {
                let blank = |answer: &ModelAnswer, part: usize| {
                    answer
                        .parts
                        .get(part)
                        .is_some_and(|part| part.text.trim().is_empty())
                };
                for part in self.calls.parts() {
                    if blank(answer, part) {
                        answer.push(part, "{}");
                    }
                }
            }
        }
        self.others.attach(answer);
        answer.end_all();
    }
}
