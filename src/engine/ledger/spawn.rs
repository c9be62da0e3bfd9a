//! The requests of an agent that the run carries out: a subagent that begins, and an agent that takes over.
//!
//! Tool calls leave a [`Spawn`] in the ledger and a [`Successor`] with the agent. The run acts on them in
//! `run/tree.rs`, after the input or after the round.

use serde::{Deserialize, Serialize};

use crate::engine::model::output::EffectId;

/// The call that a subagent answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    pub agent: u32,
    pub call: EffectId,
    /// The provider's id of the call.
    pub tool_call_id: String,
    /// The tool's name.
    pub name: String,
}

/// A subagent that is about to begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawn {
    pub parent: Parent,
    pub profile: u32,
    /// It goes on from the transcript that the last agent of this tool has left.
    pub keep: bool,
    /// It asks the model that its caller asks.
    pub inherit_model: bool,
    pub prompt: String,
}

/// The agent that takes the conversation over when the round is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Successor {
    pub profile: u32,
    pub inherit_model: bool,
    /// The name of the tool.
    pub name: String,
}
