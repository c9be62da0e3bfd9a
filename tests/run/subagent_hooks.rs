use looplet::engine::model::hook::{Decision, HookAnswer, Raise};
use serde_json::{Value, json};

use crate::hooks::{adds, answer, asked, says};
use crate::wire::{call, stream, stream_with_usage, text};
use crate::world::{World, config, tool};

/// A run that has called the subagent `helper`, which has the tool `dig`.
fn world(hooks: Value, fields: Value) -> World {
    let tools = json!([
        tool("helper", json!({"agent": {"profile": 1}})),
        tool("act", json!({}))
    ]);
    let mut all = json!({"hooks": hooks, "agents": [
        {"model": {"vendor": "anthropic", "model": "small"}, "system": "Dig.", "tools": [tool("dig", json!({}))]},
    ]});
    for (key, value) in fields.as_object().unwrap() {
        all[key] = value.clone();
    }
    let mut world = World::started(config(tools, all));
    world.respond(&stream(
        &[call("h", "helper", json!({"prompt": "Find it."}))],
        "tool_use",
    ));
    world
}

#[test]
fn s001_46_subagent_start_adds_to_its_prompt_and_names_the_call() {
    let mut world = world(
        json!([{"event": "SubagentStart", "names": ["helper"]}]),
        json!({}),
    );
    let (_, input) = asked(&world).remove(0);
    assert_eq!(
        (
            &input["agentName"],
            &input["prompt"],
            &input["toolCallId"],
            &input["agentPath"]
        ),
        (
            &json!("helper"),
            &json!("Find it."),
            &json!("h"),
            &json!("root/helper")
        )
    );
    answer(&mut world, adds("It is in the garden."));
    let body = world.body(1);
    assert_eq!(
        (&body["model"], &body["messages"][0]["content"][1]["text"]),
        (&json!("small"), &json!("It is in the garden."))
    );
}

#[test]
fn s001_46_subagent_stop_has_it_go_on_and_the_runs_own_hooks_are_others() {
    let hooks = json!([{"event": "SubagentStop"}, {"event": "Stop"}, {"event": "UserPromptSubmit"}]);
    let mut world = world_after_prompt(hooks);
    world.respond(&stream(&[text("Not found.")], "end_turn"));
    let (event, input) = asked(&world).remove(0);
    assert_eq!(
        (event.as_str(), &input["lastAssistantMessage"]),
        ("SubagentStop", &json!("Not found."))
    );
    answer(&mut world, says(Decision::Deny, "Look again."));
    assert!(world.requests.last().unwrap().contains("Look again."));
    world.respond(&stream(&[text("Found.")], "end_turn"));
    answer(&mut world, HookAnswer::default());
    assert!(world.requests.last().unwrap().contains("Found."));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(asked(&world)[0].0, "Stop");
}

fn world_after_prompt(hooks: Value) -> World {
    let tools = json!([tool("helper", json!({"agent": {"profile": 1}}))]);
    let agents = json!([{"model": {"vendor": "anthropic", "model": "small"}, "tools": []}]);
    let mut world = World::started(config(tools, json!({"hooks": hooks, "agents": agents})));
    answer(&mut world, HookAnswer::default());
    world.respond(&stream(
        &[call("h", "helper", json!({"prompt": "Find it."}))],
        "tool_use",
    ));
    world
}

#[test]
fn hooks_and_guardrails_of_the_run_are_asked_about_its_subagents_too() {
    let mut world = world(json!([{"event": "PreToolUse", "names": ["dig"]}]), json!({}));
    world.respond(&stream(&[call("d", "dig", json!({"n": 1}))], "tool_use"));
    let (_, input) = asked(&world).remove(0);
    assert_eq!(
        (&input["agentPath"], &input["toolName"]),
        (&json!("root/helper"), &json!("dig"))
    );
    answer(&mut world, says(Decision::Deny, "Not here."));
    assert!(world.tool_log.is_empty());
}

#[test]
fn a_limit_of_the_run_that_a_subagent_hits_is_asked_about_at_the_root() {
    let mut world = world(
        json!([{"event": "Limit"}]),
        json!({"limits": {"maxTotalTokens": 40}}),
    );
    world.respond(&stream_with_usage(
        &[text("Half."), call("d", "dig", json!({}))],
        "tool_use",
        50,
        50,
    ));
    assert!(world.running.is_empty(), "the subagent is stopped");
    let (_, input) = asked(&world).remove(0);
    assert_eq!(
        (&input["limit"], &input["agentPath"]),
        (&json!("tokens"), &json!("root"))
    );
    let limits = Some(Raise {
        max_total_tokens: Some(1000),
        ..Raise::default()
    });
    answer(
        &mut world,
        HookAnswer {
            limits,
            ..HookAnswer::default()
        },
    );
    assert!(world.requests.last().unwrap().contains("Half."));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}
