//! What a JSON number is worth: numbers are kept as their text, and only compared.

use std::cmp::Ordering;

use crate::engine::json::reader::whole;

/// The value of a JSON number to about 15 digits; equal values have equal results however they are written.
///
/// The standard library's parser rounds exactly and weighs 15 kB.
pub fn float(number: &str) -> f64 {
    let (is_negative, mut rest) = match number.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (mut digits, mut exponent, mut in_fraction) = (0u64, 0i64, false);
    while let [byte, after @ ..] = rest {
        match byte {
            b'0'..=b'9' if digits < 1_000_000_000_000_000_000 => {
                digits = digits * 10 + u64::from(byte - b'0');
                exponent -= i64::from(in_fraction);
            }
            b'0'..=b'9' => exponent += i64::from(!in_fraction),
            b'.' => in_fraction = true,
            _ => break,
        }
        rest = after;
    }
    if let [_, power @ ..] = rest {
        let (is_down, power) = match power {
            [b'-', power @ ..] => (true, power),
            [b'+', power @ ..] | power => (false, power),
        };
        let power = power.iter().fold(0i64, |sum, byte| {
            (sum * 10 + i64::from(byte.wrapping_sub(b'0'))).min(100_000)
        });
        exponent += if is_down { -power } else { power };
    }
    while digits != 0 && digits.is_multiple_of(10) {
        digits /= 10;
        exponent += 1;
    }
    let mut value = digits as f64;
    // 1e308 is about the largest: smaller numbers with many digits are scaled in two steps.
    while exponent < 0 && value != 0.0 {
        let step = exponent.max(-300);
        value /= power_of_ten(step.unsigned_abs());
        exponent -= step;
    }
    if exponent > 0 && value != 0.0 {
        value *= power_of_ten(exponent.unsigned_abs());
    }
    if is_negative { -value } else { value }
}

fn power_of_ten(mut exponent: u64) -> f64 {
    let (mut power, mut square) = (1.0, 10.0);
    if exponent > 308 {
        return f64::INFINITY;
    }
    while exponent > 0 {
        if exponent & 1 == 1 {
            power *= square;
        }
        square *= square;
        exponent >>= 1;
    }
    power
}

/// An integer of up to 64 bits and its sign. Ordered by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// Zero is positive.
    pub is_positive: bool,
    pub magnitude: u64,
}

impl Integer {
    pub(crate) fn cmp(&self, other: &Integer) -> Ordering {
        match (self.is_positive, other.is_positive) {
            (true, true) => self.magnitude.cmp(&other.magnitude),
            (false, false) => other.magnitude.cmp(&self.magnitude),
            (is_positive, _) => is_positive.cmp(&other.is_positive),
        }
    }
}

/// The exact value of a number that is an integer of up to 64 bits, be it written as 1, 1.0 or 1e0.
pub fn integer(number: &str) -> Option<Integer> {
    let (is_negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number),
    };
    let magnitude = whole(digits).or_else(|| {
        let float = float(digits);
        // Two to the power of 64.
        if float.fract() == 0.0 && float < 18_446_744_073_709_551_616.0 {
            Some(float as u64)
        } else {
            None
        }
    })?;
    Some(Integer {
        is_positive: !is_negative || magnitude == 0,
        magnitude,
    })
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_number_has_one_value_however_it_is_written() {
        for (one, other) in [
            ("0.1", "0.10"),
            ("1e23", "100000000000000000000000"),
            ("1", "1.000"),
            ("-0", "0"),
            ("25e-1", "2.5"),
            ("123456789012345678901234567890", "1.2345678901234567890e29"),
        ] {
            assert_eq!(float(one), float(other), "{one} {other}");
        }
        assert_eq!(float("1e999"), f64::INFINITY);
        assert_eq!(float("1e-999"), 0.0);
    }

    #[test]
    fn integers_are_exact_and_ordered() {
        let ascending = [
            "-18446744073709551615",
            "-9007199254740993",
            "-9007199254740992.0",
            "-2",
            "-0",
            "1.0",
            "2e0",
            "9007199254740992",
            "9007199254740993",
            "18446744073709551615",
        ];
        for pair in ascending.windows(2) {
            let (one, other) = (integer(pair[0]).unwrap(), integer(pair[1]).unwrap());
            assert_eq!(one.cmp(&other), Ordering::Less, "{pair:?}");
            assert_eq!(other.cmp(&one), Ordering::Greater, "{pair:?}");
        }
        assert_eq!(integer("-0"), integer("0.0"));
        for text in ["18446744073709551616", "1.5", "1e30"] {
            assert_eq!(integer(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_float_is_as_exact_as_its_digits(number in any::<f64>().prop_filter("finite", |number| number.is_finite())) {
            let value = float(&format!("{number:e}"));
            prop_assert!((value - number).abs() <= number.abs() * 1e-14 || number.abs() < 1e-290, "{value} {number}");
        }
    }
}
