use serde_json::json;

use crate::wire::{Piece, call, stream, text};
use crate::world::{World, config, tool};

#[test]
fn a_text_answer_completes_the_run() {
    let mut world = World::started(config(json!([]), json!({})));
    world.respond(&stream(&[text("Hello "), text("there.")], "end_turn"));
    let result = world.result();
    assert_eq!(result["outcome"], "completed");
    assert_eq!(result["text"], "Hello there.");
    assert_eq!(result["finishReason"], "stop");
    assert_eq!(result["rawFinishReason"], "end_turn");
    assert_eq!(result["iterations"], 1);
    assert_eq!(result["usage"]["inputTokens"], 10);
    assert_eq!(result["usage"]["outputTokens"], 5);
    assert_eq!(
        world.event_names(),
        [
            "run-start",
            "agent-start",
            "iteration-start",
            "attempt-start",
            "usage",
            "text-start",
            "text-delta",
            "text-end",
            "text-start",
            "text-delta",
            "text-end",
            "usage",
            "iteration-finish",
            "agent-finish",
            "finish"
        ]
    );
}

#[test]
fn the_request_says_who_is_asked_what() {
    let world = World::started(config(json!([tool("add", json!({}))]), json!({})));
    let body = world.body(0);
    assert_eq!(body["model"], "claude-test");
    assert_eq!(body["system"], "Be brief.");
    assert_eq!(body["stream"], true);
    assert_eq!(body["max_tokens"], 8192);
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": [{"type": "text", "text": "Go."}]}])
    );
    assert_eq!(body["tools"][0]["name"], "add");
    assert_eq!(
        body["tools"][0]["input_schema"]["properties"]["n"]["type"],
        "integer"
    );
}

#[test]
fn tool_results_go_back_and_the_loop_goes_on() {
    let mut world = World::started(config(json!([tool("add", json!({}))]), json!({})));
    world.respond(&stream(
        &[text("Let me add."), call("t1", "add", json!({"n": 1}))],
        "tool_use",
    ));
    assert_eq!(world.running["t1"].input.as_str(), r#"{"n":1}"#);
    world.return_value("t1", json!({"sum": 3}));
    world.respond(&stream(&[text("Three.")], "end_turn"));
    assert_eq!(world.result()["text"], "Three.");
    assert_eq!(world.result()["toolCalls"][0]["output"], json!({"sum": 3}));
    let messages = &world.body(1)["messages"];
    assert_eq!(messages[1]["content"][1]["id"], "t1");
    assert_eq!(messages[2]["content"][0]["tool_use_id"], "t1");
    assert_eq!(messages[2]["content"][0]["content"], "{\"sum\":3}");
}

#[test]
fn every_request_begins_with_the_bytes_of_the_one_before() {
    let mut world = World::started(config(json!([tool("add", json!({}))]), json!({})));
    for round in 0..5 {
        world.respond(&stream(
            &[call(&format!("t{round}"), "add", json!({"n": round}))],
            "tool_use",
        ));
        world.return_value(&format!("t{round}"), json!(round));
    }
    let history = |body: &String| body[..body.rfind(']').unwrap()].to_owned();
    for pair in world.requests.windows(2) {
        let shared = history(&pair[0]);
        assert!(
            pair[1].starts_with(&shared),
            "{}\nis no prefix of\n{}",
            shared,
            pair[1]
        );
    }
}

#[test]
fn signed_thinking_goes_back_unchanged_and_in_place() {
    let mut world = World::started(config(json!([tool("add", json!({}))]), json!({})));
    let thought = Piece::Thinking("Hm.".into(), "c2ln");
    world.respond(&stream(
        &[thought, text("Adding."), call("t1", "add", json!({}))],
        "tool_use",
    ));
    world.return_value("t1", json!(1));
    let content = &world.body(1)["messages"][1]["content"];
    assert_eq!(
        content[0],
        json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"})
    );
    assert_eq!(content[1]["type"], "text");
    assert_eq!(content[2]["type"], "tool_use");
}

#[test]
fn a_paused_turn_is_sent_back_as_it_is_and_goes_on() {
    let mut world = World::started(config(json!([]), json!({})));
    world.respond(&stream(&[text("Searching.")], "pause_turn"));
    assert_eq!(world.body(1)["messages"][1]["role"], "assistant");
    world.respond(&stream(&[text("Found.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
    assert_eq!(world.result()["iterations"], 2);
}

#[test]
fn an_answer_of_white_space_leaves_no_illegal_message() {
    let mut world = World::started(config(json!([tool("add", json!({}))]), json!({})));
    world.respond(&stream(&[text("\n\n"), call("t1", "add", json!({}))], "tool_use"));
    world.return_value("t1", json!(""));
    let content = &world.body(1)["messages"][1]["content"];
    assert_eq!(content.as_array().unwrap().len(), 1);
    assert_eq!(content[0]["type"], "tool_use");
}

#[test]
fn a_refusal_completes_the_run_and_says_so() {
    let mut world = World::started(config(json!([]), json!({})));
    world.respond(&stream(&[text("I cannot")], "refusal"));
    assert_eq!(world.result()["outcome"], "completed");
    assert_eq!(world.result()["finishReason"], "refusal");
}

#[test]
fn a_non_streaming_answer_is_read_whole() {
    let mut world = World::started(config(json!([]), json!({"model": {"stream": false}})));
    assert_ne!(world.body(0)["stream"], true);
    world.head(200, &[("content-type", "application/json")]);
    let body = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test",
        "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 1}});
    let body = body.to_string();
    let (head, tail) = body.split_at(20);
    world.chunk(head);
    world.chunk(tail);
    world.end();
    assert_eq!(world.result()["text"], "Hi.");
    assert_eq!(world.delivered_text(), "Hi.");
}

#[test]
fn the_end_of_the_protocol_is_enough_when_the_connection_stays_open() {
    let mut world = World::started(config(json!([]), json!({})));
    world.head(200, &[("content-type", "text/event-stream")]);
    world.chunk(&stream(&[text("Hi.")], "end_turn"));
    world.pass(1000);
    assert_eq!(world.result()["outcome"], "completed");
    assert_eq!(world.aborted_requests.len(), 1);
}

#[test]
fn the_text_of_a_run_is_that_of_its_last_answer_even_if_that_is_none() {
    let history = json!([{"role": "assistant", "content": [{"type": "text", "text": "Long ago."}]}]);
    let mut world = World::started(config(
        json!([tool("add", json!({}))]),
        json!({"messages": history}),
    ));
    assert_eq!(world.result()["text"], "");
    world.respond(&stream(
        &[text("Adding."), call("t1", "add", json!({}))],
        "tool_use",
    ));
    assert_eq!(world.result()["text"], "Adding.");
    world.return_value("t1", json!(1));
    world.respond(&stream(&[], "end_turn"));
    assert_eq!(world.result()["text"], "");
}
