//! The requests of an agent that the run carries out: the start of a subagent, and a handoff.
//!
//! Tool calls add a [`Spawn`] to the ledger and a [`Successor`] to the agent. The run handles them in `run/tree.rs`,
//! after the input or after the round.

pub use crate::engine::model::journal::{Parent, Successor};

/// A subagent that is about to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawn {
    pub parent: Parent,
    pub profile: u32,
    /// It continues the transcript of the last agent of this tool.
    pub keep: bool,
    /// It asks the model that its caller asks.
    pub inherit_model: bool,
    pub prompt: String,
}
