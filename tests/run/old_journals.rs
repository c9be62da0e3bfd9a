//! Journals that earlier versions of looplet have written, as files. Their types may change, and they stay readable.

use std::path::Path;

use looplet::engine::model::journal::{Checkpoint, Entry, FORMAT, Fact};
use looplet::engine::model::json;
use looplet::engine::model::message::Json;
use serde_json::Value;

use crate::kill_calls::permitted;
use crate::kill_everywhere::{handed, long, nested};
use crate::killed::{Outside, Scene};

fn entries(format: u32, name: &str) -> Vec<Entry> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let file = root.join(format!("journal_format_{format}/{name}.jsonl"));
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| json::read("entry", line).unwrap())
        .collect()
}

/// Goes on from each save of a stored journal. `is_same` says that the run ends as one that nobody has killed.
fn go_on_everywhere(format: u32, name: &str, scene: &Scene, is_same: fn(&Value, &Value) -> bool) {
    let entries = entries(format, name);
    let Fact::Begun(begun) = &entries[0].fact else {
        panic!("{:?}", entries[0]);
    };
    assert_eq!(begun.format, format);
    let mut whole = Outside::new(scene);
    whole.live(&[]);
    let end = whole.end();
    for (at, entry) in entries.iter().enumerate() {
        if matches!(entry.fact, Fact::Run(_)) {
            let mut outside = Outside::after(scene, &entries[..=at]);
            outside.go_on();
            let again = outside.end();
            let place = format!("{name}: {} entries of format {format}", at + 1);
            assert_eq!(again["outcome"], "completed", "{place}");
            assert!(is_same(&again, &end), "{place}: {again:#}\ninstead of {end:#}");
        }
    }
}

#[test]
fn a_journal_of_format_1_goes_on_from_each_of_its_saves() {
    for (name, scene) in [("long", long()), ("nested", nested()), ("handed", handed())] {
        go_on_everywhere(1, name, &scene, |again, end| again == end);
    }
    // The format does not say that the input of a call was changed.
    go_on_everywhere(1, "permitted", &permitted(), |again, end| {
        again["text"] == end["text"]
    });
}

#[test]
fn a_journal_of_a_newer_format_is_refused() {
    let mut entries = entries(1, "handed");
    let Fact::Begun(begun) = &mut entries[0].fact else {
        panic!("{:?}", entries[0]);
    };
    begun.format = FORMAT + 1;
    let texts: Vec<Json> = entries.iter().map(Json::of).collect();
    let error = Checkpoint::of(&texts).unwrap_err();
    assert_eq!(error.field, "format");
    assert!(error.problem.contains("update looplet"), "{}", error.problem);
}
