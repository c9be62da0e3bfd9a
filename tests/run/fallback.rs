use looplet::engine::model::event::EventKind;
use serde_json::{Value, json};

use crate::wire::{begin, call, open, stream, text};
use crate::world::{World, config, tool};

const OVERLOADED: &str = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;

fn fallbacks() -> Value {
    json!([
        {"vendor": "openai", "protocol": "openai_chat", "model": "second", "slot": 1},
        {"vendor": "anthropic", "model": "third", "slot": 2},
    ])
}

fn world(fields: Value) -> World {
    let mut all = json!({"fallbackModels": fallbacks(), "retry": {"maxRetries": 1}});
    for (key, value) in fields.as_object().unwrap() {
        all[key] = value.clone();
    }
    World::started(config(json!([tool("add", json!({}))]), all))
}

/// The model changes that were told, with why.
fn changes(world: &World) -> Vec<(String, Option<String>)> {
    let change = |kind: &EventKind| match kind {
        EventKind::ModelChange { model, error, .. } => {
            Some((model.clone(), error.as_ref().map(|error| error.message.clone())))
        }
        _ => None,
    };
    world
        .events
        .iter()
        .filter_map(|event| change(&event.kind))
        .collect()
}

fn chat(text: &str) -> String {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]});
    format!("data: {chunk}\n\ndata: [DONE]\n\n")
}

#[test]
fn when_the_retries_of_a_model_are_used_up_the_next_one_goes_on_over_its_own_protocol() {
    let mut world = world(json!({}));
    world.respond(&stream(&[call("a", "add", json!({"n": 1}))], "tool_use"));
    world.return_value("a", json!(1));
    world.refuse(529, &[], OVERLOADED);
    assert_eq!(changes(&world), []);
    world.pass(2000);
    world.refuse(529, &[], OVERLOADED);
    let [(model, Some(why))] = &changes(&world)[..] else {
        panic!("one change with its failure");
    };
    assert_eq!(model, "second");
    assert!(why.ends_with(": Overloaded"), "{why}");
    let body = world.body(3);
    assert_eq!(body["model"], "second");
    assert_eq!(
        body["messages"][0],
        json!({"role": "system", "content": "Be brief."})
    );
    assert_eq!(body["messages"][3]["role"], "tool");
    world.respond(&chat("Three."));
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["text"]),
        (&json!("completed"), &json!("Three."))
    );
    assert_eq!(world.tool_log, ["start a", "end a"], "no tool runs twice");
    assert_eq!(result["messages"][3]["origin"]["model"], "second");
    assert_eq!(result["iterations"], 2);
    let is_reset = |kind: &EventKind| matches!(kind, EventKind::Reset { .. });
    assert!(
        !world.events.iter().any(|event| is_reset(&event.kind)),
        "nothing was shown that could be void"
    );
}

#[test]
fn each_model_has_its_own_retries_and_after_the_last_the_run_fails_with_what_it_said() {
    let mut world = world(json!({}));
    for wait_ms in [2000, 0, 2000, 0, 2000] {
        world.network_failed();
        world.pass(wait_ms);
    }
    let models: Vec<Value> = (0..6)
        .map(|request| world.body(request)["model"].clone())
        .collect();
    assert_eq!(
        models,
        ["claude-test", "claude-test", "second", "second", "third", "third"]
    );
    world.refuse(529, &[], OVERLOADED);
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["error"]["code"]),
        (&json!("failed"), &json!("overloaded"))
    );
    assert_eq!(world.events.iter().map(|event| event.attempt).max(), Some(6));
}

#[test]
fn what_another_model_would_be_refused_too_is_not_tried_with_it() {
    let mut world = world(json!({}));
    world.refuse(
        400,
        &[],
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#,
    );
    assert_eq!(world.result()["outcome"], "failed");
    assert_eq!(changes(&world), []);
}

#[test]
fn what_a_model_had_said_is_taken_back_and_the_next_ones_answer_stays_with_the_run() {
    let mut world = world(json!({"retry": {"maxRetries": 0}}));
    world.head(200, &[]);
    world.chunk(&(begin(10) + &open(0, &text("Half of "))));
    world.network_failed();
    world.respond(&chat("All."));
    assert_eq!(
        (world.delivered_text().as_str(), &world.result()["text"]),
        ("All.", &json!("All."))
    );
    assert_eq!(world.result()["usage"]["inputTokens"], 10);
}

#[test]
fn a_fallback_stays_and_starts_with_retries_of_its_own_in_each_iteration() {
    let mut world = world(json!({"fallbackModels": [fallbacks()[1]], "retry": {"maxRetries": 0}}));
    world.network_failed();
    world.respond(&stream(&[call("a", "add", json!({"n": 1}))], "tool_use"));
    world.return_value("a", json!(1));
    assert_eq!(world.body(2)["model"], "third");
    world.network_failed();
    assert_eq!(
        world.result()["outcome"],
        "failed",
        "each fallback is used once in a run"
    );
}

#[test]
fn a_fallback_that_cannot_be_asked_is_an_error_before_the_run() {
    let odd = json!([{"vendor": "nobody", "model": "m", "slot": 1}]);
    let config = config(json!([]), json!({"fallbackModels": odd}));
    assert!(config.open().is_err());
}

#[test]
fn s004_35_an_abort_ends_the_wait_of_the_loop_at_once() {
    let mut world = World::started(config(
        json!([]),
        json!({"retry": {"maxRetries": 0, "maxModelCallRetries": 2}}),
    ));
    world.network_failed();
    assert!(world.run.poll_timeout().is_some());
    world.cancel();
    assert_eq!(world.result()["outcome"], "cancelled");
    world.pass(100_000);
    assert_eq!(world.requests.len(), 1);
    assert!(world.run.poll_timeout().is_none());
}
