//! Gives the keys of a call's input their own names back, where they have others on the wire, and the other way
//! round.
//!
//! The answer calls [`with_own_names`] when a call has ended, the encoders [`with_wire_names`] for the history: a
//! vendor may compare what it wrote. Every value is copied as it is written. Nothing fails.

use looplet_scan::reader::{Object, items};

use crate::engine::json::writer::{push_comma, push_string, written};

/// The nesting that is looked at. Deeper values stay as they are.
const MAX_DEPTH: usize = 64;

/// An input of a call with the tool's own names, at every depth. A pair is the name on the wire and the own one.
pub fn with_own_names(json: &str, names: &[(String, String)]) -> String {
    let to_own: Vec<(&str, &str)> = names.iter().map(|(wire, own)| (&**wire, &**own)).collect();
    renamed(json, &to_own)
}

/// An input of a call with the names on the wire, at every depth.
pub fn with_wire_names(json: &str, names: &[(String, String)]) -> String {
    let to_wire: Vec<(&str, &str)> = names.iter().map(|(wire, own)| (&**own, &**wire)).collect();
    renamed(json, &to_wire)
}

fn renamed(json: &str, names: &[(&str, &str)]) -> String {
    let mut out = Vec::new();
    push(json.trim_ascii(), names, &mut out, 0);
    written(out)
}

fn push(json: &str, names: &[(&str, &str)], out: &mut Vec<u8>, depth: usize) {
    if depth > MAX_DEPTH {
        return out.extend_from_slice(json.as_bytes());
    }
    if let Some(object) = Object::parse(json) {
        out.push(b'{');
        for (key, value) in object.fields() {
            let other = names.iter().find(|(from, _)| *from == key);
            push_comma(out);
            push_string(out, other.map_or(key, |(_, to)| to));
            out.push(b':');
            push(value, names, out, depth + 1);
        }
        out.push(b'}');
    } else if let Some(list) = items(json) {
        out.push(b'[');
        for value in list {
            push_comma(out);
            push(value, names, out, depth + 1);
        }
        out.push(b']');
    } else {
        out.extend_from_slice(json.as_bytes());
    }
}
