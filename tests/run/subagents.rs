use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::{Input, PermissionAnswer, ToolReturn};
use looplet::engine::model::message::Json;
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::told::{data, event_name};
use crate::wire::{call, stream, stream_with_usage, text};
use crate::world::{Settings, World, config, tool};

/// A tool that the agent of this profile stands behind.
pub fn agent_tool(name: &str, agent: Value) -> Value {
    tool(name, json!({"agent": agent}))
}

/// A run with the tools `read`, `act` and the subagent `helper`, which has `dig` and, if it may, `helper` itself.
pub fn setting(fields: Value) -> Settings {
    let tools = json!([
        agent_tool("helper", json!({"profile": 1})),
        agent_tool("keeper", json!({"profile": 1, "keep": true})),
        agent_tool("expert", json!({"profile": 2, "handoff": true})),
        tool("read", json!({"readOnly": true})),
        tool("act", json!({})),
    ]);
    let mut all = json!({"agents": [
        {"model": {"vendor": "anthropic", "model": "small"}, "system": "Dig.",
         "tools": [tool("dig", json!({})), agent_tool("helper", json!({"profile": 1}))]},
        {"model": {"vendor": "openai", "protocol": "openai_chat", "model": "big", "slot": 1}, "system": "Know.",
         "tools": [tool("look", json!({}))]},
    ]});
    merge(&mut all, fields);
    config(tools, all)
}

fn merge(into: &mut Value, fields: Value) {
    match (into, fields) {
        (Value::Object(into), Value::Object(fields)) => {
            for (key, value) in fields {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Object(fields)) => {
            for (index, value) in fields {
                merge(&mut into[index.parse::<usize>().unwrap()], value);
            }
        }
        (into, value) => *into = value,
    }
}

fn world(fields: Value) -> World {
    World::started(setting(fields))
}

pub fn ask(id: &str, name: &str, prompt: &str) -> crate::wire::Piece {
    call(id, name, json!({"prompt": prompt}))
}

pub fn calls(pieces: &[crate::wire::Piece]) -> String {
    stream(pieces, "tool_use")
}

pub fn says(words: &str) -> String {
    stream(&[text(words)], "end_turn")
}

/// What the model is told of a call in this request.
pub fn told(world: &World, request: usize, id: &str) -> (String, bool) {
    let body = world.body(request);
    let messages = body["messages"].as_array().unwrap();
    let blocks = messages
        .iter()
        .flat_map(|message| message["content"].as_array().unwrap().clone());
    let block = blocks
        .into_iter()
        .find(|block| block["tool_use_id"] == id)
        .unwrap();
    let content = &block["content"];
    let text = content.as_str().map_or_else(
        || content[0]["text"].as_str().unwrap_or_default().to_owned(),
        str::to_owned,
    );
    (text, block["is_error"] == true)
}

/// `path event` of all events of agents below the root.
fn below(world: &World) -> Vec<String> {
    let events = world.events.iter().filter(|event| event.agent > 0);
    events
        .map(|event| {
            format!(
                "{} {}",
                world.run.agent_path(event.agent),
                event_name(&event.kind)
            )
        })
        .collect()
}

#[test]
fn s001_43_a_subagent_starts_fresh_and_only_its_last_text_comes_back() {
    let mut world = world(json!({}));
    world.respond(&calls(&[text("I ask."), ask("a", "helper", "Find X.")]));
    let body = world.body(1);
    assert_eq!(body["model"], "small");
    assert!(body["system"].to_string().contains("Dig."));
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": [{"type": "text", "text": "Find X.", "cache_control": {"type": "ephemeral"}}]}])
    );
    assert_eq!(body["tools"].as_array().unwrap().len(), 2);
    world.respond(&calls(&[text("Digging."), call("b", "dig", json!({"n": 1}))]));
    assert_eq!(
        world.running["b"].profile, 1,
        "the host finds the tool of that agent"
    );
    world.return_value("b", json!("gold"));
    world.respond(&says("X is gold."));
    assert_eq!(told(&world, 3, "a"), ("X is gold.".to_owned(), false));
    assert!(!world.requests[3].contains("Digging"));
    world.respond(&says("Done."));
    let result = world.result();
    assert_eq!(result["outcome"], "completed");
    assert_eq!(
        result["toolCalls"].as_array().unwrap().len(),
        1,
        "the root's calls only"
    );
    assert_eq!(result["iterations"], 2);
    assert_eq!(result["usage"]["inputTokens"], 40, "the usage of all agents");
}

#[test]
fn the_events_of_a_subagent_stand_between_its_call_and_its_result() {
    let mut world = world(json!({}));
    world.respond(&calls(&[ask("a", "helper", "Go.")]));
    world.respond(&says("Yes."));
    let names = below(&world);
    assert_eq!(names.first().unwrap(), "root/helper agent-start");
    assert_eq!(names.last().unwrap(), "root/helper agent-finish");
    let at = |wanted: &dyn Fn(&EventKind) -> bool| {
        world.events.iter().position(|event| wanted(&event.kind)).unwrap()
    };
    let called = at(&|kind| matches!(kind, EventKind::ToolCall { .. }));
    let result = at(&|kind| matches!(kind, EventKind::ToolResult { .. }));
    let inside: Vec<usize> = (0..world.events.len())
        .filter(|at| world.events[*at].agent > 0)
        .collect();
    assert!(called < inside[0] && *inside.last().unwrap() < result);
}

#[test]
fn s002_17_several_subagents_work_beside_each_other() {
    let mut world = world(json!({}));
    world.respond(&calls(&[
        ask("a", "helper", "A"),
        ask("b", "helper", "B"),
        call("c", "act", json!({})),
    ]));
    assert_eq!(world.open_requests.len(), 2);
    assert!(world.running.is_empty(), "what changes things waits for them");
    world.respond_to("root/helper#2", &says("B."));
    world.respond_to("root/helper", &says("A."));
    world.return_value("c", json!(1));
    let body = world.body(3)["messages"].to_string();
    assert!(
        body.find("A.").unwrap() < body.find("B.").unwrap(),
        "results keep the order of the calls"
    );
}

#[test]
fn a_kept_subagent_goes_on_where_it_ended_one_call_at_a_time() {
    let mut world = world(json!({"toolCalls": {"execution": "parallel"}}));
    world.respond(&calls(&[ask("a", "keeper", "One."), ask("b", "keeper", "Two.")]));
    assert_eq!(world.open_requests.len(), 1);
    world.respond(&says("First."));
    let messages = world.body(2)["messages"].as_array().unwrap().len();
    assert_eq!(messages, 3, "the second call sees the first");
    assert!(world.requests[2].contains("First."));
    world.respond(&says("Second."));
    assert_eq!(told(&world, 3, "a").0, "First.");
    assert_eq!(told(&world, 3, "b").0, "Second.");
}

#[test]
fn a_kept_subagent_that_was_stopped_amid_its_tools_goes_on_with_a_legal_transcript() {
    let mut world = world(json!({"agents": {"0": {"timeouts": {"totalMs": 100}}}}));
    world.respond(&calls(&[ask("a", "keeper", "One.")]));
    world.respond(&calls(&[text("Hm."), call("d", "dig", json!({}))]));
    world.pass(200);
    assert_eq!(world.tool_log, ["start d", "abort d"]);
    assert!(told(&world, 2, "a").0.contains("stopped by its limit: time"));
    world.respond(&calls(&[ask("b", "keeper", "Two.")]));
    let messages = world.body(3)["messages"].clone();
    assert_eq!(messages[2]["content"][0]["tool_use_id"], "d");
    assert!(messages[2]["content"].to_string().contains("Two."));
}

#[test]
fn a_limit_of_its_own_stops_only_the_subagent_and_its_text_comes_back_with_a_note() {
    let mut world = world(json!({"agents": {"0": {"limits": {"maxIterations": 1}}}}));
    world.respond(&calls(&[ask("a", "helper", "Go.")]));
    world.respond(&calls(&[text("So far."), call("d", "dig", json!({}))]));
    world.return_value("d", json!(1));
    let (text, is_error) = told(&world, 2, "a");
    assert!(!is_error);
    assert!(
        text.starts_with("So far.\n\n[") && text.contains("iterations"),
        "{text}"
    );
    world.respond(&says("Fine."));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn the_tokens_of_subagents_count_in_the_runs_budget() {
    let mut world = world(json!({"limits": {"maxTotalTokens": 50}}));
    world.respond(&calls(&[ask("a", "helper", "A"), ask("b", "helper", "B")]));
    world.turn_to("root/helper#2");
    world.head(200, &[("content-type", "text/event-stream")]);
    world.chunk(&crate::wire::begin(1));
    world.respond_to(
        "root/helper",
        &stream_with_usage(&[text("Long."), call("d", "dig", json!({}))], "tool_use", 40, 5),
    );
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["stoppedBy"]),
        (&json!("stopped"), &json!("tokens"))
    );
    assert_eq!(world.aborted_requests.len(), 1, "the other one is stopped too");
    assert!(world.tool_log.is_empty(), "no tool runs any more");
    assert_eq!(result["usage"]["inputTokens"], 51);
}

#[test]
fn what_a_subagent_has_found_when_the_runs_budget_is_used_up_is_kept() {
    let mut world = world(json!({"limits": {"maxTotalTokens": 20}}));
    world.respond(&calls(&[ask("a", "helper", "A")]));
    world.respond(&says("Found it."));
    let result = world.result();
    assert_eq!(result["stoppedBy"], "tokens");
    assert_eq!(result["toolCalls"][0]["output"], "Found it.");
    assert!(result["messages"][2].to_string().contains("Found it."));
}

#[test]
fn a_budget_of_its_own_counts_what_is_below_it_and_stops_only_the_subagent() {
    let mut world = world(
        json!({"limits": {"maxSubagentDepth": 2}, "agents": {"0": {"limits": {"maxTotalTokens": 40}}}}),
    );
    world.respond(&calls(&[ask("a", "helper", "A")]));
    world.respond(&calls(&[ask("b", "helper", "B")]));
    world.respond_to(
        "root/helper/helper",
        &stream_with_usage(&[text("x")], "end_turn", 30, 5),
    );
    assert!(told(&world, 3, "a").0.contains("tokens"));
    world.respond(&says("Done."));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn subagents_nest_no_deeper_than_the_run_allows() {
    let mut world = world(json!({}));
    world.respond(&calls(&[ask("a", "helper", "A")]));
    world.respond(&calls(&[ask("b", "helper", "B")]));
    let (text, is_error) = told(&world, 2, "b");
    assert!(is_error && text.contains("depth_limit"), "{text}");
}

#[test]
fn a_subagent_that_fails_is_an_error_that_its_callers_model_sees() {
    let mut world = world(json!({}));
    world.respond(&calls(&[ask("a", "helper", "A")]));
    world.refuse(
        400,
        &[],
        r#"{"error":{"type":"invalid_request_error","message":"too odd"}}"#,
    );
    let (text, is_error) = told(&world, 2, "a");
    assert!(
        is_error && text.contains("subagent_failed") && text.contains("too odd"),
        "{text}"
    );
    world.respond(&says("Then not."));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_tool_that_fails_for_good_ends_the_whole_run() {
    let mut world = world(json!({}));
    world.respond(&calls(&[ask("a", "helper", "A")]));
    world.respond(&calls(&[call("d", "dig", json!({}))]));
    let fault = looplet::engine::model::event::ToolFault {
        code: "x".into(),
        message: "y".into(),
        hint: "z".into(),
        recoverable: false,
    };
    world.finish_tool("d", ToolReturn::Fault(fault));
    assert_eq!(world.result()["stoppedBy"], "fatal_tool");
}

#[test]
fn an_abort_ends_a_tree_from_below_and_keeps_what_was_written() {
    let mut world = world(json!({"limits": {"maxSubagentDepth": 2}}));
    world.respond(&calls(&[ask("a", "helper", "A"), ask("b", "helper", "B")]));
    world.respond_to(
        "root/helper",
        &calls(&[call("d", "dig", json!({})), ask("e", "helper", "E")]),
    );
    world.return_value("d", json!(1));
    world.turn_to("root/helper/helper");
    world.head(200, &[("content-type", "text/event-stream")]);
    world.chunk(&(crate::wire::begin(7) + &crate::wire::open(0, &text("Half a"))));
    world.cancel();
    let result = world.result();
    assert_eq!(result["outcome"], "cancelled");
    assert_eq!(result["usage"]["inputTokens"], 27);
    assert_eq!(world.aborted_requests.len(), 2);
    let finished: Vec<&str> = world
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::AgentFinish { .. }))
        .map(|event| world.run.agent_path(event.agent))
        .collect();
    assert_eq!(
        finished,
        ["root/helper/helper", "root/helper", "root/helper#2", "root"]
    );
    assert_eq!(result["messages"].as_array().unwrap().len(), 3);
    let finish = serde_json::to_string(&world.events).unwrap();
    assert!(finish.contains("written so far: Half a"));
}

#[test]
fn the_host_cannot_answer_a_subagents_call() {
    let mut world = world(json!({}));
    world.respond(&calls(&[ask("a", "helper", "A")]));
    for call in 0..30 {
        let result = ToolReturn::Value(Json::parse("1").unwrap());
        world.input(Input::ToolFinished { call, result });
    }
    world.respond(&says("Mine."));
    assert_eq!(told(&world, 2, "a").0, "Mine.");
}

#[test]
fn steering_reaches_only_the_root() {
    let mut world = world(json!({}));
    world.respond(&calls(&[ask("a", "helper", "A")]));
    world.input(Input::Steer {
        id: 1,
        content: vec![looplet::engine::model::message::Block::text("Hurry.")],
    });
    world.respond(&calls(&[call("d", "dig", json!({}))]));
    world.return_value("d", json!(1));
    assert!(!world.requests[2].contains("Hurry."));
    world.respond(&says("Yes."));
    assert!(world.requests[3].contains("Hurry."));
}

#[test]
fn a_subagent_inherits_the_permissions_of_the_run() {
    let permissions = json!({"permissions": {"allow": ["helper"], "deny": ["keeper"], "canUseTool": true}});
    let mut world = world(permissions);
    assert!(!world.requests[0].contains("\"keeper\""));
    world.respond(&calls(&[ask("a", "helper", "A")]));
    world.respond(&calls(&[call("d", "dig", json!({}))]));
    let (question, asked) = world.questions.pop().unwrap();
    assert_eq!(asked.point, Point::Permission);
    assert_eq!(data(&asked)["agentPath"], "root/helper");
    world.input(Input::Answered {
        question,
        answer: Answer::Permission(PermissionAnswer {
            message: Some("Stop all of it.".into()),
            interrupt: true,
            ..PermissionAnswer::default()
        }),
    });
    let result = world.result();
    assert_eq!(result["outcome"], "cancelled", "an interrupt is the run's");
    assert_eq!(result["abortReason"], "Stop all of it.");
}

#[test]
fn a_model_that_the_run_was_given_is_that_of_a_subagent_which_inherits_it() {
    let tools = json!([
        agent_tool("twin", json!({"profile": 1, "inheritModel": true})),
        tool("act", json!({}))
    ]);
    let agents = json!({"agents": [{"model": {"vendor": "anthropic", "model": "claude-test"}}]});
    let mut world = World::started(config(tools, agents));
    let model = r#"{"vendor":"anthropic","model":"other","slot":4}"#;
    world.input(Input::SetModel {
        model: Box::new(
            looplet::engine::model::json::read::<looplet::engine::model::config::ModelConfig>("model", model)
                .unwrap(),
        ),
    });
    world.respond(&calls(&[call("x", "act", json!({}))]));
    world.return_value("x", json!(1));
    world.respond(&calls(&[ask("a", "twin", "A")]));
    assert_eq!(world.body(2)["model"], "other");
    assert_eq!(world.sent[2].model, 4);
}

#[test]
fn a_kept_subagent_goes_on_with_the_model_that_its_caller_has_now() {
    let tools = json!([agent_tool(
        "twin",
        json!({"profile": 1, "inheritModel": true, "keep": true})
    )]);
    let agents = json!({"agents": [{"model": {"vendor": "anthropic", "model": "claude-test"}}]});
    let mut world = World::started(config(tools, agents));
    world.respond(&calls(&[ask("a", "twin", "A")]));
    let model = r#"{"vendor":"anthropic","model":"other","slot":4}"#;
    world.input(Input::SetModel {
        model: Box::new(
            looplet::engine::model::json::read::<looplet::engine::model::config::ModelConfig>("model", model)
                .unwrap(),
        ),
    });
    world.respond(&says("First."));
    world.respond(&calls(&[ask("b", "twin", "B")]));
    let body = world.body(3);
    assert_eq!(body["model"], "other");
    assert!(body["messages"].to_string().contains("First."));
}

#[test]
fn a_configuration_with_an_agent_that_is_not_there_is_refused() {
    let tools = json!([agent_tool("helper", json!({"profile": 3}))]);
    let error = config(tools, json!({})).open().err().unwrap();
    assert_eq!(error.field, "tools.helper.agent");
}

#[test]
fn shared_instructions_stand_behind_the_system_prompt_of_every_agent() {
    let mut world = world(json!({"sharedInstructions": "It is Monday."}));
    world.respond(&calls(&[ask("h", "helper", "Where?")]));
    let systems: Vec<String> = (0..2)
        .map(|request| world.body(request)["system"].to_string())
        .collect();
    assert!(systems[0].contains(r"Be brief.\n\nIt is Monday."), "{systems:?}");
    assert!(systems[1].contains(r"Dig.\n\nIt is Monday."), "{systems:?}");
}
