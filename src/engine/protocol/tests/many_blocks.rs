//! Answers with thousands of blocks, calls, citations and pieces. No decoder may look at all earlier ones for each
//! new one: with such a decoder these tests take minutes. `LOOPLET_BLOCKS=32000` measures more, and the tests print
//! their times.

use std::fmt::Write;
use std::time::Instant;

use serde_json::{Value, json};

use crate::engine::json::canonical::canonical;
use crate::engine::model::answer::{ModelAnswer, PartKind};
use crate::engine::protocol::protocol;
use crate::engine::protocol::reader::AnswerReader;

fn count() -> usize {
    let wanted = std::env::var("LOOPLET_BLOCKS");
    wanted.map_or(4_000, |count| count.parse().unwrap())
}

/// Decodes the events, a chunk each, and returns the number of blocks of this kind.
fn decode(name: &str, what: &str, kind: PartKind, events: &[Value]) -> usize {
    let mut reader = AnswerReader::new(protocol(name).unwrap());
    let mut answer = ModelAnswer::new(true);
    answer.max_parts = count();
    let started = Instant::now();
    let mut line = String::new();
    for event in events {
        line.clear();
        match name {
            "ndjson" => writeln!(line, "{event}").unwrap(),
            _ => write!(line, "data: {event}\n\n").unwrap(),
        }
        reader.feed(line.as_bytes(), &mut answer).unwrap();
        answer.forget_changes();
    }
    reader.finish(&mut answer).unwrap();
    println!("{name}, {what}: {:?}", started.elapsed());
    answer.parts.iter().filter(|part| part.kind == kind).count()
}

fn chat(call: Value) -> Value {
    json!({"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
}

#[test]
fn chat_completions_finds_each_of_many_calls_at_once() {
    let n = count();
    let call = |at: usize| json!({"id": format!("call_{at}"), "function": {"name": "add", "arguments": ""}});
    let more = || json!({"function": {"arguments": "{\"n\":1}"}});
    let with = |mut call: Value, key: &str, value: Value| {
        call[key] = value;
        chat(call)
    };
    let end = json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let with_index = (0..n).flat_map(|at| {
        [
            with(call(at), "index", json!(at)),
            with(more(), "index", json!(at)),
            with(more(), "index", json!(at)),
        ]
    });
    let by_turns = (0..n).map(|at| with(call(at), "index", json!(at)));
    let by_turns = by_turns.chain((0..n).map(|at| with(more(), "index", json!(at))));
    let without_index = (0..n).flat_map(|at| [chat(call(at)), chat(more())]);
    let by_id = (0..n).map(|at| chat(call(at)));
    let by_id = by_id.chain((0..n).map(|at| with(more(), "id", json!(format!("call_{at}")))));
    let all_zero = (0..n).map(|at| with(call(at), "index", json!(0)));
    for (what, mut events) in [
        ("index", with_index.collect::<Vec<_>>()),
        ("index, by turns", by_turns.collect()),
        ("no index", without_index.collect()),
        ("id, by turns", by_id.collect()),
        ("index 0", all_zero.collect()),
    ] {
        events.push(end.clone());
        assert_eq!(
            decode("openai_chat", what, PartKind::ToolCall, &events),
            n,
            "{what}"
        );
    }
}

#[test]
fn gemini_and_ndjson_find_each_of_many_calls_at_once() {
    let n = count();
    let part = |part: Value| json!({"candidates": [{"content": {"parts": [part]}}]});
    let calls = (0..n).map(|at| part(json!({"functionCall": {"name": "add", "args": {"n": at}}})));
    let end = json!({"candidates": [{"finishReason": "STOP"}]});
    let events: Vec<_> = calls.chain([end]).collect();
    assert_eq!(decode("gemini", "calls", PartKind::ToolCall, &events), n);

    let id = |at: usize| format!("call_{at}");
    let starts = (0..n).map(|at| json!({"type": "tool_call_start", "id": id(at), "name": "add"}));
    let deltas = (0..n).map(|at| json!({"type": "tool_call_delta", "id": id(at), "text": "{}"}));
    let ends = (0..n).map(|at| json!({"type": "tool_call_end", "id": id(at)}));
    let end = json!({"type": "finish", "reason": "tool_calls"});
    let events: Vec<_> = starts.chain(deltas).chain(ends).chain([end]).collect();
    assert_eq!(decode("ndjson", "id, by turns", PartKind::ToolCall, &events), n);
}

#[test]
fn responses_finds_each_of_many_items_and_parts_at_once() {
    let n = count();
    let item = |at: usize, arguments: &str| {
        json!({"type": "function_call", "id": format!("fc_{at}"), "call_id": format!("c_{at}"), "name": "add",
            "arguments": arguments})
    };
    let added = |at| json!({"type": "response.output_item.added", "output_index": at, "item": item(at, "")});
    let delta = |at| json!({"type": "response.function_call_arguments.delta", "output_index": at, "delta": "{\"n\":1}"});
    let done =
        |at| json!({"type": "response.output_item.done", "output_index": at, "item": item(at, "{\"n\":1}")});
    let output: Vec<_> = (0..n).map(|at| item(at, "{\"n\":1}")).collect();
    let end = json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": output}});
    let turns = (0..n).map(added).chain((0..n).map(delta)).chain((0..n).map(done));
    let events: Vec<_> = turns.chain([end.clone()]).collect();
    assert_eq!(
        decode("openai_responses", "calls, by turns", PartKind::ToolCall, &events),
        n
    );
    assert_eq!(
        decode("openai_responses", "calls at the end", PartKind::ToolCall, &[end]),
        n
    );

    let piece = |at| json!({"type": "response.output_text.delta", "output_index": 0, "content_index": at, "delta": "Hi"});
    let content: Vec<_> = (0..n)
        .map(|_| json!({"type": "output_text", "text": "Hi"}))
        .collect();
    let message = json!({"type": "message", "id": "m", "role": "assistant", "content": content});
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": message});
    let end = json!({"type": "response.completed",
        "response": {"id": "r", "status": "completed", "output": [message]}});
    let events: Vec<_> = (0..n).map(piece).chain([done, end]).collect();
    assert_eq!(
        decode("openai_responses", "parts of a message", PartKind::Text, &events),
        n
    );
}

#[test]
fn anthropic_finds_each_of_many_open_blocks_at_once() {
    let n = count();
    let block = json!({"type": "tool_use", "id": "t", "name": "add", "input": {}});
    let start = |at| json!({"type": "content_block_start", "index": at, "content_block": block});
    let delta = |at| {
        json!({"type": "content_block_delta", "index": at,
            "delta": {"type": "input_json_delta", "partial_json": "{}"}})
    };
    let stop = |at| json!({"type": "content_block_stop", "index": at});
    let end = [
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ];
    let turns = (0..n).map(start).chain((0..n).map(delta)).chain((0..n).map(stop));
    let events: Vec<_> = turns.chain(end).collect();
    assert_eq!(
        decode("anthropic", "blocks, by turns", PartKind::ToolCall, &events),
        n
    );
}

#[test]
fn a_citation_is_compared_with_no_list_of_citations() {
    let n = count();
    let source = |at| json!({"type": "url_citation", "url": format!("https://a.test/{at}")});
    let chunk = |at| json!({"id": "c", "choices": [{"index": 0, "delta": {"content": "x", "annotations": [source(at)]}}]});
    let end = json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let events: Vec<_> = (0..n).chain(0..n).map(chunk).chain([end]).collect();
    assert_eq!(decode("openai_chat", "citations", PartKind::Text, &events), 1);

    let citation = |at| json!({"uri": format!("https://a.test/{at}")});
    let chunk = |at| {
        json!({"candidates": [{"content": {"parts": [{"text": "x"}]},
        "citationMetadata": {"citations": [citation(at)]}}]})
    };
    let end = json!({"candidates": [{"finishReason": "STOP"}]});
    let events: Vec<_> = (0..n).chain(0..n).map(chunk).chain([end]).collect();
    assert_eq!(decode("gemini", "citations", PartKind::Text, &events), 1);
}

#[test]
fn the_canonical_text_of_many_keys_is_written_in_one_go() {
    let n = 8 * count();
    let fields: Vec<_> = (0..n)
        .map(|at| format!("\"key{}\":{at}", (at * 7919) % n))
        .collect();
    let json = ["{", &fields.join(","), "}"].concat();
    let started = Instant::now();
    let text = canonical(&json);
    println!("canonical, {n} keys: {:?}", started.elapsed());
    assert_eq!(text.len(), json.len());
}

/// The pieces of one block, call or text.
const PIECES: usize = 100_000;

/// The blocks of a stream of these events, each with its name.
fn decoded(name: &str, events: impl Iterator<Item = (&'static str, String)>) -> ModelAnswer {
    let mut decoder = (protocol(name).unwrap().decoder)();
    let mut answer = ModelAnswer::new(true);
    for (name, data) in events {
        decoder
            .decode_event(name.as_bytes(), data.as_bytes(), &mut answer)
            .unwrap();
    }
    decoder.finish(&mut answer).unwrap();
    answer
}

fn pieces(piece: impl Fn(usize) -> String) -> impl Iterator<Item = String> {
    (0..PIECES).map(piece)
}

#[test]
fn a_raw_block_of_anthropic_takes_a_field_in_each_delta() {
    for value in ["1", "\"text\""] {
        let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "new"}});
        let delta = |at: usize| {
            format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"d","k{at}":{value}}}}}"#)
        };
        let stop = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
        let events = std::iter::once(start.to_string())
            .chain(pieces(delta))
            .chain([stop.to_string()]);
        let answer = decoded("anthropic", events.map(|data| ("", data)));
        let block: Value = serde_json::from_str(&answer.parts[0].text).unwrap();
        assert_eq!(block.as_object().unwrap().len(), PIECES + 1);
    }
}

#[test]
fn a_raw_block_of_bedrock_takes_a_field_in_each_delta() {
    let delta = |at: usize| format!(r#"{{"contentBlockIndex":0,"delta":{{"new":{{"k{at}":1}}}}}}"#);
    let events = pieces(delta).map(|data| ("contentBlockDelta", data));
    let answer = decoded(
        "bedrock_converse",
        events.chain([("messageStop", r#"{"stopReason":"end_turn"}"#.to_owned())]),
    );
    let block: Value = serde_json::from_str(&answer.parts[0].text).unwrap();
    assert_eq!(block["new"].as_object().unwrap().len(), PIECES);
}

#[test]
fn reasoning_details_take_a_field_in_each_chunk() {
    let chunk = |at: usize| {
        format!(r#"{{"choices":[{{"delta":{{"reasoning_details":[{{"type":"t","index":0,"k{at}":1}}]}}}}]}}"#)
    };
    let stop = r#"{"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}"#.to_owned();
    let answer = decoded("openai_chat", pieces(chunk).chain([stop]).map(|data| ("", data)));
    let vendor: Value = serde_json::from_str(answer.parts[0].vendor.as_ref().unwrap().as_str()).unwrap();
    assert_eq!(
        vendor["reasoning_details"][0].as_object().unwrap().len(),
        PIECES + 2
    );
}

#[test]
fn a_beginning_that_comes_again_letter_by_letter_is_read_once() {
    let begun = "ab".repeat(500_000);
    let mut answer = ModelAnswer::new(true);
    answer.begin_with(&begun);
    let part = answer.start(PartKind::Text);
    for letter in begun.chars().chain(['!']) {
        answer.push(part, letter.encode_utf8(&mut [0; 4]));
    }
    assert!(answer.parts[0].text == begun + "!");
}

#[test]
fn a_beginning_that_comes_again_in_part_stays() {
    for (more, whole) in [
        ("Hell", "HelloHell"),
        ("Help", "HelloHelp"),
        ("Hello.", "Hello."),
        ("!", "Hello!"),
    ] {
        let mut answer = ModelAnswer::new(true);
        answer.begin_with("Hello");
        let part = answer.start(PartKind::Text);
        for letter in more.chars() {
            answer.push(part, letter.encode_utf8(&mut [0; 4]));
        }
        answer.end_all();
        assert_eq!(answer.parts[0].text, whole);
    }
}
