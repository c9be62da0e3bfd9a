//! Random schedules in which the process dies now and then, and the run goes on from its journal.

use std::collections::BTreeMap;

use looplet::engine::model::event::EventKind;
use looplet::engine::model::journal::Entry;
use looplet::engine::model::json;
use looplet::engine::model::usage::Usage;
use serde_json::Value;

use crate::dice::Dice;
use crate::ended::check_messages;
use crate::invariants::{check_turns, check_wire_messages, usage_by_iterations, usage_by_model};
use crate::kill_calls::{eager, guarded, hooked, permitted};
use crate::kill_everywhere::{handed, long, nested, shortened};
use crate::killed::Outside;
use crate::random_answers::protocol_of;
use crate::random_schedules::{is_once, play};
use crate::random_settings::SECRET;
use crate::wire_items::{check_items, items};
use crate::world::World;

const CASES: u64 = 300;

#[test]
fn i_01_i_03_i_08_a_run_that_crashes_at_random_points_stays_legal_and_ends() {
    let mut completed = 0;
    for seed in 0..CASES {
        let played = play(1_000_000 + seed, true);
        let world = &played.world;
        for (sent, body) in world.sent.iter().zip(&world.requests) {
            let protocol = protocol_of(sent);
            if protocol == "anthropic" {
                check_wire_messages(&serde_json::from_str(body).unwrap());
            } else {
                check_items(&items(protocol, body));
            }
            check_turns(body);
        }
        let result = world.result();
        check_messages(&result["messages"]);
        for memory in result["subagents"].as_array().unwrap() {
            check_messages(&memory["messages"]);
        }
        check_starts(world, &result);
        check_iterations(world, &result);
        check_records(&result);
        // A run that has given up has never gone on with the agents below its root.
        if result["stoppedBy"] != "recovery_exhausted" {
            let usage: Option<Usage> = serde_json::from_value(result["usage"].clone()).unwrap();
            assert_eq!(usage, usage_by_iterations(world), "I-06: seed {seed}");
            assert_eq!(usage, usage_by_model(&result), "I-06: seed {seed}");
        }
        let has_secret = |entry: &Entry| json::write(entry).contains(SECRET);
        assert!(!world.entries.iter().any(has_secret), "I-08: seed {seed}");
        completed += u32::from(result["outcome"] == "completed");
        let is_raised = world.event_names().contains(&"limits".to_owned());
        let iterations = result["iterations"].as_u64().unwrap();
        assert!(
            is_raised || iterations <= played.max_iterations.into(),
            "I-05: seed {seed}"
        );
    }
    assert!(completed > 0, "no run completes");
}

/// A call that may run once is started once, unless your code has said that it did not run, or unless it goes on from
/// its checkpoint. A call with a result was started.
fn check_starts(world: &World, result: &Value) {
    for (id, name) in world.started.iter().filter(|(id, _)| id != "same") {
        let starts = world.started.iter().filter(|(other, _)| other == id).count();
        let again = world
            .tool_log
            .iter()
            .filter(|line| **line == format!("again {id}"));
        let checkpoint = format!("checkpoint {id}");
        let can_go_on = world.tool_log.contains(&checkpoint);
        assert!(
            !is_once(name) || can_go_on || starts <= 1 + again.count(),
            "{id} ran again: {:?}",
            world.tool_log
        );
    }
    for record in result["toolCalls"].as_array().unwrap() {
        let (id, name) = (&record["toolCallId"], record["toolName"].as_str().unwrap());
        let is_started = world.started.iter().any(|(other, _)| id == other);
        let is_reconciled = world
            .tool_log
            .iter()
            .any(|line| line.strip_prefix("done ") == id.as_str());
        assert!(
            !is_once(name) || record["isError"] == true || is_started || is_reconciled,
            "{id} has a result and never ran"
        );
    }
}

/// An iteration ends before the next one begins, and none is left out. The result counts them.
fn check_iterations(world: &World, result: &Value) {
    let mut last: BTreeMap<u32, (u32, bool)> = BTreeMap::new();
    for event in &world.events {
        let (iteration, is_open) = last.entry(event.agent).or_default();
        match event.kind {
            EventKind::IterationStart if event.iteration == *iteration => *is_open = true,
            EventKind::IterationStart => {
                assert!(
                    !*is_open,
                    "iteration {iteration} of agent {} has no end",
                    event.agent
                );
                assert_eq!(event.iteration, *iteration + 1, "of agent {}", event.agent);
                (*iteration, *is_open) = (event.iteration, true);
            }
            EventKind::IterationFinish { .. } => {
                assert!(
                    *is_open && event.iteration == *iteration,
                    "{event:?} after {iteration}"
                );
                *is_open = false;
            }
            _ => {}
        }
    }
    let iterations = last.get(&0).map_or(0, |(iteration, _)| *iteration);
    assert_eq!(result["iterations"], iterations, "I-06");
}

/// Each call of the transcript has one record.
fn check_records(result: &Value) {
    let records = result["toolCalls"].as_array().unwrap();
    let messages = result["messages"].as_array().unwrap();
    let blocks = messages
        .iter()
        .flat_map(|message| message["content"].as_array().unwrap());
    // The model has given some calls of other answers one id.
    let calls = blocks.filter(|block| block["type"] == "tool_call" && block["name"] != "answer");
    for call in calls.filter(|call| call["id"] != "same") {
        let of_call = records.iter().filter(|record| record["toolCallId"] == call["id"]);
        assert_eq!(of_call.count(), 1, "records of {call}: {records:#?}");
    }
}

/// The runs of the scenes, in which most calls run, with random cuts, and with what comes in a random order.
#[test]
fn i_01_runs_that_die_at_random_points_end_as_if_nothing_had_happened() {
    let mut given_up = 0;
    let scenes = [
        long(),
        nested(),
        handed(),
        hooked(),
        guarded(),
        permitted(),
        eager(),
        shortened(),
    ];
    for scene in &scenes {
        let mut whole = Outside::new(scene);
        whole.live(&[]);
        for seed in 0..24 {
            let mut dice = Dice(seed);
            let cuts: Vec<usize> = (0..4).map(|_| 16 + dice.below(60) as usize).collect();
            let mut outside = Outside::new(scene);
            outside.dice = Some(dice);
            outside.live(&cuts);
            if outside.end()["stoppedBy"] == "recovery_exhausted" {
                given_up += 1;
                continue;
            }
            outside.check(
                &whole,
                &format!("{}: seed {seed}, killed after {cuts:?} outputs", scene.name),
            );
        }
    }
    assert!(given_up < 20, "{given_up} runs gave up");
}
