//! Calls that start while the rest of their answer still streams.
//!
//! Only what can be taken back: calls of read-only tools, whole and without fault, before which the answer has no call
//! of another kind. They stand in the same batch as all others, so that limits, permissions, keys and timeouts are the
//! same; the batch is completed when the answer is, or dropped with a failed attempt.

use crate::engine::agent::calls::batch::ToolBatch;
use crate::engine::agent::calls::written::{WrittenCall, name_uniquely, read_call};
use crate::engine::agent::calls::{Calls, Next};
use crate::engine::agent::desk::Desk;
use crate::engine::agent::who::Who;
use crate::engine::model::answer::{Answer, PartKind};
use crate::engine::model::config::Config;
use crate::engine::model::message::ToolInput;
use crate::engine::model::question::Point;

impl Calls {
    /// Starts what has become whole of an answer.
    pub fn start_early(&mut self, who: &Who, desk: &mut Desk<'_>, answer: &mut Answer) -> Next {
        // An answer comes before its guardrail whole, and its tools come after.
        if !desk.config.eager_tools || desk.has_hooks(Point::OutputGuardrail, "") {
            return Next::Wait;
        }
        let before = self.batch.calls.len();
        while let Some(call) = self.next_early(desk, answer) {
            let is_fine = may_start_early(&call, desk.config) && self.problem_of(&call, desk).is_none();
            self.list(desk, call);
            if is_fine && self.limit(who, desk).is_none() {
                self.admit_early(who, desk, answer);
            } else {
                self.batch.calls.pop();
                self.batch.is_closed = true;
            }
        }
        if self.batch.calls.len() == before {
            return Next::Wait;
        }
        self.prepare(who, desk);
        self.advance(who, desk)
    }

    /// The next call of the answer, if it is whole.
    fn next_early(&mut self, desk: &Desk<'_>, answer: &mut Answer) -> Option<WrittenCall> {
        while !self.batch.is_closed {
            let at = self.batch.parts_seen;
            let is_last = at + 1 == answer.parts.len();
            let part = answer.parts.get_mut(at)?;
            if part.is_answer {
                // It stands in the batch as a call when the answer is complete: nothing may come before it.
                self.batch.is_closed = true;
                return None;
            }
            if part.kind != PartKind::ToolCall {
                self.batch.parts_seen += 1;
                continue;
            }
            // Arguments that are empty may never have come, unless the answer goes on behind them.
            if !part.whole || (is_last && matches!(part.text.trim(), "" | "{}")) {
                return None;
            }
            self.batch.parts_seen += 1;
            return Some(read_call(part, desk));
        }
        None
    }

    /// The last call of the batch, which is the last part that was looked at, starts before its answer has ended.
    fn admit_early(&mut self, who: &Who, desk: &mut Desk<'_>, answer: &mut Answer) {
        let at = self.batch.parts_seen - 1;
        if let (Some(part), Some(call)) = (answer.parts.get_mut(at), self.batch.calls.last_mut()) {
            name_uniquely(part, &mut self.batch.ids, desk);
            call.id.clone_from(&part.id);
        }
        self.tell(who, desk, self.batch.calls.len() - 1);
    }

    /// The attempt that asked for them has failed: its calls never were.
    pub fn drop_early(&mut self, who: &Who, desk: &mut Desk<'_>) {
        desk.withdraw_asks(who.agent);
        self.abort(who, desk, "the answer that asked for it has failed");
        for index in 0..self.batch.calls.len() {
            self.leave(who, desk, index);
        }
        self.batch = ToolBatch::default();
    }
}

fn may_start_early(call: &WrittenCall, config: &Config) -> bool {
    let is_as_written = call.repaired_by.is_none() && matches!(call.input, ToolInput::Json(_));
    let tool = config.tools.iter().find(|tool| tool.name == call.name);
    is_as_written && tool.is_some_and(|tool| tool.read_only && !tool.replay_once && tool.agent.is_none())
}
