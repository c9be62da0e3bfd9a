//! An output item during streaming, and the fields that its end adds.
//!
//! The decoder opens an [`Item`] at its start or its first delta, finds the block of each part by its [`Slot`], and
//! calls [`Item::settle`] with the complete item at the end. An item that only its end shows is read from there.
//! Nothing fails: an unknown item becomes a raw block.

use std::collections::{BTreeMap, BTreeSet};

use looplet_scan::piece::Piece;
use looplet_scan::reader::Object;

use crate::engine::model::answer::{ModelAnswer, PartKind};
use crate::engine::model::message::Json;
use crate::engine::protocol::openai_parts::{CUSTOM_HEAD, CUSTOM_TAIL, escaped, escaped_piece};
use crate::engine::protocol::openai_responses::item_call::OF_CALL;
use crate::engine::protocol::vendor_fields::{object_of, others};

/// The place of a part in its item: twice its index, plus one in a reasoning item's `content`.
pub type Slot = u32;

/// The slot of an item's only part.
const ONLY: Slot = 0;

/// Marks the slots of a message's pieces that have an unknown type.
const UNKNOWN: Slot = 1 << 31;

/// The type of a custom tool's call, stored in `vendor`.
pub const CUSTOM_CALL: &str = "custom_tool_call";

/// An item that has started.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The vendor's `output_index`. Ids cannot identify an item: Copilot gives it another one in every event.
    pub index: u32,
    /// True if the complete item was received.
    pub settled: bool,
    /// True for the call of a custom tool that the run does not have. It is the server's own if the answer continues
    /// after it, like xAI's searches (recorded 2025-12-01). Its block is raw until the end decides.
    pub is_foreign: bool,
    /// In the order of their starts.
    parts: Vec<(Slot, usize)>,
    by_slot: BTreeMap<Slot, usize>,
}

impl Item {
    pub fn new(index: u32) -> Item {
        Item {
            index,
            settled: false,
            is_foreign: false,
            parts: Vec::new(),
            by_slot: BTreeMap::new(),
        }
    }

    /// Opens the block of a call or of a raw item. The blocks of other items begin with their first text.
    pub fn start(&mut self, item: &Object<'_>, answer: &mut ModelAnswer) {
        if !self.parts.is_empty() {
            return;
        }
        let field = |name: &str| item.filled(name).unwrap_or_default();
        match item.word("type") {
            "message" | "reasoning" => {}
            "custom_tool_call" if item.filled("name").is_some_and(|name| !answer.has_tool(&name)) => {
                self.is_foreign = true;
                self.part(ONLY, PartKind::Raw, answer);
            }
            "function_call" | "custom_tool_call" => {
                let id = item.filled("call_id").unwrap_or_else(|| field("id"));
                let part = answer.start_tool_call(&id, &field("name"));
                self.add(ONLY, part);
            }
            kind => match answer.tool_of_item(kind) {
                Some(tool) => {
                    let id = item.filled("call_id").unwrap_or_else(|| field("id"));
                    let part = answer.start_tool_call(&id, &tool);
                    self.add(ONLY, part);
                }
                None => drop(self.part(ONLY, PartKind::Raw, answer)),
            },
        }
    }

    /// The block of this slot, if it has started.
    pub fn known(&self, slot: Slot) -> Option<usize> {
        self.by_slot.get(&slot).copied()
    }

    fn add(&mut self, slot: Slot, part: usize) {
        self.parts.push((slot, part));
        self.by_slot.insert(slot, part);
    }

    /// The block of this slot. The previous block ends where this one begins.
    pub fn part(&mut self, slot: Slot, kind: PartKind, answer: &mut ModelAnswer) -> usize {
        if let Some(part) = self.known(slot) {
            return part;
        }
        if let Some((_, before)) = self.parts.last() {
            answer.end(*before);
        }
        let part = answer.start(kind);
        self.add(slot, part);
        part
    }

    /// Appends plain text to a custom tool's input.
    pub fn push_custom(&self, text: &Piece<'_>, answer: &mut ModelAnswer) {
        let Some(part) = self.known(ONLY) else { return };
        if answer
            .parts
            .get(part)
            .is_none_or(|part| part.kind != PartKind::ToolCall)
        {
            return;
        }
        if answer.parts.get(part).is_some_and(|call| call.text.is_empty()) {
            answer.push(part, CUSTOM_HEAD);
        }
        answer.push(part, &escaped_piece(text));
    }

    /// Adds the content that the deltas left out, and ends the item's blocks.
    pub fn settle(&mut self, json: &str, item: &Object<'_>, answer: &mut ModelAnswer) {
        self.settled = true;
        self.start(item, answer);
        match item.word("type") {
            "message" => self.settle_message(item, answer),
            "reasoning" => self.settle_reasoning(item, answer),
            kind @ ("function_call" | "custom_tool_call") if !self.is_foreign => {
                self.settle_call(kind, item, answer);
            }
            kind if answer.tool_of_item(kind).is_some() => self.settle_item_call(item, answer),
            _ => {
                let part = self.part(ONLY, PartKind::Raw, answer);
                // An item that began as a call stays one, whatever its end calls itself.
                let raw = answer.parts.get_mut(part);
                if let Some(part) = raw.filter(|part| part.kind == PartKind::Raw) {
                    part.text = json.to_owned();
                    answer.count(json.len());
                }
            }
        }
        for (_, part) in &self.parts {
            answer.end(*part);
        }
    }

    /// Makes the raw block of a foreign call the run's call after all.
    pub fn claim(&mut self, answer: &mut ModelAnswer) {
        let Some(part) = self.known(ONLY).filter(|_| self.is_foreign) else {
            return;
        };
        let text = answer.parts.get(part).map(|part| part.text.clone());
        let text = text.unwrap_or_default();
        let Some(item) = Object::parse(&text) else { return };
        let id = item.filled("call_id").or_else(|| item.filled("id"));
        answer.turn_into_call(part, &id.unwrap_or_default(), &item.text("name"));
        self.settle_call("custom_tool_call", &item, answer);
        answer.end(part);
    }

    fn settle_message(&mut self, item: &Object<'_>, answer: &mut ModelAnswer) {
        let pieces_json = item.items("content");
        let pieces: Vec<_> = pieces_json.iter().map(|json| Object::parse(json)).collect();
        let mut streamed = Streamed::of(&self.by_slot, 0);
        for (at, piece) in pieces.iter().enumerate() {
            let Some(piece) = piece else { continue };
            if answer.is_overfull {
                return;
            }
            let refusal = piece.string("refusal");
            if refusal.is_none() && piece.string("text").is_none() && !piece.is("type", "output_text") {
                self.keep_piece(at, pieces_json.get(at).copied().unwrap_or_default(), answer);
                continue;
            }
            let kind = if refusal.is_some() {
                PartKind::Refusal
            } else {
                PartKind::Text
            };
            let text = refusal.or_else(|| piece.string("text")).unwrap_or_default();
            let slot = streamed.take(at, pieces.len() - at, kind, &text, answer);
            if let Some(part) = self.complete(slot, kind, &text, answer) {
                let mut fields = Vec::new();
                further(item, &["type", "role", "content"], &mut fields);
                further(piece, &["type", "text", "refusal"], &mut fields);
                set_vendor(part, &fields, answer);
            }
        }
    }

    /// Stores a piece of an unknown type, as an item with only this piece.
    fn keep_piece(&mut self, at: usize, piece: &str, answer: &mut ModelAnswer) {
        let part = self.part((2 * at as Slot) | UNKNOWN, PartKind::Raw, answer);
        answer.push(part, r#"{"type":"message","role":"assistant","content":["#);
        answer.push(part, piece);
        answer.push(part, "]}");
    }

    fn settle_reasoning(&mut self, item: &Object<'_>, answer: &mut ModelAnswer) {
        for (first, list) in [(0, "summary"), (1, "content")] {
            let pieces: Vec<_> = item.items(list).into_iter().map(Object::parse).collect();
            let mut streamed = Streamed::of(&self.by_slot, first);
            for (at, piece) in pieces.iter().enumerate() {
                if answer.is_overfull {
                    return;
                }
                let text = piece.as_ref().and_then(|piece| piece.string("text"));
                let text = text.unwrap_or_default();
                let slot = streamed.take(at, pieces.len() - at, PartKind::Thinking, &text, answer);
                self.complete(slot, PartKind::Thinking, &text, answer);
            }
        }
        if self.parts.is_empty() {
            self.part(ONLY, PartKind::Thinking, answer);
        }
        let last = self.parts.len();
        for (at, (slot, part)) in self.parts.iter().enumerate() {
            let mut fields = Vec::new();
            if slot % 2 == 1 {
                fields.push(("field", "\"content\""));
            }
            if at + 1 == last {
                // Not every server accepts an item's status in a request.
                let ours = ["summary", "content", "encrypted_content", "status"];
                further(item, &ours, &mut fields);
                if let Some(part) = answer.parts.get_mut(*part) {
                    part.signature = item.owned("encrypted_content");
                }
            }
            set_vendor(*part, &fields, answer);
        }
    }

    fn settle_call(&mut self, kind: &str, item: &Object<'_>, answer: &mut ModelAnswer) {
        let Some(part) = self.known(ONLY) else { return };
        if answer.parts.get(part).is_some_and(|call| call.name.is_empty()) {
            answer.name_call(part, &item.text("name"));
        }
        let is_cut_off = item.is("status", "incomplete");
        if kind == "function_call" {
            let arguments = item.get("arguments").unwrap_or_default();
            let text = item.string("arguments").unwrap_or(arguments.into());
            let blank = text.trim().is_empty() && !is_cut_off;
            self.complete(ONLY, PartKind::ToolCall, if blank { "{}" } else { &text }, answer);
            let mut fields = Vec::new();
            further(item, &["type", "call_id", "name", "arguments"], &mut fields);
            set_vendor(part, &fields, answer);
        } else {
            let input = escaped(&item.text("input"));
            let tail = if is_cut_off { "" } else { CUSTOM_TAIL };
            let text = format!("{CUSTOM_HEAD}{input}{tail}");
            self.complete(ONLY, PartKind::ToolCall, &text, answer);
            // The type decides how the call is sent back.
            let mut fields = vec![("type", "\"custom_tool_call\"")];
            further(item, &["type", "call_id", "name", "input"], &mut fields);
            set_vendor(part, &fields, answer);
        }
    }

    /// Settles the call of a vendor's tool, with the item as its input.
    fn settle_item_call(&mut self, item: &Object<'_>, answer: &mut ModelAnswer) {
        let Some(part) = self.known(ONLY) else { return };
        let input = others(item, OF_CALL).unwrap_or_else(Json::empty_object);
        self.complete(ONLY, PartKind::ToolCall, input.as_str(), answer);
        let fields = item
            .fields()
            .filter(|(key, _)| OF_CALL.contains(key) && *key != "call_id");
        let fields: Vec<_> = fields.collect();
        set_vendor(part, &fields, answer);
    }

    /// Appends the end of a part's text that its deltas left out.
    fn complete(
        &mut self,
        slot: Slot,
        kind: PartKind,
        text: &str,
        answer: &mut ModelAnswer,
    ) -> Option<usize> {
        if text.is_empty() && self.known(slot).is_none() {
            return None;
        }
        let part = self.part(slot, kind, answer);
        let known = answer.parts.get_mut(part)?;
        if let Some(rest) = text.strip_prefix(known.text.as_str())
            && !known.ended
        {
            // The complete text has the character of which a delta has sent half.
            if !rest.is_empty() {
                known.half.drop_half();
            }
            answer.push(part, rest);
        }
        Some(part)
    }
}

/// The streamed parts of an item's list that no piece of the complete item has matched. gpt-oss on Bedrock counts
/// `content_index` over more than the list, so an index is not enough to find a piece's part.
struct Streamed {
    first: Slot,
    left: BTreeMap<Slot, usize>,
    taken: BTreeSet<Slot>,
}

/// How many parts are compared with a piece if its index finds none. gpt-oss is off by one or two.
const NEAR: usize = 8;

impl Streamed {
    /// `first` is 0 for the parts of a message and a `summary`, 1 for those of a reasoning item's `content`.
    fn of(parts: &BTreeMap<Slot, usize>, first: Slot) -> Streamed {
        let left = parts.iter().filter(|(slot, _)| *slot % 2 == first);
        Streamed {
            first,
            left: left.map(|(slot, part)| (*slot, *part)).collect(),
            taken: BTreeSet::new(),
        }
    }

    /// The slot of a piece: that of a part with a text that begins the piece, or else that of the piece's index. If
    /// there are as many parts as pieces left, the next part is the piece's, even if its text differs.
    fn take(
        &mut self,
        at: usize,
        pieces_left: usize,
        kind: PartKind,
        text: &str,
        answer: &ModelAnswer,
    ) -> Slot {
        let own = self.first.saturating_add(2 * at as Slot);
        let begins = |part: usize| {
            let part = answer.parts.get(part);
            part.is_some_and(|part| part.kind == kind && text.starts_with(part.text.trim_end()))
        };
        let known = self.left.get(&own).copied();
        let found = if known.is_some_and(begins) {
            Some(own)
        } else {
            let mut near = self.left.iter().take(NEAR);
            let next = self.left.keys().next().copied();
            near.find(|(_, part)| begins(**part))
                .map(|(slot, _)| *slot)
                .or(known.map(|_| own))
                .or(next.filter(|_| self.left.len() >= pieces_left))
        };
        if found.is_none() && text.is_empty() {
            return own;
        }
        let slot = match found {
            Some(slot) => {
                self.left.remove(&slot);
                slot
            }
            None if self.taken.contains(&own) => {
                let last = self.left.keys().next_back().max(self.taken.last());
                last.map_or(own, |last| last.saturating_add(2))
            }
            None => own,
        };
        self.taken.insert(slot);
        slot
    }
}

/// Fields of the event that Bedrock's server writes into the item too.
const OF_EVENT: [&str; 2] = ["item_id", "output_index"];

/// Adds the fields that are neither in `ours` nor empty.
fn further<'a>(object: &'a Object<'_>, ours: &[&str], into: &mut Vec<(&'a str, &'a str)>) {
    for (key, value) in object.fields() {
        if value != "[]" && !ours.contains(&key) && !OF_EVENT.contains(&key) {
            into.push((key, value));
        }
    }
}

fn set_vendor(part: usize, fields: &[(&str, &str)], answer: &mut ModelAnswer) {
    if let Some(part) = answer.parts.get_mut(part) {
        part.vendor = object_of(fields);
    }
}
