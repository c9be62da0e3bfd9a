use looplet::engine::model::event::{EventKind, ToolFault};
use looplet::engine::model::input::{Input, PreparedCall, ToolReturn};
use looplet::engine::model::message::{Block, Json};
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::told::calls_of;
use crate::wire::{Piece, begin, block, call, end, event, open, stream, text};
use crate::world::{World, config, tool};

fn tools() -> Value {
    json!([
        tool("read", json!({"readOnly": true})),
        tool("slow", json!({"readOnly": true, "timeoutMs": 50})),
        tool("keyed", json!({"readOnly": true, "prepare": true})),
        tool("once", json!({"readOnly": true, "replay": "once"})),
        tool("write", json!({})),
    ])
}

/// A run whose first answer has begun.
fn world(fields: Value) -> World {
    let mut all = json!({"toolCalls": {"eager": true}, "timeouts": {"chunkMs": null, "firstChunkMs": null}});
    for (key, value) in fields.as_object().unwrap() {
        all[key] = value.clone();
    }
    let mut world = World::started(config(tools(), all));
    world.head(200, &[]);
    world.chunk(&begin(10));
    world
}

fn read(id: &str) -> Piece {
    call(id, "read", json!({"n": 1}))
}

fn results(world: &World, request: usize) -> Vec<(Value, Value)> {
    let messages = world.body(request)["messages"].clone();
    let last = messages.as_array().unwrap().last().unwrap()["content"].clone();
    let pairs = last.as_array().unwrap().iter();
    pairs
        .map(|result| (result["tool_use_id"].clone(), result["content"].clone()))
        .collect()
}

fn names(world: &World, wanted: &[&str]) -> Vec<String> {
    let all = world.event_names().into_iter();
    all.filter(|name| wanted.contains(&name.as_str())).collect()
}

#[test]
fn a_whole_call_of_a_read_only_tool_starts_while_the_answer_streams() {
    let mut world = world(json!({}));
    world.chunk(&open(0, &read("a")));
    assert!(world.tool_log.is_empty(), "its end has not come");
    world.chunk(&event(json!({"type": "content_block_stop", "index": 0})));
    assert_eq!(world.tool_log, ["start a"]);
    assert_eq!(world.running["a"].input.as_str(), r#"{"n":1}"#);
    assert_eq!(
        names(&world, &["tool-input-end", "tool-call"]),
        ["tool-input-end", "tool-call"]
    );
}

/// A chunk of Chat Completions with a piece of the call at `index`.
fn piece(index: u32, id: &str, name: &str, arguments: &str) -> String {
    let mut call = json!({"index": index, "function": {"arguments": arguments}});
    if !id.is_empty() {
        call["id"] = json!(id);
        call["function"]["name"] = json!(name);
    }
    let delta = json!({"tool_calls": [call]});
    format!(
        "data: {}\n\n",
        json!({"id": "c", "choices": [{"index": 0, "delta": delta}]})
    )
}

fn chat(fields: Value) -> World {
    let model = json!({"vendor": "compatible", "model": "m", "baseUrl": "http://h/v1"});
    let mut all = json!({"toolCalls": {"eager": true}, "model": model});
    for (key, value) in fields.as_object().unwrap() {
        all[key] = value.clone();
    }
    let mut world = World::started(config(tools(), all));
    world.head(200, &[]);
    world
}

#[test]
fn a_call_of_chat_completions_starts_as_soon_as_the_next_one_begins() {
    let mut world = chat(json!({}));
    world.chunk(&piece(0, "a", "read", ""));
    world.chunk(&piece(0, "", "", "{\"n\":"));
    world.chunk(&piece(0, "", "", "1}"));
    assert!(world.tool_log.is_empty(), "its end has not come");
    world.chunk(&piece(1, "b", "read", ""));
    assert_eq!(world.tool_log, ["start a"]);
    assert_eq!(world.running["a"].input.as_str(), r#"{"n":1}"#);
    assert_eq!(
        names(&world, &["tool-input-end", "tool-call"]),
        ["tool-input-end", "tool-call"]
    );
    world.chunk(&piece(1, "", "", "{\"n\":2}"));
    world.chunk("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n");
    world.end();
    assert_eq!(world.tool_log, ["start a", "start b"]);
    assert_eq!(world.running["b"].input.as_str(), r#"{"n":2}"#);
}

#[test]
fn calls_of_chat_completions_that_come_by_turns_wait_for_the_answer() {
    for first in ["", "{}", "{\"n\":"] {
        let mut world = chat(json!({}));
        world.chunk(&piece(0, "a", "read", first));
        world.chunk(&piece(1, "b", "read", "{\"n\":2}"));
        world.chunk(&piece(2, "c", "read", "{\"n\":3}"));
        assert!(world.tool_log.is_empty(), "{first}: {:?}", world.tool_log);
    }
}

#[test]
fn without_the_option_nothing_starts_before_the_answer_is_complete() {
    let mut world = world(json!({"toolCalls": {"eager": false}}));
    world.chunk(&block(0, &read("a")));
    assert!(world.tool_log.is_empty());
}

#[test]
fn results_keep_the_order_of_the_calls_whenever_they_come() {
    let mut world = world(json!({}));
    world.chunk(&block(0, &read("a")));
    world.chunk(&block(1, &read("b")));
    world.return_value("b", json!(2));
    world.chunk(&(block(2, &call("c", "write", json!({}))) + &end("tool_use", 5)));
    world.end();
    assert_eq!(
        world.tool_log,
        ["start a", "start b", "end b"],
        "the writer waits for a"
    );
    world.return_value("a", json!(1));
    world.return_value("c", json!(3));
    let expected = [("a", "1"), ("b", "2"), ("c", "3")].map(|(id, content)| (json!(id), json!(content)));
    assert_eq!(results(&world, 1), expected);
    assert_eq!(
        names(&world, &["tool-call"]).len(),
        3,
        "each call is told of once"
    );
    let records = world.result()["toolCalls"].clone();
    assert_eq!(
        (
            &records[0]["toolCallId"],
            &records[1]["toolCallId"],
            &records[2]["toolCallId"]
        ),
        (&json!("a"), &json!("b"), &json!("c"))
    );
}

#[test]
fn when_all_were_early_the_round_ends_with_the_answer() {
    let mut world = world(json!({}));
    world.chunk(&block(0, &read("a")));
    world.return_value("a", json!(1));
    assert_eq!(world.requests.len(), 1);
    world.chunk(&end("tool_use", 5));
    assert_eq!(world.requests.len(), 1);
    world.end();
    assert_eq!(results(&world, 1), [(json!("a"), json!("1"))]);
}

#[test]
fn a_call_behind_one_that_is_not_read_only_does_not_start_early() {
    let mut world = world(json!({}));
    world.chunk(&block(0, &call("w", "write", json!({}))));
    world.chunk(&block(1, &read("a")));
    assert!(world.tool_log.is_empty());
    world.chunk(&end("tool_use", 5));
    world.end();
    assert_eq!(world.tool_log, ["start w"]);
}

#[test]
fn what_must_not_be_repeated_or_has_a_fault_does_not_start_early() {
    for piece in [
        call("a", "once", json!({"n": 1})),
        call("a", "read", json!({"n": "one"})),
        call("a", "none", json!({"n": 1})),
        Piece::Call("a".into(), "read".into(), "{\"n\": 1,}".into()),
        Piece::Call("a".into(), "read".into(), "[1]".into()),
    ] {
        let mut world = world(json!({}));
        world.chunk(&block(0, &piece));
        assert!(
            world.tool_log.is_empty() && world.questions.is_empty(),
            "{piece:?}"
        );
        assert_eq!(names(&world, &["tool-call"]).len(), 0, "{piece:?}");
        world.chunk(&end("tool_use", 5));
        world.end();
        assert_eq!(names(&world, &["tool-call"]).len(), 1, "{piece:?}");
    }
}

#[test]
fn empty_arguments_wait_for_what_comes_behind_them() {
    let mut world = world(json!({}));
    world.chunk(&block(0, &call("a", "read", json!({}))));
    assert!(world.tool_log.is_empty(), "perhaps the answer was cut off here");
    world.chunk(&open(1, &text("And")));
    assert_eq!(world.tool_log, ["start a"]);
}

#[test]
fn limits_on_tools_count_before_an_early_start() {
    for fields in [
        json!({"limits": {"maxToolCalls": 1}}),
        json!({"limits": {"maxToolRounds": 0}}),
        json!({"limits": {"maxTotalTokens": 9}}),
    ] {
        let mut world = World::started(config(tools(), {
            let mut all = json!({"toolCalls": {"eager": true}});
            all["limits"] = fields["limits"].clone();
            all
        }));
        world.respond(&stream(&[read("a"), read("b")], "tool_use"));
        let started = world
            .tool_log
            .iter()
            .filter(|line| line.starts_with("start"))
            .count();
        assert!(started <= 1, "{fields}: {:?}", world.tool_log);
        assert_eq!(world.result()["outcome"], "stopped", "{fields}");
        assert!(world.running.is_empty(), "{fields}");
    }
}

#[test]
fn a_call_that_permissions_do_not_allow_waits_for_the_end_of_the_answer() {
    let permissions = json!({"permissions": {"mode": "default", "canUseTool": true}});
    let mut world = world(permissions);
    world.chunk(&block(0, &read("a")));
    assert!(world.tool_log.is_empty() && world.questions.is_empty());
    world.chunk(&end("tool_use", 5));
    world.end();
    assert!(world.questions[0].1.point == Point::Permission);
}

#[test]
fn early_calls_are_prepared_one_by_one_and_keep_their_keys() {
    let mut world = world(json!({}));
    world.chunk(&block(0, &call("a", "keyed", json!({"n": 1}))));
    world.chunk(&block(1, &call("b", "keyed", json!({"n": 2}))));
    let asked: Vec<_> = world.questions.drain(..).collect();
    assert_eq!(asked.len(), 2);
    for (question, ask) in asked.into_iter().rev() {
        assert_eq!(calls_of(&ask).len(), 1);
        let prepared = PreparedCall {
            resource_key: Some("same".into()),
            ..PreparedCall::default()
        };
        world.input(Input::Answered {
            question,
            answer: Answer::Prepared(vec![prepared]),
        });
    }
    assert_eq!(world.tool_log, ["start a"], "b has the same key");
    world.return_value("a", json!(1));
    assert_eq!(world.tool_log.last().unwrap(), "start b");
}

#[test]
fn the_calls_of_a_failed_attempt_are_aborted_and_dropped_with_it() {
    let mut world = world(json!({}));
    world.chunk(
        &(block(0, &read("a")) + &block(1, &read("b")) + &block(2, &call("k", "keyed", json!({"n": 1})))),
    );
    world.return_value("a", json!(1));
    let open_question = world.questions.remove(0).0;
    world.network_failed();
    assert_eq!(world.tool_log, ["start a", "start b", "end a", "abort b"]);
    assert_eq!(
        names(&world, &["tool-result", "tool-error", "reset"]),
        ["tool-result", "tool-error", "tool-error", "reset"]
    );
    assert_eq!(world.result()["toolCalls"], json!([]));
    world.input(Input::Answered {
        question: open_question,
        answer: Answer::Prepared(vec![PreparedCall::default()]),
    });
    world.pass(10_000);
    world.respond(&stream(&[read("c")], "tool_use"));
    world.return_value("c", json!(3));
    let body = world.body(1)["messages"].clone();
    assert_eq!(
        body.as_array().unwrap().len(),
        1,
        "nothing of the attempt is sent"
    );
    assert_eq!(results(&world, 2), [(json!("c"), json!("3"))]);
    assert!(!world.requests[2].contains("\"a\""));
}

#[test]
fn an_abort_keeps_what_early_calls_have_brought() {
    let mut world = world(json!({}));
    world.chunk(&(block(0, &read("a")) + &block(1, &read("b"))));
    world.return_value("a", json!(1));
    world.cancel();
    assert_eq!(world.tool_log.last().unwrap(), "abort b");
    let result = world.result();
    let last = result["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["content"][0]["content"][0]["text"], "1");
    assert_eq!(last["content"][1]["isError"], true);
    assert_eq!(result["toolCalls"][0]["output"], 1);
    assert_eq!(result["toolCalls"][1]["output"]["code"], "cancelled");
}

#[test]
fn a_call_without_arguments_that_started_early_is_kept_too() {
    let mut world = world(json!({}));
    world.chunk(&(block(0, &Piece::Call("a".into(), "read".into(), String::new())) + &block(1, &read("b"))));
    assert_eq!(world.tool_log, ["start a", "start b"]);
    world.return_value("a", json!(1));
    world.return_value("b", json!(2));
    world.cancel();
    let records = world.result()["toolCalls"].clone();
    assert_eq!(
        (&records[0]["output"], &records[1]["output"]),
        (&json!(1), &json!(2))
    );
}

#[test]
fn an_answer_that_is_over_whatever_it_calls_aborts_its_early_calls() {
    let mut world = world(json!({"answers": {"strictStopReason": true}}));
    world.chunk(&(block(0, &read("a")) + &end("end_turn", 5)));
    world.end();
    assert_eq!(world.tool_log, ["start a", "abort a"]);
    assert_eq!(world.result()["outcome"], "completed");
    assert_eq!(world.result()["toolCalls"][0]["output"]["code"], "cancelled");
}

#[test]
fn an_early_call_of_an_answer_that_is_over_counts_as_a_round() {
    let mut world = world(json!({"answers": {"strictStopReason": true}, "limits": {"maxToolRounds": 1}}));
    world.input(Input::Steer {
        id: 1,
        content: vec![Block::text("And?")],
    });
    world.chunk(&block(0, &read("a")));
    world.return_value("a", json!(1));
    world.chunk(&(block(1, &text("Done.")) + &end("end_turn", 5)));
    world.end();
    world.respond(&stream(&[read("b")], "tool_use"));
    assert_eq!(world.tool_log, ["start a", "end a"], "one round was allowed");
    assert_eq!(world.result()["stoppedBy"], "tool_rounds");
}

#[test]
fn a_fatal_error_of_an_early_call_ends_the_run_within_the_answer() {
    let mut world = world(json!({}));
    world.chunk(&(block(0, &read("a")) + &open(1, &text("I am still"))));
    world.finish_tool(
        "a",
        ToolReturn::Fault(ToolFault {
            code: "auth".into(),
            message: "no".into(),
            hint: "no".into(),
            recoverable: false,
        }),
    );
    assert_eq!(world.result()["stoppedBy"], "fatal_tool");
    assert_eq!(world.aborted_requests.len(), 1);
    assert_eq!(world.result()["text"], "I am still");
}

#[test]
fn an_early_call_has_its_tools_timeout() {
    let mut world = world(json!({}));
    world.chunk(&block(0, &call("a", "slow", json!({"n": 1}))));
    world.pass(60);
    assert_eq!(world.tool_log, ["start a", "abort a"]);
    let is_timeout =
        |kind: &EventKind| matches!(kind, EventKind::ToolError { error, .. } if error.code == "timeout");
    assert!(world.events.iter().any(|event| is_timeout(&event.kind)));
}

#[test]
fn a_progress_of_an_early_call_is_told_at_once() {
    let mut world = world(json!({}));
    world.chunk(&block(0, &read("a")));
    let call = world.running["a"].call;
    world.input(Input::ToolProgress {
        call,
        data: Json::parse("1").unwrap(),
    });
    assert_eq!(names(&world, &["tool-progress"]).len(), 1);
}

#[test]
fn the_history_is_legal_while_early_calls_run() {
    let mut world = world(json!({}));
    world.chunk(&block(0, &read("a")));
    assert_eq!(world.result()["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn of_two_calls_with_one_id_the_second_gets_its_own_early_or_not() {
    let mut world = world(json!({"toolCalls": {"maxConcurrency": 1}}));
    world.chunk(&(block(0, &read("a")) + &block(1, &read("a")) + &end("tool_use", 5)));
    world.end();
    world.return_value("a", json!(1));
    let second = world.running.keys().next().unwrap().clone();
    assert!(second.starts_with("call_"));
    world.return_value(&second, json!(2));
    assert_eq!(results(&world, 1).len(), 2);
}
