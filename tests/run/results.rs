//! What a result tells of time and of usage: durations by the run's clock, usage by model, usage that nobody
//! reported.

use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::Input;
use looplet::engine::model::message::Block;
use serde_json::{Value, json};

use crate::subagents::{ask, says, setting};
use crate::wire::{call, stream, stream_with_usage, text};
use crate::world::{World, config, tool};

/// A model on Chat Completions.
fn chat_world() -> World {
    let model = json!({"vendor": "openai", "protocol": "openai_chat", "model": "gpt",
        "price": {"inputNanoUsd": 10, "outputNanoUsd": 20}});
    World::started(config(json!([tool("act", json!({}))]), json!({ "model": model })))
}

/// An answer on Chat Completions, with or without usage.
fn chat(words: &str, usage: Option<Value>) -> String {
    let chunk = json!({"id": "c1", "choices": [{"index": 0, "delta": {"content": words}, "finish_reason": "stop"}],
        "usage": usage});
    format!("data: {chunk}\n\ndata: [DONE]\n\n")
}

fn follow_up(world: &mut World) {
    world.input(Input::FollowUp {
        id: 1,
        content: vec![Block::text("Go on.")],
    });
}

#[test]
fn a_run_lasts_from_its_prompt_to_its_end() {
    let mut world = World::started(config(json!([tool("act", json!({}))]), json!({})));
    world.now_ms += 300;
    world.respond(&stream(&[call("a", "act", json!({"n": 1}))], "tool_use"));
    world.now_ms += 2_000;
    world.return_value("a", json!(1));
    world.now_ms += 500;
    assert_eq!(world.result()["durationMs"], 2_300, "as of the last input");
    world.respond(&says("Done."));
    assert_eq!(world.result()["durationMs"], 2_800);
    assert_eq!(
        world.result()["apiDurationMs"],
        800,
        "a tool's time is not a model's"
    );
    world.now_ms += 10_000;
    world.input(Input::Due);
    assert_eq!(
        world.result()["durationMs"],
        2_800,
        "a run that is over lasts no longer"
    );
}

#[test]
fn the_waits_between_attempts_are_no_time_of_a_model_but_failed_requests_are() {
    let mut world = World::started(config(json!([]), json!({})));
    world.now_ms += 100;
    world.refuse(
        529,
        &[],
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}"#,
    );
    world.pass(2_000);
    world.now_ms += 50;
    world.respond(&says("Done."));
    let delay_ms = world.events.iter().find_map(|event| match event.kind {
        EventKind::Retry { delay_ms, .. } => Some(delay_ms),
        _ => None,
    });
    let result = world.result();
    assert_eq!(result["durationMs"], 2_150);
    assert_eq!(result["apiDurationMs"], 2_150 - delay_ms.unwrap());
}

#[test]
fn requests_of_subagents_that_overlap_each_count() {
    let mut world = World::started(setting(json!({})));
    world.respond(&stream(
        &[ask("a", "helper", "Find X."), ask("b", "helper", "Find Y.")],
        "tool_use",
    ));
    world.now_ms += 1_000;
    world.respond_to("root/helper", &says("X."));
    world.respond_to("root/helper#2", &says("Y."));
    world.respond_to("root", &says("Both."));
    assert_eq!(world.result()["durationMs"], 1_000);
    assert_eq!(world.result()["apiDurationMs"], 2_000);
}

#[test]
fn each_model_has_its_usage() {
    let mut world = World::started(setting(json!({
        "model": {"price": {"inputNanoUsd": 10, "outputNanoUsd": 20}},
    })));
    world.respond(&stream_with_usage(
        &[ask("a", "helper", "Find X.")],
        "tool_use",
        100,
        7,
    ));
    world.respond(&stream_with_usage(&[text("X.")], "end_turn", 20, 3));
    world.respond(&stream_with_usage(&[text("Done.")], "end_turn", 130, 5));
    let result = world.result();
    let of = |model: &str| {
        let used = &result["modelUsage"][model];
        (
            used["inputTokens"].clone(),
            used["outputTokens"].clone(),
            used["costNanoUsd"].clone(),
        )
    };
    let root = result["modelUsage"]
        .as_object()
        .unwrap()
        .keys()
        .find(|name| *name != "small")
        .unwrap();
    assert_eq!(of(root), (json!(230), json!(12), json!(2_540)));
    assert_eq!(of("small"), (json!(20), json!(3), json!(null)));
    assert_eq!(result["usage"]["inputTokens"], 250);
}

#[test]
fn usage_that_no_vendor_reported_is_null() {
    let mut world = chat_world();
    world.respond(&chat("Hello.", None));
    let result = world.result();
    assert_eq!(result["outcome"], "completed");
    assert_eq!(result["usage"], json!(null));
    assert_eq!(result["modelUsage"], json!({"gpt": null}));
    assert_eq!(
        result["costNanoUsd"],
        json!(null),
        "an answer whose tokens nobody told has an unknown cost"
    );
    let mut events = world
        .events
        .iter()
        .map(|event| serde_json::to_value(event).unwrap());
    let finish = events.rfind(|event| event["type"] == "iteration-finish").unwrap();
    assert_eq!(finish["usage"], json!(null));
    assert!(!world.event_names().contains(&"usage".to_owned()));
}

#[test]
fn a_report_of_zero_is_a_report() {
    let mut world = chat_world();
    let zero = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0});
    world.respond(&chat("Hello.", Some(zero)));
    assert_eq!(world.result()["usage"]["inputTokens"], 0);
    assert_eq!(world.result()["costNanoUsd"], 0);
}

#[test]
fn answers_without_a_report_are_not_in_the_sum_of_the_others() {
    let mut world = chat_world();
    follow_up(&mut world);
    world.respond(&chat("One.", None));
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12});
    world.respond(&chat("Two.", Some(usage)));
    let result = world.result();
    assert_eq!(
        (&result["usage"]["inputTokens"], &result["costNanoUsd"]),
        (&json!(10), &json!(140))
    );
    assert_eq!(result["modelUsage"]["gpt"], result["usage"]);
}

#[test]
fn a_run_that_no_model_answered_has_cost_nothing() {
    let mut world = chat_world();
    world.refuse(401, &[], r#"{"error":{"message":"No such key."}}"#);
    let result = world.result();
    assert_eq!(result["outcome"], "failed");
    assert_eq!(
        (&result["usage"], &result["costNanoUsd"]),
        (&json!(null), &json!(0))
    );
    assert_eq!(result["modelUsage"], json!({}));
}
