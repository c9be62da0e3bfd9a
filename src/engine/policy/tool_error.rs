//! The text with which the model learns about a failed call. `toolCalls.wordError` replaces it with your code's text.

use serde::Serialize;

use crate::engine::model::event::ToolFault;
use crate::engine::model::message::{Block, Json};

/// A fault as the model reads it (S003-19).
#[derive(Serialize)]
struct Shown<'a> {
    error: bool,
    code: &'a str,
    message: &'a str,
    hint: &'a str,
    recoverable: bool,
}

impl ToolFault {
    /// The fault of a call that was not run.
    pub fn not_run() -> ToolFault {
        ToolFault {
            code: "not_run".into(),
            message: "The call was not run: the run ended before it.".into(),
            hint: "Call the tool again if its result is still needed.".into(),
            recoverable: true,
        }
    }

    /// The error of a call if its run continues elsewhere, without this conversation.
    pub fn left_behind() -> ToolFault {
        ToolFault {
            code: "interrupted".into(),
            message: "The call had no result yet when this conversation was copied. It may have been done."
                .into(),
            hint: "Do not repeat the same call. Ask the user.".into(),
            recoverable: true,
        }
    }

    /// The JSON that the model reads.
    pub fn to_json(&self) -> Json {
        Json::of(&Shown {
            error: true,
            code: &self.code,
            message: &self.message,
            hint: &self.hint,
            recoverable: self.recoverable,
        })
    }

    /// The result block that shows the fault to the model.
    pub fn result_of(&self, call_id: &str) -> Block {
        Block::ToolResult {
            call_id: call_id.to_owned(),
            content: vec![Block::text(self.to_json().as_str())],
            is_error: true,
            pending: None,
        }
    }
}

/// The block of a history that leaves its run. A result that it does not have yet becomes a fault.
pub fn settled(block: Block) -> Block {
    match block {
        Block::ToolResult {
            call_id,
            pending: Some(_),
            ..
        } => ToolFault::left_behind().result_of(&call_id),
        block => block,
    }
}
