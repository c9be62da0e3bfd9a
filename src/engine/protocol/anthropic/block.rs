//! A content block during streaming: the fields of its start, and the additions of its deltas.
//!
//! The decoder opens an [`OpenBlock`] for each block, calls [`OpenBlock::read_delta`] for each delta, and
//! [`OpenBlock::stop`] at the end. Text goes straight into the answer. Blocks of unknown types
//! are kept raw, with their deltas folded in. Nothing fails: a delta that does not fit its block is passed over.

use looplet_scan::check::check;
use looplet_scan::reader::{Object, string};
use serde::{Deserialize, Serialize};

use crate::engine::json::writer::{push_any, push_comma, push_string, written};
use crate::engine::model::answer::{ModelAnswer, PartKind};
use crate::engine::protocol::vendor_fields::{closed, others, push_vendor};

/// An open block. Its text goes straight into the answer; every other field waits here for the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenBlock {
    part: usize,
    /// For a tool call, the input of its start. For a raw block, the block so far without the fields in `grown`.
    start: String,
    /// For a raw block: the growth of its string fields, by name. It is joined once, when the block ends.
    grown: Vec<(String, String)>,
    /// For a raw block: the pieces of its input.
    input: String,
    /// For text: the citations as JSON, separated by commas.
    citations: String,
}

impl OpenBlock {
    /// Opens the block of a `content_block`, or of a whole block.
    pub fn start(block: &str, answer: &mut ModelAnswer) -> OpenBlock {
        let mut open = OpenBlock {
            part: 0,
            start: String::new(),
            grown: Vec::new(),
            input: String::new(),
            citations: String::new(),
        };
        let object = Object::parse(block).unwrap_or_default();
        let field = |name: &str| object.text(name);
        let own: &[&str];
        match object.word("type") {
            "text" => {
                open.part = answer.start(PartKind::Text);
                answer.push(open.part, &field("text"));
                for citation in object.items("citations") {
                    open.cite(citation, answer);
                }
                own = &["type", "text", "citations"];
            }
            "thinking" => {
                open.part = answer.start(PartKind::Thinking);
                answer.push(open.part, &field("thinking"));
                set_signature(open.part, &field("signature"), answer);
                own = &["type", "thinking", "signature"];
            }
            "redacted_thinking" => {
                open.part = answer.start(PartKind::RedactedThinking);
                answer.push(open.part, &field("data"));
                own = &["type", "data"];
            }
            "tool_use" => {
                open.part = answer.start_tool_call(&field("id"), &field("name"));
                open.start = object.get("input").unwrap_or_default().to_owned();
                own = &["type", "id", "name", "input"];
            }
            _ => {
                open.part = answer.start(PartKind::Raw);
                open.start = block.to_owned();
                return open;
            }
        }
        if let Some(part) = answer.parts.get_mut(open.part) {
            part.vendor = others(&object, own);
        }
        open
    }

    fn cite(&mut self, citation: &str, answer: &mut ModelAnswer) {
        answer.count(citation.len());
        if !self.citations.is_empty() {
            self.citations.push(',');
        }
        self.citations.push_str(citation);
    }

    /// Adds a delta. A delta of an unknown type is folded into a raw block and ignored elsewhere.
    pub fn read_delta(&mut self, delta: &Object<'_>, answer: &mut ModelAnswer) {
        let kind = answer.parts.get(self.part).map(|part| part.kind);
        let text = |name: &str| delta.text(name);
        match (kind, delta.word("type")) {
            (Some(PartKind::Text), "text_delta") => answer.push(self.part, &text("text")),
            (Some(PartKind::Text), "citations_delta") => {
                if let Some(citation) = delta.get("citation") {
                    self.cite(citation, answer);
                }
            }
            (Some(PartKind::Thinking), "thinking_delta") => answer.push(self.part, &text("thinking")),
            (Some(PartKind::Thinking), "signature_delta") => {
                set_signature(self.part, &text("signature"), answer);
            }
            (Some(PartKind::ToolCall), "input_json_delta") => answer.push(self.part, &text("partial_json")),
            (Some(PartKind::Raw), "input_json_delta") => {
                let piece = text("partial_json");
                answer.count(piece.len());
                self.input.push_str(&piece);
            }
            (Some(PartKind::Raw), _) => self.fold(delta, answer),
            _ => {}
        }
    }

    /// Folds a delta into a raw block: a string grows, any other value replaces the earlier one.
    fn fold(&mut self, delta: &Object<'_>, answer: &mut ModelAnswer) {
        let mut others = b"{".to_vec();
        for (key, value) in delta.fields() {
            if key == "type" {
                continue;
            }
            let Some(more) = string(value) else {
                push_any(&mut others, key, value);
                continue;
            };
            answer.count(more.len());
            match self.grown.iter_mut().find(|(known, _)| known == key) {
                Some((_, text)) => text.push_str(&more),
                None => self.grown.push((key.to_owned(), more.into_owned())),
            }
        }
        if others.len() > 1 {
            others.push(b'}');
            self.merge(&others);
        }
    }

    /// Rewrites the block with the fields of a delta.
    fn merge(&mut self, delta: &[u8]) {
        let Some(delta) = str::from_utf8(delta).ok().and_then(Object::parse) else {
            return;
        };
        let Some(block) = Object::parse(&self.start) else {
            return;
        };
        let mut out = b"{".to_vec();
        for (key, value) in block.fields() {
            let more = if key == "type" { None } else { delta.get(key) };
            if let (Some(text), Some(more)) = (block.string(key), more.and_then(string)) {
                push_comma(&mut out);
                push_string(&mut out, key);
                out.push(b':');
                push_string(&mut out, &[text.as_ref(), more.as_ref()].concat());
            } else {
                push_any(&mut out, key, more.unwrap_or(value));
            }
        }
        for (key, value) in delta.fields() {
            if !block.has(key) {
                push_any(&mut out, key, value);
            }
        }
        out.push(b'}');
        self.start = written(out);
    }

    /// Writes the waiting fields and ends the block.
    pub fn stop(self, answer: &mut ModelAnswer) {
        let at = self.part;
        let Some(part) = answer.parts.get_mut(at) else {
            return;
        };
        match part.kind {
            // A call without arguments has no deltas, or empty ones.
            PartKind::ToolCall if part.text.trim().is_empty() => {
                answer.push(self.part, if self.start.is_empty() { "{}" } else { &self.start });
            }
            PartKind::Text if !self.citations.is_empty() => {
                let mut out = b"{\"citations\":[".to_vec();
                out.extend_from_slice(self.citations.as_bytes());
                out.push(b']');
                push_vendor(&mut out, part.vendor.as_ref(), &[]);
                part.vendor = closed(out);
            }
            PartKind::Raw => part.text = self.raw_block(),
            _ => {}
        }
        answer.end(at);
    }

    /// The block with the streamed input, if that is valid JSON.
    fn raw_block(mut self) -> String {
        if !self.grown.is_empty() {
            let mut grown = b"{".to_vec();
            for (key, text) in &self.grown {
                push_comma(&mut grown);
                push_string(&mut grown, key);
                grown.push(b':');
                push_string(&mut grown, text);
            }
            grown.push(b'}');
            self.merge(&grown);
        }
        if check(&self.input).is_err() {
            return self.start;
        }
        let Some(block) = Object::parse(&self.start) else {
            return self.start;
        };
        let mut out = b"{".to_vec();
        for (key, value) in block.fields() {
            push_any(&mut out, key, if key == "input" { &self.input } else { value });
        }
        if !block.has("input") {
            push_any(&mut out, "input", &self.input);
        }
        out.push(b'}');
        written(out)
    }
}

/// Sets the signature, which comes in one piece.
fn set_signature(part: usize, signature: &str, answer: &mut ModelAnswer) {
    if let Some(part) = answer.parts.get_mut(part)
        && !signature.is_empty()
    {
        part.signature = Some(signature.to_owned());
    }
}
