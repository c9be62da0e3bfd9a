//! The journal's facts and the records of a run, as data that outlives it.

use looplet::engine::model::journal::{CallStatus, Checkpoint, Entry, FORMAT, Fact, ProcessStart, Record};
use looplet::engine::model::json;
use serde_json::{Value, json};

use crate::wire::{Piece, call, stream, text};
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
    let refused = |input: Value| {
        let line = json!({"nowMs": 1, "random": "2", "after": 0, "input": input}).to_string();
        let record: Record = json::read("record", &line).unwrap();
        record.play(|_, _| ()).unwrap_err().field
    };
    assert_eq!(refused(json!({"json": {"steer": {"id": "x"}}})), "input.steer.id");
    assert_eq!(
        refused(json!({"bytes": {"request": 1, "base64": "*"}})),
        "input.bytes.base64"
    );
}

#[test]
fn a_checkpoint_folds_entries_and_goes_through_json() {
    let mut world = World::started(setting());
    world.respond(&stream(&[call("b", "wipe", json!({}))], "tool_use"));
    let kept: Checkpoint = json::read("checkpoint", &json::write(&world.checkpoint)).unwrap();
    assert_eq!(kept, world.checkpoint);
    let [call] = &kept.agents[0].calls[..] else {
        panic!("{kept:?}")
    };
    assert_eq!(
        (call.tool_call_id.as_str(), &call.status),
        ("b", &CallStatus::Asked)
    );
    assert_eq!(call.question, Some(world.questions[0].0));
}

#[test]
fn a_checkpoint_refuses_entries_that_cannot_follow() {
    let entry = |seq, agent, fact| Entry { seq, agent, fact };
    let agent = || Fact::Agent(Box::default());
    let messages = |from| Fact::Messages {
        from,
        upto: None,
        messages: Vec::new(),
        left_out: Vec::new(),
    };
    let newer = ProcessStart {
        format: FORMAT + 1,
        ..ProcessStart::default()
    };
    let mut checkpoint = Checkpoint::default();
    checkpoint.fold(entry(1, 0, agent())).unwrap();
    let before = checkpoint.clone();
    for (wrong, problem) in [
        (entry(3, 0, messages(0)), "does not follow the previous entry"),
        (entry(1, 0, messages(0)), "does not follow the previous entry"),
        (entry(2, 1, messages(0)), "has not begun"),
        (entry(2, 0, agent()), "is not the next one"),
        (entry(2, 0, messages(1)), "leaves messages out"),
        (
            entry(2, 0, Fact::ProcessStarted(Box::new(newer))),
            "was written by a newer version of looplet: update looplet",
        ),
    ] {
        assert_eq!(checkpoint.fold(wrong).unwrap_err().problem, problem);
        assert_eq!(checkpoint, before);
    }
    checkpoint.fold(entry(2, 0, messages(0))).unwrap();
    assert_eq!(checkpoint.seq, 2);
}

#[test]
fn an_entry_is_one_line_whatever_the_model_has_written() {
    let input = "{\n  \"n\": 1,\r\n  \"text\": \"a\\nb\"\n}";
    let mut world = World::started(config(json!([tool("add", json!({}))]), json!({})));
    world.respond(&stream(
        &[Piece::Call("a".into(), "add".into(), input.into())],
        "tool_use",
    ));
    world.return_value("a", json!(3));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(
        world.result()["toolCalls"][0]["input"],
        json!({"n": 1, "text": "a\nb"})
    );
    assert!(world.entries.len() > 5);
    for entry in &world.entries {
        let line = json::write(entry);
        assert!(!line.contains(['\n', '\r']), "{line}");
    }
}

#[test]
fn an_output_stands_once_in_the_journal() {
    let tools = json!([tool("read", json!({"readOnly": true}))]);
    let mut world = World::started(config(tools, json!({})));
    world.respond(&stream(
        &[call("a", "read", json!({})), call("b", "read", json!({}))],
        "tool_use",
    ));
    world.return_value("a", json!("first \"output\""));
    world.return_value("b", json!({"second": "output"}));
    let journal: String = world.entries.iter().map(json::write).collect();
    assert_eq!(journal.matches(r#""first "#).count(), 1, "{journal}");
    // The last call of a round and the round's end are one save, without a state of the call.
    assert_eq!(journal.matches("second").count(), 1, "{journal}");
    let texts: Vec<String> = world.entries.iter().map(json::write).collect();
    let (folded, _) = Checkpoint::of(&texts).unwrap();
    let agent = &folded.agents[0];
    let outputs: Vec<_> = agent
        .records
        .iter()
        .map(|record| json::write(&record.output))
        .collect();
    assert_eq!(outputs, [r#""first \"output\"""#, r#"{"second":"output"}"#]);
    let results = json::write(agent.messages.last().unwrap());
    assert!(
        results.contains(r#"{"type":"text","text":"first \"output\""}"#),
        "{results}"
    );
    assert!(
        results.contains(r#"{"type":"text","text":"{\"second\":\"output\"}"}"#),
        "{results}"
    );
}

#[test]
fn what_the_model_got_in_other_words_stays_in_its_message() {
    let tools = json!([tool("read", json!({"readOnly": true, "maxResultChars": 20}))]);
    let mut world = World::started(config(tools, json!({})));
    world.respond(&stream(&[call("a", "read", json!({}))], "tool_use"));
    world.return_value("a", json!("x".repeat(50)));
    world.respond(&stream(&[call("b", "read", json!({}))], "tool_use"));
    world.return_value("b", json!("short"));
    let texts: Vec<String> = world.entries.iter().map(json::write).collect();
    let (folded, _) = Checkpoint::of(&texts).unwrap();
    let agent = &folded.agents[0];
    let shown = |at: usize| json::write(&agent.messages[at]);
    assert!(
        shown(2).contains("xxx") && !shown(2).contains(&"x".repeat(50)),
        "{}",
        shown(2)
    );
    assert!(shown(4).contains(r#""text":"short""#), "{}", shown(4));
    let outputs: Vec<_> = agent
        .records
        .iter()
        .map(|record| json::write(&record.output))
        .collect();
    assert_eq!(
        outputs,
        [format!("\"{}\"", "x".repeat(50)), r#""short""#.to_owned()]
    );
}
