//! The step that follows for an agent.
//!
//! A part of an agent never takes a step of another part. It returns [`Next`], and `Agent::follow` takes the step.

use crate::engine::model::outcome::StoppedBy;

#[derive(Debug)]
pub enum Next {
    /// Nothing follows until something else comes in.
    Wait,
    /// Every call of the round has its result.
    RoundOver,
    /// The iteration is over. `owes_answer` is true if the model has to answer the last message.
    HandOver {
        owes_answer: bool,
    },
    /// The agent ends.
    Stop(StoppedBy),
    StopBecause(StoppedBy, String),
    Cancel(String),
}
