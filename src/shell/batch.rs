//! Passes events to JavaScript: the events of one drain become records that cross in one call.
//!
//! A record is [`RECORD_WORDS`] words: kind, seq, agent, iteration, attempt, block, bytes, UTF-16 units. One buffer
//! has the texts of all records, in order. Kind 0 is a text delta, 1 reasoning, 2 tool input. Kind 3 is any other
//! event, with flat JSON as its text.
//!
//! The driver pushes events and returns [`Parts`], which `src/typescript/core/host/batch.ts` reads. A single short
//! delta is written to the outlet instead ([`lend`]): its UTF-16 units follow its words. A `TextDecoder` costs
//! JavaScript as much as the rest of such a chunk, and a call out costs as much as a call in.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use crate::engine::json::writer::push_value;
use crate::engine::model::event::{Delta, DeltaKind, Event, EventKind};

/// The number of 32-bit words of one record.
pub const RECORD_WORDS: usize = 8;
/// The longest buffer that is reused for the next batch. A larger one, after a large event, is freed.
const MAX_KEPT_BYTES: usize = 64 << 10;
/// The longest text in the outlet, in UTF-16 units. It must be even. For longer texts `TextDecoder` is cheaper than
/// `String.fromCharCode`.
const MAX_SHORT_UNITS: usize = 32;
const KIND_EVENT: u32 = 3;

/// The kinds of events that your code listens to. The numbering of events does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    pub text: bool,
    pub reasoning: bool,
    pub tool_input: bool,
    pub events: bool,
}

impl Wants {
    pub fn delta(self, kind: DeltaKind) -> bool {
        match kind {
            DeltaKind::Text => self.text,
            DeltaKind::Reasoning => self.reasoning,
            DeltaKind::ToolInput => self.tool_input,
        }
    }
}

const OUTLET_WORDS: usize = RECORD_WORDS + MAX_SHORT_UNITS / 2;

thread_local! {
    static OUTLET: RefCell<[u32; OUTLET_WORDS]> = const { RefCell::new([0; OUTLET_WORDS]) };
}

/// The address of the words of a delta in the outlet, followed by its units. It never changes.
#[wasm_bindgen(js_name = outletAt)]
pub fn outlet_at() -> usize {
    OUTLET.with_borrow(|outlet| outlet.as_ptr() as usize)
}

/// Writes a delta to the place that JavaScript reads as soon as [`super::RunHandle::chunk`] returns. Returns the
/// number of UTF-16 units; 0 if the text is too long.
pub fn lend(delta: &Delta<'_>) -> u32 {
    // A character has at least as many bytes as units, and at most three times as many.
    if delta.text.len() > 3 * MAX_SHORT_UNITS {
        return 0;
    }
    OUTLET.with_borrow_mut(|outlet| {
        let (record, units) = outlet.split_at_mut(RECORD_WORDS);
        record.copy_from_slice(&record_of(delta, 0));
        if delta.text.is_ascii() {
            lend_ascii(delta.text.as_bytes(), units)
        } else {
            lend_units(delta.text, units)
        }
    })
}

/// Writes two units into each word. Returns the number of units, or 0 if there is not enough space.
fn lend_units(text: &str, words: &mut [u32]) -> u32 {
    let mut length = 0;
    for unit in text.encode_utf16() {
        let Some(word) = words.get_mut(length / 2) else {
            return 0;
        };
        if length % 2 == 0 {
            *word = u32::from(unit);
        } else {
            *word |= u32::from(unit) << 16;
        }
        length += 1;
    }
    length as u32
}

/// Writes a text in which each byte is one unit.
fn lend_ascii(bytes: &[u8], words: &mut [u32]) -> u32 {
    let (pairs, last) = bytes.as_chunks::<2>();
    let mut words = words.iter_mut();
    for [low, high] in pairs {
        let Some(word) = words.next() else { return 0 };
        *word = u32::from(*low) | u32::from(*high) << 16;
    }
    if let [low] = last {
        let Some(word) = words.next() else { return 0 };
        *word = u32::from(*low);
    }
    bytes.len() as u32
}

fn record_of(delta: &Delta<'_>, units: usize) -> [u32; RECORD_WORDS] {
    let Delta {
        seq,
        agent,
        iteration,
        attempt,
        block,
        kind,
        text,
    } = *delta;
    [
        kind as u32,
        seq,
        agent,
        iteration,
        attempt,
        block,
        text.len() as u32,
        units as u32,
    ]
}

/// The records that wait to be delivered.
#[derive(Debug, Default)]
pub struct Batch {
    words: Vec<u32>,
    text: Vec<u8>,
}

/// The addresses and lengths of a batch's buffers. They are valid until the next push.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    pub words: usize,
    pub records: usize,
    pub text: usize,
    pub text_bytes: usize,
}

impl Batch {
    /// Appends an event, unless your code does not listen to its kind.
    pub fn push(&mut self, event: &Event, wants: Wants) {
        match &event.kind {
            EventKind::TextDelta { block, text } => {
                self.push_event(wants, DeltaKind::Text, event, *block, text);
            }
            EventKind::ReasoningDelta { block, text } => {
                self.push_event(wants, DeltaKind::Reasoning, event, *block, text);
            }
            EventKind::ToolInputDelta { block, text } => {
                self.push_event(wants, DeltaKind::ToolInput, event, *block, text);
            }
            // A late reader gets what is open at that time.
            EventKind::Question { .. }
            | EventKind::Answered { .. }
            | EventKind::AgentStart { .. }
            | EventKind::AgentFinish { .. } => self.push_json(event),
            _ if wants.events => self.push_json(event),
            _ => {}
        }
    }

    fn push_event(&mut self, wants: Wants, kind: DeltaKind, event: &Event, block: u32, text: &str) {
        if wants.delta(kind) {
            self.push_delta(&Delta {
                seq: event.seq,
                agent: event.agent,
                iteration: event.iteration,
                attempt: event.attempt,
                block,
                kind,
                text,
            });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn parts(&self) -> Parts {
        Parts {
            words: self.words.as_ptr() as usize,
            records: self.words.len() / RECORD_WORDS,
            text: self.text.as_ptr() as usize,
            text_bytes: self.text.len(),
        }
    }

    pub fn clear(&mut self) {
        self.words.clear();
        self.text.clear();
        self.text.shrink_to(MAX_KEPT_BYTES);
    }

    pub fn push_delta(&mut self, delta: &Delta<'_>) {
        self.text.extend_from_slice(delta.text.as_bytes());
        self.words
            .extend_from_slice(&record_of(delta, utf16_length(delta.text.as_bytes())));
    }

    fn push_json(&mut self, event: &Event) {
        let start = self.text.len();
        push_value(&mut self.text, event);
        let written = self.text.get(start..).unwrap_or_default();
        let (bytes, units) = (written.len(), utf16_length(written));
        self.words.extend_from_slice(&[
            KIND_EVENT,
            event.seq,
            event.agent,
            event.iteration,
            event.attempt,
            0,
            bytes as u32,
            units as u32,
        ]);
    }
}

/// The length of a UTF-8 text in UTF-16 units. A character of four bytes has two units, every other character one.
pub fn utf16_length(text: &[u8]) -> usize {
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let (words, tail) = text.as_chunks::<8>();
    let mut units = text.len() as u32;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let tops = word & TOPS;
        if tops != 0 {
            let seconds = word << 1;
            units -= (tops & !seconds).count_ones();
            units += (tops & seconds & word << 2 & word << 3).count_ones();
        }
    }
    for byte in tail {
        units -= u32::from(byte & 0xC0 == 0x80);
        units += u32::from(*byte >= 0xF0);
    }
    units as usize
}
