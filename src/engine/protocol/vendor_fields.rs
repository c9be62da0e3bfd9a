//! The fields of a vendor that have no neutral form: stored as JSON next to a block, and written back.
//!
//! The decoders collect them with [`others`], [`object_of`] and [`Fields`], the encoders of the vendor write them
//! with [`push_vendor`]. A field that is null counts as absent.

use std::collections::BTreeMap;

use looplet_scan::piece::{Join, Piece};
use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_any, push_comma, push_others, push_string, written};
use crate::engine::model::message::Json;

/// Appends the fields of the object `vendor`, except nulls and the keys in `ours`.
pub fn push_vendor(into: &mut Vec<u8>, vendor: Option<&Json>, ours: &[&str]) {
    if let Some(object) = vendor.and_then(|json| Object::parse(json.as_str())) {
        push_others(into, &object, ours);
    }
}

/// An object of the fields, except nulls and the keys in `ours`; `None` if no field is left.
pub fn others(object: &Object<'_>, ours: &[&str]) -> Option<Json> {
    let mut out = b"{".to_vec();
    push_others(&mut out, object, ours);
    closed(out)
}

/// An object of the fields that are not null; `None` if no field is left.
pub fn object_of(fields: &[(&str, &str)]) -> Option<Json> {
    let mut out = b"{".to_vec();
    for (key, value) in fields {
        if *value != "null" {
            push_any(&mut out, key, value);
        }
    }
    closed(out)
}

/// Closes an object whose last brace is missing; `None` for empty bytes.
pub fn closed(mut out: Vec<u8>) -> Option<Json> {
    if out.len() == 1 {
        return None;
    }
    out.push(b'}');
    Some(Json::from_valid(&written(out)))
}

/// The fields of an object that arrives in pieces, in the order of their first pieces. A server may send any number
/// of fields, so reading a piece does not search the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// Each with its place.
    fields: BTreeMap<String, (usize, Value)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Json(String),
    /// A string that grows.
    Text(String, Join),
}

impl Fields {
    /// The fields of this object, nulls included.
    pub fn of(object: &Object<'_>) -> Fields {
        let mut fields = Fields::default();
        for (key, json) in object.fields() {
            fields.set(key, json);
        }
        fields
    }

    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Adds a field, or replaces its value.
    pub fn set(&mut self, key: &str, json: &str) {
        *self.value(key) = Value::Json(json.to_owned());
    }

    /// Appends to a string. A value of another type is replaced.
    pub fn grow(&mut self, key: &str, more: &Piece<'_>) {
        let value = self.value(key);
        if let Value::Json(json) = value {
            let (mut before, mut half) = (String::new(), Join::default());
            half.push(&mut before, &Piece::of_json(json).unwrap_or_default());
            *value = Value::Text(before, half);
        }
        if let Value::Text(text, half) = value {
            half.push(text, more);
        }
    }

    fn value(&mut self, key: &str) -> &mut Value {
        let end = self.fields.len();
        let field = self.fields.entry(key.to_owned());
        &mut field.or_insert((end, Value::Json(String::new()))).1
    }

    /// Appends the fields to an object that is being written.
    pub fn push(&self, into: &mut Vec<u8>) {
        let mut fields: Vec<_> = self.fields.iter().collect();
        fields.sort_unstable_by_key(|(_, (place, _))| *place);
        for (key, (_, value)) in fields {
            match value {
                Value::Json(json) => push_any(into, key, json),
                Value::Text(text, half) => {
                    push_comma(into);
                    push_string(into, key);
                    into.push(b':');
                    let (mut text, mut half) = (text.clone(), *half);
                    half.end(&mut text);
                    push_string(into, &text);
                }
            }
        }
    }

    /// The complete object.
    pub fn to_json(&self) -> String {
        let mut out = b"{".to_vec();
        self.push(&mut out);
        out.push(b'}');
        written(out)
    }
}
