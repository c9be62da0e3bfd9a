use looplet::engine::model::input::Input;
use looplet::engine::model::question::Answer;
use serde_json::{Value, json};

use crate::wire::{Piece, begin, block, call, open, stream, text};
use crate::world::{World, config, tool};

fn world() -> World {
    let tools = json!([
        tool("read", json!({"readOnly": true})),
        tool("save", json!({"prepare": true}))
    ]);
    World::started(config(tools, json!({})))
}

fn cancelled(world: &mut World) -> Value {
    world.cancel();
    assert!(world.done.is_some(), "the end comes with the abort");
    assert!(world.run.poll_timeout().is_none(), "nothing is due after the end");
    assert_eq!(world.event_names().last().unwrap(), "finish");
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["abortReason"]),
        (&json!("cancelled"), &json!("user"))
    );
    result
}

#[test]
fn before_the_head_nothing_but_the_prompt_is_left() {
    let mut world = world();
    let result = cancelled(&mut world);
    assert_eq!(world.aborted_requests.len(), 1);
    assert_eq!(result["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn partial_text_and_usage_are_kept() {
    let mut world = world();
    world.head(200, &[]);
    world.chunk(&(begin(10) + &open(0, &text("Half a sen"))));
    let result = cancelled(&mut world);
    assert_eq!(result["text"], "Half a sen");
    assert_eq!(result["usage"]["inputTokens"], 10);
    assert_eq!(result["messages"][1]["partial"], true);
}

#[test]
fn s003_26_whole_calls_are_answered_and_unfinished_ones_dropped() {
    let mut world = world();
    world.head(200, &[]);
    let thought = Piece::Thinking("Hm.".into(), "");
    let whole = call("a", "read", json!({"n": 1}));
    let cut = Piece::Call("b".into(), "read".into(), "{\"n\"".into());
    let body =
        begin(10) + &open(0, &thought) + &block(1, &text("Reading.")) + &block(2, &whole) + &open(3, &cut);
    world.chunk(&body);
    let result = cancelled(&mut world);
    let content = result["messages"][1]["content"].as_array().unwrap();
    assert_eq!(
        content.iter().map(|block| &block["type"]).collect::<Vec<_>>(),
        ["thinking", "text", "tool_call"]
    );
    let answers = result["messages"][2]["content"].as_array().unwrap();
    assert_eq!(answers.len(), 1);
    assert_eq!(
        (&answers[0]["callId"], &answers[0]["isError"]),
        (&json!("a"), &json!(true))
    );
    assert!(world.tool_log.is_empty());
}

#[test]
fn i_05_running_tools_are_told_and_queued_ones_never_start() {
    let mut world = world();
    world.respond(&stream(
        &[
            call("a", "read", json!({})),
            call("b", "read", json!({})),
            call("c", "none", json!({})),
        ],
        "tool_use",
    ));
    world.return_value("b", json!("done"));
    let result = cancelled(&mut world);
    assert_eq!(world.tool_log, ["start a", "start b", "end b", "abort a"]);
    let answers = result["messages"][2]["content"].as_array().unwrap();
    assert_eq!(
        answers.iter().map(|answer| &answer["callId"]).collect::<Vec<_>>(),
        ["a", "b", "c"]
    );
    assert_eq!(answers[1]["content"][0]["text"], "done");
}

#[test]
fn an_open_question_does_not_hold_the_end_back_and_its_answer_is_inert() {
    let mut world = world();
    world.respond(&stream(&[call("a", "save", json!({}))], "tool_use"));
    let (question, _) = world.questions.remove(0);
    cancelled(&mut world);
    world.input(Input::Answered {
        question,
        answer: Answer::Prepared(Vec::new()),
    });
    assert!(world.tool_log.is_empty());
}

#[test]
fn s004_35_a_wait_between_attempts_ends_at_once() {
    let mut world = world();
    world.network_failed();
    cancelled(&mut world);
    world.pass(60_000);
    assert_eq!(world.requests.len(), 1);
}

#[test]
fn i_05_late_answers_are_inert() {
    let mut world = world();
    let request = world.request();
    world.head(200, &[]);
    cancelled(&mut world);
    let before = world.result();
    let late = stream(&[text("Too late.")], "end_turn");
    world.input(Input::Chunk {
        request,
        bytes: late.as_bytes(),
    });
    world.input(Input::End { request });
    assert_eq!(world.result(), before);
}

#[test]
fn s003_26_the_history_of_an_aborted_run_can_be_gone_on_from() {
    let mut world = world();
    world.respond(&stream(
        &[call("a", "read", json!({})), call("b", "read", json!({}))],
        "tool_use",
    ));
    let messages = cancelled(&mut world)["messages"].clone();
    let mut next = World::new(config(
        json!([tool("read", json!({}))]),
        json!({"messages": messages}),
    ));
    next.prompt("Go on.");
    let sent = &next.body(0)["messages"];
    assert_eq!(sent.as_array().unwrap().len(), 3);
    let last = sent[2]["content"].as_array().unwrap();
    assert_eq!(last.len(), 3, "two results and the new prompt in one message");
    assert_eq!(last[2]["text"], "Go on.");
}

#[test]
fn unsigned_thinking_stays_in_the_history_of_an_aborted_run_and_is_not_sent() {
    let mut world = world();
    world.head(200, &[("content-type", "text/event-stream")]);
    world.chunk(&begin(10));
    let thinking = Piece::Thinking("Hm.".into(), "");
    world.chunk(&block(0, &thinking));
    world.chunk(&block(1, &text("First")));
    let messages = cancelled(&mut world)["messages"].clone();
    assert_eq!(
        messages[1]["content"],
        json!([{"type": "thinking", "text": "Hm."}, {"type": "text", "text": "First"}])
    );
    let mut next = World::new(config(json!([]), json!({"messages": messages})));
    next.prompt("Go on.");
    let sent = &next.body(0)["messages"][1]["content"];
    assert_eq!(*sent, json!([{"type": "text", "text": "First"}]));
}

#[test]
fn every_call_that_was_told_has_an_end() {
    let mut world = world();
    world.respond(&stream(
        &[call("a", "read", json!({})), call("b", "save", json!({}))],
        "tool_use",
    ));
    let result = cancelled(&mut world);
    let ends = world
        .event_names()
        .iter()
        .filter(|name| *name == "tool-error")
        .count();
    assert_eq!(ends, 2);
    assert!(
        result["toolCalls"]
            .as_array()
            .unwrap()
            .iter()
            .all(|call| call["isError"] == true)
    );
}
