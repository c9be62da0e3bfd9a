//! Decisions as pure functions: when to retry, which calls may run, which calls run in parallel.
//!
//! The agent calls them and acts on their answers. They read the configuration and the transcript and are stateless,
//! except for the counts of [`repeat`] and [`retry`]. They never emit an event and never use the network.
//! [`permission`] and its [`rule`]s check calls, and [`context`] shortens histories. A policy cannot fail: an invalid
//! option is rejected before the run begins.

pub mod binding;
pub mod bound;
pub mod context;
pub mod defaults;
pub mod estimate;
pub mod models;
pub mod permission;
pub mod repeat;
pub mod result_cap;
pub mod retry;
pub mod retry_after;
pub mod rule;
pub mod schedule;
pub mod tool_error;
