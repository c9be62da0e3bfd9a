//! looplet runs the loop of an LLM agent: it calls a model, streams the answer, runs the tools that the model asks
//! for, feeds their results back, and repeats until the model is done or a limit is reached.
//!
//! A [`Run`] decides everything and does nothing itself. It reads no clock, draws no random number, waits for nothing
//! and opens no connection, so it runs on any target. Your program is its host: it hands in each [`Input`] with its
//! [`Moment`], and performs each [`Output`].
//!
//! ```ignore-wasm32
//! use std::sync::Arc;
//!
//! use looplet::{Block, Input, Moment, Output, Run, RunOptions, Setup};
//!
//! let config = r#"{"model": {"vendor": "anthropic", "model": "claude-haiku-4-5", "stream": false}}"#;
//! let mut run = Run::new(Arc::new(Setup::read(config)?), RunOptions::default())?;
//! let mut inputs = vec![Input::Prompt { content: vec![Block::text("Hi.")] }];
//! while let Some(input) = inputs.pop() {
//!     run.handle_input(input, Moment { now_ms: 0, random: 1 });
//!     while let Some(output) = run.poll_output() {
//!         match output {
//!             // Your HTTP client sends `run.request_body(request)` to `http.url`, with your key.
//!             Output::Send { request, http } if http.url == "https://api.anthropic.com/v1/messages" => {
//!                 let bytes = br#"{"content": [{"type": "text", "text": "Hello."}], "stop_reason": "end_turn"}"#;
//!                 let head = Input::Head { request, status: 200, headers: Vec::new() };
//!                 inputs.extend([Input::End { request }, Input::Chunk { request, bytes }, head]);
//!             }
//!             Output::HandOver { handover } => inputs.push(Input::HandedOver { handover }),
//!             _ => {}
//!         }
//!     }
//! }
//! assert_eq!(run.text(), "Hello.");
//! # Ok::<(), looplet::ConfigError>(())
//! ```
//!
//! `examples/native.rs` is such a host over HTTP, with tools.
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
//!
//! # Features
//!
//! `shell`, on by default, has the exports for JavaScript on wasm32, with wasm-bindgen in one exact version. With
//! `default-features = false` another WebAssembly app or a native program takes the engine alone.
//!
//! # Public API
//!
//! The names below and the types that they lead to are public. The modules behind them are open to the crate's own
//! tests, and change in any release.
//!
//! # The rooms
//!
//! The crate has two rooms, and the compiler keeps the wall between them. A third room, in TypeScript, is their face:
//!
//! | room | owns | never does |
//! |---|---|---|
//! | `engine` | every decision: the state machine, the transcript, the wire protocols, policy | read a clock, draw a random number, wait, touch the web |
//! | `shell` (wasm32 only) | performing the engine's outputs with web APIs | decide anything |
//! | `src/face` (TypeScript) | the public API: types, iterators, adapters | decide, parse provider data |

// The modules' pages are for the crate's own people, who document private items too.
#![allow(rustdoc::private_intra_doc_links)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic
    )
)]

#[cfg_attr(not(rooms), doc(hidden))]
pub mod engine;
#[cfg(all(target_arch = "wasm32", feature = "shell"))]
#[cfg_attr(not(rooms), doc(hidden))]
pub mod shell;

pub use engine::agent::setup::Setup;
pub use engine::model::config::{Config, RunOptions};
pub use engine::model::error::{ConfigError, Failure, FailureCode};
pub use engine::model::event::{Event, EventKind, ToolFault};
pub use engine::model::input::{Input, Moment, ToolReturn};
pub use engine::model::message::{Block, Json, Message, Role};
pub use engine::model::outcome::Outcome;
pub use engine::model::output::{EffectId, HttpRequest, Output, ToolInvocation};
pub use engine::model::question::{Answer, Question};
pub use engine::run::Run;
