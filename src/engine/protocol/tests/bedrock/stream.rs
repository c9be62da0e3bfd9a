//! Tests of model calls whose Converse stream breaks, reports an exception, or is no stream of events.

use serde_json::{Value, json};

use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::json::checksum::crc32;
use crate::engine::model::answer::ModelAnswer;
use crate::engine::model::error::Failure;
use crate::engine::protocol::tests::bedrock::{CLAUDE, model};

/// A message with text headers.
fn framed(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(name.len() as u8);
        block.extend_from_slice(name.as_bytes());
        block.extend_from_slice(&[7, 0, value.len() as u8]);
        block.extend_from_slice(value.as_bytes());
    }
    let mut out = ((block.len() + payload.len() + 16) as u32).to_be_bytes().to_vec();
    out.extend_from_slice(&(block.len() as u32).to_be_bytes());
    out.extend_from_slice(&crc32(&out).to_be_bytes());
    out.extend_from_slice(&block);
    out.extend_from_slice(payload.as_bytes());
    out.extend_from_slice(&crc32(&out).to_be_bytes());
    out
}

fn event(name: &str, payload: Value) -> Vec<u8> {
    framed(
        &[(":event-type", name), (":message-type", "event")],
        &payload.to_string(),
    )
}

fn asked() -> ActiveModel {
    ActiveModel::new(model(CLAUDE, json!({}))).unwrap()
}

fn call() -> ModelCall {
    let mut call = ModelCall::new(1, asked().protocol, true, true);
    call.handle_head(200, vec![("x-amzn-requestid".to_owned(), "r1".to_owned())]);
    call
}

/// Runs a model call on a body with status 200. Returns the text that came, and the failure.
fn called(body: &[u8]) -> (String, Option<Failure>) {
    let mut call = call();
    let failure = body
        .chunks(3)
        .find_map(|chunk| call.handle_chunk(chunk).err())
        .or_else(|| call.handle_end(0, asked().protocol).err())
        .map(|failure| call.describe(failure, &asked()));
    (
        call.answer.parts.iter().map(|part| part.text.as_str()).collect(),
        failure,
    )
}

#[test]
fn an_exception_within_the_stream_is_the_failure_that_it_names() {
    let text = event(
        "contentBlockDelta",
        json!({"contentBlockIndex": 0, "delta": {"text": "Hi"}}),
    );
    let rows = [
        ("throttlingException", "Too many requests", "rate_limit", true),
        ("serviceUnavailableException", "Busy", "overloaded", true),
        ("internalServerException", "Oh", "server", true),
        ("modelStreamErrorException", "The model broke", "server", true),
        ("modelTimeoutException", "Slow", "timeout", true),
        ("validationException", "Bad schema", "invalid_request", false),
        (
            "validationException",
            "Input is too long for requested model.",
            "context_length",
            false,
        ),
        ("accessDeniedException", "No", "auth", false),
        ("someNewException", "New", "server", true),
    ];
    for (kind, message, code, retryable) in rows {
        let headers = [(":message-type", "exception"), (":exception-type", kind)];
        let exception = framed(&headers, &json!({ "message": message }).to_string());
        let (found, failure) = called(&[text.clone(), exception].concat());
        let failure = failure.unwrap();
        assert_eq!(found, "Hi");
        assert_eq!(serde_json::to_value(failure.code).unwrap(), json!(code), "{kind}");
        assert_eq!(
            (failure.message.as_str(), failure.retryable),
            (message, retryable),
            "{kind}"
        );
        assert_eq!(failure.request_id.as_deref(), Some("r1"));
    }
    let error = framed(
        &[
            (":message-type", "error"),
            (":error-code", "InternalError"),
            (":error-message", "It fell over"),
        ],
        "",
    );
    let failure = called(&error).1.unwrap();
    assert_eq!(
        (failure.message.as_str(), failure.retryable),
        ("It fell over", true)
    );
}

#[test]
fn a_response_that_is_no_event_stream_is_told_as_what_it_is() {
    let rows = [
        (
            "<html>Gateway</html>",
            "malformed_stream",
            "an HTML page, not an event stream or JSON",
        ),
        (
            "{\"message\":\"The security token is expired\",\"__type\":\"ExpiredTokenException\"}",
            "auth",
            "expired",
        ),
        (
            "upstream connect error",
            "malformed_stream",
            "neither an event stream nor JSON",
        ),
        ("", "malformed_stream", "empty body"),
        ("{\"odd\":1}", "malformed_stream", "not a message"),
    ];
    for (body, code, words) in rows {
        let failure = called(body.as_bytes()).1.unwrap();
        assert_eq!(serde_json::to_value(failure.code).unwrap(), json!(code), "{body}");
        assert!(failure.message.contains(words), "{failure:?}");
    }
    let whole = json!({"output": {"message": {"role": "assistant", "content": [{"text": "Hi"}]}}, "stopReason": "end_turn"});
    assert_eq!(called(whole.to_string().as_bytes()), ("Hi".to_owned(), None));
}

#[test]
fn a_broken_or_cut_off_stream_keeps_its_text_and_may_be_tried_again() {
    let text = event(
        "contentBlockDelta",
        json!({"contentBlockIndex": 0, "delta": {"text": "Hi"}}),
    );
    let stop = event("messageStop", json!({"stopReason": "end_turn"}));
    assert_eq!(
        called(&[text.clone(), stop.clone()].concat()).1,
        None,
        "without metadata it is whole"
    );
    let mut broken = stop.clone();
    *broken.last_mut().unwrap() ^= 1;
    for (body, words) in [
        (text.clone(), "before the message did"),
        (
            [text.as_slice(), stop.get(..20).unwrap()].concat(),
            "within a message",
        ),
        ([text.clone(), broken].concat(), "wrong checksum"),
        (
            [text.clone(), framed(&[(":event-type", "metadata")], "{")].concat(),
            "not JSON",
        ),
        (
            [text.clone(), framed(&[(":event-type", "metadata")], "[]")].concat(),
            "not an object",
        ),
    ] {
        let (found, failure) = called(&body);
        let failure = failure.unwrap();
        assert_eq!(found, "Hi");
        assert!(
            failure.message.contains(words) && failure.retryable,
            "{failure:?}"
        );
    }
}

#[test]
fn a_delta_is_read_alike_with_and_without_unknown_fields() {
    let start = event(
        "contentBlockStart",
        json!({"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t", "name": "n"}}}),
    );
    let first = event(
        "contentBlockDelta",
        json!({"contentBlockIndex": 0, "delta": {"text": "a"}}),
    );
    let thought = json!({"contentBlockIndex": 2, "delta": {"reasoningContent": {"text": "b"}}});
    let before = [first, start, event("contentBlockDelta", thought)].concat();
    let after = event("messageStop", json!({"stopReason": "tool_use"}));
    let deltas = [
        r#"{"contentBlockIndex":0,"delta":{"text":"é\n\"\ud83d\ude00\ud83d"},"p":"abc""#,
        r#"{ "p":"\u0041", "delta" : { "text" : "x" }, "contentBlockIndex" : 0 "#,
        r#"{"delta":{"toolUse":{"input":"{\"a\":1}"}},"contentBlockIndex":1"#,
        r#"{"contentBlockIndex":2,"delta":{"reasoningContent":{"text":"c"}}"#,
        r#"{"contentBlockIndex":2,"delta":{"reasoningContent":{"text":"c","signature":"s"}}"#,
        // The next deltas belong to another kind of block, to a block without a start, or to no index.
        r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"c"}}"#,
        r#"{"contentBlockIndex":1,"delta":{"text":"late"}"#,
        r#"{"contentBlockIndex":0,"delta":{"toolUse":{"input":"1"}}"#,
        r#"{"contentBlockIndex":7,"delta":{"text":"new"}"#,
        r#"{"contentBlockIndex":7,"delta":{"toolUse":{"input":"1"}}"#,
        r#"{"contentBlockIndex":0,"delta":{"text":"a","text":"b"}"#,
        r#"{"contentBlockIndex":0,"delta":{"text":null}"#,
        r#"{"contentBlockIndex":0,"delta":{"text":7}"#,
        r#"{"contentBlockIndex":-1,"delta":{"text":"x"}"#,
        r#"{"delta":{"text":"x"}"#,
    ];
    let read = |delta: &str| {
        let delta = framed(&[(":event-type", "contentBlockDelta")], delta);
        answered(&[before.as_slice(), &delta, &after].concat())
    };
    for delta in deltas {
        let alone = read(&[delta, "}"].concat());
        assert_eq!(alone, read(&[delta, r#","unknown":[{}]}"#].concat()), "{delta}");
    }
    assert_eq!(
        read(r#"{"contentBlockIndex":1,"delta":{"text":"late"}}"#)
            .parts
            .len(),
        4
    );
    assert_eq!(
        read(r#"{"contentBlockIndex":0,"delta":{"toolUse":{"input":"1"}}}"#)
            .parts
            .len(),
        3
    );
}

/// The answer in a body with status 200, which has to be whole.
fn answered(body: &[u8]) -> ModelAnswer {
    let mut call = call();
    call.handle_chunk(body).unwrap();
    call.handle_end(0, asked().protocol).unwrap();
    call.answer.take_changes();
    call.answer
}
