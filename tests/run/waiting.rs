//! The event that says that a run waits for nothing but people.

use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::{
    Behavior, ElicitationAction, ElicitationAnswer, Input, PermissionAnswer,
};
use looplet::engine::model::message::Block;
use looplet::engine::model::output::EffectId;
use looplet::engine::model::question::Answer;
use serde_json::json;

use crate::wire::{call, stream, text};
use crate::world::{World, config, tool};

/// A run whose model has called these tools. `pay` and `send` want an approval, `look` does not.
fn called(names: &[&str]) -> World {
    let tools = json!([
        tool("pay", json!({"needsApproval": true})),
        tool("send", json!({"needsApproval": true})),
        tool("look", json!({"readOnly": true})),
    ]);
    let mut world = World::started(config(tools, json!({"toolCalls": {"execution": "parallel"}})));
    let calls: Vec<_> = names.iter().map(|name| call(name, name, json!({}))).collect();
    world.respond(&stream(&calls, "tool_use"));
    world
}

/// The questions of each event so far.
fn waits(world: &World) -> Vec<Vec<EffectId>> {
    let ids = |kind: &EventKind| match kind {
        EventKind::Waiting { question_ids } => Some(question_ids.clone()),
        _ => None,
    };
    world.events.iter().filter_map(|event| ids(&event.kind)).collect()
}

fn allow(world: &mut World, question: EffectId) {
    let answer = Answer::Permission(PermissionAnswer {
        behavior: Behavior::Allow,
        ..PermissionAnswer::default()
    });
    world.input(Input::Answered { question, answer });
}

#[test]
fn it_comes_when_only_approvals_are_open_and_again_when_they_are_others() {
    let mut world = called(&["pay", "send"]);
    let [pay, send] = [world.questions[0].0, world.questions[1].0];
    assert_eq!(waits(&world), [vec![pay, send]]);
    allow(&mut world, pay);
    assert_eq!(waits(&world).len(), 1, "a tool runs");
    world.return_value("pay", json!("paid"));
    assert_eq!(waits(&world), [vec![pay, send], vec![send]]);
    allow(&mut world, send);
    world.return_value("send", json!("sent"));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
    assert_eq!(waits(&world).len(), 2);
}

#[test]
fn it_does_not_come_before_the_tools_beside_an_approval_have_returned() {
    let mut world = called(&["pay", "look"]);
    assert!(waits(&world).is_empty());
    world.return_value("look", json!("seen"));
    assert_eq!(waits(&world), [[world.questions[0].0]]);
}

#[test]
fn a_tool_that_asks_a_person_itself_is_no_work_under_way() {
    let mut world = called(&["look"]);
    world.tool_asks("look", 1, json!({"message": "Which size?"}));
    let question = world.questions[0].0;
    assert_eq!(waits(&world), [[question]]);
    let answer = Answer::Elicited(ElicitationAnswer {
        action: ElicitationAction::Decline,
        content: None,
    });
    world.input(Input::Answered { question, answer });
    world.return_value("look", json!("seen"));
    assert_eq!(waits(&world).len(), 1);
}

#[test]
fn a_steer_while_it_waits_does_not_tell_it_again() {
    let mut world = called(&["pay"]);
    world.input(Input::Steer {
        id: 1,
        content: vec![Block::text("Hurry.")],
    });
    assert_eq!(waits(&world).len(), 1);
}
