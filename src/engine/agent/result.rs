//! The results of an agent, readable while it works and afterwards.
//!
//! The run reads them at any time, for its result and for reports on the way. Reading changes nothing.

use std::borrow::Cow;

use crate::engine::agent::Agent;
use crate::engine::ledger::Grown;
use crate::engine::model::message::{Json, Message};
use crate::engine::model::outcome::{Outcome, ToolCallRecord};
use crate::engine::model::output::EffectId;

impl Agent {
    pub fn ended(&self) -> Option<&Outcome> {
        self.machine.ended()
    }

    /// Returns true if no step is left to take.
    pub fn is_over(&self) -> bool {
        self.machine.is_over()
    }

    /// The transcript in a form that can be sent. Open calls have a result that says that they were not run.
    pub fn messages(&self) -> Cow<'_, [Message]> {
        self.history.transcript.closed(self.calls.batch.results())
    }

    /// The transcript as [`Agent::messages`] has it. If the agent goes on, its open calls say how far they have come.
    pub fn messages_so_far(&self, asking: &[EffectId]) -> Cow<'_, [Message]> {
        if self.is_over() {
            return self.messages();
        }
        let results = self.calls.batch.results_so_far(asking);
        self.history.transcript.closed(results)
    }

    /// Every tool call so far, in request order.
    pub fn tool_calls(&self) -> Cow<'_, [ToolCallRecord]> {
        let mut records = Cow::Borrowed(self.calls.records.as_slice());
        let is_over = self.ended().is_some();
        if !self.calls.batch.calls.is_empty() {
            let open = self.calls.batch.told().map(|call| call.record(is_over));
            records.to_mut().extend(open);
        }
        records
    }

    /// The text of the streaming answer, or else of the last answer that brought any.
    pub fn text(&self) -> String {
        let reading = self.machine.reading();
        self.answers.text_with(reading.map(|call| &call.answer))
    }

    /// The text of a delta that has not been polled.
    pub fn grown_text(&self, grown: &Grown) -> &str {
        self.machine.grown_text(grown)
    }

    /// The last answer that fits its schema.
    pub fn output(&self) -> Option<&Json> {
        self.answers.output()
    }
}
