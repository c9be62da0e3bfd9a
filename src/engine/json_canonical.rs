//! One text for every JSON value: keys sorted by their code points, no blanks, numbers as they were written.
//!
//! Equal inputs have equal texts whatever the order of their keys; that is what repeats and traces compare.

use super::json_tree::{Tree, sorted};
use super::json_writer::{push_comma, push_key, push_string};

/// The canonical text of valid JSON; the text itself where it nests too deep to be read.
pub fn canonical(json: &str) -> String {
    let Some(tree) = Tree::parse(json) else {
        return json.to_owned();
    };
    let mut out = Vec::with_capacity(json.len());
    push(&tree, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

fn push(tree: &Tree<'_>, into: &mut Vec<u8>) {
    match tree {
        Tree::Object(members) => {
            let entries: Vec<_> = members.iter().collect();
            let key = |at: u32| entries.get(at as usize).map_or("", |(key, _)| key);
            into.push(b'{');
            for at in sorted(entries.len(), &mut |a, b| key(a) < key(b)) {
                if let Some((key, value)) = entries.get(at as usize) {
                    push_key(into, key);
                    push(value, into);
                }
            }
            into.push(b'}');
        }
        Tree::Array(items) => {
            into.push(b'[');
            for item in items {
                push_comma(into);
                push(item, into);
            }
            into.push(b']');
        }
        Tree::String(text) => push_string(into, text),
        other => into.extend_from_slice(other.to_json().as_bytes()),
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_and_blanks_makes_no_difference() {
        let one = r#"{"b": [1, {"d": null, "c": "\u00e9"}], "a": 1.0}"#;
        let other = "{\"a\":1.0,\"b\":[1,{\"c\":\"é\",\"d\":null}]}";
        assert_eq!(canonical(one), canonical(other));
        assert_eq!(canonical(one), other);
    }

    #[test]
    fn different_values_stay_different() {
        for (one, other) in [("1", "1.0"), ("[]", "{}"), ("\"1\"", "1"), ("[1,2]", "[2,1]")] {
            assert_ne!(canonical(one), canonical(other));
        }
    }
}
