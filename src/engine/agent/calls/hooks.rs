//! Hooks and guardrails around tool calls.

use crate::engine::agent::asks::Wait;
use crate::engine::agent::calls::batch::{CallPhase, output_of};
use crate::engine::agent::{Agent, Desk};
use crate::engine::model::input::ToolReturn;
use crate::engine::model::outcome::ToolCallRecord;
use crate::engine::model::question::{CallFacts, Facts, Point};
use crate::engine::policy::hook::{Decision, Gate, HookAnswer};

impl Agent {
    /// Asks the hooks of this point about a call, which waits for them; false if there are none.
    pub(crate) fn ask_about_call(&mut self, desk: &mut Desk<'_>, point: Point, index: usize) -> bool {
        let Some(call) = self.tools.calls.get_mut(index) else {
            return false;
        };
        if !desk.has_hooks(point, &call.name) {
            return false;
        }
        call.phase = CallPhase::Hooking;
        let name = call.name.clone();
        let data = Facts::Call(call.facts()).to_json();
        self.ask(desk, point, &name, data, Wait::Call { index });
        true
    }

    /// Shows hooks what a tool has brought, before it counts; false if there are none.
    pub(crate) fn hook_result(&mut self, desk: &mut Desk<'_>, index: usize, result: &ToolReturn) -> bool {
        let Some(call) = self.tools.calls.get_mut(index) else {
            return false;
        };
        let (point, output, error) = match result {
            ToolReturn::Fault(_) => (Point::PostToolUseFailure, None, Some(output_of(result))),
            _ => (Point::PostToolUse, Some(output_of(result)), None),
        };
        if !desk.has_hooks(point, &call.name) {
            return false;
        }
        let duration_ms = match call.phase {
            CallPhase::Running { started_ms, .. } => desk.ledger.now_ms.saturating_sub(started_ms),
            _ => 0,
        };
        call.phase = CallPhase::Returned {
            result: result.clone(),
            duration_ms,
        };
        let name = call.name.clone();
        let facts = CallFacts {
            output,
            error,
            duration_ms: Some(duration_ms),
            ..call.facts()
        };
        let data = Facts::Call(facts).to_json();
        self.ask(desk, point, &name, data, Wait::Call { index });
        true
    }

    /// What a call has brought that hooks are looking at.
    pub(crate) fn returned(&self, index: usize) -> Option<ToolReturn> {
        match self.tools.calls.get(index).map(|call| &call.phase) {
            Some(CallPhase::Returned { result, .. }) => Some(result.clone()),
            _ => None,
        }
    }

    /// Whether the run cannot go on after what a tool has brought.
    pub(crate) fn after_call_hooks(
        &mut self,
        desk: &mut Desk<'_>,
        point: Point,
        wait: Wait,
        mut verdict: HookAnswer,
    ) -> bool {
        let returned = match wait {
            Wait::Call { index } => self.returned(index),
            _ => None,
        };
        self.classifier_context.append(&mut verdict.classifier_context);
        self.note(&mut verdict, returned.is_some());
        match (wait, returned) {
            (Wait::Call { index }, Some(result)) => {
                let result = match (point, verdict.updated_output) {
                    (Point::PostToolUse, Some(output)) => ToolReturn::Value(output),
                    _ => result,
                };
                let is_fatal = matches!(&result, ToolReturn::Fault(fault) if !fault.recoverable);
                self.finish_call(desk, index, result);
                return is_fatal;
            }
            (Wait::Call { index }, None) if point == Point::ToolGuardrail => {
                self.after_tool_guardrail(desk, index, verdict);
            }
            (Wait::Call { index }, None) => self.after_pre_tool_use(desk, index, verdict),
            (Wait::Permission { index, reason }, _) => {
                self.after_permission_hooks(desk, index, reason, verdict);
            }
            (
                Wait::Denied {
                    index,
                    message,
                    reason,
                },
                _,
            ) => self.deny(desk, index, message.as_deref(), &reason, verdict.retry),
            _ => {}
        }
        false
    }

    fn after_pre_tool_use(&mut self, desk: &mut Desk<'_>, index: usize, verdict: HookAnswer) {
        if verdict.denies() {
            self.deny(desk, index, verdict.reason.as_deref(), "a hook denied it", false);
        } else if let Some(call) = self.tools.calls.get_mut(index) {
            call.gate = Gate::Passed {
                decision: verdict.decision,
                reason: verdict.reason,
            };
            let input = verdict.updated_input.filter(|_| !call.gate.said(Decision::Defer));
            if self.change_input(desk, index, input) {
                self.tools.set_phase(index, CallPhase::Checked);
            }
        }
    }

    /// The round is over when its hooks say nothing against it.
    #[inline(never)]
    pub(crate) fn close_round(&mut self, desk: &mut Desk<'_>) {
        let point = Point::PostToolBatch;
        if self.asks.is_at(point) {
            return;
        }
        if !desk.has_hooks(point, "") {
            return self.finish_round(desk);
        }
        let tool_calls: Vec<ToolCallRecord> = self.tools.told().map(|call| call.record(false)).collect();
        let facts = Facts::Batch {
            tool_calls: &tool_calls,
        };
        self.ask(desk, point, "", facts.to_json(), Wait::Point);
    }
}
