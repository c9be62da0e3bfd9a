//! looplet runs the loop of an LLM agent: it calls a model, streams the answer, runs the tools that the model asks
//! for, feeds their results back, and repeats until the model is done or a limit is reached.
//!
//! ```ignore-wasm32
//! use looplet::{Block, ConfigError, Input, Json, Moment, Output, Run, RunOptions, Setup, ToolReturn};
//!
//! fn answer(config: &str, prompt: &str) -> Result<String, ConfigError> {
//!     let mut run = Run::new(Setup::read(config)?.into(), RunOptions::default())?;
//!     let now = || Moment { now_ms: 0, random: 1 }; // your clock and your randomness
//!     run.handle_input(Input::Prompt { content: vec![Block::text(prompt)] }, now());
//!     while let Some(output) = run.poll_output() {
//!         match output {
//!             Output::Send { request, http } => {
//!                 let body = run.request_body(request).unwrap_or_default();
//!                 let (status, bytes) = fetch(&http.url, body);
//!                 run.handle_input(Input::Head { request, status, headers: vec![] }, now());
//!                 run.handle_input(Input::Chunk { request, bytes: &bytes }, now());
//!                 run.handle_input(Input::End { request }, now());
//!             }
//!             Output::CallTool(tool) => {
//!                 let result = ToolReturn::Value(Json::of(&call(&tool.tool_name, tool.input.as_str())));
//!                 run.handle_input(Input::ToolFinished { call: tool.call, result }, now());
//!             }
//!             Output::HandOver { handover } => {
//!                 run.handle_input(Input::HandedOver { handover }, now());
//!             }
//!             _ => {}
//!         }
//!     }
//!     Ok(run.text())
//! }
//!
//! /// Your HTTP client, which adds your key. Here two answers stand in for the vendor's.
//! fn fetch(url: &str, body: &[u8]) -> (u16, Vec<u8>) {
//!     assert_eq!(url, "https://api.anthropic.com/v1/messages");
//!     let content = if String::from_utf8_lossy(body).contains("tool_result") {
//!         r#"{"type": "text", "text": "Take an umbrella."}"#
//!     } else {
//!         r#"{"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Paris"}}"#
//!     };
//!     (200, format!(r#"{{"content": [{content}], "stop_reason": "end_turn"}}"#).into_bytes())
//! }
//!
//! /// Your tools.
//! fn call(name: &str, input: &str) -> String {
//!     format!("{name} of {input}: rain")
//! }
//!
//! let config = r#"{
//!     "model": {"vendor": "anthropic", "model": "claude-haiku-4-5", "stream": false},
//!     "tools": [{"name": "weather", "description": "The weather of a city", "inputSchema": {"type": "object"}}]
//! }"#;
//! assert_eq!(answer(config, "Do I need an umbrella in Paris?")?, "Take an umbrella.");
//! # Ok::<(), ConfigError>(())
//! ```
//!
//! A [`Run`] decides everything and does nothing itself. It reads no clock, draws no random number, waits for nothing
//! and opens no connection, so it runs on any target. Your program hands in each [`Input`] with its [`Moment`], and
//! performs each [`Output`]. `examples/native.rs` is such a program over HTTP: it streams, and sleeps before retries.
//!
//! # The contract of the loop
//!
//! ```text
//! run.handle_input(input, moment)          an answer of the outside world, with its time and random seed
//! while let Some(output) = run.poll_output()   perform it (or drop it if !run.is_live(effect))
//! run.poll_timer()                          set the one timer again; when it fires: handle_input(Input::Due, …)
//! ```
//!
//! Every effect (a request, a tool call, a question, a save) has an id. An answer to an effect that is not open is
//! dropped silently.
//!
//! # Configuration
//!
//! A [`Config`] is plain data, and [`Setup::new`] checks it. [`Setup::read`] takes the same as JSON. The types of its
//! fields are in [`config`].
//!
//! ```
//! use looplet::config::{Config, Limits, ModelConfig, ToolConfig};
//! use looplet::{Json, Setup};
//!
//! let config = Config {
//!     model: ModelConfig {
//!         max_output_tokens: Some(1000),
//!         ..ModelConfig::new("anthropic", "claude-haiku-4-5")
//!     },
//!     system: Some("Answer in one sentence.".to_owned()),
//!     tools: vec![ToolConfig {
//!         description: "The weather of a city".to_owned(),
//!         read_only: true,
//!         ..ToolConfig::new("weather", Json::empty_object())
//!     }],
//!     limits: Limits {
//!         max_iterations: Some(5),
//!         ..Limits::default()
//!     },
//!     ..Config::default()
//! };
//! Setup::new(config.clone())?;
//!
//! let unnamed = Config { tools: vec![ToolConfig::default()], ..config };
//! let error = Setup::new(unnamed).err().map(|error| error.to_string());
//! assert_eq!(error.as_deref(), Some("tools a tool needs a name"));
//! # Ok::<(), looplet::ConfigError>(())
//! ```
//!
//! # Features
//!
//! `shell`, on by default, has the exports for JavaScript on wasm32, with wasm-bindgen in one exact version. With
//! `default-features = false` another WebAssembly app or a native program uses only the engine.
//!
//! # Public API
//!
//! The names below, those of [`config`], and the types that they lead to are public. The modules behind them are open
//! to the crate's own tests, and change in any release. Enums of which a minor version may add variants are
//! `#[non_exhaustive]`: [`EventKind`], [`Block`], [`FailureCode`] and the cause of a stop. [`Output`] is not: your
//! program has to perform a new one, so the compiler should name the place.
//!
//! # The rooms
//!
//! The crate has two rooms, and the compiler keeps the wall between them. A third room is written in TypeScript:
//!
//! | room | owns | never does |
//! |---|---|---|
//! | `engine` | every decision: the state machine, the transcript, the wire protocols, policy | read a clock, draw a random number, wait, touch the web |
//! | `shell` (wasm32 only) | performing the engine's outputs with web APIs | decide anything |
//! | `src/typescript` (TypeScript) | the public API: types, iterators, adapters | decide, parse provider data |

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

/// The configuration of an agent, typed. JSON has the same fields in camelCase.
pub mod config {
    pub use crate::engine::model::config::context::{ContextPolicy, PruneBy, Pruning};
    pub use crate::engine::model::config::output_format::{OutputFormat, OutputMode};
    pub use crate::engine::model::config::permission::{PermissionMode, Permissions, Rule, RuleKind};
    pub use crate::engine::model::config::{
        Access, AgentTool, AnswerPolicy, Binding, Config, EventPolicy, Jitter, Limits, Loader, Memory,
        ModelConfig, OnCutOff, OnOutputLimit, OnUnknownTool, PromptCaching, QueueMode, Recovery,
        RepeatPolicy, Replay, ResponseFormat, RetryPolicy, StopCondition, Timeouts, ToolCallPolicy,
        ToolChoice, ToolConfig, ToolExecution, VendorTool,
    };
    pub use crate::engine::model::hook::{Gate, Hook};
    pub use crate::engine::model::usage::{Price, Tier, Usage};
}

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

/// The example of the crate's README, as a test.
#[cfg(doctest)]
#[doc = include_str!("README.md")]
pub struct Readme;
