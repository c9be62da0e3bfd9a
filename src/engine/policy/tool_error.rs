//! The text that tells the model about a failed call, in one of several conventions.
//!
//! The agent calls [`ErrorFormat::text`] for each failed call, and the longest message comes with the call. The
//! convention is the option `toolErrorFormat`. With `host`, your code words the errors of a round; for every error that
//! it leaves open the structured form is used.

use crate::engine::model::config::ErrorFormat;
use crate::engine::model::event::ToolFault;
use crate::engine::model::message::Json;
use crate::engine::policy::result_cap;

impl ErrorFormat {
    /// The text for the model. A long message is cut after its first `most` characters.
    pub fn text(self, tool_name: &str, fault: &ToolFault, most: usize) -> String {
        let message = result_cap::cut(&fault.message, most).unwrap_or_else(|| fault.message.clone());
        let is_sprout = self == ErrorFormat::Sprout;
        let message = match &*fault.code {
            "unknown_tool" if is_sprout => ["Unknown tool: ", tool_name].concat(),
            _ if is_sprout && message.is_empty() => "Tool execution failed".to_owned(),
            _ => message,
        };
        match self {
            ErrorFormat::Structured | ErrorFormat::Host => ToolFault {
                message,
                ..fault.clone()
            }
            .to_json()
            .as_str()
            .to_owned(),
            ErrorFormat::Sprout => ["{\"error\":", Json::string(&message).as_str(), "}"].concat(),
            ErrorFormat::Claude => message,
            ErrorFormat::Guide => ["Error: ", &message].concat(),
            ErrorFormat::Simple => ["error: ", &message].concat(),
            ErrorFormat::Prompty => match &*fault.code {
                // The text of a denial says itself who denied the call.
                "denied" => message,
                "invalid_json" | "invalid_input" | "unknown_tool" | "early_answer" | "cut_off"
                | "call_limit" | "not_run" | "cancelled" | "save_failed" => ["Error: ", &message].concat(),
                _ => ["Error: Tool '", tool_name, "' failed: ", &message].concat(),
            },
        }
    }
}
