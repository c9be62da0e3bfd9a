//! The current step of an agent, and its transitions. Nothing else writes the step.
//!
//! [`prompt`] takes content in. [`iteration`] has the order from "begin" to "yield". [`end`] ends an agent, and
//! [`resume`] repeats the step of a checkpoint. [`step`] defines which phase may follow which.
//!
//! Steps remove the data of their phase with [`Machine::leave`], use it and enter the next phase. An answer for
//! another phase is too late.

pub(crate) mod end;
mod iteration;
mod prompt;
mod resume;
pub mod step;

use crate::engine::agent::machine::step::{Now, Phase};
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::ledger::Grown;
use crate::engine::model::journal::{Step, StepState};
use crate::engine::model::outcome::Outcome;

#[derive(Clone, Default)]
pub struct Machine {
    kept: StepState,
    phase: Phase,
    /// The data of the phase. A step that has taken it out leaves nothing here until it enters the next phase.
    pub now: Now,
}

impl Machine {
    /// Restores the machine of a checkpoint. With `is_final`, an agent that has ended cannot continue.
    pub fn restored(kept: StepState, is_final: bool) -> Machine {
        let now = match kept.step {
            Step::Ended(_) if is_final => Now::Nothing,
            _ => Now::Restored,
        };
        Machine {
            phase: Phase::of(&kept.step, &now),
            kept,
            now,
        }
    }

    /// Enters the phase of a step. A test build stops at a phase that must not follow (`step.rs`).
    pub fn enter(&mut self, step: Step, now: Now) {
        let phase = Phase::of(&step, &now);
        debug_assert!(
            self.phase.may_lead_to(phase),
            "{:?} is followed by {phase:?}",
            self.phase
        );
        self.kept.step = step;
        (self.phase, self.now) = (phase, now);
    }

    /// Takes out the data of the phase. The phase continues without it.
    pub fn leave(&mut self) -> Now {
        std::mem::take(&mut self.now)
    }

    /// Removes the step. Another one must be entered then.
    pub fn take_step(&mut self) -> Step {
        std::mem::take(&mut self.kept.step)
    }

    pub fn kept(&self) -> &StepState {
        &self.kept
    }

    pub fn step(&self) -> &Step {
        &self.kept.step
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    pub fn is(&self, phase: Phase) -> bool {
        self.phase == phase
    }

    pub fn ended(&self) -> Option<&Outcome> {
        match &self.kept.step {
            Step::Ended(outcome) if self.phase == Phase::Ended => Some(outcome),
            _ => None,
        }
    }

    /// Returns true if no step is left to take.
    pub fn is_over(&self) -> bool {
        matches!(self.kept.step, Step::Ready | Step::Ended(_))
    }

    /// The open model call, of the conversation or of a summary.
    pub fn call(&self) -> Option<&ModelCall> {
        match &self.now {
            Now::Reading(call) => Some(call),
            Now::Summarizing(summary) => summary.call(),
            _ => None,
        }
    }

    /// The model call that is being received, unless it writes a summary.
    pub fn reading(&self) -> Option<&ModelCall> {
        match &self.now {
            Now::Reading(call) => Some(call),
            _ => None,
        }
    }

    /// The text of a delta that has not been polled.
    pub fn grown_text(&self, grown: &Grown) -> &str {
        let part = self.call().and_then(|call| call.answer.parts.get(grown.part));
        let text = part.and_then(|part| part.text.get(grown.from..grown.to));
        text.unwrap_or_default()
    }

    pub fn call_mut(&mut self) -> Option<&mut ModelCall> {
        match &mut self.now {
            Now::Reading(call) => Some(call),
            Now::Summarizing(summary) => summary.call_mut(),
            _ => None,
        }
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
