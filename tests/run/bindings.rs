use looplet::engine::model::question::Point;
use serde_json::{Value, json};

use crate::told::{calls_of, data};
use crate::wire::{call, stream};
use crate::world::{World, config, tool};

fn bound(fields: Value) -> Value {
    let mut tool = tool(
        "orders",
        json!({
            "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "fullSchema": {"type": "object", "required": ["user"],
                "properties": {"n": {"type": "integer"}, "user": {"type": "string"}}},
            "bindings": [{"field": "user", "input": "userId"}],
        }),
    );
    for (key, value) in fields.as_object().unwrap() {
        tool[key] = value.clone();
    }
    tool
}

fn world(fields: Value, config_fields: Value, input: Value) -> World {
    let mut world = World::started(config(json!([bound(fields)]), config_fields));
    world.respond(&stream(&[call("a", "orders", input)], "tool_use"));
    world
}

#[test]
fn s004_21_an_input_of_the_host_overrides_what_the_model_wrote() {
    for written in [json!({"n": 1}), json!({"user": "evil", "n": 1})] {
        let mut world = world(json!({}), json!({"inputs": {"userId": "u1"}}), written.clone());
        assert_eq!(
            world.running["a"].input.as_str(),
            r#"{"n":1,"user":"u1"}"#,
            "{written}"
        );
        world.return_value("a", json!(1));
        let history = world.body(1)["messages"][1]["content"][0]["input"].clone();
        assert_eq!(history, written, "the history keeps what the model wrote");
        assert_eq!(world.result()["toolCalls"][0]["input"], written);
    }
}

#[test]
fn s004_21_a_bound_field_is_not_shown_to_the_model() {
    let world = world(json!({}), json!({"inputs": {"userId": "u1"}}), json!({}));
    assert_eq!(
        world.body(0)["tools"][0]["input_schema"],
        json!({"type": "object", "properties": {"n": {"type": "integer"}}})
    );
    assert!(!world.requests[0].contains("u1"));
}

#[test]
fn what_is_filled_in_is_checked_against_the_whole_schema() {
    let wrong = world(json!({}), json!({"inputs": {"userId": 5}}), json!({}));
    assert!(wrong.tool_log.is_empty());
    let missing = world(json!({}), json!({"inputs": {}}), json!({}));
    assert!(
        missing.tool_log.is_empty(),
        "the field is required and nobody gave it"
    );
}

#[test]
fn s004_21_an_input_that_is_not_given_binds_nothing() {
    let world = world(json!({}), json!({}), json!({"user": "model"}));
    assert_eq!(world.running["a"].input.as_str(), r#"{"user":"model"}"#);
}

#[test]
fn the_host_prepares_and_judges_what_is_filled_in() {
    let prepared = world(
        json!({"prepare": true}),
        json!({"inputs": {"userId": "u1"}}),
        json!({}),
    );
    let calls = calls_of(&prepared.questions[0].1);
    assert_eq!(calls[0].input.as_str(), r#"{"user":"u1"}"#);
    let fields = json!({"inputs": {"userId": "u1"}, "permissions": {"canUseTool": true}});
    let asked = world(json!({}), fields, json!({}));
    let ask = &asked.questions[0].1;
    assert_eq!(ask.point, Point::Permission);
    assert_eq!(data(ask)["input"], json!({"user": "u1"}));
}
