//! Rebuilds the arguments of a call that Vertex AI streams value by value, as the text of one JSON object.
//!
//! `{"jsonPath":"$.operations[0].action","stringValue":"add","willContinue":true}` has the path of a value. A string
//! arrives in pieces with equal paths. The model writes from beginning to end, so the text only grows.
//! <https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling> (2026-11-21)
//!
//! The decoder calls [`PartialArgs::write`] for each element, then [`PartialArgs::close`]. A path into a closed
//! container is not possible: the element is `None`.

use std::collections::BTreeSet;

use looplet_scan::piece::Piece;
use looplet_scan::reader::Object;

use crate::engine::json::writer::{decimal, written};
use crate::engine::protocol::openai_parts::escaped_piece;

/// The place of the last value, and the containers that are open around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartialArgs {
    /// The path of the last value.
    path: String,
    /// The object or array of each step in `path`.
    open: Vec<Level>,
    /// True when the last value is a string without its closing quote.
    in_string: bool,
    /// True when the last value is a string whose continuation was announced.
    is_cut: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Level {
    is_array: bool,
    /// The number of values so far.
    count: usize,
    /// The keys of an object so far. A call may have any number of them.
    keys: BTreeSet<String>,
}

impl PartialArgs {
    /// Adds the text of one element of `partialArgs`. `None` if there is no valid position for it.
    pub fn write(&mut self, json: &str, out: &mut Vec<u8>) -> Option<()> {
        let arg = Object::parse(json)?;
        let path = arg.string("jsonPath")?;
        let text = arg.get("stringValue").and_then(Piece::of_json);
        if !self.in_string || path != self.path {
            self.open_path(path.strip_prefix('$')?, out)?;
            self.path = path.into_owned();
            self.in_string = text.is_some();
            let other = arg.get("numberValue").or_else(|| arg.get("boolValue"));
            let start = if text.is_some() {
                "\""
            } else {
                other.unwrap_or("null")
            };
            out.extend_from_slice(start.as_bytes());
        }
        self.is_cut = text.is_some() && arg.get("willContinue") == Some("true");
        out.extend_from_slice(escaped_piece(&text.unwrap_or_default()).as_bytes());
        Some(())
    }

    /// Closes the containers that the new path does not share with the last one, and opens its further steps.
    fn open_path(&mut self, path: &str, out: &mut Vec<u8>) -> Option<()> {
        let (mut depth, mut rest, mut known) = (0, path, self.path.get(1..).unwrap_or_default());
        while let (Some((one, after)), Some((other, behind))) = (first_step(rest), first_step(known)) {
            if one != other {
                break;
            }
            (depth, rest, known) = (depth + 1, after, behind);
        }
        if rest.is_empty() || (known.is_empty() && depth > 0) {
            return None;
        }
        self.close_to(depth + 1, out);
        while !rest.is_empty() {
            let (step, after) = first_step(rest)?;
            rest = after;
            let (is_index, step) = key_or_index(step);
            if self.open.len() == depth {
                out.push(if is_index { b'[' } else { b'{' });
                self.open.push(Level {
                    is_array: is_index,
                    count: 0,
                    keys: BTreeSet::new(),
                });
            }
            let level = self.open.get_mut(depth)?;
            let fits = !is_index || (step == decimal(level.count) && depth > 0);
            if !fits || level.is_array != is_index {
                return None;
            }
            if level.count > 0 {
                out.push(b',');
            }
            level.count += 1;
            if !is_index {
                out.extend_from_slice(step.as_bytes());
                out.push(b':');
                if !level.keys.insert(step) {
                    return None;
                }
            }
            depth += 1;
        }
        Some(())
    }

    /// True when the text lacks the end of a string.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Adds the text that is missing at the end.
    pub fn close(&mut self, out: &mut Vec<u8>) {
        self.close_to(0, out);
    }

    /// Closes the string and all containers but the outer `depth`.
    fn close_to(&mut self, depth: usize, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.in_string) {
            out.push(b'"');
        }
        while self.open.len() > depth {
            let is_array = self.open.pop().is_some_and(|level| level.is_array);
            out.push(if is_array { b']' } else { b'}' });
        }
    }
}

/// The first step of a path (`.a`, `[0]` or `['a']`), and the rest.
fn first_step(path: &str) -> Option<(&str, &str)> {
    let bytes = path.as_bytes();
    let quote = bytes.get(1).copied().filter(|byte| matches!(byte, b'\'' | b'"'));
    let (mut at, mut escaped) = (1, false);
    match (bytes.first()?, quote) {
        (b'[', Some(quote)) => {
            at = 2;
            while escaped || *bytes.get(at)? != quote {
                escaped = *bytes.get(at)? == b'\\' && !escaped;
                at += 1;
            }
            at += 2;
        }
        (b'[', None) => {
            while *bytes.get(at)? != b']' {
                at += 1;
            }
            at += 1;
        }
        (b'.', _) => {
            while bytes.get(at).is_some_and(|byte| !matches!(byte, b'.' | b'[')) {
                at += 1;
            }
        }
        _ => return None,
    }
    path.split_at_checked(at)
}

/// True for an index, with the index as a number or the key as a JSON string.
fn key_or_index(step: &str) -> (bool, String) {
    let is_bracket = step.starts_with('[');
    let inside = if is_bracket {
        step.get(1..step.len() - 1)
    } else {
        step.get(1..)
    };
    let inside = inside.unwrap_or_default();
    let is_quoted = is_bracket && inside.starts_with(['\'', '"']);
    if is_bracket && !is_quoted {
        return (true, inside.to_owned());
    }
    let inside = if is_quoted {
        inside.get(1..inside.len() - 1)
    } else {
        Some(inside)
    };
    let mut key = b"\"".to_vec();
    let mut escaped = false;
    for byte in inside.unwrap_or_default().bytes() {
        match byte {
            b'\'' if escaped => drop(key.pop()),
            b'"' if !escaped => key.push(b'\\'),
            _ => {}
        }
        key.push(byte);
        escaped = byte == b'\\' && !escaped;
    }
    key.push(b'"');
    (false, written(key))
}

#[cfg(test)]
mod tests;
