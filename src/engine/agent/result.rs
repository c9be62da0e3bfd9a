//! What an agent has to show, while it works and afterwards.

use std::borrow::Cow;

use crate::engine::agent::Agent;
use crate::engine::agent::answer::message::text_of_parts;
use crate::engine::model::message::{Json, Message};
use crate::engine::model::outcome::{Outcome, ToolCallRecord};

impl Agent {
    pub fn ended(&self) -> Option<&Outcome> {
        self.ended.as_ref()
    }

    /// The transcript as it could be sent: open calls have a result that says so, an unfinished answer its text.
    pub fn messages(&self) -> Cow<'_, [Message]> {
        let mut messages = Cow::Borrowed(self.transcript.messages());
        if !self.tools.calls.is_empty() && !self.is_streaming() {
            messages.to_mut().push(Message::user(self.tools.results()));
        }
        if let Some(results) = self.open_results() {
            messages.to_mut().push(Message::user(results));
        }
        messages
    }

    /// Every tool call so far, in request order.
    pub fn tool_calls(&self) -> Cow<'_, [ToolCallRecord]> {
        let mut records = Cow::Borrowed(self.records.as_slice());
        if !self.tools.calls.is_empty() {
            let open = self.tools.told().map(|call| call.record(self.ended.is_some()));
            records.to_mut().extend(open);
        }
        records
    }

    /// The text of the answer that is being streamed, else of the last one that brought anything.
    pub fn text(&self) -> String {
        match &self.model {
            Some(model) if !model.answer.parts.is_empty() && !self.context.is_compacting() => {
                [&*self.text_before, &text_of_parts(&model.answer)].concat()
            }
            _ => self.text.clone(),
        }
    }

    /// The last answer that fits its schema.
    pub fn output(&self) -> Option<&Json> {
        self.structured.output.as_ref()
    }
}
