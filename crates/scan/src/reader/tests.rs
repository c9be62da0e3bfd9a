use super::*;

#[test]
fn fields_come_as_their_own_text_and_the_last_of_a_key_counts() {
    let json = r#" { "a" : 1.50 , "b\u0041":[1, {"x":"]}\""}], "a":12345678901234567890, "n":null } "#;
    let object = Object::parse(json).unwrap();
    assert_eq!(object.get("a"), Some("12345678901234567890"));
    assert_eq!(object.number("a"), Some(12_345_678_901_234_567_890));
    assert_eq!(object.items("bA"), ["1", r#"{"x":"]}\""}"#]);
    assert_eq!(object.get("n"), None);
    assert_eq!(object.fields().count(), 4);
}

#[test]
fn only_whole_json_is_valid_and_bytes_that_are_no_text_are_replaced() {
    assert!(validate(b"{\"a\":1} ").is_some());
    assert!(validate(b"{\"a\":1").is_none());
    assert!(validate(b"[DONE]").is_none());
    assert_eq!(validate(b"\"a\xffb\"").unwrap(), "\"a\u{fffd}b\"");
}

#[test]
fn deep_nesting_needs_no_stack() {
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    let json = format!("{{\"a\":{deep}}}");
    let text = validate(json.as_bytes()).unwrap();
    assert_eq!(Object::parse(&text).unwrap().get("a"), Some(deep.as_str()));
}

#[test]
fn a_lone_surrogate_is_replaced_and_a_pair_is_joined() {
    assert_eq!(string(r#""\ud83d\ude00""#).unwrap(), "😀");
    assert_eq!(string(r#""a\ud83dz""#).unwrap(), "a\u{fffd}z");
    assert_eq!(string(r#""\ude00\u0041""#).unwrap(), "\u{fffd}A");
    assert_eq!(string(r#""\ud83d\ud83d\ude00\/""#).unwrap(), "\u{fffd}😀/");
}
