//! The step that follows for an agent.
//!
//! A part of an agent never takes a step of another part. It returns [`Next`], and `Agent::follow` takes the step.

use crate::engine::model::error::Failure;
use crate::engine::model::outcome::StoppedBy;

pub enum Next {
    /// Nothing follows until something else comes in.
    Wait,
    /// Calls of the round may continue.
    Advance,
    /// The request goes out, for the first time or once more.
    Send,
    /// The request goes out when its timer says so.
    SendLater,
    /// The vendor has refused the request as too long, and a summary can help.
    Shorten(Failure),
    /// The input guardrail looks at the messages, of which a summary has changed some.
    GuardInput,
    /// The response of the open request is complete.
    ResponseOver,
    /// Every call of the round has its result.
    RoundOver,
    /// The iteration is over. `owes_answer` is true if the model has to answer the last message.
    HandOver {
        owes_answer: bool,
    },
    /// The agent ends, whatever is under way.
    Stop(StoppedBy),
    StopBecause(StoppedBy, String),
    Cancel(String),
    Fail(Failure),
}
