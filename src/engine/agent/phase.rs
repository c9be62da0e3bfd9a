//! The step that an agent is at, with the data that belongs to it.
//!
//! An agent owns one [`Phase`]. Its steps take the phase out, act on its data and put the next one in. A step that
//! finds another phase than its own puts it back: the answer has come too late.

use crate::engine::agent::answer::guarded::Guarded;
use crate::engine::agent::context::summing::Summary;
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::model::journal::Step;
use crate::engine::model::message::{Block, Json};
use crate::engine::model::outcome::Outcome;
use crate::engine::model::output::EffectId;

/// The phases in the order in which they come. Questions to hooks, guardrails and your functions are open within one.
#[derive(Clone, Default)]
pub enum Phase {
    /// Nobody has said anything to the agent yet.
    #[default]
    Ready,
    /// A session begins with this prompt, and its hooks are asked first.
    Opening {
        prompt: Vec<Block>,
    },
    /// New content waits for its hooks before the model gets it.
    Prompting {
        content: Vec<Block>,
        source: String,
        owes_answer: bool,
    },
    /// The next iteration is prepared: its limits, `prepareIteration`, the input guardrail.
    Preparing,
    /// A summary makes the history shorter.
    Summarizing(Box<Summary>),
    /// The request goes out next. It may wait for a retry, for hooks and guardrails after a summary, or for a raised
    /// limit.
    Sending,
    /// The model answers. Its calls may run already.
    Reading(Box<ModelCall>),
    /// The output guardrail judges the answer.
    Judging(Box<Guarded>),
    /// Your code checks an answer that fits its schema. `call_ids` names the calls that gave it; a text answer has
    /// none.
    Checking {
        written: Json,
        call_ids: Vec<String>,
    },
    /// The calls are checked, judged and run.
    Running,
    /// The round is over, and the stop conditions are judged.
    Closing {
        /// The number of repetitions that your code is asked about.
        repeats: Option<u32>,
    },
    /// The iteration is over. The next step waits until your code has heard everything before it, and until
    /// `onIterationEnd` has answered.
    HandingOver {
        handover: Option<EffectId>,
        owes_answer: bool,
    },
    /// The model has finished, unless a `Stop` hook makes it go on.
    Completing,
    Ended(Outcome),
    /// The agent comes from a checkpoint, and has not gone on yet.
    Restored(Box<Step>),
}

impl Phase {
    /// The open model call, of the conversation or of a summary.
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
