use looplet::engine::model::hook::{HookAnswer, Raise};
use serde_json::{Value, json};

use crate::hooks::{answer, asked, fail};
use crate::wire::{begin, block, call, end, stream, stream_with_usage, text};
use crate::world::{World, config, tool};

fn world(limits: Value) -> World {
    let hooks = json!([{"event": "Limit"}]);
    World::started(config(
        json!([tool("act", json!({}))]),
        json!({"limits": limits, "hooks": hooks}),
    ))
}

/// An answer that calls `act`, which returns.
fn round(world: &mut World) {
    let id = format!("c{}", world.requests.len());
    world.respond(&stream(
        &[call(&id, "act", json!({"n": world.requests.len()}))],
        "tool_use",
    ));
    if world.running.contains_key(&id) {
        world.return_value(&id, json!(1));
    }
}

fn raise(world: &mut World, limits: Raise) {
    let limits = Some(limits);
    answer(
        world,
        HookAnswer {
            limits,
            ..HookAnswer::default()
        },
    );
}

#[test]
fn the_host_is_asked_at_a_limit_and_the_run_goes_on_with_a_higher_one() {
    let mut world = world(json!({"maxIterations": 1}));
    round(&mut world);
    let (event, input) = asked(&world).remove(0);
    assert_eq!(
        (event.as_str(), &input["limit"], &input["iteration"]),
        ("Limit", &json!("iterations"), &json!(1))
    );
    assert_eq!(input["toolCalls"], 1);
    assert_eq!(world.requests.len(), 1);
    raise(
        &mut world,
        Raise {
            max_iterations: Some(2),
            ..Raise::default()
        },
    );
    assert_eq!(world.requests.len(), 2);
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
    assert_eq!(world.result()["iterations"], 2);
}

#[test]
fn a_limit_that_is_not_raised_or_not_enough_stops_the_run() {
    for raised in [None, Some(0), Some(1)] {
        let mut world = world(json!({"maxIterations": 1}));
        round(&mut world);
        match raised {
            None => drop(answer(&mut world, HookAnswer::default())),
            Some(0) => fail(&mut world),
            more => raise(
                &mut world,
                Raise {
                    max_iterations: more,
                    ..Raise::default()
                },
            ),
        }
        assert_eq!(world.result()["stoppedBy"], "iterations");
    }
}

#[test]
fn calls_that_wait_for_a_limit_run_when_it_is_raised() {
    let mut world = world(json!({"maxToolRounds": 1, "maxToolCalls": 1}));
    round(&mut world);
    world.respond(&stream(&[call("x", "act", json!({"n": 9}))], "tool_use"));
    assert!(world.running.is_empty());
    assert_eq!(asked(&world)[0].1["limit"], "tool_rounds");
    raise(
        &mut world,
        Raise {
            max_tool_rounds: Some(5),
            ..Raise::default()
        },
    );
    assert_eq!(
        asked(&world)[0].1["limit"],
        "tool_calls",
        "each limit is asked about"
    );
    raise(
        &mut world,
        Raise {
            max_tool_calls: Some(2),
            ..Raise::default()
        },
    );
    assert!(world.running.contains_key("x"));
}

#[test]
fn tokens_are_asked_about_when_the_answer_is_complete_so_that_nothing_is_lost() {
    let mut world = world(json!({"maxTotalTokens": 10}));
    world.respond(&stream_with_usage(
        &[text("Long."), call("x", "act", json!({}))],
        "tool_use",
        10,
        10,
    ));
    assert_eq!(asked(&world)[0].1["limit"], "tokens");
    assert_eq!(asked(&world)[0].1["usage"]["outputTokens"], 10);
    assert!(world.running.is_empty());
    raise(
        &mut world,
        Raise {
            max_total_tokens: Some(1000),
            ..Raise::default()
        },
    );
    assert!(world.running.contains_key("x"));
}

#[test]
fn a_budget_used_up_while_an_answer_streams_is_asked_about_when_it_is_whole() {
    let mut world = world(json!({"maxTotalTokens": 10}));
    world.head(200, &[]);
    world.chunk(&begin(11));
    world.chunk(&block(0, &call("x", "act", json!({}))));
    assert_eq!(world.result()["outcome"], Value::Null);
    assert!(asked(&world).is_empty());
    world.chunk(&end("tool_use", 5));
    world.end();
    assert_eq!(asked(&world)[0].1["limit"], "tokens");
}

#[test]
fn s001_45_a_stopped_run_goes_on_from_its_messages_with_a_higher_limit() {
    let mut world = World::started(config(
        json!([tool("act", json!({}))]),
        json!({"limits": {"maxIterations": 1}}),
    ));
    round(&mut world);
    let result = world.result();
    assert_eq!(result["stoppedBy"], "iterations");
    let mut config = config(
        json!([tool("act", json!({}))]),
        json!({"limits": {"maxIterations": 5}}),
    );
    config.options.messages = serde_json::from_value(result["messages"].clone()).unwrap();
    let mut world = World::new(config);
    world.prompt("Go on.");
    let messages = world.body(0)["messages"].clone();
    assert_eq!(messages[1]["content"][0]["type"], "tool_use");
    assert_eq!(messages[2]["content"][0]["type"], "tool_result");
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn an_abort_while_a_limit_is_asked_about_leaves_a_legal_transcript() {
    let mut world = world(json!({"maxToolCalls": 1}));
    world.respond(&stream(
        &[call("x", "act", json!({})), call("y", "act", json!({}))],
        "tool_use",
    ));
    world.cancel();
    let result = world.result();
    assert_eq!(result["outcome"], "cancelled");
    assert_eq!(result["messages"][2]["content"].as_array().unwrap().len(), 2);
}
