//! A deadline does not outlive the effect that was waited for: nothing wakes a run for an answer that would be
//! dropped.

use looplet::engine::ledger::timers::TimerReason;
use serde_json::{Value, json};

use crate::structured_output::{GOOD, schema};
use crate::subagents::{ask, calls, says, setting};
use crate::tool_errors::fault;
use crate::wire::{call, stream_with_usage, text};
use crate::world::World;

/// A run whose subagent has 50 ms in all; `fields` are merged over its profile.
fn with_helper(fields: Value) -> World {
    let mut profile = json!({"timeouts": {"totalMs": 50, "toolMs": 1_000, "firstChunkMs": 1_000}});
    profile
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    let mut world = World::started(setting(json!({"agents": {"0": profile}})));
    world.respond(&calls(&[ask("a", "helper", "Go.")]));
    world
}

/// The helper waits for a question's answer when its time is up; the run goes on with its caller.
fn expect_nothing_left(mut world: World, question: &str) {
    assert_eq!(world.questions.len(), 1, "{question} is asked");
    let asked = world.questions[0].0;
    assert_eq!(
        world.run.poll_timeout().unwrap().at_ms,
        1_000_050,
        "the helper's own time is over first"
    );
    world.pass(50);
    assert!(!world.run.is_live(asked), "{question} is closed");
    let next = world
        .run
        .poll_timeout()
        .expect("the caller's request is waited for");
    assert!(
        matches!(next.reason, TimerReason::Effect(_)),
        "{question} is still waited for: {next:?}"
    );
    world.respond(&says("Fine."));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn the_wait_for_a_summary_ends_with_its_agent() {
    let mut world = with_helper(json!({"context": {"window": 500, "keepLast": 1, "ask": true}}));
    for round in 1..=4 {
        if !world.questions.is_empty() {
            break;
        }
        let id = format!("c{round}");
        let pieces = [text("So far."), call(&id, "dig", json!({"n": round}))];
        world.respond(&stream_with_usage(&pieces, "tool_use", 120 * round, 10));
        world.return_value(&id, json!("x".repeat(200)));
    }
    expect_nothing_left(world, "summarize");
}

#[test]
fn the_wait_for_a_check_of_the_output_ends_with_its_agent() {
    let output = json!({"schema": schema(), "mode": "native", "ask": true});
    let mut world = with_helper(json!({"output": output}));
    world.respond(&says(GOOD));
    expect_nothing_left(world, "check_output");
}

#[test]
fn the_wait_for_words_for_errors_ends_with_its_agent() {
    let mut world = with_helper(json!({"toolCalls": {"wordErrors": true}}));
    world.respond(&calls(&[call("d", "dig", json!({}))]));
    world.finish_tool("d", fault("It broke."));
    expect_nothing_left(world, "word_errors");
}
