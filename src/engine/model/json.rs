//! Reads and writes the JSON of our own types with serde.
//!
//! [`read`] and [`write()`] are for everything that crosses the boundary to JavaScript. [`crate::engine::json`] reads
//! the JSON of providers. [`read`] turns an error of serde into a [`ConfigError`] with the path of the invalid value.
//! Writing cannot fail.

mod objects;

use serde::de::value::StrDeserializer;
use serde::de::{Deserialize, DeserializeOwned, IntoDeserializer};
use serde::{Deserializer, Serialize};

use crate::engine::model::error::ConfigError;
use crate::engine::model::json::objects::Objects;

/// Reads a value of one of our types from JSON text.
///
/// # Errors
/// The first missing or invalid value, with its path below `name`.
pub fn read<T: DeserializeOwned>(name: &str, json: &str) -> Result<T, ConfigError> {
    let mut text = serde_json::Deserializer::from_str(json);
    let value = T::deserialize(Objects(&mut text)).and_then(|value| text.end().map(|()| value));
    value.map_err(|error| refusal(name, json, &error))
}

/// Writes a value of one of our types. They contain only what JSON can express.
pub fn write<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The JSON word for a variant without fields.
pub fn word<T: Serialize>(variant: T) -> String {
    write(&variant).trim_matches('"').to_owned()
}

/// The variant without fields that has this JSON word.
pub fn named<T: DeserializeOwned>(word: &str) -> Option<T> {
    let word: StrDeserializer<'_, serde_json::Error> = word.into_deserializer();
    T::deserialize(word).ok()
}

/// Reads a field where `null` differs from absence: `null` becomes `Some(None)`.
///
/// # Errors
/// As the field's type.
pub fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

fn refusal(name: &str, json: &str, error: &serde_json::Error) -> ConfigError {
    let text = error.to_string();
    let problem = text.split(" at line ").next().unwrap_or_default();
    let line_start = json
        .match_indices('\n')
        .map(|(at, _)| at + 1)
        .nth(error.line().wrapping_sub(2))
        .unwrap_or(0);
    let read = json.get(..line_start + error.column()).unwrap_or(json);
    if error.is_syntax() || error.is_eof() {
        return ConfigError::new(name, format!("must be JSON: {text}"));
    }
    // Serde detects some invalid values only after the end of the array that contains them.
    let is_of_serde = ["invalid ", "missing ", "unknown ", "recursion "]
        .iter()
        .any(|start| problem.starts_with(start));
    let read = match read.strip_suffix(']') {
        Some(inside) if !is_of_serde => inside,
        _ => read,
    };
    let mut field = path_of_end(name, read);
    let missing = problem
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'));
    match missing {
        Some(missing) => {
            push_key(&mut field, missing);
            ConfigError::new(field, "is missing")
        }
        None => ConfigError::new(field, problem),
    }
}

/// The path of the value at the end of an incomplete JSON text, for example `tools[0].readOnly`.
fn path_of_end(name: &str, json: &str) -> String {
    enum Frame<'a> {
        Object { key: &'a str, is_key: bool },
        Array { index: usize },
    }
    let mut frames = Vec::new();
    let text = json.trim_end_matches([',', ' ', '\n', '\r', '\t']);
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        at += 1;
        match byte {
            b'{' => frames.push(Frame::Object {
                key: "",
                is_key: true,
            }),
            b'[' => frames.push(Frame::Array { index: 0 }),
            b'}' | b']' => drop(frames.pop()),
            b':' => {
                if let Some(Frame::Object { is_key, .. }) = frames.last_mut() {
                    *is_key = false;
                }
            }
            b',' => match frames.last_mut() {
                Some(Frame::Array { index }) => *index += 1,
                Some(Frame::Object { is_key, .. }) => *is_key = true,
                None => {}
            },
            b'"' => {
                let string = text.get(at..).unwrap_or_default();
                let length = string_length(string);
                if let Some(Frame::Object { key, is_key: true }) = frames.last_mut() {
                    *key = string.get(..length).unwrap_or_default();
                }
                at += length + 1;
            }
            _ => {}
        }
    }
    let mut path = name.to_owned();
    for frame in &frames {
        match frame {
            Frame::Object { key, .. } => push_key(&mut path, key),
            Frame::Array { index } => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

fn push_key(path: &mut String, key: &str) {
    if !path.is_empty() && !key.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}

/// The length of a string's content, up to its closing quote or the end of the text.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    text.bytes()
        .position(|byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        })
        .unwrap_or(text.len())
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
