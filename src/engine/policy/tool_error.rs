//! The text that tells the model about a failed call. `wordToolError` puts your code's words in its place.

use serde::Serialize;

use crate::engine::model::event::ToolFault;
use crate::engine::model::message::Json;

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
}
