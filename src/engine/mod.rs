//! The pure engine: state in, state out. See the crate's front page for the order of calls.

pub mod answer;
pub mod config;
pub mod error;
pub mod event;
pub mod input;
pub mod json_repair;
pub mod message;
pub mod moment;
pub mod outcome;
pub mod output;
pub mod provider;
pub mod run;
pub mod schema;
pub mod sse;
pub mod timers;
pub mod usage;

mod agent;
mod catalog;
mod framing;
mod ledger;
mod model_call;
mod policy;
mod random;
mod retry_after;
mod tool_batch;
mod transcript;
