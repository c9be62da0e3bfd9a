//! How the bytes are framed, cut, encoded; and bodies that are something else altogether.

use serde_json::json;

use super::speak::{End, Say, answer, begin, finish, reframed, say};
use super::{PROTOCOLS, Row};

pub fn rows() -> Vec<Row> {
    vec![
        Row {
            server: "sends no `[DONE]`",
            run: "completes at the body's end",
            bodies: vec![("openai_chat", without(&hi("openai_chat"), b"data: [DONE]\n\n"))],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "ends with `[DONE]` and a carriage return",
            run: "knows the end",
            bodies: vec![(
                "openai_chat",
                [
                    without(&hi("openai_chat"), b"data: [DONE]\n\n"),
                    b"data: [DONE]\r".to_vec(),
                ]
                .concat(),
            )],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "sends no last blank line, or no last line end",
            run: "reads the last event all the same",
            bodies: lines(|protocol| {
                let mut body = hi(protocol);
                while body.last() == Some(&b'\n') {
                    body.pop();
                }
                body
            }),
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "ends its lines with CR LF, cut between the two",
            run: "reads one line end",
            bodies: lines(|protocol| replaced(&hi(protocol), b"\n", b"\r\n")),
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "ends its lines with only CR",
            run: "reads them",
            bodies: streams(|protocol| replaced(&hi(protocol), b"\n", b"\r")),
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "begins with a byte order mark",
            run: "ignores it",
            bodies: lines(|protocol| [b"\xef\xbb\xbf".to_vec(), hi(protocol)].concat()),
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "begins with blank lines",
            run: "passes over them",
            bodies: lines(|protocol| [b"\n\r\n\n".to_vec(), hi(protocol)].concat()),
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "sends comments, `id` and `retry` lines between and within events",
            run: "passes over them",
            bodies: streams(|protocol| {
                let noise = b": keepalive\n:\nid: 7\nretry: 100\ndata: ";
                [b": hello\n\n".to_vec(), replaced(&hi(protocol), b"data: ", noise)].concat()
            }),
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "writes no blank after `data:`, or pads its JSON with blanks",
            run: "reads it",
            bodies: streams(|protocol| {
                let tight = replaced(&hi(protocol), b"data: ", b"data:");
                replaced(&tight, b"}\n\n", b"}   \t\n\n")
            }),
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "spreads one event's JSON over several `data` lines",
            run: "joins them",
            bodies: streams(|protocol| replaced(&hi(protocol), b",\"", b",\ndata: \"")),
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "sends a single line of 10 MiB",
            run: "reads it in linear time",
            bodies: each(|protocol| answer(protocol, &[Say::Text(&"ten mebi. ".repeat(1 << 20))], End::Stop)),
            expect: &["completed 10485760 bytes"],
            ..Row::default()
        },
        Row {
            server: "cuts UTF-8 sequences and escapes of surrogate pairs between chunks",
            run: "reads whole characters",
            bodies: each(|protocol| {
                let said = say(protocol, 0, &Say::Text("Grüße, 日本 🦀 CRAB"));
                let escaped = payload_replaced(protocol, &said, b"CRAB", b"\\ud83e\\udd80");
                [begin(protocol), escaped, finish(protocol, End::Stop)].concat()
            }),
            expect: &["completed \"Grüße, 日本 🦀 🦀\""],
            ..Row::default()
        },
        Row {
            server: "sends half a surrogate pair",
            run: "puts U+FFFD there, as every JSON text must",
            bodies: each(|protocol| {
                let said = say(protocol, 0, &Say::Text("a CRAB b"));
                [
                    begin(protocol),
                    payload_replaced(protocol, &said, b"CRAB", b"\\ud83e"),
                    finish(protocol, End::Stop),
                ]
                .concat()
            }),
            expect: &["completed \"a \u{fffd} b\""],
            ..Row::default()
        },
        Row {
            server: "sends bytes that are not valid UTF-8",
            run: "puts U+FFFD there",
            bodies: each(|protocol| {
                let said = say(protocol, 0, &Say::Text("a CRAB b"));
                [
                    begin(protocol),
                    payload_replaced(protocol, &said, b"CRAB", b"\xff"),
                    finish(protocol, End::Stop),
                ]
                .concat()
            }),
            expect: &["completed \"a \u{fffd} b\""],
            ..Row::default()
        },
        Row {
            server: "answers a streaming request with one JSON body",
            run: "reads that",
            bodies: vec![
                (
                    "anthropic",
                    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
                        "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn",
                        "usage": {"input_tokens": 1, "output_tokens": 1}})
                    .to_string()
                    .into_bytes(),
                ),
                (
                    "openai_chat",
                    json!({"id": "c_1", "object": "chat.completion", "model": "m", "choices": [{"index": 0,
                        "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}]})
                    .to_string()
                    .into_bytes(),
                ),
                (
                    "openai_responses",
                    json!({"id": "resp_1", "object": "response", "status": "completed", "model": "m",
                        "output": [{"id": "msg_0", "type": "message", "role": "assistant",
                            "content": [{"type": "output_text", "text": "Hi.", "annotations": []}]}]})
                    .to_string()
                    .into_bytes(),
                ),
                (
                    "gemini",
                    json!([{"candidates": [{"content": {"parts": [{"text": "Hi."}], "role": "model"},
                        "finishReason": "STOP"}]}])
                    .to_string()
                    .into_bytes(),
                ),
            ],
            expect: HI,
            ..Row::default()
        },
        Row {
            server: "answers HTML with status 200",
            run: "fails with the first 500 characters of it",
            bodies: each(|_| b"\n<!DOCTYPE html><html><body>Please log in</body></html>".to_vec()),
            expect: &["failed malformed_stream \"\""],
            ..Row::default()
        },
        Row {
            server: "answers plain text with status 200",
            run: "tries again; the failure has the text",
            bodies: each(|_| b"upstream connect error or disconnect".to_vec()),
            expect: &["retry after malformed_stream", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "answers status 200 and nothing",
            run: "tries again",
            bodies: each(|_| Vec::new()),
            expect: &["retry after malformed_stream", "completed \"Done.\""],
            ..Row::default()
        },
        Row {
            server: "sends gzip that the host did not decode",
            run: "fails and says that the body is not a stream",
            bodies: each(|_| {
                b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xf3\xc8\x2c\xd6\x03\x00\x0a\x0d".to_vec()
            }),
            expect: &["failed malformed_stream \"\""],
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

/// The protocols whose bodies are lines of text.
fn lines(body: impl Fn(&str) -> Vec<u8>) -> Vec<(&'static str, Vec<u8>)> {
    let mut bodies = PROTOCOLS.to_vec();
    bodies.retain(|protocol| *protocol != "bedrock_converse");
    bodies
        .iter()
        .map(|protocol| (*protocol, body(protocol)))
        .collect()
}

/// Those of them that stream events.
fn streams(body: impl Fn(&str) -> Vec<u8>) -> Vec<(&'static str, Vec<u8>)> {
    let mut bodies = lines(body);
    bodies.retain(|(protocol, _)| *protocol != "ndjson");
    bodies
}

fn hi(protocol: &str) -> Vec<u8> {
    answer(protocol, &[Say::Text("Hi.")], End::Stop)
}

/// The same within an event, whatever frames it.
fn payload_replaced(protocol: &str, body: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    if protocol == "bedrock_converse" {
        return reframed(body, |payload| replaced(payload, old, new));
    }
    replaced(body, old, new)
}

fn without(body: &[u8], part: &[u8]) -> Vec<u8> {
    replaced(body, part, b"")
}

/// All of `old` replaced by `new`.
fn replaced(body: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.windows(old.len()).position(|window| window == old) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(new);
        rest = &rest[at + old.len()..];
    }
    out.extend_from_slice(rest);
    out
}
