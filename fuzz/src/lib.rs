//! The fuzz targets as plain functions: libFuzzer calls them through `fuzz_targets`, and `tests/corpus.rs` compiles
//! the same files and replays `fuzz/seeds` with them, without libFuzzer and on any compiler.
//!
//! A target panics when the engine breaks a promise. Where a target cuts its input, the places derive from the input,
//! so that any file is a seed as it is.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod cuts;
mod decoders;
#[path = "../../tests/run/ended.rs"]
mod ended;
mod eventstream;
mod json_readers;
mod json_repair;
mod machine;
mod machine_answers;
mod machine_checks;
mod schema;
#[path = "../../tests/run/settings.rs"]
mod settings;
#[allow(dead_code)]
#[path = "../../tests/wire/misbehaving/speak.rs"]
mod speak;
mod sse;
#[allow(dead_code)]
#[path = "../../tests/run/told.rs"]
mod told;
#[path = "../../tests/wire/misbehaving/wire.rs"]
mod wire;
#[allow(dead_code)]
#[path = "../../tests/run/world.rs"]
mod world;

/// A target: its name, which is also that of its folder of seeds, and its function.
pub type Target = (&'static str, fn(&[u8]));

pub const TARGETS: &[Target] = &[
    ("sse", sse::check),
    ("eventstream", eventstream::check),
    ("json_readers", json_readers::check),
    ("json_repair", json_repair::check),
    ("schema", schema::check),
    ("anthropic", |data| decoders::check("anthropic", data)),
    ("openai_chat", |data| decoders::check("openai_chat", data)),
    ("openai_responses", |data| {
        decoders::check("openai_responses", data)
    }),
    ("gemini", |data| decoders::check("gemini", data)),
    ("bedrock_converse", |data| {
        let (body, _) = eventstream::messages(data);
        decoders::check("bedrock_converse", &body)
    }),
    ("ndjson", |data| decoders::check("ndjson", data)),
    ("run", machine::check),
];

/// Runs the target of this name.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    target.unwrap_or_else(|| panic!("there is no target {name}")).1(data);
}
