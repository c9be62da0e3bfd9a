//! The parts of a compiled schema: nodes, and the rules that their keywords became.
//!
//! The compiler builds them once, the checker reads them for each call, and nothing changes them in between. Nodes
//! refer to each other by index, so a recursive schema needs no shared pointers. Numbers compare by value here,
//! exactly between integers.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Number, Value};

use crate::engine::json::canonical::canonical_value;
use crate::engine::schema::Schema;

/// An index into `Schema::nodes`.
pub type NodeIndex = usize;

#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The node where `tail` begins. A pointer within the document consists of the tails of all nodes above it.
    pub parent: NodeIndex,
    pub tail: String,
    pub rules: Vec<Rule>,
}

impl Schema {
    /// The JSON pointer of a node, built on demand: the texts of all pointers would be quadratic in a hostile schema.
    pub fn pointer(&self, mut index: NodeIndex) -> String {
        let mut tails = Vec::new();
        while let Some(node) = self.nodes.get(index).filter(|_| index > 0) {
            tails.push(node.tail.as_str());
            index = node.parent;
        }
        tails.reverse();
        tails.concat()
    }
}

/// A keyword, or a few keywords that belong together.
#[derive(Clone, Debug)]
pub enum Rule {
    Nothing,
    Type(Vec<&'static str>),
    Choice(Choices),
    /// One of the four bounds of a number.
    Bound(String, Number),
    MultipleOf(Number),
    /// One of the six bounds of a length.
    Size(String, u64),
    UniqueItems,
    Required(Vec<String>),
    /// The named properties, sorted by name, and all others.
    Properties(Vec<(String, NodeIndex)>, Additional),
    PropertyNames(NodeIndex),
    /// The first items, and all others.
    Items(Vec<NodeIndex>, Option<NodeIndex>),
    All(Vec<NodeIndex>),
    Any(Vec<NodeIndex>),
    One(Vec<NodeIndex>),
    Not(NodeIndex),
    /// The condition, the schema for values that meet it, and the schema for all others.
    If(NodeIndex, Option<NodeIndex>, Option<NodeIndex>),
    Ref(NodeIndex),
}

#[derive(Clone, Copy, Debug)]
pub enum Additional {
    Allowed,
    Refused,
    Checked(NodeIndex),
}

/// The values of an `enum`, or the value of a `const`.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The word that introduces them in a message.
    pub word: &'static str,
    /// The values in the order of the schema.
    pub all: Vec<Value>,
    /// Their canonical texts.
    texts: HashSet<String>,
}

impl Choices {
    pub fn new(word: &'static str, all: &[Value]) -> Choices {
        Choices {
            word,
            all: all.to_vec(),
            texts: all.iter().map(canonical_value).collect(),
        }
    }

    /// True when `value` is one of them. Counts its work into `steps`.
    pub fn has(&self, value: &Value, steps: &mut usize) -> bool {
        *steps += weight(value);
        self.texts.contains(&canonical_value(value))
    }
}

/// The steps of writing a value's canonical text.
pub fn weight(value: &Value) -> usize {
    1 + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len() / 64,
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| name.len() / 64 + weight(value))
            .sum(),
    }
}

/// The names of the types, in the order in which messages list them.
pub const TYPES: [&str; 7] = [
    "null", "boolean", "object", "array", "string", "integer", "number",
];

pub fn is_of_type(value: &Value, name: &str) -> bool {
    match (name, value) {
        ("null", Value::Null) | ("boolean", Value::Bool(_)) | ("string", Value::String(_)) => true,
        ("object", Value::Object(_)) | ("array", Value::Array(_)) | ("number", Value::Number(_)) => true,
        ("integer", Value::Number(number)) => is_whole(number),
        _ => false,
    }
}

/// True when a number has no fraction: an integer, or a float beyond the integers such as 1e30.
pub fn is_whole(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// Compares by value; exact between integers.
pub fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

/// True when `number` is a whole multiple of `divisor`, which is above 0. Fractions may be off by a relative error of
/// 1e-9, so 0.3 is a multiple of 0.1.
pub fn is_multiple(number: &Number, divisor: &Number) -> bool {
    if let (Some(number), Some(divisor)) = (number.as_i128(), divisor.as_i128()) {
        return number.checked_rem(divisor) == Some(0);
    }
    let quotient = number.as_f64().unwrap_or(f64::NAN) / divisor.as_f64().unwrap_or(f64::NAN);
    quotient.is_finite() && (quotient - quotient.round()).abs() <= 1e-9 * quotient.abs().max(1.0)
}
