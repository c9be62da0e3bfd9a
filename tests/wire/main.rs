//! The wire protocols against real traffic and against our own small streams.
//!
//! Recordings are looked for in `../shared/wire` beside the project, or in `$LOOPLET_SHARED/wire`. Without them the
//! tests that need them say so on standard error, and `npm test` counts them as skipped; the fixtures in
//! `tests/fixtures` are always there.
#![cfg(not(target_arch = "wasm32"))]
// The helpers of a test may fail it, and tests are not published: they may need a newer Rust.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::incompatible_msrv
)]

mod bedrock;
mod chains;
mod chains_responses;
mod convert;
mod convert_bedrock;
mod convert_gemini;
mod convert_responses;
mod failures;
mod feed;
mod fixtures;
mod found;
mod gemini;
mod likeness;
mod machine;
mod misbehaving;
mod models;
#[allow(dead_code)]
#[path = "../run/player.rs"]
mod player;
mod recordings;
mod recordings_responses;
mod same_session;
mod semantics;
mod shared;
mod taken;
