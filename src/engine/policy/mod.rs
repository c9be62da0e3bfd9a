//! Decisions as pure functions: when to try again, which calls may run beside each other.

pub mod retry;
pub mod schedule;
