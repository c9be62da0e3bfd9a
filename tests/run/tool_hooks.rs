use looplet::engine::model::event::ToolFault;
use looplet::engine::model::hook::{Decision, HookAnswer};
use looplet::engine::model::input::ToolReturn;
use looplet::engine::model::message::Json;
use serde_json::json;

use crate::hooks::{adds, allow_permission, answer, asked, respond, says, told, world};

#[test]
fn s001_49_a_hook_sees_what_a_tool_brought_and_may_replace_it_and_add_to_it() {
    let hooks = json!([{"event": "PostToolUse"}, {"event": "PostToolUseFailure"}]);
    let mut world = world(hooks, json!({}));
    respond(&mut world, &["act", "Bash"]);
    world.now_ms += 7;
    world.return_value("act", json!({"secret": 1}));
    assert_eq!(
        asked(&world)[0].1,
        json!({"event": "PostToolUse", "agentPath": "root", "iteration": 1, "toolCallId": "act", "toolName": "act",
            "input": {"n": 1}, "output": {"secret": 1}, "durationMs": 7})
    );
    assert_eq!(
        world.tool_log.last().unwrap(),
        "end act",
        "what comes after it waits"
    );
    answer(
        &mut world,
        HookAnswer {
            updated_output: Some(Json::parse(r#"{"secret":"***"}"#).unwrap()),
            ..adds("Secrets are hidden.")
        },
    );
    let fault = ToolFault {
        code: "x".into(),
        message: "It broke.".into(),
        hint: "z".into(),
        recoverable: true,
    };
    world.finish_tool("Bash", ToolReturn::Fault(fault));
    assert_eq!(asked(&world)[0].1["error"]["message"], "It broke.");
    answer(&mut world, says(Decision::Deny, "Do not try that again."));
    let told = told(&world);
    assert_eq!(told[0]["content"], r#"{"secret":"***"}"#);
    assert_eq!(told[1]["is_error"], true);
    assert_eq!(told[2]["text"], "Secrets are hidden.");
    assert_eq!(told[3]["text"], "Do not try that again.");
    assert_eq!(world.result()["toolCalls"][0]["output"], json!({"secret": "***"}));
    assert_eq!(world.result()["toolCalls"][0]["durationMs"], 7);
}

#[test]
fn a_tool_that_ends_the_run_does_so_after_its_hooks() {
    let mut world = world(json!([{"event": "PostToolUseFailure"}]), json!({}));
    respond(&mut world, &["act"]);
    let fault = ToolFault {
        code: "auth".into(),
        message: "y".into(),
        hint: "z".into(),
        recoverable: false,
    };
    world.finish_tool("act", ToolReturn::Fault(fault));
    assert!(world.done.is_none());
    answer(&mut world, HookAnswer::default());
    assert_eq!(world.result()["stoppedBy"], "fatal_tool");
}

#[test]
fn when_a_round_is_over_a_hook_sees_all_of_it_before_the_model_does() {
    let mut world = world(json!([{"event": "PostToolBatch"}]), json!({}));
    respond(&mut world, &["look", "act"]);
    world.return_value("look", json!(1));
    world.return_value("act", json!(2));
    assert_eq!(world.requests.len(), 1);
    let calls = &asked(&world)[0].1["toolCalls"];
    assert_eq!(
        (&calls[0]["output"], &calls[1]["toolName"]),
        (&json!(1), &json!("act"))
    );
    answer(&mut world, adds("Two calls."));
    assert_eq!(told(&world)[2]["text"], "Two calls.");
}

#[test]
fn any_hook_ends_the_run_and_what_was_done_stays() {
    for event in ["PreToolUse", "PostToolUse", "PostToolBatch"] {
        let mut world = world(json!([{"event": event}]), json!({}));
        respond(&mut world, &["act"]);
        if event != "PreToolUse" {
            world.return_value("act", json!("kept"));
        }
        let stop = Some("Enough.".to_owned());
        answer(
            &mut world,
            HookAnswer {
                stop,
                ..HookAnswer::default()
            },
        );
        let result = world.result();
        assert_eq!(
            (&result["stoppedBy"], &result["abortReason"]),
            (&json!("hook"), &json!("Enough."))
        );
        let output = &result["toolCalls"][0]["output"];
        assert_eq!(*output == "kept", event != "PreToolUse", "{event}: {output}");
    }
}

#[test]
fn hooks_answer_in_the_hosts_place_whether_a_call_may_run() {
    let hooks = json!([{"event": "PermissionRequest"}]);
    let fields = json!({"permissions": {"canUseTool": true}});
    for (said, runs) in [(Decision::Allow, true), (Decision::Deny, false)] {
        let mut world = world(hooks.clone(), fields.clone());
        respond(&mut world, &["act"]);
        assert_eq!(asked(&world)[0].1["reason"], "no rule allows it");
        answer(&mut world, says(said, "Says the hook."));
        assert_eq!(world.running.contains_key("act"), runs);
        assert!(world.questions.is_empty(), "the host is not asked any more");
    }
    let mut world = world(hooks, fields);
    respond(&mut world, &["act"]);
    answer(&mut world, HookAnswer::default());
    allow_permission(&mut world);
    assert_eq!(world.tool_log, ["start act"]);
}

#[test]
fn s001_30_a_hook_hears_of_a_denial_and_may_have_the_model_told_to_try_again() {
    for (retry, hint) in [(true, "You may make the call again."), (false, "Do not repeat")] {
        let mut world = world(
            json!([{"event": "PermissionDenied"}]),
            json!({"permissions": {"mode": "dontAsk"}}),
        );
        respond(&mut world, &["act"]);
        assert!(
            asked(&world)[0].1["reason"]
                .as_str()
                .unwrap()
                .starts_with("no rule allows it")
        );
        answer(
            &mut world,
            HookAnswer {
                retry,
                ..HookAnswer::default()
            },
        );
        assert!(told(&world).to_string().contains(hint));
    }
}
