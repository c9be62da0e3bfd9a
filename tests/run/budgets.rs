//! What is overrun of a budget is at most one response per running agent: no request goes out once it is used up.

use std::collections::BTreeMap;

use looplet::engine::model::event::EventKind;
use looplet::engine::model::hook::Raise;
use looplet::engine::model::input::Input;
use looplet::engine::model::usage::Usage;
use serde_json::{Value, json};

use crate::hooks::{answer, asked};
use crate::subagents::{ask, calls, says, setting, told};
use crate::told::event_name;
use crate::wire::{begin, call, open, stream_with_usage, text};
use crate::world::World;

/// Tokens of the root's budget when a request goes out, at most.
pub fn check_budget(world: &World, mut limit: Option<u64>) {
    let mut calls: BTreeMap<(u32, u32, u32), Usage> = BTreeMap::new();
    for event in &world.events {
        match &event.kind {
            EventKind::Usage { usage, .. } => {
                calls.insert((event.agent, event.iteration, event.attempt), *usage);
            }
            EventKind::Limits { limits } if event.agent == 0 => {
                limit = limits.max_total_tokens;
            }
            EventKind::AttemptStart { .. } => {
                let used: u64 = calls.values().map(Usage::total_tokens).sum();
                assert!(
                    limit.is_none_or(|limit| used <= limit),
                    "a request goes out although {used} tokens of {limit:?} are used up"
                );
            }
            _ => {}
        }
    }
}

fn world(tokens: u64) -> World {
    World::started(setting(json!({"limits": {"maxTotalTokens": tokens}})))
}

#[test]
fn parallel_subagents_overrun_a_budget_by_one_response_each_at_most() {
    let mut world = world(100);
    let helpers = ["a", "b", "c", "d"].map(|id| ask(id, "helper", "Go."));
    world.respond(&calls(&helpers));
    let paths = ["root/helper", "root/helper#2", "root/helper#3", "root/helper#4"];
    for path in &paths[..3] {
        let answer = stream_with_usage(&[call(path, "dig", json!({"n": 1}))], "tool_use", 20, 5);
        world.respond_to(path, &answer);
    }
    for path in &paths[..3] {
        world.return_value(path, json!(1));
    }
    assert_eq!(
        world.open_requests.len(),
        4,
        "90 of 100 are used: each may still ask once"
    );
    world.respond_to(paths[0], &stream_with_usage(&[text("x")], "end_turn", 400, 5));
    let result = world.result();
    assert_eq!(result["stoppedBy"], "tokens");
    assert_eq!(world.aborted_requests.len(), 3);
    assert_eq!(world.agents.len(), 8, "nothing more was asked");
    check_budget(&world, Some(100));
}

#[test]
fn an_attempt_that_fails_with_the_budget_used_up_is_not_made_again() {
    let mut world = World::started(setting(
        json!({"limits": {"maxTotalTokens": 100}, "retry": {"maxRetries": 3}}),
    ));
    world.head(200, &[("content-type", "text/event-stream")]);
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "later"}});
    world.chunk(&(begin(200) + &open(0, &text("Half")) + &crate::wire::event(error)));
    world.pass(60_000);
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["stoppedBy"]),
        (&json!("stopped"), &json!("tokens"))
    );
    assert_eq!(world.requests.len(), 1);
    check_budget(&world, Some(100));
}

#[test]
fn a_retry_that_lacks_budget_is_asked_about_and_goes_on_in_the_same_iteration() {
    let fields =
        json!({"limits": {"maxTotalTokens": 100}, "retry": {"maxRetries": 3}, "hooks": [{"event": "Limit"}]});
    let mut world = World::started(setting(fields));
    world.head(200, &[("content-type", "text/event-stream")]);
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "later"}});
    world.chunk(&(begin(200) + &crate::wire::event(error)));
    world.pass(5_000);
    assert_eq!(asked(&world)[0].1["limit"], "tokens");
    let limits = Some(Raise {
        max_total_tokens: Some(1000),
        ..Raise::default()
    });
    answer(
        &mut world,
        looplet::engine::model::hook::HookAnswer {
            limits,
            ..Default::default()
        },
    );
    world.respond(&says("Done."));
    assert_eq!(world.result()["outcome"], "completed");
    assert_eq!(world.result()["iterations"], 1);
}

fn add(world: &mut World, agent_path: &str, more: Raise) {
    let agent_path = agent_path.to_owned();
    world.input(Input::AddBudget { agent_path, more });
}

#[test]
fn a_host_raises_the_limits_of_a_run_unasked() {
    let fields = json!({"limits": {"maxTotalTokens": 30, "maxIterations": 1, "maxToolCalls": 1}, "timeouts": {"totalMs": 1000}});
    let mut world = World::started(setting(fields));
    let more = Raise {
        max_iterations: Some(1),
        max_total_tokens: Some(1000),
        max_tool_rounds: Some(7),
        max_tool_calls: Some(1),
        time_ms: Some(500),
        ..Raise::default()
    };
    world.pass(400);
    add(&mut world, "root", more);
    let told: Vec<Value> = world
        .events
        .iter()
        .filter(|event| event_name(&event.kind) == "limits")
        .map(|event| serde_json::to_value(&event.kind).unwrap()["limits"].clone())
        .collect();
    let expected = json!({"maxIterations": 2, "maxTotalTokens": 1030, "maxCostNanoUsd": null,
        "maxToolRounds": null, "maxToolCalls": 2, "timeLeftMs": 1100});
    assert_eq!(told, [expected]);
    world.respond(&calls(&[
        call("x", "act", json!({"n": 1})),
        call("y", "act", json!({"n": 2})),
    ]));
    world.return_value("x", json!(1));
    world.return_value("y", json!(1));
    world.pass(1099);
    assert!(world.done.is_none());
    world.pass(1);
    assert_eq!(world.result()["stoppedBy"], "time");
}

#[test]
fn the_budget_of_a_run_is_its_subagents_and_one_of_their_own_can_be_raised() {
    let own = json!({"limits": {"maxTotalTokens": 20}, "timeouts": {"totalMs": 100}});
    let mut world = World::started(setting(
        json!({"limits": {"maxTotalTokens": 40}, "agents": {"0": own}}),
    ));
    world.respond(&calls(&[ask("a", "helper", "Go.")]));
    let tokens = |tokens| Raise {
        max_total_tokens: Some(tokens),
        time_ms: Some(100),
        ..Raise::default()
    };
    add(&mut world, "root", tokens(1000));
    add(&mut world, "root/helper", tokens(1000));
    add(&mut world, "root/nobody", tokens(1));
    world.pass(150);
    world.respond(&stream_with_usage(
        &[call("d", "dig", json!({}))],
        "tool_use",
        300,
        5,
    ));
    world.return_value("d", json!(1));
    world.respond(&says("Dug."));
    assert_eq!(told(&world, 3, "a").0, "Dug.");
    world.respond(&says("Done."));
    assert_eq!(world.result()["outcome"], "completed");
}

/// A run that is asked about its time.
fn timed(timeouts: Value) -> World {
    let fields = json!({"timeouts": timeouts, "hooks": [{"event": "Limit", "timeoutMs": 500}]});
    World::started(setting(fields))
}

fn give(world: &mut World, time_ms: Option<u64>) {
    let limits = Some(Raise {
        time_ms,
        ..Raise::default()
    });
    answer(
        world,
        looplet::engine::model::hook::HookAnswer {
            limits,
            ..Default::default()
        },
    );
}

#[test]
fn the_host_is_asked_about_time_and_what_it_adds_counts_from_its_answer_on() {
    for (timeouts, name) in [
        (json!({"totalMs": 100}), "totalMs"),
        (json!({"iterationMs": 100}), "iterationMs"),
    ] {
        let mut world = timed(timeouts);
        world.pass(100);
        let (event, input) = asked(&world).remove(0);
        assert_eq!(
            (event.as_str(), &input["limit"], &input["timeout"]),
            ("Limit", &json!("time"), &json!(name))
        );
        assert_eq!(world.open_requests.len(), 1, "meanwhile everything goes on");
        world.pass(50);
        give(&mut world, Some(200));
        world.pass(199);
        assert!(world.done.is_none() && world.questions.is_empty());
        world.pass(1);
        assert_eq!(world.questions.len(), 1, "asked again");
        give(&mut world, None);
        let result = world.result();
        assert_eq!(
            (&result["outcome"], &result["stoppedBy"]),
            (&json!("stopped"), &json!("time"))
        );
    }
}

#[test]
fn a_question_about_time_outlives_an_attempt_that_fails() {
    let mut world = timed(json!({"totalMs": 100}));
    world.pass(100);
    world.refuse(529, &[], "{}");
    assert_eq!(world.questions.len(), 1);
    give(&mut world, Some(60_000));
    world.pass(59_999);
    assert!(world.done.is_none());
    world.pass(1);
    assert_eq!(world.questions.len(), 1, "asked again");
}

#[test]
fn a_host_that_does_not_answer_about_time_lets_the_run_be_stopped() {
    let mut world = timed(json!({"totalMs": 100}));
    world.pass(599);
    assert!(world.done.is_none());
    world.pass(1);
    assert_eq!(world.result()["stoppedBy"], "time");
}

#[test]
fn time_that_was_added_unasked_while_the_question_is_open_counts() {
    let mut world = timed(json!({"totalMs": 100}));
    world.pass(100);
    add(
        &mut world,
        "root",
        Raise {
            time_ms: Some(1000),
            ..Raise::default()
        },
    );
    give(&mut world, None);
    assert!(world.done.is_none());
    world.respond(&says("Done."));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn time_that_was_added_unasked_is_not_replaced_by_the_answers() {
    let fields =
        json!({"timeouts": {"totalMs": 100}, "limits": {"maxIterations": 1}, "hooks": [{"event": "Limit"}]});
    let mut world = World::started(setting(fields));
    world.pass(100);
    let more = |time_ms, max_iterations| Raise {
        time_ms,
        max_iterations,
        ..Raise::default()
    };
    add(&mut world, "root", more(Some(1000), None));
    let limits = Some(more(Some(500), Some(2)));
    answer(
        &mut world,
        looplet::engine::model::hook::HookAnswer {
            limits,
            ..Default::default()
        },
    );
    world.respond(&calls(&[call("x", "act", json!({"n": 1}))]));
    world.return_value("x", json!(1));
    assert_eq!(
        world.requests.len(),
        2,
        "the other limits of the answer count as well"
    );
    world.pass(1499);
    assert!(world.questions.is_empty());
    world.pass(1);
    assert_eq!(asked(&world)[0].1["timeout"], "totalMs");
}

#[test]
fn a_question_about_time_is_closed_when_what_it_is_about_is_over() {
    let mut world = timed(json!({"iterationMs": 100}));
    world.pass(100);
    let question = world.questions[0].0;
    world.respond(&calls(&[call("x", "act", json!({"n": 1}))]));
    assert!(world.run.is_live(question));
    world.return_value("x", json!(1));
    assert!(!world.run.is_live(question));
    assert_eq!(world.withdrawn, [question]);
    give(&mut world, None);
    world.respond(&says("Done."));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn the_host_is_asked_about_the_time_of_a_subagent() {
    let fields = json!({"hooks": [{"event": "Limit"}], "agents": {"0": {"timeouts": {"totalMs": 100}}}});
    let mut world = World::started(setting(fields));
    world.respond(&calls(&[ask("a", "helper", "Go.")]));
    world.pass(100);
    assert_eq!(asked(&world)[0].1["agentPath"], "root/helper");
    give(&mut world, Some(100));
    world.pass(99);
    world.respond(&says("There."));
    assert_eq!(told(&world, 2, "a").0, "There.");
    world.pass(1000);
    assert!(world.questions.is_empty());
}
