//! Calls of a tool that has another version in the process that goes on.

use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::{Behavior, Input, PermissionAnswer, Reconciled};
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::wire::{call, stream, text};
use crate::world::{Settings, World, config, tool};

/// An agent whose tool `pay` has this version.
fn setting(version: Option<&str>, fields: Value) -> Settings {
    let mut pay = json!({"version": version});
    let fields = fields.as_object().unwrap().clone();
    pay.as_object_mut().unwrap().extend(fields);
    let permissions = json!({"canUseTool": true, "allow": ["pay"]});
    config(
        json!([tool("pay", pay)]),
        json!({"journal": true, "permissions": permissions}),
    )
}

fn paying(version: Option<&str>, fields: Value) -> World {
    let mut world = World::started(setting(version, fields));
    world.respond(&stream(&[call("a", "pay", json!({}))], "tool_use"));
    world
}

fn asked(world: &World) -> Vec<(Point, Value)> {
    let asked = world.events.iter().filter_map(|event| match &event.kind {
        EventKind::Question { question, data, .. } => Some((*question, data.as_ref()?.read().unwrap())),
        _ => None,
    });
    asked.collect()
}

#[test]
fn a_safe_call_that_had_begun_is_a_question_under_another_version() {
    let safe = || json!({"replay": "safe"});
    for (before, now, told) in [
        (Some("1"), Some("2"), "1"),
        (None, Some("2"), ""),
        (Some("1"), None, "1"),
    ] {
        let mut world = paying(before, safe());
        world.crash(setting(now, safe()));
        assert!(world.running.is_empty(), "nothing runs before the answer");
        // The question stays as it is in the next process.
        world.crash(setting(now, safe()));
        let questions = asked(&world);
        let (point, data) = questions.last().unwrap();
        assert_eq!((*point, &data["otherVersion"]), (Point::Reconcile, &json!(told)));
        let question = world.questions.last().unwrap().0;
        let answer = Answer::Reconciled(Reconciled::Run);
        world.input(Input::Answered { question, answer });
        world.return_value("a", json!("paid"));
        world.respond(&stream(&[text("Done.")], "end_turn"));
        assert_eq!(world.result()["outcome"], "completed");
    }
}

#[test]
fn a_call_of_the_same_version_simply_goes_on() {
    let safe = || json!({"replay": "safe"});
    let mut world = paying(Some("1"), safe());
    world.crash(setting(Some("1"), safe()));
    assert!(asked(&world).is_empty());
    world.return_value("a", json!("paid"));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_call_that_waits_for_an_approval_is_judged_anew() {
    let careful = || json!({"needsApproval": true});
    let mut world = paying(Some("1"), careful());
    assert_eq!(asked(&world).len(), 1);
    let narrow = json!({"needsApproval": true, "inputSchema": {"type": "object", "required": ["cents"]}});
    world.crash(setting(Some("2"), narrow));
    // Its input does not fit the schema of now.
    let body = world.body(1)["messages"].to_string();
    assert!(body.contains("cents"), "{body}");
    assert!(world.running.is_empty());
    let mut world = paying(Some("1"), careful());
    world.crash(setting(Some("2"), careful()));
    assert_eq!(asked(&world).last().unwrap().0, Point::Permission);
    let question = world.questions.last().unwrap().0;
    let answer = Answer::Permission(PermissionAnswer {
        behavior: Behavior::Allow,
        ..PermissionAnswer::default()
    });
    world.input(Input::Answered { question, answer });
    world.return_value("a", json!("paid"));
}

#[test]
fn a_result_of_another_version_stays() {
    let mut world = paying(Some("1"), json!({}));
    world.return_value("a", json!("paid"));
    world.crash(setting(Some("2"), json!({})));
    assert!(asked(&world).is_empty());
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}
