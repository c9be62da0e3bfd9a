//! Takes the response of an open request in, piece by piece, and tells its news.
//!
//! The order is [`Agent::handle_head`], then [`Agent::handle_chunk`] for each chunk, then
//! [`Agent::handle_end`]. [`Agent::handle_request_failed`] takes the place of the rest when the connection breaks.
//!
//! A failure leaves the engine once ([`Output::Redact`]): its words can contain the key, and only JavaScript knows
//! it. [`Agent::attempt_failed`] gets it back. The text of an answer is not searched.

use crate::engine::agent::Agent;
use crate::engine::agent::answer::telling::take_back_blocks;
use crate::engine::agent::answer::telling::{tell_changes, tell_growth};
use crate::engine::agent::desk::Desk;
use crate::engine::agent::machine::step::{Now, Phase};
use crate::engine::agent::request::close_request;
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::answer::Stage;
use crate::engine::model::error::Failure;
use crate::engine::model::output::{EffectId, Output};

/// The wait for the body's end after the protocol's end, in milliseconds. After it the request is closed; the answer
/// is complete.
const LINGER_MS: u64 = 1000;
/// The wait for usage and the protocol's end after a finish reason, in milliseconds. Some servers send neither.
const FINISHING_MS: u64 = 10_000;

impl Agent {
    pub fn handle_head(
        &mut self,
        desk: &mut Desk<'_>,
        request: EffectId,
        status: u16,
        headers: Vec<(String, String)>,
    ) {
        let Some(call) = self.machine.call_mut() else {
            return;
        };
        self.requests.kept.is_answered = true;
        call.handle_head(status, headers);
        if call.is_redirected() {
            self.end_response(desk, true);
        } else if call.is_refused() {
            let wait_ms = desk.config.timeouts.error_body_ms;
            desk.ledger.set_timer(TimerReason::Effect(request), wait_ms);
        }
    }

    pub fn handle_chunk(&mut self, desk: &mut Desk<'_>, request: EffectId, bytes: &[u8]) {
        let is_summary = self.machine.is(Phase::Summarizing);
        let Some(call) = self.machine.call_mut() else {
            return;
        };
        if call.is_refused() {
            call.take_error(bytes);
            if call.has_enough() {
                self.end_response(desk, true);
            }
            return;
        }
        let before = call.answer.stage();
        let had_id = call.answer.response_id.is_some();
        let fed = call.handle_chunk(bytes);
        if call.is_refused() {
            if call.has_enough() {
                self.end_response(desk, true);
            } else {
                let wait_ms = desk.config.timeouts.error_body_ms;
                desk.ledger.set_timer(TimerReason::Effect(request), wait_ms);
            }
            return;
        }
        self.heed_void(desk);
        let Some(call) = self.machine.call_mut() else {
            return;
        };
        let model = &desk.who.model;
        let has_id = !had_id && call.answer.response_id.is_some();
        desk.ledger.has_news |= has_id && (model.protocol.is_background)(model.asked());
        let stage = call.answer.stage();
        let chunk_ms = desk.config.timeouts.chunk_ms;
        // Nearly every chunk of a stream makes one block grow, and nothing follows from it.
        let is_growth = fed.is_ok() && stage == Stage::Streaming && !desk.estimates_usage();
        let answer = &mut call.answer;
        if is_growth
            && (!answer.has_changes() || (desk.overrun().is_none() && tell_growth(answer, desk, is_summary)))
        {
            return desk.ledger.set_timer(TimerReason::Effect(request), chunk_ms);
        }
        tell_changes(&mut call.answer, desk, is_summary);
        if let Err(failure) = fed {
            return self.report(desk, failure);
        }
        if let Now::Reading(call) = &mut self.machine.now {
            let next = self.calls.start_early(desk, &mut call.answer);
            self.follow(desk, next);
        }
        let wait_ms = match stage {
            Stage::Streaming => {
                if let Some(call) = self.machine.call() {
                    desk.reserve_answer(&call.answer);
                }
                match desk.overrun() {
                    Some(stopped_by) if !desk.may_raise() => return self.stop(desk, stopped_by),
                    _ => chunk_ms,
                }
            }
            // Bytes behind the answer do not prolong the wait for its end.
            _ if stage == before => return,
            Stage::Finishing => Some(chunk_ms.map_or(FINISHING_MS, |ms| ms.min(FINISHING_MS))),
            Stage::Complete => Some(LINGER_MS),
        };
        desk.ledger.set_timer(TimerReason::Effect(request), wait_ms);
    }

    pub fn handle_end(&mut self, desk: &mut Desk<'_>) {
        self.end_response(desk, false);
    }

    /// Ends an attempt whose connection broke or whose timer ran out. An answer with a finish reason is complete all
    /// the same, and the body of an error is as long as it has come.
    pub fn handle_request_failed(&mut self, desk: &mut Desk<'_>, failure: Failure) {
        let Some(call) = self.machine.call_mut() else {
            return;
        };
        if call.answer.stage() != Stage::Streaming || call.is_refused() {
            return self.end_response(desk, true);
        }
        let failure = call.broken(failure);
        self.report(desk, failure);
    }

    /// Takes the response as complete. `abort` stops a request whose body may go on.
    fn end_response(&mut self, desk: &mut Desk<'_>, abort: bool) {
        let is_summary = self.machine.is(Phase::Summarizing);
        let Some(call) = self.machine.call_mut() else {
            return;
        };
        let finished = call.handle_end(desk.ledger.now_ms, desk.who.model.protocol);
        self.heed_void(desk);
        let Some(call) = self.machine.call_mut() else {
            return;
        };
        tell_changes(&mut call.answer, desk, is_summary);
        if let Err(failure) = finished {
            return self.report(desk, failure);
        }
        if abort {
            close_request(call, desk, true);
        }
        if is_summary {
            self.finish_summary(desk);
        } else {
            self.finish_answer(desk);
        }
    }

    /// Takes back the blocks of an answer in whose place the vendor has begun another, and its calls that have
    /// started.
    fn heed_void(&mut self, desk: &mut Desk<'_>) {
        let call = self.machine.call_mut();
        let Some(shown) = call.and_then(|call| call.answer.voided.take()) else {
            return;
        };
        if !self.machine.is(Phase::Summarizing) {
            self.calls.drop_early(desk);
            if shown > 0 {
                take_back_blocks(desk, shown as u32);
            }
        }
    }

    /// Hands a failure of the open request out with its facts, for its secrets to be removed.
    fn report(&self, desk: &mut Desk<'_>, failure: Failure) {
        let Some((call, request)) = self.machine.call().and_then(|call| Some((call, call.request?))) else {
            return;
        };
        let failure = call.describe(failure, &desk.who.model);
        desk.ledger.output(Output::Redact { request, failure });
    }
}
