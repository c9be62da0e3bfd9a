//! What holds of every run: I-01, I-03 to I-06, I-08 and I-10.

use std::collections::{BTreeMap, BTreeSet};

use looplet::engine::model::event::{Event, EventKind};
use looplet::engine::model::question::Point;
use looplet::engine::model::usage::{Usage, add_report};
use serde_json::Value;

use crate::ended::check_order;
use crate::random_hooks::MOST_RAISED_ROUNDS;
use crate::world::World;

/// I-01 and I-03 on the wire.
pub fn check_wire_messages(body: &Value) {
    let messages = body["messages"].as_array().unwrap();
    let mut open: Vec<&Value> = Vec::new();
    for message in messages {
        let content = message["content"].as_array().unwrap();
        assert!(!content.is_empty(), "I-03: an empty message");
        let results: Vec<&Value> = content
            .iter()
            .map_while(|block| block.get("tool_use_id"))
            .collect();
        assert_eq!(
            results, open,
            "I-01, I-04: the results are not those of the calls before, in order"
        );
        let blocks = content.iter().skip(results.len());
        assert!(
            blocks.clone().all(|block| block["type"] != "tool_result"),
            "a result after other content"
        );
        for block in blocks {
            assert!(
                block["text"].as_str().is_none_or(|text| !text.trim().is_empty()),
                "I-03: empty text"
            );
        }
        open = content
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|block| &block["id"])
            .collect();
        let mut unique = open.clone();
        unique.sort_by_key(|id| id.to_string());
        unique.dedup();
        assert_eq!(unique.len(), open.len(), "I-01: two calls of one id");
        assert!(open.is_empty() || message["role"] == "assistant");
    }
    assert!(open.is_empty(), "I-01: a call without a result");
}

/// I-03: the user and the model take turns.
pub fn check_turns(body: &str) {
    // In all protocols, and no text of theirs is like that.
    for twice in [
        r#"]},{"role":"user","content":[{"type":"text""#,
        r#"},{"role":"user","content":""#,
        r#"]},{"role":"user","parts":[{"text""#,
    ] {
        let mut rest = body;
        while let Some(at) = rest.find(twice) {
            let before = &rest[..at];
            let start = before.rfind(r#"{"role":"user""#);
            let other = [
                r#""role":"assistant""#,
                r#""role":"model""#,
                r#""role":"tool""#,
                r#""type":"function_call"#,
            ]
            .iter()
            .filter_map(|role| before.rfind(role))
            .max();
            assert!(
                start.is_none() || start < other,
                "I-03: the user twice in a row: {body}"
            );
            rest = &rest[at + 2..];
        }
    }
}

/// Tools that were called, those of subagents and subagents themselves included, as long as no limit was raised. What
/// started early in an attempt that failed is forgotten.
pub fn check_calls(world: &World, max_tool_calls: Option<u32>) {
    let is_raised = |event: &Event| matches!(event.kind, EventKind::Limits { .. });
    let Some(most) = max_tool_calls.filter(|_| !world.events.iter().any(is_raised)) else {
        return;
    };
    let attempt = |event: &Event| (event.agent, event.iteration, event.attempt);
    let is_reset = |event: &Event| matches!(event.kind, EventKind::Reset { .. });
    let resets: Vec<_> = world
        .events
        .iter()
        .filter(|event| is_reset(event))
        .map(attempt)
        .collect();
    let forgotten = |line: &&String| {
        world.events.iter().any(|event| match &event.kind {
            EventKind::ToolCall { tool_call_id, .. } => {
                line.strip_prefix("start ") == Some(tool_call_id) && resets.contains(&attempt(event))
            }
            _ => false,
        })
    };
    let started = world.tool_log.iter().filter(|line| line.starts_with("start"));
    let started = started.filter(|line| !forgotten(line));
    let begun = |event: &&Event| event.agent > 0 && matches!(event.kind, EventKind::AgentStart { .. });
    let begun = world.events.iter().filter(begun).count();
    assert!(
        started.count() + begun <= most as usize,
        "I-05: more tool calls than allowed"
    );
}

/// Never a success without a valid value.
pub fn check_output(wants_output: bool, result: &Value) {
    if wants_output && result["outcome"] == "completed" {
        assert!(
            result["output"]["n"].is_i64(),
            "S001-50: completed without an answer that fits"
        );
    }
}

pub fn check_limits(world: &World, max_iterations: u32, max_tool_rounds: Option<u32>, result: &Value) {
    assert!(
        result["iterations"].as_u64().unwrap() <= u64::from(max_iterations),
        "I-05"
    );
    let starts = world
        .events
        .iter()
        .filter(|event| event.agent == 0 && event.kind == EventKind::IterationStart)
        .count();
    assert!(
        starts as u32 <= max_iterations,
        "I-05: more model calls than allowed"
    );
    // An agent that takes over has limits of its own.
    let handed_over = |event: &Event| event.agent == 0 && matches!(event.kind, EventKind::Handoff { .. });
    if world.events.iter().any(handed_over) {
        return;
    }
    // A result that is no error is one of a call that was made; what an attempt that failed has brought does not
    // count.
    let mut rounds: Vec<u32> = Vec::new();
    for event in world.events.iter().filter(|event| event.agent == 0) {
        let is_last = rounds.last() == Some(&event.iteration);
        match event.kind {
            EventKind::ToolResult { .. } if !is_last => rounds.push(event.iteration),
            EventKind::Reset { .. } if is_last => drop(rounds.pop()),
            _ => {}
        }
    }
    let is_raised = |event: &Event| matches!(&event.kind, EventKind::Question { question, .. } if *question == Point::Limit);
    let raised = if world.events.iter().any(is_raised) {
        MOST_RAISED_ROUNDS
    } else {
        0
    };
    assert!(
        max_tool_rounds.is_none_or(|most| rounds.len() <= most.max(raised) as usize),
        "I-05: more rounds of tools than allowed"
    );
}

/// Nothing is left of a run that has ended.
pub fn check_end(world: &World) {
    assert!(
        (0..world.events.len() as u32 + 1000).all(|effect| !world.run.is_live(effect)),
        "I-10: an effect is open after the end"
    );
    let mut agents: BTreeMap<u32, i32> = BTreeMap::new();
    let mut questions: BTreeSet<u32> = BTreeSet::new();
    for event in &world.events {
        match event.kind {
            EventKind::AgentStart { .. } => *agents.entry(event.agent).or_default() += 1,
            EventKind::AgentFinish { .. } => *agents.entry(event.agent).or_default() -= 1,
            EventKind::Question { question_id, .. } => drop(questions.insert(question_id)),
            EventKind::Answered { question_id, .. } => {
                assert!(
                    questions.remove(&question_id),
                    "I-06: {question_id} was closed twice"
                );
            }
            _ => {}
        }
    }
    assert!(questions.is_empty(), "I-06: questions stay open: {questions:?}");
    assert!(
        agents.values().all(|open| *open == 0),
        "I-06: an agent began and did not end, or ended twice"
    );
}

/// What goes into a request's headers is told nobody.
pub fn check_secret(world: &World, secret: &str) {
    for event in &world.events {
        let told = serde_json::to_string(&event.kind).unwrap();
        assert!(!told.contains(secret), "I-08: a header's value in {told}");
    }
    let result = world.result().to_string();
    let bodies = world.requests.join("");
    assert!(
        !result.contains(secret) && !bodies.contains(secret),
        "I-08: a header's value in the result or in a body"
    );
}

pub fn check_events(world: &World) {
    check_order(&world.events);
    assert!(world.run.poll_timeout().is_none(), "I-10: a timer after the end");
}

pub fn usage_by_iterations(world: &World) -> Option<Usage> {
    let mut sum = None;
    for event in &world.events {
        if let EventKind::IterationFinish { usage, .. } = &event.kind {
            add_report(&mut sum, usage.as_ref());
        }
    }
    sum
}

pub fn usage_by_model(result: &Value) -> Option<Usage> {
    let by_model: BTreeMap<String, Option<Usage>> =
        serde_json::from_value(result["modelUsage"].clone()).unwrap();
    let mut sum = None;
    for usage in by_model.values() {
        add_report(&mut sum, usage.as_ref());
    }
    sum
}
