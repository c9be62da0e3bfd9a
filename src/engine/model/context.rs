//! When the history of a conversation is made shorter.

use serde::{Deserialize, Serialize};

/// When and how the history is made shorter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContextPolicy {
    /// Tokens that the model can read; default: unknown.
    pub window_tokens: Option<u64>,
    /// Summarise when the window is nearly full, and when the vendor says that it is; default true.
    pub auto: bool,
    /// How full the window may be, in percent; default 80.
    pub threshold_percent: u32,
    /// Answers that stay as they are, with their tools' results; default 3.
    pub keep_last: u32,
    /// What the summary shall also heed.
    pub instructions: Option<String>,
    /// The host writes the summary.
    pub ask: bool,
    /// Characters that a request may have, as `policy::context::characters` counts them; default: any number.
    pub budget_chars: Option<u64>,
    /// Thinking and calls of old answers are cut short; default: never.
    pub history: Option<HistoryPolicy>,
}

/// What is cut short of old answers (S002-18).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HistoryPolicy {
    /// An answer is old when so many have come after it; default 5.
    pub after_responses: u32,
    /// What stays of it, in characters; default 100.
    pub prefix_chars: u32,
}

impl Default for ContextPolicy {
    fn default() -> ContextPolicy {
        ContextPolicy {
            window_tokens: None,
            auto: true,
            threshold_percent: 80,
            keep_last: 3,
            instructions: None,
            ask: false,
            budget_chars: None,
            history: None,
        }
    }
}

impl Default for HistoryPolicy {
    fn default() -> HistoryPolicy {
        HistoryPolicy {
            after_responses: 5,
            prefix_chars: 100,
        }
    }
}
