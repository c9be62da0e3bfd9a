//! What `timeouts.iterationMs` covers: all that an iteration waits for, but a person.

use looplet::engine::model::input::{Behavior, Input, PermissionAnswer};
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::wire::{Piece, call, stream, text};
use crate::world::{World, config, tool};

/// A run whose iterations may take 100 ms; `respond` is its first answer.
fn world(fields: Value, pieces: &[Piece]) -> World {
    let tools = json!([
        tool("act", json!({})),
        tool("ready", json!({"prepare": true})),
        tool("asks", json!({"needsApproval": true})),
        tool("helper", json!({"agent": {"profile": 1}})),
    ]);
    let below = json!([{
        "model": {"vendor": "anthropic", "model": "below"},
        "tools": [tool("asks", json!({"needsApproval": true})), tool("act", json!({}))],
        "timeouts": {"iterationMs": 300},
    }]);
    let mut fields = fields;
    fields["timeouts"] = json!({"iterationMs": 100});
    fields["agents"] = below;
    let mut world = World::started(config(tools, fields));
    world.pass(10);
    if world.open_request.is_some() {
        world.respond(&stream(pieces, "tool_use"));
    }
    for id in world.running.keys().cloned().collect::<Vec<_>>() {
        if id == "quick" {
            world.return_value(&id, json!(1));
        }
    }
    world
}

fn hook(event: &str) -> Value {
    json!({"hooks": [{"event": event, "timeoutMs": 100_000}]})
}

#[test]
fn the_time_of_an_iteration_bounds_whatever_the_host_is_asked_in_it() {
    let act = || call("quick", "act", json!({}));
    let output = json!({"schema": {"type": "object"}, "mode": "native", "ask": true});
    let rows: Vec<(&str, Value, Vec<Piece>)> = vec![
        ("a tool", json!({}), vec![call("slow", "act", json!({}))]),
        ("preparing calls", json!({}), vec![call("r", "ready", json!({}))]),
        ("stopWhen", json!({"askStop": true}), vec![act()]),
        (
            "onRepeat",
            json!({"askRepeat": true, "repeat": {"askAfter": 1}}),
            vec![act()],
        ),
        ("checking an answer", json!({"output": output}), vec![text("{}")]),
        ("prepareIteration", hook("PrepareIteration"), vec![]),
        ("an input guardrail", hook("InputGuardrail"), vec![]),
        ("an output guardrail", hook("OutputGuardrail"), vec![text("Hi.")]),
        ("a tool guardrail", hook("ToolGuardrail"), vec![act()]),
        ("PreToolUse", hook("PreToolUse"), vec![act()]),
        ("PostToolUse", hook("PostToolUse"), vec![act()]),
        ("PostToolBatch", hook("PostToolBatch"), vec![act()]),
        ("onIterationEnd", hook("IterationEnd"), vec![act()]),
        (
            "PermissionRequest",
            hook("PermissionRequest"),
            vec![call("a", "asks", json!({}))],
        ),
        (
            "a classifier",
            json!({"permissions": {"mode": "auto", "canUseTool": true}}),
            vec![act()],
        ),
    ];
    for (name, fields, pieces) in rows {
        let mut world = world(fields, &pieces);
        world.pass(89);
        assert!(world.done.is_none(), "{name} has 100 ms");
        world.pass(1);
        assert_eq!(world.result()["stoppedBy"], "time", "{name}");
        assert!(world.run.poll_timeout().is_none(), "{name}");
    }
}

#[test]
fn each_iteration_has_its_own_time() {
    let mut world = world(json!({"askStop": true}), &[call("quick", "act", json!({}))]);
    world.pass(80);
    let (question, _) = world.questions.remove(0);
    let answer = Answer::Stop(false);
    world.input(Input::Answered { question, answer });
    world.pass(99);
    assert!(world.done.is_none());
    world.pass(1);
    assert_eq!(world.result()["stoppedBy"], "time");
}

fn allow(world: &mut World) {
    let at = world
        .questions
        .iter()
        .position(|(_, ask)| ask.point == Point::Permission)
        .unwrap();
    let (question, _) = world.questions.remove(at);
    let allow = PermissionAnswer {
        behavior: Behavior::Allow,
        ..PermissionAnswer::default()
    };
    let answer = Answer::Permission(allow);
    world.input(Input::Answered { question, answer });
}

#[test]
fn while_a_person_is_asked_an_iteration_grows_no_older() {
    let calls = [call("a", "asks", json!({})), call("b", "asks", json!({}))];
    let mut world = world(json!({}), &calls);
    world.pass(86_400_000);
    allow(&mut world);
    world.pass(86_400_000);
    assert!(world.done.is_none(), "the second question is open");
    allow(&mut world);
    world.pass(89);
    assert!(world.done.is_none(), "10 of 100 ms had passed before");
    world.pass(1);
    assert_eq!(world.result()["stoppedBy"], "time");
}

#[test]
fn while_a_person_is_asked_in_a_subagent_no_iteration_above_grows_older() {
    let mut world = world(json!({}), &[call("h", "helper", json!({"prompt": "Do."}))]);
    world.respond(&stream(&[call("a", "asks", json!({}))], "tool_use"));
    world.pass(86_400_000);
    assert!(world.done.is_none());
    allow(&mut world);
    world.pass(89);
    assert!(world.done.is_none());
    world.pass(1);
    assert_eq!(
        world.result()["stoppedBy"],
        "time",
        "the caller's, which is shorter"
    );

    let mut world = self::world(json!({}), &[call("h", "helper", json!({"prompt": "Do."}))]);
    world.respond(&stream(&[call("a", "asks", json!({}))], "tool_use"));
    world.pass(500);
    world.cancel();
    assert!(world.run.poll_timeout().is_none());
}
