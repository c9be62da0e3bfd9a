use crate::engine::schema::tests::*;

#[test]
fn what_is_not_checked_is_warned_of() {
    for keyword in [
        "pattern",
        "patternProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "$dynamicRef",
        "contentEncoding",
        "contentMediaType",
        "nullable",
        "minlength",
        "contains",
        "minContains",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
    ] {
        let schema = json(&["{\"properties\":{\"a\":{\"", keyword, "\":{}}}}"].concat());
        let pointer = "/properties/a".to_string();
        assert_eq!(
            compile_value(&schema).unwrap().warnings(),
            [SchemaWarning {
                keyword: keyword.into(),
                problem: "is not checked".into(),
                pointer
            }]
        );
    }
    for (schema, keyword) in [
        (r#"{"$ref":"other.json"}"#, "$ref"),
        (r##"{"$ref":"#name","$defs":{"a":{"$anchor":"name"}}}"##, "$ref"),
        (r#"{"maximum":1,"exclusiveMinimum":true}"#, "exclusiveMinimum"),
        (r#"{"$defs":{"a":{"$id":"https://x"}}}"#, "$id"),
    ] {
        let schema = compiled(schema);
        assert_eq!(schema.warnings().len(), 1);
        assert_eq!(schema.warnings()[0].keyword, keyword);
    }
    let annotated = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"x","title":1,"description":"",
        "default":0,"examples":[],"format":"date","deprecated":true,"readOnly":true,"$comment":"","x-ui":1,
        "properties":{"pattern":{}}}"#;
    assert_eq!(compiled(annotated).warnings(), []);
}

#[test]
fn a_bound_that_a_boolean_makes_exclusive_is_checked_without_a_warning() {
    for schema in [
        r#"{"minimum":1,"exclusiveMinimum":true}"#,
        r#"{"maximum":1,"exclusiveMaximum":true}"#,
        r#"{"minimum":0,"exclusiveMinimum":false}"#,
        r#"{"exclusiveMaximum":false}"#,
    ] {
        assert_eq!(compiled(schema).warnings(), [], "{schema}");
    }
    assert!(
        compiled(r#"{"minimum":1,"exclusiveMinimum":true}"#)
            .problem("1")
            .is_some()
    );
}

#[test]
fn a_required_name_that_properties_does_not_have_is_warned_of() {
    let schema = compiled(r#"{"properties":{"a":{"properties":{"city":{}},"required":["city","cty"]}}}"#);
    let problem = "names cty, which properties does not have".to_owned();
    assert_eq!(
        schema.warnings(),
        [SchemaWarning {
            keyword: "required".into(),
            problem,
            pointer: "/properties/a".into()
        }]
    );
    for schema in [
        r#"{"required":["a"]}"#,
        r#"{"properties":{"a":{}},"required":["a"]}"#,
        r#"{"allOf":[{"properties":{"b":{}}}],"properties":{"a":{}},"required":["b"]}"#,
    ] {
        assert_eq!(compiled(schema).warnings(), [], "{schema}");
    }
}

#[test]
fn a_keyword_is_warned_of_once_at_its_first_place() {
    let schema = compiled(
        r#"{"properties":{"a":{"pattern":"^a"},"b":{"pattern":"^b","nullable":true},"c":{"nullable":true}}}"#,
    );
    let warnings: Vec<_> = schema
        .warnings()
        .iter()
        .map(|warning| [&warning.keyword, " ", &warning.pointer].concat())
        .collect();
    assert_eq!(warnings, ["pattern /properties/a", "nullable /properties/b"]);
    let many: Vec<String> = (0..1000).map(|place| format!("\"k{place}\":1")).collect();
    assert_eq!(compiled(&format!("{{{}}}", many.join(","))).warnings().len(), 32);
}
