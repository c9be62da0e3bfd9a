//! Pairs of options of which one could keep the other from ever counting: what was given does.

use serde_json::{Value, json};

use crate::wire::{call, stream, text};
use crate::world::{Settings, World, config, tool};

fn world(fields: Value) -> World {
    let mut world = World::new(config(json!([tool("act", json!({}))]), fields));
    world.prompt("Go.");
    world
}

/// Rounds of calls, equal or not, until the run has ended, the host is asked or there have been as many; how many.
fn rounds(world: &mut World, most: usize, equal: bool) -> usize {
    for round in 0..most {
        if world.done.is_some() || !world.questions.is_empty() {
            return round;
        }
        let id = format!("t{round}");
        let n = if equal { 0 } else { round };
        world.respond(&stream(&[call(&id, "act", json!({"n": n}))], "tool_use"));
        world.return_value(&id, json!(1));
    }
    most
}

#[test]
fn a_step_of_repetition_that_was_given_comes_whatever_the_others_are_by_default() {
    for (repeat, asked_at) in [
        (json!({"askAfter": 30}), 30),
        (json!({"nudgeAfter": 8}), 16),
        (json!({"stopAfter": 5}), 4),
        (json!({}), 6),
    ] {
        let mut world = world(json!({"repeat": repeat, "askRepeat": true}));
        assert_eq!(rounds(&mut world, 40, true), asked_at, "{repeat}");
        assert_eq!(world.questions.len(), 1, "{repeat}");
    }
    let mut told = world(json!({"repeat": {"nudgeAfter": 25}}));
    rounds(&mut told, 25, true);
    assert!(told.requests[25].contains("25 times"), "before it is stopped");
}

#[test]
fn limits_that_were_given_are_reached_whatever_the_default_of_iterations() {
    let mut world = world(json!({"limits": {"maxToolRounds": 60}}));
    assert_eq!(rounds(&mut world, 60, false), 60);
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");

    let mut world = self::world(json!({"stopWhen": [{"iterations": 55}]}));
    assert_eq!(rounds(&mut world, 60, false), 55);
    assert_eq!(world.result()["stoppedBy"], "condition");

    let output = json!({"schema": {"type": "object"}, "mode": "native", "maxRetries": 55});
    let mut world = self::world(json!({"output": output}));
    for _ in 0..56 {
        world.respond(&stream(&[text("no")], "end_turn"));
    }
    assert_eq!(world.result()["stoppedBy"], "structured_output");

    let given = json!({"maxToolRounds": 60, "maxIterations": 10});
    let mut world = self::world(json!({"limits": given}));
    assert_eq!(rounds(&mut world, 60, false), 10);
    assert_eq!(world.result()["stoppedBy"], "iterations", "whichever comes first");
}

#[test]
fn a_first_wait_is_never_cut_by_the_default_of_the_longest() {
    let retry = json!({"baseMs": 90_000, "factor": 1, "jitterMs": 0});
    let mut world = world(json!({"retry": retry}));
    world.refuse(500, &[], "{}");
    let at_ms = world.run.poll_timeout().unwrap().at_ms;
    assert_eq!(at_ms - world.now_ms, 90_000);
}

#[test]
fn an_answer_that_is_to_be_continued_is_no_strange_end() {
    let mut world = world(json!({"answers": {"strictStopReason": true, "onMaxTokens": "continue"}}));
    world.respond(&stream(&[text("Half of")], "max_tokens"));
    world.respond(&stream(&[text(" it.")], "end_turn"));
    assert_eq!(world.result()["text"], "Half of it.");
    assert_eq!(world.result()["outcome"], "completed");

    let one = json!({"answers": {"strictStopReason": true, "onMaxTokens": "continue"}, "limits": {"maxIterations": 1}});
    let mut world = self::world(one);
    world.respond(&stream(&[text("Half of")], "max_tokens"));
    assert_eq!(world.result()["outcome"], "failed", "nothing continues it");
}

#[test]
fn the_shorter_of_two_times_counts() {
    for (timeouts, stopped_at) in [
        (json!({"totalMs": 100, "iterationMs": 1000}), Some(100)),
        (json!({"iterationMs": 100, "toolMs": 1000}), Some(100)),
        (json!({"iterationMs": 1000, "toolMs": 100}), None),
    ] {
        let mut world = world(json!({"timeouts": timeouts}));
        world.respond(&stream(&[call("a", "act", json!({}))], "tool_use"));
        world.pass(99);
        assert!(world.done.is_none() && world.requests.len() == 1, "{timeouts}");
        world.pass(1);
        assert_eq!(world.done.is_some(), stopped_at.is_some(), "{timeouts}");
        let went_on = world.requests.len() == 2;
        assert_eq!(went_on, stopped_at.is_none(), "{timeouts}: the model is told");
    }
}

#[test]
fn a_budget_of_thinking_has_room_in_the_answer_or_is_an_error_that_names_both() {
    let model = |protocol: &str, more: Value| {
        let mut model = json!({"vendor": "compatible", "protocol": protocol, "baseUrl": "http://h/v1",
            "model": "anthropic.claude-sonnet-4", "thinking": {"budgetTokens": 20_000}});
        for (key, value) in more.as_object().unwrap() {
            model[key] = value.clone();
        }
        Settings::of(&json!({"model": model}))
    };
    for protocol in ["anthropic", "bedrock_converse"] {
        let error = model(protocol, json!({"maxOutputTokens": 8000})).open();
        let told = error.err().map(|error| error.to_text()).unwrap_or_default();
        assert!(
            told.contains("maxOutputTokens") && told.contains("budgetTokens"),
            "{protocol}: {told}"
        );
    }
    let mut world = World::started(model("anthropic", json!({})));
    assert!(world.body(0)["max_tokens"].as_u64().unwrap() > 20_000);
    world.cancel();
}
