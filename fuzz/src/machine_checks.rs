//! What holds of every run that has ended.

use std::collections::BTreeMap;

use looplet::engine::event::EventKind;
use looplet::engine::input::{Input, QuestionAnswer, ToolReturn};
use looplet::engine::moment::Moment;
use looplet::engine::usage::Usage;
use serde_json::Value;

use super::world::World;

/// I-01 on the neutral messages of the result.
pub fn check_messages(messages: &Value) {
    let mut open: Vec<Value> = Vec::new();
    for message in messages.as_array().unwrap() {
        let content = message["content"].as_array().unwrap();
        assert!(!content.is_empty());
        let results: Vec<Value> = content
            .iter()
            .filter_map(|block| block.get("callId").cloned())
            .collect();
        assert_eq!(
            results, open,
            "the results are not those of the calls before, in order"
        );
        let calls = content.iter().filter(|block| block["type"] == "tool_call");
        open = calls.map(|block| block["id"].clone()).collect();
    }
    assert!(open.is_empty(), "a call without a result");
}

pub fn check_events(world: &World, result: &Value) {
    let is_finish = |kind: &EventKind| matches!(kind, EventKind::Finish { .. });
    let finishes = world.events.iter().filter(|event| is_finish(&event.kind)).count();
    assert_eq!(finishes, 1, "I-06");
    assert!(
        is_finish(&world.events.last().unwrap().kind),
        "I-06: something after the end"
    );
    assert!(world.run.poll_timeout().is_none(), "a timer after the end");
    let mut open = BTreeMap::new();
    let mut calls: BTreeMap<(u32, u32, u32), Usage> = BTreeMap::new();
    for event in &world.events {
        let place = |block: &u32| (event.agent, event.iteration, event.attempt, *block);
        match &event.kind {
            EventKind::TextStart { block }
            | EventKind::ReasoningStart { block }
            | EventKind::ToolInputStart { block, .. } => {
                assert!(
                    open.insert(place(block), ()).is_none(),
                    "a block that starts twice"
                );
            }
            EventKind::TextDelta { block, .. }
            | EventKind::ReasoningDelta { block, .. }
            | EventKind::ToolInputDelta { block, .. } => {
                assert!(open.contains_key(&place(block)), "a delta outside its block");
            }
            EventKind::TextEnd { block }
            | EventKind::ReasoningEnd { block }
            | EventKind::ToolInputEnd { block } => {
                assert!(open.remove(&place(block)).is_some(), "an end without its start");
            }
            EventKind::Reset { .. } => open.retain(|(agent, ..), ()| *agent != event.agent),
            EventKind::Usage { usage, .. } => {
                calls.insert((event.agent, event.iteration, event.attempt), *usage);
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "a block that never ended");
    let mut sum = Usage::default();
    calls.values().for_each(|usage| sum.add(usage));
    let usage: Usage = serde_json::from_value(result["usage"].clone()).unwrap();
    assert_eq!(usage, sum, "I-06: usage is not the sum of its calls");
}

pub fn check_overlaps(world: &World) {
    let mut keys: Vec<&str> = Vec::new();
    for running in world
        .running
        .values()
        .filter(|running| running.tool_name == "key")
    {
        let key = running.input.as_str();
        assert!(
            !keys.contains(&key),
            "I-04: two calls of one resource key run at once"
        );
        keys.push(key);
    }
}

/// Answers to an effect that is not open.
pub fn check_late_answers(world: &mut World, is_careful: bool) {
    let effect = world.events.len() as u32 % 50;
    if world.run.is_live(effect) {
        return;
    }
    let moment = Moment {
        now_ms: world.now_ms,
        random: world.seed,
    };
    let before = is_careful.then(|| state(world));
    let late = [
        Input::Chunk {
            request: effect,
            bytes: b"data: x\n\n",
        },
        Input::End { request: effect },
        Input::NetworkFailed {
            request: effect,
            why: "late".into(),
        },
        Input::ToolFinished {
            call: effect,
            result: ToolReturn::Content(Vec::new()),
        },
        Input::Answered {
            question: effect,
            answer: QuestionAnswer::Prepared(Vec::new()),
        },
        Input::Saved {
            save: effect,
            ok: true,
        },
        Input::HandedOver { handover: effect },
    ];
    for input in late {
        world.run.handle_input(input, moment);
        assert_eq!(world.run.poll_output(), None, "a late answer has an effect");
    }
    if let Some(before) = before {
        assert_eq!(state(world), before, "a late answer changes the state");
    }
}

fn state(world: &World) -> Value {
    let mut state = serde_json::to_value(&world.run).unwrap();
    // Of the input at hand.
    for field in ["random", "seed", "now_ms", "clock_ms", "ahead_ms"] {
        state["ledger"][field] = Value::Null;
    }
    state
}
