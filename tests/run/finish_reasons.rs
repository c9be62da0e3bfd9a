//! What follows answers that do not end as usual.

use serde_json::{Value, json};

use crate::wire::{call, stream, text};
use crate::world::{World, config, tool};

fn world(fields: Value) -> World {
    World::started(config(json!([tool("look", json!({}))]), fields))
}

fn messages(world: &World) -> Vec<Value> {
    world.result()["messages"].as_array().unwrap().clone()
}

#[test]
fn s002_13_an_answer_cut_at_the_output_limit_ends_the_run_and_says_so() {
    let mut world = world(json!({}));
    world.respond(&stream(&[text("Half of")], "max_tokens"));
    let result = world.result();
    assert_eq!(result["outcome"], "completed");
    assert_eq!(result["finishReason"], "length");
    assert_eq!(result["rawFinishReason"], "max_tokens");
    assert_eq!(result["text"], "Half of");
}

#[test]
fn an_answer_cut_at_the_output_limit_is_continued_and_the_texts_are_one() {
    let mut world = world(json!({"answers": {"onMaxTokens": "continue"}}));
    world.respond(&stream(&[text("Half of")], "max_tokens"));
    assert_eq!(world.requests.len(), 2);
    world.respond(&stream(&[text(" the ans")], "max_tokens"));
    world.respond(&stream(&[text("wer.")], "end_turn"));
    let result = world.result();
    assert_eq!(result["outcome"], "completed");
    assert_eq!(result["text"], "Half of the answer.");
    assert_eq!(result["iterations"], 3);
    let roles: Vec<Value> = messages(&world)
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(
        roles,
        ["user", "assistant", "user", "assistant", "user", "assistant"]
    );
}

#[test]
fn an_answer_is_not_continued_beyond_max_iterations() {
    let mut world = world(json!({"answers": {"onMaxTokens": "continue"}, "limits": {"maxIterations": 1}}));
    world.respond(&stream(&[text("Half of")], "max_tokens"));
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["text"]),
        (&json!("completed"), &json!("Half of"))
    );
    assert_eq!(messages(&world).len(), 2);
}

#[test]
fn an_answer_without_text_is_not_continued() {
    let mut world = world(json!({"answers": {"onMaxTokens": "continue"}}));
    world.respond(&stream(&[], "max_tokens"));
    assert_eq!(world.requests.len(), 1);
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn what_was_said_before_a_continuation_that_fails_is_kept() {
    let mut world = world(json!({"answers": {"onMaxTokens": "continue"}, "retry": {"maxRetries": 0}}));
    world.respond(&stream(&[text("Half of")], "max_tokens"));
    world.refuse(500, &[], "{}");
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["text"]),
        (&json!("failed"), &json!("Half of"))
    );
}

#[test]
fn an_answer_cut_at_the_output_limit_fails_the_run_that_wants_it() {
    let mut world = world(json!({"answers": {"onMaxTokens": "error"}}));
    world.respond(&stream(&[text("Half of")], "max_tokens"));
    let result = world.result();
    assert_eq!(result["outcome"], "failed");
    assert_eq!(result["error"]["code"], "finish_reason");
    let message = result["error"]["message"].as_str().unwrap();
    assert!(message.contains("maxOutputTokens"), "{message}");
    assert!(
        message.starts_with("anthropic claude-test failed with finish_reason at https://"),
        "{message}"
    );
    assert_eq!(result["text"], "Half of");
    assert_eq!(messages(&world).len(), 2);
}

#[test]
fn s003_02_a_strict_run_fails_on_any_other_stop_reason() {
    for reason in ["max_tokens", "refusal"] {
        let mut world = world(json!({"answers": {"strictStopReason": true}}));
        world.respond(&stream(&[text("x")], reason));
        let result = world.result();
        assert_eq!(result["outcome"], "failed", "{reason}");
        let message = result["error"]["message"].as_str().unwrap();
        assert!(
            message.ends_with(&format!(": unexpected stop_reason: {reason}")),
            "{message}"
        );
    }
}

#[test]
fn s003_01_in_a_strict_run_end_turn_beats_the_tool_calls_beside_it() {
    let mut world = world(json!({"answers": {"strictStopReason": true}}));
    world.respond(&stream(
        &[text("Done."), call("c", "look", json!({}))],
        "end_turn",
    ));
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["text"]),
        (&json!("completed"), &json!("Done."))
    );
    assert!(world.tool_log.is_empty());
    let last = messages(&world).pop().unwrap();
    assert_eq!(last["content"][0]["type"], "tool_result");
}

#[test]
fn s003_01_a_strict_run_goes_on_with_tool_use() {
    let mut world = world(json!({"answers": {"strictStopReason": true}}));
    world.respond(&stream(&[call("c", "look", json!({}))], "tool_use"));
    world.return_value("c", json!(1));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}
