//! Runs that are killed while hooks, guardrails, persons and streams have their say about tool calls.

use looplet::engine::model::config::permission::{Rule, RuleKind};
use looplet::engine::model::event::EventKind;
use looplet::engine::model::hook::{Decision, HookAnswer, Prepared};
use looplet::engine::model::input::{Behavior, PermissionAnswer, PermissionUpdate, PreparedCall, UpdateType};
use looplet::engine::model::message::{Block, Json, Message};
use looplet::engine::model::question::{Answer, Point, Question};
use serde_json::{Value, json};

use crate::kill_everywhere::{calls, done};
use crate::killed::{Outside, Scene, kill_everywhere};
use crate::told::{calls_of, data};
use crate::wire::{Piece, begin, block, call, end, text};
use crate::world::{config, tool};

/// An answer in one chunk for each block.
fn slowly(pieces: &[Piece]) -> Vec<String> {
    let blocks = pieces
        .iter()
        .enumerate()
        .map(|(index, piece)| block(index, piece));
    let ends = [end("tool_use", 5)];
    std::iter::once(begin(10)).chain(blocks).chain(ends).collect()
}

fn says(answer: HookAnswer) -> Option<Answer> {
    Some(Answer::Hook(Box::new(answer)))
}

fn adds(context: &str) -> HookAnswer {
    HookAnswer {
        context: vec![context.to_owned()],
        ..HookAnswer::default()
    }
}

fn input(value: Value) -> Option<Json> {
    Some(Json::parse(&value.to_string()).unwrap())
}

fn id(ask: &Question) -> String {
    data(ask)["toolCallId"].as_str().unwrap_or_default().to_owned()
}

/// Hooks at every point of two rounds, each of which says something, and a `Stop` hook that makes the model go on.
pub fn hooked() -> Scene {
    let settings = || {
        let tools = json!([
            tool("act", json!({})),
            tool("ask", json!({"needsApproval": true}))
        ]);
        let points = [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PermissionRequest",
            "PermissionDenied",
            "Notification",
            "PostToolUse",
            "PostToolUseFailure",
            "PostToolBatch",
            "PrepareIteration",
            "IterationEnd",
            "Stop",
            "ToolGuardrail",
        ];
        let hooks: Vec<Value> = points.iter().map(|point| json!({"event": point})).collect();
        config(tools, json!({"hooks": hooks, "session": "startup"}))
    };
    Scene {
        name: "hooks",
        settings,
        reply: |asked| match asked.iteration {
            1 => calls(&[
                call("a", "act", json!({"n": 1})),
                call("b", "ask", json!({"n": 2})),
                call("c", "ask", json!({"n": 3})),
            ]),
            2 => calls(&[call("d", "act", json!({}))]),
            3 => done("First end."),
            4 => done("Last end."),
            more => panic!("{more}"),
        },
        answer: |ask| match (ask.point, id(ask).as_str()) {
            (Point::SessionStart | Point::UserPromptSubmit | Point::PostToolBatch, _) => {
                says(adds(&format!("{:?} has spoken.", ask.point)))
            }
            (Point::PreToolUse, id) => says(HookAnswer {
                updated_input: input(json!({"n": 10})),
                ..adds(&format!("Before {id}."))
            }),
            (Point::ToolGuardrail, id) => says(adds(&format!("Guarded {id}."))),
            (Point::PermissionRequest, id) => says(adds(&format!("Contested {id}."))),
            (Point::PermissionDenied, id) => says(adds(&format!("Denied {id}."))),
            (Point::Permission, "c") => Some(Answer::Permission(PermissionAnswer {
                behavior: Behavior::Deny,
                message: Some("Not this.".into()),
                ..PermissionAnswer::default()
            })),
            (Point::Permission, _) => Some(Answer::Permission(PermissionAnswer {
                behavior: Behavior::Allow,
                updated_input: input(json!({"n": 11})),
                ..PermissionAnswer::default()
            })),
            (Point::PostToolUse, id) => says(HookAnswer {
                updated_output: input(json!(format!("seen {id}"))),
                ..adds(&format!("After {id}."))
            }),
            (Point::PrepareIteration, _) => says(HookAnswer {
                prepared: Some(Box::new(Prepared {
                    system: Some("Be exact.".into()),
                    ..Prepared::default()
                })),
                ..HookAnswer::default()
            }),
            (Point::Stop, _) if data(ask)["stopHookActive"] == false => says(HookAnswer {
                decision: Some(Decision::Deny),
                reason: Some("Go on.".into()),
                ..HookAnswer::default()
            }),
            _ => None,
        },
        ..Scene::default()
    }
}

#[test]
fn a_run_with_hooks_is_killed_after_any_output() {
    let end = kill_everywhere(&hooked());
    let messages = end["messages"].to_string();
    for words in [
        "SessionStart has",
        "UserPromptSubmit has",
        "Before b.",
        "Guarded a.",
        "Contested b.",
        "Denied c.",
        "After a.",
        "seen d",
        "PostToolBatch has",
        "Not this.",
        "Go on.",
        "Last end.",
    ] {
        assert!(messages.contains(words), "{words}: {messages}");
    }
    assert_eq!(messages.matches("Before b.").count(), 1, "{messages}");
}

/// Guardrails that change the messages, the answer and the input of a call.
pub fn guarded() -> Scene {
    let settings = || {
        let hooks = json!([
            {"event": "InputGuardrail", "names": ["prompt"]}, {"event": "InputGuardrail", "names": ["request"]},
            {"event": "OutputGuardrail"}, {"event": "ToolGuardrail"},
        ]);
        config(
            json!([tool("act", json!({})), tool("read", json!({"readOnly": true}))]),
            json!({"hooks": hooks}),
        )
    };
    Scene {
        name: "guardrails",
        settings,
        reply: |asked| match asked.iteration {
            1 => calls(&[
                text("A secret."),
                call("a", "act", json!({"n": 1})),
                call("r", "read", json!({})),
            ]),
            2 => done("The secret is out."),
            more => panic!("{more}"),
        },
        answer: |ask| match ask.point {
            Point::InputGuardrail => {
                let mut messages: Vec<Message> =
                    serde_json::from_value(data(ask)["messages"].clone()).unwrap();
                messages[0].content = vec![Block::text("Go slowly.")];
                says(HookAnswer {
                    messages: Some(messages),
                    ..HookAnswer::default()
                })
            }
            Point::OutputGuardrail => says(HookAnswer {
                updated_output: input(json!("It is a ***.")),
                ..HookAnswer::default()
            }),
            Point::ToolGuardrail => says(HookAnswer {
                updated_input: input(json!({"n": 5})),
                ..adds("Five at most.")
            }),
            _ => None,
        },
        ..Scene::default()
    }
}

#[test]
fn a_run_with_guardrails_is_killed_after_any_output() {
    let end = kill_everywhere(&guarded());
    let messages = end["messages"].to_string();
    assert!(
        messages.contains("Go slowly.") && messages.contains("Five at most."),
        "{messages}"
    );
    assert!(!messages.contains("secret"), "{messages}");
}

/// A person answers with other input, with a rule for the rest of the run, and with a denial.
pub fn permitted() -> Scene {
    let settings = || {
        let tools = json!([
            tool("pay", json!({})),
            tool("wipe", json!({})),
            tool("keyed", json!({"prepare": true}))
        ]);
        config(tools, json!({"permissions": {"canUseTool": true}}))
    };
    Scene {
        name: "permissions",
        settings,
        reply: |asked| match asked.iteration {
            1 => calls(&[
                call("a", "pay", json!({"n": 1})),
                call("b", "wipe", json!({"n": 2})),
                call("k", "keyed", json!({"n": 3})),
            ]),
            2 => calls(&[
                call("c", "pay", json!({"n": 4})),
                call("d", "wipe", json!({"n": 5})),
            ]),
            3 => done("Done."),
            more => panic!("{more}"),
        },
        answer: |ask| match (ask.point, id(ask).as_str()) {
            (Point::PrepareCalls, _) => Some(Answer::Prepared(
                calls_of(ask)
                    .iter()
                    .map(|call| PreparedCall {
                        resource_key: Some(call.input.as_str().to_owned()),
                        input: input(json!({"n": 33})),
                        ..PreparedCall::default()
                    })
                    .collect(),
            )),
            (Point::Permission, "a") => Some(Answer::Permission(PermissionAnswer {
                behavior: Behavior::Allow,
                updated_input: input(json!({"n": 7})),
                updated_permissions: vec![PermissionUpdate::rules(
                    UpdateType::AddRules,
                    RuleKind::Allow,
                    Rule::parse("pay").into_iter().collect(),
                )],
                ..PermissionAnswer::default()
            })),
            (Point::Permission, "b" | "d") => Some(Answer::Permission(PermissionAnswer {
                behavior: Behavior::Deny,
                message: Some(format!("No {}.", id(ask))),
                ..PermissionAnswer::default()
            })),
            (Point::Permission, "c") => panic!("the rule allows it"),
            _ => None,
        },
        ..Scene::default()
    }
}

#[test]
fn a_run_with_permissions_is_killed_after_any_output() {
    let end = kill_everywhere(&permitted());
    let messages = end["messages"].to_string();
    assert!(
        messages.contains("No b.") && messages.contains("No d."),
        "{messages}"
    );
}

/// Calls that start while their answer streams.
pub fn eager() -> Scene {
    let settings = || {
        let tools = json!([
            tool("read", json!({"readOnly": true})),
            tool("once", json!({"readOnly": true, "replay": "once"})),
            tool("pay", json!({})),
        ]);
        config(tools, json!({"toolCalls": {"eager": true}}))
    };
    Scene {
        name: "eager tools",
        settings,
        reply: |asked| match asked.iteration {
            1 => slowly(&[
                text("I read."),
                call("r1", "read", json!({"n": 1})),
                call("r2", "read", json!({"n": 2})),
                call("o", "once", json!({"n": 3})),
                call("r3", "read", json!({"n": 4})),
                call("p", "pay", json!({"n": 5})),
            ]),
            2 => slowly(&[text("Again."), call("r4", "read", json!({"n": 6}))]),
            3 => done("Done."),
            more => panic!("{more}"),
        },
        refused: &[("root", 2)],
        ..Scene::default()
    }
}

#[test]
fn a_run_with_eager_tools_is_killed_after_any_output() {
    let end = kill_everywhere(&eager());
    assert_eq!(end["toolCalls"].as_array().unwrap().len(), 6);
    let scene = eager();
    let mut whole = Outside::new(&scene);
    whole.live(&[]);
    let is_call = |name: &str| whole.world.event_names().iter().position(|other| other == name);
    assert!(is_call("tool-result") < is_call("iteration-finish"));
    let is_text = |kind: &EventKind| matches!(kind, EventKind::TextDelta { text, .. } if text == "I read.");
    assert!(whole.world.events.iter().any(|event| is_text(&event.kind)));
}
