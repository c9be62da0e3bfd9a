//! A model's answer while it is being assembled: decoders write into it, the model call reads what changed.
//!
//! A decoder calls [`Answer::start`], then [`Answer::push`] any number of times, then [`Answer::end`]; usage and the
//! finish reason whenever they come. Text grows in place: a delta is a range of its block's text, so nothing is copied
//! twice and the deltas of one block within one network chunk come out joined.

use serde::{Deserialize, Serialize};

use crate::engine::model::message::Json;
use crate::engine::model::usage::{Price, Usage};

/// Why the model stopped, in neutral words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model finished, or hit a stop sequence.
    Stop,
    /// The output limit or the context window cut the answer off.
    Length,
    ToolCalls,
    ContentFilter,
    Refusal,
    /// The vendor paused a long answer; the run goes on by itself (Anthropic's `pause_turn`).
    Pause,
    Other,
}

/// How far an answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Streaming,
    /// The model has stopped; usage and the protocol's end may follow.
    Finishing,
    Complete,
}

/// What a block under assembly is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartKind {
    Text,
    Thinking,
    RedactedThinking,
    Refusal,
    ToolCall,
    /// An image or a sound that the model made.
    Media,
    Raw,
}

/// One block under assembly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub kind: PartKind,
    /// Text, thinking, refusal: the text. Tool call: the arguments' JSON text. Redacted thinking: the data. Media:
    /// base64. Raw: the block's JSON text.
    pub text: String,
    /// Tool call: the provider's id, empty when it sent none.
    pub id: String,
    /// Tool call: the tool's name. Media: the type.
    pub name: String,
    pub signature: Option<String>,
    /// A JSON object of the vendor's further fields.
    pub vendor: Option<Json>,
    /// Nothing more will come.
    pub ended: bool,
    /// The protocol said that this block is complete.
    pub whole: bool,
    /// A call that is the answer: told as text.
    pub is_answer: bool,
}

impl Part {
    /// What its growth is told as.
    pub fn shown_kind(&self) -> PartKind {
        if self.is_answer { PartKind::Text } else { self.kind }
    }
}

/// What happened to the answer since the last [`Answer::take_changes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    Started {
        part: usize,
    },
    /// `parts[part].text[from..to]` is new. Also for tool arguments.
    Grew {
        part: usize,
        from: usize,
        to: usize,
    },
    Ended {
        part: usize,
    },
    Usage,
}

/// A model's answer under assembly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub parts: Vec<Part>,
    /// As reported so far; decoders overwrite with what the vendor reports last.
    pub usage: Usage,
    pub finish_reason: Option<FinishReason>,
    pub raw_finish_reason: Option<String>,
    /// The vendor's id of the answer.
    pub response_id: Option<String>,
    /// The model that the vendor says has answered.
    pub model: Option<String>,
    /// The protocol's own end was seen (`message_stop`, `[DONE]` or a finish reason where the vendor sends no more).
    pub complete: bool,
    changes: Vec<Change>,
    keep_deltas: bool,
    /// What a token costs where the vendor does not say.
    pub price: Option<Price>,
    /// The tool that the model answers by.
    pub answer_tool: Option<String>,
}

impl Answer {
    /// `join_deltas`: report the growth of a block within one chunk as one change (the default of the face).
    pub fn new(join_deltas: bool) -> Answer {
        Answer {
            keep_deltas: !join_deltas,
            ..Answer::default()
        }
    }

    /// Whether each growth is reported by itself.
    pub fn keeps_deltas(&self) -> bool {
        self.keep_deltas
    }

    pub fn stage(&self) -> Stage {
        match (self.complete, &self.raw_finish_reason) {
            (true, _) => Stage::Complete,
            (false, Some(_)) => Stage::Finishing,
            (false, None) => Stage::Streaming,
        }
    }

    /// Opens a block and returns its index.
    pub fn start(&mut self, kind: PartKind) -> usize {
        let part = self.parts.len();
        self.parts.push(Part {
            kind,
            text: String::new(),
            id: String::new(),
            name: String::new(),
            signature: None,
            vendor: None,
            ended: false,
            whole: false,
            is_answer: false,
        });
        self.changes.push(Change::Started { part });
        part
    }

    /// Opens a tool call. An empty `id` means that the provider sent none (yet).
    pub fn start_tool_call(&mut self, id: &str, name: &str) -> usize {
        let part = self.start(PartKind::ToolCall);
        if let Some(open) = self.parts.get_mut(part) {
            open.id.push_str(id);
            open.name.push_str(name);
        }
        part
    }

    /// Appends to a block's text. Empty text changes nothing.
    pub fn push(&mut self, part: usize, text: &str) {
        self.grow(part, |into| into.push_str(text));
    }

    /// Appends to a block's text by a closure (for decoders that unescape straight into the text). A block that has
    /// ended does not grow.
    pub fn grow<R>(&mut self, part: usize, write: impl FnOnce(&mut String) -> R) -> Option<R> {
        let open = self.parts.get_mut(part).filter(|part| !part.ended)?;
        let from = open.text.len();
        let result = write(&mut open.text);
        let to = open.text.len();
        if to > from {
            match self.changes.last_mut() {
                Some(Change::Grew {
                    part: last, to: end, ..
                }) if *last == part && !self.keep_deltas => *end = to,
                _ => self.changes.push(Change::Grew { part, from, to }),
            }
        }
        Some(result)
    }

    /// Closes a block that is complete. Closing twice changes nothing.
    pub fn end(&mut self, part: usize) {
        self.close(part, true);
    }

    /// Closes every block that is still open, in order.
    pub fn end_all(&mut self) {
        for part in 0..self.parts.len() {
            self.close(part, true);
        }
    }

    /// Closes every block that is still open, in order, as one that stays incomplete.
    pub fn end_unfinished(&mut self) {
        for part in 0..self.parts.len() {
            self.close(part, false);
        }
    }

    fn close(&mut self, part: usize, whole: bool) {
        if let Some(open) = self.parts.get_mut(part)
            && !open.ended
        {
            open.ended = true;
            open.whole = whole;
            self.changes.push(Change::Ended { part });
        }
    }

    /// Replaces the usage and reports it when it differs.
    pub fn set_usage(&mut self, usage: Usage) {
        let usage = usage.priced(self.price.as_ref());
        if self.usage != usage {
            self.usage = usage;
            self.changes.push(Change::Usage);
        }
    }

    /// What changed since the last call; the buffer's storage goes along, give it back with [`Answer::recycle`].
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// The part and the range that one growth has added, if nothing else has changed since [`Answer::take_changes`].
    pub fn sole_growth(&self) -> Option<(usize, usize, usize)> {
        match self.changes.as_slice() {
            [Change::Grew { part, from, to }] => Some((*part, *from, *to)),
            _ => None,
        }
    }

    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// As [`Answer::take_changes`], for a caller that has seen them.
    pub fn forget_changes(&mut self) {
        self.changes.clear();
    }

    /// Hands a drained change buffer back, so that a chunk costs no allocation for it.
    pub fn recycle(&mut self, mut buffer: Vec<Change>) {
        if self.changes.is_empty() {
            buffer.clear();
            self.changes = buffer;
        }
    }
}
