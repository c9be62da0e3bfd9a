use crate::engine::json::repair::*;
use crate::engine::json::value::read;
use proptest::prelude::*;
use serde_json::Value;

fn value(parsed: &Parsed<'_>) -> Option<Value> {
    serde_json::from_str(&parsed.json).ok()
}

fn repaired(text: &str) -> (String, Option<Repair>) {
    let parsed = parse_arguments(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    (parsed.json.into_owned(), parsed.repaired_by)
}

fn refused(text: &str) -> ArgumentsError {
    match parse_arguments(text) {
        Ok(parsed) => panic!("{text} became {parsed:?}"),
        Err(error) => error,
    }
}

#[test]
fn a_valid_object_passes_untouched() {
    for text in [
        "{}",
        " {\"b\":1, \"a\" : [1.0,2e5] }  \n",
        r#"{"a":"}\"{,]","b":"```json"}"#,
        r#"{"a":"\ud83e\udd80é\u0000"}"#,
        r#"{"a":9007199254740993,"a":1.10}"#,
    ] {
        assert_eq!(repaired(text), (text.to_string(), None));
        assert!(matches!(parse_arguments(text).unwrap().json, Cow::Borrowed(_)));
    }
}

#[test]
fn an_empty_text_and_null_are_an_object_without_fields() {
    for text in ["null", " null\n", "", " ", "\n\t\r\n", "\u{feff}", "\u{a0}"] {
        assert_eq!(repaired(text), ("{}".to_string(), None), "{text:?}");
    }
}

#[test]
fn s004_25_s004_26_each_repair_gives_the_object_and_names_itself() {
    let rows = [
        ("```json\n{\"a\":1}\n```", r#"{"a":1}"#, Repair::CodeFence),
        ("  ```\n{\"a\":1}```  ", r#"{"a":1}"#, Repair::CodeFence),
        ("```json{\"a\":1}\n ```", r#"{"a":1}"#, Repair::CodeFence),
        ("```json\n{}\n```", "{}", Repair::CodeFence),
        ("\u{feff}{\"a\":1}", r#"{"a":1}"#, Repair::FirstObject),
        (
            r#"Calling: {"a":{"b":2}} now."#,
            r#"{"a":{"b":2}}"#,
            Repair::FirstObject,
        ),
        (r#"{"a":"}"} x"#, r#"{"a":"}"}"#, Repair::FirstObject),
        (r#"{"a":"\"}"} x"#, r#"{"a":"\"}"}"#, Repair::FirstObject),
        (r#"{"a":"\\"} "}"#, r#"{"a":"\\"}"#, Repair::FirstObject),
        (r#"{"a":1}{"a":2}"#, r#"{"a":1}"#, Repair::FirstObject),
        (
            "Here:\n```json\n{\"a\":1}\n```\nDone.",
            r#"{"a":1}"#,
            Repair::FirstObject,
        ),
        ("```js\n{\"a\":1}\n```", r#"{"a":1}"#, Repair::FirstObject),
        (r#"{"a":[1,2,],}"#, r#"{"a":[1,2]}"#, Repair::TrailingCommas),
        ("{\"a\":\"b\" ,\n }", "{\"a\":\"b\" \n }", Repair::TrailingCommas),
        (r#"{"a":",}",}"#, r#"{"a":",}"}"#, Repair::TrailingCommas),
        (r#"{"a":"\",]",}"#, r#"{"a":"\",]"}"#, Repair::TrailingCommas),
        (
            "Sure: ```json\n{\"a\":1,}\n```",
            r#"{"a":1}"#,
            Repair::TrailingCommas,
        ),
        (r#""{\"a\":\"b\"}""#, r#"{"a":"b"}"#, Repair::DoubleEncoded),
        (r#" "{}" "#, "{}", Repair::DoubleEncoded),
    ];
    for (text, json, repair) in rows {
        assert_eq!(repaired(text), (json.to_string(), Some(repair)), "{text}");
    }
}

#[test]
fn a_cut_off_object_is_never_completed() {
    for text in [
        "{",
        r#"{"a":1"#,
        r#"{"a":1,"#,
        r#"{"a":-"#,
        r#"{"a":1."#,
        r#"{"a":1e"#,
        r#"{"a":1e-"#,
        r#"{"a":tr"#,
        r#"{"a":"\ud8"#,
        r#"{"a":{"b":2}"#,
        r#"{"a":{"b":2},"c":"#,
        r#"{"a":"b"#,
        r#"{"a":"}"#,
        "```json\n{\"a\":1",
        r#"Here: {"a":[1,2"#,
        r#"[{"a":1}"#,
        r#""{\"a\":1}"#,
    ] {
        let error = refused(text);
        assert!(matches!(error, ArgumentsError::CutOff { .. }), "{text}: {error}");
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn a_text_that_no_repair_helps_is_invalid() {
    for (text, place) in [
        ("soon", "line 1 column 1"),
        ("{a:1}", "line 1 column 2"),
        ("{'a':1}", "line 1 column 2"),
        ("{\"a\":1,\n\"b\":x}", "line 2 column 5"),
        (r#"{"a":1,,}"#, "line 1 column 8"),
        ("{,}", "line 1 column 2"),
        (r#"{"a":[,]}"#, "line 1 column 7"),
        (r#"{"a":"he said "hi" to}"#, "line 1 column 16"),
        (r#"{}{"a":1}"#, "line 1 column 3"),
        ("function () {}", "line 1 column 2"),
        (r#"[{"a":1},]"#, "line 1 column 10"),
        (r#"Sure: {"a":tru}"#, "line 1 column 9"),
        ("{\"a\":\"line\nbreak\"}", "line 1 column 10"),
        ("```", "line 1 column 1"),
    ] {
        match refused(text) {
            ArgumentsError::Invalid { problem, .. } => assert!(problem.ends_with(place), "{text}: {problem}"),
            error => panic!("{text}: {error}"),
        }
    }
}

#[test]
fn json_that_is_no_object_is_named() {
    for (text, kind) in [
        ("[1]", "an array"),
        (r#"[{"a":1}]"#, "an array"),
        ("```json\n[{\"a\":1}]\n```", "an array"),
        (" true", "a boolean"),
        ("-3.5", "a number"),
        (r#""hello""#, "a string"),
        (r#""""#, "a string"),
        (r#""[1]""#, "a string"),
        (r#""\"{}\"""#, "a string"),
        (r#""{\"a\":1""#, "a string"),
    ] {
        match refused(text) {
            ArgumentsError::NotAnObject { found, .. } => assert_eq!(found, kind, "{text}"),
            error => panic!("{text}: {error}"),
        }
    }
}

#[test]
fn depth_is_limited_to_what_a_tree_can_hold() {
    let nested = |depth: usize| {
        [
            "{\"a\":".repeat(depth - 1),
            "{}".to_string(),
            "}".repeat(depth - 1),
        ]
        .concat()
    };
    let deepest = nested(MAX_DEPTH);
    assert!(read(&parse_arguments(&deepest).unwrap().json).is_ok());
    assert_eq!(refused(&nested(MAX_DEPTH + 1)), ArgumentsError::TooDeep);
    assert_eq!(refused(&nested(100_000)), ArgumentsError::TooDeep);
    assert_eq!(
        refused(&["{\"a\":", &"[".repeat(1_000_000)].concat()),
        ArgumentsError::TooDeep
    );
    assert_eq!(
        refused(&["see: ", &nested(MAX_DEPTH + 1)].concat()),
        ArgumentsError::TooDeep
    );
}

#[test]
fn half_a_surrogate_pair_passes_but_is_not_decoded() {
    assert_eq!(repaired(r#"{"a":"\ud800"}"#).1, None);
    assert!(matches!(
        refused(r#""{\"a\":\"\ud800\"}""#),
        ArgumentsError::NotAnObject { .. }
    ));
    assert!(matches!(
        refused("\"{\\\"a\\\":\\\"\u{fffd}\\ud800\\\"}\""),
        ArgumentsError::NotAnObject { .. }
    ));
}

#[test]
fn an_error_shows_the_place_and_at_most_200_characters() {
    let long = [
        "{\"a\":\"",
        &"é".repeat(5000),
        "\",\"b\":?",
        &",".repeat(5000),
        "}",
    ]
    .concat();
    let error = refused(&long).to_string();
    assert!(
        error.starts_with("not valid JSON: expected value at line 1 column 10013, near: éé"),
        "{error}"
    );
    assert!(error.ends_with(&["\"b\":?", &",".repeat(99)].concat()), "{error}");
    let ArgumentsError::Invalid { excerpt, .. } = refused(&long) else {
        panic!()
    };
    assert_eq!(excerpt.chars().count(), 200);
    assert_eq!(
        refused("[1]").to_string(),
        "expected a JSON object, got an array, near: [1]"
    );
    assert_eq!(
        refused("{\"a\":").to_string(),
        "cut off after 5 bytes, before the JSON ends, near: {\"a\":"
    );
}

#[test]
fn megabytes_of_hostile_text_are_read() {
    for text in [
        ",".repeat(2_000_000),
        ["{", &",   ".repeat(500_000), "}"].concat(),
        "{}".repeat(1_000_000),
        "\\\"".repeat(1_000_000),
        "```".repeat(700_000),
        "\n".repeat(1_000_000) + "x" + &"\n".repeat(1_000_000),
    ] {
        refused(&text);
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~]{0,8}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    proptest::collection::vec((any::<String>(), json()), 1..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

proptest! {
    #[test]
    fn every_object_is_found_again_in_whatever_wraps_it(object in object()) {
        let text = object.to_string();
        let pretty = serde_json::to_string_pretty(&object).unwrap();
        let encoded = Value::from(text.clone()).to_string();
        let commas = pretty.replace("\n}", ",\n}");
        for (wrapped, step) in [
            (text.clone(), None),
            (pretty.clone(), None),
            (format!("```json\n{pretty}\n```"), Some(Repair::CodeFence)),
            (["I call it: ", &text, " \"}{"].concat(), Some(Repair::FirstObject)),
            (commas, Some(Repair::TrailingCommas)),
            (encoded, Some(Repair::DoubleEncoded)),
        ] {
            let parsed = parse_arguments(&wrapped).unwrap();
            prop_assert_eq!(value(&parsed).unwrap(), object.clone());
            prop_assert_eq!(parsed.repaired_by, step);
        }
    }

    #[test]
    fn no_beginning_of_an_object_is_taken_for_one(object in object(), cut in 0usize..1000) {
        let text = object.to_string();
        let end = (1..text.len()).rev().filter(|&end| text.is_char_boundary(end)).nth(cut % text.chars().count().saturating_sub(1).max(1));
        let text = &text[..end.unwrap_or(1)];
        let error = refused(text);
        let cut_off = matches!(error, ArgumentsError::CutOff { .. });
        prop_assert!(cut_off, "{}: {}", text, error);
        let fenced = format!("```json\n{text}");
        prop_assert!(parse_arguments(&fenced).is_err());
    }

    #[test]
    fn whatever_is_accepted_is_one_json_object(text in r#"[ \n`{}\[\]",:\\a1json]{0,40}"#) {
        if let Ok(parsed) = parse_arguments(&text) {
            prop_assert!(value(&parsed).is_some_and(|value| value.is_object()), "{:?}", parsed);
            prop_assert!(text.trim().is_empty() || parsed.json.len() <= text.len());
        }
    }

    #[test]
    fn any_text_gives_an_answer_with_a_bounded_error(text: String) {
        if let Err(error) = parse_arguments(&text) {
            prop_assert!(error.to_string().chars().count() < 400);
        }
    }
}
