//! Ids of calls, for vendors that accept only letters and digits of ASCII and a few marks.
//!
//! The encoders call [`push_id`] for every call and every result. Equal ids become equal legal ids, so a result still
//! finds its call. A legal id stays as it is.

use crate::engine::json::checksum::crc32;
use crate::engine::json::writer::{push_number, push_text};

/// The marks that most vendors accept: `[a-zA-Z0-9_-]+`.
pub const PLAIN: &str = "_-";

/// Appends a field with an id. In other servers' ids (`functions.add:0`) each illegal character becomes `_` and its
/// code; `marks` are the legal ones besides letters and digits, and `None` takes all. An id of more than `max`
/// characters keeps its beginning and ends in its checksum. A call and its result become alike.
pub fn push_id(into: &mut Vec<u8>, key: &str, id: &str, marks: Option<&str>, max: usize) {
    if marks.is_none() && id.chars().count() <= max {
        return push_text(into, key, id);
    }
    let marks = marks.unwrap_or(PLAIN);
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

/// The id, if it consists of this number of letters and digits; else as many digits of its checksum (FNV-1a, 64
/// bits). Mistral: `Tool call id was call_0fypS1hVX but must be a-z, A-Z, 0-9, with a length of 9`:
/// <https://github.com/mistralai/mistral-vibe/issues/1075> (2026-11-28)
pub fn id_of_length(id: &str, chars: usize) -> String {
    if id.len() == chars && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    let mut sum = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut digits = String::with_capacity(chars);
    for _ in 0..chars {
        digits.push(char::from_digit((sum % 36) as u32, 36).unwrap_or('0'));
        sum /= 36;
    }
    digits
}

#[cfg(test)]
mod tests;
