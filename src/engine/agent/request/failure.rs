//! An attempt that failed: a shorter history, another attempt, or the end.

use crate::engine::agent::{Agent, Desk};
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::answer::Stage;
use crate::engine::model::error::Failure;
use crate::engine::model::event::{CompactTrigger, EventKind};

impl Agent {
    /// The connection broke, or one of its timers ran out. After a finish reason nothing of the answer is missing.
    pub fn handle_request_failed(&mut self, desk: &mut Desk<'_>, failure: Failure) {
        let Some(model) = &mut self.model else { return };
        if model.answer.stage() != Stage::Streaming {
            self.close_request(desk, true);
            return self.handle_end(desk);
        }
        let failure = model.describe(failure);
        self.attempt_failed(desk, failure);
    }

    pub fn handle_backoff_over(&mut self, desk: &mut Desk<'_>) {
        self.model = None;
        if self.context.is_compacting() {
            return self.send_compaction(desk);
        }
        self.send(desk);
    }

    pub(crate) fn attempt_failed(&mut self, desk: &mut Desk<'_>, mut failure: Failure) {
        if self.context.is_compacting() {
            return self.compaction_failed(desk, failure);
        }
        self.close_request(desk, true);
        self.count_usage(desk);
        if self.may_compact(desk, &mut failure) {
            self.take_back(desk);
            self.begin_compaction(desk, CompactTrigger::Overflow, None, Some(failure));
            return;
        }
        let (policy, seed) = (&desk.config.retry, desk.ledger.seed);
        let Some(delay_ms) = self.tries.delay_ms(policy, self.attempt, &failure, seed) else {
            return self.fall_back(desk, failure);
        };
        self.take_back(desk);
        self.retry_after(desk, delay_ms, failure);
    }

    pub(crate) fn retry_after(&self, desk: &mut Desk<'_>, delay_ms: u64, error: Failure) {
        let next_attempt = self.attempt + 1;
        let kind = EventKind::Retry {
            next_attempt,
            max_attempts: desk.config.retry.most_attempts().max(next_attempt),
            delay_ms,
            error,
        };
        desk.ledger.emit(self.place(), kind);
        desk.ledger
            .set_timer(TimerReason::Backoff { agent: self.index }, Some(delay_ms));
    }
}
