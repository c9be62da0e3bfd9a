//! One text for every JSON value: keys sorted by their UTF-16 code units, no blanks, integers of up to 64 bits in digits
//! alone, fractions without zeros at their end. That is RFC 8785 but for numbers with an exponent that are no such
//! integers: they stay as they were written.
//!
//! Equal inputs have equal texts whatever the order of their keys; that is what repeats and traces compare.

use crate::engine::json::number::integer;
use crate::engine::json::tree::{Tree, sorted};
use crate::engine::json::writer::{push_comma, push_key, push_number, push_string};

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
            for at in sorted(entries.len(), &mut |a, b| {
                key(a).encode_utf16().lt(key(b).encode_utf16())
            }) {
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
        Tree::Number(number) => push_plain(number, into),
        other => into.extend_from_slice(other.to_json().as_bytes()),
    }
}

/// For a tool 1, 1.0 and 10e-1 are one value.
fn push_plain(number: &str, into: &mut Vec<u8>) {
    if let Some(integer) = integer(number) {
        if !integer.is_positive {
            into.push(b'-');
        }
        push_number(into, integer.magnitude);
    } else if number.contains('.') && !number.contains(['e', 'E']) {
        into.extend_from_slice(number.trim_end_matches('0').as_bytes());
    } else {
        into.extend_from_slice(number.as_bytes());
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_and_blanks_makes_no_difference() {
        let one = r#"{"b": [1, {"d": null, "c": "\u00e9"}], "a": 1.5}"#;
        let other = "{\"a\":1.5,\"b\":[1,{\"c\":\"é\",\"d\":null}]}";
        assert_eq!(canonical(one), canonical(other));
        assert_eq!(canonical(one), other);
    }

    #[test]
    fn s003_22_one_number_has_one_text_however_it_is_written() {
        for (one, other) in [
            ("1", "1.0"),
            ("100", "1e2"),
            ("0", "-0.0"),
            ("-2", "-20e-1"),
            ("2.5", "2.500"),
        ] {
            assert_eq!(canonical(other), one);
            assert_eq!(canonical(one), one);
        }
        let large = "[18446744073709551615,9007199254740993,0.1e-7]";
        assert_eq!(canonical(large), large);
    }

    #[test]
    fn keys_are_in_the_order_that_javascript_sorts_them() {
        assert_eq!(canonical(r#"{"\uffff":1,"😀":2}"#), "{\"😀\":2,\"\u{ffff}\":1}");
    }

    #[test]
    fn different_values_stay_different() {
        for (one, other) in [
            ("1", "1.5"),
            ("10", "1"),
            ("1e30", "1e31"),
            ("9007199254740993", "9007199254740992"),
            ("[]", "{}"),
            ("\"1\"", "1"),
            ("[1,2]", "[2,1]"),
        ] {
            assert_ne!(canonical(one), canonical(other));
        }
    }
}
