//! The general reader of providers' JSON: objects as lists of raw fields, each converted only on demand.
//!
//! [`validate`] checks the whole text once, by [`crate::engine::json::check`], without a limit on depth and without a
//! tree. Every other function cuts the checked text apart. Keys keep their order and numbers their digits; a repeated
//! key counts as its last occurrence. The protocols call it for every event that their fast scan does not know. Nothing
//! fails: a field of the wrong type reads as absent or empty.

use std::borrow::Cow;

use crate::engine::json::check::check;
use crate::engine::json::cursor::{Cursor, RawString};

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
    /// Cuts `json` apart, which must be valid. `None` if it is not an object.
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

    /// A word of the vendor's own vocabulary, which no vendor escapes; empty if the field has another type.
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

/// A number that consists of digits alone and fits into 64 bits.
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
mod tests {
    use super::*;

    #[test]
    fn fields_come_as_their_own_text_and_the_last_of_a_key_counts() {
        let json = r#" { "a" : 1.50 , "b\u0041":[1, {"x":"]}\""}], "a":12345678901234567890, "n":null } "#;
        let object = Object::parse(json).unwrap();
        assert_eq!(object.get("a"), Some("12345678901234567890"));
        assert_eq!(object.number("a"), Some(12_345_678_901_234_567_890));
        assert_eq!(object.items("bA"), ["1", r#"{"x":"]}\""}"#]);
        assert_eq!(object.get("n"), None);
        assert_eq!(object.fields().count(), 4);
    }

    #[test]
    fn only_whole_json_is_valid_and_bytes_that_are_no_text_are_replaced() {
        assert!(validate(b"{\"a\":1} ").is_some());
        assert!(validate(b"{\"a\":1").is_none());
        assert!(validate(b"[DONE]").is_none());
        assert_eq!(validate(b"\"a\xffb\"").unwrap(), "\"a\u{fffd}b\"");
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let deep = "[".repeat(200_000) + &"]".repeat(200_000);
        let json = format!("{{\"a\":{deep}}}");
        let text = validate(json.as_bytes()).unwrap();
        assert_eq!(Object::parse(&text).unwrap().get("a"), Some(deep.as_str()));
    }

    #[test]
    fn a_lone_surrogate_is_replaced_and_a_pair_is_joined() {
        assert_eq!(string(r#""\ud83d\ude00""#).unwrap(), "😀");
        assert_eq!(string(r#""a\ud83dz""#).unwrap(), "a\u{fffd}z");
        assert_eq!(string(r#""\ude00\u0041""#).unwrap(), "\u{fffd}A");
        assert_eq!(string(r#""\ud83d\ud83d\ude00\/""#).unwrap(), "\u{fffd}😀/");
    }
}
