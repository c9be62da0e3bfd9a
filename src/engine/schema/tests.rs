use serde_json::Value;

use crate::engine::schema::*;

mod bounds;
mod warnings;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn compiled(schema: &str) -> Schema {
    compile(schema).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

fn compile_value(schema: &Value) -> Result<Schema, SchemaError> {
    compile(&schema.to_string())
}

fn validate(schema: &Schema, instance: &Value, max_errors: usize) -> Vec<Violation> {
    schema.validate(&instance.to_string(), max_errors)
}

fn violations(schema: &str, instance: &str) -> Vec<String> {
    compiled(schema)
        .validate(instance, 100)
        .iter()
        .map(|violation| violation.to_string())
        .collect()
}

/// Checks that the first instances fit and the others do not.
fn table(rows: &[(&str, &[&str], &[&str])]) {
    for (schema, fitting, others) in rows {
        for instance in *fitting {
            assert_eq!(violations(schema, instance), [""; 0], "{schema} {instance}");
        }
        for instance in *others {
            assert!(!violations(schema, instance).is_empty(), "{schema} {instance}");
        }
    }
}

#[test]
fn keywords_for_any_value() {
    table(&[
        ("{}", &["null", "1", "{}"], &[]),
        ("true", &["null", "[]"], &[]),
        ("false", &[], &["null", "[]"]),
        (r#"{"type":"null"}"#, &["null"], &["0", "false", "\"\""]),
        (
            r#"{"type":"boolean"}"#,
            &["true", "false"],
            &["0", "null", "\"true\""],
        ),
        (r#"{"type":"object"}"#, &["{}"], &["[]", "null"]),
        (r#"{"type":"array"}"#, &["[]"], &["{}", "\"\""]),
        (r#"{"type":"string"}"#, &["\"\""], &["1", "null"]),
        (
            r#"{"type":"integer"}"#,
            &["1", "-3", "1.0", "1e3", "18446744073709551615", "1e30"],
            &["1.5", "\"1\"", "true"],
        ),
        (r#"{"type":"number"}"#, &["1", "1.5", "-2e-3"], &["\"1\"", "null"]),
        (r#"{"type":["string","null"]}"#, &["\"a\"", "null"], &["1", "[]"]),
        (
            r#"{"enum":["a",1,null,{"x":[1]}]}"#,
            &["\"a\"", "1.0", "null", r#"{"x":[1.0]}"#],
            &["\"b\"", "2", r#"{"x":[]}"#],
        ),
        (r#"{"enum":[]}"#, &[], &["null"]),
        (
            r#"{"const":{"a":1,"b":2}}"#,
            &[r#"{"b":2,"a":1}"#],
            &[r#"{"a":1}"#, r#"{"a":1,"b":2,"c":3}"#],
        ),
        (r#"{"const":false}"#, &["false"], &["0", "null"]),
        (
            r#"{"const":9007199254740993}"#,
            &["9007199254740993"],
            &["9007199254740992", "9007199254740992.0"],
        ),
    ]);
}

#[test]
fn keywords_for_numbers() {
    table(&[
        (
            r#"{"minimum":2}"#,
            &["2", "2.0", "3", "\"1\""],
            &["1", "1.999", "-5"],
        ),
        (r#"{"maximum":2.5}"#, &["2.5", "-1"], &["2.6", "3"]),
        (r#"{"exclusiveMinimum":2}"#, &["2.1"], &["2", "2.0"]),
        (r#"{"exclusiveMaximum":2}"#, &["1"], &["2", "3"]),
        (r#"{"minimum":2,"exclusiveMinimum":true}"#, &["3"], &["2"]),
        (r#"{"minimum":2,"exclusiveMinimum":false}"#, &["2"], &["1"]),
        (
            r#"{"maximum":9007199254740992}"#,
            &["9007199254740992"],
            &["9007199254740993"],
        ),
        (r#"{"multipleOf":3}"#, &["0", "9", "-6.0"], &["4", "1.5"]),
        (r#"{"multipleOf":0.1}"#, &["0.3", "1", "1.1"], &["0.35"]),
        (r#"{"multipleOf":0.123456789}"#, &[], &["1e308"]),
        (r#"{"multipleOf":1e-300}"#, &["0"], &["1e300"]),
        (
            r#"{"exclusiveMinimum":9007199254740992.0}"#,
            &["9007199254740993", "18446744073709551616"],
            &["9007199254740992", "9007199254740991.5"],
        ),
        (
            r#"{"minimum":-9223372036854775808}"#,
            &["-9223372036854775808", "-0.5"],
            &["-9223372036854777856", "-1e300"],
        ),
    ]);
}

#[test]
fn keywords_for_strings() {
    table(&[
        (
            r#"{"minLength":2}"#,
            &["\"ab\"", "\"🦀🦀\"", "1"],
            &["\"a\"", "\"🦀\""],
        ),
        (r#"{"maxLength":2.0}"#, &["\"éé\"", "\"🦀🦀\""], &["\"abc\""]),
        (r#"{"format":"email"}"#, &["\"no\""], &[]),
    ]);
}

#[test]
fn keywords_for_objects() {
    table(&[
        (
            r#"{"properties":{"a":{"type":"string"},"b":false}}"#,
            &["{}", r#"{"a":"x","c":1}"#, "[]"],
            &[r#"{"a":1}"#, r#"{"b":1}"#],
        ),
        (
            r#"{"required":["a","b"]}"#,
            &[r#"{"a":1,"b":null}"#, "1"],
            &[r#"{"a":1}"#, "{}"],
        ),
        (
            r#"{"properties":{"a":{}},"additionalProperties":false}"#,
            &[r#"{"a":1}"#],
            &[r#"{"b":1}"#],
        ),
        (
            r#"{"additionalProperties":{"type":"number"}}"#,
            &[r#"{"a":1}"#],
            &[r#"{"a":"1"}"#],
        ),
        (
            r#"{"properties":{"a":{}},"additionalProperties":{"type":"null"}}"#,
            &[r#"{"a":1,"b":null}"#],
            &[r#"{"b":1}"#],
        ),
        (
            r#"{"patternProperties":{"^x":{}},"additionalProperties":false}"#,
            &[r#"{"x1":1}"#],
            &[],
        ),
        (
            r#"{"minProperties":1,"maxProperties":2}"#,
            &[r#"{"a":1}"#],
            &["{}", r#"{"a":1,"b":1,"c":1}"#],
        ),
        (
            r#"{"propertyNames":{"maxLength":2}}"#,
            &[r#"{"ab":1}"#],
            &[r#"{"abc":1}"#],
        ),
    ]);
}

#[test]
fn keywords_for_arrays() {
    table(&[
        (
            r#"{"items":{"type":"integer"}}"#,
            &["[]", "[1,2]", "{}"],
            &["[1,\"2\"]"],
        ),
        (r#"{"items":false}"#, &["[]"], &["[1]"]),
        (
            r#"{"items":[{"type":"integer"},true],"additionalItems":{"type":"null"}}"#,
            &["[1]", "[1,2,null]"],
            &["[\"1\"]", "[1,2,3]"],
        ),
        (r#"{"items":[{"type":"integer"}]}"#, &["[1,\"x\"]"], &["[\"x\"]"]),
        (
            r#"{"items":{"type":"null"},"additionalItems":false}"#,
            &["[null,null]"],
            &["[1]"],
        ),
        (
            r#"{"prefixItems":[{"type":"integer"}],"items":false}"#,
            &["[1]", "[]"],
            &["[1,2]", "[\"1\"]"],
        ),
        (r#"{"prefixItems":[{"type":"integer"}]}"#, &["[1,2]"], &["[null]"]),
        (
            r#"{"minItems":1,"maxItems":2}"#,
            &["[1]", "[1,2]"],
            &["[]", "[1,2,3]"],
        ),
        (
            r#"{"uniqueItems":true}"#,
            &["[1,2,\"1\",[1],{\"a\":1},true]", "[]"],
            &[
                "[1,1.0]",
                "[-0.0,0]",
                r#"[{"a":1,"b":[2]},0,{"b":[2.0],"a":1}]"#,
                "[18446744073709551615,18446744073709551615]",
            ],
        ),
        (r#"{"uniqueItems":false}"#, &["[1,1]"], &[]),
    ]);
}

#[test]
fn keywords_that_combine_schemas() {
    table(&[
        (r#"{"allOf":[{"minimum":1},{"maximum":3}]}"#, &["2"], &["0", "4"]),
        (
            r#"{"anyOf":[{"type":"string"},{"minimum":3}]}"#,
            &["\"a\"", "3"],
            &["2"],
        ),
        (
            r#"{"oneOf":[{"type":"integer"},{"minimum":3}]}"#,
            &["1", "3.5", "\"x\""],
            &["4", "2.5"],
        ),
        (r#"{"not":{"type":"string"}}"#, &["1"], &["\"a\""]),
        (
            r#"{"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":2}}"#,
            &["\"ab\"", "2"],
            &["\"a\"", "1"],
        ),
        (
            r#"{"if":{"type":"string"},"then":{"minLength":2}}"#,
            &["\"ab\"", "0"],
            &["\"a\""],
        ),
        (
            r#"{"if":{"type":"string"},"else":{"minimum":2}}"#,
            &["\"a\"", "2"],
            &["1"],
        ),
        (r#"{"then":false,"else":false}"#, &["1"], &[]),
        (r#"{"not":{"not":{"type":"string"}}}"#, &["\"a\""], &["1"]),
    ]);
}

#[test]
fn references_lead_within_the_document() {
    table(&[
        (
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##,
            &["\"x\""],
            &["1"],
        ),
        (
            r##"{"$ref":"#/definitions/a~1b%25~0","definitions":{"a/b%~":{"type":"string"}}}"##,
            &["\"x\""],
            &["1"],
        ),
        (
            r##"{"$ref":"#/$defs/a","minLength":2,"$defs":{"a":{"type":"string"}}}"##,
            &["\"xy\""],
            &["\"x\"", "1"],
        ),
        (
            r##"{"$id":"https://a.b/c","$ref":"https://a.b/c#/$defs/a","$defs":{"a":{"type":"string"}}}"##,
            &["\"x\""],
            &["1"],
        ),
        (
            r##"{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}},"required":["v"]}"##,
            &[r#"{"v":1,"next":{"v":2,"next":{"v":3}}}"#],
            &[r#"{"v":1,"next":{"v":2,"next":{}}}"#],
        ),
        (
            r##"{"properties":{"a":{"$ref":"#/properties/b"},"b":{"type":"null"}}}"##,
            &[r#"{"a":null}"#],
            &[r#"{"a":1}"#],
        ),
        (
            r##"{"items":[{"$ref":"#/items/1"},{"type":"null"}]}"##,
            &["[null]"],
            &["[1]"],
        ),
        (
            r##"{"$id":"T","properties":{"next":{"$ref":"T"}},"required":["v"],"type":"object"}"##,
            &[r#"{"v":1,"next":{"v":2}}"#],
            &[r#"{"v":1,"next":{}}"#, "1"],
        ),
        (
            r##"{"properties":{"a":{"$ref":"#/properties/b%20c/items/0"},"b c":{"items":[{"type":"null"}]}}}"##,
            &[r#"{"a":null}"#],
            &[r#"{"a":1}"#],
        ),
        (r#"{"$ref":"https://elsewhere/schema"}"#, &["1"], &[]),
    ]);
}

#[test]
fn every_violation_is_told_up_to_the_number_that_is_wanted() {
    let rows = [
        (
            r#"{"additionalProperties":{"type":"string"}}"#,
            r#"{"a":1,"b":2}"#,
        ),
        (r#"{"propertyNames":{"maxLength":1}}"#, r#"{"aa":1,"bb":2}"#),
        (r#"{"items":{"type":"string"}}"#, "[1,2]"),
        (r#"{"prefixItems":[{"type":"string"},{"type":"null"}]}"#, "[1,2]"),
        (r#"{"allOf":[{"type":"string"},{"minimum":2}]}"#, "1"),
        (r#"{"required":["a","b"]}"#, "{}"),
    ];
    for (schema, instance) in rows {
        assert_eq!(violations(schema, instance).len(), 2, "{schema}");
        assert_eq!(
            validate(&compiled(schema), &json(instance), 1).len(),
            1,
            "{schema}"
        );
    }
}

#[test]
fn a_violation_names_the_place_the_expectation_and_the_finding() {
    let rows = [
        (
            r#"{"required":["city"]}"#,
            "{}",
            "/city: required property is missing",
        ),
        (
            r#"{"properties":{"n":{"type":"integer"}}}"#,
            r#"{"n":"3"}"#,
            "/n: expected integer, got string \"3\"",
        ),
        (
            r#"{"type":["object","null"]}"#,
            "[1]",
            "(root): expected null or object, got an array",
        ),
        (
            r#"{"items":{"minimum":2}}"#,
            "[2,1.5]",
            "/1: expected at least 2, got 1.5",
        ),
        (
            r#"{"maxLength":1}"#,
            "\"ab\"",
            "(root): expected at most 1 characters, got 2",
        ),
        (
            r#"{"enum":["a",null]}"#,
            "\"c\"",
            "(root): expected one of \"a\", null, got string \"c\"",
        ),
        (r#"{"const":1}"#, "true", "(root): expected 1, got true"),
        (
            r#"{"properties":{"a":{},"b":{}},"additionalProperties":false}"#,
            r#"{"x/y":1}"#,
            "/x~1y: unexpected property; allowed: a, b",
        ),
        (
            r#"{"uniqueItems":true}"#,
            "[1,2,1]",
            "(root): items must differ, but 0 and 2 are equal (counted from 0)",
        ),
        (
            r#"{"oneOf":[{},true]}"#,
            "1",
            "(root): matches more than one alternative of oneOf: numbers 1 and 2",
        ),
        (
            r#"{"anyOf":[{"type":"string"},{"properties":{"k":{"const":"b"}},"required":["v"]}]}"#,
            r#"{"k":"b"}"#,
            "(root): matches none of the 2 alternatives; closest is number 2: /v: required property is missing",
        ),
        (
            r#"{"propertyNames":{"maxLength":2}}"#,
            r#"{"abc":1}"#,
            "/abc: the property's name is not valid: expected at most 2 characters, got 3",
        ),
    ];
    for (schema, instance, expected) in rows {
        assert_eq!(violations(schema, instance), [expected], "{schema}");
    }
    let found = compiled(r##"{"properties":{"a":{"$ref":"#/$defs/b~c"}},"$defs":{"b~c":{"minimum":1}}}"##);
    assert!(validate(&found, &json(r#"{"a":1}"#), 9).is_empty());
    let schema = compiled(r##"{"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"minimum":1}}}"##);
    let found = validate(&schema, &json(r#"{"a":0}"#), 9);
    assert_eq!(found[0].message, "expected at least 1, got 0");
    assert_eq!(found[0].instance_pointer, "/a");
}

#[test]
fn text_that_is_not_a_schema_is_refused_with_its_place() {
    let rows = [
        ("1", "(root): must be an object or a boolean"),
        ("null", "(root): must be an object or a boolean"),
        (
            r#"{"type":"strnig"}"#,
            "/type: must be one or several of null, boolean, object, array, string, integer, number, not \"strnig\"",
        ),
        (r#"{"type":[]}"#, "/type: must not be empty"),
        (
            r#"{"properties":{"a":{"required":true}}}"#,
            "/properties/a/required: must be an array of strings",
        ),
        (r#"{"required":[1]}"#, "/required: must be an array of strings"),
        (r#"{"properties":[]}"#, "/properties: must be an object"),
        (
            r#"{"properties":{"a/b":"string"}}"#,
            "/properties/a~1b: must be an object or a boolean",
        ),
        (r#"{"enum":"a"}"#, "/enum: must be an array"),
        (r#"{"minimum":"1"}"#, "/minimum: must be a number"),
        (r#"{"minLength":-1}"#, "/minLength: must be a whole number from 0"),
        (r#"{"maxItems":1.5}"#, "/maxItems: must be a whole number from 0"),
        (r#"{"multipleOf":0}"#, "/multipleOf: must be above 0"),
        (r#"{"uniqueItems":1}"#, "/uniqueItems: must be true or false"),
        (r#"{"anyOf":[]}"#, "/anyOf: must not be empty"),
        (r#"{"oneOf":{}}"#, "/oneOf: must be an array"),
        (
            r#"{"allOf":[true,3]}"#,
            "/allOf/1: must be an object or a boolean",
        ),
        (r#"{"items":[{},1]}"#, "/items/1: must be an object or a boolean"),
        (r#"{"not":[]}"#, "/not: must be an object or a boolean"),
        (r##"{"$ref":"#/$defs/a"}"##, "/$ref: leads nowhere: #/$defs/a"),
        (
            r##"{"items":[true],"$ref":"#/items/00"}"##,
            "/$ref: leads nowhere: #/items/00",
        ),
        (r##"{"$id":"T","$ref":"T#/a"}"##, "/$ref: leads nowhere: T#/a"),
        (r#"{"$ref":1}"#, "/$ref: must be a string"),
        (
            r#"{"minimum":1e999}"#,
            "(root): cannot be read: number out of range at line 1 column 16",
        ),
        (
            r#"{"$defs":{"a":{"type":"any"}}}"#,
            "/$defs/a/type: must be one or several of null, boolean, object, array, string, integer, number, not \"any\"",
        ),
        (
            r#"{"additionalProperties":"no"}"#,
            "/additionalProperties: must be an object or a boolean",
        ),
    ];
    for (schema, expected) in rows {
        match compile(schema) {
            Ok(_) => panic!("{schema} compiled"),
            Err(error) => assert_eq!(error.to_string(), expected, "{schema}"),
        }
    }
}
