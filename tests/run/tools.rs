use looplet::engine::model::event::{EventKind, ToolFault};
use looplet::engine::model::input::{Input, PreparedCall, ToolReturn};
use looplet::engine::model::message::Json;
use looplet::engine::model::question::Answer;
use serde_json::{Value, json};

use crate::told::calls_of;
use crate::wire::{Piece, call, stream, text};
use crate::world::{World, config, tool};

fn fault(recoverable: bool) -> ToolReturn {
    ToolReturn::Fault(ToolFault {
        code: "boom".into(),
        message: "it broke".into(),
        hint: "try less".into(),
        recoverable,
    })
}

/// Three calls `a`, `b`, `c` of these tools, asked for in one answer.
fn asked(tools: Value, fields: Value, names: [&str; 3]) -> World {
    let mut world = World::started(config(tools, fields));
    let calls = [("a", names[0]), ("b", names[1]), ("c", names[2])];
    let pieces: Vec<Piece> = calls
        .iter()
        .map(|(id, name)| call(id, name, json!({"n": 1})))
        .collect();
    world.respond(&stream(&pieces, "tool_use"));
    world
}

fn read_and_write() -> Value {
    json!([
        tool("read", json!({"readOnly": true})),
        tool("write", json!({"replay": "safe"}))
    ])
}

#[test]
fn s001_31_s001_32_read_only_calls_run_beside_each_other_and_a_writer_waits() {
    let mut world = asked(read_and_write(), json!({}), ["read", "read", "write"]);
    assert_eq!(world.tool_log, ["start a", "start b"]);
    world.return_value("b", json!(2));
    assert_eq!(world.tool_log.len(), 3);
    world.return_value("a", json!(1));
    assert_eq!(world.tool_log[4], "start c");
    world.return_value("c", json!(3));
    let results: Vec<Value> = world.body(1)["messages"][2]["content"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(
        results
            .iter()
            .map(|result| &result["tool_use_id"])
            .collect::<Vec<_>>(),
        ["a", "b", "c"]
    );
    assert_eq!(
        results
            .iter()
            .map(|result| &result["content"])
            .collect::<Vec<_>>(),
        ["1", "2", "3"]
    );
}

fn mode(execution: &str) -> Value {
    json!({"toolCalls": {"execution": execution}})
}

#[test]
fn s000_14_sequential_mode_runs_one_after_the_other() {
    let world = asked(read_and_write(), mode("sequential"), ["read", "read", "read"]);
    assert_eq!(world.tool_log, ["start a"]);
}

#[test]
fn s002_11_s003_03_parallel_mode_runs_writers_at_once() {
    let world = asked(read_and_write(), mode("parallel"), ["write", "write", "read"]);
    assert_eq!(world.tool_log, ["start a", "start b", "start c"]);
}

#[test]
fn no_more_calls_run_at_once_than_allowed() {
    let mut world = asked(
        read_and_write(),
        json!({"toolCalls": {"maxConcurrency": 2}}),
        ["read", "read", "read"],
    );
    assert_eq!(world.tool_log, ["start a", "start b"]);
    world.return_value("a", json!(1));
    assert_eq!(world.tool_log.last().unwrap(), "start c");
}

#[test]
fn s003_18_i_04_calls_with_one_resource_key_run_in_request_order() {
    let tools = json!([tool("save", json!({"prepare": true}))]);
    let mut world = asked(tools, mode("parallel"), ["save", "save", "save"]);
    assert!(world.tool_log.is_empty());
    let (question, ask) = world.questions.remove(0);
    assert_eq!(calls_of(&ask).len(), 3);
    let key = |key: &str| PreparedCall {
        resource_key: Some(key.into()),
        ..PreparedCall::default()
    };
    let answer = Answer::Prepared(vec![key("x"), key("x"), key("y")]);
    world.input(Input::Answered { question, answer });
    assert_eq!(world.tool_log, ["start a", "start c"]);
    world.return_value("a", json!(1));
    assert_eq!(world.tool_log.last().unwrap(), "start b");
}

#[test]
fn a_checked_call_starts_before_the_check_is_saved() {
    let tools = json!([tool("save", json!({"prepare": true, "replay": "safe"}))]);
    let mut world = asked(tools, mode("parallel"), ["save", "save", "save"]);
    world.confirm_saves = false;
    let question = world.questions.remove(0).0;
    let answer = Answer::Prepared(vec![PreparedCall::default(); 3]);
    world.input(Input::Answered { question, answer });
    assert_eq!(world.tool_log, ["start a", "start b", "start c"]);
}

#[test]
fn the_host_may_change_the_input_and_the_history_keeps_what_the_model_wrote() {
    let mut world = asked(
        json!([tool("save", json!({"prepare": true}))]),
        json!({}),
        ["save", "save", "save"],
    );
    let (question, _) = world.questions.remove(0);
    let changed = PreparedCall {
        input: Some(Json::parse(r#"{"n":2}"#).unwrap()),
        ..PreparedCall::default()
    };
    let refused = PreparedCall {
        problem: Some("n must be even".into()),
        ..PreparedCall::default()
    };
    let answer = Answer::Prepared(vec![changed, refused, PreparedCall::default()]);
    world.input(Input::Answered { question, answer });
    assert_eq!(world.running["a"].input.as_str(), r#"{"n":2}"#);
    world.return_value("a", json!(1));
    world.return_value("c", json!(1));
    let messages = &world.body(1)["messages"];
    assert_eq!(messages[1]["content"][0]["input"], json!({"n": 1}));
    assert!(
        messages[2]["content"][1]["content"]
            .as_str()
            .unwrap()
            .contains("n must be even")
    );
    assert_eq!(messages[2]["content"][1]["is_error"], true);
}

#[test]
fn a_host_that_cannot_prepare_denies_the_calls() {
    let mut world = asked(
        json!([tool("save", json!({"prepare": true}))]),
        json!({}),
        ["save", "save", "save"],
    );
    let (question, _) = world.questions.remove(0);
    world.input(Input::Answered {
        question,
        answer: Answer::Failed {
            why: "resourceKey threw".into(),
        },
    });
    assert!(world.tool_log.is_empty());
    assert!(world.requests[1].contains("resourceKey threw"));
}

#[test]
fn s003_17_s004_29_s004_31_a_failing_tool_is_shown_to_the_model_and_the_loop_goes_on() {
    let mut world = asked(read_and_write(), json!({}), ["read", "read", "write"]);
    world.finish_tool("a", fault(true));
    world.return_value("b", json!("fine"));
    world.return_value("c", json!("fine"));
    let result = &world.body(1)["messages"][2]["content"][0];
    assert_eq!(result["is_error"], true);
    let shown: Value = serde_json::from_str(result["content"].as_str().unwrap()).unwrap();
    assert_eq!(
        shown,
        json!({"error": true, "code": "boom", "message": "it broke", "hint": "try less", "recoverable": true})
    );
}

#[test]
fn s003_09_a_fatal_tool_error_stops_the_run_and_its_siblings() {
    let mut world = asked(read_and_write(), json!({}), ["read", "read", "write"]);
    world.finish_tool("a", fault(false));
    assert_eq!(world.tool_log, ["start a", "start b", "end a", "abort b"]);
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["stoppedBy"]),
        (&json!("stopped"), &json!("fatal_tool"))
    );
    let results = result["messages"][2]["content"].as_array().unwrap();
    assert_eq!(results.len(), 3, "every call has its result");
}

#[test]
fn s000_23_an_unknown_tool_is_answered_with_the_names_there_are() {
    let mut world = World::started(config(read_and_write(), json!({})));
    world.respond(&stream(&[call("t1", "raed", json!({}))], "tool_use"));
    let shown = world.body(1)["messages"][2]["content"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        shown.contains("unknown_tool") && shown.contains("read, write"),
        "{shown}"
    );
    world.respond(&stream(&[text("Sorry.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn input_that_does_not_fit_the_schema_is_refused_before_the_tool_runs() {
    let mut world = World::started(config(read_and_write(), json!({})));
    world.respond(&stream(&[call("t1", "read", json!({"n": "three"}))], "tool_use"));
    assert!(world.tool_log.is_empty());
    let shown = world.body(1)["messages"][2]["content"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(shown.contains("invalid_input") && shown.contains("/n"), "{shown}");
}

#[test]
fn s004_27_arguments_are_repaired_with_a_warning() {
    let mut world = World::started(config(read_and_write(), json!({})));
    let fenced = Piece::Call("t1".into(), "read".into(), "```json\n{\"n\": 1,}\n```".into());
    world.respond(&stream(&[fenced], "tool_use"));
    assert_eq!(world.running["t1"].input.as_str(), "{\"n\": 1}");
    let warnings: Vec<&str> = world
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Warning { message, .. } => Some(message.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].ends_with("arguments of read were not valid JSON; repaired by trailing_commas"),
        "{warnings:?}"
    );
}

#[test]
fn s004_28_arguments_beyond_repair_are_told_to_the_model_and_never_become_an_empty_object() {
    let mut world = World::started(config(read_and_write(), json!({})));
    let broken = Piece::Call("t1".into(), "read".into(), "{\"n\": ".into());
    world.respond(&stream(&[broken], "tool_use"));
    assert!(world.tool_log.is_empty());
    let messages = &world.body(1)["messages"];
    assert_eq!(
        messages[1]["content"][0]["input"],
        json!({"_invalid_json": "{\"n\": "})
    );
    assert!(
        messages[2]["content"][0]["content"]
            .as_str()
            .unwrap()
            .contains("Invalid JSON in tool arguments")
    );
}

#[test]
fn a_call_without_arguments_gets_an_empty_object() {
    let mut world = World::started(config(read_and_write(), json!({})));
    world.respond(&stream(
        &[Piece::Call("t1".into(), "read".into(), String::new())],
        "tool_use",
    ));
    assert_eq!(world.running["t1"].input.as_str(), "{}");
}

#[test]
fn a_call_that_the_length_limit_cut_off_is_never_run() {
    let mut world = World::started(config(read_and_write(), json!({})));
    let whole = call("a", "read", json!({"n": 1}));
    let cut = Piece::Call("b".into(), "read".into(), "{\"n\": 1".into());
    world.respond(&stream(&[whole, cut], "max_tokens"));
    assert_eq!(world.tool_log, ["start a"]);
    world.return_value("a", json!(1));
    assert!(
        world.body(1)["messages"][2]["content"][1]["content"]
            .as_str()
            .unwrap()
            .contains("cut_off")
    );
}

#[test]
fn a_whole_call_before_the_length_limit_is_not_run_and_an_option_runs_it() {
    for (fields, runs) in [
        (json!({}), false),
        (json!({"toolCalls": {"runCutOff": true}}), true),
    ] {
        let mut world = World::started(config(read_and_write(), fields));
        world.respond(&stream(&[call("a", "read", json!({"n": 1}))], "max_tokens"));
        if runs {
            assert_eq!(world.tool_log, ["start a"]);
            continue;
        }
        assert!(world.tool_log.is_empty(), "{:?}", world.tool_log);
        let result = world.body(1)["messages"][2]["content"][0].clone();
        assert_eq!(result["is_error"], true);
        assert!(
            result["content"].as_str().unwrap().contains("\"cut_off\""),
            "{result}"
        );
    }
}

#[test]
fn a_call_with_text_behind_it_runs_though_the_length_limit_ended_the_answer() {
    let mut world = World::started(config(read_and_write(), json!({})));
    let pieces = [call("a", "read", json!({"n": 1})), text("And th")];
    world.respond(&stream(&pieces, "max_tokens"));
    assert_eq!(world.tool_log, ["start a"]);
}

#[test]
fn two_calls_of_one_id_get_two_ids() {
    let mut world = World::started(config(read_and_write(), json!({})));
    world.respond(&stream(
        &[call("t1", "read", json!({})), call("t1", "read", json!({}))],
        "tool_use",
    ));
    assert_eq!(world.running.len(), 2);
    for id in world.running.keys().cloned().collect::<Vec<_>>() {
        world.return_value(&id, json!(1));
    }
    let messages = &world.body(1)["messages"];
    let ids = |message: usize, field: &str| -> Vec<Value> {
        messages[message]["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block[field].clone())
            .collect()
    };
    assert_eq!(ids(1, "id"), ids(2, "tool_use_id"));
    assert_ne!(ids(1, "id")[0], ids(1, "id")[1]);
}

#[test]
fn a_tool_that_takes_too_long_is_aborted_and_the_model_is_told() {
    let tools = json!([
        tool("read", json!({"readOnly": true, "timeoutMs": 500})),
        tool("write", json!({}))
    ]);
    let mut world = asked(
        tools,
        json!({"timeouts": {"toolMs": 9000}}),
        ["read", "write", "read"],
    );
    world.pass(500);
    assert_eq!(world.tool_log, ["start a", "abort a", "start b"]);
    world.pass(8999);
    assert_eq!(world.tool_log.len(), 3);
    world.pass(1);
    assert_eq!(world.tool_log[3..], ["abort b", "start c"]);
    world.return_value("c", json!(1));
    assert!(
        world.body(1)["messages"][2]["content"][0]["content"]
            .as_str()
            .unwrap()
            .contains("timeout")
    );
}

#[test]
fn a_late_result_is_inert() {
    let tools = json!([tool("read", json!({"readOnly": true, "timeoutMs": 500}))]);
    let mut world = asked(tools, json!({}), ["read", "read", "read"]);
    let late = world.running["a"].call;
    world.pass(500);
    let events = world.events.len();
    world.input(Input::ToolFinished {
        call: late,
        result: ToolReturn::Value(Json::parse("1").unwrap()),
    });
    assert_eq!(world.events.len(), events);
}

#[test]
fn progress_is_an_event() {
    let mut world = asked(read_and_write(), json!({}), ["read", "read", "read"]);
    let call = world.running["a"].call;
    world.input(Input::ToolProgress {
        call,
        data: Json::parse("{\"done\":0.5}").unwrap(),
    });
    assert_eq!(world.event_names().last().unwrap(), "tool-progress");
}

#[test]
fn a_call_that_must_not_be_repeated_starts_only_when_its_start_is_saved() {
    let tools = json!([tool("pay", json!({"replay": "once"}))]);
    let mut world = World::new(config(tools, json!({})));
    world.confirm_saves = false;
    world.prompt("Pay.");
    world.respond(&stream(
        &[call("a", "pay", json!({})), call("b", "pay", json!({}))],
        "tool_use",
    ));
    assert!(world.tool_log.is_empty());
    let (save, awaited) = *world.saves.last().unwrap();
    assert!(awaited);
    assert!(
        world.saved_starts.contains(&(save, "a".to_owned())),
        "the save says what is about to start"
    );
    world.input(Input::Saved { save, ok: true });
    assert_eq!(world.tool_log, ["start a"]);
    world.return_value("a", json!("paid"));
    let (save, _) = *world.saves.last().unwrap();
    world.input(Input::Saved { save, ok: false });
    assert_eq!(
        world.tool_log,
        ["start a", "end a"],
        "what could not be saved is not done"
    );
    assert!(world.requests[1].contains("save_failed"));
}

#[test]
fn a_run_says_once_that_no_store_keeps_what_must_not_be_repeated() {
    let pay = tool("pay", json!({"replay": "once"}));
    let tools = json!([
        pay,
        tool("read", json!({})),
        tool("ship", json!({"replay": "once"}))
    ]);
    let agents = json!([{"model": {"vendor": "anthropic", "model": "small"}, "tools": [pay]}]);
    let mut world = World::started(config(tools, json!({"agents": agents, "journal": false})));
    world.respond(&stream(&[call("a", "pay", json!({}))], "tool_use"));
    world.return_value("a", json!("paid"));
    world.respond(&stream(&[text("Paid.")], "end_turn"));
    let warned: Vec<&str> = world
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Warning { code, message, .. } if code == "replay_needs_store" => {
                Some(message.as_str())
            }
            _ => None,
        })
        .collect();
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(warned[0].ends_with("calls of: pay, ship"), "{warned:?}");
    let plain = World::started(config(
        json!([tool("read", json!({}))]),
        json!({"journal": false}),
    ));
    assert!(!plain.event_names().contains(&"warning".to_owned()));
}

#[test]
fn a_check_that_never_answers_counts_against_the_tools_time() {
    let tools = json!([tool("save", json!({"prepare": true, "timeoutMs": 50}))]);
    let mut world = asked(tools, json!({}), ["save", "save", "save"]);
    let (question, _) = world.questions.remove(0);
    world.pass(50);
    assert!(world.requests[1].contains("not checked in time"));
    world.input(Input::Answered {
        question,
        answer: Answer::Prepared(Vec::new()),
    });
    assert!(world.tool_log.is_empty());
}

#[test]
fn without_a_journal_nothing_is_saved_and_nothing_waits_for_a_save() {
    let tools = json!([tool("pay", json!({"replay": "once"}))]);
    let mut world = World::new(config(tools, json!({"journal": false})));
    world.confirm_saves = false;
    world.prompt("Go.");
    world.respond(&stream(&[call("a", "pay", json!({"n": 1}))], "tool_use"));
    assert_eq!(world.tool_log, ["start a"]);
    world.return_value("a", json!(1));
    world.respond(&stream(&[text("Paid.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
    assert!(world.saves.is_empty() && world.entries.is_empty());
}
