//! The events of an answer: its growth while it streams, its held text, and its message.
//!
//! [`emit_changes`] and [`emit_growth`] emit the changes of each chunk. An answer that holds its text emits it at the
//! end, if it has no tool calls.

use crate::engine::agent::context::AgentContext;
use crate::engine::ledger::Grown;
use crate::engine::ledger::random::Random;
use crate::engine::model::answer::call_ids::TakenIds;
use crate::engine::model::answer::{Change, ModelAnswer, Part, PartKind};
use crate::engine::model::event::{DeltaKind, EventKind};
use crate::engine::model::message::Json;
use crate::engine::model::outcome::StreamedBlock;

/// Resets the emitted blocks of an answer.
pub(crate) fn take_back_blocks(ctx: &mut AgentContext<'_>, blocks: u32) {
    let blocks = (0..blocks).collect();
    ctx.emit(EventKind::Reset { blocks });
}

/// Emits the changes of a chunk. A summary does not stream and emits only its usage.
pub(crate) fn emit_changes(answer: &mut ModelAnswer, ctx: &mut AgentContext<'_>, is_summary: bool) {
    let mut changes = answer.take_changes();
    if is_summary {
        changes.retain(|change| *change == Change::Usage);
    }
    for change in &changes {
        emit_change(*change, answer, ctx);
    }
    answer.recycle(changes);
}

/// Emits the growth of one part without building an event. Returns false if anything else has changed or is waiting
/// to be emitted.
pub(crate) fn emit_growth(answer: &mut ModelAnswer, ctx: &mut AgentContext<'_>, is_summary: bool) -> bool {
    let Some((part, from, to)) = answer.sole_growth() else {
        return false;
    };
    let Some(kind) = answer.parts.get(part).map(Part::shown_kind) else {
        return false;
    };
    if kind_of_delta(kind).is_none() || !ctx.ledger.is_quiet() {
        return false;
    }
    answer.forget_changes();
    let is_held = answer.holds_text && is_text(kind);
    if !is_summary && !is_held {
        ctx.ledger.grow(Grown {
            seq: 0,
            place: ctx.place(),
            kind,
            part,
            from,
            to,
        });
    }
    true
}

/// Emits the held text, if the answer has no tool calls.
pub(crate) fn emit_held_text(answer: &mut ModelAnswer, ctx: &mut AgentContext<'_>) {
    let calls = |part: &Part| part.shown_kind() == PartKind::ToolCall;
    if !std::mem::take(&mut answer.holds_text) || answer.parts.iter().any(calls) {
        return;
    }
    for part in 0..answer.parts.len() {
        let Some(text) = answer.parts.get(part).filter(|part| is_text(part.shown_kind())) else {
            continue;
        };
        let (from, to) = (0, text.text.len());
        for change in [
            Change::Started { part },
            Change::Grew { part, from, to },
            Change::Ended { part },
        ] {
            emit_change(change, answer, ctx);
        }
    }
}

fn is_text(kind: PartKind) -> bool {
    matches!(kind, PartKind::Text | PartKind::Refusal)
}

fn emit_change(change: Change, answer: &mut ModelAnswer, ctx: &mut AgentContext<'_>) {
    if change == Change::Usage {
        let Some(usage) = answer.usage else { return };
        ctx.ledger.accounts.note(ctx.identity.agent, usage);
        let total = ctx.ledger.accounts.used(0).unwrap_or(usage);
        return ctx.emit(EventKind::Usage { usage, total });
    }
    let (index, range) = match change {
        Change::Started { part } | Change::Ended { part } => (part, 0..0),
        Change::Grew { part, from, to } => (part, from..to),
        Change::Estimated { part, tokens } => {
            return ctx.emit(EventKind::ReasoningProgress {
                block: part as u32,
                estimated_tokens: tokens,
            });
        }
        Change::Usage => return,
    };
    let Some(part) = answer.parts.get_mut(index) else {
        return;
    };
    if part.kind == PartKind::ToolCall && matches!(change, Change::Started { .. }) {
        let random = Random::of_part(answer.id_seed, index);
        name_call(part, random, &mut answer.taken_ids);
        part.is_answer = answer.answer_tool.as_ref() == Some(&part.name);
    }
    let kind = part.shown_kind();
    if (kind == PartKind::ToolCall && ctx.ledger.skip_unobserved()) || (answer.holds_text && is_text(kind)) {
        return;
    }
    let block = index as u32;
    let kind = match (part.shown_kind(), change) {
        (_, Change::Grew { .. }) => {
            let text = part.text.get(range).unwrap_or_default();
            match delta(part.shown_kind(), block, text) {
                Some(kind) => kind,
                None => return,
            }
        }
        (shown @ (PartKind::Text | PartKind::Refusal), Change::Started { .. }) => EventKind::TextStart {
            block,
            refusal: shown == PartKind::Refusal,
        },
        (PartKind::Text | PartKind::Refusal, _) => EventKind::TextEnd { block },
        (PartKind::Thinking, Change::Started { .. }) => EventKind::ReasoningStart { block },
        (PartKind::Thinking, _) => EventKind::ReasoningEnd { block },
        (PartKind::ToolCall, Change::Started { .. }) => EventKind::ToolInputStart {
            block,
            tool_call_id: part.id.clone(),
            tool_name: part.name.clone(),
        },
        (PartKind::ToolCall, _) => EventKind::ToolInputEnd { block },
        (PartKind::RedactedThinking | PartKind::Media | PartKind::Raw, _) => return,
    };
    ctx.emit(kind);
}

/// Creates an id for a call without one, or with that of another call. `random` is that of the call's part.
fn name_call(part: &mut Part, mut random: Random, taken: &mut TakenIds) {
    while part.id.is_empty() || !taken.admit(&part.id) {
        part.id = random.id("call_");
    }
}

/// The blocks of an answer as far as they were emitted. `input_of` returns the inputs of the emitted calls.
pub fn emitted_blocks(
    answer: &ModelAnswer,
    input_of: impl Fn(&str) -> Option<Json>,
) -> Vec<StreamedBlock<'_>> {
    let parts = (0..).zip(&answer.parts);
    let told = parts.filter(|(_, part)| !(answer.holds_text && is_text(part.shown_kind())));
    told.filter_map(|(block, part)| {
        let (text, is_over) = (part.text.as_str(), part.ended);
        Some(match part.shown_kind() {
            shown @ (PartKind::Text | PartKind::Refusal) => StreamedBlock::Text {
                block,
                text,
                is_over,
                refusal: shown == PartKind::Refusal,
            },
            PartKind::Thinking => StreamedBlock::Reasoning { block, text, is_over },
            PartKind::ToolCall => StreamedBlock::ToolInput {
                block,
                text,
                is_over,
                tool_call_id: &part.id,
                tool_name: &part.name,
                input: input_of(&part.id),
            },
            PartKind::RedactedThinking | PartKind::Media | PartKind::Raw => return None,
        })
    })
    .collect()
}

/// The kind of delta that the growth of a part is. Parts that are emitted only when complete have none.
pub fn kind_of_delta(kind: PartKind) -> Option<DeltaKind> {
    match kind {
        PartKind::Text | PartKind::Refusal => Some(DeltaKind::Text),
        PartKind::Thinking => Some(DeltaKind::Reasoning),
        PartKind::ToolCall => Some(DeltaKind::ToolInput),
        PartKind::RedactedThinking | PartKind::Media | PartKind::Raw => None,
    }
}

/// The event for the growth of a part.
pub fn delta(kind: PartKind, block: u32, text: &str) -> Option<EventKind> {
    let text = text.to_owned();
    Some(match kind_of_delta(kind)? {
        DeltaKind::Text => EventKind::TextDelta { block, text },
        DeltaKind::Reasoning => EventKind::ReasoningDelta { block, text },
        DeltaKind::ToolInput => EventKind::ToolInputDelta { block, text },
    })
}
