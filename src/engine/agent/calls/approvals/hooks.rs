//! Hooks and guardrails around tool calls.
//!
//! [`Approvals::ask_about`] asks before a call runs, [`Approvals::hook_result`] when it has come back.
//! [`Approvals::after_hooks`] takes the joined verdict of a point, changes the call, and lets the calls advance. A
//! hook may stop the run.

use crate::engine::agent::calls::approvals::{Approvals, change_input};
use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::calls::call::Wait;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::next::Next;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::model::hook::{Decision, Gate, HookAnswer};
use crate::engine::model::input::ToolReturn;
use crate::engine::model::journal::CallStatus;
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::question::{CallFacts, Facts, Point};

impl Approvals {
    /// Asks the hooks of this point about a call, which then waits. Returns false if there are none.
    pub fn ask_about(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        point: Point,
        index: usize,
    ) -> bool {
        let Some(call) = batch.get_mut(index) else {
            return false;
        };
        if !ctx.has_hooks(point, call.name()) {
            return false;
        }
        let facts = Facts::call(call.facts());
        ctx.ask(Ask::new(point, About::Call(index), &facts).named(call.name()));
        // The guardrail is called after everything that decides whether the call may run.
        let status = match point {
            Point::ToolGuardrail => CallStatus::Allowed,
            _ => call.kept.status.clone(),
        };
        batch.set(index, status, Some(Wait::Hooks));
        true
    }

    /// Calls the hooks with a tool's result before it is used. Returns false if there are none.
    pub fn hook_result(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        index: usize,
        result: &ToolReturn,
    ) -> bool {
        let Some(call) = batch.get_mut(index) else {
            return false;
        };
        let (point, output, error) = match result {
            ToolReturn::Fault(_) => (Point::PostToolUseFailure, None, Some(result.output())),
            _ => (Point::PostToolUse, Some(result.output()), None),
        };
        if !ctx.has_hooks(point, call.name()) {
            return false;
        }
        let duration_ms = call.duration_ms(ctx.ledger.now_ms);
        let facts = Facts::call(CallFacts {
            output,
            error,
            duration_ms: Some(duration_ms),
            ..call.facts()
        });
        ctx.ask(Ask::new(point, About::Call(index), &facts).named(call.name()));
        let terminates = call.terminates;
        let status = CallStatus::Returned {
            result: result.clone(),
            duration_ms,
            terminates,
        };
        batch.set(index, status, Some(Wait::Hooks));
        true
    }

    /// Takes the joined answer of the hooks of a point.
    pub fn after_hooks(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        point: Point,
        about: &About,
        mut verdict: HookAnswer,
    ) -> Next {
        if point == Point::PostToolBatch {
            return self.after_batch(batch, ctx, verdict);
        }
        let stop = verdict.stop.take();
        let next = match about {
            About::Call(index) => self.apply_verdict(batch, ctx, point, *index, verdict),
            _ => {
                self.note(&mut verdict, false);
                Next::Advance
            }
        };
        match (next, stop) {
            (Next::Advance, Some(why)) => Next::StopBecause(StoppedBy::Hook, why),
            (next, _) => next,
        }
    }

    fn apply_verdict(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        point: Point,
        index: usize,
        mut verdict: HookAnswer,
    ) -> Next {
        let returned = batch.returned(index);
        self.note(&mut verdict, returned.is_some());
        match point {
            Point::PermissionRequest => return self.after_permission_hooks(batch, ctx, index, verdict),
            Point::PermissionDenied => {
                self.after_denial(batch, ctx, index, verdict.retry);
                return Next::Advance;
            }
            _ => {}
        }
        self.kept
            .classifier_context
            .append(&mut verdict.classifier_context);
        match (point, returned) {
            (Point::PostToolUse | Point::PostToolUseFailure, Some(result)) => {
                let result = match (point, verdict.updated_output) {
                    (Point::PostToolUse, Some(output)) => ToolReturn::Value(output),
                    _ => result,
                };
                return batch.count_in(ctx, index, result);
            }
            (Point::ToolGuardrail, _) => self.after_tool_guardrail(batch, ctx, index, verdict),
            _ => self.after_pre_tool_use(batch, ctx, index, verdict),
        }
        Next::Advance
    }

    fn after_pre_tool_use(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        index: usize,
        verdict: HookAnswer,
    ) {
        if verdict.denies() {
            batch.deny(ctx, index, verdict.reason.as_deref(), "a hook denied it", false);
        } else if let Some(call) = batch.get_mut(index) {
            call.kept.gate = Gate::Passed {
                decision: verdict.decision,
                reason: verdict.reason,
            };
            let input = verdict
                .updated_input
                .filter(|_| !call.kept.gate.said(Decision::Defer));
            if change_input(batch, ctx, index, input) {
                batch.set_to_judge(index);
            }
        }
    }

    fn after_tool_guardrail(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        index: usize,
        verdict: HookAnswer,
    ) {
        if verdict.denies() {
            let reason = verdict.reason.unwrap_or_default();
            let message = format!("Tool denied by guardrail: {reason}");
            return batch.deny(ctx, index, Some(&message), "", false);
        }
        if change_input(batch, ctx, index, verdict.updated_input) && !self.deny_by_rule(batch, ctx, index) {
            batch.set(index, CallStatus::Cleared, None);
        }
    }
}
