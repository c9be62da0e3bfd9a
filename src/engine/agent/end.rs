//! How an agent ends: complete, stopped by a limit, cancelled, failed. Nothing that was received is lost.

use crate::engine::agent::{Agent, Desk};
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::error::Failure;
use crate::engine::model::event::{EventKind, ToolFault};
use crate::engine::model::outcome::{Outcome, OutcomeKind, StoppedBy};
use crate::engine::model::usage::Usage;

impl Agent {
    /// A limit: what runs is aborted, what is pending stays in the state.
    pub fn stop(&mut self, desk: &mut Desk<'_>, stopped_by: StoppedBy) {
        self.halt(desk, "the run was stopped");
        self.end_stopped(desk, stopped_by);
    }

    /// The host's abort.
    pub fn cancel(&mut self, desk: &mut Desk<'_>, why: String) {
        self.halt(desk, "the run was aborted");
        desk.ledger
            .emit(self.place(), EventKind::Abort { reason: why.clone() });
        self.end(
            desk,
            Outcome {
                abort_reason: Some(why),
                ..outcome(OutcomeKind::Cancelled)
            },
        );
    }

    pub fn end_failed(&mut self, desk: &mut Desk<'_>, error: Failure) {
        self.halt(desk, "the run failed");
        desk.ledger
            .emit(self.place(), EventKind::Error { error: error.clone() });
        self.end(
            desk,
            Outcome {
                error: Some(error),
                ..outcome(OutcomeKind::Failed)
            },
        );
    }

    pub(super) fn end_stopped(&mut self, desk: &mut Desk<'_>, stopped_by: StoppedBy) {
        self.end(
            desk,
            Outcome {
                stopped_by: Some(stopped_by),
                ..outcome(OutcomeKind::Stopped)
            },
        );
    }

    /// What a hook or guardrail gives as its reason stands beside it.
    pub(super) fn stop_because(&mut self, desk: &mut Desk<'_>, stopped_by: StoppedBy, why: String) {
        self.halt(desk, "the run was stopped");
        self.end(
            desk,
            Outcome {
                stopped_by: Some(stopped_by),
                abort_reason: Some(why),
                ..outcome(OutcomeKind::Stopped)
            },
        );
    }

    pub(super) fn end_completed(&mut self, desk: &mut Desk<'_>) {
        self.end(desk, outcome(OutcomeKind::Completed));
    }

    pub(super) fn finish_iteration(&mut self, desk: &mut Desk<'_>) {
        if !std::mem::take(&mut self.iteration_open) {
            return;
        }
        self.owes_end = true;
        let kind = EventKind::IterationFinish {
            finish_reason: self.finish_reason,
            raw_finish_reason: self.raw_finish_reason.clone(),
            usage: self.call_usage,
            response_id: self.response.0.clone(),
            response_model: self.response.1.clone(),
        };
        desk.ledger.emit(self.place(), kind);
    }

    /// From here on nobody is asked about the iteration any more.
    pub(super) fn end_iteration_time(&mut self, desk: &mut Desk<'_>) {
        let timer = TimerReason::Iteration { agent: self.index };
        desk.ledger.timers.clear(timer);
        self.withdraw_beside(desk, false);
    }

    fn end(&mut self, desk: &mut Desk<'_>, outcome: Outcome) {
        self.handover = None;
        self.end_iteration_time(desk);
        self.withdraw_beside(desk, true);
        desk.ledger.accounts.count(self.index, &Usage::default());
        for call in self.tools.calls.iter().filter(|call| !call.is_done()) {
            let kind = EventKind::ToolError {
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                error: ToolFault::not_run(),
                duration_ms: 0,
            };
            desk.ledger.emit(self.place(), kind);
        }
        self.finish_iteration(desk);
        self.ended = Some(outcome.clone());
        desk.ledger.emit(self.place(), EventKind::AgentFinish { outcome });
    }

    /// Gives up everything that is under way and keeps what it has brought.
    fn halt(&mut self, desk: &mut Desk<'_>, why: &str) {
        self.close_request(desk, true);
        self.abort_calls(desk, why);
        self.drop_compaction(desk);
        self.keep_partial(desk);
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
