//! The way out: the events of one drain, as records that cross into JavaScript in one call.
//!
//! A record is [`RECORD_WORDS`] words: kind, seq, agent, iteration, attempt, block, bytes, UTF-16 units. The text of
//! all records stands in one buffer, in their order. Kind 0 is a text delta, 1 reasoning, 2 tool input; 3 is any other
//! event, whose text is its flat JSON. A lone short delta can be lent instead, with its text as UTF-16 units behind its
//! words: a `TextDecoder` costs JavaScript as much as all the rest of such a chunk, and a call out as much as a call
//! in. `src/face/batch.ts` reads them.

use crate::engine::event::{Event, EventKind};

/// Words of one record.
pub const RECORD_WORDS: usize = 8;
/// Buffers that a large event has made longer than this are given back.
const MAX_KEPT_BYTES: usize = 64 << 10;
/// Beyond this `TextDecoder` is cheaper than `String.fromCharCode`. In UTF-16 units.
const MAX_SHORT_UNITS: u32 = 32;
const KIND_EVENT: u32 = 3;

/// What the host wants to be told. The numbering of events does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    pub text: bool,
    pub reasoning: bool,
    pub tool_input: bool,
    pub events: bool,
}

/// Records that wait to be delivered.
#[derive(Debug, Default)]
pub struct Batch {
    words: Vec<u32>,
    text: Vec<u8>,
    /// JavaScript has been told where the batch is; it reads it before it calls back.
    is_lent: bool,
}

/// Addresses and lengths of what a batch holds; valid until the next push.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    pub words: usize,
    pub records: usize,
    pub text: usize,
    pub text_bytes: usize,
}

impl Batch {
    /// Appends an event, unless nobody wants it.
    #[cfg_attr(looplet_speed, optimize(speed))]
    pub fn push(&mut self, event: &Event, agent_path: &str, wants: Wants) {
        if self.is_lent {
            self.clear();
        }
        match &event.kind {
            EventKind::TextDelta { block, text } => {
                self.push_delta(wants.text, 0, event, *block, text);
            }
            EventKind::ReasoningDelta { block, text } => {
                self.push_delta(wants.reasoning, 1, event, *block, text);
            }
            EventKind::ToolInputDelta { block, text } => {
                self.push_delta(wants.tool_input, 2, event, *block, text);
            }
            _ if wants.events => self.push_json(event, agent_path),
            _ => {}
        }
    }

    #[cfg_attr(looplet_speed, optimize(speed))]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() || self.is_lent
    }

    /// Where the words and the units of a lone short delta stand and how many units there are. The batch is empty then.
    pub fn lend_short(&mut self) -> Option<(usize, usize)> {
        let [kind, _, _, _, _, _, _, units] = *self.words.as_slice() else {
            return None;
        };
        if self.is_lent || kind == KIND_EVENT || units > MAX_SHORT_UNITS {
            return None;
        }
        let mut half = None;
        for unit in str::from_utf8(&self.text).ok()?.encode_utf16() {
            half = match half {
                None => Some(u32::from(unit)),
                Some(low) => {
                    self.words.push(low | u32::from(unit) << 16);
                    None
                }
            };
        }
        self.words.extend(half);
        self.is_lent = true;
        Some((self.words.as_ptr() as usize, units as usize))
    }

    #[cfg_attr(looplet_speed, optimize(speed))]
    pub fn parts(&self) -> Parts {
        Parts {
            words: self.words.as_ptr() as usize,
            records: self.words.len() / RECORD_WORDS,
            text: self.text.as_ptr() as usize,
            text_bytes: self.text.len(),
        }
    }

    #[cfg_attr(looplet_speed, optimize(speed))]
    pub fn clear(&mut self) {
        self.is_lent = false;
        self.words.clear();
        self.text.clear();
        self.text.shrink_to(MAX_KEPT_BYTES);
    }

    #[cfg_attr(looplet_speed, optimize(speed))]
    fn push_delta(&mut self, is_wanted: bool, kind: u32, event: &Event, block: u32, text: &str) {
        if is_wanted {
            self.text.extend_from_slice(text.as_bytes());
            self.record(kind, event, block, text.len(), utf16_length(text.as_bytes()));
        }
    }

    fn push_json(&mut self, event: &Event, agent_path: &str) {
        let start = self.text.len();
        event.push_json(&mut self.text, agent_path);
        let written = self.text.get(start..).unwrap_or_default();
        let (bytes, units) = (written.len(), utf16_length(written));
        self.record(KIND_EVENT, event, 0, bytes, units);
    }

    #[cfg_attr(looplet_speed, optimize(speed))]
    fn record(&mut self, kind: u32, event: &Event, block: u32, bytes: usize, units: usize) {
        self.words.extend_from_slice(&[
            kind,
            event.seq,
            event.agent,
            event.iteration,
            event.attempt,
            block,
            bytes as u32,
            units as u32,
        ]);
    }
}

/// Every character is one unit, except those of four bytes, which are two.
#[cfg_attr(looplet_speed, optimize(speed))]
fn utf16_length(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.iter()
        .map(|byte| usize::from(byte & 0xC0 != 0x80) + usize::from(*byte >= 0xF0))
        .sum()
}
