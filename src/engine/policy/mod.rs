//! Decisions as pure functions: when to try again, which calls may run, and which beside each other.

mod address;
pub mod binding;
mod command;
pub mod context;
pub mod defaults;
pub mod estimate;
pub mod hook;
mod path;
pub mod permission;
pub mod repeat;
pub mod result_cap;
pub mod retry;
pub mod retry_after;
pub mod rule;
pub mod schedule;
pub mod shell;
pub mod subject;
mod suggestion;
pub mod tool_error;
