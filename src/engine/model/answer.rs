//! A model's answer while it is assembled: decoders write into it, and the model call reads what changed.
//!
//! A decoder calls [`ModelAnswer::start`], then [`ModelAnswer::push`] any number of times, then [`ModelAnswer::end`].
//! It sets the usage and the finish reason when they arrive. Text grows in place, and a delta is a range of its
//! block's text, so no text is copied twice. The deltas of one block that arrive in one network chunk are joined.
//!
//! Nothing here can fail: a call for a block that has ended has no effect.

pub mod call_ids;
mod part;

use looplet_scan::check::check;
use looplet_scan::piece::{Join, Piece};
use serde::{Deserialize, Serialize};

use crate::engine::json::own_names::with_own_names;
use crate::engine::model::message::Json;
use crate::engine::model::usage::{Price, Terms, Usage, is_version_of};

use call_ids::TakenIds;
pub use part::{Change, Part, PartKind};
use part::{Continuation, names_of, own_name};

/// Why the model stopped, in neutral words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model finished, or it hit a stop sequence.
    Stop,
    /// The output limit or the context window cut the answer off.
    Length,
    ToolCalls,
    ContentFilter,
    Refusal,
    /// The vendor paused a long answer (Anthropic's `pause_turn`). The run continues automatically.
    Pause,
    Other,
}

/// How much of an answer has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Streaming,
    /// The model has stopped. Usage and the protocol's end may follow.
    Finishing,
    Complete,
}

/// A model's answer that is being assembled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelAnswer {
    pub parts: Vec<Part>,
    /// The usage by the vendor's latest report; `None` before the first one.
    pub usage: Option<Usage>,
    /// The parts of the usage by model, where others have worked on the answer, too; `None` is the asked one.
    pub usage_by_model: Vec<(Option<String>, Usage)>,
    pub finish_reason: Option<FinishReason>,
    pub raw_finish_reason: Option<String>,
    /// The vendor's details of the finish reason.
    pub stop_details: Option<Json>,
    /// The vendor's id of the answer.
    pub response_id: Option<String>,
    /// The number of the last event, if the protocol numbers them.
    pub event_number: Option<u64>,
    /// The model that answered, by the vendor's account.
    pub model: Option<String>,
    /// True when the protocol's own end was seen: `message_stop`, `[DONE]`, or a finish reason where no more follows.
    pub complete: bool,
    changes: Vec<Change>,
    /// The bytes of text and reasoning so far.
    text_bytes: usize,
    /// The bytes of all other blocks so far, and of data next to texts.
    argument_bytes: usize,
    keep_deltas: bool,
    /// The price of a token, for vendors that do not report the cost.
    pub price: Option<Price>,
    /// [`crate::engine::model::config::ModelConfig::other_prices`]
    pub other_prices: Vec<(String, Price)>,
    /// The tier, speed and region that determine the vendor's price. A decoder sets them before the usage.
    pub terms: Terms,
    /// The name of the tool with which the model gives its structured answer.
    pub answer_tool: Option<String>,
    /// The names with which the model can call the run's tools. `None` if every call is the run's.
    pub tools: Option<Vec<String>>,
    /// What its request began with, for reasoning that is tied to that.
    pub prefix: Option<String>,
    /// A digest of its request, if the vendor stores the conversation.
    pub thread: Option<u64>,
    /// The id of the vendor's container in which a program waits for results.
    pub container: Option<String>,
    /// The vendor's reasons for earlier reasoning that it has not shown the model.
    pub dropped_reasoning: Vec<String>,
    /// The number of earlier calls and thoughts that the vendor has hidden from the model, and their tokens.
    pub cleared: Option<(u64, u64)>,
    /// The tools with another name on the wire: the wire name, then the tool's own name.
    pub tool_names: Vec<(String, String)>,
    /// The types of items that are calls of the run, each with the name of its tool.
    pub items: Vec<(String, String)>,
    /// The tools with properties that have another name on the wire, and the wire name and own name of each property.
    /// The arguments of their calls are emitted when the call ends.
    pub renamed: Vec<(String, Vec<(String, String)>)>,
    /// Whether text is emitted only when the answer has ended.
    pub holds_text: bool,
    pub taken_ids: TakenIds,
    /// The seed of the ids of calls without one, below 2^53. Chunks that are cut otherwise give equal ids.
    pub id_seed: u64,
    /// The most blocks, calls among them: a few dozen in real answers. It bounds the lists that decoders search.
    pub max_parts: usize,
    /// The number of emitted blocks of an answer that the vendor has replaced with another.
    pub voided: Option<usize>,
    /// True when the vendor has sent more than [`ModelAnswer::max_parts`] blocks.
    pub is_overfull: bool,
    /// The most bytes of text, reasoning included.
    pub max_text_bytes: usize,
    /// The most bytes of all other blocks together.
    pub max_argument_bytes: usize,
    /// The bytes of the text that this answer continues. 0 for none.
    begun_bytes: usize,
    continuation: Continuation,
    /// The bytes that repeat that text. They are held back while the answer may repeat all of it.
    repeated_bytes: usize,
}

impl ModelAnswer {
    /// Creates an empty answer. `join_deltas` reports the growth of a block within one chunk as one change; the
    /// TypeScript's default is true. There is no bound on the number of blocks and their bytes.
    pub fn new(join_deltas: bool) -> ModelAnswer {
        ModelAnswer {
            keep_deltas: !join_deltas,
            max_parts: usize::MAX,
            max_text_bytes: usize::MAX,
            max_argument_bytes: usize::MAX,
            ..ModelAnswer::default()
        }
    }

    /// True if each growth is reported separately.
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

    /// Starts with the text that the model continues. The first block of text is appended to it, without an initial
    /// repetition of it.
    pub fn begin_with(&mut self, text: &str) {
        let part = self.start(PartKind::Text);
        self.push(part, text);
        self.begun_bytes = text.len();
        self.continuation = Continuation::Waits;
    }

    /// True if the answer has only the text that it continues.
    pub fn has_only_begun(&self) -> bool {
        let first = self.parts.first().map_or(0, |part| part.text.len());
        self.begun_bytes > 0 && self.parts.len() == 1 && first == self.begun_bytes
    }

    /// Drops all blocks, because the vendor starts the answer from scratch. Returns false for an answer that
    /// continues a text.
    pub fn void(&mut self) -> bool {
        let is_start = |change: &&Change| matches!(change, Change::Started { .. });
        let untold = self.changes.iter().filter(is_start).count();
        let told = self.parts.len().saturating_sub(untold);
        self.voided = self.voided.max(Some(told));
        self.parts.clear();
        self.changes.clear();
        self.taken_ids.own.clear();
        (self.usage, self.finish_reason, self.raw_finish_reason) = (None, None, None);
        self.stop_details = None;
        self.usage_by_model.clear();
        self.begun_bytes == 0
    }

    /// Opens a block and returns its index. Beyond [`ModelAnswer::max_parts`] it opens none, and no block
    /// has the index.
    pub fn start(&mut self, kind: PartKind) -> usize {
        if self.continuation == Continuation::Waits {
            if kind == PartKind::Text {
                self.continuation = Continuation::Repeats;
                return 0;
            }
            self.continuation = Continuation::Continues;
            self.end(0);
        }
        let part = self.parts.len();
        if part >= self.max_parts {
            self.is_overfull = true;
            return usize::MAX;
        }
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
            half: Join::default(),
        });
        self.changes.push(Change::Started { part });
        part
    }

    /// Opens a tool call. An empty `id` means that the provider has not sent one yet.
    pub fn start_tool_call(&mut self, id: &str, name: &str) -> usize {
        let part = self.start(PartKind::ToolCall);
        if let Some(open) = self.parts.get_mut(part) {
            open.id.push_str(id);
            open.name.push_str(own_name(&self.tool_names, name));
        }
        part
    }

    /// Names a call that was started without a name.
    pub fn name_call(&mut self, part: usize, name: &str) {
        if let Some(call) = self.parts.get_mut(part) {
            own_name(&self.tool_names, name).clone_into(&mut call.name);
        }
    }

    /// True when a call by this name is the run's.
    pub fn has_tool(&self, name: &str) -> bool {
        let name = own_name(&self.tool_names, name);
        let tools = self.tools.as_ref();
        tools.is_none_or(|tools| tools.iter().any(|tool| tool == name))
    }

    /// The tool that items of this type call.
    pub fn tool_of_item(&self, r#type: &str) -> Option<String> {
        let (_, tool) = self.items.iter().find(|(item, _)| item == r#type)?;
        Some(tool.clone())
    }

    /// Turns a raw block that no event has reported into a tool call without arguments.
    pub fn turn_into_call(&mut self, part: usize, id: &str, name: &str) {
        if let Some(raw) = self.parts.get_mut(part) {
            raw.kind = PartKind::ToolCall;
            raw.text.clear();
            raw.id.push_str(id);
            raw.name.push_str(own_name(&self.tool_names, name));
            raw.ended = false;
            self.changes.retain(|change| change.part() != Some(part));
            self.changes.push(Change::Started { part });
        }
    }

    /// Appends to a block's text. Empty text changes nothing.
    pub fn push(&mut self, part: usize, text: &str) {
        self.push_piece(part, &Piece::from(text));
    }

    /// Appends a piece of a vendor's text. A half of a letter at its end waits for the next piece.
    pub fn push_piece(&mut self, part: usize, piece: &Piece<'_>) -> Option<()> {
        let mut half = self.parts.get(part)?.half;
        self.grow(part, |into| half.push(into, piece))?;
        self.parts.get_mut(part)?.half = half;
        Some(())
    }

    /// Calls a closure that appends to a block's text, for decoders that unescape directly into it. Does nothing if
    /// the block has ended.
    pub fn grow<R>(&mut self, part: usize, write: impl FnOnce(&mut String) -> R) -> Option<R> {
        let open = self.parts.get_mut(part).filter(|part| !part.ended)?;
        let from = open.text.len();
        let may_repeat = part == 0 && self.continuation == Continuation::Repeats;
        let result = write(&mut open.text);
        if may_repeat {
            let (continuation, new) = open.text.split_at_checked(from).unwrap_or_default();
            let (again, expected) = continuation
                .split_at_checked(self.repeated_bytes)
                .unwrap_or_default();
            if new.len() < expected.len() && expected.starts_with(new) {
                self.repeated_bytes += new.len();
                open.text.truncate(from);
                return Some(result);
            }
            if new.starts_with(expected) {
                let expected = expected.len();
                open.text.replace_range(from..from + expected, "");
            } else {
                let again = again.to_owned();
                open.text.insert_str(from, &again);
            }
            self.continuation = Continuation::Continues;
            self.repeated_bytes = 0;
        }
        let to = open.text.len();
        if to > from {
            match open.kind {
                PartKind::Text | PartKind::Thinking | PartKind::Refusal => self.text_bytes += to - from,
                _ => self.argument_bytes += to - from,
            }
            if open.kind == PartKind::ToolCall && names_of(&self.renamed, &open.name).is_some() {
                return Some(result);
            }
            match self.changes.last_mut() {
                Some(Change::Grew {
                    part: last, to: end, ..
                }) if *last == part && !self.keep_deltas => *end = to,
                _ => self.changes.push(Change::Grew { part, from, to }),
            }
        }
        Some(result)
    }

    /// Reports the vendor's estimate of the tokens of thinking so far, if it does not send the text.
    pub fn estimate(&mut self, part: usize, tokens: u64) {
        self.changes.push(Change::Estimated { part, tokens });
    }

    /// Counts bytes that a decoder saves next to the texts of blocks, such as citations.
    pub fn count(&mut self, bytes: usize) {
        self.argument_bytes += bytes;
    }

    /// The limit that this answer is beyond, in words.
    pub fn excess(&self) -> Option<String> {
        let (what, option, most) = if self.text_bytes > self.max_text_bytes {
            ("text", "answers.maxTextBytes", self.max_text_bytes)
        } else if self.argument_bytes > self.max_argument_bytes {
            let most = self.max_argument_bytes;
            ("tool arguments and media", "answers.maxArgumentBytes", most)
        } else {
            return None;
        };
        Some(format!(
            "The answer has more bytes of {what} than {option} ({most}) allows."
        ))
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

    /// Closes every block that is still open, in order, and leaves each marked as incomplete.
    pub fn end_unfinished(&mut self) {
        for part in 0..self.parts.len() {
            self.close(part, false);
        }
    }

    fn close(&mut self, part: usize, whole: bool) {
        if let Some(open) = self.parts.get_mut(part)
            && !open.ended
        {
            if self.repeated_bytes > 0 {
                let from = open.text.len();
                let again = open.text.get(..std::mem::take(&mut self.repeated_bytes));
                let again = again.unwrap_or_default().to_owned();
                open.text.push_str(&again);
                let to = open.text.len();
                self.changes.push(Change::Grew { part, from, to });
            }
            let names = names_of(&self.renamed, &open.name).filter(|_| open.kind == PartKind::ToolCall);
            if open.half.waits() {
                let from = open.text.len();
                open.half.end(&mut open.text);
                let to = open.text.len();
                if names.is_none() {
                    self.changes.push(Change::Grew { part, from, to });
                }
            }
            if let Some(names) = names {
                if check(&open.text).is_ok() {
                    open.text = with_own_names(&open.text, names);
                }
                let (from, to) = (0, open.text.len());
                self.changes.push(Change::Grew { part, from, to });
            }
            open.ended = true;
            open.whole = whole;
            self.changes.push(Change::Ended { part });
        }
    }

    /// Replaces the usage, and reports it if it has changed. Parts of a count are capped at the count.
    pub fn set_usage(&mut self, usage: Usage) {
        self.replace_usage(usage.bounded().priced(self.price.as_ref(), self.terms));
    }

    /// Replaces the usage with that of several models, each with its own price. `None` is the requested model.
    pub fn set_usage_by_model(&mut self, mut parts: Vec<(Option<String>, Usage)>) {
        let mut sum = Usage::default();
        for (model, usage) in &mut parts {
            *usage = usage
                .bounded()
                .priced(self.price_of(model.as_deref()), self.terms);
            sum.add(usage);
        }
        self.usage_by_model = parts;
        self.replace_usage(sum);
    }

    fn price_of(&self, model: Option<&str>) -> Option<&Price> {
        let mut others = self.other_prices.iter();
        let other = others.find(|(name, _)| model.is_some_and(|model| is_version_of(model, name)));
        other.map(|(_, price)| price).or(self.price.as_ref())
    }

    fn replace_usage(&mut self, usage: Usage) {
        if self.usage.replace(usage) != Some(usage) {
            self.changes.push(Change::Usage);
        }
    }

    /// A copy with empty texts and no changes, to compare whether anything other than texts differs.
    pub fn outline(&self) -> ModelAnswer {
        let parts = self.parts.iter().map(|part| Part {
            text: String::new(),
            id: part.id.clone(),
            name: part.name.clone(),
            signature: part.signature.clone(),
            vendor: part.vendor.clone(),
            ..*part
        });
        ModelAnswer {
            parts: parts.collect(),
            finish_reason: self.finish_reason,
            raw_finish_reason: self.raw_finish_reason.clone(),
            stop_details: self.stop_details.clone(),
            response_id: self.response_id.clone(),
            model: self.model.clone(),
            changes: Vec::new(),
            text_bytes: 0,
            argument_bytes: 0,
            price: self.price,
            usage_by_model: self.usage_by_model.clone(),
            other_prices: Vec::new(),
            answer_tool: self.answer_tool.clone(),
            tools: self.tools.clone(),
            prefix: self.prefix.clone(),
            container: self.container.clone(),
            taken_ids: TakenIds::default(),
            dropped_reasoning: Vec::new(),
            cleared: None,
            tool_names: Vec::new(),
            items: Vec::new(),
            renamed: Vec::new(),
            ..*self
        }
    }

    /// The length of each block's text, in bytes.
    pub fn text_lengths(&self) -> Vec<usize> {
        self.parts.iter().map(|part| part.text.len()).collect()
    }

    /// Takes the changes since the last call with their buffer. Return it with [`ModelAnswer::recycle`].
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// The part and the range of the only growth since [`ModelAnswer::take_changes`]; `None` if anything else has
    /// changed too.
    pub fn sole_growth(&self) -> Option<(usize, usize, usize)> {
        match self.changes.as_slice() {
            [Change::Grew { part, from, to }] => Some((*part, *from, *to)),
            _ => None,
        }
    }

    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Drops the changes, for a caller that has already seen them.
    pub fn forget_changes(&mut self) {
        self.changes.clear();
    }

    /// Gives a drained change buffer back, so that the next chunk allocates none.
    pub fn recycle(&mut self, mut buffer: Vec<Change>) {
        if self.changes.is_empty() {
            buffer.clear();
            self.changes = buffer;
        }
    }
}
