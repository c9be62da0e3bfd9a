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
    ] {
        let schema = json(&["{\"properties\":{\"a\":{\"", keyword, "\":{}}}}"].concat());
        let pointer = "/properties/a".to_string();
        assert_eq!(
            compile_value(&schema).unwrap().warnings(),
            [SchemaWarning {
                keyword: keyword.into(),
                pointer
            }]
        );
    }
    for (schema, keyword) in [
        (r#"{"$ref":"other.json"}"#, "$ref"),
        (r#"{"minimum":1,"exclusiveMinimum":true}"#, "exclusiveMinimum"),
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
