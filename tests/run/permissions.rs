use looplet::engine::model::config::permission::Rule;
use looplet::engine::model::config::permission::{PermissionMode, RuleKind};
use looplet::engine::model::hook::{Decision, HookAnswer};
use looplet::engine::model::input::{Behavior, Input, PermissionAnswer, PermissionUpdate, UpdateType};
use looplet::engine::model::message::Json;
use looplet::engine::model::output::EffectId;
use looplet::engine::model::question::{Answer, Point, Question};
use serde_json::{Value, json};

use crate::told::data;
use crate::wire::{call, stream, text};
use crate::world::{World, config, tool};

mod readings;

fn world(permissions: Value) -> World {
    World::started(config(tools(), json!({ "permissions": permissions })))
}

fn tools() -> Value {
    json!([
        tool("look", json!({"readOnly": true})),
        tool("act", json!({})),
        bash(),
    ])
}

pub fn bash() -> Value {
    let properties = json!({"command": {"type": "string"}, "n": {"type": "integer"}});
    tool(
        "Bash",
        json!({"inputSchema": {"type": "object", "properties": properties}}),
    )
}

/// An answer that calls each of these tools once; the id is the tool's name.
fn respond(world: &mut World, calls: &[(&str, Value)]) {
    let calls: Vec<_> = calls
        .iter()
        .map(|(name, input)| call(name, name, input.clone()))
        .collect();
    world.respond(&stream(&calls, "tool_use"));
}

fn asked(world: &World) -> Vec<String> {
    let name = |ask: &Question| {
        let name = data(ask)["toolName"].as_str().unwrap().to_owned();
        match ask.point {
            Point::Permission => name,
            Point::Classify => name + "?",
            other => panic!("{other:?}"),
        }
    };
    world
        .questions
        .iter()
        .map(|(_, question)| name(question))
        .collect()
}

fn answer(world: &mut World, question: EffectId, answer: PermissionAnswer) {
    world.input(Input::Answered {
        question,
        answer: Answer::Permission(answer),
    });
}

fn allowed() -> PermissionAnswer {
    PermissionAnswer {
        behavior: Behavior::Allow,
        ..PermissionAnswer::default()
    }
}

/// What the model is told of a call in the next request.
fn told(world: &World, id: &str) -> Value {
    let body = world.body(world.requests.len() - 1);
    let messages = body["messages"].as_array().unwrap();
    let blocks = messages.last().unwrap()["content"].as_array().unwrap().clone();
    blocks
        .into_iter()
        .find(|block| block["tool_use_id"] == id)
        .unwrap()
}

fn warnings(world: &World) -> Vec<String> {
    let events = serde_json::to_value(&world.events).unwrap();
    let warning = |event: &Value| {
        let is_warning = event["type"] == "warning";
        is_warning.then(|| event["message"].as_str().unwrap().to_owned())
    };
    events.as_array().unwrap().iter().filter_map(warning).collect()
}

#[test]
fn without_permissions_every_tool_runs_but_those_that_want_an_approval() {
    let tools = json!([
        tool("act", json!({})),
        tool("pay", json!({"needsApproval": true}))
    ]);
    let mut world = World::started(config(tools, json!({"toolCalls": {"execution": "parallel"}})));
    respond(&mut world, &[("act", json!({})), ("pay", json!({"n": 1}))]);
    assert_eq!(world.tool_log, ["start act"]);
    assert_eq!(asked(&world), ["pay"]);
    let question = world.questions[0].0;
    answer(&mut world, question, allowed());
    assert_eq!(world.tool_log, ["start act", "start pay"]);
}

#[test]
fn s001_22_s001_30_what_nothing_allows_is_denied_and_the_model_is_told() {
    let mut world = world(json!({"allow": ["look"]}));
    assert!(warnings(&world)[0].ends_with("no rule allows them: act, Bash"));
    respond(&mut world, &[("look", json!({})), ("act", json!({}))]);
    assert_eq!(world.tool_log, ["start look"]);
    world.return_value("look", json!(1));
    assert_eq!(world.requests.len(), 2, "the loop goes on");
    let told = told(&world, "act");
    assert_eq!(told["is_error"], true);
    assert!(
        told["content"].to_string().contains("no rule allows it"),
        "{told}"
    );
}

#[test]
fn s001_28_a_bare_deny_rule_takes_the_tool_out_of_the_requests() {
    let world = world(json!({"mode": "bypassPermissions", "deny": ["act"]}));
    let tools = world.body(0)["tools"].to_string();
    assert!(!tools.contains("\"act\"") && tools.contains("\"look\""));
}

#[test]
fn an_open_approval_holds_back_only_what_comes_into_its_way() {
    let tools = json!([
        tool("look", json!({"readOnly": true})),
        tool("ask", json!({"readOnly": true, "needsApproval": true})),
        tool("act", json!({})),
    ]);
    let mut world = World::started(config(tools, json!({})));
    respond(
        &mut world,
        &[("ask", json!({})), ("look", json!({})), ("act", json!({}))],
    );
    assert_eq!(
        world.tool_log,
        ["start look"],
        "the writer waits for the reader before it"
    );
    world.return_value("look", json!(1));
    world.pass(1_000_000_000);
    assert_eq!(world.requests.len(), 1, "an approval may stay open for days");
    let question = world.questions[0].0;
    answer(&mut world, question, allowed());
    assert_eq!(world.tool_log.last().unwrap(), "start ask");
}

#[test]
fn the_host_may_change_the_input_and_the_history_keeps_what_the_model_wrote() {
    let mut world = world(json!({"canUseTool": true}));
    respond(&mut world, &[("act", json!({"n": 1}))]);
    let question = world.questions[0].0;
    let updated_input = Some(Json::parse(r#"{"n":2}"#).unwrap());
    answer(
        &mut world,
        question,
        PermissionAnswer {
            updated_input,
            ..allowed()
        },
    );
    assert_eq!(world.running["act"].input.as_str(), r#"{"n":2}"#);
    world.return_value("act", json!("ok"));
    assert!(world.requests[1].contains(r#""input":{"n":1}"#));
}

#[test]
fn an_input_of_the_host_that_does_not_fit_the_schema_never_reaches_the_tool() {
    let mut world = world(json!({"canUseTool": true}));
    respond(&mut world, &[("act", json!({"n": 1}))]);
    let question = world.questions[0].0;
    let updated_input = Some(Json::parse(r#"{"n":"two"}"#).unwrap());
    answer(
        &mut world,
        question,
        PermissionAnswer {
            updated_input,
            ..allowed()
        },
    );
    assert!(world.tool_log.is_empty());
    let told = told(&world, "act")["content"].to_string();
    assert!(
        told.contains("The application changed the input of act") && told.contains("/n"),
        "{told}"
    );
    assert!(world.event_names().iter().any(|name| name.contains("warning")));
}

#[test]
fn a_denial_in_the_hosts_words_reaches_the_model() {
    let mut world = world(json!({"canUseTool": true}));
    respond(&mut world, &[("act", json!({}))]);
    let question = world.questions[0].0;
    answer(
        &mut world,
        question,
        PermissionAnswer {
            message: Some("Not on a Friday.".into()),
            ..PermissionAnswer::default()
        },
    );
    assert!(world.tool_log.is_empty());
    assert!(
        told(&world, "act")["content"]
            .to_string()
            .contains("Not on a Friday.")
    );
}

#[test]
fn a_denial_that_interrupts_ends_the_run_with_a_legal_transcript() {
    let mut world = world(json!({"canUseTool": true}));
    respond(&mut world, &[("act", json!({})), ("look", json!({}))]);
    let question = world.questions[0].0;
    answer(
        &mut world,
        question,
        PermissionAnswer {
            message: Some("Stop it.".into()),
            interrupt: true,
            ..PermissionAnswer::default()
        },
    );
    let result = world.result();
    assert_eq!(result["outcome"], "cancelled");
    assert_eq!(result["abortReason"], "Stop it.");
    let last = result["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!(last.as_array().unwrap().len(), 2, "both calls have a result");
}

#[test]
fn a_rule_that_the_host_adds_counts_from_then_on() {
    let mut world = world(json!({"canUseTool": true}));
    respond(&mut world, &[("Bash", json!({"command": "npm test"}))]);
    let question = world.questions[0].0;
    let updates = vec![PermissionUpdate::rules(
        UpdateType::AddRules,
        RuleKind::Allow,
        vec![Rule::parse("Bash(npm *)").unwrap()],
    )];
    answer(
        &mut world,
        question,
        PermissionAnswer {
            updated_permissions: updates,
            ..allowed()
        },
    );
    world.return_value("Bash", json!(1));
    world.questions.clear();
    let again = call("again", "Bash", json!({"command": "npm run build"}));
    world.respond(&stream(&[again], "tool_use"));
    assert!(world.questions.is_empty());
    assert_eq!(world.tool_log.last().unwrap(), "start again");
}

#[test]
fn a_rule_that_the_host_adds_and_that_cannot_work_is_told_of() {
    let rows = [
        (
            RuleKind::Deny,
            "act(rm *)",
            "permissions.deny: the scope of act(rm *)",
        ),
        (RuleKind::Allow, "mcp__*", "patterns: mcp__*"),
        (RuleKind::Allow, "Bash(npm *)", ""),
    ];
    for (behavior, rule, expected) in rows {
        let mut world = world(json!({"canUseTool": true}));
        respond(
            &mut world,
            &[("look", json!({})), ("act", json!({"command": "ls"}))],
        );
        let question = world.questions[0].0;
        let rules = vec![Rule::parse(rule).unwrap()];
        let updates = vec![PermissionUpdate::rules(UpdateType::AddRules, behavior, rules)];
        answer(
            &mut world,
            question,
            PermissionAnswer {
                updated_permissions: updates,
                ..allowed()
            },
        );
        let told = warnings(&world).join("");
        assert!(told.contains(expected), "{rule}: {told}");
        assert_eq!(told.is_empty(), expected.is_empty(), "{rule}: {told}");
    }
}

#[test]
fn s001_23_an_accepted_edit_shows_its_path() {
    let schema = json!({"type": "object", "properties": {"file_path": {"type": "string"}, "edits": {}}});
    let edit = tool("patch", json!({"access": "edit", "inputSchema": schema}));
    let permissions = json!({"mode": "acceptEdits", "canUseTool": true});
    let mut world = World::started(config(json!([edit]), json!({ "permissions": permissions })));
    respond(&mut world, &[("patch", json!({"file_path": "src/a"}))]);
    assert_eq!(world.tool_log, ["start patch"]);
    world.return_value("patch", json!(1));
    respond(
        &mut world,
        &[("patch", json!({"edits": [{"file_path": "src/a"}]}))],
    );
    assert_eq!(asked(&world), ["patch"]);
}

#[test]
fn s001_24_planning_runs_nothing_that_writes_and_asks_nobody_about_it() {
    for permissions in [
        json!({"mode": "plan", "canUseTool": true}),
        json!({"mode": "plan", "canUseTool": true, "allow": ["act"]}),
        json!({"mode": "plan", "canUseTool": true, "ask": ["act"]}),
    ] {
        let mut world = world(permissions);
        respond(&mut world, &[("act", json!({}))]);
        assert!(asked(&world).is_empty());
        assert!(told(&world, "act")["content"].to_string().contains("plan mode"));
        assert!(world.tool_log.is_empty());
    }
}

#[test]
fn the_mode_can_be_switched_while_the_run_goes_on() {
    let mut world = world(json!({"mode": "default", "canUseTool": true}));
    respond(&mut world, &[("act", json!({}))]);
    assert_eq!(asked(&world), ["act"]);
    let question = world.questions[0].0;
    answer(&mut world, question, PermissionAnswer::default());
    world.questions.clear();
    world.input(Input::SetMode {
        mode: PermissionMode::BypassPermissions,
    });
    world.respond(&stream(&[call("again", "act", json!({}))], "tool_use"));
    assert_eq!(world.tool_log, ["start again"]);
}

#[test]
fn s001_26_in_the_mode_auto_the_classifier_is_asked() {
    let mut world = world(json!({"mode": "auto"}));
    respond(&mut world, &[("act", json!({}))]);
    assert_eq!(asked(&world), ["act?"]);
}

#[test]
fn a_question_that_is_not_answered_in_time_denies() {
    let fields = json!({"permissions": {"canUseTool": true}, "timeouts": {"permissionMs": 5000}});
    let mut world = World::started(config(tools(), fields));
    respond(&mut world, &[("act", json!({}))]);
    let question = world.questions[0].0;
    world.pass(5000);
    assert_eq!(world.requests.len(), 2);
    assert!(told(&world, "act")["content"].to_string().contains("in time"));
    answer(&mut world, question, allowed());
    assert!(world.tool_log.is_empty(), "a late answer changes nothing");
}

#[test]
fn a_call_that_nobody_approves_in_time_is_denied_without_any_rules() {
    let tools = json!([
        tool("act", json!({"needsApproval": true})),
        tool("look", json!({}))
    ]);
    let mut world = World::started(config(tools, json!({"timeouts": {"permissionMs": 50}})));
    assert!(warnings(&world).is_empty());
    respond(&mut world, &[("act", json!({})), ("look", json!({}))]);
    world.pass(50);
    assert_eq!(world.tool_log, ["start look"]);
    world.return_value("look", json!(1));
    let told = told(&world, "act")["content"].to_string();
    assert!(told.contains("it was not approved in time"), "{told}");
}

#[test]
fn a_rule_that_an_answer_adds_where_none_were_leaves_everything_else_running() {
    let tools = json!([
        tool("act", json!({"needsApproval": true})),
        tool("look", json!({}))
    ]);
    let mut world = World::started(config(tools, json!({})));
    respond(&mut world, &[("act", json!({})), ("look", json!({}))]);
    let question = world.questions[0].0;
    let updates = vec![PermissionUpdate::rules(
        UpdateType::AddRules,
        RuleKind::Deny,
        vec![Rule::parse("Bash(rm *)").unwrap()],
    )];
    answer(
        &mut world,
        question,
        PermissionAnswer {
            updated_permissions: updates,
            ..allowed()
        },
    );
    world.return_value("act", json!(1));
    assert_eq!(world.tool_log.last().unwrap(), "start look");
}

type Change = fn(Json) -> Answer;

/// A run in which `ls` becomes `rm -rf /` on its way: `change` answers its question.
fn changed(permissions: Value, hooks: Value, change: Change) -> World {
    let fields = json!({"permissions": permissions, "hooks": hooks});
    let mut world = World::started(config(json!([bash()]), fields));
    respond(&mut world, &[("Bash", json!({"command": "ls"}))]);
    let (question, _) = world.questions[0];
    let answer = change(Json::parse(r#"{"command":"rm -rf /"}"#).unwrap());
    world.input(Input::Answered { question, answer });
    world
}

fn approved(input: Json) -> Answer {
    Answer::Permission(PermissionAnswer {
        updated_input: Some(input),
        ..allowed()
    })
}

fn hooked(input: Json) -> Answer {
    Answer::Hook(Box::new(HookAnswer {
        decision: Some(Decision::Allow),
        updated_input: Some(input),
        ..HookAnswer::default()
    }))
}

fn guarded(input: Json) -> Answer {
    Answer::Hook(Box::new(HookAnswer {
        updated_input: Some(input),
        ..HookAnswer::default()
    }))
}

#[test]
fn s001_28_a_rule_that_denies_sees_what_an_input_was_changed_into() {
    let hook = |event: &str| json!([{ "event": event }]);
    let rows: [(&str, Value, Value, Change); 4] = [
        ("canUseTool", json!({"canUseTool": true}), json!([]), approved),
        (
            "a hook",
            json!({"canUseTool": true}),
            hook("PermissionRequest"),
            hooked,
        ),
        (
            "a hook",
            json!({"mode": "bypassPermissions"}),
            hook("PreToolUse"),
            guarded,
        ),
        (
            "a guardrail",
            json!({"allow": ["Bash"]}),
            hook("ToolGuardrail"),
            guarded,
        ),
    ];
    for (who, mut permissions, hooks, change) in rows {
        let world = changed(permissions.clone(), hooks.clone(), change);
        assert_eq!(world.tool_log, ["start Bash"], "{who} may change it");
        permissions["deny"] = json!(["Bash(rm *)"]);
        let world = changed(permissions, hooks, change);
        assert!(world.tool_log.is_empty(), "{who}");
        let told = told(&world, "Bash")["content"].to_string();
        assert!(told.contains("the rule Bash(rm *) denies it"), "{who}: {told}");
    }
}

#[test]
fn a_guardrail_is_not_asked_about_what_a_changed_input_has_made_denied() {
    let permissions = json!({"canUseTool": true, "deny": ["Bash(rm *)"]});
    let world = changed(permissions, json!([{"event": "ToolGuardrail"}]), approved);
    assert_eq!(world.questions.len(), 1);
    assert_eq!(world.requests.len(), 2);
}

#[test]
fn an_abort_while_an_approval_is_open_settles_at_once() {
    let mut world = world(json!({"canUseTool": true}));
    world.respond(&stream(&[text("Hm."), call("a", "act", json!({}))], "tool_use"));
    let question = world.questions[0].0;
    world.cancel();
    assert_eq!(world.result()["outcome"], "cancelled");
    assert!(!world.run.is_live(question));
    assert_eq!(world.result()["messages"].as_array().unwrap().len(), 3);
}
