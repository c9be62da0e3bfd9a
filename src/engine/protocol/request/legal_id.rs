//! Ids of calls and names of tools, for vendors that accept only letters and digits of ASCII and a few marks.
//!
//! The encoders write every call and every result by these rules. Equal ids become equal legal ids, so a result still
//! finds its call, and different ids stay different. A legal id stays as it is.

use crate::engine::json::checksum::{FNV, crc32, fnv};
use crate::engine::json::writer::{decimal, push_text};

/// The marks that most vendors accept: `[a-zA-Z0-9_-]+`.
pub const PLAIN: &str = "_-";

/// The most characters of a checksum and the `_` before it.
const CHECKSUM_CHARS: usize = 11;

/// Appends a field with an id. `marks` are the valid characters in addition to letters and digits, and `None` allows
/// all. An invalid id, or one of more than `max` characters, becomes [`with_checksum`].
pub fn push_id(into: &mut Vec<u8>, key: &str, id: &str, marks: Option<&str>, max: usize) {
    if id.len() <= max && marks.is_none_or(|marks| id.chars().all(|c| is_legal(c, marks))) {
        return push_text(into, key, id);
    }
    push_text(into, key, &with_checksum(id, marks.unwrap_or(PLAIN), max));
}

/// Whether this is a letter or digit of ASCII, or one of the marks.
pub fn is_legal(character: char, marks: &str) -> bool {
    character.is_ascii_alphanumeric() || marks.contains(character)
}

/// At most `max` characters: the beginning of the text, with `_` for each invalid character, and the text's checksum.
pub fn with_checksum(text: &str, marks: &str, max: usize) -> String {
    let legal = text.chars().map(|c| if is_legal(c, marks) { c } else { '_' });
    let mut id: String = legal.take(max.saturating_sub(CHECKSUM_CHARS)).collect();
    id.push('_');
    id.push_str(&decimal(crc32(text.as_bytes()) as usize));
    id
}

/// The id, if it consists of this number of letters and digits; else as many digits of its hash. Mistral: `Tool call
/// id was call_0fypS1hVX but must be a-z, A-Z, 0-9, with a length of 9`:
/// <https://github.com/mistralai/mistral-vibe/issues/1075> (2026-11-28)
pub fn id_of_length(id: &str, chars: usize) -> String {
    if id.len() == chars && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    let mut sum = fnv(FNV, id.as_bytes());
    let mut digits = String::with_capacity(chars);
    for _ in 0..chars {
        digits.push(char::from_digit((sum % 36) as u32, 36).unwrap_or('0'));
        sum /= 36;
    }
    digits
}

#[cfg(test)]
mod tests;
