//! The general reader of providers' JSON: objects as lists of raw fields, each converted only on demand.
//!
//! [`validate`] checks the complete text once with [`crate::check`], without a limit on depth and without a tree.
//! Every other function reads the checked text. Keys keep their order and numbers their digits. Of a repeated key the
//! last value counts. The protocols call it for every event that the lane does not read. Nothing fails: a field of
//! the wrong type reads as absent or empty.

use std::borrow::Cow;

use crate::check::check;
use crate::cursor::{Cursor, RawString};
use crate::piece::Piece;

/// The text of one JSON value, or `None`. Bytes that are not valid UTF-8 become U+FFFD first.
pub fn validate(data: &[u8]) -> Option<Cow<'_, str>> {
    let text = String::from_utf8_lossy(data);
    check(&text).ok()?;
    Some(text)
}

/// The fields of an object.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    fields: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Object<'a> {
    /// Reads the fields of `json`, which must be valid. `None` if it is not an object.
    pub fn parse(json: &'a str) -> Option<Object<'a>> {
        let mut cursor = Cursor::new(json.as_bytes());
        cursor.eat(b'{')?;
        let mut fields = Vec::new();
        if cursor.eat(b'}').is_some() {
            return Some(Object { fields });
        }
        loop {
            let key = cursor.string()?.to_text();
            cursor.eat(b':')?;
            fields.push((key, next_value(json, &mut cursor)?));
            if cursor.eat(b',').is_none() {
                cursor.eat(b'}')?;
                return Some(Object { fields });
            }
        }
    }

    /// The fields in the order of the text, nulls included.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &'a str)> {
        self.fields.iter().map(|(key, value)| (key.as_ref(), *value))
    }

    /// A field's JSON text; `None` if it is missing or null.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.last(key).filter(|value| *value != "null")
    }

    /// A field's JSON text, also if it is `null`.
    pub fn last(&self, key: &str) -> Option<&'a str> {
        let (_, value) = self.fields.iter().rev().find(|(name, _)| name == key)?;
        Some(value)
    }

    /// True when the field exists, even if it is null.
    pub fn has(&self, key: &str) -> bool {
        self.last(key).is_some()
    }

    /// A string field, unescaped; `None` if it has another type.
    pub fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        string(self.get(key)?)
    }

    /// A string field as a piece of a longer text; empty if it has another type.
    pub fn piece(&self, key: &str) -> Piece<'a> {
        self.get(key).and_then(Piece::of_json).unwrap_or_default()
    }

    /// A string field that is not empty.
    pub fn filled(&self, key: &str) -> Option<Cow<'a, str>> {
        self.string(key).filter(|text| !text.is_empty())
    }

    /// A string field; empty if it has another type.
    pub fn text(&self, key: &str) -> Cow<'a, str> {
        self.string(key).unwrap_or_default()
    }

    /// A string field that is not empty, as an owned text.
    pub fn owned(&self, key: &str) -> Option<String> {
        self.filled(key).map(Cow::into_owned)
    }

    /// True when the field is a string that is not empty.
    pub fn is_filled(&self, key: &str) -> bool {
        self.filled(key).is_some()
    }

    /// A word of the vendor's vocabulary, which no vendor escapes. Empty if the field has another type.
    pub fn word(&self, key: &str) -> &'a str {
        self.get(key)
            .and_then(|json| Cursor::new(json.as_bytes()).string()?.plain())
            .unwrap_or_default()
    }

    /// True when the field is this word.
    pub fn is(&self, key: &str, word: &str) -> bool {
        self.word(key) == word
    }

    pub fn object(&self, key: &str) -> Option<Object<'a>> {
        Object::parse(self.get(key)?)
    }

    /// The elements of an array field; empty if it is not an array.
    pub fn items(&self, key: &str) -> Vec<&'a str> {
        self.get(key).and_then(items).unwrap_or_default()
    }

    /// A number field without its fraction; negative numbers count as 0.
    pub fn number(&self, key: &str) -> Option<u64> {
        let text = self.get(key)?;
        if text.starts_with('-') {
            return Some(0);
        }
        let end = text.bytes().position(|byte| byte == b'.').unwrap_or(text.len());
        whole(text.get(..end)?)
    }
}

/// A number that consists only of digits and fits into 64 bits.
pub fn whole(text: &str) -> Option<u64> {
    let mut number = 0u64;
    for byte in text.bytes() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    if text.is_empty() { None } else { Some(number) }
}

/// The elements of an array in valid JSON text; `None` if it is not an array.
pub fn items(json: &str) -> Option<Vec<&str>> {
    let mut cursor = Cursor::new(json.as_bytes());
    cursor.eat(b'[')?;
    let mut items = Vec::new();
    if cursor.eat(b']').is_some() {
        return Some(items);
    }
    loop {
        items.push(next_value(json, &mut cursor)?);
        if cursor.eat(b',').is_none() {
            cursor.eat(b']')?;
            return Some(items);
        }
    }
}

/// The text of a JSON string; `None` if it is not a string.
pub fn string(json: &str) -> Option<Cow<'_, str>> {
    Cursor::new(json.as_bytes()).string().map(RawString::to_text)
}

fn next_value<'a>(json: &'a str, cursor: &mut Cursor<'a>) -> Option<&'a str> {
    cursor.skip_blanks();
    let from = cursor.position();
    cursor.skip_value()?;
    json.get(from..cursor.position())
}

#[cfg(test)]
mod tests;
