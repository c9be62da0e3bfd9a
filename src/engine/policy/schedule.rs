//! Decides which calls of one answer may run at the same time: readers in parallel, writers one at a time.
//!
//! When it starts a batch of tools, the agent asks for each pair of calls ([`conflict`]) and for each call
//! ([`is_barrier`]). The mode is the option `toolCalls.execution`. The functions compare two calls and are stateless.
//! The limit of concurrent tools is applied elsewhere.

use crate::engine::model::config::ToolExecution;

/// The properties of a call that matter for scheduling.
#[derive(Clone, Copy, Debug)]
pub struct Traits<'a> {
    pub read_only: bool,
    pub resource_key: Option<&'a str>,
}

/// True when the later of two calls has to wait for the earlier one. Equal resource keys conflict in every mode.
pub fn conflict(mode: ToolExecution, a: Traits<'_>, b: Traits<'_>) -> bool {
    let same_key = match (a.resource_key, b.resource_key) {
        (Some(a), Some(b)) => Some(a == b),
        _ => None,
    };
    match (mode, same_key) {
        (_, Some(true)) | (ToolExecution::Sequential, _) => true,
        (_, Some(false)) | (ToolExecution::Parallel, None) => false,
        (ToolExecution::ReadOnlyParallel, None) => !(a.read_only && b.read_only),
    }
}

/// True when every later call has to wait for this one.
pub fn is_barrier(mode: ToolExecution, call: Traits<'_>) -> bool {
    match mode {
        ToolExecution::Sequential => true,
        ToolExecution::ReadOnlyParallel => !call.read_only && call.resource_key.is_none(),
        ToolExecution::Parallel => false,
    }
}

#[cfg(test)]
mod tests;
