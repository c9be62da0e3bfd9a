use looplet::engine::model::hook::{Decision, HookAnswer};
use looplet::engine::model::message::{Block, Message};
use serde_json::{Value, json};

use crate::compaction::{after_rounds, last, legal};
use crate::hooks::{answer, asked, respond, says, warnings};
use crate::wire::{call, stream, stream_with_usage, text};
use crate::world::{World, config, tool};

/// A run whose request the vendor has refused as too long.
fn overflown(hooks: Value) -> World {
    let mut world = World::started(config(json!([tool("look", json!({}))]), json!({"hooks": hooks})));
    rounds(&mut world);
    refuse_as_too_long(&mut world);
    world
}

fn rounds(world: &mut World) {
    for round in 1..=5 {
        let id = format!("c{round}");
        world.respond(&stream(&[call(&id, "look", json!({"n": round}))], "tool_use"));
        world.return_value(&id, json!(round));
    }
}

fn refuse_as_too_long(world: &mut World) {
    let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8"}});
    world.refuse(400, &[], &body.to_string());
}

#[test]
fn s001_42_a_hook_hears_of_a_summary_before_it_is_made() {
    let mut world = overflown(json!([{"event": "PreCompact", "names": ["overflow"]}]));
    let (_, input) = asked(&world).remove(0);
    assert_eq!(input["trigger"], "overflow");
    assert!(input["preTokens"].as_u64().unwrap() > 0);
    assert_eq!(world.requests.len(), 6, "it is waited for");
    answer(&mut world, HookAnswer::default());
    assert!(world.requests[6].contains("write a summary"));
    world.respond(&stream(&[text("Looked.")], "end_turn"));
    assert!(world.requests[7].contains("[Context summary: Looked.]"));
}

#[test]
fn s001_42_a_hook_hears_what_the_summary_shall_heed() {
    let mut world = overflown(json!([{"event": "PreCompact"}]));
    assert_eq!(asked(&world)[0].1["instructions"], json!(null));
    answer(&mut world, HookAnswer::default());
    world.respond(&stream(&[text("Looked.")], "end_turn"));
    let instructions = Some("Keep the numbers.".to_owned());
    world.input(looplet::engine::model::input::Input::Compact {
        instructions,
        only: false,
    });
    respond(&mut world, &["look"]);
    world.return_value("look", json!(1));
    let (_, input) = asked(&world).remove(0);
    assert_eq!(
        (&input["trigger"], &input["instructions"]),
        (&json!("manual"), &json!("Keep the numbers."))
    );
}

#[test]
fn s001_42_a_hook_keeps_the_history_as_it_is_and_what_is_too_long_fails() {
    let mut world = overflown(json!([{"event": "PreCompact"}]));
    answer(&mut world, says(Decision::Deny, "Keep it."));
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["error"]["code"]),
        (&json!("failed"), &json!("context_length"))
    );
    assert_eq!(warnings(&world), ["compaction_blocked: Keep it."]);
    assert_eq!(world.requests.len(), 6);
}

#[test]
fn an_abort_while_a_hook_before_a_summary_is_asked_keeps_the_whole_history() {
    let mut world = overflown(json!([{"event": "PreCompact"}]));
    world.cancel();
    assert_eq!(world.result()["outcome"], "cancelled");
    assert_eq!(world.result()["messages"].as_array().unwrap().len(), 11);
    assert!(world.run.poll_timeout().is_none());
}

#[test]
fn a_hook_hears_of_a_summary_that_was_made_before_the_request_goes_out() {
    let mut world = overflown(json!([{"event": "PostCompact", "names": ["overflow"]}]));
    world.respond(&stream(&[text("Looked.")], "end_turn"));
    let (_, input) = asked(&world).remove(0);
    assert_eq!(
        (&input["trigger"], &input["summary"]),
        (&json!("overflow"), &json!("Looked."))
    );
    assert_eq!(world.requests.len(), 7, "it is waited for");
    answer(&mut world, HookAnswer::default());
    assert!(world.requests[7].contains("[Context summary: Looked.]"));
}

#[test]
fn an_abort_while_a_hook_after_a_summary_is_asked_keeps_the_summary() {
    let mut world = overflown(json!([{"event": "PostCompact"}]));
    world.respond(&stream(&[text("Looked.")], "end_turn"));
    world.cancel();
    let messages = world.result()["messages"].to_string();
    assert_eq!(world.result()["outcome"], "cancelled");
    assert!(messages.contains("[Context summary: Looked.]"));
    assert!(world.run.poll_timeout().is_none());
}

#[test]
fn s001_40_a_refusal_or_a_summary_that_was_cut_off_does_not_stand_for_the_history() {
    let calls = [text("Hm."), call("x", "look", json!({}))];
    let table = [
        (stream(&[text("I can't help.")], "refusal"), "refused"),
        (stream(&[text("The user wants")], "max_tokens"), "cut off"),
        (stream(&[text("The user wants")], "pause_turn"), "cut off"),
        (stream(&calls, "tool_use"), "called tools"),
        (stream(&calls, "end_turn"), "called tools"),
    ];
    for (body, why) in table {
        let mut world = after_rounds(4, json!({"window": 500, "keepLast": 2}));
        world.respond(&body);
        let words = last(&world).to_string();
        assert!(words.contains("User asked: Go."), "{why}: {words}");
        assert!(!words.contains("can't help") && !words.contains("The user wants") && !words.contains("Hm."));
        let said = warnings(&world).join(" ");
        assert!(
            said.starts_with("compaction_failed: ") && said.contains(why),
            "{said}"
        );
        assert_eq!(world.requests.len(), 6);
        assert!(!world.tool_log.contains(&"start x".to_owned()));
        world.respond(&stream(&[text("Done.")], "end_turn"));
        assert_eq!(world.result()["outcome"], "completed");
        legal(&world);
    }
}

#[test]
fn s001_42_a_request_that_is_too_long_because_a_hook_kept_the_history_says_so() {
    let hooks = json!([{"event": "PreCompact"}]);
    let mut world = World::started(config(json!([tool("look", json!({}))]), json!({"hooks": hooks})));
    rounds(&mut world);
    world.input(looplet::engine::model::input::Input::Compact {
        instructions: None,
        only: false,
    });
    respond(&mut world, &["look"]);
    world.return_value("look", json!(1));
    answer(&mut world, says(Decision::Deny, "Keep it."));
    refuse_as_too_long(&mut world);
    let message = world.result()["error"]["message"].to_string();
    assert!(message.contains("PreCompact hook has blocked"), "{message}");
    assert!(!message.contains("had just been summarised"));
}

/// A run that has just been given the summary `Looked.`, with everything before it let through.
fn guarded(hooks: Value) -> World {
    let mut world = World::started(config(
        json!([tool("look", json!({}))]),
        json!({"hooks": hooks, "context": {"window": 500, "keepLast": 2}}),
    ));
    for round in 1..=4 {
        answer(&mut world, HookAnswer::default());
        let id = format!("c{round}");
        let pieces = [call(&id, "look", json!({"n": round, "pad": "p".repeat(150)}))];
        world.respond(&stream_with_usage(&pieces, "tool_use", 95 * round, 10));
        world.return_value(&id, json!(round));
    }
    assert_eq!(asked(&world)[0].1["messages"].as_array().unwrap().len(), 9);
    answer(&mut world, HookAnswer::default());
    assert!(last(&world).to_string().contains("write a summary"));
    world.respond(&stream(&[text("Looked.")], "end_turn"));
    world
}

#[test]
fn p_19_an_input_guardrail_sees_the_summary_before_it_is_sent() {
    let hooks = json!([{"event": "InputGuardrail", "blocks": true}]);
    let mut world = guarded(hooks.clone());
    assert_eq!(world.requests.len(), 5, "it is waited for");
    let (_, input) = asked(&world).remove(0);
    assert!(
        input["messages"]
            .to_string()
            .contains("[Context summary: Looked.]"),
        "{input}"
    );
    answer(&mut world, HookAnswer::default());
    assert_eq!(last(&world).as_array().unwrap().len(), 5);
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(
        (&world.result()["outcome"], &world.result()["iterations"]),
        (&json!("completed"), &json!(5))
    );

    let mut world = guarded(hooks.clone());
    answer(&mut world, says(Decision::Deny, "no"));
    assert_eq!(world.result()["stoppedBy"], "guardrail");
    assert_eq!(world.requests.len(), 5);
    legal(&world);

    let mut world = guarded(hooks.clone());
    let messages = Some(vec![Message::user(vec![Block::text("Rewritten.")])]);
    answer(
        &mut world,
        HookAnswer {
            messages,
            ..HookAnswer::default()
        },
    );
    assert_eq!(last(&world)[0]["content"][0]["text"], "Rewritten.");

    let mut world = guarded(hooks);
    world.cancel();
    assert_eq!(world.result()["outcome"], "cancelled");
    assert!(world.run.poll_timeout().is_none());
    legal(&world);
}
