//! What it costs to decode a tool call of 1 MiB and of 4 MiB that comes in deltas of 30 bytes, and how the two
//! compare.
//!
//! `cargo run --release --example decoders`; ratios far above 4 say that something is not linear. The decoder is
//! measured alone, and within a run up to the call. 1 MiB is a quarter of four such calls one after the other, so
//! that both read as much memory. The processor's time counts, where Linux tells it; the best of nine samples.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use looplet::engine::agent::setup::Setup;
use looplet::engine::json::checksum::crc32;
use looplet::engine::model::answer::ModelAnswer;
use looplet::engine::model::config::RunOptions;
use looplet::engine::model::input::{Input, Moment};
use looplet::engine::model::message::Block;
use looplet::engine::model::output::Output;
use looplet::engine::protocol::reader::AnswerReader;
use looplet::engine::protocol::{Protocol, protocol};
use looplet::engine::run::Run;
use serde_json::json;

const MIB: usize = 1 << 20;
const DELTA_BYTES: usize = 30;
const CHUNK_BYTES: usize = 16 * 1024;
const SAMPLES: usize = 9;

/// How a protocol streams a call: what stands before the deltas, around each, and after them.
struct Wire {
    protocol: &'static str,
    begin: fn() -> Vec<u8>,
    delta: fn(&str) -> Vec<u8>,
    end: fn() -> Vec<u8>,
}

const WIRES: &[Wire] = &[
    Wire {
        protocol: "anthropic",
        begin: || {
            let call = json!({"type": "tool_use", "id": "t1", "name": "add", "input": {}});
            [
                sse(json!({"type": "message_start", "message": {"id": "m", "content": []}})),
                sse(json!({"type": "content_block_start", "index": 0, "content_block": call})),
            ]
            .concat()
        },
        delta: |text| {
            sse(json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": text}}))
        },
        end: || {
            [
                sse(json!({"type": "content_block_stop", "index": 0})),
                sse(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})),
                sse(json!({"type": "message_stop"})),
            ]
            .concat()
        },
    },
    Wire {
        protocol: "openai_chat",
        begin: || {
            let call = json!({"index": 0, "id": "t1", "type": "function",
                "function": {"name": "add", "arguments": ""}});
            chat(json!({"role": "assistant", "tool_calls": [call]}), json!(null))
        },
        delta: |text| {
            chat(
                json!({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}),
                json!(null),
            )
        },
        end: || [chat(json!({}), json!("tool_calls")), b"data: [DONE]\n\n".to_vec()].concat(),
    },
    Wire {
        protocol: "openai_responses",
        begin: || {
            let call = json!({"id": "fc_1", "type": "function_call", "call_id": "t1", "name": "add",
                "arguments": ""});
            [
                sse(json!({"type": "response.created", "response": {"id": "r", "model": "m"}})),
                sse(json!({"type": "response.output_item.added", "output_index": 0, "item": call})),
            ]
            .concat()
        },
        delta: |text| {
            sse(
                json!({"type": "response.function_call_arguments.delta", "sequence_number": 7,
                "item_id": "fc_1", "output_index": 0, "delta": text, "obfuscation": "abc"}),
            )
        },
        // The item's end repeats the arguments; they are read a second time if it has them.
        end: || sse(json!({"type": "response.completed", "response": {"id": "r", "output": []}})),
    },
    Wire {
        protocol: "gemini",
        begin: || gemini(json!({"name": "add", "willContinue": true})),
        delta: |text| {
            let arg = json!({"jsonPath": "$.content", "stringValue": text, "willContinue": true});
            gemini(json!({"partialArgs": [arg], "willContinue": true}))
        },
        end: || {
            let last = json!({"partialArgs": [{"jsonPath": "$.content", "stringValue": ""}]});
            let reason = json!({"candidates": [{"finishReason": "STOP"}]});
            [gemini(last), format!("data: {reason}\n\n").into_bytes()].concat()
        },
    },
    Wire {
        protocol: "bedrock_converse",
        begin: || {
            let call = json!({"toolUse": {"toolUseId": "t1", "name": "add"}});
            bedrock(
                "contentBlockStart",
                json!({"contentBlockIndex": 0, "start": call, "p": "abc"}),
            )
        },
        delta: |text| {
            let delta = json!({"toolUse": {"input": text}});
            bedrock(
                "contentBlockDelta",
                json!({"contentBlockIndex": 0, "delta": delta, "p": "abcdef"}),
            )
        },
        end: || {
            [
                bedrock("contentBlockStop", json!({"contentBlockIndex": 0})),
                bedrock("messageStop", json!({"stopReason": "tool_use"})),
            ]
            .concat()
        },
    },
    Wire {
        protocol: "ndjson",
        begin: || line(json!({"type": "tool_call_start", "id": "t1", "name": "add"})),
        delta: |text| line(json!({"type": "tool_call_delta", "id": "t1", "text": text})),
        end: || line(json!({"type": "finish", "reason": "tool_calls"})),
    },
];

fn main() {
    println!(
        "{:<18} {:>28} {:>28}",
        "", "decoder: 1 MiB, 4 MiB, ratio", "run: 1 MiB, 4 MiB, ratio"
    );
    for wire in WIRES {
        let small = [(); 4].map(|()| body(wire, MIB));
        let large = [body(wire, 4 * MIB)];
        let protocol = protocol(wire.protocol).unwrap();
        let decoder = compare(&|body| decode(protocol, body), &small, &large);
        let run = compare(&|body| run(wire.protocol, body), &small, &large);
        println!("{:<18} {decoder:>28} {run:>28}", wire.protocol);
    }
}

fn compare(work: &dyn Fn(&[u8]) -> usize, small: &[Vec<u8>], large: &[Vec<u8>]) -> String {
    let mut best = [f64::MAX; 2];
    for _ in 0..SAMPLES {
        for (best, bodies) in best.iter_mut().zip([small, large]) {
            let before = now_ms();
            let read: usize = bodies.iter().map(|body| black_box(work(black_box(body)))).sum();
            *best = best.min((now_ms() - before) / bodies.len() as f64);
            assert_eq!(read, 4 * MIB, "the arguments are not whole");
        }
    }
    format!("{:.1} ms {:.1} ms {:.2}", best[0], best[1], best[1] / best[0])
}

/// Of this thread on the processor, or of the clock.
fn now_ms() -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = spent.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    match nanoseconds {
        Some(nanoseconds) => nanoseconds / 1e6,
        None => {
            static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
            START.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e3
        }
    }
}

/// Returns the length of the arguments.
fn decode(protocol: &Protocol, body: &[u8]) -> usize {
    let mut reader = AnswerReader::new(protocol);
    let mut answer = ModelAnswer::new(true);
    for chunk in body.chunks(CHUNK_BYTES) {
        reader.feed(chunk, &mut answer).unwrap();
        let changes = answer.take_changes();
        answer.recycle(changes);
    }
    reader.finish(&mut answer).unwrap();
    answer.parts[0].text.len()
}

fn run(protocol: &str, body: &[u8]) -> usize {
    let config = json!({
        "model": {"vendor": "compatible", "protocol": protocol, "model": "m", "baseUrl": "http://h/v1"},
        "tools": [{"name": "add", "inputSchema": {"type": "object"}}],
    });
    let config = looplet::engine::model::json::read("config", &config.to_string()).unwrap();
    let mut run = Run::new(Arc::new(Setup::new(config).unwrap()), RunOptions::default()).unwrap();
    let mut request = None;
    let mut arguments = 0;
    let mut go = |run: &mut Run, input: Input<'_>, request: &mut Option<u32>| {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            run.handle_input(input, Moment { now_ms: 1, random: 1 });
            while let Some(output) = run.poll_output() {
                match output {
                    Output::Send { request: sent, .. } => *request = Some(sent),
                    Output::HandOver { handover } => inputs.push(Input::HandedOver { handover }),
                    Output::CallTool(call) => arguments = call.input.as_str().len(),
                    other => {
                        black_box(other);
                    }
                }
            }
        }
    };
    let content = vec![Block::text("Go.")];
    go(&mut run, Input::Prompt { content }, &mut request);
    let sent = request.unwrap();
    let headers = Vec::new();
    go(
        &mut run,
        Input::Head {
            request: sent,
            status: 200,
            headers,
        },
        &mut request,
    );
    for bytes in body.chunks(CHUNK_BYTES) {
        go(&mut run, Input::Chunk { request: sent, bytes }, &mut request);
    }
    go(&mut run, Input::End { request: sent }, &mut request);
    arguments
}

/// A call whose arguments have exactly this many bytes, as models write them: with quotes and line ends to be
/// escaped.
fn body(wire: &Wire, bytes: usize) -> Vec<u8> {
    let mut arguments = String::from("{\"content\":\"");
    while arguments.len() < bytes - 64 {
        arguments.push_str("let greeting = \\\"hello\\\";\\n    ");
    }
    while arguments.len() < bytes - 2 {
        arguments.push('x');
    }
    arguments.push_str("\"}");
    // Gemini streams the values that its vendor has read, not the text of their JSON.
    if wire.protocol == "gemini" {
        let read: serde_json::Value = serde_json::from_str(&arguments).unwrap();
        arguments = read["content"].as_str().unwrap().to_owned();
    }
    let mut body = (wire.begin)();
    for piece in arguments.as_bytes().chunks(DELTA_BYTES) {
        body.extend((wire.delta)(str::from_utf8(piece).unwrap()));
    }
    body.extend((wire.end)());
    body
}

fn sse(value: serde_json::Value) -> Vec<u8> {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap()).into_bytes()
}

fn chat(delta: serde_json::Value, finish_reason: serde_json::Value) -> Vec<u8> {
    let value = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]});
    format!("data: {value}\n\n").into_bytes()
}

fn gemini(call: serde_json::Value) -> Vec<u8> {
    let value = json!({"candidates": [{"content": {"parts": [{"functionCall": call}], "role": "model"}}],
        "responseId": "r", "modelVersion": "m"});
    format!("data: {value}\n\n").into_bytes()
}

/// A message of Amazon's event stream.
fn bedrock(name: &str, payload: serde_json::Value) -> Vec<u8> {
    let mut headers = Vec::new();
    for (key, value) in [(":event-type", name), (":message-type", "event")] {
        headers.push(key.len() as u8);
        headers.extend_from_slice(key.as_bytes());
        headers.push(7);
        headers.extend_from_slice(&(value.len() as u16).to_be_bytes());
        headers.extend_from_slice(value.as_bytes());
    }
    let payload = payload.to_string();
    let total = (headers.len() + payload.len() + 16) as u32;
    let mut out = [total.to_be_bytes(), (headers.len() as u32).to_be_bytes()].concat();
    out.extend_from_slice(&crc32(&out).to_be_bytes());
    out.extend_from_slice(&headers);
    out.extend_from_slice(payload.as_bytes());
    out.extend_from_slice(&crc32(&out).to_be_bytes());
    out
}

fn line(value: serde_json::Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}
