//! Tests that the decoders read any layout of a delta alike: other blanks, escapes and orders of keys.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::engine::model::answer::{ModelAnswer, PartKind};
use crate::engine::protocol::{Decoder, protocol};

/// Writes JSON with blanks and escapes chosen by `choices`, and with its keys in a rotated order.
struct Writer {
    choices: Vec<u8>,
    at: usize,
}

impl Writer {
    fn choose(&mut self, of: u8) -> u8 {
        self.at += 1;
        self.choices
            .get(self.at % self.choices.len().max(1))
            .map_or(0, |choice| choice % of)
    }

    fn blanks(&mut self, out: &mut String) {
        match self.choose(8) {
            0 => out.push(' '),
            1 => out.push_str(" \t"),
            2 => out.push_str("\r\n"),
            _ => {}
        }
    }

    fn string(&mut self, text: &str, out: &mut String) {
        out.push('"');
        for char in text.chars() {
            match (char, self.choose(6)) {
                ('"' | '\\', _) => out.extend(['\\', char]),
                ('\n', 0..3) => out.push_str("\\n"),
                ('/', 0) => out.push_str("\\/"),
                (_, 0) => char
                    .encode_utf16(&mut [0; 2])
                    .iter()
                    .for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
                (char, _) if char < ' ' => out.push_str(&format!("\\u{:04X}", u32::from(char))),
                (char, _) => out.push(char),
            }
        }
        out.push('"');
    }

    fn value(&mut self, value: &Value, out: &mut String) {
        self.blanks(out);
        match value {
            Value::String(text) => self.string(text, out),
            Value::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    self.value(item, out);
                }
                self.blanks(out);
                out.push(']');
            }
            Value::Object(fields) => {
                out.push('{');
                let mut fields: Vec<_> = fields.iter().collect();
                let turn = usize::from(self.choose(4)) % fields.len().max(1);
                fields.rotate_left(turn);
                for (at, (key, value)) in fields.into_iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    self.blanks(out);
                    out.push('"');
                    out.push_str(key);
                    out.push('"');
                    self.blanks(out);
                    out.push(':');
                    match value {
                        // No server escapes these words.
                        Value::String(name) if key == "type" || key == "object" => {
                            out.push_str(&format!("\"{name}\""))
                        }
                        _ => self.value(value, out),
                    }
                }
                self.blanks(out);
                out.push('}');
            }
            other => out.push_str(&other.to_string()),
        }
        self.blanks(out);
    }
}

pub fn laid_out(value: &Value, choices: Vec<u8>) -> String {
    let mut out = String::new();
    Writer { choices, at: 0 }.value(value, &mut out);
    out
}

pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,12}",
        proptest::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter),
        Just("\"\\/\u{8}\u{c}\n\r\t\u{1f}é€😀\u{2028}".to_owned()),
    ]
}

fn answer_of(decoder: &mut Decoder, before: &[Value], event: &str) -> (ModelAnswer, Option<String>) {
    let mut answer = ModelAnswer::new(true);
    for value in before {
        decoder
            .decode_event(b"", value.to_string().as_bytes(), &mut answer)
            .unwrap();
    }
    let failure = decoder.decode_event(b"", event.as_bytes(), &mut answer).err();
    answer.take_changes();
    (answer, failure.map(|failure| failure.message))
}

/// Decodes `event` as `choices` lay it out, and once more with an additional unknown field.
fn same_in_any_layout(name: &str, before: &[Value], value: &Value, choices: Vec<u8>) {
    let event = laid_out(value, choices);
    let mut unusual = value.clone();
    unusual["further"] = json!([[[[[[[[1]]]]]]]]);
    let row = protocol(name).unwrap();
    let laid = answer_of(&mut (row.decoder)(), before, &event);
    let plain = answer_of(&mut (row.decoder)(), before, &unusual.to_string());
    assert_eq!(laid, plain, "{event}");
}

fn anthropic_start() -> Vec<Value> {
    vec![
        json!({"type":"message_start","message":{"id":"m","model":"c","content":[]}}),
        json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}),
        json!({"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":""}}),
        json!({"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}),
        json!({"type":"content_block_start","index":3,"content_block":{"type":"server_tool_use","id":"s","name":"n","input":{}}}),
    ]
}

fn responses_start() -> Vec<Value> {
    let added = |index: u32, item: Value| json!({"type":"response.output_item.added","output_index":index,"item":item});
    let delta = |name: &str, index: u32, field: &str| json!({"type":format!("response.{name}.delta"),"output_index":index,field:0,"delta":"a"});
    vec![
        json!({"type":"response.created","response":{"id":"r","model":"m"}}),
        delta("output_text", 0, "content_index"),
        delta("reasoning_summary_text", 1, "summary_index"),
        added(2, json!({"type":"function_call","call_id":"c","name":"n"})),
        added(3, json!({"type":"custom_tool_call","call_id":"d","name":"n"})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_anthropic_delta_means_the_same_in_any_layout(
        text in text(), kind in 0usize..3, index in 0u32..5, choices in proptest::collection::vec(any::<u8>(), 1..40),
    ) {
        let (name, field) = [("text_delta", "text"), ("thinking_delta", "thinking"), ("input_json_delta", "partial_json")][kind];
        let mut delta = json!({"type": name});
        delta[field] = json!(text);
        let event = json!({"type":"content_block_delta","index":index,"delta":delta});
        same_in_any_layout("anthropic", &anthropic_start(), &event, choices.clone());
    }

    #[test]
    fn a_chat_chunk_means_the_same_in_any_layout(
        text in text(), kind in 0usize..4, with_nulls in any::<bool>(), choices in proptest::collection::vec(any::<u8>(), 1..40),
    ) {
        let mut delta = match kind {
            0 => json!({"content": text}),
            1 => json!({"reasoning_content": text}),
            2 => json!({"reasoning": text}),
            _ => json!({"tool_calls":[{"index":0,"function":{"arguments": text}}]}),
        };
        let mut chunk = json!({"id":"c","object":"chat.completion.chunk","created":17,"model":"m","choices":[]});
        if with_nulls {
            let beside = if kind == 0 { "reasoning" } else { "content" };
            delta[beside] = json!("");
            chunk["filters"] = json!({"a": [{"b": -1.5e3}, true], "c": {}});
            delta["refusal"] = Value::Null;
            delta["role"] = json!("assistant");
            chunk["usage"] = Value::Null;
        }
        chunk["choices"] = json!([{"index":0,"delta":delta,"finish_reason":null,"logprobs":null}]);
        let call = json!({"index":0,"id":"i","type":"function","function":{"name":"f","arguments":""}});
        for before in [json!({"content":"a"}), json!({"reasoning_content":"r"}), json!({"tool_calls":[call]})] {
            let before = [json!({"id":"c","model":"m","choices":[{"index":0,"delta":before}]})];
            same_in_any_layout("openai_chat", &before, &chunk, choices.clone());
        }
    }

    #[test]
    fn a_responses_delta_means_the_same_in_any_layout(
        text in text(), kind in 0usize..6, index in 0u32..4, at in 0u32..3, choices in proptest::collection::vec(any::<u8>(), 1..40),
    ) {
        let (name, place) = [
            ("output_text", "content_index"),
            ("refusal", "content_index"),
            ("reasoning_summary_text", "summary_index"),
            ("reasoning_text", "content_index"),
            ("function_call_arguments", "none"),
            ("custom_tool_call_input", "none"),
        ][kind];
        let mut event = json!({
            "type": format!("response.{name}.delta"), "sequence_number": 7, "item_id": "i\n", "output_index": index,
            "delta": text, "logprobs": [], "obfuscation": "x",
        });
        if place != "none" {
            event[place] = json!(at);
        }
        same_in_any_layout("openai_responses", &responses_start(), &event, choices.clone());
    }

    #[test]
    fn damaged_events_never_panic(
        cut in 0usize..120, byte in any::<u8>(), at in 0usize..120,
    ) {
        let event = br#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\u00e9\n\ud83d\ude00b"}}"#;
        let chunk = br#"{"id":"c","created":1,"choices":[{"index":0,"delta":{"content":"a\u00e9\n"},"finish_reason":null}]}"#;
        let delta = br#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a\u00e9\n","logprobs":[]}"#;
        for whole in [event.as_slice(), chunk.as_slice(), delta.as_slice()] {
            let mut damaged = whole[..cut.min(whole.len())].to_vec();
            if let Some(hit) = damaged.get_mut(at) {
                *hit = byte;
            }
            for name in ["anthropic", "openai_chat", "openai_responses", "ndjson"] {
                let mut decoder = (protocol(name).unwrap().decoder)();
                let mut answer = ModelAnswer::new(true);
                let _ = decoder.decode_event(b"", &damaged, &mut answer);
                let _ = decoder.decode_body(&damaged, &mut answer);
                let _ = decoder.finish(&mut answer);
            }
        }
    }
}

#[test]
fn a_lone_surrogate_in_a_delta_becomes_the_replacement_character() {
    let event = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x\ud83dy"}}"#;
    let mut decoder = (protocol("anthropic").unwrap().decoder)();
    let (answer, failure) = answer_of(&mut decoder, &anthropic_start(), event);
    assert_eq!((answer.parts[0].text.as_str(), failure), ("ax\u{fffd}y", None));
}

#[test]
fn the_pieces_of_a_block_within_one_chunk_are_reported_joined() {
    let mut decoder = (protocol("anthropic").unwrap().decoder)();
    let mut answer = ModelAnswer::new(true);
    for value in anthropic_start() {
        decoder
            .decode_event(b"", value.to_string().as_bytes(), &mut answer)
            .unwrap();
    }
    answer.take_changes();
    let event = br#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b"}}"#;
    decoder.decode_event(b"", event, &mut answer).unwrap();
    decoder.decode_event(b"", event, &mut answer).unwrap();
    assert_eq!(answer.take_changes().len(), 1);
    assert_eq!(answer.parts[0].kind, PartKind::Text);
    assert_eq!(answer.parts[0].text, "abb");
}

#[test]
fn an_id_that_comes_late_changes_neither_the_call_nor_a_minted_id() {
    let delta =
        |call: Value| json!({"id":"c","choices":[{"index":0,"delta":{"tool_calls":[call]}}]}).to_string();
    let mut decoder = (protocol("openai_chat").unwrap().decoder)();
    let mut answer = ModelAnswer::new(true);
    let head = delta(json!({"index":0,"function":{"name":"f","arguments":"{"}}));
    decoder.decode_event(b"", head.as_bytes(), &mut answer).unwrap();
    answer.parts[0].id = "minted".to_owned();
    let late = delta(json!({"index":0,"id":"late","function":{"name":"f","arguments":"}"}}));
    decoder.decode_event(b"", late.as_bytes(), &mut answer).unwrap();
    assert_eq!(answer.parts.len(), 1);
    assert_eq!(
        (answer.parts[0].id.as_str(), answer.parts[0].text.as_str()),
        ("minted", "{}")
    );
}
