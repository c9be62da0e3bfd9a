//! A content block during streaming: the fields of its start, and what its deltas add.
//!
//! The decoder opens an [`OpenBlock`] for each block, calls [`OpenBlock::read_delta`] for each delta, and
//! [`OpenBlock::stop`] at the end. Text is appended directly to the answer. Blocks of unknown types are stored raw,
//! with their deltas merged. Nothing fails: a delta that does not match its block is ignored.

use looplet_scan::check::check;
use looplet_scan::piece::{Join, Piece};
use looplet_scan::reader::Object;

use crate::engine::model::answer::{ModelAnswer, PartKind};
use crate::engine::protocol::anthropic::toolset;
use crate::engine::protocol::vendor_fields::{Fields, closed, others, push_vendor};

/// An open block. Its text is appended directly to the answer. Every other field is stored here until the end.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenBlock {
    part: usize,
    /// For a tool call, the input of its start. For a raw block, the block unchanged.
    start: String,
    /// For a raw block: its fields, once a delta has changed them.
    fields: Fields,
    /// For a raw block: the pieces of its input.
    input: String,
    half: Join,
    /// For text: the citations as JSON, separated by commas.
    citations: String,
    /// For thinking with omitted text: the vendor's estimate of its tokens so far.
    estimated_tokens: u64,
}

impl OpenBlock {
    /// Opens the block of a `content_block`, or of a complete block.
    pub fn start(block: &str, answer: &mut ModelAnswer) -> OpenBlock {
        let mut open = OpenBlock {
            part: 0,
            start: String::new(),
            fields: Fields::default(),
            input: String::new(),
            half: Join::default(),
            citations: String::new(),
            estimated_tokens: 0,
        };
        let object = Object::parse(block).unwrap_or_default();
        let field = |name: &str| object.text(name);
        let own: &[&str];
        match object.word("type") {
            "text" => {
                open.part = answer.start(PartKind::Text);
                answer.push_piece(open.part, &object.piece("text"));
                for citation in object.items("citations") {
                    open.cite(citation, answer);
                }
                own = &["type", "text", "citations"];
            }
            "thinking" => {
                open.part = answer.start(PartKind::Thinking);
                answer.push_piece(open.part, &object.piece("thinking"));
                set_signature(open.part, &field("signature"), answer);
                own = &["type", "thinking", "signature"];
            }
            "redacted_thinking" => {
                open.part = answer.start(PartKind::RedactedThinking);
                answer.push(open.part, &field("data"));
                own = &["type", "data"];
            }
            "tool_use" => {
                open.part = answer.start_tool_call(&field("id"), &toolset::own_name(&object));
                open.start = object.get("input").unwrap_or_default().to_owned();
                own = &["type", "id", "name", "input"];
            }
            _ => {
                open.part = answer.start(PartKind::Raw);
                answer.count(block.len());
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
        let part = self.part;
        let push = |name: &str, answer: &mut ModelAnswer| {
            answer.push_piece(part, &delta.piece(name));
        };
        match (kind, delta.word("type")) {
            (Some(PartKind::Text), "text_delta") => push("text", answer),
            (Some(PartKind::Text), "citations_delta") => {
                if let Some(citation) = delta.get("citation") {
                    self.cite(citation, answer);
                }
            }
            (Some(PartKind::Thinking), "thinking_delta") => {
                push("thinking", answer);
                // An increment. `null` and 0 change nothing.
                if let Some(more @ 1..) = delta.number("estimated_tokens") {
                    self.estimated_tokens = self.estimated_tokens.saturating_add(more);
                    answer.estimate(part, self.estimated_tokens);
                }
            }
            (Some(PartKind::Thinking), "signature_delta") => {
                set_signature(self.part, &text("signature"), answer);
            }
            (Some(PartKind::ToolCall), "input_json_delta") => push("partial_json", answer),
            (Some(PartKind::Raw), "input_json_delta") => {
                let piece = delta.piece("partial_json");
                answer.count(piece.len());
                self.half.push(&mut self.input, &piece);
            }
            (Some(PartKind::Raw), _) => self.fold(delta, answer),
            _ => {}
        }
    }

    /// Folds a delta into a raw block: a string grows, any other value replaces the earlier one.
    fn fold(&mut self, delta: &Object<'_>, answer: &mut ModelAnswer) {
        for (key, value) in delta.fields() {
            if key == "type" {
                continue;
            }
            let fields = self.fields();
            match Piece::of_json(value) {
                Some(more) => {
                    answer.count(more.len());
                    fields.grow(key, &more);
                }
                None => {
                    answer.count(value.len());
                    fields.set(key, value);
                }
            }
        }
    }

    /// The fields of a raw block.
    fn fields(&mut self) -> &mut Fields {
        if self.fields.is_empty() {
            self.fields = Fields::of(&Object::parse(&self.start).unwrap_or_default());
        }
        &mut self.fields
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
        if check(&self.input).is_ok() {
            let input = std::mem::take(&mut self.input);
            self.fields().set("input", &input);
        }
        if self.fields.is_empty() {
            self.start
        } else {
            self.fields.to_json()
        }
    }
}

/// Sets the signature, which arrives in one piece.
fn set_signature(part: usize, signature: &str, answer: &mut ModelAnswer) {
    if let Some(part) = answer.parts.get_mut(part)
        && !signature.is_empty()
    {
        part.signature = Some(signature.to_owned());
    }
}
