//! The fields of a vendor that have no neutral form: kept as JSON beside a block, and written back.
//!
//! The decoders collect them with [`others`] and [`object_of`], the encoders of the vendor write them with
//! [`push_vendor`]. A field that is null counts as absent.

use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_any, push_others, written};
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
