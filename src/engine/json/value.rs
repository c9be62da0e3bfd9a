//! JSON text as a `serde_json` value, for code that looks at a value more than once.
//!
//! It is used for schemas, the checks against them, and canonical texts, never for streams. [`read`] makes equal
//! numbers equal values, and rejects what `serde_json` cannot represent.

use serde_json::{Number, Value};

/// The most objects and arrays within each other that a value may have: `serde_json` reads no more.
pub const MAX_DEPTH: usize = 127;

/// Reads `json`. A whole number up to 64 bits becomes an integer however it is written, so 1, 1.0 and 10e-1 are
/// equal. A half of a surrogate pair becomes U+FFFD, as in the other readers of the engine.
///
/// # Errors
/// Text that is not valid JSON, a number beyond 1.8e308, or more than [`MAX_DEPTH`] levels. The error of `serde_json`
/// names the fault and its place.
pub fn read(json: &str) -> Result<Value, serde_json::Error> {
    let mut value = match serde_json::from_str(json) {
        Err(_) if json.contains("\\u") => serde_json::from_str(&with_whole_pairs(json))?,
        result => result?,
    };
    make_integers(&mut value);
    Ok(value)
}

/// The text of a value. Unlike `Value::to_string`, it shares its writer with the JSON of our own types.
pub fn written(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn make_integers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(integer) = number.as_f64().filter(|_| number.is_f64()).and_then(integer) {
                *number = integer;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_integers),
        Value::Object(fields) => fields.values_mut().for_each(make_integers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn integer(float: f64) -> Option<Number> {
    /// Two to the power of 64, and of 63: the first floats beyond the integer types.
    const END: f64 = 18_446_744_073_709_551_616.0;
    const NEGATIVE_END: f64 = -9_223_372_036_854_775_808.0;
    match float {
        _ if float.fract() != 0.0 => None,
        0.0..END => Some((float as u64).into()),
        NEGATIVE_END..0.0 => Some((float as i64).into()),
        _ => None,
    }
}

/// The text with U+FFFD in place of each escape that is a half of a surrogate pair.
fn with_whole_pairs(json: &str) -> String {
    let unit = |escape: &str| u16::from_str_radix(escape.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let mut whole = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        whole.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        let (escape, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        let is_half = length == 6 && matches!(unit(escape), Some(0xD800..=0xDFFF));
        whole.push_str(if is_half { "\u{fffd}" } else { escape });
        rest = after;
    }
    whole.push_str(rest);
    whole
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(one: &str, other: &str) -> bool {
        read(one).unwrap() == read(other).unwrap()
    }

    #[test]
    fn one_number_has_one_value_however_it_is_written() {
        for (one, other) in [
            ("0.1", "0.10"),
            ("1e23", "100000000000000000000000"),
            ("1", "1.000"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("25e-1", "2.5"),
            ("-3e2", "-300"),
            ("123456789012345678901234567890", "1.2345678901234567890e29"),
            ("18446744073709549568.0", "18446744073709549568"),
            ("-9223372036854775808.0", "-9223372036854775808"),
        ] {
            assert!(same(one, other), "{one} {other}");
            let nested = |number: &str| format!("{{\"a\":[{number}]}}");
            assert!(same(&nested(one), &nested(other)), "{one} {other}");
        }
        assert!(read("1e999").is_err());
        assert_eq!(read("1e-999").unwrap(), 0);
    }

    #[test]
    fn integers_of_64_bits_are_exact() {
        let ascending = [
            "-9223372036854775808",
            "-9007199254740993",
            "-9007199254740992.0",
            "0",
            "9007199254740992",
            "9007199254740993",
            "18446744073709551615",
            "18446744073709551616",
        ];
        for pair in ascending.windows(2) {
            assert!(!same(pair[0], pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn of_a_key_given_twice_the_last_value_counts_at_the_first_place() {
        assert_eq!(
            read(r#"{"a":1,"b":2,"a":3}"#).unwrap().to_string(),
            r#"{"a":3,"b":2}"#
        );
        let json = format!("{{{}\"a\":2}}", "\"a\":1,".repeat(500_000));
        assert_eq!(read(&json).unwrap().to_string(), "{\"a\":2}");
    }

    #[test]
    fn a_value_has_at_most_127_levels() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        assert!(read(&nested(MAX_DEPTH + 1)).is_err());
        assert!(read(&"[".repeat(1_000_000)).is_err());
    }

    #[test]
    fn half_of_a_surrogate_pair_is_replaced_and_a_whole_one_is_kept() {
        for (json, expected) in [
            (r#""\ud83d\ude00""#, "😀"),
            (r#""a\ud83dz""#, "a\u{fffd}z"),
            (r#""\ude00\u0041""#, "\u{fffd}A"),
            (r#""\ud83d\ud83d\ude00\/""#, "\u{fffd}😀/"),
            (r#""\\ud83d\ude00é""#, "\\ud83d\u{fffd}é"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
        ] {
            assert_eq!(read(json).unwrap(), expected, "{json}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in r#"[\[\]{}:,"\\udD80-9a-f eE.+é-]{0,40}"#) {
            if serde_json::from_str::<Value>(&text).is_ok() {
                prop_assert!(read(&text).is_ok());
            }
        }

        #[test]
        fn a_number_keeps_its_value(number in any::<f64>().prop_filter("finite", |number| number.is_finite())) {
            prop_assert_eq!(read(&format!("{number:e}")).unwrap().as_f64(), Some(number));
        }
    }
}
