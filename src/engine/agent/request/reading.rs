//! Receives the response of an open request, and emits its changes.
//!
//! The order is [`Reading::handle_head`], then [`Reading::handle_chunk`] for each chunk, then [`Reading::end`]. If
//! the connection is lost, [`Reading::handle_failure`] replaces the rest.
//!
//! A failure leaves the engine once ([`Output::Redact`]), because its message may contain the key, which only
//! JavaScript knows. [`Requests::failed`] receives the result. The text of an answer is not searched for the key.

use crate::engine::agent::answer_events::{emit_changes, emit_growth};
use crate::engine::agent::calls::Calls;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::next::Next;
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::agent::request::{Requests, close_request, take_back};
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::answer::Stage;
use crate::engine::model::error::Failure;
use crate::engine::model::output::{EffectId, Output};

/// The wait for the body's end after the protocol's end, in milliseconds. After it the request is closed; the answer
/// is complete.
const LINGER_MS: u64 = 1000;
/// The wait for usage and the protocol's end after a finish reason, in milliseconds. Some servers send neither.
const FINISHING_MS: u64 = 10_000;

/// An open model call and what is needed to receive its response.
pub struct Reading<'a> {
    pub call: &'a mut ModelCall,
    /// It writes a summary. A summary streams nothing and calls no tools.
    pub is_summary: bool,
    pub requests: &'a mut Requests,
    pub calls: &'a mut Calls,
}

impl Reading<'_> {
    pub fn handle_head(
        self,
        ctx: &mut AgentContext<'_>,
        request: EffectId,
        status: u16,
        headers: Vec<(String, String)>,
    ) -> Next {
        self.requests.note_answered();
        self.call.handle_head(status, headers);
        if self.call.is_redirected() {
            return self.end(ctx, true);
        }
        if self.call.is_refused() {
            self.wait_for_error(ctx, request);
        }
        Next::Wait
    }

    pub fn handle_chunk(mut self, ctx: &mut AgentContext<'_>, request: EffectId, bytes: &[u8]) -> Next {
        if self.call.is_refused() {
            self.call.take_error(bytes);
            if self.call.has_enough() {
                return self.end(ctx, true);
            }
            return Next::Wait;
        }
        let before = self.call.answer.stage();
        let had_id = self.call.answer.response_id.is_some();
        let fed = self.call.handle_chunk(bytes);
        if self.call.is_refused() {
            if self.call.has_enough() {
                return self.end(ctx, true);
            }
            self.wait_for_error(ctx, request);
            return Next::Wait;
        }
        self.retract_voided(ctx);
        let answer = &mut self.call.answer;
        let model = &ctx.identity.model;
        let has_id = !had_id && answer.response_id.is_some();
        ctx.ledger.has_news |= has_id && (model.protocol.is_background)(model.asked());
        let stage = answer.stage();
        let timer = TimerReason::Effect(request);
        let chunk_ms = ctx.config.timeouts.chunk_ms;
        // Nearly every chunk of a stream makes one block grow, and nothing follows from it.
        let is_growth = fed.is_ok() && stage == Stage::Streaming && !ctx.estimates_usage();
        if is_growth
            && (!answer.has_changes()
                || (ctx.overrun().is_none() && emit_growth(answer, ctx, self.is_summary)))
        {
            ctx.ledger.set_timer(timer, chunk_ms);
            return Next::Wait;
        }
        emit_changes(answer, ctx, self.is_summary);
        if let Err(failure) = fed {
            return self.report(ctx, failure);
        }
        if !self.is_summary {
            let next = self.calls.start_early(ctx, answer);
            if !matches!(next, Next::Wait) {
                return next;
            }
        }
        let wait_ms = match stage {
            Stage::Streaming => {
                ctx.reserve_answer(answer);
                match ctx.overrun() {
                    Some(stopped_by) if !ctx.may_raise() => return Next::Stop(stopped_by),
                    _ => chunk_ms,
                }
            }
            // Bytes after the answer do not extend the wait for its end.
            _ if stage == before => return Next::Wait,
            Stage::Finishing => Some(chunk_ms.map_or(FINISHING_MS, |ms| ms.min(FINISHING_MS))),
            Stage::Complete => Some(LINGER_MS),
        };
        ctx.ledger.set_timer(timer, wait_ms);
        Next::Wait
    }

    /// Ends an attempt after its connection was lost or its timer fired. An answer with a finish reason is still
    /// complete, and an error's body is used as received.
    pub fn handle_failure(self, ctx: &mut AgentContext<'_>, failure: Failure) -> Next {
        if self.call.answer.stage() != Stage::Streaming || self.call.is_refused() {
            return self.end(ctx, true);
        }
        let failure = self.call.broken(failure);
        self.report(ctx, failure)
    }

    /// Treats the response as complete. `abort` stops a request that may still send more.
    pub fn end(mut self, ctx: &mut AgentContext<'_>, abort: bool) -> Next {
        let finished = self
            .call
            .handle_end(ctx.ledger.now_ms, ctx.identity.model.protocol);
        self.retract_voided(ctx);
        emit_changes(&mut self.call.answer, ctx, self.is_summary);
        if let Err(failure) = finished {
            return self.report(ctx, failure);
        }
        close_request(self.call, ctx, abort);
        Next::ResponseOver
    }

    /// Retracts the blocks of an answer that the vendor has replaced with another, and aborts its calls that have
    /// started.
    fn retract_voided(&mut self, ctx: &mut AgentContext<'_>) {
        let voided = self.call.answer.voided.take();
        if let Some(shown) = voided.filter(|_| !self.is_summary) {
            take_back(ctx, self.calls, shown);
        }
    }

    /// Hands a failure of the open request out with its facts, for its secrets to be removed.
    fn report(&self, ctx: &mut AgentContext<'_>, failure: Failure) -> Next {
        if let Some(request) = self.call.request {
            let failure = self.call.describe(failure, &ctx.identity.model);
            ctx.ledger.output(Output::Redact { request, failure });
        }
        Next::Wait
    }

    fn wait_for_error(&self, ctx: &mut AgentContext<'_>, request: EffectId) {
        let wait_ms = ctx.config.timeouts.error_body_ms;
        ctx.ledger.set_timer(TimerReason::Effect(request), wait_ms);
    }
}
