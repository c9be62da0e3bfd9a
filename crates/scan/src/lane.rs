//! The text-delta lane: it reads events that repeat the event before them, byte for byte, around another string.
//!
//! A stream repeats its frame thousands of times: `{"type":"content_block_delta",…,"text":"`, then a few letters,
//! then `"}}`. [`Keys`] name the strings of a protocol's events that differ. [`Lane::learn`] cuts an event at these
//! strings into a frame, and [`Lane::text`] finds the string of an event with this frame. Two comparisons then
//! replace the general reader. [`Lane::next`] finds it in a stream's bytes, and the comparisons replace the framing,
//! too.
//!
//! The lane does not know what an event means. Its caller reads the first event that repeats a frame in the general
//! way, and calls [`Lane::trust`] if the event did nothing but append its string to one block. Nothing fails here: an
//! event that the lane does not know is the general reader's.

use crate::cursor::{Cursor, RawString, after_prefix};

/// The keys of the values that differ among a protocol's events.
#[derive(Debug)]
pub struct Keys {
    /// The keys of strings that a delta appends to a block.
    pub text: &'static [&'static str],
    /// The keys of strings and integers without meaning, such as padding.
    pub noise: &'static [&'static str],
}

/// The maximum length of a stored frame, in bytes.
const MAX_FRAME_BYTES: usize = 2048;
/// The number of consecutive frames that were learnt but not trusted, after which the lane stops learning.
const MAX_VAIN_FRAMES: u8 = 16;

/// The frame of the last event that the general reader has read. The default lane has no keys and never knows an
/// event.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    keys: Option<&'static Keys>,
    frame: Option<Frame>,
    /// The block to which events with the frame append, if known.
    part: Option<usize>,
    /// See [`MAX_VAIN_FRAMES`].
    vain: u8,
}

/// An event without the values that differ.
#[derive(Clone, Debug)]
struct Frame {
    /// The event's name.
    name: Vec<u8>,
    /// The lines before the data and the beginning of its line, as most servers write them.
    lines: Vec<u8>,
    /// The bytes before the values, each up to its value.
    pieces: Vec<(Vec<u8>, Value)>,
    /// The bytes after the last value.
    end: Vec<u8>,
}

/// The end of an event's data and of the event.
const BLANK_LINE: &[u8] = b"\n\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Text,
    NoiseString,
    NoiseNumber,
}

impl Lane {
    pub fn new(keys: Option<&'static Keys>) -> Lane {
        Lane {
            keys,
            ..Lane::default()
        }
    }

    /// The block to which events with the frame append, if known.
    pub fn part(&self) -> Option<usize> {
        self.part
    }

    /// The string of an event that has the frame.
    // Inlined into the engine, it would be built for size. So would `next`.
    #[inline(never)]
    pub fn text<'a>(&self, name: &[u8], data: &'a [u8]) -> Option<RawString<'a>> {
        let frame = self.frame.as_ref().filter(|frame| frame.name == name)?;
        let (text, rest) = frame.text(data)?;
        if rest.is_empty() { Some(text) } else { None }
    }

    /// The string of the complete event at the start of a stream's bytes, if the event has the frame, and the bytes
    /// after the event.
    #[inline(never)]
    pub fn next<'a>(&self, bytes: &'a [u8]) -> Option<(RawString<'a>, &'a [u8])> {
        let frame = self.frame.as_ref()?;
        let (text, rest) = frame.text(after_prefix(bytes, &frame.lines)?)?;
        Some((text, after_prefix(rest, BLANK_LINE)?))
    }

    /// Remembers that events with the frame append to this block and do nothing else.
    pub fn trust(&mut self, part: usize) {
        self.part = Some(part);
        self.vain = 0;
    }

    /// Forgets the frame before it, and remembers the frame of this event if the event has one.
    pub fn learn(&mut self, name: &[u8], data: &[u8]) {
        self.part = None;
        self.frame = None;
        if let Some(keys) = self.keys
            && self.vain < MAX_VAIN_FRAMES
            && data.len() <= MAX_FRAME_BYTES
        {
            self.frame = Frame::of(name, data, keys);
            self.vain += u8::from(self.frame.is_some());
        }
    }
}

impl Frame {
    /// `None` for an event that does not have exactly one string to append.
    fn of(name: &[u8], data: &[u8], keys: &Keys) -> Option<Frame> {
        let mut pieces = Vec::new();
        let mut cursor = Cursor::new(data);
        let mut from = 0;
        while let Some(byte) = cursor.here() {
            if byte != b'"' {
                cursor.step(1);
                continue;
            }
            let key = cursor.string()?;
            if cursor.here() != Some(b':') {
                continue;
            }
            cursor.step(1);
            cursor.skip_blanks();
            let at = cursor.position();
            if let Some(value) = value_of(key, &mut cursor, keys) {
                pieces.push((data.get(from..at)?.to_vec(), value));
                from = cursor.position();
            }
        }
        let texts = pieces.iter().filter(|(_, value)| *value == Value::Text);
        if texts.count() != 1 {
            return None;
        }
        let lines: &[&[u8]] = if name.is_empty() {
            &[b"data: "]
        } else {
            &[b"event: ", name, b"\ndata: "]
        };
        Some(Frame {
            name: name.to_vec(),
            lines: lines.concat(),
            pieces,
            end: data.get(from..)?.to_vec(),
        })
    }

    /// The string of the data at the start of `bytes`, and the bytes after that data.
    fn text<'a>(&self, bytes: &'a [u8]) -> Option<(RawString<'a>, &'a [u8])> {
        let (mut rest, mut text) = (bytes, None);
        for (before, value) in &self.pieces {
            let mut cursor = Cursor::new(after_prefix(rest, before)?);
            match value {
                Value::Text => text = cursor.string(),
                Value::NoiseString => {
                    cursor.string()?;
                }
                Value::NoiseNumber => {
                    cursor.index()?;
                }
            }
            rest = cursor.rest();
        }
        // An empty string can mean that the field is absent.
        let text = text.filter(|text| !text.is_empty())?;
        Some((text, after_end(rest, &self.end)?))
    }
}

/// Passes the value of `key`, if it is one of those that differ.
fn value_of(key: RawString<'_>, cursor: &mut Cursor<'_>, keys: &Keys) -> Option<Value> {
    let is_in = |names: &[&str]| names.iter().any(|name| key.is(name));
    let mut ahead = cursor.clone();
    let value = match cursor.here()? {
        b'"' if is_in(keys.text) => ahead
            .string()
            .filter(|text| !text.is_empty())
            .map(|_| Value::Text),
        b'"' if is_in(keys.noise) => ahead.string().map(|_| Value::NoiseString),
        b'0'..=b'9' if is_in(keys.noise) => ahead.index().map(|_| Value::NoiseNumber),
        _ => None,
    }?;
    *cursor = ahead;
    Some(value)
}

/// The bytes after `end`. Blanks among closing brackets are ignored, because Anthropic pads there.
fn after_end<'a>(bytes: &'a [u8], end: &[u8]) -> Option<&'a [u8]> {
    after_prefix(bytes, end).or_else(|| after_padded(bytes, end))
}

fn after_padded<'a>(mut bytes: &'a [u8], mut end: &[u8]) -> Option<&'a [u8]> {
    loop {
        match (bytes, end) {
            ([b' ', rest @ ..], _) => bytes = rest,
            (_, [b' ', rest @ ..]) => end = rest,
            ([one @ (b'}' | b']'), rest @ ..], [other, rest_of_end @ ..]) if one == other => {
                (bytes, end) = (rest, rest_of_end);
            }
            _ => return after_prefix(bytes, end),
        }
    }
}

#[cfg(test)]
mod tests;
