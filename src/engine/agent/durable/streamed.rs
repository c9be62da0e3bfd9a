//! Saves the text of a streaming answer, in case the process ends.
//!
//! From time to time the journal gets the text that was added, never the complete text again. An answer with held
//! text saves none. A model gets it back only with `onCutOff: "continue"` (`request/cut_off.rs`).

use crate::engine::agent::Agent;
use crate::engine::agent::machine::step::Phase;
use crate::engine::model::answer::{Part, PartKind};
use crate::engine::model::journal::{Fact, StreamedText};

/// The bytes of new text that are written by themselves. Less text waits for the next save of another kind.
pub const ENOUGH_BYTES: usize = 4096;

/// The text that the journal has of the answer that streams.
#[derive(Clone, Debug, Default)]
pub struct Streamed {
    /// The attempt that it belongs to.
    attempt: (u32, u32),
    /// The bytes of each part.
    parts: Vec<usize>,
}

impl Streamed {
    /// The text that has been added in this attempt, if there is enough of it, or if something else `is_saved`
    /// anyway.
    pub fn note(&mut self, agent: &Agent, attempt: (u32, u32), is_saved: bool) -> Option<Fact> {
        if self.attempt != attempt {
            self.attempt = attempt;
            self.parts.clear();
        }
        if waits_with_begun(agent) {
            return None;
        }
        let parts = streaming(agent);
        if parts.len() < self.parts.len() {
            // The attempt has failed, and its text was taken back.
            self.parts.clear();
            let phase = agent.machine.phase();
            let continues = matches!(phase, Phase::Summarizing | Phase::Sending | Phase::Reading);
            return continues.then(|| Fact::Streamed {
                is_first: true,
                texts: Vec::new(),
            });
        }
        let kept = |at: usize| self.parts.get(at).copied().unwrap_or_default();
        let grown = |(at, part): (usize, &Part)| match is_text(part) {
            true => part.text.len().saturating_sub(kept(at)),
            false => usize::from(at >= self.parts.len()),
        };
        let grown: usize = parts.iter().enumerate().map(grown).sum();
        if grown == 0 || (grown < ENOUGH_BYTES && !is_saved) {
            return None;
        }
        let text = |(at, part): (usize, &Part)| {
            let is_other = !is_text(part);
            let is_new = at >= self.parts.len();
            let text = part
                .text
                .get(kept(at)..)
                .filter(|_| !is_other)
                .unwrap_or_default();
            (!text.is_empty() || (is_other && is_new)).then(|| StreamedText {
                block: at as u32,
                is_reasoning: part.shown_kind() == PartKind::Thinking,
                is_other,
                text: text.to_owned(),
            })
        };
        let texts = parts.iter().enumerate().filter_map(text).collect();
        let is_first = self.parts.is_empty();
        self.parts = parts.iter().map(|part| part.text.len()).collect();
        Some(Fact::Streamed { is_first, texts })
    }
}

/// True when the next request continues the text of an attempt that has failed.
fn waits_with_begun(agent: &Agent) -> bool {
    agent.machine.is(Phase::Sending) && agent.requests.has_begun()
}

/// The parts of the answer that streams, unless its text is held back.
fn streaming(agent: &Agent) -> &[Part] {
    match agent.machine.reading() {
        Some(call) if !call.answer.holds_text => &call.answer.parts,
        _ => &[],
    }
}

fn is_text(part: &Part) -> bool {
    matches!(
        part.shown_kind(),
        PartKind::Text | PartKind::Refusal | PartKind::Thinking
    )
}
