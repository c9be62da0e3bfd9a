//! The step that follows for an agent.
//!
//! A part of an agent never takes a step of another part. It returns [`Next`], and `Agent::follow` takes the step.

use crate::engine::model::error::Failure;
use crate::engine::model::outcome::StoppedBy;

pub enum Next {
    /// Nothing, until the next input.
    Wait,
    /// Calls of the round may continue.
    Advance,
    /// Send the request, for the first time or again.
    Send,
    /// Send the request when its timer fires.
    SendLater,
    /// The vendor has refused the request as too long, and a summary can help.
    Shorten(Failure),
    /// Ask the input guardrail about the messages, because a summary has changed some.
    GuardInput,
    /// The response of the open request is complete.
    ResponseOver,
    /// Every call of the round has its result.
    RoundOver,
    /// The iteration is over. `owes_answer` is true if the model has to answer the last message.
    HandOver {
        owes_answer: bool,
    },
    /// End the agent, whatever is in progress.
    Stop(StoppedBy),
    StopBecause(StoppedBy, String),
    Cancel(String),
    Fail(Failure),
}
