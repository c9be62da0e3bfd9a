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
mod config_json;
mod event_json;
mod framing;
mod input_json;
pub mod json_check;
mod json_reader;
mod json_record;
mod json_tree;
pub(crate) mod json_writer;
mod ledger;
mod message_json;
mod model_call;
mod outcome_json;
mod policy;
mod random;
mod retry_after;
mod tool_batch;
mod transcript;
