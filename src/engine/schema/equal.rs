//! When two JSON values are the same: numbers by value (1 and 1.0), objects in any order.

use crate::engine::json::number::{float, integer};
use crate::engine::json::tree::{Tree, sorted};
use std::cmp::Ordering;

/// The values of an `enum`; strings are looked up, others compared one by one.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// In the order of the schema.
    pub all: Vec<Tree<'static>>,
    sorted_strings: Vec<String>,
    others: Vec<Tree<'static>>,
}

impl Choices {
    pub fn new(all: &[Tree<'_>]) -> Choices {
        let mut choices = Choices::default();
        let mut strings: Vec<&str> = Vec::new();
        for value in all {
            choices.all.push(value.detached());
            match value {
                Tree::String(text) => strings.push(text),
                other => choices.others.push(other.detached()),
            }
        }
        let text = |at: u32| strings.get(at as usize).copied().unwrap_or_default();
        for at in sorted(strings.len(), &mut |a, b| text(a) < text(b)) {
            choices.sorted_strings.push(text(at).to_owned());
        }
        choices
    }

    /// Whether `value` is among them; counts what it compares into `steps`.
    pub fn has(&self, value: &Tree<'_>, steps: &mut usize) -> bool {
        match value {
            Tree::String(text) => self
                .sorted_strings
                .binary_search_by(|known| known.as_str().cmp(text))
                .is_ok(),
            _ => self.others.iter().any(|other| same(value, other, steps)),
        }
    }
}

/// Whether two values are the same; counts what it compares into `steps`.
pub fn same(one: &Tree<'_>, other: &Tree<'_>, steps: &mut usize) -> bool {
    *steps += 1;
    match (one, other) {
        (Tree::Null, Tree::Null) => true,
        (Tree::Bool(one), Tree::Bool(other)) => one == other,
        (Tree::String(one), Tree::String(other)) => {
            *steps += one.len().min(other.len()) / 64;
            one == other
        }
        (Tree::Number(one), Tree::Number(other)) => compare(one, other) == Some(Ordering::Equal),
        (Tree::Array(one), Tree::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other, steps))
        }
        (Tree::Object(one), Tree::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, one)| other.get(key).is_some_and(|other| same(one, other, steps)))
        }
        _ => false,
    }
}

/// Compares by value; exact between integers.
pub fn compare(one: &str, other: &str) -> Option<Ordering> {
    match (integer(one), integer(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => float(one).partial_cmp(&float(other)),
    }
}

/// Whether `number` is a whole multiple of `divisor`, which is above 0. With fractions a relative error of
/// 1e-9 is allowed: 0.3 counts as a multiple of 0.1.
pub fn is_multiple(number: &str, divisor: &str) -> bool {
    if let (Some(number), Some(divisor)) = (integer(number), integer(divisor)) {
        return divisor.magnitude != 0 && number.magnitude % divisor.magnitude == 0;
    }
    let quotient = float(number) / float(divisor);
    quotient.is_finite() && (quotient - quotient.round()).abs() <= 1e-9 * quotient.abs().max(1.0)
}

/// The positions of two equal items, if there are any; counts its work into `steps` and stops at `limit`.
///
/// Items are sorted by a hash, so only those of equal hash are compared.
pub fn duplicate(items: &[Tree<'_>], steps: &mut usize, limit: usize) -> Option<(usize, usize)> {
    let mut hashes: Vec<u64> = Vec::with_capacity(items.len());
    for item in items {
        hashes.push(hash(item, steps));
        if *steps > limit {
            return None;
        }
    }
    let hash = |at: u32| hashes.get(at as usize).copied().unwrap_or_default();
    let order = sorted(items.len(), &mut |a, b| (hash(a), a) < (hash(b), b));
    for (place, first) in order.iter().enumerate() {
        for second in order.iter().skip(place + 1) {
            if hash(*first) != hash(*second) {
                break;
            }
            let (first, second) = (*first as usize, *second as usize);
            if same(items.get(first)?, items.get(second)?, steps) {
                return Some((first, second));
            }
            if *steps > limit {
                return None;
            }
        }
    }
    None
}

/// Equal for values that are the same.
fn hash(value: &Tree<'_>, steps: &mut usize) -> u64 {
    *steps += 1;
    match value {
        Tree::Null => 1,
        Tree::Bool(bool) => 2 + u64::from(*bool),
        Tree::Number(number) => match integer(number) {
            Some(integer) => mix(5 + u64::from(integer.is_positive), integer.magnitude),
            None => mix(9, float(number).to_bits()),
        },
        Tree::String(text) => hash_text(text, steps),
        Tree::Array(items) => items.iter().fold(7, |seed, item| mix(seed, hash(item, steps))),
        // The sum does not depend on the order.
        Tree::Object(fields) => fields.iter().fold(8, |sum: u64, (key, value)| {
            sum.wrapping_add(mix(hash_text(key, steps), hash(value, steps)))
        }),
    }
}

fn hash_text(text: &str, steps: &mut usize) -> u64 {
    *steps += text.len() / 64;
    text.bytes().fold(4, |seed, byte| {
        (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn mix(seed: u64, value: u64) -> u64 {
    let mixed = (seed.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}
