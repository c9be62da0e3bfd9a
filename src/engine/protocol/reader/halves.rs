//! The two halves of a letter in two pieces of a stream are one letter, in text and in arguments.

use crate::engine::model::answer::ModelAnswer;
use crate::engine::protocol::protocol;
use crate::engine::protocol::reader::AnswerReader;

/// The text and the arguments of an answer, read in two parts cut at `cut`.
fn read(name: &str, body: &str, cut: usize) -> Vec<String> {
    let mut reader = AnswerReader::new(protocol(name).unwrap());
    let mut answer = ModelAnswer::new(true);
    let (before, behind) = body.as_bytes().split_at(cut);
    reader.feed(before, &mut answer).unwrap();
    reader.feed(behind, &mut answer).unwrap();
    reader.finish(&mut answer).unwrap();
    answer.parts.iter().map(|part| part.text.clone()).collect()
}

fn sse(events: &[&str]) -> String {
    events.iter().map(|data| format!("data: {data}\n\n")).collect()
}

fn streams() -> Vec<(&'static str, String)> {
    let anthropic = [
        r#"{"type":"message_start","message":{"id":"m","model":"m"}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"y"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\ud83d"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ude00b"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\uD83D"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"1","name":"t","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"q\":\"\ud83d"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\ude00\"}"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let chat = [
        r#"{"choices":[{"index":0,"delta":{"content":"xya\ud83d"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"\ude00b\ud83d"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"t","arguments":"{\"q\":\"\ud83d"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\ude00\"}"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
        "[DONE]",
    ];
    let responses = [
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m"}}"#,
        r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"xya\ud83d"}"#,
        r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"\ude00b\ud83d"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m","content":[{"type":"output_text","text":"xya\ud83d\ude00b\ud83d"}]}}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"1","name":"t"}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"q\":\"\ud83d"}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":1,"delta":"\ude00\"}"}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"1","name":"t","arguments":"{\"q\":\"\ud83d\ude00\"}"}}"#,
        r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#,
    ];
    let gemini = [
        r#"{"candidates":[{"content":{"parts":[{"text":"xya\ud83d"}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"\ude00b\ud83d"}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":{"q":"😀"}}}]},"finishReason":"STOP"}]}"#,
    ];
    let lines = [
        r#"{"type":"text","text":"xya\ud83d"}"#,
        r#"{"type":"text","text":"\ude00b\ud83d"}"#,
        r#"{"type":"tool_call_start","id":"1","name":"t"}"#,
        r#"{"type":"tool_call_delta","text":"{\"q\":\"\ud83d"}"#,
        r#"{"type":"tool_call_delta","text":"\ude00\"}"}"#,
        r#"{"type":"finish","reason":"tool_calls"}"#,
    ];
    vec![
        ("anthropic", sse(&anthropic)),
        ("openai_chat", sse(&chat)),
        ("openai_responses", sse(&responses)),
        ("gemini", sse(&gemini)),
        ("ndjson", lines.join("\n") + "\n"),
    ]
}

#[test]
fn the_halves_of_a_letter_in_two_pieces_are_one_letter_wherever_the_bytes_are_cut() {
    for (name, body) in streams() {
        for cut in 0..=body.len() {
            let parts = read(name, &body, cut);
            assert_eq!(
                parts,
                ["xya😀b\u{fffd}", "{\"q\":\"😀\"}"],
                "{name}, cut at {cut}"
            );
        }
    }
}
