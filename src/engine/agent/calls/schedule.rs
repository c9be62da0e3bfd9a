//! The schedule of calls: when each one starts, and what happens after it ends.
//!
//! [`Calls::advance`] chooses the calls that start next, opens an effect in the ledger for each, and ends the round.
//! `start` starts a call. It is called by [`Calls::advance`], or by [`Calls::saved`] if the start had to be saved
//! first. Each end of a call closes its effect. Results arrive through [`Calls::finished`], timeouts through
//! [`Calls::time_is_up`].
//! [`Approvals`](crate::engine::agent::calls::approvals::Approvals) decides whether a call may run, and
//! `policy::schedule` which calls may run at the same time.
//!
//! [`Calls::start_early`] starts calls while the rest of their answer streams. Only calls that can be discarded start
//! early: complete calls of read-only tools without an error, if no other kind of call precedes them in the answer.
//! They are in the same batch as all others, so limits, permissions, keys and timeouts apply to them too. The batch
//! is completed with the answer, or dropped with a failed attempt.

use crate::engine::agent::calls::call::{Call, Wait};
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::calls::{Calls, fault};
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::identity::AgentIdentity;
use crate::engine::agent::next::Next;
use crate::engine::json::canonical::canonical;
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::answer::ModelAnswer;
use crate::engine::model::config::ToolConfig;
use crate::engine::model::input::ToolReturn;
use crate::engine::model::journal::CallStatus;
use crate::engine::model::message::{Json, ToolInput};
use crate::engine::model::output::{EffectId, EffectKind, Output, ToolInvocation};
use crate::engine::model::question::Point;
use crate::engine::policy::binding::unbound_input;

/// The reason for the question about a call that a lost part of the run may have made.
const MAY_BE_LOST: &str =
    "a part of the run's journal is lost, and this call may have been made in it, perhaps under another id";

impl Calls {
    /// Prepares the listed calls and starts them.
    pub fn set_out(&mut self, ctx: &mut AgentContext<'_>) -> Next {
        self.approvals.prepare(&mut self.batch, ctx);
        self.advance(ctx)
    }

    /// Starts the calls of the answer that are complete.
    pub fn start_early(&mut self, ctx: &mut AgentContext<'_>, answer: &mut ModelAnswer) -> Next {
        // An output guardrail checks the complete answer before any of its calls may run.
        if !ctx.config.tool_calls.eager || ctx.has_hooks(Point::OutputGuardrail, "") {
            return Next::Wait;
        }
        let before = self.batch.calls().len();
        while let Some(call) = self.batch.next_early(ctx, answer) {
            let may_start = may_start_early(&call, ctx) && self.problem_of(&call, ctx).is_none();
            if !may_start || self.limit(ctx, 1).is_some() {
                self.batch.stop_early();
                break;
            }
            self.batch.list(ctx, call, false);
        }
        if self.batch.calls().len() == before {
            return Next::Wait;
        }
        self.set_out(ctx)
    }

    /// Drops the early calls of a failed attempt, as if the model had never asked for them.
    pub fn drop_early(&mut self, ctx: &mut AgentContext<'_>) {
        ctx.withdraw_asks();
        self.batch.abort(ctx, "the answer that requested it has failed");
        self.batch.leave_all(ctx);
        drop(self.take_batch());
    }

    /// Judges the calls that can be judged and starts those that may run. Returns [`Next::RoundOver`]
    /// when all calls have their results.
    pub fn advance(&mut self, ctx: &mut AgentContext<'_>) -> Next {
        if ctx.questions.holds(ctx.identity.agent) || self.batch.calls().is_empty() {
            return Next::Wait;
        }
        self.approvals.judge(&mut self.batch, ctx);
        let (mode, most) = (
            ctx.config.tool_calls.execution,
            ctx.config.tool_calls.max_concurrency,
        );
        while let Some(index) = self.batch.next_to_start(mode, most) {
            let Some(call) = self.batch.get(index) else {
                break;
            };
            let tool = ctx.tool(call.tool);
            if ctx.ledger.is_torn && tool.is_some_and(ToolConfig::awaits_save) && !call.is_vouched_for() {
                self.approvals
                    .ask_to_reconcile(&mut self.batch, ctx, index, None, MAY_BE_LOST);
                continue;
            }
            let kind = match tool.and_then(|tool| tool.agent) {
                Some(agent) if !agent.calls_host => EffectKind::Subagent,
                _ => EffectKind::Tool,
            };
            let effect = ctx.ledger.open(ctx.identity.agent, kind);
            if ctx.ledger.has_journal && tool.is_none_or(ToolConfig::awaits_save) {
                self.batch
                    .set(index, CallStatus::Started { effect }, Some(Wait::Save(None)));
                ctx.ledger.await_save();
            } else {
                self.start(ctx, index, effect);
            }
        }
        if self.batch.is_done() && self.batch.is_whole && !self.approvals.ask_before_end(&self.batch, ctx) {
            return Next::RoundOver;
        }
        Next::Wait
    }

    fn start(&mut self, ctx: &mut AgentContext<'_>, index: usize, effect: EffectId) {
        self.batch.wait_for_result(ctx, index, effect);
        let Some(call) = self.batch.get_mut(index) else {
            return;
        };
        call.updated_input = updated_input(call, ctx);
        if let Some(target) = self.delegations.target_of(call, ctx) {
            return self
                .delegations
                .start(&mut self.batch, ctx, index, effect, target);
        }
        let wait_ms = wait_ms(call, ctx);
        ctx.ledger.set_timer(TimerReason::Effect(effect), wait_ms);
        let once = ctx.tool(call.tool).is_none_or(ToolConfig::runs_once);
        let invocation = invocation(call, effect, ctx.identity, once);
        ctx.ledger.output(Output::CallTool(invocation));
    }

    /// Starts the timer of a call again that is still running after its instance was lost.
    pub(super) fn watch(&mut self, ctx: &mut AgentContext<'_>, index: usize, effect: EffectId) {
        if let Some(call) = self.batch.get_mut(index) {
            call.updated_input = updated_input(call, ctx);
            let wait_ms = wait_ms(call, ctx);
            ctx.ledger.set_timer(TimerReason::Effect(effect), wait_ms);
        }
    }

    pub fn finished(&mut self, ctx: &mut AgentContext<'_>, effect: EffectId, result: ToolReturn) -> Next {
        let Some(index) = self.batch.index_of(effect) else {
            return Next::Wait;
        };
        ctx.ledger.close(effect);
        self.batch.forget_elicitations(ctx, index);
        let Some(call) = self.batch.get_mut(index) else {
            return Next::Wait;
        };
        let result = match result {
            ToolReturn::Last(result) => {
                call.terminates = true;
                *result
            }
            result => result,
        };
        let result = self.delegations.after_host(ctx, call, result);
        if self.approvals.hook_result(&mut self.batch, ctx, index, &result) {
            return Next::Wait;
        }
        self.batch.count_in(ctx, index, result)
    }

    /// Ends a call after its timeout. A subagent's time may be raised instead.
    pub fn time_is_up(&mut self, ctx: &mut AgentContext<'_>, effect: EffectId) -> Next {
        if let Some(child) = ctx.child_of(effect) {
            ctx.on_child(child, &mut |child, ctx| {
                child.time_is_up(ctx, TimerReason::Effect(effect));
            });
            return Next::Wait;
        }
        let why = "the tool did not finish in time";
        ctx.ledger.output(Output::AbortTool {
            call: effect,
            why: why.into(),
        });
        let hint = "Try again with less work, or continue without this result.";
        let fault = fault("timeout", why, hint);
        self.finished(ctx, effect, ToolReturn::Fault(fault))
    }

    /// Starts the calls that wait for this save, or ends them with a fault if it failed.
    pub fn saved(&mut self, ctx: &mut AgentContext<'_>, saved: EffectId, ok: bool) -> Next {
        for index in self.batch.under_way() {
            let Some(call) = self.batch.get(index) else {
                continue;
            };
            let Some(effect) = call
                .under_way()
                .filter(|_| call.waits == Some(Wait::Save(Some(saved))))
            else {
                continue;
            };
            if ok {
                self.start(ctx, index, effect);
            } else {
                ctx.ledger.close(effect);
                let why = "the start of this call could not be saved, so it was not made";
                let fault = fault("save_failed", why, "Tell the user that nothing was done.");
                self.batch.fail(ctx, index, fault);
            }
        }
        Next::Advance
    }
}

fn may_start_early(call: &WrittenCall, ctx: &AgentContext<'_>) -> bool {
    let is_as_written =
        call.repaired_by.is_none() && call.wrapped.is_none() && matches!(call.input, ToolInput::Json(_));
    let tool = ctx.tool(call.tool);
    is_as_written && tool.is_some_and(|tool| tool.read_only && !tool.runs_once() && tool.agent.is_none())
}

/// The input of a call that is about to start, if your code has changed it. The values that bindings fill in are left
/// out, because the model is not shown them.
pub(super) fn updated_input(call: &Call, ctx: &AgentContext<'_>) -> Option<Json> {
    let before = call.kept.unchanged.as_ref()?;
    if canonical(before.as_str()) == canonical(call.input().as_str()) {
        return None;
    }
    let bindings = ctx.tool(call.tool).map(|tool| tool.bindings.as_slice());
    Some(unbound_input(
        call.input(),
        bindings.unwrap_or_default(),
        ctx.inputs,
    ))
}

pub(super) fn invocation(
    call: &Call,
    effect: EffectId,
    identity: &AgentIdentity,
    once: bool,
) -> ToolInvocation {
    ToolInvocation {
        call: effect,
        tool_call_id: call.id().to_owned(),
        tool_name: call.name().to_owned(),
        input: call.input().clone(),
        iteration: identity.kept.iteration,
        agent: identity.agent,
        profile: identity.kept.profile,
        once,
        checkpoint: call.kept.checkpoint.clone(),
    }
}

/// The time of a call, by its tool or by the option for all tools.
pub(super) fn wait_ms(call: &Call, ctx: &AgentContext<'_>) -> Option<u64> {
    let own = ctx.tool(call.tool).and_then(|tool| tool.timeout_ms);
    own.or(ctx.config.timeouts.tool_ms)
}
