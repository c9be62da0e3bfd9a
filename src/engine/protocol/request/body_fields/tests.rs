use super::*;

#[test]
fn what_the_body_says_replaces_ours_once() {
    let body = Json::parse(r#"{"a":2,"gone":null,"b":[1],"b":[2]}"#).unwrap();
    let fields = BodyFields::new(Some(&body), "messages").unwrap();
    let mut out = b"{".to_vec();
    fields.number(&mut out, "a", 1);
    fields.text(&mut out, "gone", "x");
    fields.text(&mut out, "kept", "y");
    fields.finish(&mut out, &[]);
    assert_eq!(String::from_utf8(out).unwrap(), r#"{"kept":"y","a":2,"b":[2]"#);
}

#[test]
fn within_an_object_of_both_the_fields_of_the_body_win() {
    let body = Json::parse(r#"{"both":{"a":2,"c":null,"d":{}},"none":null,"empty":{}}"#).unwrap();
    let fields = BodyFields::new(Some(&body), "messages").unwrap();
    let keys = ["both", "none", "empty", "ours"];
    let mut out = b"{".to_vec();
    for key in keys {
        let ours = if key == "empty" {
            r#"{"a":1"#
        } else {
            r#"{"a":1,"c":3"#
        };
        fields.merged(&mut out, key, ours.into());
    }
    fields.merged(&mut out, "nothing", b"{".to_vec());
    fields.finish(&mut out, &keys);
    assert_eq!(
        String::from_utf8(out).unwrap(),
        r#"{"both":{"a":2,"d":{}},"empty":{"a":1},"ours":{"a":1,"c":3}"#
    );
}

#[test]
fn a_function_that_a_tool_of_the_body_declares_is_known_by_its_name() {
    let body =
        Json::parse(r#"{"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"look"}]}]}"#).unwrap();
    let fields = BodyFields::new(Some(&body), "contents").unwrap();
    assert_eq!(["look", "other"].map(|name| fields.declares(name)), [true, false]);
}
