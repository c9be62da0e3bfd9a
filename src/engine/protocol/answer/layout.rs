//! Recognises an event that is laid out as the one before it: the same bytes around another string.
//!
//! A stream repeats its frame thousands of times (`{"type":"content_block_delta","index":0,"delta":{…,"text":"` or the
//! whole head of a chat chunk) and only the string in it is new. What the scanner found in one event holds for every
//! other with the same bytes before and behind the string, because the scanner never looks at the string's content.
//! So two comparisons stand for a walk through the event.

use crate::engine::json::cursor::{Cursor, RawString, behind};

/// The frame of the last event that the scanner recognised, and what it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout<K> {
    kind: Option<K>,
    frame: Frame,
    /// What the last event was, if it only appended.
    repeat: Option<Repeat>,
}

/// What stands around the string.
#[derive(Clone, Debug, Default, PartialEq)]
struct Frame {
    before: Vec<u8>,
    behind: Vec<u8>,
    /// Behind a second string whose content means nothing (OpenAI's padding `obfuscation`), if there is one.
    behind_padding: Option<Vec<u8>>,
}

/// An event that did nothing but append one string of its data to a part: whatever repeats the bytes before and behind
/// that string, its quotes among them, does the same to that part, until another event comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    pub part: usize,
    /// Bytes of the data before the string.
    pub before: usize,
    /// Bytes of the data behind it.
    pub behind: usize,
}

impl<K> Default for Layout<K> {
    fn default() -> Layout<K> {
        Layout {
            kind: None,
            frame: Frame::default(),
            repeat: None,
        }
    }
}

/// Frames longer than this many bytes are not kept.
const MAX_FRAME_BYTES: usize = 2048;

/// Such a key holds a string that the scanner passes over, and stands nowhere else: quotes within strings are escaped.
const PADDING: &[u8] = b"\"obfuscation\":\"";

impl<K: Copy> Layout<K> {
    /// The kind and the string of an event with the known frame.
    pub fn recall<'a>(&self, data: &'a [u8]) -> Option<(K, RawString<'a>)> {
        let kind = self.kind?;
        Some((kind, self.frame.text_in(data)?))
    }

    /// `text` was appended to `part`, and that was all of the event.
    pub fn note(&mut self, part: usize, text: &RawString<'_>, data: &[u8]) {
        self.repeat = text.frame_in(data).map(|(before, behind)| Repeat {
            part,
            before: before.len(),
            behind: behind.len(),
        });
    }

    /// What [`Layout::note`] has last been told, once.
    pub fn take_repeat(&mut self) -> Option<Repeat> {
        self.repeat.take()
    }

    /// Remembers the frame of an event in which the scanner found `text`.
    pub fn learn(&mut self, data: &[u8], text: &RawString<'_>, kind: K) {
        self.kind = self.frame.learn(data, text).map(|()| kind);
    }
}

impl Frame {
    #[inline(never)]
    fn text_in<'a>(&self, data: &'a [u8]) -> Option<RawString<'a>> {
        let mut cursor = Cursor::new(behind(data, &self.before)?);
        let text = cursor.string()?;
        let rest = cursor.rest();
        let (rest, end) = match &self.behind_padding {
            None => (rest, &self.behind),
            Some(end) => {
                let mut cursor = Cursor::new(behind(rest, &self.behind)?);
                cursor.string()?;
                (cursor.rest(), end)
            }
        };
        if same_end(rest, end) { Some(text) } else { None }
    }

    /// `None` of an event that is too long.
    #[inline(never)]
    fn learn(&mut self, data: &[u8], text: &RawString<'_>) -> Option<()> {
        let (before, behind) = text.frame_in(data)?;
        if data.len() > MAX_FRAME_BYTES {
            return None;
        }
        self.before.clear();
        self.before.extend_from_slice(before);
        let at = behind.windows(PADDING.len()).position(|window| window == PADDING);
        let split = at.and_then(|at| behind.split_at_checked(at + PADDING.len() - 1));
        let padding = split.and_then(|(head, padding)| {
            let mut cursor = Cursor::new(padding);
            cursor.string()?;
            Some((head, cursor.rest()))
        });
        self.behind.clear();
        self.behind
            .extend_from_slice(padding.map_or(behind, |(head, _)| head));
        self.behind_padding = padding.map(|(_, end)| end.to_vec());
        Some(())
    }
}

/// Equal but for blanks at the end, and among closing brackets (Anthropic pads there).
fn same_end(rest: &[u8], known: &[u8]) -> bool {
    if behind(rest, known) == Some(&[]) {
        return true;
    }
    let (rest, known) = (rest.trim_ascii_end(), known.trim_ascii_end());
    let brackets = |bytes: &[u8]| bytes.iter().all(|byte| matches!(byte, b'}' | b']' | b' '));
    rest == known || (brackets(rest) && brackets(known) && same_brackets(rest, known))
}

fn same_brackets(mut rest: &[u8], mut known: &[u8]) -> bool {
    loop {
        match (
            rest.trim_ascii_start().split_first(),
            known.trim_ascii_start().split_first(),
        ) {
            (Some((one, after)), Some((other, behind))) if one == other => (rest, known) = (after, behind),
            (None, None) => return true,
            _ => return false,
        }
    }
}
