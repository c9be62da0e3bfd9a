//! What a traced run tells beside its events; one that is not traced tells nothing of it.

use looplet::engine::model::event::{EventKind, Transfer};
use serde_json::{Value, json};

use crate::subagents::setting;
use crate::wire::{call, stream, text};
use crate::world::{World, config, tool};

fn played(fields: Value) -> World {
    let mut world = World::started(config(json!([tool("read", json!({"readOnly": true}))]), fields));
    world.pass(500);
    let calls = [
        call("a", "read", json!({"n": 1, "m": {"y": 2, "x": 1}})),
        call("b", "read", json!({"m": {"x": 1, "y": 2}, "n": 1})),
        call("c", "read", json!({"n": 2})),
    ];
    world.respond(&stream(&calls, "tool_use"));
    world.pass(40);
    for id in ["a", "b", "c"] {
        world.return_value(id, json!(1));
    }
    world.respond(&stream(&[text("Done.")], "end_turn"));
    world
}

fn hashes(world: &World) -> Vec<Option<String>> {
    let hash = |kind: &EventKind| match kind {
        EventKind::ToolCall { input_hash, .. } => Some(input_hash.clone()),
        _ => None,
    };
    world
        .events
        .iter()
        .filter_map(|event| hash(&event.kind))
        .collect()
}

#[test]
fn s003_22_equal_inputs_have_equal_hashes_in_a_traced_run() {
    let world = played(json!({"trace": true}));
    let hashes = hashes(&world);
    assert_eq!(hashes[0], hashes[1]);
    assert_ne!(hashes[0], hashes[2]);
    assert!(hashes.iter().flatten().all(|hash| hash.len() == 64));
}

#[test]
fn s003_21_every_event_but_deltas_says_when_it_happened_in_a_traced_run() {
    let world = played(json!({"trace": true}));
    let (deltas, told): (Vec<_>, Vec<_>) = world.events.iter().partition(|event| event.kind.is_delta());
    assert!(told.iter().all(|event| event.time_ms.is_some()));
    assert_eq!(told.first().unwrap().time_ms, Some(1_000_000));
    assert_eq!(told.last().unwrap().time_ms, Some(1_000_540));
    assert!(deltas.len() > 3);
    assert!(deltas.iter().all(|event| event.time_ms.is_none()));
}

#[test]
fn a_run_that_is_not_traced_has_neither() {
    let world = played(json!({}));
    assert!(world.events.iter().all(|event| event.time_ms.is_none()));
    assert_eq!(hashes(&world), [None, None, None]);
}

#[test]
fn a_traced_call_of_another_agent_says_whether_the_caller_goes_on() {
    let transfers = |trace: bool| {
        let mut world = World::started(setting(json!({"trace": trace})));
        let called = ["helper", "expert", "read"].map(|name| call(name, name, json!({"prompt": "Go"})));
        world.respond(&stream(&called, "tool_use"));
        let transfer = |kind: &EventKind| match kind {
            EventKind::ToolCall { transfer, .. } => Some(*transfer),
            _ => None,
        };
        let told: Vec<_> = world
            .events
            .iter()
            .filter_map(|event| transfer(&event.kind))
            .collect();
        told
    };
    let traced = [Some(Transfer::ReturnToCaller), Some(Transfer::PassControl), None];
    assert_eq!(transfers(true), traced);
    assert_eq!(transfers(false), [None; 3]);
}
