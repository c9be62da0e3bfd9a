//! A complete answer becomes a message, passes its guardrails and is held to its schema.
//!
//! [`telling`] tells an answer while it streams. [`message`] reads the parts of a whole one, [`guardrail`] asks about
//! the message, [`structured`] judges it against the schema that [`output_format`] chose for the model. [`Reply`]
//! holds the facts of the last answer. The steps come from `iteration.rs`; nothing here sends a request.

pub(crate) mod guarded;
pub(crate) mod guardrail;
pub(crate) mod message;
pub mod output_format;
pub(crate) mod structured;
pub(crate) mod telling;

use crate::engine::model::answer::{FinishReason, ModelAnswer};
use crate::engine::model::usage::Usage;

/// The facts of the last answer.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    pub finish_reason: Option<FinishReason>,
    pub raw_finish_reason: Option<String>,
    /// The vendor's id of the response.
    pub response_id: Option<String>,
    /// The model that has answered, as the vendor says.
    pub response_model: Option<String>,
    /// The usage of this iteration's attempts; `None` if none of them reported any.
    pub usage: Option<Usage>,
    /// The text of the last answer that brought any.
    pub text: String,
    /// The text of the answer that the next one continues.
    pub text_before: String,
}

impl Reply {
    /// Clears the facts before another answer, but keeps its texts.
    pub fn begin(&mut self) {
        *self = Reply {
            text: std::mem::take(&mut self.text),
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
