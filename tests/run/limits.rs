use serde_json::json;

use crate::wire::{begin, call, event, open, stream, stream_with_usage, text};
use crate::world::{World, config, tool};

fn world(fields: serde_json::Value) -> World {
    World::started(config(json!([tool("read", json!({"readOnly": true}))]), fields))
}

fn stopped_by(world: &World, what: &str) -> bool {
    let result = world.result();
    result["outcome"] == "stopped" && result["stoppedBy"] == what
}

#[test]
fn s000_21_i_05_no_more_model_calls_are_made_than_allowed() {
    let mut world = world(json!({"limits": {"maxIterations": 3}}));
    for id in ["a", "b", "c"] {
        world.respond(&stream(&[text("Next."), call(id, "read", json!({}))], "tool_use"));
        world.return_value(id, json!(1));
    }
    assert!(stopped_by(&world, "iterations"));
    assert_eq!(world.requests.len(), 3);
    assert_eq!(world.result()["text"], "Next.");
    assert_eq!(world.result()["toolCalls"].as_array().unwrap().len(), 3);
    assert_eq!(
        world.result()["messages"].as_array().unwrap().len(),
        7,
        "the last round has its results"
    );
}

#[test]
fn s003_06_fifty_is_the_default() {
    let mut world = world(json!({}));
    for round in 0..50 {
        world.respond(&stream(
            &[call(&format!("t{round}"), "read", json!({}))],
            "tool_use",
        ));
        world.return_value(&format!("t{round}"), json!(round));
    }
    assert!(stopped_by(&world, "iterations"));
}

#[test]
fn s003_05_of_two_limits_that_are_reached_together_the_iterations_are_told() {
    for (most, expected) in [(1, "iterations"), (2, "tokens")] {
        let mut world = world(json!({"limits": {"maxIterations": most, "maxTotalTokens": 100}}));
        let calls = [call("a", "read", json!({}))];
        world.respond(&stream_with_usage(&calls, "tool_use", 90, 11));
        assert!(stopped_by(&world, expected), "{expected}");
        assert!(world.tool_log.is_empty());
    }
}

#[test]
fn s003_08_too_many_tokens_stop_the_run_before_its_tools() {
    let mut world = world(json!({"limits": {"maxTotalTokens": 100}}));
    world.respond(&stream_with_usage(
        &[call("a", "read", json!({}))],
        "tool_use",
        90,
        10,
    ));
    assert_eq!(world.tool_log, ["start a"], "exactly the limit is not over it");
    world.return_value("a", json!(1));
    world.respond(&stream_with_usage(
        &[text("More."), call("b", "read", json!({}))],
        "tool_use",
        1,
        0,
    ));
    assert!(stopped_by(&world, "tokens"));
    assert_eq!(world.tool_log, ["start a", "end a"]);
    let messages = world.result()["messages"].clone();
    assert_eq!(
        messages[3]["partial"],
        serde_json::Value::Null,
        "the answer itself was whole"
    );
    assert_eq!(messages[4]["content"][0]["callId"], "b");
}

#[test]
fn tokens_are_counted_while_the_answer_streams() {
    let mut world = world(json!({"limits": {"maxTotalTokens": 100}}));
    world.head(200, &[]);
    world.chunk(&(begin(99) + &open(0, &text("Long "))));
    assert!(world.done.is_none());
    world.chunk(&event(
        json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 2}}),
    ));
    assert!(stopped_by(&world, "tokens"));
    assert_eq!(world.result()["text"], "Long ");
    assert_eq!(world.aborted_requests.len(), 1);
}

#[test]
fn the_whole_run_may_take_so_long() {
    let mut world = world(json!({"timeouts": {"totalMs": 5000}}));
    world.pass(3000);
    world.respond(&stream(&[call("a", "read", json!({}))], "tool_use"));
    world.pass(2000);
    assert!(stopped_by(&world, "time"));
    assert_eq!(world.tool_log, ["start a", "abort a"]);
}

#[test]
fn an_iteration_may_take_so_long_with_its_tools() {
    let mut world = world(json!({"timeouts": {"iterationMs": 5000}}));
    world.pass(3000);
    world.respond(&stream(&[call("a", "read", json!({}))], "tool_use"));
    world.return_value("a", json!(1));
    world.pass(4999);
    assert!(world.done.is_none(), "a new iteration has its own time");
    world.pass(1);
    assert!(stopped_by(&world, "time"));
}

#[test]
fn money_is_counted_where_there_is_a_price() {
    let price = json!({"inputNanoUsd": 3000, "outputNanoUsd": 15000});
    let mut world = world(json!({"model": {"price": price}}));
    world.respond(&stream_with_usage(&[text("Hi.")], "end_turn", 100, 10));
    assert_eq!(world.result()["costNanoUsd"], 100 * 3000 + 10 * 15000);
}

#[test]
fn the_token_limit_does_not_depend_on_where_the_stream_is_cut() {
    let body = stream_with_usage(&[text("Done.")], "end_turn", 5, 6);
    let (head, tail) = body.split_at(body.rfind("event:").unwrap());
    let mut whole = world(json!({"limits": {"maxTotalTokens": 10}}));
    whole.respond(&body);
    let mut cut = world(json!({"limits": {"maxTotalTokens": 10}}));
    cut.head(200, &[]);
    cut.chunk(head);
    cut.chunk(tail);
    cut.end();
    assert_eq!(whole.result()["outcome"], "completed");
    assert_eq!(whole.result(), cut.result());
}
