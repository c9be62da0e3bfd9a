//! The requests of an agent that the run carries out: a subagent that begins, and an agent that takes over.
//!
//! Tool calls leave a [`Spawn`] in the ledger and a [`Successor`] with the agent. The run acts on them in
//! `run/tree.rs`, after the input or after the round.

pub use crate::engine::model::journal::{Parent, Successor};

/// A subagent that is about to begin.
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
