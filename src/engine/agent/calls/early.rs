//! Calls that start while the rest of their answer still streams.
//!
//! Only calls that can be taken back start early: calls of read-only tools, whole and without fault, with no other
//! kind of call before them in the answer. A call is whole at its end, or where a protocol marks none, at the next
//! call. They stand in the same batch as all others, so that limits, permissions, keys and timeouts apply to them
//! too. The batch is completed with the answer, or dropped with a failed attempt.

use looplet_scan::check::check;
use looplet_scan::reader::Object;

use crate::engine::agent::calls::Calls;
use crate::engine::agent::calls::batch::ToolBatch;
use crate::engine::agent::calls::written::{WrittenCall, read_call};
use crate::engine::agent::desk::Desk;
use crate::engine::agent::next::Next;
use crate::engine::agent::telling::tell_changes;
use crate::engine::model::answer::{ModelAnswer, PartKind};
use crate::engine::model::message::ToolInput;
use crate::engine::model::question::Point;

impl Calls {
    /// Starts the calls of the answer that have become whole.
    pub fn start_early(&mut self, desk: &mut Desk<'_>, answer: &mut ModelAnswer) -> Next {
        // An output guardrail judges the whole answer before any of its calls may run.
        if !desk.config.tool_calls.eager || desk.has_hooks(Point::OutputGuardrail, "") {
            return Next::Wait;
        }
        let before = self.batch.calls.len();
        while let Some(call) = self.next_early(desk, answer) {
            let may_start = may_start_early(&call, desk) && self.problem_of(&call, desk).is_none();
            if !may_start || self.limit(desk, 1).is_some() {
                self.batch.is_closed = true;
                break;
            }
            self.list(desk, call, false);
        }
        if self.batch.calls.len() == before {
            return Next::Wait;
        }
        self.set_out(desk)
    }

    /// The next call of the answer, if it is whole.
    fn next_early(&mut self, desk: &mut Desk<'_>, answer: &mut ModelAnswer) -> Option<WrittenCall> {
        while !self.batch.is_closed {
            let at = self.batch.parts_seen;
            let part = answer.parts.get(at)?;
            if part.is_answer {
                // The answer call joins the batch when the answer is complete, and no call may come before it.
                self.batch.is_closed = true;
                return None;
            }
            if part.kind != PartKind::ToolCall {
                self.batch.parts_seen += 1;
                continue;
            }
            if !part.whole && !self.ends_at_next_call(at, desk, answer) {
                return None;
            }
            let is_last = at + 1 == answer.parts.len();
            let part = answer.parts.get_mut(at)?;
            // Empty arguments may still be on their way, unless the answer goes on behind them.
            if is_last && matches!(part.text.trim(), "" | "{}") {
                return None;
            }
            self.batch.parts_seen += 1;
            return Some(read_call(part, desk));
        }
        None
    }

    /// Ends a call when the next one has begun, because Chat Completions marks the end of no call. Some servers send
    /// the calls of an answer by turns, so the arguments must be an object that cannot grow. Otherwise no further
    /// call starts early.
    fn ends_at_next_call(&mut self, at: usize, desk: &mut Desk<'_>, answer: &mut ModelAnswer) -> bool {
        let Some([part, behind @ ..]) = answer.parts.get(at..) else {
            return false;
        };
        if !behind.iter().any(|part| part.kind == PartKind::ToolCall) {
            return false;
        }
        // An empty object may be the head of arguments that follow.
        let object = Some(&part.text).filter(|text| check(text).is_ok());
        let object = object.and_then(|text| Object::parse(text));
        if object.is_none_or(|object| object.fields().next().is_none()) {
            self.batch.is_closed = true;
            return false;
        }
        answer.end(at);
        tell_changes(answer, desk, false);
        true
    }

    /// Drops the early calls of a failed attempt, as if the model had never asked for them.
    pub fn drop_early(&mut self, desk: &mut Desk<'_>) {
        desk.withdraw_asks();
        self.abort(desk, "the answer that asked for it has failed");
        for index in 0..self.batch.calls.len() {
            self.leave(desk, index);
        }
        self.batch = ToolBatch::default();
    }
}

fn may_start_early(call: &WrittenCall, desk: &Desk<'_>) -> bool {
    let is_as_written =
        call.repaired_by.is_none() && call.wrapped.is_none() && matches!(call.input, ToolInput::Json(_));
    let tool = desk.tool(call.tool);
    is_as_written && tool.is_some_and(|tool| tool.read_only && !tool.runs_once() && tool.agent.is_none())
}
