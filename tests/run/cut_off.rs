//! Text of an answer that the end of a process has cut off: kept for the record, told once, never sent.

use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::Input;
use looplet::engine::model::journal::Fact;
use looplet::engine::model::json;
use looplet::engine::model::message::Block;
use serde_json::{Value, json};

use crate::wire::{Piece, begin, block, event, open, stream, text};
use crate::world::{Settings, World, config};

fn setting() -> Settings {
    config(json!([]), json!({}))
}

/// A run whose answer has begun with reasoning.
fn world(fields: Value) -> World {
    let mut world = World::started(config(json!([]), fields));
    world.round_trips = false;
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
    let mut held = world(json!({"holdText": true}));
    write(&mut held, &"long ".repeat(1000));
    assert_eq!(streamed_bytes(&held), 0);
    let mut without = world(json!({"journal": false}));
    write(&mut without, &"long ".repeat(1000));
    assert!(without.entries.is_empty());
}
