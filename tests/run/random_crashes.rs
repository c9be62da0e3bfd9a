//! Random schedules in which the process dies now and then, and the run goes on from its journal.

use looplet::engine::model::journal::Entry;
use looplet::engine::model::json;

use crate::ended::check_messages;
use crate::invariants::{check_turns, check_wire_messages};
use crate::random_answers::protocol_of;
use crate::random_schedules::play;
use crate::random_settings::SECRET;
use crate::wire_items::{check_items, items};
use crate::world::World;

const CASES: u64 = 300;

#[test]
fn i_01_i_03_i_08_a_run_that_crashes_at_random_points_stays_legal_and_ends() {
    let mut completed = 0;
    for seed in 0..CASES {
        let played = play(1_000_000 + seed, false, true);
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
        check_starts(world);
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

/// A call that may run once is started once, unless your code has said that it did not run.
fn check_starts(world: &World) {
    for (id, name) in &world.started {
        let starts = world.started.iter().filter(|(other, _)| other == id).count();
        let again = world
            .tool_log
            .iter()
            .filter(|line| **line == format!("again {id}"));
        let is_once = name == "once" || name == "write";
        assert!(
            !is_once || starts <= 1 + again.count(),
            "{id} ran again: {:?}",
            world.tool_log
        );
    }
}
