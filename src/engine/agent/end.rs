//! The end of an agent: complete, stopped by a limit, cancelled or failed.
//!
//! `stop`, `cancel` and `end_failed` come from any phase. They first close the request, the questions and the calls
//! that are under way. All text, usage and results that have arrived stay, and the transcript stays legal.
//! `end_stopped` and `end_completed` come from steps with nothing under way. An agent ends once and leaves no effect
//! open.

use crate::engine::agent::Agent;
use crate::engine::agent::desk::Desk;
use crate::engine::agent::phase::Phase;
use crate::engine::agent::request::close_request;
use crate::engine::model::error::Failure;
use crate::engine::model::event::{EventKind, ToolFault};
use crate::engine::model::outcome::{Outcome, OutcomeKind, StoppedBy};
use crate::engine::model::usage::Usage;

impl Agent {
    /// Stops the agent at a limit. Running calls are aborted, and messages that were not delivered stay in the inbox.
    pub fn stop(&mut self, desk: &mut Desk<'_>, stopped_by: StoppedBy) {
        self.halt(desk, "the run was stopped");
        self.end_stopped(desk, stopped_by);
    }

    /// Ends the agent because your code has aborted it.
    pub fn cancel(&mut self, desk: &mut Desk<'_>, why: String) {
        self.halt(desk, "the run was aborted");
        desk.emit(EventKind::Abort { reason: why.clone() });
        let outcome = Outcome {
            abort_reason: Some(why),
            ..outcome(OutcomeKind::Cancelled)
        };
        self.end(desk, outcome);
    }

    pub(super) fn end_failed(&mut self, desk: &mut Desk<'_>, error: Failure) {
        self.halt(desk, "the run failed");
        desk.emit(EventKind::Error { error: error.clone() });
        let outcome = Outcome {
            error: Some(error),
            ..outcome(OutcomeKind::Failed)
        };
        self.end(desk, outcome);
    }

    pub(super) fn end_stopped(&mut self, desk: &mut Desk<'_>, stopped_by: StoppedBy) {
        let outcome = Outcome {
            stopped_by: Some(stopped_by),
            ..outcome(OutcomeKind::Stopped)
        };
        self.end(desk, outcome);
    }

    /// Stops the agent for the reason that a hook or a guardrail has given.
    pub(super) fn stop_because(&mut self, desk: &mut Desk<'_>, stopped_by: StoppedBy, why: String) {
        self.halt(desk, "the run was stopped");
        let outcome = Outcome {
            stopped_by: Some(stopped_by),
            abort_reason: Some(why),
            ..outcome(OutcomeKind::Stopped)
        };
        self.end(desk, outcome);
    }

    pub(super) fn end_completed(&mut self, desk: &mut Desk<'_>) {
        self.end(desk, outcome(OutcomeKind::Completed));
    }

    pub(super) fn finish_iteration(&mut self, desk: &mut Desk<'_>) {
        if !std::mem::take(&mut self.iteration_open) {
            return;
        }
        self.owes_end = true;
        let reply = &self.reply;
        let kind = EventKind::IterationFinish {
            finish_reason: reply.finish_reason,
            raw_finish_reason: reply.raw_finish_reason.clone(),
            usage: reply.usage,
            response_id: reply.response_id.clone(),
            response_model: reply.response_model.clone(),
        };
        desk.emit(kind);
    }

    /// Closes the clock of the iteration and the question for more of its time.
    pub(super) fn end_iteration_time(&mut self, desk: &mut Desk<'_>) {
        desk.ledger.timers.clear(desk.who.iteration_timer());
        desk.withdraw_time();
    }

    /// Closes everything that is under way and keeps what has arrived.
    fn halt(&mut self, desk: &mut Desk<'_>, why: &str) {
        let mut phase = std::mem::take(&mut self.phase);
        if let Some(call) = phase.call_mut() {
            close_request(call, desk, true);
        }
        desk.withdraw_asks();
        if let Phase::Judging(guarded) = &phase {
            self.take_back_blocks(desk, guarded.blocks);
        }
        self.calls.abort(desk, why);
        match phase {
            Phase::Reading(call) => self.keep_partial(desk, *call),
            Phase::Summarizing(mut summary) => {
                if let Some(call) = &mut summary.call {
                    self.count_usage(desk, call);
                }
            }
            Phase::HandingOver {
                handover: Some(handover),
                ..
            } => drop(desk.ledger.close(handover)),
            _ => {}
        }
    }

    fn end(&mut self, desk: &mut Desk<'_>, outcome: Outcome) {
        self.tell_messages(desk);
        self.tell_closing(desk);
        desk.ledger.timers.clear(desk.who.iteration_timer());
        desk.withdraw_all();
        desk.ledger.accounts.count(desk.who.agent, &Usage::default());
        for call in self.calls.batch.calls.iter().filter(|call| !call.is_done()) {
            let kind = EventKind::ToolError {
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                error: ToolFault::not_run(),
                duration_ms: 0,
            };
            desk.emit(kind);
        }
        self.finish_iteration(desk);
        self.phase = Phase::Ended(outcome.clone());
        desk.emit(EventKind::AgentFinish { outcome });
    }
}

fn outcome(kind: OutcomeKind) -> Outcome {
    Outcome {
        outcome: kind,
        stopped_by: None,
        abort_reason: None,
        error: None,
    }
}
