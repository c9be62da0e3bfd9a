//! Where an agent is, with what belongs to that.

use serde::{Deserialize, Serialize};

use crate::engine::agent::answer::guardrail::Guarded;
use crate::engine::agent::context::summary::Summary;
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::model::message::{Block, Json};
use crate::engine::model::outcome::Outcome;
use crate::engine::model::output::EffectId;

/// In the order in which they come. Questions to hooks, guardrails and your functions are open within a phase.
#[derive(Clone, Default, Serialize, Deserialize)]
pub enum Phase {
    /// Nothing was said to the agent yet.
    #[default]
    Ready,
    /// A session begins with this prompt: its hooks hear of it.
    Opening {
        prompt: Vec<Block>,
    },
    /// Something new is said to the model, when hooks have heard it.
    Prompting {
        content: Vec<Block>,
        source: String,
        owes_answer: bool,
    },
    /// The next iteration: its limits, `prepareIteration`, the input guardrail.
    Preparing,
    /// The history is made shorter by a summary.
    Summarizing(Box<Summary>),
    /// The request goes out after a wait, a summary, a limit that was asked about.
    Sending,
    /// The model answers. Calls may run already.
    Reading(Box<ModelCall>),
    /// The answer is with the output guardrail.
    Judging(Box<Guarded>),
    /// The answer fits its schema and is checked once more. `call_ids`: the calls that gave it; none if it was text.
    Checking {
        written: Json,
        call_ids: Vec<String>,
    },
    /// Its calls are checked, judged and run.
    Running,
    /// The round is over: whether to stop.
    Closing,
    /// The iteration is over: what goes on waits until everything before it has been heard, by `onIterationEnd` first.
    HandingOver {
        handover: Option<EffectId>,
        owes_answer: bool,
    },
    /// The model has finished, if `Stop` hooks do not have it go on.
    Completing,
    Ended(Outcome),
}

impl Phase {
    /// What a request brings, of the conversation or of a summary.
    pub fn call(&self) -> Option<&ModelCall> {
        match self {
            Phase::Reading(call) => Some(call),
            Phase::Summarizing(summary) => summary.call.as_deref(),
            _ => None,
        }
    }

    pub fn call_mut(&mut self) -> Option<&mut ModelCall> {
        match self {
            Phase::Reading(call) => Some(call),
            Phase::Summarizing(summary) => summary.call.as_deref_mut(),
            _ => None,
        }
    }

    pub fn is_summarizing(&self) -> bool {
        matches!(self, Phase::Summarizing(_))
    }
}
