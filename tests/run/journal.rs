//! The journal's facts and the records of a run, as data that outlives it.

use looplet::engine::model::journal::{Checkpoint, Entry, Fact, Record};
use looplet::engine::model::json;
use looplet::engine::model::output::EffectKind;
use serde_json::{Value, json};

use crate::wire::{call, stream, text};
use crate::world::{World, config, tool};

fn setting() -> crate::world::Settings {
    let tools = json!([
        tool("read", json!({"readOnly": true})),
        tool("wipe", json!({"needsApproval": true}))
    ]);
    config(
        tools,
        json!({
            "permissions": {"canUseTool": true, "allow": ["read"]},
            "retry": {"jitterMs": 400, "jitter": "full"}
        }),
    )
}

/// A run with a retry, a tool, a question that stays open, and an abort.
fn played() -> World {
    let mut world = World::new(setting());
    world.is_recorded = true;
    world.prompt("Go.");
    world.refuse(529, &[], "{}");
    world.pass(10_000);
    world.respond(&stream(
        &[
            text("Räd 🦀"),
            call("a", "read", json!({})),
            call("b", "wipe", json!({})),
        ],
        "tool_use",
    ));
    world.return_value("a", json!(1));
    world.cancel();
    world
}

#[test]
fn i_07_the_records_of_a_run_replay_it_byte_for_byte() {
    let world = played();
    let lines: Vec<String> = world.records.iter().map(json::write).collect();
    let mut again = World::new(setting());
    (again.confirm_saves, again.is_recorded) = (false, true);
    for line in &lines {
        let record: Record = json::read("record", line).unwrap();
        record.play(|input, moment| again.take(input, moment)).unwrap();
    }
    assert!(lines.len() > 8, "{lines:?}");
    assert_eq!(again.requests, world.requests);
    assert_eq!(again.events, world.events);
    assert_eq!(again.checkpoint, world.checkpoint);
    assert_eq!(again.result(), world.result());
    assert_eq!(again.records, world.records);
}

#[test]
fn a_record_that_is_none_is_refused_with_its_path() {
    let moment = json!({"nowMs": 1, "random": 2});
    let refused = |input: Value| {
        let line = json!({"moment": moment, "input": input}).to_string();
        let record: Record = json::read("record", &line).unwrap();
        record.play(|_, _| ()).unwrap_err().field
    };
    assert_eq!(
        refused(json!({"input": {"steer": {"id": "x"}}})),
        "input.steer.id"
    );
    assert_eq!(
        refused(json!({"chunk": {"request": 1, "base64": "*"}})),
        "input.chunk.base64"
    );
}

#[test]
fn a_checkpoint_folds_entries_and_goes_through_json() {
    let mut world = World::started(setting());
    world.respond(&stream(&[call("b", "wipe", json!({}))], "tool_use"));
    let kinds = |checkpoint: &Checkpoint| -> Vec<EffectKind> {
        let kind = |entry: &Entry| match entry.fact {
            Fact::Opened { kind, .. } => kind,
            Fact::Closed { .. } => panic!("it is over"),
        };
        checkpoint.open.iter().map(kind).collect()
    };
    let kept: Checkpoint = json::read("checkpoint", &json::write(&world.checkpoint)).unwrap();
    assert_eq!(kept, world.checkpoint);
    assert!(matches!(kinds(&kept)[..], [EffectKind::Question(_)]), "{kept:?}");
}

#[test]
fn a_checkpoint_refuses_entries_that_cannot_follow() {
    let entry = |seq, fact| Entry { seq, agent: 0, fact };
    let opened = |effect| Fact::Opened {
        effect,
        kind: EffectKind::Tool,
    };
    let mut checkpoint = Checkpoint::default();
    checkpoint.fold(entry(1, opened(5))).unwrap();
    let before = checkpoint.clone();
    for (wrong, problem) in [
        (entry(3, opened(6)), "does not follow the entry before"),
        (entry(1, opened(6)), "does not follow the entry before"),
        (entry(2, opened(5)), "is open already"),
        (entry(2, Fact::Closed { effect: 6 }), "is not open"),
    ] {
        assert_eq!(checkpoint.fold(wrong).unwrap_err().problem, problem);
        assert_eq!(checkpoint, before);
    }
    checkpoint.fold(entry(2, Fact::Closed { effect: 5 })).unwrap();
    assert_eq!((checkpoint.seq, checkpoint.open.len()), (2, 0));
}
