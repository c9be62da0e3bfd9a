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
        ("1e-8", "0.1e-7"),
        ("0.1", "10e-2"),
    ] {
        assert_eq!(canonical(other), one);
        assert_eq!(canonical(one), one);
    }
    let large = "[18446744073709551615,9007199254740993,-9223372036854775808]";
    assert_eq!(canonical(large), large);
    assert_eq!(canonical("1e30"), canonical(&["1", &"0".repeat(30)].concat()));
}

#[test]
fn keys_are_in_the_order_that_javascript_sorts_them() {
    assert_eq!(canonical(r#"{"\uffff":1,"😀":2}"#), "{\"😀\":2,\"\u{ffff}\":1}");
}

#[test]
fn canonical_text_is_json_and_its_own_canonical_text() {
    let text = r#"{"z\"\\":[1e300,-0.5,"\ud83d"],"":{"b":true,"a":null}}"#;
    let expected = "{\"\":{\"a\":null,\"b\":true},\"z\\\"\\\\\":[1e+300,-0.5,\"\u{fffd}\"]}";
    assert_eq!(canonical(text), expected);
    assert_eq!(canonical(expected), expected);
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
