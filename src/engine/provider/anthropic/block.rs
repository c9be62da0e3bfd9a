//! A content block while it is being streamed: what its start said and what its deltas add.

use serde::{Deserialize, Serialize};

use super::super::super::answer::{Answer, PartKind};
use super::super::super::json_check::check;
use super::super::super::json_reader::{Object, string};
use super::super::super::json_writer::{object_of, push_any, push_comma, push_string};
use super::super::super::text::join;

/// An open block. Text goes straight to its part; the rest waits here for the block's end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenBlock {
    /// The vendor's index.
    pub index: u32,
    pub part: usize,
    /// A tool call: the input that its start had. A raw block: the block so far, without what `grown` adds.
    start: String,
    /// A raw block: what its deltas add to its string fields, by name. Joined once, when the block ends.
    grown: Vec<(String, String)>,
    /// A raw block: the input's pieces.
    input: String,
    /// Text: the citations, as JSON.
    citations: Vec<String>,
}

impl OpenBlock {
    /// Opens the part of a `content_block`, or of a whole block.
    pub fn start(index: u32, block: &str, answer: &mut Answer) -> OpenBlock {
        let mut open = OpenBlock {
            index,
            part: 0,
            start: String::new(),
            grown: Vec::new(),
            input: String::new(),
            citations: Vec::new(),
        };
        let object = Object::parse(block);
        let field = |name: &str| {
            object
                .as_ref()
                .and_then(|object| object.string(name))
                .unwrap_or_default()
        };
        let own: &[&str];
        match field("type").as_ref() {
            "text" => {
                open.part = answer.start(PartKind::Text);
                answer.push(open.part, &field("text"));
                open.citations = object
                    .iter()
                    .flat_map(|object| object.items("citations"))
                    .map(str::to_owned)
                    .collect();
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
                open.start = object
                    .as_ref()
                    .and_then(|object| object.get("input"))
                    .unwrap_or_default()
                    .to_owned();
                own = &["type", "id", "name", "input"];
            }
            _ => {
                open.part = answer.start(PartKind::Raw);
                open.start = block.to_owned();
                return open;
            }
        }
        let mut further = object
            .iter()
            .flat_map(Object::fields)
            .filter(|(key, _)| !own.contains(key));
        if let Some(part) = answer.parts.get_mut(open.part) {
            part.vendor = object_of(&mut further);
        }
        open
    }

    /// Adds what a delta says. Deltas of unknown types are folded into raw blocks and passed over elsewhere.
    pub fn read_delta(&mut self, delta: &Object<'_>, answer: &mut Answer) {
        let kind = answer.parts.get(self.part).map(|part| part.kind);
        let text = |name: &str| delta.string(name).unwrap_or_default();
        match (kind, delta.string("type").as_deref()) {
            (Some(PartKind::Text), Some("text_delta")) => answer.push(self.part, &text("text")),
            (Some(PartKind::Text), Some("citations_delta")) => {
                self.citations.extend(delta.get("citation").map(str::to_owned));
            }
            (Some(PartKind::Thinking), Some("thinking_delta")) => answer.push(self.part, &text("thinking")),
            (Some(PartKind::Thinking), Some("signature_delta")) => {
                set_signature(self.part, &text("signature"), answer);
            }
            (Some(PartKind::ToolCall), Some("input_json_delta")) => {
                answer.push(self.part, &text("partial_json"))
            }
            (Some(PartKind::Raw), Some("input_json_delta")) => self.input.push_str(&text("partial_json")),
            (Some(PartKind::Raw), _) => self.fold(delta),
            _ => {}
        }
    }

    /// Strings grow, anything else replaces.
    fn fold(&mut self, delta: &Object<'_>) {
        let mut others = b"{".to_vec();
        for (key, value) in delta.fields().filter(|(key, _)| *key != "type") {
            let Some(more) = string(value) else {
                push_any(&mut others, key, value);
                continue;
            };
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

    /// Writes the block anew with the fields of a delta in it.
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
            if !block.fields().any(|(known, _)| known == key) {
                push_any(&mut out, key, value);
            }
        }
        out.push(b'}');
        if let Ok(folded) = String::from_utf8(out) {
            self.start = folded;
        }
    }

    /// Writes what waited for the end, and ends the part.
    pub fn stop(self, answer: &mut Answer) {
        let at = self.part;
        let Some(part) = answer.parts.get_mut(at) else {
            return;
        };
        match part.kind {
            // A call without arguments comes without deltas, or with empty ones.
            PartKind::ToolCall if part.text.trim().is_empty() => {
                answer.push(self.part, if self.start.is_empty() { "{}" } else { &self.start });
            }
            PartKind::Text if !self.citations.is_empty() => {
                let list = [
                    "[",
                    &join(&mut self.citations.iter().map(String::as_str), ","),
                    "]",
                ]
                .concat();
                let vendor = part.vendor.take();
                let known = vendor.as_ref().and_then(|json| Object::parse(json.as_str()));
                let further = known.iter().flat_map(Object::fields);
                part.vendor = object_of(&mut [("citations", list.as_str())].into_iter().chain(further));
            }
            PartKind::Raw => part.text = self.raw_block(),
            _ => {}
        }
        answer.end(at);
    }

    /// The block with the input that was streamed, if that is JSON.
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
        if !block.fields().any(|(key, _)| key == "input") {
            push_any(&mut out, "input", &self.input);
        }
        out.push(b'}');
        String::from_utf8(out).unwrap_or(self.start)
    }
}

/// The signature comes in one piece.
fn set_signature(part: usize, signature: &str, answer: &mut Answer) {
    if let Some(part) = answer.parts.get_mut(part)
        && !signature.is_empty()
    {
        part.signature = Some(signature.to_owned());
    }
}
