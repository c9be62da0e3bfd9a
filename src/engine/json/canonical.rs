//! One text for every JSON value: keys sorted by their UTF-16 code units, no blanks, one spelling of each number.
//!
//! The form is RFC 8785 with one deliberate difference. Integers up to 64 bits keep all their digits, while the RFC
//! rounds them to a float. So two ids beyond 2^53 have different texts. The existing crates round, so none is used
//! here.
//!
//! Equal inputs have equal texts, regardless of the order of their keys. The detection of repetitions and
//! [`super::digest`] compare these texts. Nothing fails: a text that [`read`] rejects remains unchanged.

use serde_json::Value;

use crate::engine::json::value::{read, written};

/// The canonical text of valid JSON, or the text itself if [`read`] refuses it.
pub fn canonical(json: &str) -> String {
    read(json).map_or_else(|_| json.to_owned(), |value| canonical_value(&value))
}

/// The canonical text of a value that comes from [`read`].
pub fn canonical_value(value: &Value) -> String {
    written(&sorted(value))
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_cached_key(|(key, _)| key.encode_utf16().collect::<Vec<_>>());
            Value::Object(
                fields
                    .into_iter()
                    .map(|(key, value)| (key.clone(), sorted(value)))
                    .collect(),
            )
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
