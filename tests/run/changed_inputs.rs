//! A call whose input your code changes: everybody learns what ran, beside what the model wrote.

use looplet::engine::model::hook::{Decision, HookAnswer};
use looplet::engine::model::input::{Behavior, Input, PermissionAnswer, ToolReturn};
use looplet::engine::model::message::Json;
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::wire::{call, stream};
use crate::world::{World, config, tool};

const NOTE: &str = "The input was changed before the tool ran: ";

/// A run whose model has called `act` with `{"n":1}`.
fn world(fields: Value) -> World {
    let mut world = World::started(config(json!([tool("act", json!({}))]), fields));
    world.respond(&stream(&[call("act", "act", json!({"n": 1}))], "tool_use"));
    world
}

/// Answers the oldest open question with this input.
fn answer(world: &mut World, input: &str) {
    let (question, ask) = world.questions.remove(0);
    let updated_input = Some(Json::parse(input).unwrap());
    let answer = if ask.point == Point::Permission {
        Answer::Permission(PermissionAnswer {
            behavior: Behavior::Allow,
            updated_input,
            ..PermissionAnswer::default()
        })
    } else {
        Answer::Hook(Box::new(HookAnswer {
            updated_input,
            decision: (ask.point == Point::PermissionRequest).then_some(Decision::Allow),
            ..HookAnswer::default()
        }))
    };
    world.input(Input::Answered { question, answer });
}

/// The last event of a type.
fn event(world: &World, kind: &str) -> Value {
    let mut events = world
        .events
        .iter()
        .map(|event| serde_json::to_value(event).unwrap());
    events.rfind(|event| event["type"] == kind).unwrap()
}

/// The texts of the last result that the model has read.
fn told(world: &World) -> Vec<String> {
    let body = world.body(world.requests.len() - 1);
    let content = &body["messages"].as_array().unwrap().last().unwrap()["content"][0]["content"];
    let texts = content
        .as_array()
        .cloned()
        .unwrap_or(vec![json!({"text": content})]);
    texts
        .iter()
        .map(|block| block["text"].as_str().unwrap().to_owned())
        .collect()
}

fn asking() -> Value {
    json!({"permissions": {"canUseTool": true}})
}

#[test]
fn the_record_tells_the_input_that_ran_beside_the_one_that_the_model_wrote() {
    let hooked = |event: &str| json!({"hooks": [{"event": event}]});
    let mut contested = hooked("PermissionRequest");
    contested["permissions"] = json!({"canUseTool": true});
    for fields in [asking(), hooked("PreToolUse"), hooked("ToolGuardrail"), contested] {
        let mut world = world(fields.clone());
        answer(&mut world, r#"{"n":2}"#);
        let changed = json!({"n": 2});
        assert_eq!(event(&world, "answered")["updatedInput"], changed, "{fields}");
        assert_eq!(world.running["act"].input.as_str(), r#"{"n":2}"#, "{fields}");
        world.return_value("act", json!("done"));
        let returned = event(&world, "tool-result");
        assert_eq!(
            (&returned["updatedInput"], &returned["output"]),
            (&changed, &json!("done"))
        );
        let record = &world.result()["toolCalls"][0];
        assert_eq!(
            (&record["input"], &record["updatedInput"]),
            (&json!({"n": 1}), &changed)
        );
        assert_eq!(record["output"], "done", "programs read the output alone");
        assert_eq!(told(&world), ["done", &format!(r#"{NOTE}{{"n":2}}"#)], "{fields}");
        let written = &world.body(1)["messages"][1]["content"][0]["input"];
        assert_eq!(
            written,
            &json!({"n": 1}),
            "the answer stays as the model wrote it"
        );
    }
}

#[test]
fn an_error_of_a_call_tells_the_input_that_failed() {
    let mut world = world(asking());
    answer(&mut world, r#"{"n":2}"#);
    let fault = json!({"code": "x", "message": "y", "hint": "z", "recoverable": true});
    world.finish_tool("act", ToolReturn::Fault(serde_json::from_value(fault).unwrap()));
    assert_eq!(event(&world, "tool-error")["updatedInput"], json!({"n": 2}));
    assert_eq!(told(&world)[1], format!(r#"{NOTE}{{"n":2}}"#));
}

#[test]
fn an_input_that_says_the_same_is_no_change() {
    let mut same = world(asking());
    answer(&mut same, r#"{ "n": 1 }"#);
    same.return_value("act", json!("done"));
    let mut back = world(json!({"hooks": [{"event": "PreToolUse"}, {"event": "ToolGuardrail"}]}));
    answer(&mut back, r#"{"n":2}"#);
    answer(&mut back, r#"{"n":1}"#);
    back.return_value("act", json!("done"));
    for world in [same, back] {
        assert_eq!(event(&world, "tool-result").get("updatedInput"), None);
        assert_eq!(world.result()["toolCalls"][0].get("updatedInput"), None);
        assert_eq!(told(&world), ["done"]);
    }
}

#[test]
fn a_changed_call_that_never_ran_tells_no_input() {
    let mut world = world(json!({"hooks": [{"event": "PreToolUse"}], "permissions": {"canUseTool": true}}));
    answer(&mut world, r#"{"n":2}"#);
    let (question, _) = world.questions.remove(0);
    world.input(Input::Answered {
        question,
        answer: Answer::Permission(PermissionAnswer::default()),
    });
    assert_eq!(event(&world, "tool-error").get("updatedInput"), None);
    assert!(!told(&world).concat().contains(NOTE));
}

#[test]
fn s004_21_the_model_does_not_see_bound_values_in_a_changed_input() {
    let mut fields = asking();
    fields["inputs"] = json!({"userId": "u1"});
    let tools = json!([tool(
        "orders",
        json!({"bindings": [{"field": "user", "input": "userId"}]})
    )]);
    let mut world = World::started(config(tools, fields));
    world.respond(&stream(&[call("orders", "orders", json!({"n": 1}))], "tool_use"));
    answer(&mut world, r#"{"user":"u1","n":2}"#);
    assert_eq!(world.running["orders"].input.as_str(), r#"{"user":"u1","n":2}"#);
    world.return_value("orders", json!("done"));
    assert_eq!(told(&world)[1], format!(r#"{NOTE}{{"n":2}}"#));
    assert!(!world.requests[1].contains("u1"));
    assert_eq!(world.result()["toolCalls"][0]["updatedInput"], json!({"n": 2}));
}

#[test]
fn a_traced_run_has_the_hash_of_the_changed_input() {
    let mut fields = asking();
    fields["trace"] = json!(true);
    let mut traced = world(fields);
    answer(&mut traced, r#"{"n":2}"#);
    traced.return_value("act", json!("done"));
    let before = event(&traced, "tool-call")["inputHash"].clone();
    let after = event(&traced, "tool-result")["updatedInputHash"].clone();
    assert!(after.is_string() && before.is_string() && after != before);
    let mut plain = world(asking());
    answer(&mut plain, r#"{"n":2}"#);
    plain.return_value("act", json!("done"));
    assert_eq!(event(&plain, "tool-result").get("updatedInputHash"), None);
}

#[test]
fn a_long_changed_input_is_shown_as_far_as_a_result_is() {
    let mut fields = asking();
    fields["toolCalls"]["maxResultChars"] = json!(40);
    let mut world = world(fields);
    answer(&mut world, &json!({"n": 1, "text": "x".repeat(100)}).to_string());
    world.return_value("act", json!("done"));
    let note = &told(&world)[1];
    assert!(
        note.contains("Cut off here") && !note.contains(&"x".repeat(50)),
        "{note}"
    );
}

#[test]
fn a_change_that_the_model_must_not_see_stays_in_the_record() {
    let mut fields = asking();
    fields["toolCalls"]["tellUpdatedInput"] = json!(false);
    let mut world = world(fields);
    answer(&mut world, r#"{"n":2}"#);
    world.return_value("act", json!("done"));
    assert_eq!(told(&world), ["done"]);
    let record = &world.result()["toolCalls"][0];
    assert_eq!(record["updatedInput"], json!({"n": 2}));
}
