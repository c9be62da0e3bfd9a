//! Tests of bounded work, and properties over any schema.

use crate::engine::schema::tests::*;
use proptest::prelude::*;

#[test]
fn no_more_violations_are_given_than_asked_for() {
    let schema = compiled(r#"{"required":["a","b","c"],"items":{"type":"null"}}"#);
    assert_eq!(validate(&schema, &json("{}"), 100).len(), 3);
    assert_eq!(validate(&schema, &json("{}"), 2).len(), 2);
    assert_eq!(validate(&schema, &json("{}"), 0).len(), 1);
    assert_eq!(validate(&schema, &json("[1,2,3,4]"), 3).len(), 3);
}

#[test]
fn a_long_finding_is_shortened() {
    let text = ["\"", &"é".repeat(10_000), "\""].concat();
    let found = violations(r#"{"enum":[1,2,3,4,5,6,7,8,9,10,11,12]}"#, &text);
    assert!(found[0].contains("9, 10, …, got string \"éé"), "{found:?}");
    assert!(found[0].chars().count() < 120, "{found:?}");
}

#[test]
fn the_name_of_a_property_is_shortened_wherever_it_stands() {
    let name = "é".repeat(1 << 20);
    let text = format!(r#"{{"{name}":{{"{name}":1}}}}"#);
    for schema in [
        r#"{"additionalProperties":{"additionalProperties":{"type":"string"}}}"#,
        r#"{"additionalProperties":false}"#,
        r#"{"propertyNames":{"maxLength":3}}"#,
        r#"{"anyOf":[{"additionalProperties":{"additionalProperties":false}},{"type":"null"}]}"#,
    ] {
        let found = compiled(schema).problem(&text).unwrap();
        assert!(
            found.chars().count() < 1500,
            "{schema}: {} characters",
            found.len()
        );
    }
}

fn gives_up(schema: &Schema, instance: &Value) -> bool {
    let found = validate(schema, instance, 3);
    found
        .iter()
        .any(|violation| violation.message.starts_with("too "))
}

#[test]
fn a_schema_that_refers_to_itself_alone_gives_up() {
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}"##,
        r##"{"oneOf":[{"$ref":"#"},{"$ref":"#"},{"not":{"$ref":"#"}}]}"##,
        r##"{"not":{"$ref":"#"}}"##,
        r##"{"allOf":[{"$ref":"#"}]}"##,
        r##"{"properties":{"a":true},"propertyNames":{"not":false},"anyOf":[{"if":{"$ref":"#"}}]}"##,
        r##"{"if":{"$ref":"#"},"then":{"$ref":"#"},"else":{"$ref":"#"}}"##,
    ] {
        // Unoptimised frames are larger than those of a WebAssembly instance, whose stack has 1 MiB too.
        let check = || gives_up(&compiled(schema), &json(r#"{"a":1}"#));
        let gave_up = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(1 << 20);
            thread.spawn_scoped(scope, check).unwrap().join().unwrap()
        });
        assert!(gave_up, "{schema}");
    }
}

#[test]
fn doubling_alternatives_end_after_bounded_work() {
    let mut schema = String::from(r##"{"$defs":{"0":{"type":"null"}"##);
    for level in 1..60 {
        let below = (level - 1).to_string();
        let ref_below = ["{\"$ref\":\"#/$defs/", &below, "\"}"].concat();
        let list = [
            ",\"",
            &level.to_string(),
            "\":{\"anyOf\":[",
            &ref_below,
            ",",
            &ref_below,
            "]}",
        ];
        schema.push_str(&list.concat());
    }
    schema.push_str(r##"},"$ref":"#/$defs/59"}"##);
    let schema = compiled(&schema);
    assert!(validate(&schema, &Value::Null, 3).is_empty());
    assert!(gives_up(&schema, &json("1")));
}

#[test]
fn large_enums_and_arrays_are_checked() {
    let choices: Vec<Value> = (0..20_000)
        .map(|number: u32| Value::from(number.to_string()))
        .collect();
    let items: Vec<Value> = choices.iter().rev().cloned().collect();
    let mut schema = json(r#"{"items":{},"uniqueItems":true}"#);
    schema["items"]["enum"] = Value::from(choices);
    let schema = compile_value(&schema).unwrap();
    let mut items = Value::from(items);
    assert!(validate(&schema, &items, 3).is_empty());
    items[7] = items[19_000].clone();
    assert_eq!(validate(&schema, &items, 3).len(), 1);
    items[9] = Value::from("no");
    assert_eq!(validate(&schema, &items, 3).len(), 2);
}

#[test]
fn nested_alternatives_make_no_endless_message() {
    let schema = compiled(r##"{"anyOf":[{"items":{"$ref":"#"},"type":"array"},{"type":"string"}]}"##);
    let instance = json(&["[".repeat(100), "true".into(), "]".repeat(100)].concat());
    let found = validate(&schema, &instance, 3);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].message.chars().count() < 1000,
        "{}",
        found[0].message.len()
    );
}

#[test]
fn deep_values_and_schemas_use_bounded_stack() {
    let deep = json(&["[".repeat(126), "1".into(), "]".repeat(126)].concat());
    assert!(
        validate(
            &compiled(r##"{"anyOf":[{"type":"integer"},{"items":{"$ref":"#"}}]}"##),
            &deep,
            3
        )
        .is_empty()
    );
    let items = r##"{"allOf":[{"if":true,"then":{"oneOf":[{"items":{"$ref":"#"}}]}}]}"##;
    let found = validate(&compiled(items), &deep, 3);
    assert!(
        found
            .iter()
            .any(|violation| violation.message.starts_with("too deep"))
    );
    let names = r##"{"propertyNames":{"anyOf":[{"$ref":"#"},{"not":{"$ref":"#"}}]},"additionalProperties":{"$ref":"#"}}"##;
    let deep = ["{\"a\":".repeat(126), "1".into(), "}".repeat(126)].concat();
    assert!(compiled(names).validate(&deep, 3).len() <= 3);
    let too_deep = ["[".repeat(100_000), "]".repeat(100_000)].concat();
    for text in [too_deep.as_str(), &too_deep[..100_000]] {
        assert_eq!(
            compiled("{}").validate(text, 3)[0].to_string(),
            "(root): cannot be read: recursion limit exceeded at line 1 column 128"
        );
        let schema = ["{\"const\":", text, "}"].concat();
        assert_eq!(
            compile(&schema).unwrap_err().to_string(),
            "(root): cannot be read: recursion limit exceeded at line 1 column 136"
        );
    }
}

#[test]
fn a_long_name_above_many_schemas_costs_no_text_for_each() {
    let field = r#"{"type":"null","unknown":1,"anyOf":[false,false,{"required":["x"]}]}"#;
    let fields: Vec<String> = (0..2000).map(|place| format!("\"{place}\":{field}")).collect();
    let name = "n".repeat(200_000);
    let schema = format!(
        r#"{{"properties":{{"{name}":{{"properties":{{{}}}}}}}}}"#,
        fields.join(",")
    );
    let length = schema.len();
    let schema = compiled(&schema);
    let pointers: usize = schema.nodes.iter().map(|node| node.tail.len()).sum();
    assert!(pointers < length, "{pointers} bytes of pointers");
    assert_eq!(schema.warnings().len(), 1);
    let values: Vec<String> = (0..2000).map(|place| format!("\"{place}\":1")).collect();
    let instance = format!(r#"{{"{name}":{{{}}}}}"#, values.join(","));
    assert_eq!(schema.validate(&instance, 5).len(), 5);
}

fn any_json() -> impl Strategy<Value = Value> {
    let keywords = vec![
        "type",
        "enum",
        "const",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "prefixItems",
        "uniqueItems",
        "minLength",
        "maxLength",
        "minimum",
        "exclusiveMaximum",
        "multipleOf",
        "minProperties",
        "propertyNames",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "$ref",
        "$defs",
        "$anchor",
        "a",
        "b",
    ];
    let words = vec![
        "a",
        "b",
        "#",
        "#/$defs/a",
        "#a",
        "#/properties/a",
        "string",
        "object",
        "array",
        "integer",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..10).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(words).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        let keywords = proptest::sample::select(keywords.clone());
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => proptest::collection::vec((keywords, inner), 0..5).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_json_compiles_or_is_refused_and_then_validates_anything(schema in any_json(), instance in any_json()) {
        if let Ok(schema) = compile_value(&schema) {
            prop_assert!(validate(&schema, &instance, 3).len() <= 3);
        }
    }

    #[test]
    fn a_value_fits_itself_as_const_and_enum(value in any_json()) {
        let mut schema = json("{}");
        schema["const"] = value.clone();
        schema["enum"] = Value::Array(vec![Value::Null, value.clone()]);
        prop_assert!(validate(&compile_value(&schema).unwrap(), &value, 3).is_empty());
        let twice = Value::Array(vec![value.clone(), Value::from("x"), value]);
        prop_assert_eq!(validate(&compiled(r#"{"uniqueItems":true}"#), &twice, 3).len(), 1);
    }

    #[test]
    fn not_is_the_opposite(schema in any_json(), instance in any_json()) {
        let mut negated = json("{}");
        negated["not"] = schema.clone();
        // References within the part would lead to the wrong root.
        if !schema.to_string().contains("$ref") && let Ok(plain) = compile_value(&schema) {
            let negated = compile_value(&negated).unwrap();
            prop_assert_ne!(validate(&plain, &instance, 1).is_empty(), validate(&negated, &instance, 1).is_empty());
        }
    }

    #[test]
    fn the_number_of_errors_asked_for_never_changes_the_verdict(schema in any_json(), instance in any_json()) {
        if let Ok(schema) = compile_value(&schema) {
            let (one, many) = (validate(&schema, &instance, 1), validate(&schema, &instance, 50));
            prop_assert_eq!(one.is_empty(), many.is_empty());
        }
    }
}
