//! The calls of an answer that is still streaming.
//!
//! A call is complete at its end, or at the next call if the protocol does not mark ends. [`Batch::next_early`] reads
//! the next complete call. `schedule.rs` decides whether it starts early.

use looplet_scan::check::check;
use looplet_scan::reader::Object;

use crate::engine::agent::answer_events::emit_changes;
use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::calls::written::{WrittenCall, read_call};
use crate::engine::agent::context::AgentContext;
use crate::engine::model::answer::{ModelAnswer, PartKind};

impl Batch {
    /// The next call of the answer, if it is complete.
    pub fn next_early(
        &mut self,
        ctx: &mut AgentContext<'_>,
        answer: &mut ModelAnswer,
    ) -> Option<WrittenCall> {
        while !self.is_closed {
            let at = self.parts_seen;
            let part = answer.parts.get(at)?;
            if part.is_answer {
                // The answer call is added when the answer is complete, and no call may precede it.
                self.is_closed = true;
                return None;
            }
            if part.kind != PartKind::ToolCall {
                self.parts_seen += 1;
                continue;
            }
            if !part.whole && !self.ends_at_next_call(at, ctx, answer) {
                return None;
            }
            let is_last = at + 1 == answer.parts.len();
            let part = answer.parts.get_mut(at)?;
            // Empty arguments may still be on their way, unless the answer continues after them.
            if is_last && matches!(part.text.trim(), "" | "{}") {
                return None;
            }
            self.parts_seen += 1;
            return Some(read_call(part, ctx));
        }
        None
    }

    /// Ends a call when the next one has started, because Chat Completions does not mark the end of a call. Some
    /// servers interleave the calls of an answer, so the arguments must be an object that cannot grow. Otherwise no
    /// further call starts early.
    fn ends_at_next_call(&mut self, at: usize, ctx: &mut AgentContext<'_>, answer: &mut ModelAnswer) -> bool {
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
            self.is_closed = true;
            return false;
        }
        answer.end(at);
        emit_changes(answer, ctx, false);
        true
    }

    /// Starts no further call of the answer early.
    pub fn stop_early(&mut self) {
        self.is_closed = true;
    }
}
