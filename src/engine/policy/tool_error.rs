//! How a call that went wrong is told to the model: one text per convention.

use crate::engine::model::config::ErrorFormat;
use crate::engine::model::event::ToolFault;
use crate::engine::model::message::Json;
use crate::engine::policy::result_cap;

impl ErrorFormat {
    /// What the model reads; of a long message its first `most` characters.
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
                // Its own wording says where it comes from.
                "denied" => message,
                "invalid_json" | "invalid_input" | "unknown_tool" | "early_answer" | "cut_off"
                | "call_limit" | "not_run" | "cancelled" | "save_failed" => ["Error: ", &message].concat(),
                _ => ["Error: Tool '", tool_name, "' failed: ", &message].concat(),
            },
        }
    }
}
