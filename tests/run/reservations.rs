//! Estimated usage: what a call will use at least is set aside before it is sent, and counts until it is reported.

use looplet::engine::model::hook::{HookAnswer, Raise};
use serde_json::{Value, json};

use crate::hooks::{answer, asked};
use crate::subagents::{ask, calls, says, setting, told};
use crate::wire::{block, call, event, open, stream_with_usage, text};
use crate::world::World;

fn world(limits: Value, fields: Value) -> World {
    let mut fields = fields;
    fields["limits"] = limits;
    fields["limits"]["estimateUsage"] = json!(true);
    World::started(setting(fields))
}

/// About 350 tokens.
fn task() -> String {
    "dig ".repeat(300)
}

/// An answer of a server that says nothing of usage.
fn unreported(words: &str, end: bool) -> String {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [],
        "model": "claude-test", "stop_reason": null, "stop_sequence": null});
    let mut stream = event(json!({"type": "message_start", "message": message}));
    if end {
        stream.push_str(&block(0, &text(words)));
        stream.push_str(&event(
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null}}),
        ));
        stream.push_str(&event(json!({"type": "message_stop"})));
    } else {
        stream.push_str(&open(0, &text(words)));
    }
    stream
}

#[test]
fn a_child_reserves_its_request_from_the_roots_budget_before_it_is_sent() {
    let mut world = world(json!({"maxTotalTokens": 1150}), json!({}));
    let asks: Vec<_> = ["a", "b", "c"].map(|id| ask(id, "helper", &task())).into();
    world.respond(&stream_with_usage(&asks, "tool_use", 300, 0));
    assert_eq!(
        world.open_requests.len(),
        2,
        "300 are used, twice about 370 reserved"
    );
    assert_eq!(world.agents.len(), 3);
    // What is reported takes the place of the estimate.
    world.respond_to(
        "root/helper",
        &stream_with_usage(&[text("A.")], "end_turn", 100, 1),
    );
    world.respond_to(
        "root/helper#2",
        &stream_with_usage(&[text("B.")], "end_turn", 100, 1),
    );
    assert_eq!(told(&world, 3, "a").0, "A.");
    assert_eq!(
        told(&world, 3, "c"),
        ("[The agent was stopped by its limit: tokens.]".to_owned(), false)
    );
    world.respond(&stream_with_usage(&[text("Done.")], "end_turn", 300, 1));
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["usage"]["inputTokens"]),
        (&json!("completed"), &json!(800)),
        "the run goes on, and its usage is what was reported"
    );
}

#[test]
fn money_is_reserved_at_the_models_price() {
    let price = json!({"price": {"inputNanoUsd": 10, "outputNanoUsd": 50}});
    let fields = json!({"model": price, "agents": {"0": {"model": price}}});
    let mut world = world(json!({"maxCostNanoUsd": 7000}), fields);
    let asks: Vec<_> = ["a", "b"].map(|id| ask(id, "helper", &task())).into();
    world.respond(&stream_with_usage(&asks, "tool_use", 10, 1));
    assert_eq!(
        world.open_requests.len(),
        1,
        "150 are spent, about 3,700 reserved"
    );
}

#[test]
fn without_the_option_nothing_is_reserved() {
    let mut world = World::started(setting(json!({"limits": {"maxTotalTokens": 1000}})));
    let asks: Vec<_> = ["a", "b", "c"].map(|id| ask(id, "helper", &task())).into();
    world.respond(&stream_with_usage(&asks, "tool_use", 300, 0));
    assert_eq!(world.open_requests.len(), 3);
}

#[test]
fn a_request_that_does_not_fit_in_what_is_left_is_not_sent_and_no_iteration() {
    let mut world = world(json!({"maxTotalTokens": 300}), json!({}));
    world.respond(&calls(&[call("x", "act", json!({"n": 1}))]));
    world.return_value("x", json!("found ".repeat(400)));
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["stoppedBy"]),
        (&json!("stopped"), &json!("tokens"))
    );
    assert_eq!((world.requests.len(), &result["iterations"]), (1, &json!(1)));
}

#[test]
fn the_host_may_raise_what_a_request_does_not_fit_in() {
    let fields = json!({"hooks": [{"event": "Limit"}]});
    let mut world = world(json!({"maxTotalTokens": 300}), fields);
    world.respond(&calls(&[call("x", "act", json!({"n": 1}))]));
    world.return_value("x", json!("found ".repeat(400)));
    assert_eq!(asked(&world)[0].1["limit"], "tokens");
    let limits = Some(Raise {
        max_total_tokens: Some(5000),
        ..Raise::default()
    });
    answer(
        &mut world,
        HookAnswer {
            limits,
            ..Default::default()
        },
    );
    world.respond(&says("Done."));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_stream_whose_usage_nobody_reports_is_stopped_by_estimate() {
    for estimates in [true, false] {
        let fields = json!({"limits": {"estimateUsage": estimates, "maxTotalTokens": 500}});
        let mut world = World::started(setting(fields));
        world.head(200, &[("content-type", "text/event-stream")]);
        world.chunk(&unreported("Once", false));
        for _ in 0..80 {
            if world.done.is_some() {
                break;
            }
            let delta = json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": " upon a time in a land far away."}});
            world.chunk(&event(delta));
        }
        assert_eq!(world.done.is_some(), estimates);
        if estimates {
            let result = world.result();
            assert_eq!(result["stoppedBy"], "tokens");
            assert!(result["text"].as_str().unwrap().starts_with("Once upon"));
            assert_eq!(result["usage"], json!(null), "as reported");
        }
    }
}

#[test]
fn answers_whose_usage_nobody_reported_count_by_estimate_from_then_on() {
    let mut world = world(json!({"maxTotalTokens": 500}), json!({}));
    world.input(looplet::engine::model::input::Input::FollowUp {
        id: 1,
        content: vec![looplet::engine::model::message::Block::text("Go on.")],
    });
    world.respond(&unreported(&"far away ".repeat(150), true));
    let result = world.result();
    assert_eq!(
        (&result["stoppedBy"], world.requests.len()),
        (&json!("tokens"), 1)
    );
}

#[test]
fn a_failed_attempt_gives_back_what_it_had_reserved() {
    let fields = json!({"retry": {"maxRetries": 5, "baseMs": 10}});
    let mut world = world(json!({"maxTotalTokens": 400}), fields);
    for _ in 0..5 {
        world.refuse(529, &[], "{}");
        world.pass(60_000);
    }
    world.respond(&says("Done."));
    assert_eq!(world.result()["outcome"], "completed");
}
