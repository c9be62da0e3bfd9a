//! A JSON value as a tree that borrows from its text, for what must look at it more than once: schemas.
//!
//! Numbers stay the text that they were written as. Of a key given twice the last value counts, at the first place.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::engine::json::cursor::Cursor;
use crate::engine::json::writer::{push_any, push_comma, push_string};

/// The most objects and arrays within each other that a tree may have.
pub const MAX_DEPTH: usize = 127;

#[derive(Clone, Debug)]
pub enum Tree<'a> {
    Null,
    Bool(bool),
    Number(Cow<'a, str>),
    String(Cow<'a, str>),
    Array(Vec<Tree<'a>>),
    Object(Members<'a>),
}

impl<'a> Tree<'a> {
    /// Reads `json`, which must be valid. `None` if it nests more than [`MAX_DEPTH`] levels.
    pub fn parse(json: &'a str) -> Option<Tree<'a>> {
        read(json, &mut Cursor::new(json.as_bytes()), 0)
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Tree::String(text) => Some(text),
            _ => None,
        }
    }

    /// The member `key` of an object.
    pub fn get(&self, key: &str) -> Option<&Tree<'a>> {
        match self {
            Tree::Object(members) => members.get(key),
            _ => None,
        }
    }

    /// The same without the text that it was read from.
    pub fn detached(&self) -> Tree<'static> {
        let own = |text: &str| Cow::Owned(text.to_owned());
        match self {
            Tree::Null => Tree::Null,
            Tree::Bool(is) => Tree::Bool(*is),
            Tree::Number(text) => Tree::Number(own(text)),
            Tree::String(text) => Tree::String(own(text)),
            Tree::Array(items) => Tree::Array(items.iter().map(Tree::detached).collect()),
            Tree::Object(members) => {
                let mut entries = Vec::with_capacity(members.len());
                for (key, value) in members.iter() {
                    entries.push((own(key), value.detached()));
                }
                Tree::Object(Members::new(entries))
            }
        }
    }

    /// Its JSON text without blanks.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.push_json(&mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    fn push_json(&self, into: &mut Vec<u8>) {
        match self {
            Tree::Null => into.extend_from_slice(b"null"),
            Tree::Bool(true) => into.extend_from_slice(b"true"),
            Tree::Bool(false) => into.extend_from_slice(b"false"),
            Tree::Number(text) => into.extend_from_slice(text.as_bytes()),
            Tree::String(text) => push_string(into, text),
            Tree::Array(items) => {
                into.push(b'[');
                for item in items {
                    push_comma(into);
                    item.push_json(into);
                }
                into.push(b']');
            }
            Tree::Object(members) => {
                into.push(b'{');
                for (key, value) in members.iter() {
                    push_any(into, key, "");
                    value.push_json(into);
                }
                into.push(b'}');
            }
        }
    }
}

/// The members of an object, in the order of the text.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    entries: Vec<(Cow<'a, str>, Tree<'a>)>,
    /// The entries by key, if there are many.
    order: Vec<u32>,
}

/// Up to this many members a key is searched from the first on.
const FEW: usize = 8;

impl<'a> Members<'a> {
    fn new(entries: Vec<(Cow<'a, str>, Tree<'a>)>) -> Members<'a> {
        let mut order = Vec::new();
        if entries.len() > FEW {
            order = sorted(entries.len(), &mut |a, b| key(&entries, a) < key(&entries, b));
        }
        Members { entries, order }
    }

    /// The same where a key may come twice.
    fn unique(mut entries: Vec<(Cow<'a, str>, Tree<'a>)>) -> Members<'a> {
        // By key, and by place where keys are equal.
        let order = sorted(entries.len(), &mut |a, b| {
            (key(&entries, a), a) < (key(&entries, b), b)
        });
        let mut gone = vec![false; entries.len()];
        let mut first = None;
        for &at in &order {
            match first {
                Some(first) if key(&entries, first) == key(&entries, at) => {
                    if let Some((_, value)) = entries.get_mut(at as usize) {
                        let value = std::mem::replace(value, Tree::Null);
                        if let Some((_, old)) = entries.get_mut(first as usize) {
                            *old = value;
                        }
                    }
                    if let Some(gone) = gone.get_mut(at as usize) {
                        *gone = true;
                    }
                }
                _ => first = Some(at),
            }
        }
        if !gone.contains(&true) {
            return Members { entries, order };
        }
        let mut kept = Vec::with_capacity(entries.len());
        for (at, entry) in entries.into_iter().enumerate() {
            if gone.get(at) == Some(&false) {
                kept.push(entry);
            }
        }
        Members::new(kept)
    }

    pub fn get(&self, wanted: &str) -> Option<&Tree<'a>> {
        if self.order.is_empty() {
            return self
                .iter()
                .find(|(key, _)| *key == wanted)
                .map(|(_, value)| value);
        }
        let (mut from, mut to) = (0, self.order.len());
        while from < to {
            let middle = (from + to) / 2;
            let (found, value) = self.entries.get(*self.order.get(middle)? as usize)?;
            match found.as_ref().cmp(wanted) {
                Ordering::Less => from = middle + 1,
                Ordering::Equal => return Some(value),
                Ordering::Greater => to = middle,
            }
        }
        None
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tree<'a>)> {
        self.entries.iter().map(|(key, value)| (key.as_ref(), value))
    }
}

fn key<'e>(entries: &'e [(Cow<'_, str>, Tree<'_>)], at: u32) -> &'e str {
    entries.get(at as usize).map_or("", |(key, _)| key)
}

/// The numbers below `length` in the order that `is_less` gives them: heap sort, which is small and needs no luck.
pub fn sorted(length: usize, is_less: &mut dyn FnMut(u32, u32) -> bool) -> Vec<u32> {
    let mut order: Vec<u32> = (0..length as u32).collect();
    for root in (0..length / 2).rev() {
        sift_down(&mut order, root, is_less);
    }
    for end in (1..length).rev() {
        order.swap(0, end);
        if let Some(heap) = order.get_mut(..end) {
            sift_down(heap, 0, is_less);
        }
    }
    order
}

fn sift_down(heap: &mut [u32], mut root: usize, is_less: &mut dyn FnMut(u32, u32) -> bool) {
    loop {
        let (mut child, Some(&parent)) = (2 * root + 1, heap.get(root)) else {
            return;
        };
        let Some(&left) = heap.get(child) else { return };
        let mut largest = left;
        if let Some(&right) = heap.get(child + 1)
            && is_less(left, right)
        {
            child += 1;
            largest = right;
        }
        if !is_less(parent, largest) {
            return;
        }
        heap.swap(root, child);
        root = child;
    }
}

fn read<'a>(json: &'a str, cursor: &mut Cursor<'a>, depth: usize) -> Option<Tree<'a>> {
    let first = cursor.peek()?;
    if matches!(first, b'[' | b'{') && depth == MAX_DEPTH {
        return None;
    }
    Some(match first {
        b'[' => {
            let mut items = Vec::new();
            let mut more = begin(cursor, b']');
            while more {
                items.push(read(json, cursor, depth + 1)?);
                more = goes_on(cursor, b']')?;
            }
            Tree::Array(items)
        }
        b'{' => {
            let mut entries: Vec<(Cow<'a, str>, Tree<'a>)> = Vec::new();
            let mut more = begin(cursor, b'}');
            let mut is_unique = true;
            while more {
                let key = cursor.string()?.to_text();
                cursor.eat(b':')?;
                let value = read(json, cursor, depth + 1)?;
                is_unique &= entries.len() < FEW && !entries.iter().any(|(other, _)| *other == key);
                entries.push((key, value));
                more = goes_on(cursor, b'}')?;
            }
            Tree::Object(if is_unique {
                Members::new(entries)
            } else {
                Members::unique(entries)
            })
        }
        b'"' => Tree::String(cursor.string()?.to_text()),
        other => {
            let from = cursor.position();
            cursor.skip_value()?;
            match other {
                b'n' => Tree::Null,
                b't' => Tree::Bool(true),
                b'f' => Tree::Bool(false),
                _ => Tree::Number(Cow::Borrowed(json.get(from..cursor.position())?)),
            }
        }
    })
}

/// Passes the opening bracket; whether anything stands before the closing one.
fn begin(cursor: &mut Cursor<'_>, close: u8) -> bool {
    cursor.step(1);
    cursor.eat(close).is_none()
}

/// Passes a comma or the closing bracket; whether it was a comma.
fn goes_on(cursor: &mut Cursor<'_>, close: u8) -> Option<bool> {
    if cursor.eat(b',').is_some() {
        return Some(true);
    }
    cursor.eat(close).map(|()| false)
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn of_a_key_given_twice_the_last_value_counts_at_the_first_place() {
        for keys in ["abab", "aaaaaaaaaaaa", "abcdefghijkabcklm", "zyxwvutsrqponmz"] {
            let fields: Vec<String> = keys
                .chars()
                .enumerate()
                .map(|(at, key)| format!("\"{key}\":{at}"))
                .collect();
            let json = format!("{{{}}}", fields.join(","));
            let tree = Tree::parse(&json).unwrap();
            let value: Value = serde_json::from_str(&json).unwrap();
            assert_eq!(tree.to_json(), value.to_string());
            for key in keys.chars() {
                let key = key.to_string();
                assert_eq!(tree.get(&key).unwrap().to_json(), value[&key].to_string());
            }
            assert!(tree.get("no").is_none());
        }
    }

    #[test]
    fn a_key_given_half_a_million_times_does_not_hold_the_reader() {
        let json = ["{", &"\"a\":1,".repeat(500_000), "\"a\":2}"].concat();
        assert_eq!(Tree::parse(&json).unwrap().to_json(), "{\"a\":2}");
    }

    #[test]
    fn a_tree_has_at_most_127_levels() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(Tree::parse(&nested(MAX_DEPTH)).is_some());
        assert!(Tree::parse(&nested(MAX_DEPTH + 1)).is_none());
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 60, 12, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec(("[a-f]{1,2}", inner), 0..14)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_tree_is_the_value_that_serde_json_reads(value in any_value()) {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let tree = Tree::parse(&pretty).unwrap();
            let again: Value = serde_json::from_str(&tree.detached().to_json()).unwrap();
            prop_assert_eq!(again.to_string(), value.to_string());
            if let Value::Object(fields) = &value {
                for (key, value) in fields {
                    prop_assert_eq!(tree.get(key).unwrap().to_json(), serde_json::from_str::<Value>(&value.to_string()).unwrap().to_string());
                }
            }
        }

        #[test]
        fn sorting_sorts(numbers in proptest::collection::vec(any::<u8>(), 0..50)) {
            let order = sorted(numbers.len(), &mut |a, b| (numbers[a as usize], a) < (numbers[b as usize], b));
            let mut expected: Vec<u32> = (0..numbers.len() as u32).collect();
            expected.sort_by_key(|at| numbers[*at as usize]);
            prop_assert_eq!(order, expected);
        }
    }
}
