//! Journals that earlier versions of looplet have written, as files. Their types may change, and they stay readable.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use looplet::engine::model::journal::{Checkpoint, Entry, FORMAT, Fact, UsageState};
use looplet::engine::model::json;
use looplet::engine::model::message::Json;
use looplet::engine::model::usage::Usage;
use serde_json::Value;

use crate::kill_calls::permitted;
use crate::kill_everywhere::{handed, long, nested};
use crate::killed::{Outside, Scene};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn entries(format: u32, name: &str) -> Vec<Entry> {
    let file = root().join(format!("journal_format_{format}/{name}.jsonl"));
    let text = fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| json::read("entry", line).unwrap())
        .collect()
}

fn scenes() -> [(&'static str, Scene); 4] {
    [
        ("long", long()),
        ("nested", nested()),
        ("handed", handed()),
        ("permitted", permitted()),
    ]
}

/// Journals of earlier versions do not say which texts looplet has written.
fn without_purposes(mut end: Value) -> Value {
    for message in end["messages"].as_array_mut().unwrap() {
        for block in message["content"].as_array_mut().unwrap() {
            block.as_object_mut().unwrap().remove("purpose");
        }
    }
    end
}

/// The end of a run without the messages before its last summary.
fn behind_summary(end: &Value) -> Value {
    let mut end = end.clone();
    let messages = end["messages"].as_array_mut().unwrap();
    let is_summary = |message: &Value| {
        let text = message["content"][0]["text"].as_str();
        text.is_some_and(|text| text.starts_with("[Context summary: "))
    };
    let at = messages.iter().rposition(is_summary);
    messages.drain(..at.unwrap_or(0));
    end
}

/// The end of a run with the current texts for the model, instead of those of the version that wrote its journal.
fn in_current_words(end: &Value) -> Value {
    let text = end
        .to_string()
        .replace("has been handed over.", "has been handed off.")
        .replace(
            "Do not repeat the call as it is; go on without it or ask the user.",
            "Do not repeat the same call. Continue without it, or ask the user.",
        );
    serde_json::from_str(&text).unwrap()
}

/// The usage that the journal has, by model and of each agent.
fn usage(outside: &Outside<'_>) -> (BTreeMap<String, Option<Usage>>, Vec<UsageState>) {
    let texts: Vec<Json> = outside.world.entries.iter().map(Json::of).collect();
    let (checkpoint, _) = Checkpoint::of(&texts).unwrap();
    let agents = checkpoint.agents.into_iter().map(|agent| agent.usage);
    (checkpoint.model_usage, agents.collect())
}

/// Goes on from each save of a stored journal. `is_same` says that the run ends as one that nobody has killed.
fn go_on_everywhere(format: u32, name: &str, scene: &Scene, is_same: fn(&Value, &Value) -> bool) {
    let entries = entries(format, name);
    let Fact::ProcessStarted(begun) = &entries[0].fact else {
        panic!("{:?}", entries[0]);
    };
    assert_eq!(begun.format, format);
    let mut whole = Outside::new(scene);
    whole.live(&[]);
    let end = without_purposes(whole.end());
    for (at, entry) in entries.iter().enumerate() {
        if matches!(entry.fact, Fact::Run(_)) {
            let mut outside = Outside::after(scene, &entries[..=at]);
            outside.go_on();
            let again = in_current_words(&without_purposes(outside.end()));
            let place = format!("{name}: {} entries of format {format}", at + 1);
            assert_eq!(again["outcome"], "completed", "{place}");
            assert!(is_same(&again, &end), "{place}: {again:#}\ninstead of {end:#}");
            // A third process finds the usage of both formats.
            assert_eq!(usage(&outside), usage(&whole), "{place}");
        }
    }
}

#[test]
fn a_journal_of_format_1_goes_on_from_each_of_its_saves() {
    for (name, scene) in [("long", long()), ("nested", nested()), ("handed", handed())] {
        // The format tells a history with a summary again, without what the summary stands for.
        go_on_everywhere(1, name, &scene, |again, end| {
            again == end || *again == behind_summary(end)
        });
    }
    // The format does not say that the input of a call was changed.
    go_on_everywhere(1, "permitted", &permitted(), |again, end| {
        again["text"] == end["text"]
    });
}

#[test]
fn a_journal_of_format_4_goes_on_from_each_of_its_saves() {
    for (name, scene) in scenes() {
        go_on_everywhere(4, name, &scene, |again, end| again == end);
    }
}

#[test]
fn a_journal_of_format_5_continues_from_each_of_its_saves() {
    for (name, scene) in scenes() {
        go_on_everywhere(5, name, &scene, |again, end| again == end);
    }
}

#[test]
fn a_journal_of_format_6_continues_from_each_of_its_saves() {
    for (name, scene) in scenes() {
        go_on_everywhere(6, name, &scene, |again, end| again == end);
    }
}

#[test]
fn a_journal_of_a_newer_format_is_refused() {
    let mut entries = entries(1, "handed");
    let Fact::ProcessStarted(begun) = &mut entries[0].fact else {
        panic!("{:?}", entries[0]);
    };
    begun.format = FORMAT + 1;
    let texts: Vec<Json> = entries.iter().map(Json::of).collect();
    let error = Checkpoint::of(&texts).unwrap_err();
    assert_eq!(error.field, "format");
    assert!(error.problem.contains("update looplet"), "{}", error.problem);
}

#[test]
fn a_journal_of_format_3_reads_as_one_of_today() {
    let of_today = fs::read_to_string(root().join("loop/native.loop")).unwrap();
    let of_today: Value = serde_json::from_str(&of_today).unwrap();
    let of_today = of_today["told"]["entries"].as_array().unwrap();
    let of_today: Vec<String> = of_today.iter().map(Value::to_string).collect();
    let before: Vec<Json> = entries(3, "native").iter().map(Json::of).collect();
    let (mut old, left_out) = Checkpoint::of(&before).unwrap();
    let (mut new, _) = Checkpoint::of(&of_today).unwrap();
    assert_eq!((old.begun.format, left_out), (3, 0));
    old.begun.format = FORMAT;
    // Usage had no facts of its own.
    (old.seq, old.end) = (new.seq, new.end);
    // A run of format 3 did not tell that it waits for a person, and that nobody waits for the answer any more.
    old.run.next_event += 2;
    // Nor did it say that it is over.
    old.run.is_over = true;
    // An answer without text had none in its state.
    for agent in old.agents.iter_mut().chain(&mut new.agents) {
        agent.state.answers.reply.text = agent
            .state
            .answers
            .reply
            .text
            .take()
            .filter(|text| !text.is_empty());
    }
    assert_eq!(old, new);
}

/// With `LOOPLET_WRITE=1`, writes the files of today's format, for the time when it is an old one.
#[test]
fn a_journal_of_today_can_be_written_as_a_file() {
    if std::env::var_os("LOOPLET_WRITE").is_none() {
        return;
    }
    let folder = root().join(format!("journal_format_{FORMAT}"));
    fs::create_dir_all(&folder).unwrap();
    for (name, scene) in scenes() {
        let mut outside = Outside::new(&scene);
        outside.live(&[]);
        let lines: Vec<String> = outside.world.entries.iter().map(json::write).collect();
        fs::write(
            folder.join(format!("{name}.jsonl")),
            format!("{}\n", lines.join("\n")),
        )
        .unwrap();
    }
}
