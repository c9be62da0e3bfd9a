//! Calls whose arguments are missing, `null` or an empty object.

use serde_json::json;

use crate::wire::{Piece, call, stream};
use crate::world::{World, config, tool};

#[test]
fn empty_arguments_of_a_tool_with_required_fields_are_an_error_although_nothing_else_is_checked() {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}, "user": {}}, "required": ["n"]});
    let fields = [
        json!({"inputSchema": schema, "validate": false}),
        json!({"inputSchema": schema, "validate": false, "prepare": true}),
        json!({"inputSchema": schema, "validate": false, "bindings": [{"field": "user", "input": "me"}]}),
        json!({"inputSchema": schema}),
    ];
    for (fields, arguments) in fields
        .iter()
        .flat_map(|fields| ["", "null", "{}", " { } "].map(|text| (fields, text)))
    {
        let mut world = World::started(config(
            json!([tool("read", fields.clone())]),
            json!({"inputs": {"me": 7}}),
        ));
        world.respond(&stream(
            &[Piece::Call("t1".into(), "read".into(), arguments.into())],
            "tool_use",
        ));
        assert!(
            world.tool_log.is_empty() && world.questions.is_empty(),
            "{fields} {arguments}"
        );
        let shown = world.body(1)["messages"][2].to_string();
        assert!(shown.contains("invalid_input"), "{shown}");
    }
}

#[test]
fn a_tool_that_checks_nothing_gets_arguments_that_miss_a_required_field() {
    let schema = json!({"type": "object", "properties": {"n": {}}, "required": ["n"]});
    let tools = json!([tool("read", json!({"inputSchema": schema, "validate": false}))]);
    let mut world = World::started(config(tools, json!({})));
    world.respond(&stream(&[call("t1", "read", json!({"m": 1}))], "tool_use"));
    assert_eq!(world.tool_log, ["start t1"]);
}
