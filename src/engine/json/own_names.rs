//! Gives the keys of a call's input their own names back, where they have others on the wire.
//!
//! The answer calls [`with_own_names`] when a call has ended. It copies every value as it is written. Nothing fails.

use looplet_scan::reader::{Object, items};

use crate::engine::json::writer::{push_comma, push_string, written};

/// The nesting that is looked at. Deeper values stay as they are.
const MAX_DEPTH: usize = 64;

/// An input of a call with the tool's own names, at every depth.
pub fn with_own_names(json: &str, names: &[(String, String)]) -> String {
    let mut out = Vec::new();
    push_own(json.trim_ascii(), names, &mut out, 0);
    written(out)
}

fn push_own(json: &str, names: &[(String, String)], out: &mut Vec<u8>, depth: usize) {
    if depth > MAX_DEPTH {
        return out.extend_from_slice(json.as_bytes());
    }
    if let Some(object) = Object::parse(json) {
        out.push(b'{');
        for (key, value) in object.fields() {
            let own = names.iter().find(|(wire, _)| wire == key);
            push_comma(out);
            push_string(out, own.map_or(key, |(_, own)| own));
            out.push(b':');
            push_own(value, names, out, depth + 1);
        }
        out.push(b'}');
    } else if let Some(list) = items(json) {
        out.push(b'[');
        for value in list {
            push_comma(out);
            push_own(value, names, out, depth + 1);
        }
        out.push(b']');
    } else {
        out.extend_from_slice(json.as_bytes());
    }
}
