//! An answer that the provider goes on with when nobody listens: OpenAI Responses with `background`.

use looplet::engine::model::event::EventKind;
use looplet::engine::model::json as engine_json;
use serde_json::{Value, json};

use crate::wire::event;
use crate::world::{Settings, World, config};

fn setting(fields: Value) -> Settings {
    let mut all = json!({
        "model": {
            "vendor": "openai", "model": "gpt-5", "protocol": "openai_responses", "slot": 1,
            "body": {"background": true},
        },
    });
    for (name, value) in fields.as_object().unwrap() {
        all[name] = value.clone();
    }
    config(json!([]), all)
}

const URL: &str = "https://api.openai.com/v1/responses";

fn created() -> String {
    event(json!({"type": "response.created", "sequence_number": 0, "response": {"id": "resp_1/é"}}))
        + &event(json!({
            "type": "response.output_item.added", "sequence_number": 1, "output_index": 0,
            "item": {"type": "message", "id": "m", "role": "assistant", "content": []},
        }))
}

fn delta(number: u32, words: &str) -> String {
    event(json!({
        "type": "response.output_text.delta", "sequence_number": number, "output_index": 0, "content_index": 0,
        "delta": words,
    }))
}

fn completed(number: u32, words: &str) -> String {
    let message = json!({
        "type": "message", "id": "m", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": words, "annotations": []}],
    });
    let done = json!({
        "type": "response.output_item.done", "sequence_number": number, "output_index": 0, "item": message,
    });
    let response = json!({
        "id": "resp_1/é", "status": "completed", "output": [message],
        "usage": {"input_tokens": 10, "output_tokens": 5},
    });
    event(done)
        + &event(json!({"type": "response.completed", "sequence_number": number + 1, "response": response}))
}

/// A run whose answer has begun.
fn begun(fields: Value) -> World {
    let mut world = World::started(setting(fields));
    world.head(200, &[("content-type", "text/event-stream")]);
    world.chunk(&(created() + &delta(2, "The first half")));
    world
}

fn asked(world: &World) -> Vec<(String, String)> {
    let address =
        |sent: &looplet::engine::model::output::HttpRequest| (sent.method.clone(), sent.url.clone());
    world.sent.iter().map(address).collect()
}

fn names(world: &World, name: &str) -> usize {
    world.event_names().iter().filter(|other| *other == name).count()
}

#[test]
fn a_request_in_the_background_is_stored() {
    let world = World::started(setting(json!({})));
    let body: Value = serde_json::from_str(&world.requests[0]).unwrap();
    assert_eq!(
        (&body["background"], &body["store"]),
        (&json!(true), &json!(true))
    );
}

#[test]
fn a_lost_connection_goes_on_behind_the_last_event() {
    let mut world = begun(json!({}));
    // A part of an event does not count.
    let next = delta(3, " of it");
    world.chunk(&next[..next.len() - 9]);
    world.network_failed();
    world.pass(2000);
    let rest = format!("{URL}/resp_1%2F%C3%A9?stream=true&starting_after=2");
    assert_eq!(asked(&world)[1], ("GET".to_owned(), rest));
    assert_eq!(world.requests[1], "");
    world.head(200, &[]);
    world.chunk(&(next + &delta(4, ", and the second.")));
    world.chunk(&completed(5, "The first half of it, and the second."));
    world.end();
    let result = world.result();
    assert_eq!(result["text"], "The first half of it, and the second.");
    assert_eq!(world.delivered_text(), "The first half of it, and the second.");
    assert_eq!(names(&world, "reset"), 0, "nothing is taken back");
    assert_eq!(result["usage"]["inputTokens"], 10, "paid for once");
    assert_eq!(result["usage"]["outputTokens"], 5);
    assert_eq!(result["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn a_stream_that_stops_or_ends_early_goes_on_and_may_be_lost_again() {
    let mut world = begun(json!({"timeouts": {"chunkMs": 1000}}));
    world.pass(1000);
    world.pass(2000);
    world.head(200, &[]);
    world.chunk(&delta(3, " of it"));
    world.end();
    world.pass(5000);
    assert!(asked(&world)[1].1.ends_with("&starting_after=2"), "a timeout");
    assert!(asked(&world)[2].1.ends_with("&starting_after=3"), "an early end");
    world.head(200, &[]);
    world.chunk(&completed(4, "The first half of it"));
    world.end();
    assert_eq!(world.result()["text"], "The first half of it");
    assert_eq!(world.delivered_text(), "The first half of it");
}

#[test]
fn another_process_gets_the_whole_stream_of_the_same_answer() {
    let mut world = begun(json!({}));
    let kept = world
        .entries
        .iter()
        .any(|entry| engine_json::write(entry).contains("resp_1/é"));
    assert!(kept, "before anything else happens");
    world.crash(setting(json!({})));
    let whole = format!("{URL}/resp_1%2F%C3%A9?stream=true");
    assert_eq!(asked(&world)[1], ("GET".to_owned(), whole));
    world.head(200, &[]);
    world.chunk(&(created() + &delta(2, "The first half")));
    // It may be lost here too.
    world.network_failed();
    world.pass(8000);
    assert!(asked(&world)[2].1.ends_with("&starting_after=2"));
    world.head(200, &[]);
    world.chunk(&completed(3, "The first half"));
    world.end();
    assert_eq!(world.result()["text"], "The first half");
    assert_eq!(world.result()["usage"]["inputTokens"], 10);
}

#[test]
fn an_id_of_dots_is_no_part_of_a_url() {
    for id in [".", ".."] {
        let mut world = World::started(setting(json!({})));
        world.head(200, &[("content-type", "text/event-stream")]);
        world.chunk(&(created().replace("resp_1/é", id) + &delta(2, "The first half")));
        world.network_failed();
        world.pass(2000);
        assert_eq!(asked(&world)[1], ("POST".to_owned(), URL.to_owned()), "{id}");

        let mut world = begun(json!({}));
        for agent in &mut world.checkpoint.agents {
            agent.state.requests.background = Some(id.to_owned());
        }
        world.crash(setting(json!({})));
        assert_eq!(asked(&world)[1], ("POST".to_owned(), URL.to_owned()), "{id}");
    }
}

#[test]
fn an_answer_that_the_provider_does_not_know_is_asked_for_anew() {
    let mut world = begun(json!({}));
    world.network_failed();
    world.pass(2000);
    world.refuse(
        404,
        &[],
        r#"{"error": {"message": "Response with id 'resp_1' not found."}}"#,
    );
    assert_eq!(asked(&world)[2], ("POST".to_owned(), URL.to_owned()));
    assert_eq!(world.requests[2], world.requests[0]);
    assert_eq!(names(&world, "reset"), 1);
    let warned = world.events.iter().any(|event| {
        matches!(&event.kind, EventKind::Warning { code, message, .. } if code == "not_continued" && message.contains("not found"))
    });
    assert!(warned);
    world.head(200, &[]);
    world.chunk(&(created() + &completed(2, "All of it.")));
    world.end();
    assert_eq!(world.result()["text"], "All of it.");
    assert_eq!(world.delivered_text(), "All of it.");
}

#[test]
fn what_the_provider_itself_ends_is_asked_for_anew() {
    let mut world = begun(json!({}));
    let failed = json!({
        "type": "response.failed", "sequence_number": 3,
        "response": {"id": "resp_1/é", "status": "failed", "error": {"code": "server_error", "message": "Sorry."}},
    });
    world.chunk(&event(failed));
    world.pass(5000);
    assert_eq!(asked(&world)[1], ("POST".to_owned(), URL.to_owned()));
}

#[test]
fn an_abort_keeps_what_has_come_while_the_rest_is_waited_for() {
    let mut world = begun(json!({}));
    world.network_failed();
    world.cancel();
    assert_eq!(world.result()["outcome"], "cancelled");
    assert_eq!(world.result()["text"], "The first half");
}

#[test]
fn without_background_the_request_is_sent_again() {
    let model = json!({"vendor": "openai", "model": "gpt-5", "protocol": "openai_responses", "slot": 1});
    let mut world = begun(json!({"model": model}));
    world.network_failed();
    world.pass(2000);
    assert_eq!(asked(&world)[1], ("POST".to_owned(), URL.to_owned()));
    assert!(world.requests[1].contains(r#""store":false"#));
}

#[test]
fn another_model_is_asked_for_an_answer_of_its_own() {
    let fallback = json!({
        "vendor": "openai", "model": "gpt-5-mini", "protocol": "openai_responses", "slot": 2,
        "body": {"background": true},
    });
    let mut world = begun(json!({"fallbackModels": [fallback], "retry": {"maxRetries": 0}}));
    world.network_failed();
    assert_eq!(asked(&world)[1], ("POST".to_owned(), URL.to_owned()));
    let body: Value = serde_json::from_str(&world.requests[1]).unwrap();
    assert_eq!(body["model"], "gpt-5-mini");
    assert_eq!(
        names(&world, "reset"),
        1,
        "the text of the first model is taken back"
    );
}
