//! Writes request bodies: JSON text appended to bytes, without trees.

use super::super::error::ConfigError;
use super::super::message::Json;
use super::json_reader::Object;

/// Appends `text` as a JSON string.
pub fn push_string(into: &mut Vec<u8>, text: &str) {
    into.reserve(text.len() + 2);
    into.push(b'"');
    push_escaped(into, text);
    into.push(b'"');
}

/// Appends `text` as the inside of a JSON string.
pub fn push_escaped(into: &mut Vec<u8>, text: &str) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0..=0x1f => b"\\u00",
            _ => continue,
        };
        into.extend_from_slice(text.as_bytes().get(from..at).unwrap_or_default());
        into.extend_from_slice(escape);
        if escape.len() == 4 {
            into.push(b'0' + (byte >> 4));
            into.push(HEX.get(usize::from(byte & 15)).copied().unwrap_or(b'0'));
        }
        from = at + 1;
    }
    into.extend_from_slice(text.as_bytes().get(from..).unwrap_or_default());
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

/// Appends a field with JSON text as its value.
pub fn push_raw(into: &mut Vec<u8>, key: &str, json: &str) {
    push_key(into, key);
    into.extend_from_slice(json.as_bytes());
}

/// Appends the fields of the object `vendor` but for nulls and those in `ours`.
pub fn push_vendor(into: &mut Vec<u8>, vendor: Option<&Json>, ours: &[&str]) {
    let Some(object) = vendor.and_then(|json| Object::parse(json.as_str())) else {
        return;
    };
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

/// An object of the fields that are not null; `None` of none.
pub fn object_of<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Json> {
    let mut out = b"{".to_vec();
    for (key, value) in fields.filter(|(_, value)| *value != "null") {
        push_any(&mut out, key, value);
    }
    out.push(b'}');
    let text = String::from_utf8(out).ok()?;
    if text == "{}" {
        None
    } else {
        Json::parse(&text).ok()
    }
}

/// The top level of a body: fields of ours, none of which the configured `body` also has, then those of `body`.
pub struct BodyFields<'a> {
    over: Option<Object<'a>>,
}

impl<'a> BodyFields<'a> {
    /// # Errors
    /// When `body` is no object, or has a field that only the run may write.
    pub fn new(body: Option<&'a Json>) -> Result<BodyFields<'a>, ConfigError> {
        let Some(body) = body else {
            return Ok(BodyFields { over: None });
        };
        let over = Object::parse(body.as_str());
        let fields = BodyFields { over };
        if fields.over.is_none() {
            return Err(ConfigError::new(
                "model.body",
                "must be an object of further request fields",
            ));
        }
        if fields.has("messages") {
            return Err(ConfigError::new(
                "model.body.messages",
                "is written by the run: use messages",
            ));
        }
        if fields.has("stream") {
            return Err(ConfigError::new(
                "model.body.stream",
                "decides how answers are read: use model.stream",
            ));
        }
        Ok(fields)
    }

    /// The value that `body` gives to `key`.
    pub fn over(&self, key: &str) -> Option<&'a str> {
        self.over.as_ref()?.get(key)
    }

    /// `body` has the key, be it null.
    pub fn has(&self, key: &str) -> bool {
        self.over
            .as_ref()
            .is_some_and(|object| object.fields().any(|(name, _)| name == key))
    }

    /// Opens a field, unless `body` has it.
    pub fn key(&self, into: &mut Vec<u8>, key: &str) -> bool {
        if self.has(key) {
            return false;
        }
        push_key(into, key);
        true
    }

    pub fn text(&self, into: &mut Vec<u8>, key: &str, text: &str) {
        if self.key(into, key) {
            push_string(into, text);
        }
    }

    pub fn raw(&self, into: &mut Vec<u8>, key: &str, json: &str) {
        if self.key(into, key) {
            into.extend_from_slice(json.as_bytes());
        }
    }

    pub fn json(&self, into: &mut Vec<u8>, key: &str, json: Option<&Json>) {
        if let Some(json) = json {
            self.raw(into, key, json.as_str());
        }
    }

    pub fn number(&self, into: &mut Vec<u8>, key: &str, number: u64) {
        if self.key(into, key) {
            push_number(into, number);
        }
    }

    pub fn texts(&self, into: &mut Vec<u8>, key: &str, texts: &[String]) {
        if !texts.is_empty() && self.key(into, key) {
            into.push(b'[');
            for text in texts {
                push_comma(into);
                push_string(into, text);
            }
            into.push(b']');
        }
    }

    /// Appends the fields of `body` but those in `written`. A null removes a field of ours and is not sent; of a key
    /// given twice the last counts.
    pub fn finish(&self, into: &mut Vec<u8>, written: &[&str]) {
        let Some(object) = &self.over else { return };
        let fields: Vec<_> = object.fields().collect();
        for (at, (key, value)) in fields.iter().enumerate() {
            let again = fields.iter().skip(at + 1).any(|(later, _)| later == key);
            if *value != "null" && !again && !written.contains(key) {
                push_any(into, key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_survives_a_round_trip() {
        let text: String = (0u32..0x300)
            .chain([0x2028, 0xFFFD, 0x1F600])
            .filter_map(char::from_u32)
            .collect();
        let mut out = Vec::new();
        push_string(&mut out, &text);
        assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
    }

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 7, 10, 1234, u64::MAX] {
            let mut out = Vec::new();
            push_number(&mut out, number);
            assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
    }

    #[test]
    fn what_the_body_says_replaces_ours_once() {
        let body = Json::parse(r#"{"a":2,"gone":null,"b":[1],"b":[2]}"#).unwrap();
        let fields = BodyFields::new(Some(&body)).unwrap();
        let mut out = b"{".to_vec();
        fields.number(&mut out, "a", 1);
        fields.text(&mut out, "gone", "x");
        fields.text(&mut out, "kept", "y");
        fields.finish(&mut out, &[]);
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"kept":"y","a":2,"b":[2]"#);
    }
}
