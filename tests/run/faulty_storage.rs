//! Stores that fail, are slow, are torn, write twice or lose an entry. The run is right, or says what is uncertain.

use std::sync::Arc;

use looplet::engine::agent::setup::Setup;
use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::{Input, Moment};
use looplet::engine::model::journal::{Checkpoint, Entry, Fact};
use looplet::engine::model::json;
use looplet::engine::model::message::Json;
use looplet::engine::model::output::Output;
use looplet::engine::run::Run;
use serde_json::json;

use crate::dice::Dice;
use crate::kill_calls::{eager, hooked};
use crate::kill_everywhere::{done, handed, long, nested};
use crate::killed::{Outside, Scene};
use crate::wire::{call, stream, text};
use crate::world::{World, config, tool};

/// The number of entries up to the last whole save.
fn whole(entries: &[Entry]) -> usize {
    let last = entries
        .iter()
        .rposition(|entry| matches!(entry.fact, Fact::Run(_)));
    last.map_or(0, |at| at + 1)
}

fn texts(entries: &[Entry]) -> Vec<Json> {
    entries.iter().map(Json::of).collect()
}

fn folded(entries: &[Entry]) -> Checkpoint {
    let mut checkpoint = Checkpoint::default();
    for entry in entries {
        checkpoint.fold(entry.clone()).unwrap();
    }
    checkpoint
}

fn journal_of(scene: &Scene) -> Vec<Entry> {
    let mut outside = Outside::new(scene);
    outside.live(&[]);
    outside.world.entries
}

#[test]
fn a_run_whose_store_is_slow_ends_as_any_other_in_whatever_order_the_saves_are_confirmed() {
    for scene in [long(), nested(), handed(), hooked(), eager()] {
        let mut whole = Outside::new(&scene);
        whole.live(&[]);
        for seed in 0..8 {
            let mut outside = Outside::new(&scene);
            (outside.world.confirm_saves, outside.dice) = (false, Some(Dice(seed)));
            outside.live(&[]);
            outside.check(&whole, &format!("{}: seed {seed}, slow", scene.name));
        }
    }
}

#[test]
fn a_call_is_made_only_if_its_start_is_saved_and_any_other_failure_changes_nothing() {
    let setting = || {
        config(
            json!([tool("read", json!({"readOnly": true})), tool("pay", json!({}))]),
            json!({}),
        )
    };
    let mut failed = 0;
    loop {
        let mut world = World::new(setting());
        world.confirm_saves = false;
        let mut count = 0;
        let mut lost = Vec::new();
        let mut save = |world: &mut World| {
            while !world.saves.is_empty() {
                let (save, _) = world.saves.remove(0);
                let ok = count != failed;
                count += 1;
                if !ok {
                    let starts = world.saved_starts.iter().filter(|(of, _)| *of == save);
                    lost.extend(starts.map(|(_, id)| id.clone()));
                }
                world.input(Input::Saved { save, ok });
            }
        };
        world.prompt("Go.");
        save(&mut world);
        world.respond(&stream(
            &[call("r", "read", json!({})), call("p", "pay", json!({}))],
            "tool_use",
        ));
        save(&mut world);
        for id in ["r", "p"] {
            if world.running.contains_key(id) {
                world.return_value(id, json!(id));
                save(&mut world);
            }
        }
        world.respond(&done("Done.")[0]);
        save(&mut world);
        let result = world.result();
        assert_eq!(result["outcome"], "completed", "save {failed} fails");
        let is_paid = world.started.iter().any(|(id, _)| id == "p");
        let is_lost = lost.contains(&"p".to_owned());
        assert_eq!(is_paid, !is_lost, "save {failed} fails");
        assert_eq!(
            world.requests[1].contains("save_failed"),
            is_lost,
            "save {failed} fails"
        );
        assert!(world.started.iter().any(|(id, _)| id == "r"));
        // The next save takes the entries along, so the journal has no gap.
        assert_eq!(folded(&world.entries), world.checkpoint);
        if count <= failed {
            break;
        }
        failed += 1;
    }
    assert!(failed > 4, "{failed} saves");
}

/// A short run with a tool.
fn short() -> Vec<Entry> {
    let mut world = World::started(config(
        json!([tool("read", json!({"readOnly": true}))]),
        json!({}),
    ));
    world.respond(&stream(
        &[text("Räd 🦀"), call("a", "read", json!({}))],
        "tool_use",
    ));
    world.return_value("a", json!(1));
    world.entries
}

/// The codes and messages of the warnings with which a run of these entries goes on.
fn resumed(entries: &[impl AsRef<str>]) -> Vec<(String, String)> {
    told(entries).0
}

/// The codes and messages of the warnings with which a run of these entries goes on, and the entries that it writes
/// first.
fn told(entries: &[impl AsRef<str>]) -> (Vec<(String, String)>, Vec<Entry>) {
    let setup = config(json!([tool("read", json!({"readOnly": true}))]), json!({}));
    let setup = Arc::new(Setup::new(setup.config).unwrap());
    let mut run = Run::restore_journal(setup, Checkpoint::of(entries).unwrap(), 0).unwrap();
    let moment = Moment {
        now_ms: 1_000_000,
        random: 7,
    };
    run.handle_input(Input::Resume, moment);
    let (mut warnings, mut written) = (Vec::new(), Vec::new());
    while let Some(output) = run.poll_output() {
        match output {
            Output::Emit(event) => {
                if let EventKind::Warning { code, message, .. } = event.kind {
                    warnings.push((code, message));
                }
            }
            Output::Save { entries, .. } => written.extend(entries),
            _ => {}
        }
    }
    (warnings, written)
}

#[test]
fn a_journal_that_is_torn_at_any_byte_goes_on_from_its_last_whole_save_and_says_so() {
    let entries = short();
    let lines = texts(&entries);
    let first = entries
        .iter()
        .position(|entry| matches!(entry.fact, Fact::Run(_)));
    for (at, line) in lines.iter().enumerate() {
        let kept = whole(&entries[..at]);
        let expected = folded(&entries[..kept]);
        for end in 0..line.as_str().len() {
            let torn = String::from_utf8_lossy(&line.as_str().as_bytes()[..end]).into_owned();
            let mut values: Vec<String> = lines[..at].iter().map(|line| line.as_str().to_owned()).collect();
            if end > 0 {
                values.push(torn);
            }
            let read = Checkpoint::of(&values);
            if at <= first.unwrap() {
                assert_eq!(read.unwrap_err().field, "entries", "{at} entries and {end} bytes");
                continue;
            }
            let (mut checkpoint, left_out) = read.unwrap();
            assert_eq!(
                checkpoint.end,
                values.len() as u64,
                "{at} entries and {end} bytes"
            );
            checkpoint.end = checkpoint.seq;
            assert_eq!(checkpoint, expected, "{at} entries and {end} bytes");
            assert_eq!(left_out, values.len() - kept, "{at} entries and {end} bytes");
            if end == 1 {
                let warnings = resumed(&values);
                assert_eq!(warnings.len(), 1, "{warnings:?}");
                assert_eq!(warnings[0].0, "journal_torn");
                assert!(warnings[0].1.ends_with(&format!(": {left_out}")), "{warnings:?}");
            }
        }
    }
}

#[test]
fn what_a_process_writes_behind_a_tear_goes_on_from_the_entries_before_it() {
    let entries = short();
    let lines: Vec<String> = texts(&entries)
        .iter()
        .map(|line| line.as_str().to_owned())
        .collect();
    let first = whole(&entries[..7]);
    assert!(first > 0);
    for at in first..lines.len() {
        for tear in [None, Some("{".to_owned()), Some("7".into())] {
            let mut values = lines[..at].to_vec();
            values.extend(tear);
            let end = values.len() as u64;
            // Another process goes on, and then one more.
            for process in 1..=2 {
                let (warnings, written) = told(&values);
                let is_torn = process == 1 && end > whole(&entries[..at]) as u64;
                let expected: &[&str] = if is_torn { &["journal_torn"] } else { &[] };
                let codes: Vec<&str> = warnings.iter().map(|(code, _)| code.as_str()).collect();
                assert_eq!(codes, expected, "{at} entries, process {process}");
                assert_eq!(written[0].seq, values.len() as u64 + 1);
                values.extend(texts(&written).iter().map(|line| line.as_str().to_owned()));
            }
            let (checkpoint, left_out) = Checkpoint::of(&values).unwrap();
            assert_eq!(
                (checkpoint.end, left_out),
                (values.len() as u64, 0),
                "{at} entries"
            );
            let before = folded(&entries[..whole(&entries[..at])]);
            assert_eq!(
                checkpoint.agents[0].messages, before.agents[0].messages,
                "{at} entries"
            );
        }
    }
}

#[test]
fn entries_that_were_written_twice_count_once() {
    for scene in [long(), handed()] {
        let entries = journal_of(&scene);
        let expected = folded(&entries);
        let lines = texts(&entries);
        // The whole journal, each entry, and each append of several.
        let mut twice = vec![[lines.clone(), lines.clone()].concat()];
        twice.push(
            lines
                .iter()
                .flat_map(|line| [line.clone(), line.clone()])
                .collect(),
        );
        for at in (0..lines.len()).step_by(7) {
            for length in [1, 2, 5, 20] {
                let upto = (at + length).min(lines.len());
                twice.push([&lines[..upto], &lines[at..upto], &lines[upto..]].concat());
            }
        }
        for values in twice {
            assert_eq!(Checkpoint::of(&values).unwrap(), (expected.clone(), 0));
        }
    }
    assert_eq!(resumed(&[texts(&short()), texts(&short())].concat()), []);
}

#[test]
fn a_journal_with_a_corrupt_or_a_lost_entry_goes_on_from_the_save_before_it() {
    let entries = short();
    let lines = texts(&entries);
    let first = entries
        .iter()
        .position(|entry| matches!(entry.fact, Fact::Run(_)));
    let wrong = [
        Some(Json::string("x")),
        Some(Json::parse("{}").unwrap()),
        Some(Json::parse(r#"{"seq":6,"agent":0,"fact":{"none":1}}"#).unwrap()),
        None,
    ];
    for at in 0..lines.len() {
        let stranger = Json::of(&Entry {
            agent: 99,
            ..entries[at].clone()
        });
        // The facts of the run have no agent.
        let is_of_run = matches!(
            entries[at].fact,
            Fact::ProcessStarted(_) | Fact::Prompted(_) | Fact::Run(_) | Fact::ModelUsage { .. }
        );
        let stranger = (!is_of_run).then_some(Some(stranger));
        for wrong in wrong.iter().chain(&stranger) {
            let mut values = lines.clone();
            match wrong {
                Some(wrong) => values[at] = wrong.clone(),
                None => drop(values.remove(at)),
            }
            let kept = whole(&entries[..at]);
            match Checkpoint::of(&values) {
                Err(error) => assert!(at <= first.unwrap(), "entry {at} as {wrong:?}: {error:?}"),
                Ok((mut checkpoint, left_out)) => {
                    checkpoint.end = checkpoint.seq;
                    assert_eq!(checkpoint, folded(&entries[..kept]), "entry {at} as {wrong:?}");
                    assert_eq!(left_out, values.len() - kept, "entry {at} as {wrong:?}");
                    assert_eq!(resumed(&values).len(), usize::from(left_out > 0));
                }
            }
        }
    }
}

#[test]
fn a_journal_with_several_inputs_that_cannot_be_read_goes_on_from_the_save_before_each() {
    let entries = short();
    let run = entries.last().unwrap().fact.clone();
    // Nobody is the agent 99. A state is read only if no other follows it, so the last one is found out at the end.
    for agents in [[99, 99], [99, 0], [0, 99], [0, 0]] {
        for upto in (whole(&entries[..7])..=entries.len()).filter(|at| whole(&entries[..*at]) == *at) {
            let before = folded(&entries[..upto]);
            let mut values = texts(&entries[..upto]);
            for agent in agents {
                let seq = values.len() as u64;
                let unread = Fact::State(Json::string("no state"));
                for (at, agent, fact) in [(1, agent, unread), (2, 0, run.clone())] {
                    let seq = seq + at;
                    values.push(Json::of(&Entry { seq, agent, fact }));
                }
                let (checkpoint, left_out) = Checkpoint::of(&values).unwrap();
                assert_eq!(left_out, 2, "{agents:?} behind {upto} entries");
                let messages = &checkpoint.agents[0].messages;
                assert_eq!(
                    *messages, before.agents[0].messages,
                    "{agents:?} behind {upto} entries"
                );
                let (warnings, written) = told(&values);
                assert_eq!(warnings.len(), 1, "{warnings:?}");
                values.extend(texts(&written));
            }
        }
    }
}

#[test]
fn a_state_of_a_call_that_the_answer_does_not_have_hides_no_other_and_is_told() {
    let setting = || {
        config(
            json!([
                tool("pay", json!({"replay": "safe"})),
                tool("ask", json!({"needsApproval": true}))
            ]),
            json!({}),
        )
    };
    let mut world = World::started(setting());
    world.respond(&stream(
        &[call("p", "pay", json!({})), call("a", "ask", json!({}))],
        "tool_use",
    ));
    world.return_value("p", json!("paid"));
    let calls = &mut world.checkpoint.agents[0].calls;
    let mut stray = calls[0].clone();
    "gone".clone_into(&mut stray.tool_call_id);
    calls.insert(0, stray);
    world.crash(setting());
    assert!(world.running.is_empty(), "the finished call is not made again");
    let told = |event: &EventKind| matches!(event, EventKind::Warning { code, message, .. } if code == "journal_torn" && message.ends_with(": gone"));
    assert!(world.events.iter().any(|event| told(&event.kind)));
    assert!(json::write(&world.questions[0].1).contains("ask"));
}
