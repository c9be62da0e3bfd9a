use looplet::engine::model::config::{ModelConfig, ToolChoice};
use looplet::engine::model::event::EventKind;
use looplet::engine::model::hook::{HookAnswer, Prepared};
use looplet::engine::model::input::Input;
use looplet::engine::model::message::{Block, Message};
use serde_json::{Value, json};

use crate::hooks::{answer, asked, fail, respond, told, warnings, world};
use crate::wire::{call, stream, text};
use crate::world::World;

fn prepare(world: &mut World, prepared: Prepared) {
    let prepared = Some(Box::new(prepared));
    answer(
        world,
        HookAnswer {
            prepared,
            ..HookAnswer::default()
        },
    );
}

fn names(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn tools_are_offered_in_the_order_that_is_given() {
    let mut world = world(json!([{"event": "PrepareIteration"}]), json!({}));
    let tools = Some(vec!["act".into(), "look".into(), "act".into()]);
    let reverse = Prepared {
        tools,
        ..Prepared::default()
    };
    prepare(&mut world, reverse);
    assert_eq!(names(&world.body(0)), ["act", "look"]);
    respond(&mut world, &["look"]);
    world.return_value("look", json!(1));
    answer(&mut world, HookAnswer::default());
    let registered = ["look", "act", "Bash"];
    assert_eq!(
        names(&world.body(1)),
        registered,
        "the next iteration has its own order"
    );
}

#[test]
fn an_iteration_is_prepared_with_another_model_fewer_tools_and_another_system_for_itself_only() {
    let mut world = world(json!([{"event": "PrepareIteration"}]), json!({}));
    let (_, input) = asked(&world).remove(0);
    assert_eq!(
        (&input["iteration"], &input["model"]),
        (&json!(0), &json!("claude-test"))
    );
    assert_eq!(input["messages"][0]["content"][0]["text"], "Go.");
    prepare(
        &mut world,
        Prepared {
            model: Some(ModelConfig::new("anthropic", "small")),
            tools: Some(vec!["look".into()]),
            tool_choice: Some(ToolChoice::Required),
            system: Some("Look first.".into()),
        },
    );
    let body = world.body(0);
    assert_eq!((&body["model"], names(&body)), (&json!("small"), vec!["look"]));
    assert_eq!(
        (&body["tool_choice"]["type"], &body["system"][0]["text"]),
        (&json!("any"), &json!("Look first."))
    );
    respond(&mut world, &["look", "act"]);
    assert_eq!(
        world.tool_log,
        ["start look"],
        "what was not offered does not run"
    );
    world.return_value("look", json!(1));
    answer(&mut world, HookAnswer::default());
    let body = world.body(1);
    assert_eq!(
        (&body["model"], names(&body)),
        (&json!("claude-test"), vec!["look", "act", "Bash"])
    );
    assert_eq!(
        (body.get("tool_choice"), &body["system"][0]["text"]),
        (None, &json!("Be brief."))
    );
    assert!(told(&world).to_string().contains("not available"));
    let models: Vec<&str> = world
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::ModelChange { model, .. } => Some(model.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(models, ["small", "claude-test"]);
}

#[test]
fn the_messages_of_one_iteration_are_others_and_the_transcript_stays() {
    let mut world = world(json!([{"event": "PrepareIteration"}]), json!({}));
    let messages = Some(vec![Message::user(vec![Block::text("Only this.")])]);
    answer(
        &mut world,
        HookAnswer {
            messages,
            ..HookAnswer::default()
        },
    );
    assert_eq!(told(&world)[0]["text"], "Only this.");
    world.network_failed();
    world.pass(2000);
    assert_eq!(
        world.requests[0], world.requests[1],
        "a retry sends the same bytes"
    );
    let content = vec![Block::text("And then?")];
    world.input(Input::Steer { id: 1, content });
    world.respond(&stream(&[text("Hm.")], "end_turn"));
    answer(&mut world, HookAnswer::default());
    let body = world.body(2);
    let texts: Vec<&Value> = (0..3)
        .map(|at| &body["messages"][at]["content"][0]["text"])
        .collect();
    assert_eq!(texts, ["Go.", "Hm.", "And then?"]);
}

#[test]
fn a_preparation_that_fails_or_cannot_be_leaves_the_iteration_as_it_is_with_a_warning() {
    let unknown = Prepared {
        tools: Some(vec!["nope".into()]),
        ..Prepared::default()
    };
    let odd = Prepared {
        model: Some(ModelConfig::new("nobody", "m")),
        ..Prepared::default()
    };
    for prepared in [None, Some(unknown), Some(odd)] {
        let mut world = world(json!([{"event": "PrepareIteration"}]), json!({}));
        match prepared {
            Some(prepared) => prepare(&mut world, prepared),
            None => fail(&mut world),
        }
        assert_eq!(warnings(&world).len(), 1);
        assert_eq!(
            (world.body(0)["model"].as_str(), names(&world.body(0)).len()),
            (Some("claude-test"), 3)
        );
    }
}

#[test]
fn messages_from_the_model_alone_go_out_between_the_users() {
    let mut world = world(json!([{"event": "PrepareIteration"}]), json!({}));
    let messages = Some(vec![Message::assistant(vec![Block::text("Mine.")])]);
    answer(
        &mut world,
        HookAnswer {
            messages,
            ..HookAnswer::default()
        },
    );
    let sent = world.body(0)["messages"].clone();
    let texts: Vec<_> = sent
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["content"][0]["text"])
        .collect();
    assert_eq!(texts, ["(empty)", "Mine.", "(empty)"]);
}

#[test]
fn messages_of_which_nothing_is_left_are_not_sent() {
    for messages in [vec![], vec![Message::user(vec![Block::text(" ")])]] {
        let mut world = world(json!([{"event": "PrepareIteration"}]), json!({}));
        answer(
            &mut world,
            HookAnswer {
                messages: Some(messages),
                ..HookAnswer::default()
            },
        );
        let warning = warnings(&world).remove(0);
        assert!(
            warning.starts_with("not_prepared: ") && warning.contains("there are no messages"),
            "{warning}"
        );
        assert_eq!(told(&world)[0]["text"], "Go.");
    }
}

#[test]
fn a_fallback_or_a_switch_during_a_prepared_iteration_stays() {
    let fallback = json!([{"vendor": "anthropic", "model": "second", "slot": 1}]);
    let fields = json!({"fallbackModels": fallback, "retry": {"maxRetries": 0}});
    let mut world = world(json!([{"event": "PrepareIteration"}]), fields);
    let small = ModelConfig::new("anthropic", "small");
    prepare(
        &mut world,
        Prepared {
            model: Some(small),
            ..Prepared::default()
        },
    );
    world.network_failed();
    world.respond(&stream(&[call("a", "act", json!({}))], "tool_use"));
    world.return_value("a", json!(1));
    answer(&mut world, HookAnswer::default());
    let models: Vec<Value> = (0..3)
        .map(|request| world.body(request)["model"].clone())
        .collect();
    assert_eq!(models, ["small", "second", "second"]);
}

#[test]
fn the_end_of_each_iteration_is_told_before_the_next_begins() {
    let mut world = world(json!([{"event": "IterationEnd"}]), json!({}));
    respond(&mut world, &["act"]);
    world.return_value("act", json!(7));
    assert_eq!(world.requests.len(), 1, "it is waited for");
    let (_, input) = asked(&world).remove(0);
    assert_eq!(
        (&input["iteration"], &input["finishReason"]),
        (&json!(1), &json!("tool_calls"))
    );
    assert_eq!(input["toolCalls"][0]["output"], 7);
    answer(&mut world, HookAnswer::default());
    world.respond(&stream(&[text("Done.")], "end_turn"));
    let (_, input) = asked(&world).remove(0);
    assert_eq!(
        (&input["text"], &input["toolCalls"]),
        (&json!("Done."), &json!([]))
    );
    assert!(world.done.is_none());
    fail(&mut world);
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_model_of_the_same_name_at_another_vendor_is_told_as_another() {
    let mut world = world(json!([{"event": "PrepareIteration"}]), json!({}));
    prepare(
        &mut world,
        Prepared {
            model: Some(ModelConfig::new("openai", "claude-test")),
            ..Prepared::default()
        },
    );
    let change = |kind: &EventKind| match kind {
        EventKind::ModelChange { model, vendor, .. } => Some([vendor, " ", model].concat()),
        _ => None,
    };
    let told: Vec<String> = world
        .events
        .iter()
        .filter_map(|event| change(&event.kind))
        .collect();
    assert_eq!(told, ["openai claude-test"]);
}
