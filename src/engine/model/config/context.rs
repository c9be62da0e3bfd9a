//! The configuration of context management: when and how the history of a conversation is made shorter.
//!
//! The options stand in [`crate::engine::model::config::Config`]. [`crate::engine::policy::context`] decides by them
//! before each request. Nothing here counts or cuts.

use serde::{Deserialize, Serialize};

/// When and how the history is made shorter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContextPolicy {
    /// Tokens that the model can read, a positive integer. Default: what is known of the model. Where nothing is,
    /// looplet learns only from the vendor's error that the window is full.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub window: Option<u64>,
    /// Whether looplet summarises when the window is nearly full, or when the vendor says that it is. `run.compact()`
    /// works in any case.
    #[cfg_attr(test, schemars(extend("x-option" = "compaction")))]
    pub auto: bool,
    /// The share of the window that may be full, in percent; default 80.
    pub threshold_percent: u32,
    /// Answers of the model that stay as they are, with their tools' results, a non-negative integer.
    #[cfg_attr(test, schemars(extend("x-option" = "compaction")))]
    pub keep_last: u32,
    /// Further wishes for the summary.
    #[cfg_attr(test, schemars(extend("x-option" = "compaction")))]
    pub instructions: Option<String>,
    /// Your code writes the summary.
    pub ask: bool,
    /// The vendor of the model writes the summary where it can.
    pub by_vendor: bool,
    /// Characters of a request, a positive integer. looplet drops messages from the front of a longer request and
    /// puts a few lines about them in their place. No model is asked.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_chars: Option<u64>,
    /// How old answers are shortened; default: never.
    pub pruning: Option<Pruning>,
}

/// How old answers are shortened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("x-options" = "none")))]
#[serde(rename_all = "camelCase", default)]
pub struct Pruning {
    /// Who shortens them. `"vendor"`: the vendor of the model where it can, which does not show the model the inputs
    /// and the results of old calls. The history and the reasoning stay whole. `"looplet"`, and where the vendor
    /// cannot: looplet cuts thinking and the inputs of calls in the history.
    pub by: PruneBy,
    /// The number of later answers that make an answer old, a positive integer. A vendor shortens so many answers at
    /// a time: it shows the latest answers, at least this number and fewer than twice as many.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub after_responses: u32,
    /// Characters that stay of each part that looplet cuts, a non-negative integer.
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
