//! Decisions as pure functions: when to try again, which calls may run, and which beside each other.

pub mod hook;
pub mod permission;
pub mod repeat;
pub mod retry;
pub mod rule;
pub mod schedule;
