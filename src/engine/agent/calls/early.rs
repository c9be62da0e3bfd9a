//! Calls that start while the rest of their answer still streams.
//!
//! Only calls that can be taken back start early: calls of read-only tools, whole and without fault, with no other
//! kind of call before them in the answer. A call is whole at its end, or where a protocol marks none, at the next
//! call. They stand in the same batch as all others, so that limits, permissions, keys and timeouts apply to them
//! too. The batch is completed with the answer, or dropped with a failed attempt.

use crate::engine::agent::calls::Calls;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::desk::Desk;
use crate::engine::agent::next::Next;
use crate::engine::model::answer::ModelAnswer;
use crate::engine::model::message::ToolInput;
use crate::engine::model::question::Point;

impl Calls {
    /// Starts the calls of the answer that have become whole.
    pub fn start_early(&mut self, desk: &mut Desk<'_>, answer: &mut ModelAnswer) -> Next {
        // An output guardrail judges the whole answer before any of its calls may run.
        if !desk.config.tool_calls.eager || desk.has_hooks(Point::OutputGuardrail, "") {
            return Next::Wait;
        }
        let before = self.batch.calls().len();
        while let Some(call) = self.batch.next_early(desk, answer) {
            let may_start = may_start_early(&call, desk) && self.problem_of(&call, desk).is_none();
            if !may_start || self.limit(desk, 1).is_some() {
                self.batch.stop_early();
                break;
            }
            self.batch.list(desk, call, false);
        }
        if self.batch.calls().len() == before {
            return Next::Wait;
        }
        self.set_out(desk)
    }

    /// Drops the early calls of a failed attempt, as if the model had never asked for them.
    pub fn drop_early(&mut self, desk: &mut Desk<'_>) {
        desk.withdraw_asks();
        self.batch.abort(desk, "the answer that asked for it has failed");
        self.batch.leave_all(desk);
        drop(self.take_batch());
    }
}

fn may_start_early(call: &WrittenCall, desk: &Desk<'_>) -> bool {
    let is_as_written =
        call.repaired_by.is_none() && call.wrapped.is_none() && matches!(call.input, ToolInput::Json(_));
    let tool = desk.tool(call.tool);
    is_as_written && tool.is_some_and(|tool| tool.read_only && !tool.runs_once() && tool.agent.is_none())
}
