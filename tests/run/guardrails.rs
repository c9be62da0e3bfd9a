use looplet::engine::model::event::EventKind;
use looplet::engine::model::hook::{Decision, HookAnswer};
use looplet::engine::model::input::Input;
use looplet::engine::model::message::Block;
use looplet::engine::model::message::{Json, Message};
use serde_json::json;

use crate::hooks::{answer, asked, eager, fail, respond, says, told, warnings, world};
use crate::wire::{Piece, call, end, stream, text};
use crate::world::World;

fn denied(world: &World, message: &str) {
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["stoppedBy"]),
        (&json!("stopped"), &json!("guardrail"))
    );
    assert_eq!(result["abortReason"], message);
    let error = world.events.iter().find_map(|event| match &event.kind {
        EventKind::Error { error } => Some(error.message.clone()),
        _ => None,
    });
    assert_eq!(error.as_deref(), Some(message));
}

#[test]
fn p_19_an_input_guardrail_sees_the_messages_before_each_request_and_ends_the_run() {
    let mut world = world(json!([{"event": "InputGuardrail", "blocks": true}]), json!({}));
    assert!(world.requests.is_empty());
    assert_eq!(asked(&world)[0].1["messages"][0]["content"][0]["text"], "Go.");
    answer(&mut world, HookAnswer::default());
    respond(&mut world, &["act"]);
    world.return_value("act", json!("a secret"));
    assert_eq!(world.requests.len(), 1);
    assert_eq!(asked(&world)[0].1["messages"].as_array().unwrap().len(), 3);
    answer(&mut world, says(Decision::Deny, "a secret leaks"));
    denied(&world, "Input guardrail denied: a secret leaks");
    assert_eq!(world.requests.len(), 1);
    assert_eq!(
        world.result()["iterations"],
        1,
        "the request that was not made does not count"
    );
}

#[test]
fn an_input_guardrail_for_prompts_is_asked_once_for_each() {
    let hooks = json!([{"event": "InputGuardrail", "names": ["prompt"], "blocks": true}]);
    let mut world = world(hooks, json!({}));
    answer(&mut world, HookAnswer::default());
    respond(&mut world, &["act"]);
    world.return_value("act", json!(1));
    assert!(asked(&world).is_empty(), "it has seen this prompt");
    assert_eq!(world.requests.len(), 2);
    world.input(Input::Steer {
        id: 1,
        content: vec![Block::text("Stop.")],
    });
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(asked(&world).len(), 1);
    assert_eq!(world.requests.len(), 2);
}

#[test]
fn p_19_an_input_guardrail_rewrites_the_messages() {
    let mut world = world(json!([{"event": "InputGuardrail", "blocks": true}]), json!({}));
    let messages = Some(vec![Message::user(vec![Block::text("Stop.")])]);
    answer(
        &mut world,
        HookAnswer {
            messages,
            ..HookAnswer::default()
        },
    );
    assert_eq!(told(&world)[0]["text"], "Stop.");
    assert_eq!(warnings(&world).len(), 1);
    assert_eq!(world.result()["messages"][0]["content"][0]["text"], "Stop.");

    let mut world = self::world(json!([{"event": "InputGuardrail", "blocks": true}]), json!({}));
    let illegal = Block::ToolResult {
        call_id: "x".into(),
        content: vec![],
        is_error: false,
        pending: None,
    };
    let messages = Some(vec![Message::user(vec![illegal])]);
    answer(
        &mut world,
        HookAnswer {
            messages,
            ..HookAnswer::default()
        },
    );
    assert_eq!(
        world.result()["stoppedBy"],
        "guardrail",
        "what cannot be sent is not sent"
    );
}

#[test]
fn p_19_an_input_guardrail_that_leaves_no_messages_has_failed() {
    for messages in [vec![], vec![Message::user(vec![])]] {
        let mut world = world(json!([{"event": "InputGuardrail", "blocks": true}]), json!({}));
        answer(
            &mut world,
            HookAnswer {
                messages: Some(messages),
                ..HookAnswer::default()
            },
        );
        let result = world.result();
        assert_eq!(result["stoppedBy"], "guardrail");
        assert!(result["abortReason"].as_str().unwrap().contains("no messages"));
        assert_eq!(
            result["messages"].as_array().unwrap().len(),
            1,
            "the transcript is as it was"
        );
        assert!(world.requests.is_empty());
    }
}

#[test]
fn p_19_an_output_guardrail_keeps_an_answer_back_and_ends_the_run_before_its_tools() {
    let mut world = world(json!([{"event": "OutputGuardrail", "blocks": true}]), json!({}));
    world.respond(&stream(
        &[text("My key is 1."), call("a", "act", json!({}))],
        "tool_use",
    ));
    assert!(world.tool_log.is_empty());
    assert_eq!(world.result()["text"], "", "not before it is let through");
    assert_eq!(
        asked(&world)[0].1["message"]["content"][0]["text"],
        "My key is 1."
    );
    answer(&mut world, says(Decision::Deny, "keys"));
    denied(&world, "Output guardrail denied: keys");
    let result = world.result();
    assert_eq!(
        (&result["text"], world.delivered_text().as_str()),
        (&json!(""), "")
    );
    assert!(!result["messages"].to_string().contains("My key"));
    assert!(world.tool_log.is_empty());
    let usage = (&result["usage"]["inputTokens"], &result["usage"]["outputTokens"]);
    assert_eq!(usage, (&json!(10), &json!(5)), "the answer was paid for");
}

#[test]
fn p_19_an_output_guardrail_rewrites_the_text_and_the_calls_go_on() {
    let mut world = world(json!([{"event": "OutputGuardrail", "blocks": true}]), json!({}));
    let thinking = Piece::Thinking("Hm.".into(), "c2ln");
    world.respond(&stream(
        &[
            thinking,
            text("My key "),
            text("is 1."),
            call("a", "act", json!({})),
        ],
        "tool_use",
    ));
    let updated_output = Some(Json::string("My key is ***."));
    answer(
        &mut world,
        HookAnswer {
            updated_output,
            ..HookAnswer::default()
        },
    );
    assert_eq!(world.tool_log, ["start a"]);
    assert_eq!(world.delivered_text(), "My key is ***.");
    assert_eq!(world.result()["text"], "My key is ***.");
    world.return_value("a", json!(1));
    let body = world.body(1);
    let blocks: Vec<&str> = body["messages"][1]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(blocks, ["thinking", "text", "tool_use"]);
    assert!(!world.requests[1].contains("is 1."));
}

#[test]
fn p_19_an_answer_that_was_not_let_through_before_an_abort_is_withheld() {
    let mut world = world(json!([{"event": "OutputGuardrail", "blocks": true}]), json!({}));
    world.respond(&stream(&[text("My key is 1.")], "end_turn"));
    world.cancel();
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["text"]),
        (&json!("cancelled"), &json!(""))
    );
    assert_eq!(world.delivered_text(), "");
    assert!(!result["messages"].to_string().contains("My key"));
}

#[test]
fn p_19_a_tool_guardrail_denies_or_rewrites_what_may_run() {
    let hooks = json!([{"event": "ToolGuardrail", "blocks": true}]);
    let fields = json!({"permissions": {"allow": ["act"]}});
    let mut world = world(hooks.clone(), fields.clone());
    respond(&mut world, &["act", "Bash"]);
    assert_eq!(
        asked(&world).len(),
        1,
        "what is denied already is not asked about"
    );
    answer(&mut world, says(Decision::Deny, "not that"));
    assert!(world.tool_log.is_empty());
    assert!(
        told(&world)[0]
            .to_string()
            .contains("Tool denied by guardrail: not that")
    );

    let mut world = self::world(hooks, fields);
    respond(&mut world, &["act"]);
    let updated_input = Some(Json::parse(r#"{"n":2}"#).unwrap());
    answer(
        &mut world,
        HookAnswer {
            updated_input,
            ..HookAnswer::default()
        },
    );
    assert_eq!(world.running["act"].input.as_str(), r#"{"n":2}"#);
    assert_eq!(
        world.result()["toolCalls"][0]["input"],
        json!({"n": 1}),
        "the history keeps what was written"
    );
}

#[test]
fn p_19_a_guardrail_that_fails_or_hangs_denies() {
    for event in ["InputGuardrail", "OutputGuardrail", "ToolGuardrail"] {
        for hangs in [false, true] {
            let mut world = world(
                json!([{"event": event, "blocks": true, "timeoutMs": 100}]),
                json!({}),
            );
            if event != "InputGuardrail" {
                respond(&mut world, &["act"]);
            }
            if hangs {
                world.pass(100)
            } else {
                fail(&mut world)
            }
            assert!(world.tool_log.is_empty(), "{event}");
            let shown = world.result()["toolCalls"].to_string() + &world.result()["abortReason"].to_string();
            let why = if hangs {
                "it did not answer in time"
            } else {
                "broken"
            };
            assert!(shown.contains(why), "{event}: {shown}");
        }
    }
}

#[test]
fn p_19_no_call_starts_before_an_output_guardrail_has_seen_its_answer() {
    for denied in [true, false] {
        let mut world = eager(json!([{"event": "OutputGuardrail", "blocks": true}]));
        assert!(world.tool_log.is_empty(), "{denied}");
        world.chunk(&end("tool_use", 5));
        world.end();
        assert!(world.tool_log.is_empty(), "the answer is not through");
        if denied {
            answer(&mut world, says(Decision::Deny, "no"));
            let result = world.result();
            assert_eq!(result["toolCalls"], json!([]));
            assert_eq!(result["messages"].as_array().unwrap().len(), 1);
            assert!(world.tool_log.is_empty());
        } else {
            answer(&mut world, HookAnswer::default());
            assert_eq!(world.tool_log, ["start look"]);
            world.return_value("look", json!("seen"));
            assert_eq!(told(&world)[0]["tool_use_id"], "look");
        }
    }
}

fn rewrites(text: &str) -> HookAnswer {
    HookAnswer {
        updated_output: Some(Json::string(text)),
        ..HookAnswer::default()
    }
}

#[test]
fn p_19_a_rewritten_continuation_stands_behind_what_it_continues() {
    let hooks = json!([{"event": "OutputGuardrail", "blocks": true}]);
    let mut world = world(hooks, json!({"answers": {"onMaxTokens": "continue"}}));
    for (piece, reason) in [
        ("Half ", "max_tokens"),
        ("of the ", "max_tokens"),
        ("end.", "end_turn"),
    ] {
        world.respond(&stream(&[text(piece)], reason));
        assert_eq!(asked(&world)[0].1["message"]["content"][0]["text"], piece);
        let rewrite = if piece == "of the " {
            rewrites("OF THE ")
        } else {
            HookAnswer::default()
        };
        answer(&mut world, rewrite);
    }
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["text"]),
        (&json!("completed"), &json!("Half OF THE end."))
    );
}

#[test]
fn p_19_a_continuation_that_is_denied_or_aborted_leaves_what_was_let_through() {
    for denied in [true, false] {
        let hooks = json!([{"event": "OutputGuardrail", "blocks": true}]);
        let mut world = world(hooks, json!({"answers": {"onMaxTokens": "continue"}}));
        world.respond(&stream(&[text("Half ")], "max_tokens"));
        answer(&mut world, HookAnswer::default());
        world.respond(&stream(&[text("of it.")], "end_turn"));
        if denied {
            answer(&mut world, says(Decision::Deny, "no"));
        } else {
            world.cancel();
        }
        assert_eq!(world.result()["text"], "Half ");
    }
}

#[test]
fn s001_50_a_structured_answer_in_pieces_survives_a_guardrail_that_rewrites_each() {
    let hooks = json!([{"event": "OutputGuardrail", "blocks": true}]);
    let schema = crate::structured_output::schema();
    let fields =
        json!({"answers": {"onMaxTokens": "continue"}, "output": {"schema": schema, "mode": "native"}});
    let mut world = world(hooks, fields);
    for (piece, reason) in [("{\"city\":\"Rome\",", "max_tokens"), ("\"days\":2}", "end_turn")] {
        world.respond(&stream(&[text(piece)], reason));
        answer(&mut world, rewrites(piece));
    }
    let result = world.result();
    assert_eq!(result["outcome"], "completed");
    assert_eq!(result["output"], json!({"city": "Rome", "days": 2}));
    assert_eq!(world.requests.len(), 2);
}

#[test]
fn p_22_an_input_guardrail_looks_at_what_is_left_of_the_history() {
    let context = json!({"context": {"maxChars": 400, "auto": false}, "system": ""});
    let mut world = world(json!([{"event": "InputGuardrail"}]), context);
    for round in 0..4 {
        let seen = asked(&world).remove(0).1["messages"].clone();
        answer(&mut world, HookAnswer::default());
        let body = world.body(world.requests.len() - 1);
        assert_eq!(
            body["messages"].as_array().unwrap().len(),
            seen.as_array().unwrap().len(),
            "round {round}"
        );
        assert_eq!(
            body["messages"].to_string().contains("[Context summary: "),
            seen.to_string().contains("[Context summary: ")
        );
        let id = format!("act{round}");
        world.respond(&stream(&[call(&id, "act", json!({}))], "tool_use"));
        world.return_value(&id, json!("x".repeat(100)));
    }
    assert!(
        asked(&world)[0].1["messages"]
            .to_string()
            .contains("[Context summary: ")
    );
    world.cancel();
}
