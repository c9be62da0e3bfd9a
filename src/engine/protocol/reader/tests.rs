use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::engine::protocol::protocol;
use crate::engine::protocol::tests::layouts::{laid_out, text};

/// All that a chunk can change, as text.
fn state(reader: &AnswerReader, answer: &ModelAnswer) -> String {
    format!("{:?}", (&reader.framing, &reader.events.decoder, answer))
}

/// Feeds a body in pieces to both readers and compares all that they do.
fn same_with_and_without(protocol: &Protocol, body: &[u8], cuts: &[usize], join: bool) {
    let (mut fast, mut slow) = (AnswerReader::new(protocol), AnswerReader::without_lane(protocol));
    let (mut quick, mut plain) = (ModelAnswer::new(join), ModelAnswer::new(join));
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (body.len() + 1)).collect();
    places.extend([0, body.len()]);
    places.sort_unstable();
    for pair in places.windows(2) {
        let chunk = &body[pair[0]..pair[1]];
        let fed = fast.feed(chunk, &mut quick);
        assert_eq!(
            fed,
            slow.feed(chunk, &mut plain),
            "{}",
            String::from_utf8_lossy(body)
        );
        assert_eq!(
            state(&fast, &quick),
            state(&slow, &plain),
            "{}",
            String::from_utf8_lossy(body)
        );
        if fed.is_err() {
            return;
        }
        assert_eq!(quick.take_changes(), plain.take_changes());
    }
    assert_eq!(fast.finish(&mut quick), slow.finish(&mut plain));
    assert_eq!(state(&fast, &quick), state(&slow, &plain));
}

/// An event that occurs once or several times in a row with other texts.
#[derive(Clone, Debug)]
struct Repeated {
    kind: usize,
    texts: Vec<String>,
    /// The layout of the JSON; the plain one if there are no choices.
    choices: Vec<u8>,
    padding: usize,
    line_end: &'static str,
    ping: bool,
}

fn repeated() -> impl Strategy<Value = Repeated> {
    (
        0usize..9,
        proptest::collection::vec(text(), 1..6),
        prop_oneof![Just(Vec::new()), proptest::collection::vec(any::<u8>(), 1..20)],
        0usize..4,
        prop_oneof![4 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r")],
        any::<bool>(),
    )
        .prop_map(|(kind, texts, choices, padding, line_end, ping)| Repeated {
            kind,
            texts,
            choices,
            padding,
            line_end,
            ping,
        })
}

fn body_of(runs: &[Repeated], events: impl Fn(usize, &str, usize) -> (String, Value)) -> Vec<u8> {
    let mut body = String::new();
    for run in runs {
        for (at, text) in run.texts.iter().enumerate() {
            let (name, value) = events(run.kind, text, run.padding + at % 2);
            let laid = if run.choices.is_empty() {
                value.to_string()
            } else {
                laid_out(&value, run.choices.clone()).replace(['\r', '\n'], " ")
            };
            let (head, tail) = laid.split_at(laid.trim_end().len() - 1);
            let (padding, end) = (" ".repeat(run.padding * (at % 3)), run.line_end);
            if !name.is_empty() {
                body += &format!("event: {name}{end}");
            }
            body += &format!("data: {head}{padding}{tail}{end}{end}");
        }
        if run.ping {
            body += ": ping\n\n";
        }
    }
    body.into_bytes()
}

fn anthropic_event(kind: usize, text: &str, index: usize) -> (String, Value) {
    let index = index % 3;
    let start = |block: Value| json!({"type":"content_block_start","index":index,"content_block":block});
    let delta = |delta: Value| json!({"type":"content_block_delta","index":index,"delta":delta});
    let value = match kind {
        0 => start(json!({"type":"text","text":text})),
        1 => start(json!({"type":"tool_use","id":"t","name":"n","input":{}})),
        2 => json!({"type":"content_block_stop","index":index}),
        3 => delta(json!({"type":"thinking_delta","thinking":text})),
        4 => delta(json!({"type":"input_json_delta","partial_json":text})),
        5 => delta(json!({"type":"citations_delta","citation":{"text":text}})),
        6 => json!({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}),
        _ => delta(json!({"type":"text_delta","text":text})),
    };
    (value["type"].as_str().unwrap().to_owned(), value)
}

fn chat_event(kind: usize, text: &str, index: usize) -> (String, Value) {
    let delta = match kind {
        0 => json!({"reasoning_content": text}),
        1 => json!({"reasoning": text, "reasoning_details": [{"type":"reasoning.text","text":text}]}),
        2 => json!({"tool_calls":[{"index":index,"id":"i","function":{"name":"f","arguments":text}}]}),
        3 => json!({"tool_calls":[{"index":index,"function":{"arguments":text}}]}),
        4 => json!({"reasoning": text, "content": ""}),
        5 => json!({"content": text, "annotations": [text]}),
        _ => json!({"content": text}),
    };
    let finish = if kind == 6 { json!("stop") } else { Value::Null };
    let choices = json!([{"index":0,"delta":delta,"finish_reason":finish}]);
    let mut chunk = json!({"id":"c","model":"m","choices":choices});
    if index > 1 {
        chunk["obfuscation"] = json!("x".repeat(text.len() % 5));
    }
    (String::new(), chunk)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_stream_cut_anywhere_means_the_same_with_the_lane_and_without_it(
        runs in proptest::collection::vec(repeated(), 1..8), cuts in proptest::collection::vec(0usize..5000, 0..8),
        hit in proptest::option::of((0usize..3000, any::<u8>())), join in any::<bool>(), is_anthropic in any::<bool>(),
    ) {
        let (name, events) = if is_anthropic {
            ("anthropic", anthropic_event as fn(usize, &str, usize) -> (String, Value))
        } else {
            ("openai_chat", chat_event as fn(usize, &str, usize) -> (String, Value))
        };
        let mut body = body_of(&runs, events);
        if let Some((at, byte)) = hit && let Some(place) = body.get_mut(at) {
            *place = byte;
        }
        same_with_and_without(protocol(name).unwrap(), &body, &cuts, join);
    }
}

fn sse(value: &Value) -> Vec<u8> {
    format!("event: content_block_delta\ndata: {value}\n\n").into_bytes()
}

fn text_delta(text: &str) -> Vec<u8> {
    sse(&json!({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":text}}))
}

#[test]
fn a_frame_is_trusted_when_an_event_that_repeats_it_only_appended() {
    let mut reader = AnswerReader::new(protocol("anthropic").unwrap());
    let mut answer = ModelAnswer::new(true);
    reader.feed(&text_delta("a"), &mut answer).unwrap();
    assert_eq!(reader.events.lane.part(), None);
    reader.feed(&text_delta("b"), &mut answer).unwrap();
    assert_eq!(reader.events.lane.part(), Some(0));
    let chunk = [text_delta("c"), text_delta("d"), text_delta("")].concat();
    let (taken, rest) = chunk.split_at(chunk.len() - text_delta("").len());
    assert_eq!(reader.events.read_repeats(&chunk, &mut answer), taken.len());
    assert_eq!(answer.parts[0].text, "abcd");
    // An empty string is the decoder's, and so is the end of the block.
    reader.feed(rest, &mut answer).unwrap();
    assert_eq!(reader.events.lane.part(), None);
}

#[test]
fn a_frame_is_not_trusted_when_its_events_change_anything_else() {
    let mut reader = AnswerReader::new(protocol("openai_chat").unwrap());
    let mut answer = ModelAnswer::new(true);
    for text in ["a", "b", "c"] {
        let detail = json!([{"type":"reasoning.encrypted","data":"x"}]);
        let delta = json!({"reasoning": text, "reasoning_details": detail});
        let chunk = json!({"id":"c","choices":[{"index":0,"delta":delta}]});
        reader
            .feed(format!("data: {chunk}\n\n").as_bytes(), &mut answer)
            .unwrap();
        assert_eq!(reader.events.lane.part(), None, "{text}");
    }
}
