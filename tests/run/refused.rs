//! Responses that are no answer: redirects, errors whose bodies do not end, and answers beyond the limits.

use looplet::engine::json::checksum::crc32;
use looplet::engine::model::input::Input;
use serde_json::json;

use crate::wire::{begin, call, event, stream, text};
use crate::world::{World, config, tool};

fn world() -> World {
    World::started(config(json!([tool("add", json!({}))]), json!({})))
}

#[test]
fn a_redirect_fails_at_its_head_and_is_neither_retried_nor_left_to_another_model() {
    for status in [301, 302, 303, 307, 308] {
        let models = json!([{"vendor": "openai", "model": "other"}]);
        let options = json!({"fallbackModels": models, "retry": {"maxModelCallRetries": 2}});
        let mut world = World::started(config(json!([]), options));
        world.head(
            status,
            &[("Location", "https://other.test"), ("request-id", "req_1")],
        );
        let error = &world.result()["error"];
        assert_eq!(
            (
                &error["code"],
                &error["status"],
                &error["requestId"],
                &error["retryable"]
            ),
            (
                &json!("redirected"),
                &json!(status),
                &json!("req_1"),
                &json!(false)
            )
        );
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("https://other.test"), "{message}");
        assert_eq!((world.requests.len(), world.aborted_requests.len()), (1, 1));
    }
}

#[test]
fn an_error_is_read_for_ten_seconds_however_its_body_drips() {
    let mut world = world();
    world.head(401, &[]);
    for _ in 0..9 {
        world.pass(1000);
        world.chunk("no key ");
    }
    assert_eq!(world.result()["outcome"], json!(null));
    world.pass(1000);
    let error = &world.result()["error"];
    assert_eq!((&error["code"], &error["status"]), (&json!("auth"), &json!(401)));
    assert!(error["message"].as_str().unwrap().contains("no key no key"));
    assert_eq!(world.aborted_requests.len(), 1);
}

#[test]
fn an_error_is_read_up_to_64_kib() {
    let mut world = world();
    world.head(400, &[]);
    world.chunk(&"x".repeat((64 << 10) - 1));
    assert_eq!(world.result()["outcome"], json!(null));
    world.chunk("xx");
    assert_eq!(world.result()["error"]["code"], "invalid_request");
    assert_eq!(world.aborted_requests.len(), 1);
}

/// Bodies with status 200 that are no answer, in a stream and whole.
const PAGES: [(&str, bool); 4] = [
    ("<html><p>Log in", true),
    ("<!doctype html>", false),
    ("Bad Gateway", false),
    ("\u{1F}gz", true),
];

#[test]
fn a_page_with_status_200_is_read_for_ten_seconds_however_it_drips() {
    for (page, stream) in PAGES {
        let model = json!({"vendor": "anthropic", "model": "claude-test", "stream": stream});
        let mut world = World::started(config(
            json!([]),
            json!({"model": model, "retry": {"maxRetries": 0}}),
        ));
        world.head(200, &[]);
        world.chunk(page);
        for _ in 0..9 {
            world.pass(1000);
            world.chunk(" more");
        }
        assert_eq!(world.result()["outcome"], json!(null), "{page}");
        world.pass(1000);
        assert_eq!(world.result()["error"]["code"], "malformed_stream", "{page}");
        assert_eq!(world.aborted_requests.len(), 1);
    }
}

#[test]
fn a_page_with_status_200_is_read_up_to_64_kib() {
    for (page, stream) in PAGES {
        let model = json!({"vendor": "anthropic", "model": "claude-test", "stream": stream});
        let mut world = World::started(config(
            json!([]),
            json!({"model": model, "retry": {"maxRetries": 0}}),
        ));
        world.head(200, &[]);
        world.chunk(page);
        world.chunk(&"x".repeat(64 << 10));
        assert_eq!(world.result()["error"]["code"], "malformed_stream", "{page}");
        assert_eq!(world.aborted_requests.len(), 1);
    }
}

#[test]
fn options_limit_the_time_and_the_bytes_of_an_error() {
    let options = json!({"answers": {"maxErrorBodyBytes": 4}, "timeouts": {"errorBodyMs": 2_000}});
    let refused = || {
        let mut world = World::started(config(json!([]), options.clone()));
        world.head(400, &[]);
        world.chunk("no");
        assert_eq!(world.result()["outcome"], json!(null));
        world
    };
    let mut long = refused();
    long.chunk("pe, not at all");
    assert_eq!(long.aborted_requests.len(), 1);
    let message = long.result()["error"]["message"].to_string();
    assert!(
        message.contains("nope") && !message.contains("not at all"),
        "{message}"
    );
    let mut slow = refused();
    slow.pass(2_000);
    assert_eq!(slow.result()["error"]["code"], "invalid_request");
}

#[test]
fn an_option_limits_one_event_and_a_whole_body_in_every_framing() {
    let event = |bytes: usize| "x".repeat(bytes);
    let prelude = [0, 0, 4, 1, 0, 0, 0, 0];
    let mut binary = prelude.to_vec();
    binary.extend(crc32(&prelude).to_be_bytes());
    let anthropic = json!({"vendor": "anthropic", "model": "m"});
    let bedrock = json!({"vendor": "bedrock", "model": "m", "baseUrl": "https://b.test"});
    let custom = json!({"vendor": "custom", "model": "m"});
    for (model, stream, body) in [
        (
            &anthropic,
            true,
            ["data: ".to_owned(), event(1025)].concat().into_bytes(),
        ),
        (&custom, true, event(1025).into_bytes()),
        (&bedrock, true, binary),
        (
            &anthropic,
            false,
            ["{".to_owned(), event(1025)].concat().into_bytes(),
        ),
    ] {
        for (most, fails) in [(1024, true), (1 << 20, false)] {
            let mut model = model.clone();
            model["stream"] = json!(stream);
            let options =
                json!({"model": model, "answers": {"maxEventBytes": most}, "retry": {"maxRetries": 0}});
            let mut world = World::started(config(json!([]), options));
            world.head(200, &[]);
            world.input(Input::Chunk {
                request: world.request(),
                bytes: &body,
            });
            let error = world.result()["error"]["message"].to_string();
            assert_eq!(
                error.contains("answers.maxEventBytes (1024)"),
                fails,
                "{model} {error}"
            );
        }
    }
}

#[test]
fn an_error_whose_connection_breaks_is_still_that_error() {
    let mut world = world();
    world.head(401, &[]);
    world.chunk("wrong key");
    world.network_failed();
    assert_eq!(world.result()["error"]["code"], "auth");
}

/// A delta of one MiB for an open block.
fn mebibyte(kind: &str, field: &str) -> String {
    let mut delta = json!({"type": kind});
    delta[field] = json!("x".repeat(1 << 20));
    event(json!({"type": "content_block_delta", "index": 0, "delta": delta}))
}

#[test]
fn an_answer_has_up_to_32_mib_of_text_and_64_mib_of_arguments() {
    let call = json!({"type": "tool_use", "id": "t", "name": "add", "input": {}});
    for (block, kind, field, most) in [
        (json!({"type": "text", "text": ""}), "text_delta", "text", 32),
        (
            json!({"type": "thinking", "thinking": ""}),
            "thinking_delta",
            "thinking",
            32,
        ),
        (call, "input_json_delta", "partial_json", 64),
    ] {
        let delta = mebibyte(kind, field);
        let mut world = world();
        world.head(200, &[]);
        let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
        world.chunk(&(begin(10) + &event(start)));
        for _ in 0..most {
            world.chunk(&delta);
        }
        assert_eq!(world.result()["outcome"], json!(null), "{kind}");
        world.chunk(&delta);
        let error = &world.result()["error"];
        assert_eq!(
            (&error["code"], &error["retryable"]),
            (&json!("malformed_stream"), &json!(false)),
            "{kind}"
        );
        let words = format!("({}) allows", most << 20);
        assert!(error["message"].as_str().unwrap().contains(&words), "{error}");
    }
}

#[test]
fn options_limit_the_text_and_the_arguments_of_an_answer() {
    for (option, piece, bytes) in [
        ("maxTextBytes", text("Hello"), 5),
        ("maxArgumentBytes", call("t", "add", json!({})), 2),
    ] {
        let respond = |most: u32| {
            let mut world = World::started(config(
                json!([tool("add", json!({}))]),
                json!({"answers": {option: most}}),
            ));
            world.head(200, &[]);
            world.chunk(&stream(std::slice::from_ref(&piece), "end_turn"));
            world
        };
        assert_eq!(respond(bytes).result()["outcome"], json!(null), "{option}");
        let error = respond(bytes - 1).result()["error"].clone();
        assert_eq!(error["code"], "malformed_stream", "{option}");
        assert!(error["message"].as_str().unwrap().contains(option), "{error}");
    }
}

#[test]
fn an_answer_may_not_be_longer_than_javascript_can_hold() {
    for (option, most) in [
        ("maxTextBytes", 64_u32 << 20),
        ("maxArgumentBytes", 128 << 20),
        ("maxEventBytes", 256 << 20),
        ("maxErrorBodyBytes", 64 << 20),
    ] {
        let open = |bytes: u32| {
            config(json!([]), json!({"answers": {option: bytes}}))
                .open()
                .map(|_| ())
        };
        assert!(open(most).is_ok());
        let error = open(most + 1).unwrap_err();
        assert_eq!(error.field, format!("answers.{option}"));
        assert!(error.problem.contains(&most.to_string()), "{error:?}");
    }
}
