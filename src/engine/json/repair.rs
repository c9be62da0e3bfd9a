//! Turns the text that a model wrote as tool arguments into the text of one JSON object.
//!
//! Valid text is returned unchanged. Other text is repaired in four steps in a fixed order, each of which only
//! removes something: a code fence, the prose around the first object, trailing commas, one layer of string encoding.
//! No repair ever adds text, so an incomplete object remains an error. An empty text becomes `{}`, and so does
//! `null`, which some models write for a tool without parameters.
//!
//! The agent calls [`parse_arguments`] once per finished call, and for structured answers. It takes linear time and
//! builds no tree. It fails with an [`ArgumentsError`] for the model.

use looplet_scan::check::{Fault, check};
use looplet_scan::cursor::plain_length;
use looplet_scan::reader::string;

use crate::engine::json::value;
use crate::engine::json::writer::decimal;
use std::borrow::Cow;
use std::fmt;

/// Arguments that are the text of one JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// The object. Without a repair it is the model's own text with its blanks, or `{}` for an empty text.
    pub json: Cow<'a, str>,
    /// The last repair that was needed. The run warns of it.
    pub repaired_by: Option<Repair>,
}

/// A repair that made unreadable arguments readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The object was in a Markdown code fence.
    CodeFence,
    /// The object was in other text.
    FirstObject,
    /// Commas before a closing bracket were removed.
    TrailingCommas,
    /// The object was the content of a JSON string.
    DoubleEncoded,
}

impl Repair {
    /// The name of the step, for warnings.
    pub fn name(self) -> &'static str {
        match self {
            Repair::CodeFence => "code_fence",
            Repair::FirstObject => "first_object",
            Repair::TrailingCommas => "trailing_commas",
            Repair::DoubleEncoded => "double_encoded",
        }
    }
}

/// The reason why a text is not the arguments of a call, in words for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentsError {
    /// The text is not valid JSON, even after all repairs.
    Invalid {
        /// The fault, ending in the line and column within the object, in bytes from 1.
        problem: String,
        /// At most 200 characters around that place.
        excerpt: String,
    },
    /// The text ends within its object or other value, and nothing before the end is wrong.
    CutOff {
        /// The length of the text in bytes.
        bytes: usize,
        /// Its last characters, at most 200.
        excerpt: String,
    },
    /// The text is valid JSON but not an object.
    NotAnObject {
        /// The type of the value: `an array`, `a string`, `a number`, `a boolean` or `null`.
        found: &'static str,
        /// Its first characters, at most 200.
        excerpt: String,
    },
    /// The text nests more than [`MAX_DEPTH`] objects and arrays within each other.
    TooDeep,
}

/// The maximum nesting of objects and arrays, which is the limit of a tree.
pub const MAX_DEPTH: usize = value::MAX_DEPTH;

/// Finds the one JSON object in `text`. A text of only blanks is `{}`, because some providers write the arguments of
/// a tool without parameters this way.
///
/// # Errors
/// [`ArgumentsError`], with the position in the given text if there is one.
pub fn parse_arguments(text: &str) -> Result<Parsed<'_>, ArgumentsError> {
    let mut trimmed = text.trim();
    while let Some(inner) = without_mark(trimmed) {
        trimmed = inner.trim();
    }
    if trimmed.is_empty() || trimmed == "null" {
        return Ok(Parsed {
            json: Cow::Borrowed("{}"),
            repaired_by: None,
        });
    }
    let direct = match check_object(text) {
        Ok(()) => {
            return Ok(Parsed {
                json: Cow::Borrowed(text),
                repaired_by: None,
            });
        }
        Err(Refusal::Other("a string")) => return unwrap_string(trimmed),
        Err(refusal) => refusal,
    };
    match repair(trimmed, &direct) {
        Some(parsed) => Ok(parsed),
        None => Err(explain(text, trimmed, direct)),
    }
}

/// The reason why a candidate is not taken.
enum Refusal {
    Syntax(Fault),
    Other(&'static str),
    TooDeep,
}

fn check_object(candidate: &str) -> Result<(), Refusal> {
    if is_too_deep(candidate) {
        return Err(Refusal::TooDeep);
    }
    if let Err(error) = check(candidate) {
        return Err(Refusal::Syntax(error));
    }
    match candidate.trim_ascii_start().bytes().next() {
        Some(b'{') => Ok(()),
        Some(b'[') => Err(Refusal::Other("an array")),
        Some(b'"') => Err(Refusal::Other("a string")),
        Some(b't' | b'f') => Err(Refusal::Other("a boolean")),
        Some(b'n') => Err(Refusal::Other("null")),
        _ => Err(Refusal::Other("a number")),
    }
}

/// Tries the repairs. Only an object, or a string that contains one, may be taken out of its surroundings.
fn repair<'a>(trimmed: &'a str, direct: &Refusal) -> Option<Parsed<'a>> {
    if !matches!(direct, Refusal::Syntax(_)) {
        return None;
    }
    let unfenced = strip_code_fence(trimmed);
    let (candidate, mut step) = match unfenced {
        Some(inner) => (inner, Repair::CodeFence),
        None => (trimmed, Repair::FirstObject),
    };
    if unfenced.is_some() && check_object(candidate).is_ok() {
        return Some(Parsed {
            json: Cow::Borrowed(candidate),
            repaired_by: Some(step),
        });
    }
    if begins_otherwise(candidate) {
        return None;
    }
    let object = first_object(candidate)?;
    if object.len() < candidate.len() {
        step = Repair::FirstObject;
        // Braces in prose or code are not arguments, and `{}{"a":1}` does not mean `{}`.
        if object
            .bytes()
            .all(|byte| matches!(byte, b'{' | b'}' | b' ' | b'\t'..=b'\r'))
        {
            return None;
        }
    }
    if check_object(object).is_ok() {
        return Some(Parsed {
            json: Cow::Borrowed(object),
            repaired_by: Some(step),
        });
    }
    let without_commas = strip_trailing_commas(object);
    check_object(&without_commas).ok()?;
    Some(Parsed {
        json: Cow::Owned(without_commas),
        repaired_by: Some(Repair::TrailingCommas),
    })
}

/// The text without a byte order mark at its start or end.
fn without_mark(text: &str) -> Option<&str> {
    text.strip_prefix("\u{feff}")
        .or_else(|| text.strip_suffix("\u{feff}"))
}

fn begins_otherwise(text: &str) -> bool {
    matches!(text.as_bytes().first(), Some(b'[' | b'"'))
}

fn brace(text: &str) -> Option<usize> {
    text.bytes().position(|byte| byte == b'{')
}

fn unwrap_string(text: &str) -> Result<Parsed<'_>, ArgumentsError> {
    // A half of a surrogate pair would become another character.
    let replaced = |text: &str| text.chars().filter(|c| *c == '\u{fffd}').count();
    let is_whole = |content: &str| replaced(content) <= replaced(text);
    match string(text) {
        Some(content) if is_whole(&content) && check_object(&content).is_ok() => Ok(Parsed {
            json: Cow::Owned(content.into_owned()),
            repaired_by: Some(Repair::DoubleEncoded),
        }),
        _ => Err(not_an_object("a string", text)),
    }
}

fn strip_code_fence(trimmed: &str) -> Option<&str> {
    let inner = trimmed.strip_prefix("```")?.strip_suffix("```")?;
    Some(inner.strip_prefix("json").unwrap_or(inner).trim())
}

/// The text from the first brace to the one that closes it.
fn first_object(text: &str) -> Option<&str> {
    let object = text.get(brace(text)?..)?;
    let mut open = 0usize;
    let mut end = None;
    outside_strings(object.as_bytes(), &mut |position, byte| {
        match byte {
            b'{' => open += 1,
            b'}' => open = open.saturating_sub(1),
            _ => return true,
        }
        end = Some(position + 1).filter(|_| open == 0);
        end.is_none()
    });
    object.get(..end?)
}

fn is_too_deep(text: &str) -> bool {
    let (mut open, mut deepest) = (0usize, 0);
    outside_strings(text.as_bytes(), &mut |_, byte| {
        match byte {
            b'{' | b'[' => open += 1,
            b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
        deepest <= MAX_DEPTH
    });
    deepest > MAX_DEPTH
}

/// Removes trailing commas. A comma is trailing when a closing bracket follows it and a value precedes it.
fn strip_trailing_commas(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut kept, mut copied, mut comma) = (String::with_capacity(bytes.len()), 0, None);
    let mut before = b',';
    outside_strings(bytes, &mut |position, byte| {
        match byte {
            b',' => comma = Some(position).filter(|_| !matches!(before, b',' | b'{' | b'[')),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    kept.push_str(text.get(copied..comma).unwrap_or_default());
                    copied = comma + 1;
                }
            }
            _ if byte.is_ascii_whitespace() => return true,
            _ => comma = None,
        }
        before = byte;
        true
    });
    kept.push_str(text.get(copied..).unwrap_or_default());
    kept
}

/// Calls `visit` with each byte outside strings and with the quote that ends a string, until it returns `false`.
fn outside_strings(bytes: &[u8], visit: &mut dyn FnMut(usize, u8) -> bool) {
    let mut within_string = false;
    let mut position = 0;
    while let Some(&byte) = bytes.get(position) {
        if within_string {
            position += plain_length(bytes.get(position..).unwrap_or_default());
            match bytes.get(position) {
                Some(b'"') => within_string = false,
                Some(b'\\') => {
                    position += 2;
                    continue;
                }
                _ => {
                    position += 1;
                    continue;
                }
            }
        } else if byte == b'"' {
            within_string = true;
            position += 1;
            continue;
        }
        if !visit(position, bytes.get(position).copied().unwrap_or(byte)) {
            return;
        }
        position += 1;
    }
}

/// The error of the first object if the text has one, else the error of the complete text.
fn explain(text: &str, trimmed: &str, direct: Refusal) -> ArgumentsError {
    let unfenced = strip_code_fence(trimmed).unwrap_or(trimmed);
    let rest = brace(unfenced)
        .and_then(|start| unfenced.get(start..))
        .unwrap_or_default();
    let object = first_object(rest).unwrap_or(rest);
    let in_object = !object.is_empty() && !begins_otherwise(unfenced);
    let (subject, refusal) = match check_object(if in_object { object } else { unfenced }) {
        Err(refusal) if matches!(direct, Refusal::Syntax(_)) => {
            (if in_object { object } else { unfenced }, refusal)
        }
        _ => (text, direct),
    };
    match refusal {
        Refusal::TooDeep => ArgumentsError::TooDeep,
        Refusal::Other(found) => not_an_object(found, subject),
        Refusal::Syntax(error) if is_cut_off(subject, &error) => ArgumentsError::CutOff {
            bytes: text.len(),
            excerpt: excerpt(text, text.len()),
        },
        Refusal::Syntax(error) => invalid(subject, &error),
    }
}

/// True when the text is cut off. [`check`] reports an end within a number as an invalid number.
fn is_cut_off(text: &str, fault: &Fault) -> bool {
    fault.is_end()
        || (matches!(text.bytes().next_back(), Some(b'-' | b'+' | b'.' | b'e' | b'E'))
            && fault.place(text) + 1 >= text.len()
            && matches!(
                text.bytes().rev().nth(1),
                Some(b'0'..=b'9' | b'e' | b'E' | b'-' | b':' | b',' | b'[' | b' ')
            ))
}

fn invalid(text: &str, fault: &Fault) -> ArgumentsError {
    ArgumentsError::Invalid {
        problem: fault.describe(text),
        excerpt: excerpt(text, fault.place(text)),
    }
}

fn not_an_object(found: &'static str, text: &str) -> ArgumentsError {
    ArgumentsError::NotAnObject {
        found,
        excerpt: excerpt(text, 0),
    }
}

const MAX_EXCERPT_CHARS: usize = 200;

/// At most [`MAX_EXCERPT_CHARS`] characters, half of them before `place`.
fn excerpt(text: &str, place: usize) -> String {
    let boundary = (0..=place.min(text.len()))
        .rev()
        .find(|&place| text.is_char_boundary(place));
    let (before, after) = boundary
        .and_then(|place| text.split_at_checked(place))
        .unwrap_or((text, ""));
    let half = MAX_EXCERPT_CHARS / 2;
    let before_wanted = MAX_EXCERPT_CHARS - after.chars().take(half).count();
    let start = before
        .char_indices()
        .rev()
        .nth(before_wanted - 1)
        .map_or(0, |(start, _)| start);
    text.get(start..)
        .unwrap_or_default()
        .chars()
        .take(MAX_EXCERPT_CHARS)
        .collect()
}

impl ArgumentsError {
    /// The problem and its place, in words.
    pub fn describe(&self) -> String {
        let length;
        let (parts, excerpt): ([&str; 3], &str) = match self {
            ArgumentsError::Invalid { problem, excerpt } => (["not valid JSON: ", problem, ""], excerpt),
            ArgumentsError::CutOff { bytes, excerpt } => {
                length = decimal(*bytes);
                (
                    ["cut off after ", &length, " bytes, before the JSON ends"],
                    excerpt,
                )
            }
            ArgumentsError::NotAnObject { found, excerpt } => {
                (["expected a JSON object, got ", found, ""], excerpt)
            }
            ArgumentsError::TooDeep => {
                let most = " levels of objects and arrays are the most that arguments may have";
                return format!("{MAX_DEPTH}{most}");
            }
        };
        format!("{}, near: {excerpt}", parts.concat())
    }
}

impl fmt::Display for ArgumentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}

impl std::error::Error for ArgumentsError {}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
