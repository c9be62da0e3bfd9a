//! A complete answer becomes a message, passes its guardrails and is held to its schema.
//!
//! [`telling`] tells an answer while it streams. [`message`] reads the parts of a whole one, [`guardrail`] asks about
//! the message, [`structured`] judges it against the schema that [`output_format`] chose for the model. [`Reply`]
//! holds the facts of the last answer. The steps come from `iteration.rs`; nothing here sends a request.

pub(crate) mod guardrail;
pub(crate) mod message;
pub mod output_format;
pub(crate) mod structured;
pub(crate) mod telling;

use crate::engine::model::answer::ModelAnswer;
use crate::engine::model::journal::Reply;

impl Reply {
    /// The text of the last answer that brought any.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Takes the text back until it is let through. The text that it continues has already been let through.
    pub fn hold_back(&mut self) -> String {
        let text = self.text.replace(self.text_before.clone());
        text.unwrap_or_default()
    }

    /// Clears the facts before another answer, but keeps its texts.
    pub fn begin(&mut self) {
        *self = Reply {
            text: self.text.take(),
            text_before: std::mem::take(&mut self.text_before),
            ..Reply::default()
        };
    }

    /// Takes over how the answer ended, and the ids of its response.
    pub fn take(&mut self, answer: &mut ModelAnswer) {
        self.finish_reason = answer.finish_reason;
        self.raw_finish_reason = answer.raw_finish_reason.take();
        self.note_response(answer);
    }

    /// Takes over the ids of a response, whole or not.
    pub fn note_response(&mut self, answer: &mut ModelAnswer) {
        self.response_id = answer.response_id.take();
        self.response_model = answer.model.take();
    }
}
