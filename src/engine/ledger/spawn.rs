//! A subagent that is about to begin, and whose call an agent answers.

use serde::{Deserialize, Serialize};

use crate::engine::model::output::EffectId;

/// The call that an agent answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    pub agent: u32,
    pub call: EffectId,
    /// The provider's id of it.
    pub tool_call_id: String,
    /// The tool's name.
    pub name: String,
}

/// What the run makes a subagent of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawn {
    pub parent: Parent,
    pub profile: u32,
    /// Goes on from the transcript that this tool's last agent has left.
    pub keep: bool,
    /// Asks the model that its caller asks.
    pub inherit_model: bool,
    pub prompt: String,
}

/// Who goes on with the conversation when the round is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Successor {
    pub profile: u32,
    pub inherit_model: bool,
    /// Of the tool.
    pub name: String,
}
