//! Recognises an event that is laid out like the one before it: equal bytes around another string.
//!
//! A stream repeats its frame thousands of times (`{"type":"content_block_delta","index":0,"delta":{…,"text":"`, or the
//! whole head of a chat chunk), and only the string in it is new. The scanner never looks at the string's content. Its
//! finding for one event therefore holds for every other event with equal bytes before and behind the string, and two
//! comparisons replace a walk through the event.
//!
//! A decoder tries [`Layout::recall`] first, then the scanner, and passes the scanner's finding to [`Layout::learn`].
//! An unknown layout is `None`; nothing fails.

use looplet_scan::cursor::{Cursor, RawString, behind};

/// The frame of the last event that the scanner recognised, with the scanner's finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout<K> {
    kind: Option<K>,
    frame: Frame,
    /// Set when the last event only appended.
    repeat: Option<Repeat>,
}

/// The bytes around the string.
#[derive(Clone, Debug, Default, PartialEq)]
struct Frame {
    before: Vec<u8>,
    behind: Vec<u8>,
    /// The bytes behind a second string without meaning (OpenAI's padding `obfuscation`), if there is one.
    behind_padding: Option<Vec<u8>>,
}

/// An event that only appended one string of its data to a block. An event that repeats the bytes before and behind
/// that string, its quotes included, does so again, until another event comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    pub part: usize,
    /// The number of bytes of the data before the string.
    pub before: usize,
    /// The number of bytes of the data behind the string.
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

/// The longest frame that is kept, in bytes.
const MAX_FRAME_BYTES: usize = 2048;

/// The key of a string that the scanner ignores. It cannot stand within a string, where quotes are escaped.
const PADDING: &[u8] = b"\"obfuscation\":\"";

impl<K: Copy> Layout<K> {
    /// The kind and the string of an event with the known frame, or `None`.
    pub fn recall<'a>(&self, data: &'a [u8]) -> Option<(K, RawString<'a>)> {
        let kind = self.kind?;
        Some((kind, self.frame.text_in(data)?))
    }

    /// Notes that the event did nothing but append `text` to block `part`.
    pub fn note(&mut self, part: usize, text: &RawString<'_>, data: &[u8]) {
        self.repeat = text.frame_in(data).map(|(before, behind)| Repeat {
            part,
            before: before.len(),
            behind: behind.len(),
        });
    }

    /// Takes the last note of [`Layout::note`].
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

    /// Cuts an event into its frame. `None` if the event is too long.
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

/// True when both ends are equal, except for blanks at the end and among closing brackets, where Anthropic pads.
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
