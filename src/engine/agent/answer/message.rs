//! Turns a complete answer into a message, and an interrupted answer into a message with its complete blocks.
//!
//! [`Answers::finish`] creates the message of a complete answer, and [`Answers::keep_partial`] that of an interrupted
//! one. `answer_events.rs` emits an answer while it streams. The guardrail and the schema decide whether an answer is
//! accepted.

use looplet_scan::check::check;
use looplet_scan::reader::Object;

use crate::engine::agent::answer::{Answers, text_of_parts};
use crate::engine::agent::answer_events::{emit_changes, emit_held_text};
use crate::engine::agent::calls::Calls;
use crate::engine::agent::calls::written::{Ending, WrittenCall};
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::history::History;
use crate::engine::agent::request::reasoning::warn_of_dropped;
use crate::engine::agent::request::thread::{can_continue, thread_after};
use crate::engine::model::answer::{ModelAnswer, Part, PartKind};
use crate::engine::model::message::{Block, Json, MediaSource, Message, Origin, Role, ToolInput};
use crate::engine::protocol::anthropic::server_calls::with_container;
use crate::engine::protocol::request::prefix::is_signed;

/// An answer that is complete, and that no one has judged yet.
pub struct CompleteAnswer {
    pub message: Message,
    pub calls: Vec<WrittenCall>,
    /// The number of blocks that events have reported to your code.
    pub blocks: u32,
}

impl Answers {
    /// Ends the answer after its response is complete: counts its usage, reads its calls and creates its message.
    pub fn finish(
        &mut self,
        ctx: &mut AgentContext<'_>,
        mut answer: ModelAnswer,
        calls: &mut Calls,
        history: &mut History,
    ) -> CompleteAnswer {
        answer.end_all();
        emit_changes(&mut answer, ctx, false);
        emit_held_text(&mut answer, ctx);
        ctx.reserve_answer(&answer);
        let usage = answer.usage;
        self.count(ctx, &mut answer);
        self.note_response(&mut answer);
        let reply = &mut self.kept.reply;
        reply.finish_reason = answer.finish_reason;
        reply.raw_finish_reason = answer.raw_finish_reason.take();
        reply.stop_details = answer.stop_details.take();
        reply.text = Some(format!("{}{}", reply.text_before, text_of_parts(&answer)));
        let blocks = answer.parts.len() as u32;
        let ending = Ending::of(answer.finish_reason);
        let calls = calls.batch.read(&mut answer, ending, ctx);
        history.transcript.take_call_ids(&mut answer);
        let prefix = answer.prefix.take();
        warn_of_dropped(ctx, &answer.dropped_reasoning);
        let cleared = answer.cleared.take();
        let request = answer.thread.filter(|_| can_continue(&answer));
        let content = content(answer, &calls);
        if let Some(usage) = usage {
            history.count_answer(&usage);
        }
        history.note_cleared(ctx, cleared);
        let mut message = written_by(ctx.identity.model.origin(), content, prefix, false);
        let id = self.kept.reply.response_id.as_ref();
        let thread = id.and_then(|id| Some(thread_after(ctx, id, request?, &message)));
        if let Some(origin) = &mut message.origin {
            origin.thread = thread;
        }
        CompleteAnswer {
            message,
            calls,
            blocks,
        }
    }

    /// Saves the complete blocks, the text and the thinking of an interrupted attempt, without unfinished calls.
    /// Complete calls get a result that says that they were not run. Thinking without its signature is never sent.
    pub fn keep_partial(
        &mut self,
        ctx: &mut AgentContext<'_>,
        mut answer: ModelAnswer,
        calls: &mut Calls,
        history: &mut History,
    ) {
        answer.end_unfinished();
        emit_changes(&mut answer, ctx, false);
        self.count(ctx, &mut answer);
        self.note_response(&mut answer);
        let mut early = calls.batch.calls().len();
        // An interrupted structured answer is stored in the history as text.
        for part in answer.parts.iter_mut().filter(|part| part.is_answer) {
            part.kind = PartKind::Text;
        }
        answer.parts.retain(|part| match part.kind {
            PartKind::ToolCall if early > 0 => {
                early -= 1;
                true
            }
            PartKind::Text | PartKind::Refusal | PartKind::Thinking => true,
            PartKind::ToolCall => part.whole && check(&part.text).is_ok(),
            PartKind::RedactedThinking | PartKind::Media | PartKind::Raw => part.whole,
        });
        if !answer.parts.is_empty() {
            let before = std::mem::take(&mut self.kept.reply.text_before);
            self.kept.reply.text = Some(format!("{before}{}", text_of_parts(&answer)));
        }
        let written = calls.batch.read(&mut answer, Ending::Own, ctx);
        history.transcript.take_call_ids(&mut answer);
        let prefix = answer.prefix.take();
        let content = content(answer, &written);
        let message = written_by(ctx.identity.model.origin(), content, prefix, true);
        history.transcript.push_assistant(message);
        let results = calls.shelve(ctx, written);
        history.transcript.push_round(results, Vec::new());
    }
}

fn written_by(mut origin: Origin, content: Vec<Block>, prefix: Option<String>, partial: bool) -> Message {
    origin.prefix = prefix.filter(|_| content.iter().any(is_signed));
    Message {
        role: Role::Assistant,
        content,
        partial,
        compacted: false,
        origin: Some(origin),
    }
}

/// The blocks of a message. A text that is only white space is not a block. Between two texts it is appended to the
/// first, because vendors send the space between cited passages this way. Elsewhere it is dropped. A text that has
/// only sources remains.
fn content(answer: ModelAnswer, calls: &[WrittenCall]) -> Vec<Block> {
    let mut inputs = calls
        .iter()
        .map(|call| call.wrapped.as_ref().unwrap_or(&call.input).clone());
    let mut blocks = Vec::with_capacity(answer.parts.len());
    let mut space = None;
    let container = answer.container;
    for mut part in answer.parts {
        if let (Some(container), Some(vendor)) = (&container, &part.vendor)
            && part.kind == PartKind::ToolCall
        {
            part.vendor = with_container(vendor, container).or(part.vendor.take());
        }
        let is_text = part.kind == PartKind::Text;
        if is_text && part.text.trim().is_empty() && !has_sources(part.vendor.as_ref()) {
            space.get_or_insert_with(String::new).push_str(&part.text);
            continue;
        }
        if let (Some(space), true, Some(Block::Text { text, .. })) =
            (space.take(), is_text, blocks.last_mut())
        {
            text.push_str(&space);
        }
        blocks.extend(block(part, &mut inputs));
    }
    blocks
}

/// Returns true for the data of a text with a list, such as `citations`.
fn has_sources(vendor: Option<&Json>) -> bool {
    let fields = vendor.and_then(|vendor| Object::parse(vendor.as_str()));
    let is_list = |value: &str| value.starts_with('[') && value.trim_end_matches(']').trim_end() != "[";
    fields.is_some_and(|fields| fields.fields().any(|(_, value)| is_list(value)))
}

fn block(part: Part, inputs: &mut dyn Iterator<Item = ToolInput>) -> Option<Block> {
    let Part {
        kind,
        text,
        id,
        name,
        signature,
        vendor,
        ..
    } = part;
    let is_blank = text.trim().is_empty();
    match kind {
        PartKind::Text => Some(Block::Text {
            text,
            purpose: None,
            vendor,
        }),
        PartKind::Refusal => (!is_blank).then_some(Block::Refusal { text }),
        PartKind::Thinking if is_blank && signature.is_none() && vendor.is_none() => None,
        PartKind::Thinking => Some(Block::Thinking {
            text,
            signature,
            vendor,
        }),
        PartKind::RedactedThinking => Some(Block::RedactedThinking { data: text }),
        PartKind::ToolCall => inputs.next().map(|input| Block::ToolCall {
            id,
            name,
            input,
            vendor,
        }),
        PartKind::Media => Some(Block::Media {
            media_type: name,
            source: MediaSource::Data(text),
            name: None,
            vendor,
        }),
        PartKind::Raw => Json::parse(&text).ok().map(|json| Block::Raw { json }),
    }
}
