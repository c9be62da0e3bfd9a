//! Hooks and guardrails around tool calls.
//!
//! [`Calls::ask_about`] asks before a call runs, [`Calls::hook_result`] when it has come back. [`Calls::after_hooks`]
//! takes the joined verdict of a point, changes the call, and lets the calls advance. A hook may stop the run.

use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::calls::Calls;
use crate::engine::agent::calls::call::Wait;
use crate::engine::agent::desk::Desk;
use crate::engine::agent::next::Next;
use crate::engine::model::hook::{Decision, Gate, HookAnswer};
use crate::engine::model::input::ToolReturn;
use crate::engine::model::journal::CallStatus;
use crate::engine::model::message::Block;
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::question::{CallFacts, Facts, Point};

impl Calls {
    /// Asks the hooks of this point about a call, which then waits. Returns false if there are none.
    pub(super) fn ask_about(&mut self, desk: &mut Desk<'_>, point: Point, index: usize) -> bool {
        let Some(call) = self.batch.get_mut(index) else {
            return false;
        };
        if !desk.has_hooks(point, call.name()) {
            return false;
        }
        let facts = Facts::call(call.facts());
        desk.ask(Ask::new(point, About::Call(index), &facts).named(call.name()));
        // A guardrail comes after everything that decides whether the call may run.
        let status = match point {
            Point::ToolGuardrail => CallStatus::Allowed,
            _ => call.kept.status.clone(),
        };
        self.batch.set(index, status, Some(Wait::Hooks));
        true
    }

    /// Shows a tool's result to hooks before it counts. Returns false if there are none.
    pub(super) fn hook_result(&mut self, desk: &mut Desk<'_>, index: usize, result: &ToolReturn) -> bool {
        let Some(call) = self.batch.get_mut(index) else {
            return false;
        };
        let (point, output, error) = match result {
            ToolReturn::Fault(_) => (Point::PostToolUseFailure, None, Some(result.output())),
            _ => (Point::PostToolUse, Some(result.output()), None),
        };
        if !desk.has_hooks(point, call.name()) {
            return false;
        }
        let duration_ms = call.duration_ms(desk.ledger.now_ms);
        let facts = Facts::call(CallFacts {
            output,
            error,
            duration_ms: Some(duration_ms),
            ..call.facts()
        });
        desk.ask(Ask::new(point, About::Call(index), &facts).named(call.name()));
        let terminates = call.terminates;
        let status = CallStatus::Returned {
            result: result.clone(),
            duration_ms,
            terminates,
        };
        self.batch.set(index, status, Some(Wait::Hooks));
        true
    }

    /// Takes the joined answer of the hooks of a point.
    pub fn after_hooks(
        &mut self,
        desk: &mut Desk<'_>,
        point: Point,
        about: &About,
        mut verdict: HookAnswer,
    ) -> Next {
        if point == Point::PostToolBatch {
            return self.after_batch(desk, verdict);
        }
        let stop = verdict.stop.take();
        let next = match about {
            About::Call(index) => self.heed(desk, point, *index, verdict),
            _ => {
                self.note(&mut verdict, false);
                Next::Wait
            }
        };
        match (next, stop) {
            (Next::Wait, Some(why)) => Next::StopBecause(StoppedBy::Hook, why),
            (Next::Wait, None) => self.advance(desk),
            (next, _) => next,
        }
    }

    fn heed(&mut self, desk: &mut Desk<'_>, point: Point, index: usize, mut verdict: HookAnswer) -> Next {
        let returned = self.batch.returned(index);
        self.note(&mut verdict, returned.is_some());
        match point {
            Point::PermissionRequest => return self.after_permission_hooks(desk, index, verdict),
            Point::PermissionDenied => {
                self.after_denial(desk, index, verdict.retry);
                return Next::Wait;
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
                return self.batch.count_in(desk, index, result);
            }
            (Point::ToolGuardrail, _) => self.after_tool_guardrail(desk, index, verdict),
            _ => self.after_pre_tool_use(desk, index, verdict),
        }
        Next::Wait
    }

    fn after_pre_tool_use(&mut self, desk: &mut Desk<'_>, index: usize, verdict: HookAnswer) {
        if verdict.denies() {
            self.batch
                .deny(desk, index, verdict.reason.as_deref(), "a hook denied it", false);
        } else if let Some(call) = self.batch.get_mut(index) {
            call.kept.gate = Gate::Passed {
                decision: verdict.decision,
                reason: verdict.reason,
            };
            let input = verdict
                .updated_input
                .filter(|_| !call.kept.gate.said(Decision::Defer));
            if self.change_input(desk, index, input) {
                self.batch.set_to_judge(index);
            }
        }
    }

    fn after_tool_guardrail(&mut self, desk: &mut Desk<'_>, index: usize, verdict: HookAnswer) {
        if verdict.denies() {
            let reason = verdict.reason.unwrap_or_default();
            let message = format!("Tool denied by guardrail: {reason}");
            return self.batch.deny(desk, index, Some(&message), "", false);
        }
        if self.change_input(desk, index, verdict.updated_input) && !self.deny_by_rule(desk, index) {
            self.batch.set(index, CallStatus::Cleared, None);
        }
    }

    /// Keeps the text of hooks for the model. `blocks` says that the reason of a denial is such text too.
    pub fn note(&mut self, verdict: &mut HookAnswer, blocks: bool) {
        if blocks && verdict.denies() {
            self.kept.notes.extend(verdict.reason.take().map(Block::notice));
        }
        self.kept
            .notes
            .extend(verdict.context.drain(..).map(Block::notice));
    }
}
