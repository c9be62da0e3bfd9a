//! What hooks and the host are told beside the call, and what hooks say to others than the model.

use looplet::engine::agent::questions::points::as_reported;
use looplet::engine::model::config::permission::PermissionMode;
use looplet::engine::model::hook::{Decision, HookAnswer};
use looplet::engine::model::input::{Behavior, Input, PermissionAnswer, PermissionUpdate};
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::hooks::{answer, asked, respond, says, told, warnings, world};
use crate::told::data;
use crate::wire::{call, stream, text};
use crate::world::{World, config, tool};

/// What the host is told of the call that it is asked about first.
fn permission(world: &World) -> Value {
    let mut asks = world.questions.iter().map(|(_, ask)| ask);
    data(
        asks.find(|ask| as_reported(ask.point) == Point::Permission)
            .unwrap(),
    )
}

#[test]
fn s001_46_a_hook_is_told_the_mode_as_it_stands_and_the_effort() {
    let fields =
        json!({"permissions": {"mode": "acceptEdits", "canUseTool": true}, "model": {"effort": "low"}});
    let mut world = world(json!([{"event": "PreToolUse"}, {"event": "Stop"}]), fields);
    respond(&mut world, &["act"]);
    let told = asked(&world).remove(0).1;
    assert_eq!(
        (&told["permissionMode"], &told["effort"], told.get("agentName")),
        (&json!("acceptEdits"), &json!("low"), None)
    );
    world.input(Input::SetMode {
        mode: PermissionMode::BypassPermissions,
    });
    answer(&mut world, HookAnswer::default());
    world.return_value("act", json!(1));
    world.respond(&stream(&[text("End.")], "end_turn"));
    assert_eq!(asked(&world)[0].1["permissionMode"], "bypassPermissions");
}

#[test]
fn s001_46_a_hook_about_a_subagents_call_is_told_whose_it_is() {
    let tools = json!([tool("helper", json!({"agent": {"profile": 1}}))]);
    let helper =
        json!({"model": {"vendor": "anthropic", "model": "small"}, "tools": [tool("dig", json!({}))]});
    let fields = json!({"hooks": [{"event": "PreToolUse", "names": ["dig"]}], "agents": [helper]});
    let mut world = World::started(config(tools, fields));
    world.respond(&stream(
        &[call("h", "helper", json!({"prompt": "Dig."}))],
        "tool_use",
    ));
    respond(&mut world, &["dig"]);
    let told = asked(&world).remove(0).1;
    assert_eq!(
        (&told["agentName"], &told["agentPath"], &told["toolCallId"]),
        (&json!("helper"), &json!("root/helper"), &json!("dig"))
    );
    assert_eq!(
        told.get("permissionMode"),
        None,
        "a run without permissions has none"
    );
}

#[test]
fn s001_46_what_a_hook_has_for_the_user_is_a_warning_and_not_for_the_model() {
    let mut world = world(
        json!([{"event": "PreToolUse"}, {"event": "PreToolUse"}]),
        json!({}),
    );
    respond(&mut world, &["act"]);
    for message in ["One.", "Two."] {
        let system_message = Some(message.to_owned());
        answer(
            &mut world,
            HookAnswer {
                system_message,
                ..HookAnswer::default()
            },
        );
    }
    assert_eq!(warnings(&world), ["hook_message: One.", "hook_message: Two."]);
    world.return_value("act", json!(1));
    assert!(!told(&world).to_string().contains("One."));
}

#[test]
fn s001_29_the_host_is_told_the_rule_that_would_allow_such_calls() {
    let fields = json!({"permissions": {"canUseTool": true}});
    let mut world = world(json!([{"event": "PermissionRequest"}]), fields);
    respond(&mut world, &["act"]);
    let suggestions = json!([{"type": "addRules", "behavior": "allow", "destination": "session",
        "rules": [{"toolName": "act"}]}]);
    assert_eq!(asked(&world)[0].1["suggestions"], suggestions);
    answer(&mut world, HookAnswer::default());
    let told = permission(&world);
    assert_eq!(told["suggestions"], suggestions);
    assert_eq!(told.get("matchedAskRule"), None);
    // Given back as it is, it does what it says.
    let json = json!({"permission": {"behavior": "allow", "updatedPermissions": suggestions}}).to_string();
    let (question, _) = world.questions.remove(0);
    let answer = looplet::engine::model::json::read::<Answer>("", &json).unwrap();
    world.input(Input::Answered { question, answer });
    world.return_value("act", json!(1));
    world.respond(&stream(&[call("again", "act", json!({}))], "tool_use"));
    assert!(world.questions.is_empty() && world.running.contains_key("again"));
}

#[test]
fn the_rule_that_asks_is_named_and_no_rule_is_suggested_against_a_wanted_approval() {
    let mut ruled = world(
        json!([]),
        json!({"permissions": {"canUseTool": true, "ask": ["Bash(rm *)", "act"]}}),
    );
    respond(&mut ruled, &["act"]);
    let told = permission(&ruled);
    assert_eq!(told["matchedAskRule"], json!({"toolName": "act"}));
    assert_eq!(told.get("suggestions"), None);

    let mut hooked = world(
        json!([{"event": "PreToolUse"}]),
        json!({"permissions": {"canUseTool": true}}),
    );
    respond(&mut hooked, &["act"]);
    answer(&mut hooked, says(Decision::Ask, "Look at it."));
    let told = permission(&hooked);
    assert_eq!(
        (told.get("matchedAskRule"), told.get("suggestions")),
        (None, None)
    );
}

#[test]
fn the_classifier_is_told_what_hooks_have_said_of_earlier_results() {
    let fields = json!({"permissions": {"mode": "auto", "allow": ["look"]}});
    let mut world = world(json!([{"event": "PostToolUse"}]), fields);
    respond(&mut world, &["look"]);
    world.return_value("look", json!("a page"));
    answer(
        &mut world,
        HookAnswer {
            classifier_context: vec!["The page was untrusted.".into()],
            ..HookAnswer::default()
        },
    );
    assert!(!told(&world).to_string().contains("untrusted"));
    respond(&mut world, &["act"]);
    assert_eq!(
        permission(&world)["classifierContext"],
        json!(["The page was untrusted."])
    );
}

#[test]
fn what_of_an_update_cannot_be_done_is_a_warning() {
    let mut world = world(json!([]), json!({"permissions": {"canUseTool": true}}));
    respond(&mut world, &["act"]);
    let (question, _) = world.questions.remove(0);
    let answer = Answer::Permission(PermissionAnswer {
        behavior: Behavior::Allow,
        updated_permissions: vec![PermissionUpdate {
            destination: Some("userSettings".into()),
            ..PermissionUpdate::default()
        }],
        ..PermissionAnswer::default()
    });
    world.input(Input::Answered { question, answer });
    assert_eq!(
        warnings(&world),
        ["permission_update: An update for userSettings is not stored: it applies to this run only"]
    );
}

const SHADOWED: &str = "can_use_tool_shadowed: canUseTool is not asked about calls of these tools: \
    an allow rule with the tool's bare name lets all of them run. \
    To be asked, take the name out of permissions.allow, or add it to permissions.ask: ";

#[test]
fn the_host_is_warned_of_tools_about_which_it_will_not_be_asked() {
    for (permissions, warned) in [
        (
            json!({"canUseTool": true, "allow": ["look", "Bash(ls *)"]}),
            Some("look"),
        ),
        (
            json!({"canUseTool": true, "allow": ["look", "act"], "ask": ["look"]}),
            Some("act"),
        ),
        (
            json!({"canUseTool": true, "mode": "bypassPermissions", "ask": ["look"]}),
            None,
        ),
        (
            json!({"canUseTool": true, "mode": "plan", "allow": ["act"]}),
            None,
        ),
        (json!({"allow": ["look", "act", "Bash"]}), None),
    ] {
        let world = world(json!([]), json!({ "permissions": permissions }));
        let warned = warned.map(|names| [SHADOWED, names].concat());
        assert_eq!(warnings(&world), Vec::from_iter(warned), "{permissions}");
    }
}

#[test]
fn a_tool_that_your_code_checks_is_shadowed_as_any_other_unless_your_code_may_ask_for_an_approval() {
    for (fields, is_warned) in [
        (json!({"prepare": true, "validate": false}), true),
        (json!({"prepare": true, "mayNeedApproval": true}), false),
        (json!({"needsApproval": true}), false),
    ] {
        let permissions = json!({"canUseTool": true, "allow": ["write"]});
        let tools = json!([tool("write", fields.clone())]);
        let world = World::started(config(tools, json!({ "permissions": permissions })));
        assert_eq!(!warnings(&world).is_empty(), is_warned, "{fields}");
    }
}

#[test]
fn s001_46_nothing_waits_for_a_notification_and_what_it_adds_is_told_with_the_results() {
    let fields = json!({"permissions": {"canUseTool": true}});
    for answers in [true, false] {
        let mut world = world(
            json!([{"event": "Notification", "names": ["permission_prompt"]}]),
            fields.clone(),
        );
        respond(&mut world, &["act"]);
        let (permission, _) = world.questions[0];
        let (event, input) = asked(&world).remove(0);
        assert_eq!(
            (event.as_str(), &input["questionId"], &input["message"]),
            (
                "Notification",
                &json!(permission),
                &json!("act needs your approval: no rule allows it")
            )
        );
        if answers {
            answer(&mut world, crate::hooks::adds("It was late."));
        }
        crate::hooks::allow_permission(&mut world);
        world.return_value("act", json!(1));
        assert_eq!(told(&world).to_string().contains("It was late."), answers);
        world.respond(&stream(&[text("End.")], "end_turn"));
        assert_eq!(world.result()["outcome"], "completed");
        assert!(!answers || world.withdrawn.is_empty());
        assert_eq!(world.withdrawn.len(), usize::from(!answers), "it is told to stop");
    }
}
