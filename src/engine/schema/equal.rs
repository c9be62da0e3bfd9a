//! When two JSON values are the same: numbers by value (1 and 1.0), objects in any order.

use serde_json::{Number, Value};
use std::cmp::Ordering;

/// The values of an `enum`; strings are looked up, others compared one by one.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// In the order of the schema.
    pub all: Vec<Value>,
    sorted_strings: Vec<String>,
    others: Vec<Value>,
}

impl Choices {
    pub fn new(all: &[Value]) -> Choices {
        let mut choices = Choices {
            all: all.to_vec(),
            ..Choices::default()
        };
        for value in all {
            match value {
                Value::String(text) => choices.sorted_strings.push(text.clone()),
                other => choices.others.push(other.clone()),
            }
        }
        choices.sorted_strings.sort_unstable();
        choices
    }

    /// Whether `value` is among them; counts what it compares into `steps`.
    pub fn has(&self, value: &Value, steps: &mut usize) -> bool {
        match value {
            Value::String(text) => self.sorted_strings.binary_search(text).is_ok(),
            _ => self.others.iter().any(|other| same(value, other, steps)),
        }
    }
}

/// Whether two values are the same; counts what it compares into `steps`.
pub fn same(one: &Value, other: &Value, steps: &mut usize) -> bool {
    *steps += 1;
    match (one, other) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::String(one), Value::String(other)) => {
            *steps += one.len().min(other.len()) / 64;
            one == other
        }
        (Value::Number(one), Value::Number(other)) => compare(one, other) == Some(Ordering::Equal),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other, steps))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, one)| other.get(key).is_some_and(|other| same(one, other, steps)))
        }
        _ => false,
    }
}

/// Compares by value; exact between integers.
pub fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (integer(one), integer(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

/// Whether the number has no fraction: 1.0 is an integer.
pub fn is_integer(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// Whether `number` is a whole multiple of `divisor`, which is above 0. With fractions a relative error of
/// 1e-9 is allowed: 0.3 counts as a multiple of 0.1.
pub fn is_multiple(number: &Number, divisor: &Number) -> bool {
    if let (Some(number), Some(divisor)) = (integer(number), integer(divisor)) {
        return divisor != 0 && number % divisor == 0;
    }
    let (Some(number), Some(divisor)) = (number.as_f64(), divisor.as_f64()) else {
        return false;
    };
    let quotient = number / divisor;
    quotient.is_finite() && (quotient - quotient.round()).abs() <= 1e-9 * quotient.abs().max(1.0)
}

/// The value of an integer; of a float only below 1e38, where it is exact.
fn integer(number: &Number) -> Option<i128> {
    if number.is_f64() {
        let float = number.as_f64()?;
        return (float.fract() == 0.0 && float.abs() < 1e38).then_some(float as i128);
    }
    number
        .as_i64()
        .map(i128::from)
        .or_else(|| number.as_u64().map(i128::from))
}

/// The positions of two equal items, if there are any; counts its work into `steps` and stops at `limit`.
///
/// Items are sorted by a hash, so only those of equal hash are compared.
pub fn duplicate(items: &[Value], steps: &mut usize, limit: usize) -> Option<(usize, usize)> {
    let mut hashed: Vec<(u64, usize)> = Vec::with_capacity(items.len());
    for (position, item) in items.iter().enumerate() {
        hashed.push((hash(item, steps), position));
        if *steps > limit {
            return None;
        }
    }
    hashed.sort_unstable();
    for (place, (hash, first)) in hashed.iter().enumerate() {
        for (_, second) in hashed
            .iter()
            .skip(place + 1)
            .take_while(|(other, _)| other == hash)
        {
            if same(items.get(*first)?, items.get(*second)?, steps) {
                return Some((*first, *second));
            }
            if *steps > limit {
                return None;
            }
        }
    }
    None
}

/// Equal for values that are the same.
fn hash(value: &Value, steps: &mut usize) -> u64 {
    *steps += 1;
    match value {
        Value::Null => 1,
        Value::Bool(bool) => 2 + u64::from(*bool),
        Value::Number(number) => match integer(number) {
            Some(integer) => mix(5, integer as u64),
            None => mix(6, number.as_f64().unwrap_or_default().to_bits()),
        },
        Value::String(text) => hash_text(text, steps),
        Value::Array(items) => items.iter().fold(7, |seed, item| mix(seed, hash(item, steps))),
        // The sum does not depend on the order.
        Value::Object(fields) => fields.iter().fold(8, |sum: u64, (key, value)| {
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
