//! An answer that is complete: from its parts to a message, past its guardrails, held to a schema.

pub(crate) mod guardrail;
pub(crate) mod message;
pub mod output_format;
pub(crate) mod structured;

use serde::{Deserialize, Serialize};

use crate::engine::model::answer::{Answer, FinishReason};
use crate::engine::model::usage::Usage;

/// What is known of the last answer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Reply {
    pub finish_reason: Option<FinishReason>,
    pub raw_finish_reason: Option<String>,
    /// The vendor's.
    pub response_id: Option<String>,
    /// The model that the vendor says has answered.
    pub response_model: Option<String>,
    /// Of this iteration's attempts.
    pub usage: Usage,
    /// Of the last answer that brought any.
    pub text: String,
    /// Of the answer that the next one continues.
    pub text_before: String,
}

impl Reply {
    /// Another answer is asked for.
    pub fn begin(&mut self) {
        *self = Reply {
            text: std::mem::take(&mut self.text),
            text_before: std::mem::take(&mut self.text_before),
            ..Reply::default()
        };
    }

    /// How the answer ended, and whose it is.
    pub fn take(&mut self, answer: &mut Answer) {
        self.finish_reason = answer.finish_reason;
        self.raw_finish_reason = answer.raw_finish_reason.take();
        self.note_response(answer);
    }

    /// Whose answer it is, whole or not.
    pub fn note_response(&mut self, answer: &mut Answer) {
        self.response_id = answer.response_id.take();
        self.response_model = answer.model.take();
    }
}
