use looplet::engine::model::input::Input;
use looplet::engine::model::message::Block;
use serde_json::json;

use crate::wire::{Piece, begin, call, end, event, stream, text, unmarked};
use crate::world::{World, config, tool};

#[test]
fn s004_10_a_text_answer_completes_the_run() {
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
    assert_eq!(body["system"][0]["text"], "Be brief.");
    assert_eq!(body["stream"], true);
    assert_eq!(body["max_tokens"], 8192);
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": [
            {"type": "text", "text": "Go.", "cache_control": {"type": "ephemeral"}}
        ]}])
    );
    assert_eq!(body["tools"][0]["name"], "add");
    assert_eq!(
        body["tools"][0]["input_schema"]["properties"]["n"]["type"],
        "integer"
    );
}

#[test]
fn s000_01_s002_12_tool_results_go_back_and_the_loop_goes_on() {
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
fn i_02_s001_37_without_cache_markers_every_request_begins_with_the_bytes_of_the_one_before() {
    let mut world = World::started(config(json!([tool("add", json!({}))]), json!({})));
    for round in 0..5 {
        world.respond(&stream(
            &[call(&format!("t{round}"), "add", json!({"n": round}))],
            "tool_use",
        ));
        world.return_value(&format!("t{round}"), json!(round));
    }
    for pair in world.requests.windows(2) {
        let (first, next) = (unmarked(&pair[0]), unmarked(&pair[1]));
        let shared = &first[..first.rfind(']').unwrap()];
        assert!(next.starts_with(shared), "{shared}\nis no prefix of\n{next}");
    }
}

#[test]
fn s003_14_s004_19_signed_thinking_goes_back_unchanged_and_in_place() {
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

#[test]
fn a_call_cut_off_before_its_first_argument_is_not_run() {
    let mut world = World::started(config(json!([tool("wipe", json!({}))]), json!({})));
    let cut = Piece::Call("a".into(), "wipe".into(), String::new());
    world.respond(&stream(&[cut], "max_tokens"));
    assert!(world.tool_log.is_empty(), "{:?}", world.tool_log);
    assert!(world.requests[1].contains("cut_off"));
}

#[test]
fn a_call_cut_off_behind_empty_reasoning_is_not_run() {
    let model = json!({"vendor": "compatible", "model": "deepseek", "baseUrl": "http://h/v1"});
    let mut world = World::started(config(json!([tool("wipe", json!({}))]), json!({"model": model})));
    let call =
        json!({"index": 0, "id": "a", "type": "function", "function": {"name": "wipe", "arguments": ""}});
    let delta = json!({"reasoning_content": "", "tool_calls": [call]});
    let head = json!({"id": "c", "choices": [{"index": 0, "delta": delta}]});
    let tail = json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]});
    world.respond(&format!("data: {head}\n\ndata: {tail}\n\ndata: [DONE]\n\n"));
    assert!(world.tool_log.is_empty(), "{:?}", world.tool_log);
}

/// A text block with a citation.
fn cited(index: usize, text: &str) -> String {
    let delta = |delta| event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    let citation = json!({"type": "web_search_result_location", "url": format!("https://a.test/{index}")});
    event(
        json!({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}),
    ) + &delta(json!({"type": "citations_delta", "citation": citation}))
        + &delta(json!({"type": "text_delta", "text": text}))
        + &event(json!({"type": "content_block_stop", "index": index}))
}

#[test]
fn the_citations_of_an_answer_without_text_are_kept_and_not_sent() {
    for (texts, content) in [
        (&[""][..], "(empty)"),
        (&["It rains.", "", "So stay."], "It rains."),
    ] {
        let mut world = World::started(config(json!([]), json!({})));
        world.input(Input::FollowUp {
            id: 1,
            content: vec![Block::text("Well?")],
        });
        let blocks = texts.iter().enumerate().map(|(index, text)| cited(index, text));
        world.respond(&(begin(10) + &blocks.collect::<String>() + &end("end_turn", 5)));
        let sent = world.body(1)["messages"][1]["content"].clone();
        assert_eq!(sent[0]["text"], content, "{sent}");
        assert!(!sent.to_string().contains(r#""text":"""#), "{sent}");
        world.respond(&stream(&[text("Yes.")], "end_turn"));
        let kept = world.result()["messages"][1]["content"].clone();
        let urls: Vec<_> = kept
            .as_array()
            .unwrap()
            .iter()
            .map(|block| &block["vendor"]["citations"][0]["url"])
            .collect();
        let wanted: Vec<_> = (0..texts.len())
            .map(|index| json!(format!("https://a.test/{index}")))
            .collect();
        assert_eq!(urls, wanted.iter().collect::<Vec<_>>(), "{kept}");
    }
}

#[test]
fn no_assistant_message_is_sent_that_ends_in_thinking() {
    let mut world = World::started(config(json!([]), json!({})));
    world.input(Input::FollowUp {
        id: 1,
        content: vec![Block::text("Well?")],
    });
    world.respond(&stream(&[Piece::Thinking("Hm.".into(), "c2ln")], "end_turn"));
    let messages = world.body(1)["messages"].clone();
    let nothing = json!([{"type": "text", "text": "(empty)"}]);
    assert_eq!(messages[1]["content"], nothing, "{messages}");
}

#[test]
fn thinking_goes_back_only_to_the_model_that_wrote_it() {
    let thought = json!({"type": "thinking", "text": "Hm.", "signature": "c2ln"});
    let said = json!({"type": "text", "text": "Hi."});
    for (model, goes_back) in [("claude-test", true), ("claude-other", false)] {
        let origin = json!({"protocol": "anthropic", "model": model});
        let messages = json!([{"role": "assistant", "content": [thought, said], "origin": origin}]);
        let world = World::started(config(json!([]), json!({"messages": messages})));
        assert_eq!(world.requests[0].contains("c2ln"), goes_back, "{model}");
    }
}

#[test]
fn ids_of_other_servers_are_rewritten_alike_in_call_and_result() {
    let mut world = World::started(config(json!([tool("add", json!({}))]), json!({})));
    world.respond(&stream(
        &[call("functions.add:0", "add", json!({"n": 1}))],
        "tool_use",
    ));
    world.return_value("functions.add:0", json!(1));
    let messages = world.body(1)["messages"].clone();
    let id = messages[1]["content"][0]["id"].as_str().unwrap();
    assert!(
        id.starts_with("functions_add_0_")
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    );
    assert_eq!(messages[2]["content"][0]["tool_use_id"], id);
}

#[test]
fn what_follows_the_end_does_not_hold_the_run() {
    let mut world = World::started(config(json!([]), json!({})));
    world.head(200, &[]);
    world.chunk(&stream(&[text("Done.")], "end_turn"));
    world.pass(600);
    world.chunk(": ping\n\n");
    world.pass(400);
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn an_answer_with_its_finish_reason_is_kept_when_the_server_says_no_more() {
    let model = json!({"vendor": "compatible", "model": "m", "baseUrl": "http://h/v1"});
    let mut world = World::started(config(json!([]), json!({"model": model})));
    world.head(200, &[]);
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "Done."}, "finish_reason": "stop"}]});
    world.chunk(&format!("data: {chunk}\n\n"));
    world.pass(10_000);
    assert_eq!(world.result()["outcome"], "completed");
    assert_eq!(world.result()["text"], "Done.");
}
