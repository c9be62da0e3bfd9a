use super::*;
use proptest::prelude::*;
use serde::de::IgnoredAny;

fn told(text: &str) -> Option<String> {
    check(text).err().map(|fault| fault.describe(text))
}

fn oracle(text: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(text)
        .err()
        .map(|error| error.to_string())
}

#[test]
fn every_fault_has_the_words_and_the_place_of_serde_json() {
    for text in [
        "",
        " ",
        "\n",
        "{",
        "[\n",
        "{\n",
        "{\"",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "[1,",
        "[1",
        "nul",
        "nulL",
        "tru",
        "falsE",
        "-",
        "-a",
        "01",
        "-01",
        "1.",
        "1.e",
        "1e",
        "1e+",
        "1ea",
        "1.5e-3x",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"a\nb\"",
        "\"\u{1}\"",
        "[1}",
        "{\"a\":1]",
        "{1:2}",
        "{\"a\" 1}",
        "[,]",
        "[1,]",
        "{\"a\":1,}",
        "{,}",
        "1 2",
        "{}}",
        "é",
        "\"é\"x",
        "[1\n,\n x]",
        "{\"a\":\n",
        "+1",
        ".5",
        "[]",
        "{}",
        " [ { \"a\" : [ 1.5e+3 , null ] } ] ",
    ] {
        assert_eq!(told(text), oracle(text), "{text:?}");
    }
}

#[test]
fn depth_needs_no_stack() {
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    assert_eq!(check(&deep), Ok(()));
    assert!(check(&deep[1..]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn whatever_the_text_both_say_the_same(text in r#"[ \n{}\[\]":,\\u0eE.+\-a1tnulrfs"é]{0,24}"#) {
        prop_assert_eq!(told(&text), oracle(&text));
    }

    #[test]
    fn damaged_json_is_judged_alike(text in r#"(\{"[a-c]{1,3}":(\[-?[0-9]{1,3}(\.[0-9])?(e[0-9])?,true\]|"\\u00e9\\n"|null)\}){1,2}"#, at in 0usize..60, byte in r#"[ -~\n]"#) {
        let mut damaged = text.clone();
        let at = at % text.len();
        damaged.replace_range(at..at + 1, &byte);
        prop_assert_eq!(told(&damaged), oracle(&damaged));
        prop_assert_eq!(told(&text), oracle(&text));
    }
}
