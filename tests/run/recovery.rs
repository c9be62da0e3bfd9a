//! Failures in the middle of an answer: one budget, one delivery, and what they cost.

use looplet::engine::model::event::EventKind;
use serde_json::{Value, json};

use crate::wire::{begin, call, event, open, stream, stream_with_usage, text};
use crate::world::{World, config, tool};

fn overloaded() -> String {
    event(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}))
}

fn world(fields: Value) -> World {
    World::started(config(json!([tool("add", json!({"readOnly": true}))]), fields))
}

/// An answer that begins and then fails.
fn break_off(world: &mut World, said: &str) {
    world.head(200, &[("retry-after", "30")]);
    world.chunk(&(begin(10) + &open(0, &text(said))));
    world.chunk(&overloaded());
    world.open_request = None;
}

fn resets(world: &World) -> Vec<(u32, Vec<u32>)> {
    let reset = |kind: &EventKind| match kind {
        EventKind::Reset { blocks } => Some(blocks.clone()),
        _ => None,
    };
    let events = world.events.iter();
    events
        .filter_map(|event| Some((event.attempt, reset(&event.kind)?)))
        .collect()
}

#[test]
fn refusals_drops_and_broken_answers_share_one_budget() {
    let mut world = world(json!({"retry": {"maxRetries": 3}}));
    break_off(&mut world, "One");
    world.pass(2000);
    world.refuse(429, &[], "{}");
    world.pass(4000);
    world.network_failed();
    world.pass(8000);
    break_off(&mut world, "Two");
    let result = world.result();
    assert_eq!(world.requests.len(), 4);
    assert_eq!(
        (&result["outcome"], &result["error"]["code"]),
        (&json!("failed"), &json!("overloaded"))
    );
    assert_eq!(
        (&result["text"], &result["messages"][1]["partial"]),
        (&json!("Two"), &json!(true))
    );
    assert!(
        world.requests.windows(2).all(|pair| pair[0] == pair[1]),
        "the same bytes again"
    );
}

#[test]
fn a_wait_that_came_with_a_success_is_not_believed() {
    let mut world = world(json!({}));
    break_off(&mut world, "One");
    world.pass(2000);
    assert_eq!(world.requests.len(), 2, "30 s were asked for with status 200");
}

#[test]
fn nothing_is_delivered_twice_without_a_reset_that_names_it() {
    let mut world = world(json!({}));
    for wait_ms in [2000, 4000] {
        break_off(&mut world, "Half of ");
        world.pass(wait_ms);
    }
    world.respond(&stream(&[text("All of it.")], "end_turn"));
    assert_eq!(resets(&world), [(1, vec![0]), (2, vec![0])]);
    assert_eq!(world.delivered_text(), "All of it.");
    assert_eq!(world.result()["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn a_call_of_a_broken_answer_never_runs_and_one_that_has_run_runs_once() {
    let mut world = world(json!({}));
    world.respond(&stream(&[call("a", "add", json!({"n": 1}))], "tool_use"));
    world.return_value("a", json!(1));
    world.head(200, &[]);
    world.chunk(&(begin(10) + &crate::wire::block(0, &call("b", "add", json!({"n": 2})))));
    world.chunk(&overloaded());
    world.open_request = None;
    world.pass(2000);
    world.respond(&stream(&[call("c", "add", json!({"n": 3}))], "tool_use"));
    world.return_value("c", json!(3));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.tool_log, ["start a", "end a", "start c", "end c"]);
    let ids: Vec<Value> = world.result()["toolCalls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["toolCallId"].clone())
        .collect();
    assert_eq!(ids, ["a", "c"]);
}

#[test]
fn every_attempt_is_counted_and_paid_for() {
    let price = json!({"inputNanoUsd": 3, "outputNanoUsd": 15});
    let model = json!({"vendor": "anthropic", "model": "claude-test", "price": price});
    let mut world = world(json!({"model": model}));
    break_off(&mut world, "Half of ");
    world.pass(2000);
    world.respond(&stream_with_usage(&[text("All.")], "end_turn", 10, 5));
    let result = world.result();
    assert_eq!(result["usage"]["inputTokens"], 20);
    let output = result["usage"]["outputTokens"].as_u64().unwrap();
    assert_eq!(result["costNanoUsd"], 20 * 3 + output * 15);
    assert_eq!(result["usage"]["isCostReported"], false);
}

#[test]
fn what_an_abort_leaves_is_counted_and_paid_for() {
    let price = json!({"inputNanoUsd": 3, "outputNanoUsd": 15});
    let model = json!({"vendor": "anthropic", "model": "claude-test", "price": price});
    let mut world = world(json!({"model": model}));
    world.head(200, &[]);
    world.chunk(&(begin(10) + &open(0, &text("Half of "))));
    world.cancel();
    let result = world.result();
    assert_eq!(result["usage"]["inputTokens"], 10);
    let output = result["usage"]["outputTokens"].as_u64().unwrap();
    assert_eq!(result["costNanoUsd"], 10 * 3 + output * 15);
}
