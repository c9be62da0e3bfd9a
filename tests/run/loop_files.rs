//! Files that were recorded in one build of the engine and are played in the other: `wasm.loop` is written by
//! `tests/face/loop-files.test.ts`, `native.loop` here, each with `LOOPLET_WRITE=1`. Both tests play both files.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use looplet::engine::agent::setup::Setup;
use looplet::engine::model::config::RunOptions;
use looplet::engine::model::input::Input;
use looplet::engine::model::json;
use looplet::engine::model::message::{Block, Json};
use looplet::engine::run::Run;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::player::Player;
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

/// The journal names options by digests of their text, so the configuration is read as the shell reads it.
fn open(config: &str, options: &str) -> Run {
    let setup = Setup::read(config).unwrap();
    let options: RunOptions = json::read("options", options).unwrap();
    Run::new(Arc::new(setup), options).unwrap()
}

/// Everything that a replay tells and asks for.
fn told(played: &Player) -> Value {
    let requests = played.requests.iter().map(|(http, body)| {
        let body = String::from_utf8(body.clone()).unwrap();
        json!({"method": http.method, "url": http.url, "body": body})
    });
    json!({
        "requests": requests.collect::<Vec<_>>(),
        "events": played.events,
        "entries": played.entries,
    })
}

#[test]
fn i_07_files_of_both_builds_replay_to_equal_requests_events_and_entries() {
    if std::env::var_os("LOOPLET_WRITE").is_some() {
        fs::write(path("native.loop"), recorded()).unwrap();
    }
    for name in ["native.loop", "wasm.loop"] {
        let text = fs::read_to_string(path(name)).unwrap();
        let file: LoopFile = serde_json::from_str(&text).unwrap();
        let [process] = &file.processes[..] else {
            panic!("{name} has one process")
        };
        let options = process.options.as_str();
        let lines: Vec<String> = process
            .inputs
            .iter()
            .map(|input| input.as_str().to_owned())
            .collect();
        let played = told(&Player::play(open(process.config.as_str(), options), &lines));
        for part in ["requests", "events", "entries"] {
            let [played, told] = [&played[part], &file.told[part]].map(|list| list.as_array().unwrap());
            assert!(!played.is_empty());
            for (index, (played, told)) in played.iter().zip(told).enumerate() {
                assert_eq!(played, told, "{part} of {name}, {index}");
            }
            assert_eq!(played.len(), told.len(), "{part} of {name}");
        }
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
    let played = Player::play(open(&config.to_string(), "{}"), &inputs);
    format!(
        "{{\"loop\":1,\"looplet\":\"{}\",\"id\":\"native\",\"outcome\":\"cancelled\",\n\"processes\":[{{\"config\":{config},\n\"options\":{{}},\n\"inputs\":[\n{}\n]}}],\n\"told\":{}}}\n",
        env!("CARGO_PKG_VERSION"),
        inputs.join(",\n"),
        told(&played),
    )
}
