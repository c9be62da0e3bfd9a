//! The parts of a compiled schema: nodes, and the rules that a node's keywords became.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Number, Value};

use crate::engine::schema::Schema;

/// An index into `Schema::nodes`.
pub type NodeIndex = usize;

#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The node that `tail` begins at; a pointer within the document is the tails of all nodes above.
    pub parent: NodeIndex,
    pub tail: String,
    pub rules: Vec<Rule>,
}

impl Schema {
    /// The JSON pointer of a node, made when it is told: texts of all pointers would be quadratic in a hostile schema.
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

/// A keyword, or a few that belong together.
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
    /// Those that are named, sorted by name, and all others.
    Properties(Vec<(String, NodeIndex)>, Additional),
    PropertyNames(NodeIndex),
    /// The first items, and all others.
    Items(Vec<NodeIndex>, Option<NodeIndex>),
    All(Vec<NodeIndex>),
    Any(Vec<NodeIndex>),
    One(Vec<NodeIndex>),
    Not(NodeIndex),
    /// The condition, what follows from it, and what follows if it does not hold.
    If(NodeIndex, Option<NodeIndex>, Option<NodeIndex>),
    Ref(NodeIndex),
}

#[derive(Clone, Copy, Debug)]
pub enum Additional {
    Allowed,
    Refused,
    Checked(NodeIndex),
}

/// The values of an `enum`, or the one of a `const`.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The word before them in a message.
    pub word: &'static str,
    /// In the order of the schema.
    pub all: Vec<Value>,
    set: HashSet<Value>,
}

impl Choices {
    pub fn new(word: &'static str, all: &[Value]) -> Choices {
        Choices {
            word,
            all: all.to_vec(),
            set: all.iter().cloned().collect(),
        }
    }

    /// Whether `value` is among them; counts its work into `steps`.
    pub fn has(&self, value: &Value, steps: &mut usize) -> bool {
        *steps += weight(value);
        self.set.contains(value)
    }
}

/// The steps of hashing or comparing a value.
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

/// The names of types, in the order in which they are told.
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

/// Whether a number has no fraction: an integer, or a float beyond them such as 1e30.
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

/// Whether `number` is a whole multiple of `divisor`, which is above 0. With fractions a relative error of 1e-9 is
/// allowed: 0.3 counts as a multiple of 0.1.
pub fn is_multiple(number: &Number, divisor: &Number) -> bool {
    if let (Some(number), Some(divisor)) = (number.as_i128(), divisor.as_i128()) {
        return number.checked_rem(divisor) == Some(0);
    }
    let quotient = number.as_f64().unwrap_or(f64::NAN) / divisor.as_f64().unwrap_or(f64::NAN);
    quotient.is_finite() && (quotient - quotient.round()).abs() <= 1e-9 * quotient.abs().max(1.0)
}
