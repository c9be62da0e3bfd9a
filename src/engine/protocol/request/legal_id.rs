//! Ids of calls and names of tools, for vendors that accept only letters and digits of ASCII and a few marks.
//!
//! The encoders call [`push_id`] for every call and every result. Equal ids become equal legal ids, so a result still
//! finds its call. A legal id stays as it is.

use crate::engine::json::checksum::crc32;
use crate::engine::json::writer::{push_number, push_text};

/// The marks that most vendors accept: `[a-zA-Z0-9_-]+`.
pub const PLAIN: &str = "_-";

/// Appends a field with an id. In other servers' ids (`functions.add:0`) each illegal character becomes `_` and its
/// code; `marks` are the legal ones besides letters and digits. An id of more than `max` characters keeps its
/// beginning and ends in its checksum. A call and its result become alike.
pub fn push_id(into: &mut Vec<u8>, key: &str, id: &str, marks: &str, max: usize) {
    let mut legal = Vec::with_capacity(id.len());
    for character in id.chars() {
        if character.is_ascii_alphanumeric() || marks.contains(character) {
            legal.push(character as u8);
        } else {
            legal.push(b'_');
            push_number(&mut legal, u64::from(u32::from(character)));
        }
    }
    if legal.len() > max {
        // A checksum has at most ten digits.
        legal.truncate(max.saturating_sub(11));
        legal.push(b'_');
        push_number(&mut legal, u64::from(crc32(id.as_bytes())));
    }
    push_text(into, key, str::from_utf8(&legal).unwrap_or_default());
}

#[cfg(test)]
mod tests;
