//! A run that goes on with other options than those it began with, and the bytes that its journal costs.

use looplet::engine::model::config::ModelConfig;
use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::Input;
use looplet::engine::model::json;
use serde_json::{Value, json};

use crate::wire::{Piece, call, stream, text};
use crate::world::{Settings, World, config, tool};

fn warnings(world: &World) -> Vec<(&str, &str)> {
    let mut warnings = Vec::new();
    for event in &world.events {
        if let EventKind::Warning { code, message, .. } = &event.kind {
            warnings.push((code.as_str(), message.as_str()));
        }
    }
    warnings
}

fn done(words: &str) -> String {
    stream(&[text(words)], "end_turn")
}

/// Two agents, `left` and `right`, in this order. Each has a model of its own name.
fn two(names: [&str; 2]) -> Settings {
    let number = |name: &str| 1 + names.iter().position(|other| *other == name).unwrap();
    let agent = |name: &str, handoff: bool| {
        tool(
            name,
            json!({"agent": {"profile": number(name), "handoff": handoff}}),
        )
    };
    let agents: Vec<Value> = names
        .iter()
        .map(|name| json!({"model": {"vendor": "anthropic", "model": name}, "tools": [tool("pay", json!({}))]}))
        .collect();
    config(
        json!([agent("left", false), agent("right", true)]),
        json!({"agents": agents}),
    )
}

#[test]
fn agents_in_another_order_are_not_taken_for_each_other() {
    let mut world = World::started(two(["left", "right"]));
    world.respond(&stream(
        &[call("l", "left", json!({"prompt": "Go left."}))],
        "tool_use",
    ));
    assert_eq!(world.body(1)["model"], "left");
    world.crash(two(["right", "left"]));
    assert_eq!(world.body(2)["model"], "left");
    world.respond(&done("Left."));
    world.respond(&stream(&[call("r", "right", json!({}))], "tool_use"));
    assert_eq!(world.body(4)["model"], "right", "it has the conversation");
    // The indexes of the journal are those of the process that has written last.
    world.crash(two(["left", "right"]));
    assert_eq!(world.body(5)["model"], "right");
    world.crash(two(["right", "left"]));
    assert_eq!(world.body(6)["model"], "right");
    world.respond(&done("Right."));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_run_whose_agent_is_gone_is_refused() {
    let mut world = World::started(two(["left", "right"]));
    world.respond(&stream(
        &[call("l", "left", json!({"prompt": "Go left."}))],
        "tool_use",
    ));
    let error = config(json!([]), json!({})).restore(world.checkpoint.clone());
    let error = error.err().unwrap();
    assert_eq!(error.field, "agent");
}

/// A run that was given this model, and went on with these options.
fn switched(model: Value, options: Value) -> World {
    let tools = json!([tool("read", json!({"readOnly": true}))]);
    let mut world = World::started(config(tools.clone(), json!({})));
    let model: ModelConfig = json::read("model", &model.to_string()).unwrap();
    world.input(Input::SetModel {
        model: Box::new(model),
    });
    world.respond(&stream(&[call("a", "read", json!({}))], "tool_use"));
    world.return_value("a", json!(1));
    let entries = format!("{:?}", world.entries);
    assert!(
        !entries.contains("planted") && !entries.contains("secret"),
        "{entries}"
    );
    world.crash(config(tools, options));
    world
}

#[test]
fn a_model_of_set_model_is_kept_with_the_key_of_a_model_at_the_same_place() {
    let model = json!({"vendor": "anthropic", "model": "claude-big", "slot": 5, "temperature": 0.5,
        "headers": [["x-planted", "planted"]], "body": {"key": "secret"}});
    let world = switched(
        model,
        json!({"model": {"slot": 2, "headers": [["x-own", "own"]]}}),
    );
    let body = world.body(2);
    assert_eq!(
        (&body["model"], &body["temperature"]),
        (&json!("claude-big"), &json!(0.5))
    );
    assert_eq!(world.sent[2].model, 2, "the key of the options");
    assert!(world.sent[2].headers.iter().any(|(name, _)| name == "x-own"));
    let codes: Vec<&str> = warnings(&world).iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, ["options_changed"], "the model is kept");
}

#[test]
fn a_resumed_run_names_the_options_of_a_typed_configuration_that_differ() {
    let tools = json!([tool("read", json!({"readOnly": true}))]);
    let mut world = World::started(config(tools.clone(), json!({"stopWhen": [{"iterations": 7}]})));
    world.respond(&stream(&[call("a", "read", json!({}))], "tool_use"));
    world.crash(config(tools.clone(), json!({"stopWhen": [{"iterations": 7}]})));
    assert_eq!(warnings(&world), []);
    world.crash(config(tools, json!({"limits": {"maxIterations": 9}})));
    let message = "The run resumes with options that differ from those it started with: limits, stopWhen";
    assert_eq!(warnings(&world), [("options_changed", message)]);
}

#[test]
fn a_model_that_the_options_have_is_asked_with_its_own_temperature_and_with_their_key() {
    let fallback = json!({"vendor": "anthropic", "model": "claude-big", "slot": 3, "temperature": 0.1});
    let model = json!({"vendor": "anthropic", "model": "claude-big", "slot": 5, "temperature": 0.5});
    let world = switched(model, json!({"fallbackModels": [fallback]}));
    assert_eq!(
        (&world.body(2)["model"], &world.body(2)["temperature"]),
        (&json!("claude-big"), &json!(0.5))
    );
    assert_eq!(world.sent[2].model, 3);
}

#[test]
fn a_model_at_another_place_is_named_once_and_never_gets_a_key() {
    let model = json!({"vendor": "compatible", "protocol": "openai_chat", "model": "other", "baseUrl": "http://h/v1"});
    let mut world = switched(model, json!({}));
    assert_eq!(world.body(2)["model"], "claude-test");
    let told = warnings(&world);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].0, "model_not_kept");
    assert!(told[0].1.ends_with(": other"), "{}", told[0].1);
    world.respond(&done("Done."));
    assert_eq!(warnings(&world).len(), 1);
}

/// The bytes of the journal in each iteration of a run with this policy for its history.
fn bytes(context: Value, iterations: usize) -> Vec<usize> {
    let tools = json!([tool("read", json!({"readOnly": true}))]);
    let limits = json!({"context": context, "limits": {"maxIterations": 1000}});
    let mut world = World::started(config(tools, limits));
    let mut bytes = Vec::new();
    let mut seen = 0;
    for at in 0..iterations {
        let id = format!("c{at:04}");
        let pieces = [
            Piece::Thinking("I think about it at some length. ".repeat(4), "sig"),
            text("A word."),
            call(
                &id,
                "read",
                json!({"n": at, "why": "because of what stands in the plan"}),
            ),
        ];
        world.respond(&stream(&pieces, "tool_use"));
        world.return_value(&id, json!("What it brings. ".repeat(4)));
        bytes.push(
            world.entries[seen..]
                .iter()
                .map(|entry| json::write(entry).len())
                .sum(),
        );
        seen = world.entries.len();
    }
    bytes
}

#[test]
fn the_bytes_of_an_iteration_do_not_grow_with_the_history() {
    for context in [
        json!({}),
        json!({"pruning": {"afterResponses": 3, "prefixChars": 10}}),
        json!({"maxChars": 4000, "auto": false}),
        json!({"maxChars": 4000, "auto": false, "pruning": {"afterResponses": 3, "prefixChars": 10}}),
    ] {
        let bytes = bytes(context.clone(), 80);
        let most = |part: &[usize]| *part.iter().max().unwrap();
        let (early, late) = (most(&bytes[8..24]), most(&bytes[56..]));
        assert!(
            late <= early + early / 20,
            "{context}: {early} bytes, then {late}"
        );
    }
}
