//! Where the references within a document lead.

use super::push_segment;
use serde_json::Value;
use std::collections::BTreeMap;

/// Walks the JSON pointer of a URI fragment; gives back its canonical form, and what it points to.
pub fn follow<'a>(root: &'a Value, pointer: &str) -> Option<(String, &'a Value)> {
    let (mut canonical, mut value) = (String::new(), root);
    for escaped in percent_decoded(pointer).split('/').skip(1) {
        let segment = escaped.replace("~1", "/").replace("~0", "~");
        value = match value {
            Value::Object(fields) => fields.get(&segment)?,
            Value::Array(items) if segment == "0" || !segment.starts_with(['0', '+']) => {
                items.get(segment.parse::<usize>().ok()?)?
            }
            _ => return None,
        };
        push_segment(&mut canonical, &segment);
    }
    Some((canonical, value))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = |byte: &u8| char::from(*byte).to_digit(16);
        rest = after;
        match (first, after) {
            (b'%', [high, low, after @ ..]) => match (hex(high), hex(low)) {
                (Some(high), Some(low)) => {
                    bytes.push((high * 16 + low) as u8);
                    rest = after;
                }
                _ => bytes.push(first),
            },
            _ => bytes.push(first),
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// All anchors: `$anchor`, and draft-07's `$id` of a fragment.
pub fn anchors(root: &Value) -> BTreeMap<&str, (String, &Value)> {
    let mut anchors = BTreeMap::new();
    let mut pending = vec![(String::new(), root)];
    while let Some((pointer, value)) = pending.pop() {
        let mut visit = |segment: &str, child| {
            let mut pointer = pointer.clone();
            push_segment(&mut pointer, segment);
            pending.push((pointer, child));
        };
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(name, child)| visit(name, child));
                let text = |keyword| fields.get(keyword).and_then(Value::as_str);
                let old = text("$id").and_then(|id| id.strip_prefix('#'));
                for anchor in [text("$anchor"), old].into_iter().flatten() {
                    anchors.insert(anchor, (pointer.clone(), value));
                }
            }
            Value::Array(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, child)| visit(&index.to_string(), child));
            }
            _ => {}
        }
    }
    anchors
}
