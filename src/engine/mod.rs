//! The pure engine: state in, state out. See the crate's front page for the order of calls.

pub mod answer;
pub mod config;
pub mod error;
pub mod event;
pub mod input;
pub mod message;
pub mod moment;
pub mod outcome;
pub mod output;
pub mod provider;
pub mod random;
pub mod retry_after;
pub mod sse;
pub mod usage;
