//! Errors within a successful response, and silence.

use serde_json::{Value, json};

use super::frames::{N1, add, start};
use super::speak::{
    End, Say, begin, chunk, data, event, item, line, message, parts, respond, say, tool_start,
};
use super::{Ending, PROTOCOLS, Row};

pub fn rows() -> Vec<Row> {
    vec![
        Row {
            server: "sends an overload as its first event",
            run: "waits and tries again",
            bodies: each(overload),
            expect: &["retry after overloaded", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "sends an overload after text",
            run: "says with `reset` that the text is void, and tries again",
            bodies: each(|protocol| [begin(protocol), hi(protocol), overload(protocol)].concat()),
            expect: &["reset", "retry after overloaded", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "sends an error after a whole call",
            run: "does not run the call: `reset`, and again",
            bodies: each(|protocol| [begin(protocol), call(protocol), overload(protocol)].concat()),
            expect: &["reset", "retry after overloaded", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "sends an error that another attempt cannot fix",
            run: "fails with its code",
            bodies: vec![
                (
                    "anthropic",
                    event(json!({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}})),
                ),
                (
                    "openai_chat",
                    data(json!({"error": {"type": "invalid_request_error", "message": "no", "code": 400}})),
                ),
                ("ndjson", line(json!({"type": "error", "code": "invalid_request", "message": "no"}))),
            (
                    "openai_responses",
                    event(json!({"type": "error", "code": "invalid_request_error", "message": "no"})),
                ),
                (
                    "gemini",
                    data(json!({"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}})),
                ),
                ("bedrock_converse", message("!validationException", json!({"message": "no"}))),
            ],
            expect: &["failed invalid_request \"\""],
            ..Row::default()
        },
        Row {
            server: "writes an error as a line `error: {…}` (GPUStack)",
            run: "fails with its code",
            bodies: ["anthropic", "openai_chat", "openai_responses", "gemini"]
                .map(|protocol| {
                    let error = json!({"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}});
                    (protocol, format!("error: {error}\n\n").into_bytes())
                })
                .to_vec(),
            expect: &["failed invalid_request \"\""],
            ..Row::default()
        },
        Row {
            server: "sends such an error after text",
            run: "fails with its code, and the text remains",
            bodies: vec![
                (
                    "anthropic",
                    [
                        begin("anthropic"),
                        hi("anthropic"),
                        event(json!({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}})),
                    ]
                    .concat(),
                ),
                (
                    "openai_chat",
                    [
                        begin("openai_chat"),
                        hi("openai_chat"),
                        data(json!({"error": {"type": "invalid_request_error", "message": "no"}})),
                    ]
                    .concat(),
                ),
                (
                    "ndjson",
                    [
                        begin("ndjson"),
                        hi("ndjson"),
                        line(json!({"type": "error", "code": "invalid_request", "message": "no"})),
                    ]
                    .concat(),
                ),
            (
                    "openai_responses",
                    [
                        begin("openai_responses"),
                        hi("openai_responses"),
                        respond("failed", json!({"error": {"code": "invalid_prompt", "message": "no"}})),
                    ]
                    .concat(),
                ),
                (
                    "gemini",
                    [
                        begin("gemini"),
                        hi("gemini"),
                        data(json!({"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}})),
                    ]
                    .concat(),
                ),
                (
                    "bedrock_converse",
                    [
                        begin("bedrock_converse"),
                        hi("bedrock_converse"),
                        message("!validationException", json!({"message": "no"})),
                    ]
                    .concat(),
                ),
            ],
            expect: &["failed invalid_request \"Hi.\""],
            ..Row::default()
        },
        Row {
            server: "sends an error without an `error` event's name",
            run: "reads it",
            bodies: vec![
                (
                    "anthropic",
                    data(json!({"error": {"type": "overloaded_error", "message": "later"}})),
                ),
                (
                    "openai_chat",
                    data(json!({"object": "error", "message": "overloaded, try later", "code": 503})),
                ),
                (
                    "openai_responses",
                    data(json!({"error": {"type": "server_error", "code": "server_is_overloaded", "message": "later"}})),
                ),
            ],
            expect: &["retry after overloaded", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "sends an error in a choice",
            run: "reads it",
            bodies: vec![(
                "openai_chat",
                [
                    begin("openai_chat"),
                    data(json!({"id": "c_1", "choices": [{"index": 0, "delta": {"content": "Hi."},
                        "finish_reason": "error", "error": {"code": 502, "message": "upstream died"}}]})),
                ]
                .concat(),
            )],
            expect: &["reset", "retry after server", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "answers a streaming request with an error object and status 200",
            run: "reads the error",
            bodies: each(|protocol| {
                if protocol == "ndjson" {
                    return overload(protocol);
                }
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "later"}})
                    .to_string()
                    .into_bytes()
            }),
            expect: &["retry after overloaded", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "drops the connection before its first byte",
            run: "tries again",
            bodies: each(|_| Vec::new()),
            ending: Ending::Drop,
            expect: &["retry after network", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "drops the connection after text",
            run: "says with `reset` that the text is void, and tries again",
            bodies: each(|protocol| [begin(protocol), hi(protocol)].concat()),
            ending: Ending::Drop,
            expect: &["reset", "retry after network", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "drops the connection after text, in every attempt",
            run: "fails after the last attempt; the text of that attempt remains",
            bodies: each(|protocol| [begin(protocol), hi(protocol)].concat()),
            ending: Ending::Drop,
            always: true,
            expect: &[
                "reset",
                "retry after network",
                "reset",
                "retry after network",
                "failed network \"Hi.\"",
            ],
            ..Row::default()
        },
        Row {
            server: "drops the connection within a call",
            run: "does not run the call: `reset`, and again",
            bodies: vec![
                (
                    "anthropic",
                    [
                        begin("anthropic"),
                        start(0, json!({"type": "tool_use", "id": "t1", "name": "wipe", "input": {}})),
                    ]
                    .concat(),
                ),
                (
                    "openai_chat",
                    [begin("openai_chat"), say("openai_chat", 0, &add("t1", "{\"n\""))].concat(),
                ),
                (
                    "ndjson",
                    [
                        begin("ndjson"),
                        line(json!({"type": "tool_call_start", "id": "t1", "name": "wipe"})),
                    ]
                    .concat(),
                ),
            (
                    "openai_responses",
                    [
                        begin("openai_responses"),
                        item("added", 0, json!({"type": "function_call", "call_id": "t1", "name": "wipe",
                            "arguments": ""})),
                    ]
                    .concat(),
                ),
                (
                    "gemini",
                    [begin("gemini"), parts(json!([{"functionCall": {"name": "wipe", "willContinue": true}}]))]
                        .concat(),
                ),
                (
                    "bedrock_converse",
                    [
                        begin("bedrock_converse"),
                        tool_start(0, json!({"toolUseId": "t1", "name": "wipe"})),
                    ]
                    .concat(),
                ),
            ],
            ending: Ending::Drop,
            expect: &["reset", "retry after network", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "drops the connection after the protocol's end",
            run: "completes: nothing is missing",
            bodies: each(whole),
            ending: Ending::Drop,
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "drops the connection between the finish reason and the end",
            run: "completes: nothing is missing",
            bodies: vec![
                ("anthropic", reason("anthropic")),
                ("openai_chat", reason("openai_chat")),
                ("gemini", reason("gemini")),
                ("bedrock_converse", reason("bedrock_converse")),
            ],
            ending: Ending::Drop,
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "stalls before its first byte",
            run: "gives up after `timeouts.firstChunkMs` and tries again",
            bodies: each(|_| Vec::new()),
            ending: Ending::Stall,
            expect: &["retry after timeout", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "stalls after text",
            run: "gives up after `timeouts.chunkMs`: `reset`, and again",
            bodies: each(|protocol| [begin(protocol), hi(protocol)].concat()),
            ending: Ending::Stall,
            expect: &["reset", "retry after timeout", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "keeps the connection open after the protocol's end",
            run: "completes a second later",
            bodies: each(whole),
            ending: Ending::Stall,
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "leaves the connection open after a finish reason, without the end",
            run: "completes after ten seconds, or `timeouts.chunkMs`",
            bodies: vec![
                ("anthropic", reason("anthropic")),
                ("openai_chat", reason("openai_chat")),
                ("gemini", reason("gemini")),
                ("bedrock_converse", reason("bedrock_converse")),
            ],
            ending: Ending::Stall,
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "sends an event that is not valid JSON",
            run: "takes the stream as damaged: `reset`, and again",
            bodies: vec![
                (
                    "anthropic",
                    [begin("anthropic"), hi("anthropic"), b"data: {\"type\":\n\n".to_vec()].concat(),
                ),
                (
                    "openai_chat",
                    [begin("openai_chat"), hi("openai_chat"), b"data: {\"id\":\n\n".to_vec()].concat(),
                ),
                ("ndjson", [begin("ndjson"), hi("ndjson"), b"{\"type\":\n".to_vec()].concat()),
            (
                    "openai_responses",
                    [begin("openai_responses"), hi("openai_responses"), b"data: {\"id\":\n\n".to_vec()].concat(),
                ),
                ("gemini", [begin("gemini"), hi("gemini"), b"data: {\"id\":\n\n".to_vec()].concat()),
                (
                    "bedrock_converse",
                    [
                        begin("bedrock_converse"),
                        hi("bedrock_converse"),
                        message("contentBlockDelta", json!("no object")),
                    ]
                    .concat(),
                ),
            ],
            expect: &["reset", "retry after malformed_stream", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "damages a byte of a binary message",
            run: "sees it by the checksum: `reset`, and again",
            bodies: vec![("bedrock_converse", {
                let mut body = whole("bedrock_converse");
                let at = body.len() - 20;
                body[at] ^= 1;
                body
            })],
            expect: &["reset", "retry after malformed_stream", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "ends within a binary message",
            run: "takes the stream as cut off: `reset`, and again",
            bodies: vec![("bedrock_converse", {
                let body = [begin("bedrock_converse"), hi("bedrock_converse")].concat();
                body[..body.len() - 3].to_vec()
            })],
            expect: &["reset", "retry after malformed_stream", "completed \"Done.\""],
            ..Row::default()
        },
    ]
}

const HI: &[&str] = &["completed \"Hi.\""];

fn each(body: impl Fn(&str) -> Vec<u8>) -> Vec<(&'static str, Vec<u8>)> {
    PROTOCOLS
        .iter()
        .map(|protocol| (*protocol, body(protocol)))
        .collect()
}

fn hi(protocol: &str) -> Vec<u8> {
    say(protocol, 0, &Say::Text("Hi."))
}

fn call(protocol: &str) -> Vec<u8> {
    say(protocol, 0, &add("t1", N1))
}

fn whole(protocol: &str) -> Vec<u8> {
    super::speak::answer(protocol, &[Say::Text("Hi.")], End::Stop)
}

/// Up to and with the finish reason.
fn reason(protocol: &str) -> Vec<u8> {
    let reason = match protocol {
        "anthropic" => event(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})),
        "gemini" => data(json!({"candidates": [{"finishReason": "STOP"}]})),
        "bedrock_converse" => message("messageStop", json!({"stopReason": "end_turn"})),
        _ => chunk(json!({}), json!("stop")),
    };
    [begin(protocol), hi(protocol), reason].concat()
}

fn overload(protocol: &str) -> Vec<u8> {
    let error = json!({"type": "overloaded_error", "message": "Overloaded", "code": Value::Null});
    match protocol {
        "anthropic" | "openai_responses" => event(json!({"type": "error", "error": error})),
        "bedrock_converse" => message("!serviceUnavailableException", json!({"message": "Overloaded"})),
        "gemini" => data(
            json!({"error": {"code": 503, "message": "The model is overloaded.",
            "status": "UNAVAILABLE"}}),
        ),
        "openai_chat" => data(json!({"error": error})),
        _ => line(json!({"type": "error", "code": "overloaded", "message": "Overloaded"})),
    }
}
