//! What holds of the messages and events of every run that has ended; the fuzz target of the machine checks it too.

use std::collections::BTreeMap;

use looplet::engine::model::event::{Event, EventKind};
use looplet::engine::model::usage::Usage;
use serde_json::Value;

/// I-01, I-03 and I-04 on the neutral messages of the result.
pub fn check_messages(messages: &Value) {
    let mut open: Vec<Value> = Vec::new();
    for message in messages.as_array().unwrap() {
        let content = message["content"].as_array().unwrap();
        assert!(!content.is_empty(), "I-03: an empty message in the result");
        let results: Vec<Value> = content
            .iter()
            .filter_map(|block| block.get("callId").cloned())
            .collect();
        assert_eq!(
            results, open,
            "I-01, I-04: in the result, results are not those of the calls before, in order"
        );
        let calls = content.iter().filter(|block| block["type"] == "tool_call");
        open = calls.map(|block| block["id"].clone()).collect();
    }
    assert!(open.is_empty(), "I-01: a call without a result in the result");
}

/// One end, and each block between its start and its end.
pub fn check_order(events: &[Event]) {
    let is_finish = |event: &&Event| matches!(event.kind, EventKind::Finish { .. });
    assert_eq!(events.iter().filter(is_finish).count(), 1, "I-06");
    assert!(
        events.last().as_ref().is_some_and(is_finish),
        "I-06: something after the end"
    );
    let mut open = BTreeMap::new();
    for event in events {
        let place = |block: &u32| (event.agent, event.iteration, event.attempt, *block);
        match &event.kind {
            EventKind::TextStart { block, .. }
            | EventKind::ReasoningStart { block }
            | EventKind::ToolInputStart { block, .. } => {
                let before = open.insert(place(block), ());
                assert!(before.is_none(), "I-06: a block that starts twice");
            }
            EventKind::TextDelta { block, .. }
            | EventKind::ReasoningDelta { block, .. }
            | EventKind::ToolInputDelta { block, .. } => {
                let is_open = open.contains_key(&place(block));
                assert!(is_open, "I-06: a delta outside its block");
            }
            EventKind::TextEnd { block }
            | EventKind::ReasoningEnd { block }
            | EventKind::ToolInputEnd { block } => {
                let began = open.remove(&place(block));
                assert!(began.is_some(), "I-06: an end without its start");
            }
            EventKind::Reset { .. } => open.retain(|(agent, ..), ()| *agent != event.agent),
            _ => {}
        }
    }
    assert!(open.is_empty(), "I-06: a block that never ended");
}

/// The sum of what each model call has reported last.
pub fn usage_by_events(events: &[Event]) -> Usage {
    let mut calls: BTreeMap<(u32, u32, u32), Usage> = BTreeMap::new();
    for event in events {
        if let EventKind::Usage { usage, .. } = &event.kind {
            calls.insert((event.agent, event.iteration, event.attempt), *usage);
        }
    }
    let mut sum = Usage::default();
    calls.values().for_each(|usage| sum.add(usage));
    sum
}
