//! The one gate: who may answer which question, and what becomes of one that nobody answers.

use looplet::engine::model::input::{Behavior, Input, PermissionAnswer};
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::hooks::{respond, warnings};
use crate::wire::{stream, text};
use crate::world::{World, config, tool};

fn world(fields: Value) -> World {
    let tools = json!([tool("act", json!({})), tool("sure", json!({"prepare": true}))]);
    World::started(config(tools, fields))
}

fn allow() -> PermissionAnswer {
    PermissionAnswer {
        behavior: Behavior::Allow,
        ..PermissionAnswer::default()
    }
}

/// The world at its first question, which is asked at this point.
fn at(point: Point, fields: Value, calls: &[&str]) -> (World, u32) {
    let mut world = world(fields);
    if !calls.is_empty() {
        respond(&mut world, calls);
    }
    let (question, ask) = &world.questions[0];
    assert_eq!(ask.point, point);
    let question = *question;
    (world, question)
}

#[test]
fn what_a_person_says_answers_no_question_but_those_to_persons() {
    let auto = json!({"permissions": {"mode": "auto", "canUseTool": true}});
    let rows = [
        (Point::Classify, auto, vec!["act"]),
        (Point::PrepareCalls, json!({}), vec!["sure"]),
        (
            Point::PreToolUse,
            json!({"hooks": [{"event": "PreToolUse"}]}),
            vec!["act"],
        ),
        (
            Point::PrepareIteration,
            json!({"hooks": [{"event": "PrepareIteration"}]}),
            vec![],
        ),
    ];
    for (point, fields, calls) in rows {
        let (mut world, question) = at(point, fields, &calls);
        let answer = Answer::Permission(allow());
        let input = Input::Answered { question, answer };
        assert!(!world.offer(input), "{point:?}");
        assert!(world.run.is_live(question), "{point:?} stays open");
        assert!(world.running.is_empty());
    }
}

#[test]
fn no_function_answers_for_a_person_but_the_one_that_stands_in_for_them() {
    let fields = json!({"permissions": {"canUseTool": true}});
    let (mut world, question) = at(Point::Permission, fields, &["act"]);
    let others = [
        Answer::Classified(allow()),
        Answer::Hook(Box::default()),
        Answer::Stop(false),
        Answer::Prepared(Vec::new()),
    ];
    for answer in others {
        let input = Input::Answered { question, answer };
        assert!(!world.offer(input));
    }
    assert!(world.running.is_empty());
    let answer = Answer::Permission(allow());
    world.input(Input::Answered { question, answer });
    assert!(world.running.contains_key("act"));
}

#[test]
fn a_question_that_fails_comes_to_what_its_point_says() {
    let failed = |mut world: World, question| {
        let answer = Answer::Failed {
            why: "Broken.".into(),
        };
        world.input(Input::Answered { question, answer });
        world
    };
    let hook = |event: &str, blocks: bool| json!({"hooks": [{"event": event, "blocks": blocks}]});
    let denied = [
        (Point::Permission, json!({"permissions": {"canUseTool": true}})),
        (Point::Classify, json!({"permissions": {"mode": "auto"}})),
        (Point::PreToolUse, hook("PreToolUse", true)),
        (Point::ToolGuardrail, hook("ToolGuardrail", true)),
    ];
    for (point, fields) in denied {
        let (world, question) = at(point, fields, &["act"]);
        let world = failed(world, question);
        let output = &world.result()["toolCalls"][0]["output"];
        assert_eq!(output["code"], "denied", "{point:?}");
        assert!(
            output["message"].to_string().contains("Broken."),
            "{point:?}: {output}"
        );
    }
    for point in [Point::PreToolUse, Point::ToolGuardrail] {
        let name = looplet::engine::model::json::word(point);
        let (world, question) = at(point, hook(&name, false), &["act"]);
        let world = failed(world, question);
        assert!(world.running.contains_key("act"), "{point:?} is passed over");
        assert!(warnings(&world)[0].starts_with("hook_failed: "), "{point:?}");
    }
    let (world, question) = at(Point::PrepareIteration, hook("PrepareIteration", false), &[]);
    assert_eq!(failed(world, question).requests.len(), 1, "it is sent unchanged");
    let (world, question) = at(Point::PrepareCalls, json!({}), &["sure"]);
    let world = failed(world, question);
    assert_eq!(world.result()["toolCalls"][0]["output"]["message"], "Broken.");
    let mut world = self::world(hook("Stop", true));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    let question = world.questions[0].0;
    assert_eq!(
        failed(world, question).result()["outcome"],
        "completed",
        "no failure keeps a run going"
    );
}

#[test]
fn whoever_is_asked_hears_that_the_answer_matters_no_more() {
    let hooks = json!([{"event": "PreToolUse", "timeoutMs": 50}, {"event": "PreToolUse"}]);
    let (mut world, late) = at(Point::PreToolUse, json!({"hooks": hooks}), &["act"]);
    let other = world.questions[1].0;
    world.pass(50);
    assert_eq!(world.withdrawn, [late], "it took too long");
    world.cancel();
    assert_eq!(world.withdrawn, [late, other], "the run is over");
    let answer = Answer::Hook(Box::default());
    let events = world.events.len();
    world.input(Input::Answered {
        question: other,
        answer,
    });
    assert_eq!(world.events.len(), events);
}
