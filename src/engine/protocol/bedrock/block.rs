//! A content block of Converse, streamed or complete.
//!
//! Its object has one key, which is the kind: `{"text":…}`, `{"toolUse":{…}}`, `{"reasoningContent":{…}}`,
//! `{"citationsContent":{…}}`. In a stream only tool blocks have a start event. Text and reasoning begin with their
//! first delta. Server tools (`"type":"server_tool_use"`), their results and unknown blocks are stored raw.
//!
//! The decoder opens an [`OpenBlock`], adds deltas, and calls [`OpenBlock::stop`] at the end. Nothing fails: a delta
//! that does not match its block begins another one.

use std::collections::BTreeMap;

use looplet_scan::check::check;
use looplet_scan::piece::Join;
use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_any, push_raw, written};
use crate::engine::model::answer::{ModelAnswer, Part, PartKind};
use crate::engine::protocol::vendor_fields::{Fields, closed, others, push_vendor};

/// An open block.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenBlock {
    part: usize,
    /// The key of a raw block.
    key: String,
    /// For a raw block: the inner value, without the fields that wait in `input` and `list`.
    inner: String,
    /// For a raw block: the fields of the inner object, once a delta has changed them.
    fields: Fields,
    /// The fields of a text or of reasoning that have no neutral form, and those next to a raw block's key.
    others: Fields,
    /// For a raw tool block: the pieces of its input.
    input: String,
    half: Join,
    /// The citations of a text, or the content of a raw result, as JSON separated by commas.
    list: String,
}

/// The fields of a call that have a neutral form. A request accepts no `type` of a call except a server tool's.
const CALL: &[&str] = &["toolUseId", "name", "input", "type"];

impl OpenBlock {
    fn new(part: usize) -> OpenBlock {
        OpenBlock {
            part,
            key: String::new(),
            inner: String::new(),
            fields: Fields::default(),
            others: Fields::default(),
            input: String::new(),
            half: Join::default(),
            list: String::new(),
        }
    }

    /// Opens the block of a start, or a complete block. `None` for a start without a kind, which the deltas then
    /// have.
    pub fn start(block: &Object<'_>, answer: &mut ModelAnswer) -> Option<OpenBlock> {
        let (key, value) = said(block)?;
        let inner = Object::parse(value).unwrap_or_default();
        let kind = kind_of(key, &inner);
        let mut open = OpenBlock::new(0);
        match kind {
            PartKind::ToolCall => {
                let text = |name: &str| inner.text(name);
                open.part = answer.start_tool_call(&text("toolUseId"), &text("name"));
                if let Some(part) = answer.parts.get_mut(open.part) {
                    part.vendor = others(&inner, CALL);
                }
                answer.push(open.part, inner.get("input").unwrap_or_default());
            }
            PartKind::Raw => {
                open.part = answer.start(kind);
                answer.count(value.len());
                open.key = key.to_owned();
                open.inner = value.to_owned();
            }
            _ => {
                open.part = answer.start(kind);
                open.read_delta(key, block, answer);
            }
        }
        open.keep_others(block, answer);
        Some(open)
    }

    /// Opens a block without a start with its first delta. `None` for a call, which would have no name.
    pub fn start_by(key: &str, delta: &Object<'_>, answer: &mut ModelAnswer) -> Option<OpenBlock> {
        let kind = kind_of(key, &delta.object(key).unwrap_or_default());
        if kind == PartKind::ToolCall {
            return None;
        }
        let mut open = OpenBlock::new(answer.start(kind));
        if kind == PartKind::Raw {
            open.key = key.to_owned();
        }
        Some(open)
    }

    /// True when the delta belongs to this block.
    pub fn takes(&self, key: &str, delta: &Object<'_>, answer: &ModelAnswer) -> bool {
        let kind = answer.parts.get(self.part).map(|part| part.kind);
        match kind {
            Some(PartKind::Raw) => key == self.key,
            _ => kind == Some(kind_of(key, &delta.object(key).unwrap_or_default())),
        }
    }

    /// Adds a delta, or the corresponding content of a complete block.
    pub fn read_delta(&mut self, key: &str, delta: &Object<'_>, answer: &mut ModelAnswer) {
        let inner = delta.object(key).unwrap_or_default();
        let is_raw = answer
            .parts
            .get(self.part)
            .is_some_and(|part| part.kind == PartKind::Raw);
        match (key, is_raw) {
            ("text", _) => drop(answer.push_piece(self.part, &delta.piece(key))),
            ("citation", _) => self.add(delta.get(key).unwrap_or_default(), answer),
            ("citationsContent", _) => {
                for piece in inner.items("content") {
                    let piece = Object::parse(piece).unwrap_or_default();
                    answer.push_piece(self.part, &piece.piece("text"));
                }
                self.add(elements(inner.get("citations")), answer);
            }
            ("reasoningContent", _) => {
                let text = inner.object("reasoningText");
                self.read_reasoning(text.as_ref().unwrap_or(&inner), answer);
                for (key, value) in inner.fields().chain(text.iter().flat_map(Object::fields)) {
                    if !REASONING.contains(&key) {
                        self.keep(key, value, answer);
                    }
                }
            }
            ("toolUse", false) => drop(answer.push_piece(self.part, &inner.piece("input"))),
            ("toolUse", true) => {
                let piece = inner.piece("input");
                answer.count(piece.len());
                self.half.push(&mut self.input, &piece);
            }
            ("toolResult", true) => self.add(elements(delta.get(key)), answer),
            _ => {
                for (key, value) in inner.fields() {
                    answer.count(value.len());
                    self.fields().set(key, value);
                }
            }
        }
    }

    /// Stores the fields next to those that determine a block's kind.
    pub fn keep_others(&mut self, block: &Object<'_>, answer: &mut ModelAnswer) {
        for (key, value) in block.fields() {
            if key != "type" && key != self.key && !KINDS.contains(&key) {
                self.keep(key, value, answer);
            }
        }
    }

    fn keep(&mut self, key: &str, value: &str, answer: &mut ModelAnswer) {
        if value != "null" {
            answer.count(value.len());
            self.others.set(key, value);
        }
    }

    /// The fields of a raw block's inner object.
    fn fields(&mut self) -> &mut Fields {
        if self.fields.is_empty() {
            self.fields = Fields::of(&Object::parse(&self.inner).unwrap_or_default());
        }
        &mut self.fields
    }

    /// Adds elements to the list of citations or results.
    fn add(&mut self, elements: &str, answer: &mut ModelAnswer) {
        answer.count(elements.len());
        if !self.list.is_empty() && !elements.is_empty() {
            self.list.push(',');
        }
        self.list.push_str(elements);
    }

    fn read_reasoning(&self, reasoning: &Object<'_>, answer: &mut ModelAnswer) {
        for key in ["text", "redactedContent"] {
            answer.push_piece(self.part, &reasoning.piece(key));
        }
        if let (Some(signature), Some(part)) =
            (reasoning.filled("signature"), answer.parts.get_mut(self.part))
        {
            part.signature.get_or_insert_default().push_str(&signature);
        }
    }

    /// Writes the waiting fields and ends the block.
    pub fn stop(self, answer: &mut ModelAnswer) {
        let at = self.part;
        let Some(part) = answer.parts.get_mut(at) else {
            return;
        };
        let list = format!("[{}]", self.list);
        match part.kind {
            // A call without arguments may have no deltas, or empty ones.
            PartKind::ToolCall if part.text.trim().is_empty() => answer.push(at, "{}"),
            PartKind::Text | PartKind::Thinking => {
                let mut out = b"{".to_vec();
                if !self.list.is_empty() {
                    push_raw(&mut out, "citations", &list);
                }
                self.others.push(&mut out);
                part.vendor = closed(out);
            }
            PartKind::Raw => part.text = self.raw_block(&list),
            _ => {}
        }
        answer.end(at);
    }

    /// The raw block with its streamed input and content.
    fn raw_block(&self, list: &str) -> String {
        let is_changed = !self.fields.is_empty() || self.inner.is_empty();
        let inner = if is_changed {
            &self.fields.to_json()
        } else {
            &self.inner
        };
        let mut inner = inner.as_bytes().to_vec();
        if inner.ends_with(b"}") {
            inner.pop();
            if check(&self.input).is_ok() {
                push_raw(&mut inner, "input", &self.input);
            }
            if !self.list.is_empty() {
                push_raw(&mut inner, "content", list);
            }
            inner.push(b'}');
        }
        let mut out = b"{".to_vec();
        push_any(&mut out, &self.key, &written(inner));
        self.others.push(&mut out);
        out.push(b'}');
        written(out)
    }
}

/// Moves the citations of blocks without text to the text before them, which they cite: Nova's grounding sends them
/// in separate blocks. Citations before the first text are moved to that one. The decoder calls it after the end of
/// the message.
/// <https://docs.aws.amazon.com/nova/latest/nova2-userguide/web-grounding.html> (2026-11-22)
pub fn place_citations(answer: &mut ModelAnswer) {
    let mut lists: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let (mut early, mut said) = (Vec::new(), None);
    for (at, part) in answer.parts.iter().enumerate() {
        if part.kind != PartKind::Text {
            continue;
        }
        let own = citations(part);
        if !part.text.trim().is_empty() {
            early.extend(own);
            let list = std::mem::take(&mut early);
            lists.insert(at, list);
            said = Some(at);
        } else if let Some(list) = said.and_then(|text| lists.get_mut(&text)) {
            list.extend(own);
        } else {
            early.extend(own);
        }
    }
    for (at, part) in answer.parts.iter_mut().enumerate() {
        if let Some(list) = lists.get(&at) {
            let mut out = b"{".to_vec();
            if !list.is_empty() {
                push_raw(&mut out, "citations", &format!("[{}]", list.join(",")));
            }
            push_vendor(&mut out, part.vendor.as_ref(), &["citations"]);
            part.vendor = closed(out);
        } else if part.kind == PartKind::Text && said.is_some() {
            part.vendor = None;
        }
    }
}

/// The citations of a text without their brackets, if there are any.
fn citations(part: &Part) -> Option<String> {
    let vendor = Object::parse(part.vendor.as_ref()?.as_str())?;
    let list = elements(vendor.get("citations"));
    (!list.is_empty()).then(|| list.to_owned())
}

/// The text between a list's brackets; empty if the value is not a list.
fn elements(list: Option<&str>) -> &str {
    list.and_then(|list| list.strip_prefix('[')?.strip_suffix(']'))
        .unwrap_or_default()
        .trim_ascii()
}

/// The keys that determine the kind of a block or of a delta.
pub const KINDS: &[&str] = &[
    "text",
    "citation",
    "citationsContent",
    "reasoningContent",
    "toolUse",
    "toolResult",
];

/// The fields of reasoning that have a neutral form.
const REASONING: &[&str] = &["reasoningText", "text", "signature", "redactedContent", "type"];

/// The field that determines the kind of a block or of a delta. Some servers write a `type` before it. A field with
/// an unknown name is used if there is no other.
pub fn said<'b>(block: &'b Object<'_>) -> Option<(&'b str, &'b str)> {
    let fields = || block.fields().filter(|(_, value)| *value != "null");
    let known = fields().find(|(key, _)| KINDS.contains(key));
    known
        .or_else(|| fields().find(|(key, _)| *key != "type"))
        .or_else(|| fields().next())
}

/// The kind of a block or delta with this key.
fn kind_of(key: &str, inner: &Object<'_>) -> PartKind {
    match key {
        "text" | "citation" | "citationsContent" => PartKind::Text,
        "reasoningContent" if inner.get("redactedContent").is_some() => PartKind::RedactedThinking,
        "reasoningContent" => PartKind::Thinking,
        "toolUse" if !inner.is("type", "server_tool_use") => PartKind::ToolCall,
        _ => PartKind::Raw,
    }
}
