//! Markers for a vendor's prompt cache among a body's messages: spliced in for a request and taken out behind it, so that
//! the kept bytes never have them.
//!
//! One stands at the end. The vendor looks back from it for what it has cached, by some twenty blocks: a round that adds
//! more would miss it, so that the end of the request before is marked too. A request may have four markers, those of
//! tools and system prompt and the user's own among them.
//! <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>,
//! <https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html> (2026-11-21)

use crate::engine::model::message::{Block, Json, Message, Role};
use crate::engine::protocol::END;

/// How many markers a request may have.
const MAX_MARKERS: usize = 4;

/// The keys that a marker has, in a block of the user's too. A colon does not follow them within a text, where the quote
/// before it is escaped.
const KEYS: [&str; 2] = ["\"cache_control\":", "\"cachePoint\":"];

/// A block that the user gave a marker of its own takes no second one. Such a field stands at the block's end.
const OWN_MARKER_BYTES: usize = 80;

/// Where markers stand in a body, and where its messages end without them.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Markers of the head, and the user's own.
    fixed: usize,
    /// Where the last answer begins, which is where the request before it ended.
    before: usize,
    /// Where the messages end.
    end: usize,
    /// How many bytes a marker adds; the places that have one.
    added: usize,
    marks_before: bool,
    marks_end: bool,
}

impl Marks {
    /// Those of a body that is nothing but its head.
    pub fn behind(head: &[u8]) -> Marks {
        Marks {
            fixed: str::from_utf8(head).map_or(0, count),
            end: head.len(),
            ..Marks::default()
        }
    }

    /// A message is encoded at `start`.
    pub fn note(&mut self, message: &Message, start: usize) {
        self.fixed += own_markers(&message.content);
        if message.role == Role::Assistant {
            self.before = start;
        }
    }

    /// Puts `marked` in place of [`END`] where the messages end, and where those of the request before did.
    pub fn place(&mut self, marked: &str, body: &mut Vec<u8>) {
        self.end = body.len();
        self.added = marked.len().saturating_sub(END.len());
        let left = MAX_MARKERS.saturating_sub(self.fixed);
        let takes = |end: usize| !marked.is_empty() && takes_marker(body.get(..end).unwrap_or_default());
        self.marks_end = left > 0 && takes(self.end);
        self.marks_before = left > 1 && self.before < self.end && takes(self.before);
        if self.marks_end {
            put(body, self.end, END.len(), marked.as_bytes());
        }
        if self.marks_before {
            put(body, self.before, END.len(), marked.as_bytes());
        }
    }

    /// How many bytes of the placed body every later one begins with: a marker comes and goes behind them.
    pub fn steady(&self) -> usize {
        self.before.min(self.end).saturating_sub(END.len())
    }

    /// Takes a closed body back to its encoded messages.
    pub fn undo(&mut self, body: &mut Vec<u8>) {
        let marked = END.len() + self.added;
        let added = |is: bool| if is { self.added } else { 0 };
        body.truncate(self.end + added(self.marks_before) + added(self.marks_end));
        if self.marks_end {
            put(body, body.len(), marked, END);
        }
        if self.marks_before {
            put(body, self.before + self.added, marked, END);
        }
        (self.marks_before, self.marks_end) = (false, false);
    }
}

/// Replaces the `length` bytes before `end`.
fn put(body: &mut Vec<u8>, end: usize, length: usize, by: &[u8]) {
    let tail = body.split_off(end.min(body.len()));
    body.truncate(body.len().saturating_sub(length));
    body.extend_from_slice(by);
    body.extend_from_slice(&tail);
}

/// The messages end in a block without a marker.
fn takes_marker(messages: &[u8]) -> bool {
    let last = messages.get(messages.len().saturating_sub(OWN_MARKER_BYTES)..);
    let has =
        |key: &&str| last.is_some_and(|last| last.windows(key.len()).any(|bytes| bytes == key.as_bytes()));
    messages.ends_with(END) && !KEYS.iter().any(has)
}

/// Blocks that were written for the vendor may have markers.
fn own_markers(content: &[Block]) -> usize {
    let mut markers = 0;
    for block in content {
        markers += match block {
            Block::Raw { json } => count(json.as_str()),
            Block::Text { vendor, .. } | Block::ToolCall { vendor, .. } => {
                vendor.as_ref().map_or(0, |json: &Json| count(json.as_str()))
            }
            Block::ToolResult { content, .. } => own_markers(content),
            _ => 0,
        };
    }
    markers
}

fn count(json: &str) -> usize {
    KEYS.iter().map(|key| json.matches(key).count()).sum()
}
