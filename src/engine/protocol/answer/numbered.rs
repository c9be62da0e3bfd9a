//! A [`Layout`] for events that carry a running number, which differs in every event.
//!
//! The number stands before the text (OpenAI) or at the event's end (servers that sort their keys). The rest of the
//! event is laid out like the one before it. The decoder of Responses calls [`Numbered::recall`] and
//! [`Numbered::learn`] in the order of [`Layout`]. A number in any other place makes the layout unknown.

use looplet_scan::cursor::{RawString, behind};

use crate::engine::protocol::answer::layout::Layout;

/// The key of the number, with its colon. It cannot stand within a string, where quotes are escaped.
const KEY: &[u8] = b"\"sequence_number\":";

/// The frame of the last event that the scanner recognised.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbered<K> {
    /// The bytes before the number, if the number stands before the text.
    head: Vec<u8>,
    /// True when the number ends the event.
    ends: bool,
    layout: Layout<K>,
}

impl<K> Default for Numbered<K> {
    fn default() -> Numbered<K> {
        Numbered {
            head: Vec::new(),
            ends: false,
            layout: Layout::default(),
        }
    }
}

impl<K: Copy> Numbered<K> {
    /// The kind and the string of an event with the known frame, or `None`.
    pub fn recall<'a>(&self, data: &'a [u8]) -> Option<(K, RawString<'a>)> {
        let (data, ends) = without_end(data);
        let rest = behind(data, &self.head)?;
        if ends != self.ends {
            None
        } else if self.head.is_empty() {
            self.layout.recall(rest)
        } else {
            self.layout.recall(behind_number(rest)?)
        }
    }

    /// Remembers the frame of an event in which the scanner found `text`.
    pub fn learn(&mut self, data: &[u8], text: &RawString<'_>, kind: K) {
        let (data, ends) = without_end(data);
        let before = text.frame_in(data).map_or(&[][..], |(before, _)| before);
        let at = before.windows(KEY.len()).position(|window| window == KEY);
        let split = at.and_then(|at| data.split_at_checked(at + KEY.len()));
        let split = split.and_then(|(head, rest)| Some((head, behind_number(rest)?)));
        let (head, rest) = split.unwrap_or((&[], data));
        self.ends = ends;
        self.head.clear();
        self.head.extend_from_slice(head);
        self.layout.learn(rest, text, kind);
    }
}

/// The bytes behind a whole number without a leading zero.
fn behind_number(bytes: &[u8]) -> Option<&[u8]> {
    let mut count = 0;
    while bytes.get(count).is_some_and(u8::is_ascii_digit) {
        count += 1;
    }
    if count == 0 || (count > 1 && bytes.first() == Some(&b'0')) {
        return None;
    }
    bytes.get(count..)
}

/// The event without a number at its end; true if it had one.
fn without_end(data: &[u8]) -> (&[u8], bool) {
    if let [open @ .., b'}'] = data {
        let mut rest = open;
        while let [before @ .., b'0'..=b'9'] = rest {
            rest = before;
        }
        let number = open.get(rest.len()..).unwrap_or_default();
        if behind_number(number).is_some() && rest.ends_with(KEY) {
            return (rest, true);
        }
    }
    (data, false)
}
