//! The sentence of a failed model call: vendor, model, status, code and address, and then the words of the other
//! side.

use looplet::engine::model::error::FailureCode;
use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::Input;
use serde_json::{Value, json};

use crate::wire::{begin, open, text};
use crate::world::{World, config};

const OVERLOADED: &str = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
const MISSING: &str = r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-x."}}"#;

fn world(model: Value) -> World {
    let mut asked = json!({"vendor": "anthropic", "model": "claude-x"});
    for (key, value) in model.as_object().unwrap() {
        asked[key] = value.clone();
    }
    World::started(config(
        json!([]),
        json!({"model": asked, "retry": {"maxRetries": 0}}),
    ))
}

fn error(world: &World) -> Value {
    world.result()["error"].clone()
}

fn refused(model: Value, status: u16, body: &str) -> Value {
    let mut world = world(model);
    world.refuse(status, &[], body);
    error(&world)
}

#[test]
fn the_message_of_a_refusal_names_vendor_model_status_code_and_address() {
    let refusal = refused(json!({}), 529, OVERLOADED);
    assert_eq!(
        refusal["message"],
        "anthropic claude-x answered 529 overloaded at https://api.anthropic.com/v1/messages: Overloaded"
    );
    assert_eq!(
        (&refusal["vendor"], &refusal["model"], &refusal["url"]),
        (
            &json!("anthropic"),
            &json!("claude-x"),
            &json!("https://api.anthropic.com/v1/messages")
        )
    );
}

#[test]
fn the_address_is_told_without_its_query() {
    let gemini = json!({"vendor": "google", "model": "gemini-3"});
    let refusal = refused(
        gemini,
        503,
        r#"{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}"#,
    );
    assert_eq!(
        refusal["message"],
        "google gemini-3 answered 503 overloaded at https://generativelanguage.googleapis.com/v1beta/models/gemini-3:streamGenerateContent: busy"
    );
}

#[test]
fn a_body_without_a_message_is_told_by_its_kind() {
    for (status, body, words) in [
        (
            502,
            "<html>Bad gateway</html>",
            "502 server at https://api.anthropic.com/v1/messages: an HTML page",
        ),
        (
            500,
            "",
            "500 server at https://api.anthropic.com/v1/messages: no message",
        ),
        (
            503,
            "upstream connect error",
            "503 overloaded at https://api.anthropic.com/v1/messages: upstream connect error",
        ),
    ] {
        let refusal = refused(json!({}), status, body);
        assert_eq!(refusal["message"], format!("anthropic claude-x answered {words}"));
    }
}

#[test]
fn a_404_says_which_address_was_asked_and_what_to_check() {
    let base_url = json!({"baseUrl": "https://gateway.example/api/"});
    assert_eq!(
        refused(base_url, 404, MISSING)["message"],
        "anthropic claude-x answered 404 not_found at https://gateway.example/api/v1/messages: model: claude-x. Check baseUrl and the model's name."
    );
    let inside = json!({"vendor": "compatible", "baseUrl": "http://language-model.invalid"});
    assert_eq!(
        refused(inside, 404, r#"{"error":{"message":"There is no model here."}}"#)["message"],
        "compatible claude-x answered 404 not_found: There is no model here."
    );
}

#[test]
fn an_error_within_a_stream_has_the_facts_too() {
    let mut world = world(json!({}));
    world.head(200, &[]);
    world.chunk(&format!("event: error\ndata: {OVERLOADED}\n\n"));
    assert_eq!(
        error(&world)["message"],
        "anthropic claude-x answered 200 overloaded at https://api.anthropic.com/v1/messages: Overloaded"
    );
}

#[test]
fn a_network_that_refuses_has_no_status() {
    let mut world = world(json!({}));
    world.network_failed();
    assert_eq!(
        error(&world)["message"],
        "anthropic claude-x failed with network at https://api.anthropic.com/v1/messages: connection reset"
    );
    assert_eq!(error(&world)["status"], Value::Null);
}

#[test]
fn a_connection_that_breaks_says_how_much_had_come() {
    let mut world = world(json!({}));
    world.head(200, &[]);
    let sent = begin(10) + &open(0, &text("Half of "));
    world.chunk(&sent);
    world.network_failed();
    let bytes = sent.len();
    assert_eq!(
        error(&world)["message"],
        format!(
            "anthropic claude-x answered 200 network at https://api.anthropic.com/v1/messages: the answer was interrupted after {bytes} bytes: connection reset"
        )
    );
}

#[test]
fn every_event_of_a_failure_tells_its_facts_once() {
    let fallback = json!([{"vendor": "openai", "model": "second", "slot": 1}]);
    let mut world = World::started(config(
        json!([]),
        json!({"fallbackModels": fallback, "retry": {"maxRetries": 1}}),
    ));
    world.refuse(529, &[], OVERLOADED);
    world.pass(2000);
    world.refuse(529, &[], OVERLOADED);
    world.refuse(400, &[], r#"{"error":{"message":"no"}}"#);
    let messages = world.events.iter().filter_map(|event| match &event.kind {
        EventKind::Retry { error, .. }
        | EventKind::ModelChange {
            error: Some(error), ..
        }
        | EventKind::Error { error } => Some(error.message.clone()),
        _ => None,
    });
    let messages: Vec<String> = messages.collect();
    let first =
        "anthropic claude-test answered 529 overloaded at https://api.anthropic.com/v1/messages: Overloaded";
    let last = "openai second answered 400 invalid_request at https://api.openai.com/v1/chat/completions: no";
    assert_eq!(messages, [first, first, last]);
}

#[test]
fn code_in_place_of_a_server_fails_as_custom_model_and_is_never_tried_again() {
    for retries in [
        json!({"maxRetries": 3}),
        json!({"maxRetries": 0, "maxModelCallRetries": 3}),
    ] {
        let mut world = World::started(config(json!([]), json!({"retry": retries})));
        let request = world.request();
        world.input(Input::NotSent {
            request,
            code: FailureCode::CustomModel,
            why: "the script is over".into(),
        });
        world.pass(60_000);
        assert_eq!(world.requests.len(), 1);
        assert_eq!(error(&world)["code"], "custom_model");
        assert_eq!(error(&world)["retryable"], false);
    }
}

#[test]
fn a_model_inside_the_process_has_neither_status_nor_address() {
    let custom = json!({"vendor": "custom", "model": "mine", "baseUrl": "http://custom.invalid"});
    let mut world = world(custom);
    world.head(200, &[]);
    world.chunk("{\"type\":\"error\",\"code\":\"custom_model\",\"message\":\"boom\"}\n");
    let error = error(&world);
    assert_eq!(error["message"], "custom mine failed with custom_model: boom");
    assert_eq!((&error["status"], &error["url"]), (&Value::Null, &Value::Null));
}
