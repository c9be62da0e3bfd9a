use looplet::engine::agent::questions::points::row;
use looplet::engine::model::event::EventKind;
use looplet::engine::model::hook::{Decision, HookAnswer};
use looplet::engine::model::input::{Behavior, Input, PermissionAnswer};
use looplet::engine::model::json::word;
use looplet::engine::model::message::Json;
use looplet::engine::model::output::EffectId;
use looplet::engine::model::question::{Answer, Point, Question};
use serde_json::{Value, json};

use crate::told::{data, event_name, hook_input};
use crate::wire::{begin, block, call, end, stream, text};
use crate::world::{World, config, tool};

pub fn world(hooks: Value, fields: Value) -> World {
    let tools = json!([
        tool("look", json!({"readOnly": true})),
        tool("act", json!({})),
        crate::permissions::bash(),
    ]);
    let mut fields = fields;
    fields["hooks"] = hooks;
    World::started(config(tools, fields))
}

/// An answer that calls these tools; the ids are their names.
pub fn respond(world: &mut World, names: &[&str]) {
    let calls: Vec<_> = names
        .iter()
        .map(|name| call(name, name, json!({"n": 1})))
        .collect();
    world.respond(&stream(&calls, "tool_use"));
}

pub fn says(decision: Decision, reason: &str) -> HookAnswer {
    HookAnswer {
        decision: Some(decision),
        reason: Some(reason.to_owned()),
        ..HookAnswer::default()
    }
}

pub fn adds(context: &str) -> HookAnswer {
    HookAnswer {
        context: vec![context.to_owned()],
        ..HookAnswer::default()
    }
}

/// Open questions to hooks: the event, and what it is told.
pub fn asked(world: &World) -> Vec<(String, Value)> {
    let asks = world.questions.iter().map(|(_, ask)| ask);
    let hooks = asks.filter(|ask| row(ask.point).class.is_hooked());
    hooks.map(|ask| (word(ask.point), hook_input(ask))).collect()
}

/// Answers the oldest open question to a hook.
pub fn answer(world: &mut World, answer: HookAnswer) -> EffectId {
    let is_hook = |(_, ask): &(EffectId, Question)| row(ask.point).class.is_hooked();
    let at = world
        .questions
        .iter()
        .position(is_hook)
        .expect("no hook was asked");
    let (question, _) = world.questions.remove(at);
    let answer = Answer::Hook(Box::new(answer));
    world.input(Input::Answered { question, answer });
    question
}

pub fn fail(world: &mut World) {
    let (question, _) = world.questions.remove(0);
    let answer = Answer::Failed { why: "broken".into() };
    world.input(Input::Answered { question, answer });
}

/// The last message of the last request.
pub fn told(world: &World) -> Value {
    let body = world.body(world.requests.len() - 1);
    body["messages"].as_array().unwrap().last().unwrap()["content"].clone()
}

pub fn warnings(world: &World) -> Vec<String> {
    let warning = |kind: &EventKind| match kind {
        EventKind::Warning { code, message, .. } => Some([code, ": ", message].concat()),
        _ => None,
    };
    world
        .events
        .iter()
        .filter_map(|event| warning(&event.kind))
        .collect()
}

pub fn allow_permission(world: &mut World) {
    let (question, ask) = world.questions.remove(0);
    assert!(ask.point == Point::Permission, "{ask:?}");
    let answer = Answer::Permission(PermissionAnswer {
        behavior: Behavior::Allow,
        ..PermissionAnswer::default()
    });
    world.input(Input::Answered { question, answer });
}

#[test]
fn s001_47_without_a_hook_for_it_nothing_is_asked_and_the_request_is_the_same() {
    let hooks = json!([{"event": "PreToolUse", "names": ["Bash"]}, {"event": "PostToolUse", "names": []}]);
    let mut world = world(hooks, json!({}));
    let mut bare = self::world(json!([]), json!({}));
    for world in [&mut world, &mut bare] {
        respond(world, &["act"]);
        assert_eq!(world.tool_log, ["start act"]);
        world.return_value("act", json!(1));
    }
    assert_eq!(world.requests, bare.requests);
    assert!(!world.event_names().contains(&"question".to_owned()));
}

#[test]
fn s001_46_s001_48_a_hook_that_denies_keeps_the_call_from_running_and_the_model_is_told_why() {
    let mut world = world(json!([{"event": "PreToolUse"}]), json!({}));
    respond(&mut world, &["act"]);
    assert!(world.tool_log.is_empty());
    let (event, input) = asked(&world).remove(0);
    assert_eq!(event, "PreToolUse");
    let told_of = world.events.iter().find_map(|event| match &event.kind {
        EventKind::Question {
            question_id,
            question,
            ..
        } => Some((*question_id, *question)),
        _ => None,
    });
    assert_eq!(told_of, Some((world.questions[0].0, Point::PreToolUse)));
    assert_eq!(
        input,
        json!({"event": "PreToolUse", "agentPath": "root", "iteration": 1, "toolCallId": "act",
            "toolName": "act", "input": {"n": 1}})
    );
    answer(&mut world, says(Decision::Deny, "Not on a Sunday."));
    assert!(world.tool_log.is_empty());
    let told = told(&world);
    assert_eq!(told[0]["is_error"], true);
    assert!(told.to_string().contains("Not on a Sunday."));
    world.respond(&stream(&[text("Pity.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn all_hooks_of_an_event_are_asked_at_once_and_the_strictest_counts() {
    let hooks =
        json!([{"event": "PreToolUse"}, {"event": "PreToolUse", "names": ["act"]}, {"event": "PreToolUse"}]);
    let mut world = world(hooks, json!({}));
    respond(&mut world, &["act"]);
    assert_eq!(asked(&world).len(), 3);
    answer(&mut world, says(Decision::Deny, "no"));
    answer(&mut world, says(Decision::Allow, "yes"));
    assert_eq!(world.requests.len(), 1, "the third is waited for");
    answer(&mut world, says(Decision::Ask, "maybe"));
    assert!(told(&world).to_string().contains("no"));
}

#[test]
fn what_hooks_say_comes_before_the_rules_and_skips_neither_deny_nor_ask_rules() {
    let rules = json!({"permissions": {"mode": "dontAsk", "deny": ["Bash(rm *)"], "ask": ["look"]}});
    for (name, decision, runs) in [
        ("act", None, false),
        ("act", Some(Decision::Allow), true),
        ("look", Some(Decision::Allow), false),
        ("Bash", Some(Decision::Allow), false),
    ] {
        let mut world = world(json!([{"event": "PreToolUse"}]), rules.clone());
        respond(&mut world, &[name]);
        answer(
            &mut world,
            HookAnswer {
                decision,
                updated_input: Some(Json::parse(r#"{"command":"rm -rf"}"#).unwrap()),
                ..HookAnswer::default()
            },
        );
        assert_eq!(world.running.contains_key(name), runs, "{name} {decision:?}");
        if runs {
            assert_eq!(world.running[name].input.as_str(), r#"{"command":"rm -rf"}"#);
        }
    }
}

#[test]
fn a_hook_has_the_host_asked_even_where_everything_may_run() {
    let permissions = json!({"permissions": {"mode": "bypassPermissions", "canUseTool": true}});
    for fields in [json!({}), permissions] {
        let mut world = world(json!([{"event": "PreToolUse"}]), fields);
        respond(&mut world, &["act"]);
        answer(&mut world, says(Decision::Ask, "It costs money."));
        let ask = &world.questions[0].1;
        assert_eq!(ask.point, Point::Permission);
        assert_eq!(data(ask)["reason"], "It costs money.");
        allow_permission(&mut world);
        assert_eq!(world.tool_log, ["start act"]);
    }
}

#[test]
fn a_deferred_call_keeps_its_input_and_waits_for_an_answer_that_nobody_was_asked_for() {
    let mut world = world(
        json!([{"event": "PreToolUse", "names": ["act"]}]),
        json!({"permissions": {"canUseTool": true, "allow": ["act", "look"]}}),
    );
    respond(&mut world, &["act"]);
    let hook = answer(
        &mut world,
        HookAnswer {
            updated_input: Some(Json::parse("{}").unwrap()),
            ..says(Decision::Defer, "Tomorrow.")
        },
    );
    assert!(world.questions.is_empty() && world.tool_log.is_empty());
    let open = world.events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Question {
            question_id,
            question,
            data,
        } => Some((*question_id, *question, data.clone())),
        _ => None,
    });
    let (question, kind, data) = open.unwrap();
    assert!(question > hook && kind == Point::Permission && data.unwrap().as_str().contains("Tomorrow."));
    world.pass(86_400_000);
    assert!(world.done.is_none());
    let answer = Answer::Permission(PermissionAnswer {
        behavior: Behavior::Allow,
        ..PermissionAnswer::default()
    });
    world.input(Input::Answered { question, answer });
    assert_eq!(world.running["act"].input.as_str(), r#"{"n":1}"#);
}

#[test]
fn a_failing_hook_is_a_warning_or_a_denial_as_it_says_itself() {
    for (blocks, runs) in [(false, true), (true, false)] {
        let mut world = world(json!([{"event": "PreToolUse", "blocks": blocks}]), json!({}));
        respond(&mut world, &["act"]);
        fail(&mut world);
        assert_eq!(world.running.contains_key("act"), runs);
        assert_eq!(
            warnings(&world),
            if runs {
                vec!["hook_failed: A hook for PreToolUse failed: broken"]
            } else {
                vec![]
            }
        );
    }
}

#[test]
fn a_hook_that_does_not_answer_in_time_is_told_to_stop_and_its_late_answer_is_inert() {
    let mut world = world(json!([{"event": "PreToolUse", "timeoutMs": 500}]), json!({}));
    respond(&mut world, &["act"]);
    world.pass(499);
    assert!(world.tool_log.is_empty());
    world.pass(1);
    assert_eq!(world.tool_log, ["start act"]);
    assert_eq!(world.withdrawn, [world.questions[0].0]);
    let events = world.events.len();
    answer(&mut world, says(Decision::Deny, "late"));
    assert_eq!(world.events.len(), events);
}

#[test]
fn s001_49_a_hook_adds_to_the_prompt_or_turns_it_down() {
    let hooks = json!([{"event": "UserPromptSubmit"}]);
    let mut world = world(hooks.clone(), json!({}));
    assert!(world.requests.is_empty());
    let (_, input) = asked(&world).remove(0);
    assert_eq!(
        (&input["prompt"], &input["source"]),
        (&json!("Go."), &json!("prompt"))
    );
    answer(&mut world, adds("It is Sunday."));
    let told = told(&world);
    assert_eq!(
        (&told[0]["text"], &told[1]["text"]),
        (&json!("Go."), &json!("It is Sunday."))
    );

    let mut world = self::world(hooks, json!({}));
    answer(&mut world, says(Decision::Deny, "Rude."));
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["stoppedBy"]),
        (&json!("stopped"), &json!("hook"))
    );
    assert_eq!(result["abortReason"], "Rude.");
    assert!(world.requests.is_empty());
    assert_eq!(result["messages"], json!([]));
}

#[test]
fn s001_49_the_hooks_of_a_sessions_start_come_before_those_of_its_prompt() {
    let hooks = json!([
        {"event": "UserPromptSubmit"},
        {"event": "SessionStart", "names": ["startup", "clear"]},
        {"event": "SessionStart", "names": ["resume"]},
    ]);
    let mut world = world(hooks.clone(), json!({"session": "startup"}));
    let (event, input) = asked(&world).remove(0);
    assert_eq!(world.questions.len(), 1);
    assert_eq!(
        (event.as_str(), &input["source"], &input["model"]),
        ("SessionStart", &json!("startup"), &json!("claude-test"))
    );
    answer(&mut world, adds("It is Sunday."));
    let (event, input) = asked(&world).remove(0);
    assert_eq!(
        (event.as_str(), &input["prompt"]),
        ("UserPromptSubmit", &json!("Go."))
    );
    answer(&mut world, adds("Be brief."));
    let told = told(&world);
    let texts = [0, 1, 2].map(|at| told[at]["text"].as_str().unwrap().to_owned());
    assert_eq!(texts, ["Go.", "It is Sunday.", "Be brief."]);

    let world = self::world(hooks, json!({}));
    assert_eq!(asked(&world)[0].0, "UserPromptSubmit", "a later run of a session");
}

#[test]
fn a_hook_that_must_not_fail_keeps_a_session_from_starting() {
    let hooks = json!([{"event": "SessionStart", "blocks": true}]);
    let mut world = world(hooks, json!({"session": "resume"}));
    fail(&mut world);
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["stoppedBy"]),
        (&json!("stopped"), &json!("hook"))
    );
    assert!(world.requests.is_empty());
}

#[test]
fn a_steer_that_a_hook_turns_down_does_not_reach_the_model_and_the_run_goes_on() {
    let mut world = world(json!([{"event": "UserPromptSubmit"}]), json!({}));
    answer(&mut world, HookAnswer::default());
    let content = vec![looplet::engine::model::message::Block::text("Hurry.")];
    world.input(Input::Steer { id: 1, content });
    respond(&mut world, &["act"]);
    world.return_value("act", json!(1));
    assert_eq!(asked(&world)[0].1["source"], "steer");
    answer(&mut world, says(Decision::Deny, "No."));
    assert!(!world.requests[1].contains("Hurry."));
    assert_eq!(warnings(&world), ["prompt_blocked: No."]);
}

#[test]
fn s001_49_a_stop_hook_has_the_model_go_on_until_it_is_content() {
    let mut world = world(json!([{"event": "Stop", "blocks": true}]), json!({}));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    let (_, input) = asked(&world).remove(0);
    assert_eq!(
        (&input["stopHookActive"], &input["lastAssistantMessage"]),
        (&json!(false), &json!("Done."))
    );
    answer(&mut world, says(Decision::Deny, "Run the tests first."));
    assert_eq!(told(&world)[0]["text"], "Run the tests first.");
    world.respond(&stream(&[text("Really done.")], "end_turn"));
    assert_eq!(asked(&world)[0].1["stopHookActive"], true);
    fail(&mut world);
    assert_eq!(
        world.result()["outcome"],
        "completed",
        "a Stop hook that fails never blocks"
    );
    assert_eq!(world.result()["text"], "Really done.");
}

#[test]
fn a_stop_hook_does_not_lift_the_limits_and_a_steer_meanwhile_is_delivered() {
    let limits = json!({"limits": {"maxIterations": 2}});
    let mut world = world(json!([{"event": "Stop"}]), limits);
    world.respond(&stream(&[text("Done.")], "end_turn"));
    let content = vec![looplet::engine::model::message::Block::text("And then?")];
    world.input(Input::Steer { id: 1, content });
    answer(&mut world, HookAnswer::default());
    assert_eq!(told(&world)[0]["text"], "And then?");
    world.respond(&stream(&[text("Done.")], "end_turn"));
    answer(&mut world, says(Decision::Deny, "On and on."));
    assert_eq!(world.result()["stoppedBy"], "iterations");
}

#[test]
fn an_abort_while_hooks_are_asked_keeps_what_the_tools_have_brought() {
    let mut world = world(
        json!([{"event": "PreToolUse", "names": ["act"]}, {"event": "PostToolUse"}]),
        json!({}),
    );
    respond(&mut world, &["look", "act"]);
    world.return_value("look", json!("seen"));
    assert_eq!(asked(&world).len(), 2);
    world.cancel();
    let result = world.result();
    assert_eq!(result["outcome"], "cancelled");
    assert_eq!(result["toolCalls"][0]["output"], "seen");
    assert_eq!(result["toolCalls"][1]["output"]["code"], "not_run");
    let events = world.events.len();
    answer(&mut world, HookAnswer::default());
    answer(&mut world, says(Decision::Allow, ""));
    assert_eq!(
        (world.events.len(), world.tool_log.len()),
        (events, 2),
        "late answers are inert"
    );
    assert_eq!(event_name(&world.events.last().unwrap().kind), "finish");
}

/// A run whose first answer has begun, with one whole call of `look`.
pub fn eager(hooks: Value) -> World {
    let mut world = world(hooks, json!({"toolCalls": {"eager": true}}));
    world.head(200, &[]);
    world.chunk(&(begin(10) + &block(0, &call("look", "look", json!({"n": 1})))));
    world
}

#[test]
fn a_call_with_hooks_before_it_does_not_start_before_its_answer_has_ended() {
    for event in ["PreToolUse", "ToolGuardrail"] {
        let mut world = eager(json!([{"event": event, "names": ["look"]}]));
        assert!(world.tool_log.is_empty() && world.questions.is_empty(), "{event}");
        world.chunk(&end("tool_use", 5));
        world.end();
        answer(&mut world, HookAnswer::default());
        assert_eq!(world.tool_log, ["start look"]);
    }
}

#[test]
fn what_hooks_look_at_when_an_answer_fails_goes_with_it() {
    let mut world = eager(json!([{"event": "PostToolUse"}]));
    world.return_value("look", json!(1));
    assert_eq!(asked(&world).len(), 1);
    world.network_failed();
    answer(&mut world, says(Decision::Deny, "late"));
    world.pass(2000);
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["toolCalls"], json!([]));
    assert!(!world.requests[1].contains("late"));
}

#[test]
fn an_answer_for_people_is_none_for_a_hook_and_leaves_it_open() {
    let mut world = world(json!([{"event": "PreToolUse"}]), json!({}));
    respond(&mut world, &["act"]);
    let question = world.questions[0].0;
    let allowed = Answer::Permission(PermissionAnswer {
        behavior: Behavior::Allow,
        ..PermissionAnswer::default()
    });
    world.input(Input::Answered {
        question,
        answer: allowed,
    });
    assert!(world.run.is_live(question));
    assert!(world.tool_log.is_empty());
    answer(&mut world, says(Decision::Deny, "no"));
    assert!(world.tool_log.is_empty());
    assert_eq!(world.requests.len(), 2, "the model is told of the denial");
}
