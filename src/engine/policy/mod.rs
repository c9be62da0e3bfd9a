//! Decisions as pure functions: when to try again, which calls may run, and which beside each other.

pub mod binding;
pub mod context;
pub mod defaults;
pub mod estimate;
pub mod permission;
pub mod repeat;
pub mod result_cap;
pub mod retry;
pub mod retry_after;
pub mod rule;
pub mod schedule;
pub mod tool_error;
