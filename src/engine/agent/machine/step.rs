//! The phases of an agent, and which of them may follow which.
//!
//! A phase is a durable [`Step`] and a [`Now`], its data in this process. Questions to hooks, guardrails and your
//! functions are open within a phase. `docs/architecture/engine.md` shows [`NEXT`] as a table.

use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::agent::summary::Summary;
use crate::engine::model::journal::Step;
use crate::engine::model::message::Json;
use crate::engine::model::output::EffectId;

/// The phases in their usual order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// The agent has received no message yet.
    #[default]
    Ready,
    /// The agent was restored from a checkpoint and has not continued yet.
    Restored,
    /// New content waits for its hooks, or for those of the session that it starts.
    Prompting,
    /// The next iteration is prepared: its limits, `prepareIteration`, the input guardrail.
    Preparing,
    /// A summary makes the history shorter.
    Summarizing,
    /// The request is sent next. It may wait for a retry, for hooks and guardrails after a summary, or for a raised
    /// limit.
    Sending,
    /// The model answers. Its calls may run already.
    Reading,
    /// The output guardrail judges the answer.
    Judging,
    /// Your code checks an answer that matches its schema.
    Checking,
    /// The calls are checked, judged and run.
    Running,
    /// The round is over, and the stop conditions are judged.
    Closing,
    /// The iteration has ended. The next step waits until your listeners have received all events and
    /// `onIterationEnd` has answered.
    HandingOver,
    /// The model has finished, unless a `Stop` hook makes it continue.
    Completing,
    Ended,
}

/// The data of a phase that another process computes again.
#[derive(Clone, Default)]
pub enum Now {
    /// The step needs no other data.
    #[default]
    Nothing,
    Restored,
    Preparing,
    Summarizing(Box<Summary>),
    Sending,
    Reading(Box<ModelCall>),
    Judging {
        calls: Vec<WrittenCall>,
        /// The number of blocks of the answer that events have reported.
        blocks: u32,
    },
    /// `call_ids` names the calls that gave the answer; a text answer has none.
    Checking {
        written: Json,
        call_ids: Vec<String>,
    },
    HandingOver(Option<EffectId>),
}

/// The phases that may follow each one, in addition to `Ended`, which may follow every other.
pub const NEXT: [(Phase, &[Phase]); 14] = [
    (
        Phase::Ready,
        &[Phase::Prompting, Phase::Summarizing, Phase::HandingOver],
    ),
    (
        Phase::Restored,
        &[
            Phase::Prompting,
            Phase::Preparing,
            Phase::Judging,
            Phase::Checking,
            Phase::Running,
            Phase::Closing,
            Phase::HandingOver,
            Phase::Completing,
        ],
    ),
    (
        Phase::Prompting,
        &[Phase::Prompting, Phase::Preparing, Phase::HandingOver],
    ),
    (Phase::Preparing, &[Phase::Sending]),
    (Phase::Summarizing, &[Phase::Sending]),
    (
        Phase::Sending,
        &[Phase::Summarizing, Phase::Sending, Phase::Reading],
    ),
    (
        Phase::Reading,
        &[
            Phase::Summarizing,
            Phase::Sending,
            Phase::Judging,
            Phase::Checking,
            Phase::Running,
            Phase::HandingOver,
        ],
    ),
    (
        Phase::Judging,
        &[Phase::Checking, Phase::Running, Phase::HandingOver],
    ),
    (Phase::Checking, &[Phase::HandingOver]),
    (Phase::Running, &[Phase::Closing, Phase::HandingOver]),
    (Phase::Closing, &[Phase::HandingOver]),
    (
        Phase::HandingOver,
        &[
            Phase::Prompting,
            Phase::Preparing,
            Phase::HandingOver,
            Phase::Completing,
        ],
    ),
    (Phase::Completing, &[Phase::HandingOver]),
    (Phase::Ended, &[]),
];

impl Phase {
    /// Returns true if `next` may follow this phase.
    pub fn may_lead_to(self, next: Phase) -> bool {
        let row = NEXT.iter().find(|(phase, _)| *phase == self);
        let is_end = next == Phase::Ended && self != Phase::Ended;
        is_end || row.is_some_and(|(_, followers)| followers.contains(&next))
    }

    pub fn of(step: &Step, now: &Now) -> Phase {
        match (step, now) {
            (_, Now::Restored) => Phase::Restored,
            (Step::Ready, _) => Phase::Ready,
            (Step::Prompt { .. }, _) => Phase::Prompting,
            (Step::Ask, Now::Summarizing(_)) => Phase::Summarizing,
            (Step::Ask, Now::Sending) => Phase::Sending,
            (Step::Ask, Now::Reading(_)) => Phase::Reading,
            (Step::Ask, _) => Phase::Preparing,
            (Step::Judge { .. }, _) => Phase::Judging,
            (Step::Act, Now::Checking { .. }) => Phase::Checking,
            (Step::Act, _) => Phase::Running,
            (Step::Close { .. }, _) => Phase::Closing,
            (Step::HandOver { .. }, _) => Phase::HandingOver,
            (Step::Complete, _) => Phase::Completing,
            (Step::Ended(_), _) => Phase::Ended,
        }
    }
}
