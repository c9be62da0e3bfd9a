//! Files that were recorded in one build of the engine and are played in the other: `wasm.loop` is written by
//! `tests/typescript/lab/loop-files.test.ts`, `native.loop` here, each with `LOOPLET_WRITE=1`. Both tests play both
//! files.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use looplet::engine::model::input::Input;
use looplet::engine::model::json;
use looplet::engine::model::message::{Block, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::player::{Player, loop_file, loops, open};
use crate::wire::{call, stream, text};
use crate::world::{Settings, World, tool};

#[derive(Deserialize)]
struct LoopFile {
    processes: Vec<Process>,
    told: Value,
}

/// The parts keep their text: the order of fields in the JSON of a tool is part of a request.
#[derive(Deserialize)]
struct Process {
    config: Json,
    options: Json,
    inputs: Vec<Json>,
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/loop")
        .join(name)
}

#[test]
fn i_07_files_of_both_builds_replay_to_equal_requests_events_and_entries() {
    if std::env::var_os("LOOPLET_WRITE").is_some() {
        fs::write(path("native.loop"), recorded()).unwrap();
    }
    for name in ["native.loop", "wasm.loop"] {
        check(name, &fs::read_to_string(path(name)).unwrap());
    }
}

/// The files that `tests/typescript/long/both-builds.test.ts` has left, if any.
#[test]
fn i_07_what_webassembly_has_recorded_replays_to_the_same() {
    let Some(file) = loops().and_then(|folder| File::open(folder.join("wasm.ndjson")).ok()) else {
        return;
    };
    let mut played = 0;
    for (index, line) in BufReader::new(file).lines().enumerate() {
        check(&format!("line {index}"), &line.unwrap());
        played += 1;
    }
    println!("{played} files of WebAssembly replayed");
    assert!(played > 0);
}

fn check(name: &str, text: &str) {
    let file: LoopFile = serde_json::from_str(text).unwrap();
    let [process] = &file.processes[..] else {
        panic!("{name} has one process")
    };
    let lines: Vec<String> = process
        .inputs
        .iter()
        .map(|input| input.as_str().to_owned())
        .collect();
    let run = open(process.config.as_str(), process.options.as_str());
    let played = Player::play(run, &lines).told();
    for part in ["requests", "events", "entries"] {
        let [played, told] = [&played[part], &file.told[part]].map(|list| list.as_array().unwrap());
        assert!(part != "requests" || !played.is_empty(), "{name}");
        for (index, (played, told)) in played.iter().zip(told).enumerate() {
            assert_eq!(plain(played), plain(told), "{part} of {name}, {index}");
        }
        assert_eq!(played.len(), told.len(), "{part} of {name}");
    }
}

/// JavaScript writes 1.0 as 1.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), plain(value)))
            .collect(),
        value => value.clone(),
    }
}

/// A run with a retry, a tool, a subagent, a question that stays open, a steer and an abort.
fn recorded() -> String {
    let config = json!({
        "model": {"vendor": "anthropic", "model": "claude-test"},
        "system": "Be brief.",
        "tools": [
            tool("read", json!({"readOnly": true})),
            tool("wipe", json!({"needsApproval": true})),
            tool("helper", json!({"agent": {"profile": 1}})),
        ],
        "agents": [{"model": {"vendor": "anthropic", "model": "small"}, "tools": []}],
        "retry": {"jitterMs": 400, "jitter": "full"},
        "trace": true,
        "journal": true,
    });
    let mut world = World::new(Settings::of(&config));
    world.is_recorded = true;
    world.prompt("Go.");
    world.refuse(529, &[], "{}");
    world.pass(10_000);
    world.respond(&stream(
        &[call("h", "helper", json!({"prompt": "Dig."}))],
        "tool_use",
    ));
    world.respond(&stream(&[text("Gold.")], "end_turn"));
    world.input(Input::Steer {
        id: 1,
        content: vec![Block::text("Hurry.")],
    });
    let calls = [
        text("Räd 🦀"),
        call("a", "read", json!({"n": 1})),
        call("b", "wipe", json!({})),
    ];
    world.respond(&stream(&calls, "tool_use"));
    world.return_value("a", json!(1));
    world.cancel();
    let inputs: Vec<String> = world.records.iter().map(json::write).collect();
    loop_file("native", &config.to_string(), "{}", &inputs)
}
