//! Calls that start while the rest of their answer still streams.
//!
//! Only what can be taken back: calls of read-only tools, whole and without fault, before which the answer has no call
//! of another kind. They stand in the same batch as all others, so that limits, permissions, keys and timeouts are the
//! same; the batch is completed when the answer is, or dropped with a failed attempt.

use crate::engine::agent::calls::batch::{CallPhase, ToolBatch};
use crate::engine::agent::calls::course::fault;
use crate::engine::agent::calls::written::{WrittenCall, name_uniquely, read_call};
use crate::engine::agent::{Agent, Desk};
use crate::engine::model::answer::PartKind;
use crate::engine::model::config::Config;
use crate::engine::model::event::ToolFault;
use crate::engine::model::input::ToolReturn;
use crate::engine::model::message::ToolInput;
use crate::engine::model::output::EffectId;
use crate::engine::model::question::Point;

impl Agent {
    /// The answer of the calls at hand has not come to its end.
    pub(crate) fn is_streaming(&self) -> bool {
        self.model.is_some()
    }

    /// Starts what has become whole.
    pub(crate) fn start_early(&mut self, desk: &mut Desk<'_>) {
        if !desk.config.eager_tools || self.context.is_compacting() {
            return;
        }
        // An answer comes before its guardrail whole, and its tools come after.
        if desk.has_hooks(Point::OutputGuardrail, "") {
            return;
        }
        let before = self.tools.calls.len();
        while let Some(call) = self.next_early(desk) {
            let is_fine = may_start_early(&call, desk.config) && self.problem_of(&call, desk).is_none();
            self.list_call(desk, call);
            if is_fine && self.limit_on_tools(desk).is_none() {
                self.admit_early(desk);
            } else {
                self.tools.calls.pop();
                self.tools.is_closed = true;
            }
        }
        if self.tools.calls.len() > before {
            self.ask_to_prepare(desk);
            self.advance_tools(desk);
        }
    }

    /// The next call of the answer, if it is whole.
    fn next_early(&mut self, desk: &mut Desk<'_>) -> Option<WrittenCall> {
        let answer = &mut self.model.as_mut()?.answer;
        while !self.tools.is_closed {
            let at = self.tools.parts_seen;
            let is_last = at + 1 == answer.parts.len();
            let part = answer.parts.get_mut(at)?;
            if part.is_answer {
                // It stands in the batch as a call when the answer is complete: nothing may come before it.
                self.tools.is_closed = true;
                return None;
            }
            if part.kind != PartKind::ToolCall {
                self.tools.parts_seen += 1;
                continue;
            }
            // Arguments that are empty may never have come, unless the answer goes on behind them.
            if !part.whole || (is_last && matches!(part.text.trim(), "" | "{}")) {
                return None;
            }
            self.tools.parts_seen += 1;
            return Some(read_call(part, desk));
        }
        None
    }

    /// The last call of the batch, which is the last part that was looked at, starts before its answer has ended.
    fn admit_early(&mut self, desk: &mut Desk<'_>) {
        let at = self.tools.parts_seen - 1;
        let part = self
            .model
            .as_mut()
            .and_then(|model| model.answer.parts.get_mut(at));
        if let (Some(part), Some(call)) = (part, self.tools.calls.last_mut()) {
            name_uniquely(part, &mut self.tools.ids, desk);
            call.id.clone_from(&part.id);
        }
        self.tell_call(desk, self.tools.calls.len() - 1);
    }

    /// The attempt that asked for them has failed: its calls never were.
    pub(crate) fn drop_early(&mut self, desk: &mut Desk<'_>) {
        self.abort_calls(desk, "the answer that asked for it has failed");
        for index in 0..self.tools.calls.len() {
            self.leave_call(desk, index);
        }
        self.tools = ToolBatch::default();
    }

    /// Closes the questions about calls and aborts those that run.
    pub(crate) fn abort_calls(&mut self, desk: &mut Desk<'_>, why: &str) {
        self.withdraw_all(desk);
        for index in 0..self.tools.calls.len() {
            if let Some(result) = self.returned(index) {
                self.finish_call(desk, index, result);
                continue;
            }
            let Some(CallPhase::Running { effect, .. }) = self.tools.calls.get(index).map(|call| &call.phase)
            else {
                continue;
            };
            let effect: EffectId = *effect;
            let written = self.abort_call(desk, effect, why);
            desk.ledger.close(effect);
            let so_far = if written.is_empty() {
                ""
            } else {
                "; written so far: "
            };
            let fault = fault(
                "cancelled",
                [why, so_far, &written].concat(),
                "Call the tool again if its result is still needed.",
            );
            self.finish_call(desk, index, ToolReturn::Fault(fault));
        }
    }

    /// A call that has been told of and never ran.
    pub(crate) fn leave_call(&mut self, desk: &mut Desk<'_>, index: usize) {
        if self.tools.calls.get(index).is_some_and(|call| !call.is_done()) {
            self.finish_call(desk, index, ToolReturn::Fault(ToolFault::not_run()));
        }
    }
}

fn may_start_early(call: &WrittenCall, config: &Config) -> bool {
    let is_as_written = call.repaired_by.is_none() && matches!(call.input, ToolInput::Json(_));
    let tool = config.tools.iter().find(|tool| tool.name == call.name);
    is_as_written && tool.is_some_and(|tool| tool.read_only && !tool.replay_once && tool.agent.is_none())
}
