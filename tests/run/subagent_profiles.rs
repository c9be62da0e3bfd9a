//! What subagents have of their own: structured output, retries, fallback models, functions that stop them.

use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::{CheckedOutput, Input};
use looplet::engine::model::message::Json;
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::subagents::{ask, calls, says, setting, told};
use crate::wire::call;
use crate::world::World;

fn world(own: Value) -> World {
    World::started(setting(json!({"agents": {"0": own}})))
}

fn number(fields: Value) -> Value {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let mut output = json!({"schema": schema, "mode": "native"});
    output
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    json!({"output": output})
}

#[test]
fn a_subagent_with_an_output_answers_with_its_validated_json() {
    let mut world = world(number(json!({"ask": true})));
    world.respond(&calls(&[ask("a", "helper", "Count.")]));
    world.respond(&says("many"));
    world.respond(&says("{\"n\": 3}"));
    let (question, asked) = world.questions.pop().unwrap();
    assert!(asked.point == Point::CheckOutput);
    assert_eq!(asked.profile, 1, "its own check is found");
    let output = Json::parse("{\"n\":4}").ok();
    let answer = Answer::Checked(CheckedOutput {
        problem: None,
        output,
    });
    world.input(Input::Answered { question, answer });
    assert_eq!(told(&world, 3, "a"), ("{\"n\":4}".to_owned(), false));
    world.respond(&says("Done."));
    let result = world.result();
    assert_eq!(result["toolCalls"][0]["output"], json!({"n": 4}));
    assert_eq!(result["output"], Value::Null, "it is not the run's");
}

#[test]
fn what_a_hook_stops_is_told_as_stopped_by_a_hook_and_why() {
    for (own, expected) in [
        (
            json!({}),
            ("[The agent was stopped by a hook: Not today.]", false),
        ),
        (number(json!({})), ("it was stopped by a hook: Not today", true)),
    ] {
        let hooks = json!([{"event": "SubagentStart"}]);
        let mut world = World::started(setting(json!({"agents": {"0": own}, "hooks": hooks})));
        world.respond(&calls(&[ask("a", "helper", "Count.")]));
        crate::hooks::answer(
            &mut world,
            looplet::engine::model::hook::HookAnswer {
                stop: Some("Not today.".into()),
                ..Default::default()
            },
        );
        let (text, is_error) = told(&world, 1, "a");
        assert!(text.contains(expected.0), "{text}");
        assert_eq!(is_error, expected.1);
    }
}

#[test]
fn a_subagent_that_does_not_come_to_its_output_is_an_error() {
    for (own, answers, why) in [
        (
            json!({"maxRetries": 0}),
            says("many"),
            "no answer that matches its schema",
        ),
        (
            json!({}),
            calls(&[call("d", "dig", json!({"n": 1}))]),
            "stopped by its limit: iterations",
        ),
    ] {
        let mut own = number(own);
        own["limits"] = json!({"maxIterations": 1});
        let mut world = world(own);
        world.respond(&calls(&[ask("a", "helper", "Count.")]));
        world.respond(&answers);
        if world.running.contains_key("d") {
            world.return_value("d", json!(1));
        }
        let (text, is_error) = told(&world, 2, "a");
        assert!(is_error && text.contains(why), "{text}");
        world.respond(&says("Done."));
        assert_eq!(world.result()["outcome"], "completed");
    }
}

#[test]
fn a_subagent_has_retries_and_fallback_models_of_its_own() {
    let other = json!({"vendor": "anthropic", "model": "other", "slot": 2});
    let mut world =
        world(json!({"retry": {"maxRetries": 1, "baseMs": 10, "jitterMs": 0}, "fallbackModels": [other]}));
    world.respond(&calls(&[ask("a", "helper", "Go.")]));
    for _ in 0..2 {
        world.refuse(529, &[], "{}");
        world.pass(1000);
    }
    assert_eq!(world.body(3)["model"], "other");
    assert_eq!(world.sent[3].model, 2);
    world.respond(&says("There."));
    assert_eq!(told(&world, 4, "a").0, "There.");
    assert_eq!(
        world.body(4)["model"],
        "claude-test",
        "its caller keeps its model"
    );
    let changes = world
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::ModelChange { .. }));
    assert_eq!(changes.map(|event| event.agent).collect::<Vec<_>>(), [1]);
}

#[test]
fn the_host_is_asked_whether_a_subagent_shall_stop() {
    let mut world = world(json!({"askStop": true}));
    world.respond(&calls(&[ask("a", "helper", "Go.")]));
    world.respond(&calls(&[call("d", "dig", json!({}))]));
    world.return_value("d", json!(1));
    let (question, asked) = world.questions.pop().unwrap();
    assert!(asked.point == Point::StopCondition);
    assert_eq!(asked.profile, 1);
    let answer = Answer::Stop(true);
    world.input(Input::Answered { question, answer });
    assert!(told(&world, 2, "a").0.contains("condition"));
    world.respond(&says("Done."));
    assert_eq!(world.result()["outcome"], "completed");
}
