//! looplet runs the loop of an LLM agent: it calls a model, streams the answer, runs the tools that the model asks
//! for, feeds their results back, and repeats until the model is done or a limit is reached.
//!
//! The crate has two rooms, and the compiler keeps the wall between them. A third room, in TypeScript, is their face:
//!
//! | room | owns | never does |
//! |---|---|---|
//! | [`engine`] | every decision: the state machine, the transcript, the wire protocols, policy | read a clock, draw a random number, wait, touch the web |
//! | `shell` (wasm32 only) | performing the engine's outputs with web APIs | decide anything |
//! | `src/face` (TypeScript) | the public API: types, iterators, adapters | decide, parse provider data |
//!
//! # The contract of the loop
//!
//! ```text
//! run.handle_input(input, moment)          an answer of the outside world, with its time and random seed
//! while let Some(output) = run.poll_output()   perform it (or drop it if !run.is_live(effect))
//! run.poll_timer()                          set the one timer anew; when it fires: handle_input(Input::Due, …)
//! ```
//!
//! Every effect (a request, a tool call, a question, a save) has an id. An answer to an effect that is not open is
//! dropped silently.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic
    )
)]

pub mod engine;
#[cfg(target_arch = "wasm32")]
pub mod shell;
