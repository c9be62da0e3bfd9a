//! An answer that broke off: its text is kept for the record and told once, and a model may go on from it.

use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::Input;
use looplet::engine::model::journal::Fact;
use looplet::engine::model::json;
use looplet::engine::model::message::Block;
use serde_json::{Value, json};

use crate::wire::{Piece, begin, block, event, open, stream, stream_with_usage, text};
use crate::world::{Settings, World, config};

fn setting() -> Settings {
    config(json!([]), json!({}))
}

/// A run whose answer has begun with reasoning.
fn world(fields: Value) -> World {
    let mut world = World::started(config(json!([]), fields));
    world.head(200, &[("content-type", "text/event-stream")]);
    world.chunk(&begin(10));
    world.chunk(&block(0, &Piece::Thinking("I wonder.".into(), "sig")));
    world.chunk(&open(1, &text("")));
    world
}

fn write(world: &mut World, words: &str) {
    let delta = json!({"type": "text_delta", "text": words});
    world.chunk(&event(
        json!({"type": "content_block_delta", "index": 1, "delta": delta}),
    ));
}

/// The text and the reasoning of the answers that were cut off, as the user is told.
fn told(world: &World) -> Vec<(String, String)> {
    let cut_off = |kind: &EventKind| match kind {
        EventKind::AnswerCutOff { text, reasoning } => Some((text.clone(), reasoning.clone())),
        _ => None,
    };
    let kinds = world.events.iter().map(|event| &event.kind);
    kinds.filter_map(cut_off).collect()
}

fn streamed_bytes(world: &World) -> usize {
    let is_text = |fact: &Fact| matches!(fact, Fact::Streamed { .. });
    let entries = world.entries.iter().filter(|entry| is_text(&entry.fact));
    entries.map(|entry| json::write(entry).len()).sum()
}

#[test]
fn long_text_that_was_cut_off_is_told_once_and_never_sent() {
    let mut world = world(json!({}));
    let mut written = String::new();
    for at in 0..2000 {
        let words = format!("word {at} ümläut ");
        write(&mut world, &words);
        written.push_str(&words);
    }
    let cost = streamed_bytes(&world);
    assert!(cost < written.len() * 5 / 4, "{cost} bytes for {}", written.len());
    let saves = world
        .entries
        .iter()
        .filter(|entry| matches!(entry.fact, Fact::Streamed { .. }));
    assert!(saves.count() <= written.len() / 4096 + 1);
    world.crash(setting());
    let [(text, reasoning)] = &told(&world)[..] else {
        panic!("{:?}", told(&world));
    };
    assert!(written.starts_with(text.as_str()) && text.len() + 4096 + 64 > written.len());
    assert_eq!(reasoning, "I wonder.");
    assert_eq!(
        world.requests[0], world.requests[1],
        "the same request goes out again"
    );
    world.respond(&stream(&[Piece::Text("Short.".into())], "end_turn"));
    assert_eq!(world.result()["text"], "Short.");
    assert!(!world.result()["messages"].to_string().contains("word 1"));
}

#[test]
fn short_text_goes_along_with_another_save_and_costs_none_of_its_own() {
    let mut world = world(json!({}));
    write(&mut world, "A few words.");
    assert_eq!(streamed_bytes(&world), 0);
    world.crash(setting());
    assert_eq!(told(&world), []);

    let mut world = self::world(json!({}));
    write(&mut world, "A few words.");
    let content = vec![Block::text("Hurry.")];
    world.input(Input::Steer { id: 1, content });
    world.crash(setting());
    assert_eq!(
        told(&world),
        [("A few words.".to_owned(), "I wonder.".to_owned())]
    );
    // Another process that is cut off has nothing new to tell.
    world.crash(setting());
    assert_eq!(told(&world).len(), 1, "the attempt that wrote it is over");
}

#[test]
fn text_of_a_failed_attempt_or_of_a_whole_answer_is_not_told() {
    let mut world = world(json!({}));
    write(&mut world, &"long ".repeat(1000));
    assert!(streamed_bytes(&world) > 0);
    world.network_failed();
    world.crash(setting());
    assert_eq!(told(&world), [], "it was taken back");

    let mut world = self::world(json!({}));
    write(&mut world, &"long ".repeat(1000));
    world.chunk(&event(json!({"type": "content_block_stop", "index": 1})));
    world.chunk(&crate::wire::end("end_turn", 5));
    world.end();
    assert_eq!(world.checkpoint.agents[0].streamed, []);
}

#[test]
fn text_that_is_held_back_is_not_kept_and_a_run_without_a_store_keeps_none() {
    let mut held = world(json!({"events": {"holdText": true}}));
    write(&mut held, &"long ".repeat(1000));
    assert_eq!(streamed_bytes(&held), 0);
    let mut without = world(json!({"journal": false}));
    write(&mut without, &"long ".repeat(1000));
    assert!(without.entries.is_empty());
}

/// The settings of a run that goes on from texts, with a model that does.
fn going_on(fields: Value) -> Settings {
    let mut all = json!({
        "answers": {"onCutOff": "continue"},
        "model": {"vendor": "anthropic", "model": "claude-sonnet-4-5", "slot": 1},
    });
    for (name, value) in fields.as_object().unwrap() {
        all[name] = value.clone();
    }
    config(json!([]), all)
}

/// An answer of one text that has begun, in a model's own format.
fn begun(fields: Value, words: &str) -> World {
    let mut world = World::started(going_on(fields));
    world.head(200, &[("content-type", "text/event-stream")]);
    world.chunk(&begin(10));
    world.chunk(&open(0, &text(words)));
    world
}

fn warnings(world: &World) -> Vec<String> {
    let warning = |kind: &EventKind| match kind {
        EventKind::Warning { code, message, .. } if code == "not_continued" => Some(message.clone()),
        _ => None,
    };
    let kinds = world.events.iter().map(|event| &event.kind);
    kinds.filter_map(warning).collect()
}

fn last_message(world: &World) -> Value {
    let body: Value = serde_json::from_str(world.requests.last().unwrap()).unwrap();
    body["messages"].as_array().unwrap().last().unwrap().clone()
}

fn long_text() -> String {
    (0..500).map(|at| format!("word {at} ümläut ")).collect()
}

#[test]
fn a_run_goes_on_from_the_text_that_another_process_has_kept() {
    let written = long_text();
    let mut world = begun(json!({}), &written);
    world.crash(going_on(json!({})));
    let kept = written.trim_end();
    assert_eq!(
        last_message(&world),
        json!({"role": "assistant", "content": [{"type": "text", "text": kept}]})
    );
    assert_eq!(world.delivered_text(), kept, "the new process tells it at once");
    world.respond(&stream(&[text(" and the rest.")], "end_turn"));
    let whole = format!("{kept} and the rest.");
    let result = world.result();
    assert_eq!(result["text"], whole);
    assert_eq!(world.delivered_text(), whole);
    assert_eq!(
        result["messages"][1]["content"],
        json!([{"type": "text", "text": whole}])
    );
    assert_eq!(result["messages"].as_array().unwrap().len(), 2);
    assert_eq!(warnings(&world), [] as [&str; 0]);
}

#[test]
fn a_text_grows_from_process_to_process() {
    let written = long_text();
    let mut world = begun(json!({}), &written);
    world.crash(going_on(json!({})));
    assert_eq!(last_message(&world)["content"][0]["text"], written.trim_end());
    world.head(200, &[]);
    let more = " more".repeat(1000);
    world.chunk(&(begin(10) + &open(0, &text(&more))));
    world.crash(going_on(json!({})));
    let kept = last_message(&world)["content"][0]["text"].clone();
    let whole = format!("{}{more}", written.trim_end());
    assert_eq!(kept, whole);
}

#[test]
fn an_answer_whose_connection_was_lost_goes_on_and_each_request_is_paid_for() {
    let mut world = begun(json!({}), "The first half of a long answer, and ");
    world.network_failed();
    world.pass(2000);
    let kept = "The first half of a long answer, and";
    assert_eq!(last_message(&world)["content"][0]["text"], kept);
    world.respond(&stream_with_usage(&[text(" the second.")], "end_turn", 20, 5));
    let result = world.result();
    assert_eq!(result["text"], format!("{kept} the second."));
    assert_eq!(world.delivered_text(), format!("{kept} the second."));
    assert_eq!(
        result["usage"]["inputTokens"], 30,
        "the first request has cost 10"
    );
}

#[test]
fn a_text_that_the_server_repeats_is_not_doubled() {
    let said = "The first half of a long answer, and";
    for (answer, whole) in [
        (format!("{said} the second."), format!("{said} the second.")),
        (said.to_owned(), said.to_owned()),
        ("The first of all.".into(), format!("{said}The first of all.")),
        ("The first".into(), format!("{said}The first")),
        (String::new(), said.to_owned()),
    ] {
        for pieces in [1, 2, 7] {
            let mut world = begun(json!({}), said);
            world.network_failed();
            world.pass(2000);
            world.head(200, &[]);
            world.chunk(&(begin(10) + &open(0, &text(""))));
            let size = answer.len().div_ceil(pieces).max(1);
            for piece in answer.as_bytes().chunks(size) {
                let piece = str::from_utf8(piece).unwrap();
                let delta = json!({"type": "text_delta", "text": piece});
                world.chunk(&event(
                    json!({"type": "content_block_delta", "index": 0, "delta": delta}),
                ));
            }
            world.chunk(&event(json!({"type": "content_block_stop", "index": 0})));
            world.chunk(&crate::wire::end("end_turn", 5));
            world.end();
            assert_eq!(world.result()["text"], whole, "{answer} in {pieces}");
            assert_eq!(world.delivered_text(), whole, "{answer} in {pieces}");
        }
    }
}

#[test]
fn a_call_or_reasoning_may_follow_the_text_that_was_kept() {
    let said = "The first half of a long answer.";
    let mut world = begun(json!({}), said);
    world.network_failed();
    world.pass(2000);
    let thought = Piece::Thinking("Hm.".into(), "sig");
    world.respond(&stream(&[thought, text("More.")], "end_turn"));
    let content = world.result()["messages"][1]["content"].clone();
    let kinds: Vec<&Value> = content
        .as_array()
        .unwrap()
        .iter()
        .map(|block| &block["type"])
        .collect();
    assert_eq!(kinds, ["text", "thinking", "text"]);
    assert_eq!(content[0]["text"], said);
}

#[test]
fn what_cannot_go_on_is_asked_for_again_and_a_warning_says_why() {
    let said = "The first half of a long answer.";
    let model = |name: &str, more: Value| {
        let mut model = json!({"vendor": "anthropic", "model": name, "slot": 1});
        for (name, value) in more.as_object().unwrap() {
            model[name] = value.clone();
        }
        json!({"model": model})
    };
    let format = json!({"schema": {"type": "object"}, "name": "a", "strict": false});
    for (fields, why) in [
        (model("claude-opus-4-6", json!({})), "not known to continue"),
        (model("claude-sonnet-5", json!({})), "not known to continue"),
        (
            model("claude-sonnet-4-5", json!({"thinking": {"budgetTokens": 2000}})),
            "not known to continue",
        ),
        (
            model("claude-sonnet-4-5", json!({"responseFormat": format})),
            "schema",
        ),
    ] {
        let mut world = begun(fields.clone(), said);
        world.network_failed();
        world.pass(2000);
        assert_eq!(world.requests[0], world.requests[1], "{fields}");
        assert!(warnings(&world)[0].contains(why), "{:?}", warnings(&world));
        world.respond(&stream(&[text("All of it.")], "end_turn"));
        assert_eq!(world.result()["text"], "All of it.");
    }
    let mut world = begun(json!({}), said);
    world.chunk(&crate::wire::block(1, &crate::wire::call("a", "add", json!({}))));
    world.network_failed();
    world.pass(2000);
    assert_eq!(world.requests[0], world.requests[1]);
    assert!(warnings(&world)[0].contains("more than text"));

    let mut world = begun(json!({}), "Too short.");
    world.network_failed();
    world.pass(2000);
    assert_eq!(world.requests[0], world.requests[1]);
    assert_eq!(warnings(&world), [] as [&str; 0]);

    let mut world = begun(json!({"answers": {"onCutOff": "again"}}), said);
    world.network_failed();
    world.pass(2000);
    assert_eq!(world.requests[0], world.requests[1]);
}

#[test]
fn a_model_that_refuses_to_go_on_is_asked_for_the_whole_answer_from_then_on() {
    let said = "The first half of a long answer.";
    let mut world = begun(json!({}), said);
    world.network_failed();
    world.pass(2000);
    let error =
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": "No prefill."}});
    world.refuse(400, &[], &error.to_string());
    assert_eq!(world.requests.len(), 3);
    assert_eq!(world.requests[0], world.requests[2]);
    assert!(warnings(&world)[0].contains("No prefill."));
    world.head(200, &[]);
    world.chunk(&(begin(10) + &open(0, &text(said))));
    world.network_failed();
    world.pass(8000);
    assert_eq!(world.requests[0], world.requests[3]);
    world.respond(&stream(&[text("All of it.")], "end_turn"));
    assert_eq!(world.result()["text"], "All of it.");
    assert_eq!(world.delivered_text(), "All of it.");
}

#[test]
fn a_refusal_to_go_on_is_known_to_the_process_that_comes_next() {
    let mut world = begun(json!({}), &long_text());
    world.network_failed();
    world.pass(2000);
    world.refuse(
        400,
        &[],
        r#"{"type": "error", "error": {"message": "No prefill."}}"#,
    );
    world.head(200, &[]);
    world.chunk(&(begin(10) + &open(0, &text(&long_text()))));
    world.crash(going_on(json!({})));
    assert_eq!(world.requests[0], world.requests[3]);
    assert!(warnings(&world).last().unwrap().contains("has refused to"));
}

#[test]
fn each_protocol_and_server_gets_the_beginning_in_its_own_form() {
    let said = "The first half of a long answer.";
    let quirks = |prefill: Value| json!({"vendor": "compatible", "baseUrl": "https://example.com/v1", "model": "m", "quirks": {"prefill": prefill}});
    let chat = |fields: Value| {
        let mut message = json!({"role": "assistant", "content": said});
        for (name, value) in fields.as_object().unwrap() {
            message[name] = value.clone();
        }
        message
    };
    let rows = [
        (
            quirks(json!({"message": {"prefix": true}})),
            "messages",
            chat(json!({"prefix": true})),
        ),
        (
            quirks(json!({"body": {"continue_final_message": true, "add_generation_prompt": false}})),
            "messages",
            chat(json!({})),
        ),
        (
            json!({"vendor": "google", "model": "gemini-2.5-flash"}),
            "contents",
            json!({"role": "model", "parts": [{"text": said}]}),
        ),
        (
            json!({"vendor": "bedrock", "model": "us.anthropic.claude-haiku-4-5-20251001-v1:0"}),
            "messages",
            json!({"content": [{"text": said}], "role": "assistant"}),
        ),
    ];
    for (model, list, expected) in rows {
        let mut world = begun(json!({}), said);
        let settings = going_on(json!({"model": model}));
        world.input(Input::Steer {
            id: 1,
            content: vec![Block::text("Hurry.")],
        });
        world.crash(settings);
        let body: Value = serde_json::from_str(world.requests.last().unwrap()).unwrap();
        assert_eq!(body[list].as_array().unwrap().last(), Some(&expected), "{model}");
        assert_eq!(
            body["continue_final_message"],
            model["quirks"]["prefill"]["body"]["continue_final_message"]
        );
    }
}
