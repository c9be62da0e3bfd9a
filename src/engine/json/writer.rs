//! Writes JSON by appending text to bytes, without trees.
//!
//! The encoders write request bodies with it, and the decoders a vendor's fields. A caller opens and closes brackets
//! itself; a field's function sets the comma before it. A caller passes JSON text only if it is valid: nothing is
//! checked again, and nothing fails.

use looplet_scan::cursor::plain_length;
use looplet_scan::reader::Object;
use serde::Serialize;

/// Appends `text` as a JSON string.
pub fn push_string(into: &mut Vec<u8>, text: &str) {
    into.reserve(text.len() + 2);
    into.push(b'"');
    push_escaped(into, text);
    into.push(b'"');
}

/// Appends `text` as the inside of a JSON string.
pub fn push_escaped(into: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    loop {
        let (plain, after) = rest.split_at_checked(plain_length(rest)).unwrap_or((rest, &[]));
        into.extend_from_slice(plain);
        let Some((byte, after)) = after.split_first() else {
            return;
        };
        rest = after;
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            _ => b"\\u00",
        };
        into.extend_from_slice(escape);
        if escape.len() == 4 {
            into.push(b'0' + (byte >> 4));
            into.push(HEX.get(usize::from(byte & 15)).copied().unwrap_or(b'0'));
        }
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Appends a number in decimal.
pub fn push_number(into: &mut Vec<u8>, number: u64) {
    let mut digits = [0u8; 20];
    let mut rest = number;
    let mut used = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        used += 1;
        if rest == 0 {
            break;
        }
    }
    into.extend_from_slice(digits.get(digits.len() - used..).unwrap_or_default());
}

/// A number in decimal.
pub fn decimal(number: usize) -> String {
    decimal_u64(number as u64)
}

/// A number of 64 bits in decimal.
pub fn decimal_u64(number: u64) -> String {
    let mut digits = Vec::new();
    push_number(&mut digits, number);
    written(digits)
}

/// Appends a comma if the object or array before it already has something.
pub fn push_comma(into: &mut Vec<u8>) {
    if !matches!(into.last(), Some(b'{' | b'[')) {
        into.push(b',');
    }
}

/// Appends a key and its colon, with the comma before it. Keys need no escapes.
pub fn push_key(into: &mut Vec<u8>, key: &str) {
    push_comma(into);
    into.push(b'"');
    into.extend_from_slice(key.as_bytes());
    into.extend_from_slice(b"\":");
}

/// Appends a field with a string.
pub fn push_text(into: &mut Vec<u8>, key: &str, text: &str) {
    push_key(into, key);
    push_string(into, text);
}

/// Appends a field with a number.
pub fn push_count(into: &mut Vec<u8>, key: &str, number: u64) {
    push_key(into, key);
    push_number(into, number);
}

/// Appends a field with a boolean.
pub fn push_flag(into: &mut Vec<u8>, key: &str, is: bool) {
    push_raw(into, key, if is { "true" } else { "false" });
}

/// Appends a field with a string, if there is one.
pub fn push_text_if(into: &mut Vec<u8>, key: &str, text: Option<&str>) {
    if let Some(text) = text {
        push_text(into, key, text);
    }
}

/// Appends a field with JSON text as its value.
pub fn push_raw(into: &mut Vec<u8>, key: &str, json: &str) {
    push_key(into, key);
    into.extend_from_slice(json.as_bytes());
}

/// Appends a value of one of our types, as serde writes it.
pub fn push_value<T: Serialize + ?Sized>(into: &mut Vec<u8>, value: &T) {
    // Writing to memory does not fail, and our types contain only what JSON can express.
    let _ = serde_json::to_writer(into, value);
}

/// Appends the fields of `object`, except nulls and the keys in `ours`.
pub fn push_others(into: &mut Vec<u8>, object: &Object<'_>, ours: &[&str]) {
    for (key, value) in object.fields() {
        if value != "null" && !ours.contains(&key) {
            push_any(into, key, value);
        }
    }
}

/// Appends a field whose key may need escapes, with JSON text as its value.
pub fn push_any(into: &mut Vec<u8>, key: &str, json: &str) {
    push_comma(into);
    push_string(into, key);
    into.push(b':');
    into.extend_from_slice(json.as_bytes());
}

/// The written bytes as text.
#[inline(never)]
pub fn written(out: Vec<u8>) -> String {
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests;
