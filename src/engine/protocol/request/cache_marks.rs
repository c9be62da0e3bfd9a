//! Adds markers for a vendor's prompt cache to a body's messages, and removes them after the request.
//!
//! The stored bytes never have a marker. One marker is at the end. The vendor looks back from it over about twenty
//! blocks for text that it has cached. A round that adds more blocks would miss it, so the end of the previous
//! request is marked, too. A request may have four markers, including the markers of tools and system prompt and your
//! own.
//! <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>,
//! <https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html> (2026-11-21)
//!
//! The transcript calls [`Marks::note`] for each message, then [`Marks::place`] and [`Marks::undo`] around each
//! request. Nothing fails.

use crate::engine::model::config::ModelConfig;
use crate::engine::model::message::{Block, Json, Message, Role};
use crate::engine::protocol::END;

/// The most markers of a request.
const MAX_MARKERS: usize = 4;

/// The keys of a marker, including one in your own block. Within a text no colon follows them, because the quote
/// before it is escaped.
const KEYS: [&str; 2] = ["\"cache_control\":", "\"cachePoint\":"];

/// How many bytes at a block's end are searched for your own marker. A block with such a marker gets no second one.
const OWN_MARKER_BYTES: usize = 80;

/// The markers of a body, and their positions.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// The number of markers in the head, and of your own.
    fixed: usize,
    /// The start of the last answer, which is the end of the previous request.
    before: usize,
    /// The positions of the markers, and how many bytes each has moved what follows it.
    placed: (Vec<usize>, usize),
    /// The number of bytes of a closed body up to its first marker or, without one, up to its tail.
    plain: usize,
    /// The messages after those bytes, without markers.
    unmarked: Vec<u8>,
}

impl Marks {
    /// The marks of a body that has nothing but its head.
    pub fn after(head: &[u8], model: &ModelConfig) -> Marks {
        // Anthropic itself sets one at the end of a conversation that it stores (2026-11-29).
        let vendor = usize::from(model.server_state == Some(true));
        Marks {
            fixed: vendor + str::from_utf8(head).map_or(0, count),
            plain: head.len(),
            ..Marks::default()
        }
    }

    /// Notes that a message is encoded at `start`.
    pub fn note(&mut self, message: &Message, start: usize) {
        self.fixed += own_markers(&message.content);
        if message.role == Role::Assistant {
            self.before = start;
        }
    }

    /// Replaces [`END`] with `marked` at the end of the messages and at the end of the previous request.
    pub fn place(&mut self, marked: &str, body: &mut Vec<u8>) {
        let end = body.len();
        let left = MAX_MARKERS.saturating_sub(self.fixed);
        let takes = |end: usize| !marked.is_empty() && takes_marker(body.get(..end).unwrap_or_default());
        // The last position is first, so that the other one does not move.
        let mut ends = Vec::new();
        if left > 0 && takes(end) {
            ends.push(end);
        }
        if left > 1 && self.before < end && takes(self.before) {
            ends.push(self.before);
        }
        self.placed = (ends.clone(), marked.len().saturating_sub(END.len()));
        self.plain = ends.last().map_or(end, |end| end - END.len());
        self.unmarked = body.get(self.plain..).unwrap_or_default().to_vec();
        for end in ends {
            body.splice(end - END.len()..end, marked.bytes());
        }
    }

    /// The place in a closed body of what is encoded at this one.
    pub fn place_of(&self, at: usize) -> usize {
        let (ends, moved) = &self.placed;
        at + moved * ends.iter().filter(|end| **end <= at).count()
    }

    /// Reverts a closed body to its encoded messages.
    pub fn undo(&mut self, body: &mut Vec<u8>) {
        body.truncate(self.plain);
        body.append(&mut self.unmarked);
    }
}

/// True when the messages end in a block without a marker.
fn takes_marker(messages: &[u8]) -> bool {
    let last = messages.get(messages.len().saturating_sub(OWN_MARKER_BYTES)..);
    let has =
        |key: &&str| last.is_some_and(|last| last.windows(key.len()).any(|bytes| bytes == key.as_bytes()));
    messages.ends_with(END) && !KEYS.iter().any(has)
}

/// The number of markers in blocks with fields of the vendor.
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
