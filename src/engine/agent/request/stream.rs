//! What comes of an open request, piece by piece.

use crate::engine::agent::{Agent, Desk};
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::answer::Stage;
use crate::engine::model::output::EffectId;

/// After the protocol's end the body's end is waited for this long; then the request is given up, and nothing is lost.
const LINGER_MS: u64 = 1000;
/// After a finish reason the usage and the protocol's end are waited for this long: some servers send neither.
const FINISHING_MS: u64 = 10_000;

impl Agent {
    pub fn handle_head(&mut self, status: u16, headers: Vec<(String, String)>) {
        if let Some(model) = &mut self.model {
            model.handle_head(status, headers);
        }
    }

    /// Takes what repeats the events before it, which is nearly all of a stream. Returns what is left for
    /// [`Agent::handle_chunk`], if anything is left to be done.
    pub fn take_repeats<'a>(
        &mut self,
        desk: &mut Desk<'_>,
        request: EffectId,
        bytes: &'a [u8],
    ) -> Option<&'a [u8]> {
        let Some(model) = &mut self.model else {
            return Some(bytes);
        };
        if model.answer.stage() != Stage::Streaming || desk.estimates_usage() {
            return Some(bytes);
        }
        let (is_all, rest) = model.take_repeats(bytes);
        if !is_all || (model.answer.has_changes() && !self.tell_growth(desk)) {
            return Some(rest);
        }
        // No budget can have been overrun: what only repeats reports no usage.
        desk.ledger
            .set_timer(TimerReason::Effect(request), desk.config.timeouts.chunk_ms);
        None
    }

    #[inline(never)]
    pub fn handle_chunk(&mut self, desk: &mut Desk<'_>, request: EffectId, bytes: &[u8]) {
        let Some(model) = &mut self.model else { return };
        let before = model.answer.stage();
        let fed = model.handle_chunk(bytes);
        let stage = model.answer.stage();
        self.tell_changes(desk);
        if let Err(failure) = fed {
            return self.attempt_failed(desk, failure);
        }
        self.start_early(desk);
        let chunk_ms = desk.config.timeouts.chunk_ms;
        let wait_ms = match stage {
            Stage::Streaming => {
                self.reserve_answer(desk);
                match self.over_limit(desk) {
                    Some(stopped_by) if !self.may_raise(desk) => return self.stop(desk, stopped_by),
                    _ => chunk_ms,
                }
            }
            // What comes after the answer does not prolong the wait for its end.
            _ if stage == before => return,
            Stage::Finishing => Some(chunk_ms.map_or(FINISHING_MS, |ms| ms.min(FINISHING_MS))),
            Stage::Complete => Some(LINGER_MS),
        };
        desk.ledger.set_timer(TimerReason::Effect(request), wait_ms);
    }
}
