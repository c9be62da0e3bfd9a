use looplet::engine::model::event::CompactTrigger;
use looplet::engine::model::message::{Block, Message, Role};
use looplet::engine::policy::context;
use serde_json::{Value, json};

use crate::compaction::{after_rounds, boundaries, last, legal};
use crate::wire::{stream, text};

#[test]
fn p_17_a_budget_of_characters_drops_the_oldest_messages_for_a_summary_of_them() {
    let mut world = after_rounds(3, json!({"maxChars": 610, "auto": false}));
    let messages = last(&world);
    let words = messages.to_string();
    assert!(
        words.contains("[Context summary: User asked: Go.\\nAssistant: round 1\\n  Called tools: look"),
        "{words}"
    );
    assert!(!words.contains("result 1") && words.contains("result 3"));
    assert_eq!(boundaries(&world).last().unwrap().0, CompactTrigger::Budget);
    assert!(
        world.event_names().iter().all(|name| name != "compact-start"),
        "no model is asked"
    );
    world.respond(&stream(&[text("Done.")], "end_turn"));
    legal(&world);

    let fits = after_rounds(3, json!({"maxChars": 10_000}));
    assert!(boundaries(&fits).is_empty(), "within the budget nothing changes");
    let tiny = after_rounds(3, json!({"maxChars": 1}));
    assert!(
        last(&tiny).to_string().contains("result 3"),
        "the last round is always there"
    );
    assert!(tiny.done.is_none());
}

/// The messages of requests: those from the last summary on.
fn sent_part(messages: &Value) -> Value {
    let all = messages.as_array().unwrap();
    let summary = all
        .iter()
        .rposition(|message| message["content"][0]["purpose"] == "summary");
    json!(all[summary.unwrap_or(0)..])
}

/// As P-17 counts.
fn characters(messages: &Value) -> usize {
    let text = |block: &Value| block["text"].as_str().unwrap_or_default().chars().count();
    let count = |block: &Value| match block["type"].as_str().unwrap() {
        "tool_call" => {
            let length = |key: &str| block[key].as_str().unwrap_or_default().len();
            length("id") + length("name") + block["input"].to_string().len() + 35
        }
        "tool_result" => {
            8 + block["content"]
                .as_array()
                .unwrap()
                .iter()
                .map(text)
                .sum::<usize>()
        }
        "thinking" => 0,
        _ => text(block),
    };
    let of = |message: &Value| {
        let blocks = message["content"].as_array().unwrap();
        message["role"].as_str().unwrap().len() + 4 + blocks.iter().map(count).sum::<usize>()
    };
    messages.as_array().unwrap().iter().map(of).sum()
}

#[test]
fn p_17_a_request_with_its_summary_keeps_to_the_budget_and_is_never_longer_than_without() {
    for budget in (60..1400).step_by(134) {
        let world = after_rounds(5, json!({"maxChars": budget, "auto": false}));
        let messages = sent_part(&world.result()["messages"]);
        let system = "system".len() + 4 + "Be brief.".len();
        let length = characters(&messages) + system;
        let rest = messages.as_array().unwrap().len() - 1;
        assert!(length <= budget || rest <= 2, "{length} of {budget}: {messages}");
        legal(&world);
    }
}

#[test]
fn p_17_a_summary_never_makes_a_request_longer_and_is_not_made_again_for_nothing() {
    let count = |messages: &[Message]| messages.iter().map(context::characters).sum::<u64>();
    let answer = |text: String| Message {
        role: Role::Assistant,
        ..Message::user(vec![Block::text(text)])
    };
    for (turns, length) in [(2, 1), (5, 8), (9, 70), (4, 400), (3, 7000)] {
        let turn = |at: usize| {
            [
                Message::user(vec![Block::text("q".repeat(length + at))]),
                answer("a".repeat(length)),
            ]
        };
        let mut messages: Vec<Message> = (0..turns).flat_map(turn).collect();
        messages.push(Message::user(vec![Block::text("And now?")]));
        let whole = count(&messages);
        for budget in (1..whole + 40).step_by(1 + whole as usize / 90) {
            let Some(trimmed) = context::trim_to_budget(&messages, None, budget) else {
                let most = 27 + 28.max(budget / 20);
                assert!(
                    whole <= budget
                        || messages.len() <= 3
                        || whole <= most + count(&messages[messages.len() - 2..])
                );
                continue;
            };
            let mut kept = vec![Message::user(vec![context::summary_block(
                &trimmed.summary,
                None,
            )])];
            kept.extend_from_slice(&messages[trimmed.cut..]);
            let length = count(&kept);
            assert!(length < whole, "{budget}: {whole} to {length}");
            assert!(length <= budget || kept.len() <= 3, "{budget}: {length}");
            let again = context::trim_to_budget(&kept, None, budget);
            assert!(again.is_none(), "{budget}: twice");
        }
    }
}
