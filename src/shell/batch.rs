//! The way out: the events of one drain, as records that cross into JavaScript in one call.
//!
//! A record is [`RECORD_WORDS`] words: kind, seq, agent, iteration, attempt, block, bytes, UTF-16 units. The text of
//! all records stands in one buffer, in their order. Kind 0 is a text delta, 1 reasoning, 2 tool input; 3 is any other
//! event, whose text is its flat JSON. A lone short delta is lent instead, with its text as UTF-16 units behind its
//! words: a `TextDecoder` costs JavaScript as much as all the rest of such a chunk, and a call out as much as a call
//! in. `src/face/host/batch.ts` reads them.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use crate::engine::json::writer::push_value;
use crate::engine::model::event::{Delta, DeltaKind, Event, EventKind};

/// Words of one record.
pub const RECORD_WORDS: usize = 8;
/// Buffers that a large event has made longer than this are given back.
const MAX_KEPT_BYTES: usize = 64 << 10;
/// Beyond this `TextDecoder` is cheaper than `String.fromCharCode`. In UTF-16 units, even.
const MAX_SHORT_UNITS: usize = 32;
const KIND_EVENT: u32 = 3;

/// What the host wants to be told. The numbering of events does not depend on it.
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

/// Address of the words of a lent delta; its units follow them. It never moves.
#[wasm_bindgen(js_name = outletAt)]
pub fn outlet_at() -> usize {
    OUTLET.with_borrow(|outlet| outlet.as_ptr() as usize)
}

/// Writes a delta to where JavaScript reads it as soon as [`super::RunHandle::chunk`] returns. Returns how many UTF-16
/// units it has; 0 if it is too long.
pub fn lend(delta: &Delta<'_>) -> u32 {
    // No character has fewer bytes than units, none more than three times as many.
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

/// Two units a word. Returns how many there are; 0 if there is no room for them.
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

/// The same where each byte is a unit.
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

/// Records that wait to be delivered.
#[derive(Debug, Default)]
pub struct Batch {
    words: Vec<u32>,
    text: Vec<u8>,
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

/// Every character is one unit, except those of four bytes, which are two.
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
