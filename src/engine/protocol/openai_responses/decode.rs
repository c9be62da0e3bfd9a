//! Decodes Responses answers, streamed or complete, into an [`ModelAnswer`].
//!
//! The order of events is `response.created`; for each item `response.output_item.added`, events of its parts,
//! `response.output_item.done`; then `response.completed`, `.incomplete` or `.failed` with the complete response. Of
//! an item's events only the deltas are read, because its end repeats everything else. Events after the last one are
//! ignored.
//!
//! The model call feeds events, then calls [`ResponsesDecoder::finish`]. A failed response, unreadable JSON and an
//! early end fail.

use std::collections::{BTreeMap, BTreeSet};

use looplet_scan::piece::Piece;
use looplet_scan::reader::Object;

use crate::engine::model::answer::{FinishReason, ModelAnswer, PartKind};
use crate::engine::model::error::Failure;
use crate::engine::model::usage::Tier;
use crate::engine::protocol::answer::opening::{body_object, body_text, event_object, event_text, read_head};
use crate::engine::protocol::failure::{decode_error_value, malformed};
use crate::engine::protocol::openai_chat::read_usage;
use crate::engine::protocol::openai_responses::item::{Item, Slot};

/// The state between events.
///
/// The decoder tolerates ids that change from event to event, missing `event:` lines and sequence numbers, arguments
/// without deltas, items that only their end or only the whole response shows, a last event with an empty `output`
/// (ChatGPT), several items with the same index, and unknown events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponsesDecoder {
    items: Vec<Item>,
    /// The last item with each index.
    by_index: BTreeMap<u32, usize>,
    /// The indexes of complete items.
    settled: BTreeSet<u32>,
    done: bool,
}

/// The target of a delta of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delta {
    Text,
    Refusal,
    /// A part of a reasoning item's `summary`.
    Summary,
    /// A part of a reasoning item's `content`.
    Reasoning,
    Arguments,
    CustomInput,
}

impl Delta {
    /// The target that an event of this type names.
    fn named(name: &str) -> Option<Delta> {
        Some(match name.strip_prefix("response.")?.strip_suffix(".delta")? {
            "output_text" => Delta::Text,
            "refusal" => Delta::Refusal,
            "reasoning_summary_text" => Delta::Summary,
            "reasoning_text" => Delta::Reasoning,
            "function_call_arguments" => Delta::Arguments,
            "custom_tool_call_input" => Delta::CustomInput,
            _ => return None,
        })
    }
}

impl ResponsesDecoder {
    /// Decodes the data of one event.
    ///
    /// # Errors
    /// The failure that the event reports, or `malformed_stream`.
    pub fn decode_event(
        &mut self,
        event: &[u8],
        data: &[u8],
        answer: &mut ModelAnswer,
    ) -> Result<(), Failure> {
        let data = data.trim_ascii();
        if self.done || data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        let text = event_text(data)?;
        self.read_event(event, &event_object(&text)?, &text, answer)
    }

    fn read_event(
        &mut self,
        event: &[u8],
        object: &Object<'_>,
        text: &str,
        answer: &mut ModelAnswer,
    ) -> Result<(), Failure> {
        let name = object.word("type");
        answer.event_number = object.number("sequence_number").or(answer.event_number);
        match name {
            "response.created" | "response.in_progress" => {
                if let Some(response) = object.object("response") {
                    read_head(&response, answer);
                }
            }
            "response.output_item.added" => {
                let index = output_index(object).unwrap_or(self.items.len() as u32);
                if let (Some(item), Some(open)) = (object.object("item"), self.open(index, answer)) {
                    open.start(&item, answer);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = object.get("item") {
                    let last = self.items.last().map(|item| item.index);
                    let index = output_index(object).or(last).unwrap_or(0);
                    self.settle(index, item, answer);
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let status = name.get("response.".len()..).unwrap_or_default();
                return self.conclude(status, object.get("response").unwrap_or_default(), answer);
            }
            _ if event == b"error" || name == "error" || object.get("error").is_some() => {
                return Err(decode_error_value(text));
            }
            name => {
                if let Some(delta) = Delta::named(name) {
                    self.read_delta(delta, object, answer);
                }
            }
        }
        Ok(())
    }

    /// Ends the body.
    ///
    /// # Errors
    /// `malformed_stream` when the response's end was never seen.
    pub fn finish(&mut self) -> Result<(), Failure> {
        if self.done {
            return Ok(());
        }
        Err(malformed("the stream ended before the response did", &[]))
    }

    /// Decodes a response that is not streamed.
    ///
    /// # Errors
    /// The failure that the body reports, or `malformed_stream`.
    pub fn decode_body(&mut self, body: &[u8], answer: &mut ModelAnswer) -> Result<(), Failure> {
        let text = body_text(body)?;
        let response = body_object(&text)?;
        if response.get("output").is_none() && response.get("error").is_none() {
            return Err(malformed("the body is not a response", body));
        }
        self.conclude(response.word("status"), &text, answer)
    }

    /// The item with this index that is still growing, or else a new one. `None` when there are too many.
    fn open(&mut self, index: u32, answer: &mut ModelAnswer) -> Option<&mut Item> {
        let known = self.by_index.get(&index).copied();
        let is_open = |at: &usize| self.items.get(*at).is_some_and(|item| !item.settled);
        let at = match known.filter(is_open) {
            Some(at) => at,
            None if self.items.len() >= answer.max_parts => {
                answer.is_overfull = true;
                return None;
            }
            None => {
                self.by_index.insert(index, self.items.len());
                self.items.push(Item::new(index));
                self.items.len() - 1
            }
        };
        self.items.get_mut(at)
    }

    fn read_delta(&mut self, delta: Delta, event: &Object<'_>, answer: &mut ModelAnswer) {
        let last = self.items.last().map(|item| item.index);
        let Some(index) = output_index(event).or(last) else {
            return;
        };
        if self.settled.contains(&index) {
            return;
        }
        let Some(item) = self.open(index, answer) else {
            return;
        };
        let text = event.piece("delta");
        let at = event
            .number("content_index")
            .or_else(|| event.number("summary_index"));
        let at = at.unwrap_or(0);
        match place(delta, at as u32) {
            None => item.push_custom(&text, answer),
            // A call that never began has no name. Its end brings everything.
            Some((PartKind::ToolCall, slot)) => {
                if let Some(part) = item.known(slot) {
                    push(PartKind::ToolCall, part, &text, answer);
                }
            }
            Some((kind, slot)) => {
                let part = item.part(slot, kind, answer);
                push(kind, part, &text, answer);
            }
        }
    }

    fn settle(&mut self, index: u32, json: &str, answer: &mut ModelAnswer) {
        let Some(object) = Object::parse(json) else { return };
        if let Some(item) = self.open(index, answer) {
            item.settle(json, &object, answer);
            self.settled.insert(index);
        }
    }

    /// Reads the complete response: items that were not received before, usage, and how it ended.
    fn conclude(&mut self, status: &str, json: &str, answer: &mut ModelAnswer) -> Result<(), Failure> {
        let response = Object::parse(json).unwrap_or_default();
        read_head(&response, answer);
        answer.terms.tier = Tier::read(response.word("service_tier"));
        if let Some(usage) = response.object("usage") {
            answer.set_usage(read_usage(&usage));
        }
        if status == "failed" || response.get("error").is_some() {
            return Err(decode_error_value(json));
        }
        // The answer of `…/responses/compact`. Its items are sent back unchanged.
        if response.is("object", "response.compaction") {
            let output = response.get("output").unwrap_or_default();
            let part = answer.start(PartKind::Raw);
            answer.push(part, output);
            answer.finish_reason = Some(FinishReason::Stop);
            answer.end_all();
            answer.complete = true;
            self.done = true;
            return Ok(());
        }
        let output = response.items("output");
        let settled = self.items.iter().filter(|item| item.settled).count();
        for (index, item) in (0..).zip(&output) {
            if answer.is_overfull {
                break;
            }
            let known = self.by_index.get(&index).and_then(|at| self.items.get(*at));
            if known.map_or(settled < output.len(), |item| !item.settled) {
                self.settle(index, item, answer);
            }
        }
        // A call of an unknown tool ends an answer only if it waits for the run.
        let behind = self.items.iter().rposition(|item| !item.is_foreign);
        let waiting = self.items.iter_mut().skip(behind.map_or(0, |at| at + 1));
        waiting.for_each(|item| item.claim(answer));
        read_end(status, &response, answer);
        answer.end_all();
        answer.complete = true;
        self.done = true;
        Ok(())
    }
}

/// Appends a delta. A delta of another kind than its item's is ignored.
fn push(kind: PartKind, part: usize, text: &Piece<'_>, answer: &mut ModelAnswer) {
    if answer.parts.get(part).is_some_and(|open| open.kind == kind) {
        answer.push_piece(part, text);
    }
}

fn output_index(event: &Object<'_>) -> Option<u32> {
    u32::try_from(event.number("output_index")?).ok()
}

/// The kind and slot of a delta's target; `None` for a custom tool's plain text. `at` is its `content_index` or
/// `summary_index`.
fn place(delta: Delta, at: u32) -> Option<(PartKind, Slot)> {
    let slot = at.saturating_mul(2);
    Some(match delta {
        Delta::Text => (PartKind::Text, slot),
        Delta::Refusal => (PartKind::Refusal, slot),
        Delta::Summary => (PartKind::Thinking, slot),
        Delta::Reasoning => (PartKind::Thinking, slot | 1),
        Delta::Arguments => (PartKind::ToolCall, 0),
        Delta::CustomInput => return None,
    })
}

/// Reads the end. A response that is `incomplete` without a reason has used up its tokens, too.
fn read_end(status: &str, response: &Object<'_>, answer: &mut ModelAnswer) {
    let details = response.object("incomplete_details");
    let reason = details.and_then(|details| details.filled("reason"));
    let has = |kind: PartKind| answer.parts.iter().any(|part| part.kind == kind);
    answer.finish_reason = Some(match (status, reason.as_deref()) {
        (_, Some("content_filter")) => FinishReason::ContentFilter,
        ("incomplete", _) | (_, Some(_)) => FinishReason::Length,
        _ if has(PartKind::ToolCall) => FinishReason::ToolCalls,
        _ if has(PartKind::Refusal) => FinishReason::Refusal,
        ("completed", None) => FinishReason::Stop,
        _ => FinishReason::Other,
    });
    answer.raw_finish_reason = Some(reason.unwrap_or(status.into()).into_owned());
}
