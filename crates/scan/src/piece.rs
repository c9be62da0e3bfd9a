//! A piece of a text that arrives in several: its characters, and the halves of surrogate pairs at its two ends.
//!
//! Servers that split a text by UTF-16 units end one piece with the first half of a character and begin the next with
//! the second half, each as a JSON escape. [`RawString::piece`] reads a string with these halves. [`Join`] appends a
//! piece to a text: two adjacent halves become one character, and any other half becomes U+FFFD. A half inside a
//! piece is already U+FFFD. Nothing fails.

use std::borrow::Cow;

use crate::cursor::{Cursor, RawString};

/// A piece of a text. The default piece is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The second half of a pair at the beginning.
    pub head: Option<u16>,
    /// The text between the halves.
    pub text: Cow<'a, str>,
    /// The first half of a pair at the end.
    pub tail: Option<u16>,
}

/// The length of the escape `\ud83d`.
const ESCAPE: usize = 6;

impl<'a> RawString<'a> {
    /// The string as a piece of a longer text.
    pub fn piece(self) -> Piece<'a> {
        if let Some(text) = self.plain() {
            return Piece::from(text);
        }
        let mut raw = self.raw();
        let head = half(raw.get(..ESCAPE), 0xDC00);
        if head.is_some() {
            raw = raw.get(ESCAPE..).unwrap_or_default();
        }
        let end = raw.len().saturating_sub(ESCAPE);
        let escapes = raw.get(..end).unwrap_or_default();
        let backslashes = escapes.bytes().rev().take_while(|byte| *byte == b'\\').count();
        let tail = half(raw.get(end..), 0xD800).filter(|_| backslashes % 2 == 0);
        if tail.is_some() {
            raw = escapes;
        }
        Piece {
            head,
            text: RawString::escaped(raw).to_text(),
            tail,
        }
    }
}

/// The half that an escape encodes, if it is one of the 1,024 from `first` on.
fn half(escape: Option<&str>, first: u16) -> Option<u16> {
    let half = u16::from_str_radix(escape?.strip_prefix("\\u")?, 16).ok()?;
    (first..first + 0x400).contains(&half).then_some(half)
}

impl<'a> From<&'a str> for Piece<'a> {
    fn from(text: &'a str) -> Piece<'a> {
        Piece {
            text: Cow::Borrowed(text),
            ..Piece::default()
        }
    }
}

impl<'a> Piece<'a> {
    /// The piece in the text of a JSON string; `None` if the value is not a string.
    pub fn of_json(json: &'a str) -> Option<Piece<'a>> {
        Cursor::new(json.as_bytes()).string().map(RawString::piece)
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.head.is_none() && self.tail.is_none()
    }

    /// The bytes of the text, halves included.
    pub fn len(&self) -> usize {
        let half = |half: Option<u16>| half.map_or(0, |_| char::REPLACEMENT_CHARACTER.len_utf8());
        half(self.head) + self.text.len() + half(self.tail)
    }

    /// Only this piece: each half is U+FFFD.
    pub fn alone(&self) -> String {
        let mut text = String::new();
        let mut join = Join::default();
        join.push(&mut text, self);
        join.end(&mut text);
        text
    }
}

/// The first half of a pair that waits for the second one, at the end of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Join {
    waiting: Option<u16>,
}

impl Join {
    /// Appends a piece. An empty one changes nothing.
    pub fn push(&mut self, into: &mut String, piece: &Piece<'_>) {
        if piece.is_empty() {
            return;
        }
        match (self.waiting.take(), piece.head) {
            (Some(first), Some(second)) => {
                let letter = char::decode_utf16([first, second]).next();
                into.push(letter.and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (Some(_), None) | (None, Some(_)) => into.push(char::REPLACEMENT_CHARACTER),
            (None, None) => {}
        }
        into.push_str(&piece.text);
        self.waiting = piece.tail;
    }

    /// True when a half waits.
    pub fn waits(&self) -> bool {
        self.waiting.is_some()
    }

    /// Appends U+FFFD for a half without its other half.
    pub fn end(&mut self, into: &mut String) {
        if self.waiting.take().is_some() {
            into.push(char::REPLACEMENT_CHARACTER);
        }
    }

    /// Drops the half, because the server repeats the complete text.
    pub fn drop_half(&mut self) {
        self.waiting = None;
    }
}

#[cfg(test)]
mod tests;
