//! What a subagent that is kept remembers, from call to call and from run to run.

use serde_json::{Value, json};

use crate::ended::check_messages;
use crate::subagents::{ask, calls, says, setting};
use crate::wire::{call, text};
use crate::world::{World, tool};

/// A world whose agents remember what another run has left.
fn after(result: &Value) -> World {
    let mut config = setting(json!({}));
    config.options.subagents = serde_json::from_value(result["subagents"].clone()).unwrap();
    World::started(config)
}

#[test]
fn what_a_kept_subagent_remembers_is_handed_from_run_to_run() {
    let mut world = World::started(setting(json!({})));
    world.respond(&calls(&[ask("a", "keeper", "One."), ask("b", "helper", "Two.")]));
    world.respond_to("root/keeper", &says("First."));
    world.respond_to("root/helper", &says("Second."));
    world.respond(&says("Done."));
    let first = world.result();
    assert_eq!(
        first["subagents"].as_array().unwrap().len(),
        1,
        "only what is kept"
    );
    assert_eq!(first["subagents"][0]["agentPath"], "root/keeper");
    let mut world = after(&first);
    world.respond(&calls(&[ask("a", "keeper", "Three.")]));
    let messages = world.body(1)["messages"].to_string();
    for told in ["One.", "First.", "Three."] {
        assert!(messages.contains(told), "{told} in {messages}");
    }
    world.respond(&says("Third."));
    world.respond(&says("Done."));
    let second = world.result();
    assert_eq!(second["subagents"].as_array().unwrap().len(), 1);
    assert_eq!(second["subagents"][0]["messages"].as_array().unwrap().len(), 4);
}

#[test]
fn what_is_remembered_outlasts_a_run_that_does_not_ask_for_it() {
    let memory = json!([{"agentPath": "root/keeper", "messages": [
        {"role": "user", "content": [{"type": "text", "text": "One."}]}]}]);
    let mut world = after(&json!({"subagents": memory}));
    world.respond(&says("Done."));
    assert_eq!(world.result()["subagents"], memory);
}

#[test]
fn an_abort_leaves_a_memory_that_is_legal() {
    let mut world = World::started(setting(json!({})));
    world.respond(&calls(&[ask("a", "keeper", "One.")]));
    world.respond(&calls(&[text("Hm."), call("d", "dig", json!({}))]));
    world.cancel();
    let result = world.result();
    let messages = &result["subagents"][0]["messages"];
    check_messages(messages);
    assert_eq!(messages.as_array().unwrap().len(), 3, "{messages}");
    let mut world = after(&result);
    world.respond(&calls(&[ask("b", "keeper", "Two.")]));
    assert_eq!(world.body(1)["messages"][2]["content"][0]["tool_use_id"], "d");
}

#[test]
fn a_kept_subagent_of_a_kept_one_remembers_and_one_of_a_fresh_one_does_not() {
    let inner = tool("inner", json!({"agent": {"profile": 1, "keep": true}}));
    let fields = json!({"limits": {"maxSubagentDepth": 2}, "agents": {"0": {"tools": [inner]}}});
    let mut world = World::started(setting(fields));
    for (outer, id) in [("keeper", "a"), ("keeper", "b"), ("helper", "c")] {
        world.respond(&calls(&[ask(id, outer, "Go on.")]));
        world.respond(&calls(&[ask(&[id, "1"].concat(), "inner", "Deep.")]));
        world.respond(&says("Inner."));
        world.respond(&says("Outer."));
    }
    world.respond(&says("Done."));
    let result = world.result();
    let paths: Vec<&Value> = result["subagents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| &memory["agentPath"])
        .collect();
    assert_eq!(paths, ["root/keeper/inner", "root/keeper"]);
    let inner = &result["subagents"][0]["messages"];
    assert_eq!(inner.as_array().unwrap().len(), 4, "{inner}");
}

#[test]
fn kept_subagents_of_one_name_are_not_the_same_before_and_after_a_handover() {
    let keeper = tool("keeper", json!({"agent": {"profile": 1, "keep": true}}));
    let model = json!({"vendor": "anthropic", "protocol": "anthropic", "model": "claude-test"});
    let expert = json!({"model": model, "tools": [keeper]});
    let mut world = World::started(setting(json!({"agents": {"1": expert}})));
    world.respond(&calls(&[ask("a", "keeper", "One.")]));
    world.respond(&says("First."));
    world.respond(&calls(&[call("h", "expert", json!({}))]));
    world.respond(&calls(&[ask("b", "keeper", "Two.")]));
    let messages = world.body(4)["messages"].to_string();
    assert!(!messages.contains("One."), "{messages}");
    world.respond(&says("Second."));
    world.respond(&says("Done."));
    let result = world.result();
    let paths = [0, 1].map(|at| result["subagents"][at]["agentPath"].as_str().unwrap().to_owned());
    assert_eq!(paths, ["root/keeper", "root@2/keeper"]);
}

#[test]
fn a_memory_that_is_no_history_is_refused_by_its_place() {
    let mut config = setting(json!({}));
    config.options.subagents = serde_json::from_value(json!([{"agentPath": "root/keeper", "messages": [
        {"role": "user", "content": [{"type": "tool_result", "callId": "x", "content": []}]}]}]))
    .unwrap();
    let error = config.open().err().unwrap();
    assert!(
        error.field.starts_with("subagents[0].messages[0]"),
        "{}",
        error.field
    );
}
