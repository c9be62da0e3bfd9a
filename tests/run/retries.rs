use looplet::engine::model::error::FailureCode;
use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::Input;
use serde_json::json;

use crate::wire::{begin, call, event, open, stream, text};
use crate::world::{World, config, tool};

const OVERLOADED: &str = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;

fn world() -> World {
    World::started(config(json!([tool("add", json!({}))]), json!({})))
}

#[test]
fn s000_19_a_rate_limit_is_waited_out_three_times_and_then_fails() {
    let mut world = world();
    let body = r#"{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}"#;
    for wait_ms in [2000, 4000, 8000] {
        world.refuse(429, &[("request-id", "req_9")], body);
        let sent = world.requests.len();
        world.pass(wait_ms - 1);
        assert_eq!(world.requests.len(), sent);
        world.pass(1);
        assert_eq!(world.requests.len(), sent + 1);
    }
    world.refuse(429, &[("request-id", "req_9")], body);
    let error = &world.result()["error"];
    assert_eq!(world.result()["outcome"], "failed");
    assert_eq!(
        (&error["code"], &error["status"]),
        (&json!("rate_limit"), &json!(429))
    );
    assert_eq!(
        (&error["requestId"], &error["vendor"]),
        (&json!("req_9"), &json!("anthropic"))
    );
    assert!(error["message"].as_str().unwrap().contains("Slow down"));
    assert!(
        world.requests.windows(2).all(|pair| pair[0] == pair[1]),
        "a retry sends the same bytes"
    );
}

#[test]
fn p_13_the_server_says_how_long_to_wait() {
    for (headers, wait_ms) in [
        ([("retry-after", "7")], 7000),
        ([("retry-after-ms", "9500")], 9500),
        ([("Retry-After", "Thu, 01 Jan 1970 00:16:50 GMT")], 10_000),
    ] {
        let mut world = world();
        world.refuse(529, &headers, OVERLOADED);
        world.pass(wait_ms - 1);
        assert_eq!(world.requests.len(), 1, "{headers:?}");
        world.pass(1);
        assert_eq!(world.requests.len(), 2, "{headers:?}");
    }
}

#[test]
fn p_13_what_the_server_refuses_is_not_tried_again_and_what_it_fails_at_is() {
    for status in [400, 401, 402, 403, 404, 405, 410, 413, 422, 451] {
        let mut world = world();
        world.refuse(status, &[], "{}");
        assert_eq!(world.result()["outcome"], "failed", "{status}");
        assert_eq!(world.requests.len(), 1, "{status}");
    }
    for status in [429, 500, 502, 503, 504, 529] {
        let mut world = world();
        world.refuse(status, &[], "{}");
        world.pass(2000);
        assert_eq!(world.requests.len(), 2, "{status}");
    }
}

#[test]
fn a_key_that_is_refused_is_not_tried_again() {
    let mut world = world();
    world.refuse(
        401,
        &[],
        r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
    );
    assert_eq!(world.result()["outcome"], "failed");
    assert_eq!(world.result()["error"]["code"], "auth");
}

#[test]
fn a_lost_connection_is_tried_again() {
    let mut world = world();
    world.network_failed();
    world.pass(2000);
    world.respond(&stream(&[text("Hi.")], "end_turn"));
    assert_eq!(world.result()["text"], "Hi.");
    assert!(world.events.iter().filter(|event| event.attempt == 2).count() > 3);
}

#[test]
fn what_cannot_be_sent_is_not_tried_again() {
    let mut world = world();
    let request = world.request();
    world.input(Input::NotSent {
        request,
        code: FailureCode::ConfigInvalid,
        why: "authorize threw".into(),
    });
    assert_eq!(world.result()["error"]["code"], "config_invalid");
}

#[test]
fn an_error_event_after_partial_text_resets_it_and_starts_over() {
    let mut world = world();
    world.head(200, &[]);
    world.chunk(&(begin(10) + &open(0, &text("Half of "))));
    world.chunk(&event(serde_json::from_str(OVERLOADED).unwrap()));
    world.open_request = None;
    let reset = world.events.iter().find_map(|event| match &event.kind {
        EventKind::Reset { blocks } => Some((blocks.clone(), event.attempt)),
        _ => None,
    });
    assert_eq!(reset, Some((vec![0], 1)));
    world.pass(2000);
    assert!(!world.requests[1].contains("Half of"));
    world.respond(&stream(&[text("All of it.")], "end_turn"));
    assert_eq!(world.result()["text"], "All of it.");
    assert_eq!(world.delivered_text(), "All of it.");
    assert_eq!(world.result()["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn after_the_last_attempt_the_partial_text_stays() {
    let mut world = World::started(config(json!([]), json!({"retry": {"maxRetries": 0}})));
    world.head(200, &[]);
    world.chunk(&(begin(10) + &open(0, &text("Half of "))));
    world.network_failed();
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["text"]),
        (&json!("failed"), &json!("Half of "))
    );
    assert_eq!(result["messages"][1]["partial"], true);
    assert_eq!(result["usage"]["inputTokens"], 10);
}

#[test]
fn a_stream_that_is_cut_off_is_no_answer() {
    let mut world = World::started(config(json!([]), json!({"retry": {"maxRetries": 0}})));
    world.head(200, &[("request-id", "req_2")]);
    world.chunk(&(begin(10) + &open(0, &text("Half"))));
    world.end();
    let error = &world.result()["error"];
    assert_eq!(
        (&error["code"], &error["requestId"]),
        (&json!("malformed_stream"), &json!("req_2"))
    );
    assert_eq!(error["retryable"], true);
}

#[test]
fn a_body_that_is_no_stream_is_shown() {
    let page = format!("<!doctype html><title>Sign in</title>{}", "x".repeat(1000));
    for body in [
        page.as_str(),
        "",
        "hello",
        r#"{"error":{"type":"api_error","message":"broken"}}"#,
    ] {
        let mut world = World::started(config(json!([]), json!({"retry": {"maxRetries": 0}})));
        world.refuse(
            200,
            &[("request-id", "req_3"), ("content-type", "text/html")],
            body,
        );
        let error = &world.result()["error"];
        assert_eq!(world.result()["outcome"], "failed", "{body}");
        assert_eq!(
            (&error["status"], &error["requestId"]),
            (&json!(200), &json!("req_3")),
            "{body}"
        );
        assert_eq!(error["vendor"], "anthropic");
        if body.starts_with('<') {
            assert_eq!(error["body"].as_str().unwrap().chars().count(), 500);
            assert!(error["message"].as_str().unwrap().contains("is an HTML page"));
        }
    }
}

#[test]
fn a_stream_that_stalls_fails_as_retryable() {
    let mut world = world();
    world.head(200, &[]);
    world.chunk(&begin(10));
    world.pass(119_999);
    assert_eq!(world.requests.len(), 1);
    world.pass(1 + 2000);
    assert_eq!(world.aborted_requests.len(), 1);
    assert_eq!(world.requests.len(), 2);
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let mut world = World::started(config(json!([]), json!({"retry": {"maxRetries": 0}})));
    world.pass(600_000);
    assert_eq!(world.result()["error"]["code"], "timeout");
    assert_eq!(world.aborted_requests.len(), 1);
}

#[test]
fn tools_that_have_run_do_not_run_again() {
    let mut world = world();
    world.respond(&stream(&[call("a", "add", json!({}))], "tool_use"));
    world.return_value("a", json!(1));
    world.network_failed();
    world.pass(2000);
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.tool_log, ["start a", "end a"]);
    assert_eq!(world.result()["iterations"], 2);
}

/// The waits before each further request while the network refuses every one.
fn waits_of_a_refusing_network(world: &mut World) -> Vec<u64> {
    let mut waits = Vec::new();
    while world.done.is_none() {
        world.network_failed();
        let (sent, from) = (world.requests.len(), world.now_ms);
        while world.done.is_none() && world.requests.len() == sent {
            world.pass(100);
        }
        if world.requests.len() > sent {
            waits.push(world.now_ms - from);
        }
    }
    waits
}

#[test]
fn a_network_that_refuses_the_first_request_is_given_three_seconds() {
    assert_eq!(waits_of_a_refusing_network(&mut world()), [1000, 1000, 1000]);
    let chain = json!({"fallbackModels": [{"vendor": "openai", "model": "other"}]});
    let mut chain = World::started(config(json!([]), chain));
    while chain.done.is_none() {
        chain.network_failed();
        chain.pass(500);
    }
    let waits = chain.events.iter().filter_map(|event| match event.kind {
        EventKind::Retry { delay_ms, .. } => Some(delay_ms),
        _ => None,
    });
    assert_eq!(waits.sum::<u64>(), 3000, "all models together");
    let listed = json!({"retry": {"delaysMs": [1500, 4000], "jitterMs": 0}});
    let mut listed = World::started(config(json!([]), listed));
    assert_eq!(waits_of_a_refusing_network(&mut listed), [1500, 4000, 4000]);
}

#[test]
fn a_network_that_has_worked_is_given_the_usual_time() {
    let mut refused = world();
    refused.refuse(529, &[], OVERLOADED);
    refused.pass(2000);
    assert_eq!(waits_of_a_refusing_network(&mut refused), [4000, 8000]);
    let mut answered = world();
    answered.respond(&stream(&[call("a", "add", json!({}))], "tool_use"));
    answered.return_value("a", json!(1));
    assert_eq!(waits_of_a_refusing_network(&mut answered), [2000, 4000, 8000]);
}
