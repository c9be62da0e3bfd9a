//! An agent that takes the conversation over.

use looplet::engine::model::error::FailureCode;
use looplet::engine::model::event::ToolFault;
use looplet::engine::model::input::{Input, ToolReturn};
use looplet::engine::model::outcome::OutcomeKind;
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::subagents::{agent_tool, calls, says, setting};
use crate::told::data;
use crate::wire::{Piece, call, stream};
use crate::world::{World, config, tool};

#[test]
fn a_handoff_goes_on_with_the_transcript_under_another_profile() {
    let mut world = World::started(setting(json!({})));
    world.respond(&calls(&[
        call("a", "expert", json!({})),
        call("b", "expert", json!({})),
    ]));
    let body = world.body(1);
    assert_eq!(body["model"], "big");
    assert_eq!(world.sent[1].model, 1);
    assert_eq!(
        body["messages"].as_array().unwrap().len(),
        5,
        "system, prompt, calls, two results"
    );
    assert!(body["tools"].to_string().contains("look") && !body["tools"].to_string().contains("read"));
    assert!(world.requests[1].contains("handed_over"), "one at a time");
    let handed = world
        .event_names()
        .iter()
        .filter(|name| *name == "handoff")
        .count();
    assert_eq!(handed, 1);
    assert_eq!(world.run.agent_path(0), "root");
}

#[test]
fn a_handoff_may_call_your_code_first_whose_error_keeps_the_conversation() {
    for may_go in [true, false] {
        let tools = json!([
            agent_tool("judge", json!({"profile": 1, "handoff": true, "callsHost": true})),
            agent_tool("expert", json!({"profile": 1, "handoff": true})),
        ]);
        let agents = json!({"agents": [{"model": {"vendor": "anthropic", "model": "big"}}]});
        let mut world = World::started(config(tools, agents));
        world.respond(&calls(&[
            call("a", "judge", json!({"why": "law"})),
            call("b", "expert", json!({})),
        ]));
        assert_eq!(world.tool_log[0], "start a");
        if may_go {
            world.return_value("a", json!(null));
            assert!(world.requests[1].contains("has been handed off"));
        } else {
            world.finish_tool("a", ToolReturn::Fault(ToolFault::not_run()));
        }
        assert_eq!(
            world.body(1)["model"],
            "big",
            "the other call hands over in any case"
        );
    }
}

/// A run whose model hands over to the agent `expert`, which your code filters the messages for.
fn filtered(fields: Value) -> World {
    let expert = agent_tool("expert", json!({"profile": 1, "handoff": true, "filters": true}));
    let tools = json!([tool("read", json!({"readOnly": true})), expert]);
    let mut all = json!({"agents": [{"model": {"vendor": "anthropic", "model": "big"}, "system": "Know."}]});
    let fields = fields.as_object().cloned().unwrap_or_default();
    all.as_object_mut().unwrap().extend(fields);
    World::started(config(tools, all))
}

fn hand_over(world: &mut World) {
    world.respond(&calls(&[call("a", "expert", json!({"why": "law"}))]));
}

fn answer_filter(world: &mut World, answer: Answer) {
    let (question, ask) = world.questions.pop().unwrap();
    assert_eq!(ask.point, Point::FilterHandoff);
    world.input(Input::Answered { question, answer });
}

fn messages(json: Value) -> Answer {
    Answer::Filtered(serde_json::from_value(json).unwrap())
}

#[test]
fn your_code_chooses_the_messages_that_the_next_agent_begins_with() {
    let mut world = filtered(json!({}));
    hand_over(&mut world);
    assert_eq!(world.requests.len(), 1, "the next request waits");
    let (_, ask) = world.questions.last().unwrap();
    let told = data(ask);
    assert_eq!(
        (&told["toolName"], &told["input"]),
        (&json!("expert"), &json!({"why": "law"}))
    );
    let roles: Vec<_> = told["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["role"])
        .collect();
    assert_eq!(
        roles,
        ["user", "assistant", "user"],
        "the result of the handoff is there"
    );
    answer_filter(
        &mut world,
        messages(json!([{"role": "user", "content": [{"type": "text", "text": "Only this."}]}])),
    );
    let body = world.body(1);
    assert_eq!(body["model"], "big");
    assert!(body["system"].to_string().contains("Know."));
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
    assert!(world.requests[1].contains("Only this."));
    world.respond(&says("Done."));
    let kept = world.result()["messages"].to_string();
    assert!(kept.contains("Only this.") && kept.contains("Done.") && !kept.contains("expert"));
}

#[test]
fn a_conversation_that_ends_with_an_answer_is_told_about_the_handoff() {
    let mut world = filtered(json!({}));
    hand_over(&mut world);
    let answer = json!([
        {"role": "user", "content": [{"type": "text", "text": "Go."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "One moment."}]},
    ]);
    answer_filter(&mut world, messages(answer));
    let last = world.body(1)["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(last["role"], "user");
    assert!(last.to_string().contains("has been handed off"));
}

#[test]
fn a_filter_without_a_legal_answer_fails_the_run_before_the_next_agent_reads_anything() {
    let orphan = json!([{"role": "user", "content": [
        {"type": "tool_result", "callId": "x", "content": []}]}]);
    let rows: [(Option<Answer>, &str); 4] = [
        (Some(messages(orphan)), "answers no tool call"),
        (Some(messages(json!([]))), "no messages to send"),
        (
            Some(Answer::Failed {
                why: "Closed.".into(),
            }),
            "Closed.",
        ),
        (None, "did not answer in time"),
    ];
    for (answer, problem) in rows {
        let mut world = filtered(json!({}));
        hand_over(&mut world);
        match answer {
            Some(answer) => answer_filter(&mut world, answer),
            None => world.pass(10 * 60_000),
        }
        assert_eq!(world.requests.len(), 1, "{problem}");
        let error = world.done.clone().unwrap().error.unwrap();
        assert_eq!(error.code, FailureCode::ConfigInvalid);
        assert!(
            error.message.contains("inputFilter of expert") && error.message.contains(problem),
            "{}",
            error.message
        );
    }
}

#[test]
fn an_abort_calls_a_filter_off() {
    let mut world = filtered(json!({}));
    hand_over(&mut world);
    world.cancel();
    assert!(world.questions.len() == 1 && world.withdrawn.len() == 1);
    answer_filter(&mut world, messages(json!([])));
    assert_eq!(world.done.unwrap().outcome, OutcomeKind::Cancelled);
}

#[test]
fn a_handoff_without_a_schema_ignores_what_the_model_says_with_it() {
    for (arguments, reason) in [
        ("\"over to you\"", "tool_use"),
        ("over to you", "tool_use"),
        ("{\"why\": \"la", "max_tokens"),
    ] {
        let mut tools = json!([agent_tool("expert", json!({"profile": 1, "handoff": true}))]);
        let agents = json!({"agents": [{"model": {"vendor": "anthropic", "model": "big"}}]});
        tools[0]["validate"] = json!(false);
        let mut world = World::started(config(tools, agents));
        world.respond(&stream(
            &[Piece::Call("a".into(), "expert".into(), arguments.into())],
            reason,
        ));
        assert_eq!(world.requests.len(), 2, "{arguments}");
        assert_eq!(world.body(1)["model"], "big", "{arguments}");
    }
}
