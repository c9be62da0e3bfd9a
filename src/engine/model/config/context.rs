//! The configuration of context management: when and how the history of a conversation is shortened.
//!
//! The options are in [`crate::engine::model::config::Config`]. Before each request,
//! [`crate::engine::policy::context`] uses them to decide.

use serde::{Deserialize, Serialize};

/// When and how the history is shortened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContextPolicy {
    /// The size of the context window in tokens, a positive integer. Default: the known size of the model's window.
    /// If it is not known, looplet learns only from the vendor's error that the window is full.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub window: Option<u64>,
    /// Whether looplet summarises when the window is nearly full, or when the vendor reports that it is full.
    /// `run.compact()` works in any case.
    #[cfg_attr(test, schemars(extend("x-option" = "compaction")))]
    pub auto: bool,
    /// How full the window may be, in percent. Default 80.
    pub threshold_percent: u32,
    /// How many of the last answers stay unchanged, with their tools' results, a non-negative integer.
    #[cfg_attr(test, schemars(extend("x-option" = "compaction")))]
    pub keep_last: u32,
    /// Additional instructions for the summary.
    #[cfg_attr(test, schemars(extend("x-option" = "compaction")))]
    pub instructions: Option<String>,
    /// Whether your code writes the summary.
    pub ask: bool,
    /// Whether the model's vendor writes the summary where it can.
    pub by_vendor: bool,
    /// Maximum number of characters of a request, a positive integer. looplet replaces the oldest messages of a
    /// longer request with a few lines about them. It does not ask a model.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_chars: Option<u64>,
    /// How old answers are shortened. Default: never.
    pub pruning: Option<Pruning>,
}

/// How old answers are shortened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("x-options" = "none")))]
#[serde(rename_all = "camelCase", default)]
pub struct Pruning {
    /// Who shortens them. With `"vendor"`, the model's vendor hides the inputs and results of old calls from the
    /// model, where it can. The history and the reasoning stay complete. With `"looplet"`, and if the vendor cannot,
    /// looplet cuts thinking and the inputs of calls in the history.
    pub by: PruneBy,
    /// How many later answers make an answer old, a positive integer. A vendor shortens this many answers at a time:
    /// it shows at least this many of the latest answers, and fewer than twice as many.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub after_responses: u32,
    /// How many characters remain of each part that looplet cuts, a non-negative integer.
    pub prefix_chars: u32,
}

/// Who shortens old answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PruneBy {
    #[default]
    Vendor,
    Looplet,
}

impl Default for ContextPolicy {
    fn default() -> ContextPolicy {
        ContextPolicy {
            window: None,
            auto: true,
            threshold_percent: 80,
            keep_last: 3,
            instructions: None,
            ask: false,
            by_vendor: true,
            max_chars: None,
            pruning: None,
        }
    }
}

impl Default for Pruning {
    fn default() -> Pruning {
        Pruning {
            by: PruneBy::Vendor,
            after_responses: 5,
            prefix_chars: 100,
        }
    }
}
