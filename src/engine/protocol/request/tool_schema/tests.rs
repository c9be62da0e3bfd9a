use super::*;
use crate::engine::json::own_names::with_own_names;
use crate::engine::protocol::request::accepts::{ANTHROPIC, GEMINI, OPENAI_CHAT};

fn sent(schema: &str, accepts: &Accepts) -> String {
    mended(schema, accepts).unwrap_or_else(|| schema.to_owned())
}

#[test]
fn each_protocol_gets_schemas_that_its_vendors_take() {
    let fine = r#"{ "type": "object", "properties": {"a": {"anyOf": [{"type":"string"},{"type":"null"}]}}, "required": ["a"] }"#;
    let either = r#"{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]},{"properties":{"b":{"type":"string"}}}]}"#;
    let both = r#"{"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}]}"#;
    let list = r#"{"type":"object","properties":{"a":{"type":["array","null"]},"b":{"items":{"type":"array"}},"c":true}}"#;
    for (rule, accepts, given, wire) in [
        ("what is fine stays", &ANTHROPIC, fine, fine),
        ("what is fine stays", &OPENAI_CHAT, fine, fine),
        ("what is fine stays", &GEMINI, fine, fine),
        (
            "no combinator at the top",
            &ANTHROPIC,
            either,
            r#"{"type":"object","properties":{"a":{},"b":{"type":"string"}}}"#,
        ),
        (
            "all parts become one object",
            &OPENAI_CHAT,
            both,
            r#"{"type":"object","properties":{"a":{},"b":{}},"required":["a"]}"#,
        ),
        (
            "an array has items",
            &OPENAI_CHAT,
            list,
            r#"{"type":"object","properties":{"a":{"type":["array","null"],"items":{}},"b":{"items":{"type":"array","items":{}}},"c":{}}}"#,
        ),
        ("an array without items", &ANTHROPIC, list, list),
        (
            "the top has properties",
            &OPENAI_CHAT,
            r#"{"type":"object"}"#,
            r#"{"type":"object","properties":{}}"#,
        ),
        (
            "the top is an object",
            &ANTHROPIC,
            r#"{"type":["object","null"]}"#,
            r#"{"type":"object"}"#,
        ),
        (
            "the top is an object",
            &GEMINI,
            "true",
            r#"{"type":"object","properties":{}}"#,
        ),
    ] {
        assert_eq!(sent(given, accepts), wire, "{rule}");
    }
}

#[test]
fn every_vendor_gets_the_forms_of_draft_2020_12() {
    let whole = |property: &str| format!(r#"{{"type":"object","properties":{{"a":{property}}}}}"#);
    for (given, wire) in [
        (
            r#"{"type":"array","items":[{"type":"string"},{"type":"number"}]}"#,
            r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}]}"#,
        ),
        (
            r#"{"type":"array","items":[{"items":[{}]}],"additionalItems":{"items":[{}]},"minItems":1}"#,
            r#"{"type":"array","prefixItems":[{"prefixItems":[{}]}],"items":{"prefixItems":[{}]},"minItems":1}"#,
        ),
        (
            r#"{"type":"array","items":{},"additionalItems":false}"#,
            r#"{"type":"array","items":{}}"#,
        ),
        (
            r#"{"type":"number","minimum":0,"exclusiveMinimum":true,"maximum":5,"exclusiveMaximum":false}"#,
            r#"{"type":"number","exclusiveMinimum":0,"maximum":5}"#,
        ),
        (r#"{"exclusiveMaximum":true}"#, "{}"),
        (
            r#"{"description":null,"title":5,"examples":{"b":1},"readOnly":"no","default":null}"#,
            r#"{"default":null}"#,
        ),
        (
            r#"{"description":"d","examples":[1],"readOnly":true,"exclusiveMinimum":0,"minimum":1}"#,
            r#"{"description":"d","examples":[1],"readOnly":true,"exclusiveMinimum":0,"minimum":1}"#,
        ),
    ] {
        assert_eq!(sent(&whole(given), &ANTHROPIC), whole(wire));
    }
    let top = r#"{"type":"object","properties":{},"description":7}"#;
    let plain = r#"{"type":"object","properties":{}}"#;
    for accepts in [&ANTHROPIC, &OPENAI_CHAT, &GEMINI] {
        assert_eq!(sent(top, accepts), plain);
    }
    // OpenAI also wants `items` after `prefixItems`.
    let pair = whole(r#"{"type":"array","prefixItems":[{"type":"string"}]}"#);
    let sent_pair = whole(r#"{"type":"array","prefixItems":[{"type":"string"}],"items":{}}"#);
    assert_eq!(sent(&pair, &OPENAI_CHAT), sent_pair);
    assert_eq!(sent(&pair, &ANTHROPIC), pair);
}

#[test]
fn names_of_properties_are_legal_on_the_wire_and_come_back_at_every_depth() {
    let long = "x".repeat(70);
    let schema = format!(
        r##"{{"type":"object","properties":{{"$filter":{{"type":"object","properties":{{"uids[]":{{}}}},"required":["uids[]"]}},"{long}":{{}},"ok":{{}}}},"required":["$filter"],"dependentRequired":{{"$filter":["{long}"]}},"$defs":{{"a b":{{"properties":{{"é":{{}}}}}}}}}}"##
    );
    let wire = mended(&schema, &ANTHROPIC).unwrap();
    let names = renamed(&schema, &ANTHROPIC);
    assert_eq!(names.len(), 4);
    for (sent, own) in &names {
        assert!(
            sent.len() <= 64
                && sent
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
        );
        assert!(
            wire.contains(sent.as_str()) && !wire.contains(&format!("\"{own}\"")),
            "{own}"
        );
    }
    let of = |own: &str| &names.iter().find(|(_, name)| name == own).unwrap().0;
    let input = format!(
        r#"{{"{}":[{{"{}":1,"ok":"{}"}}]}}"#,
        of("$filter"),
        of("uids[]"),
        of("é")
    );
    let own = format!(r#"{{"$filter":[{{"uids[]":1,"ok":"{}"}}]}}"#, of("é"));
    assert_eq!(with_own_names(&input, &names), own);
    assert!(mended(&schema, &OPENAI_CHAT).is_none());
}
