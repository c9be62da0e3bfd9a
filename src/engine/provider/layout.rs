//! Recognises an event that is laid out as the one before it: the same bytes around another string.
//!
//! A stream repeats its frame thousands of times (`{"type":"content_block_delta","index":0,"delta":{…,"text":"` or the
//! whole head of a chat chunk) and only the string in it is new. What the scanner found in one event holds for every
//! other with the same bytes before and behind the string, because the scanner never looks at the string's content.
//! So two comparisons stand for a walk through the event.

use super::cursor::{Cursor, RawString, behind};

/// The frame of the last event that the scanner recognised, and what it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout<K> {
    kind: Option<K>,
    before: Vec<u8>,
    behind: Vec<u8>,
    /// What the last event was, if it only appended.
    repeat: Option<Repeat>,
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
            repeat: None,
            before: Vec::new(),
            behind: Vec::new(),
            behind_padding: None,
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
        let mut cursor = Cursor::new(behind(data, &self.before)?);
        let text = cursor.string()?;
        let rest = cursor.rest();
        match &self.behind_padding {
            None if same_end(rest, &self.behind) => Some((kind, text)),
            None => None,
            Some(end) => {
                let mut cursor = Cursor::new(behind(rest, &self.behind)?);
                cursor.string()?;
                if same_end(cursor.rest(), end) {
                    Some((kind, text))
                } else {
                    None
                }
            }
        }
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
        self.kind = None;
        let Some((before, behind)) = text.frame_in(data) else {
            return;
        };
        if data.len() > MAX_FRAME_BYTES {
            return;
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
        self.kind = Some(kind);
    }
}

/// Equal but for blanks at the end, and among closing brackets (Anthropic pads there).
fn same_end(rest: &[u8], known: &[u8]) -> bool {
    if behind(rest, known) == Some(&[]) {
        return true;
    }
    let (rest, known) = (rest.trim_ascii_end(), known.trim_ascii_end());
    let brackets = |bytes: &[u8]| bytes.iter().all(|byte| matches!(byte, b'}' | b']' | b' '));
    rest == known
        || (brackets(rest) && brackets(known) && {
            let solid = |byte: &&u8| **byte != b' ';
            rest.iter().filter(solid).eq(known.iter().filter(solid))
        })
}
