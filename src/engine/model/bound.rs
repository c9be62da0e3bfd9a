//! The most that a run may use: the answer to a question that is asked before any request.
//!
//! [`crate::engine::policy::bound`] works it out from the options alone.

use serde::Serialize;

/// The most that a run may use under its limits, subagents included. A figure is `null` when nothing limits it, and
/// [`Bound::unbounded`] says why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Bound {
    /// Requests to models: iterations, retries, fallback models, summaries and subagents.
    pub requests: Option<u64>,
    /// Tokens that the models read, cached ones included.
    pub input_tokens: Option<u64>,
    /// Tokens that the models write, reasoning included.
    pub output_tokens: Option<u64>,
    /// The cost in billionths of a US dollar, an integer.
    pub cost_nano_usd: Option<u64>,
    /// The options that would limit the figures that are `null` (`contextWindow`, `maxOutputTokens`, `price`,
    /// `maxToolCalls`), and your functions that can lift a limit (`prepareIteration`, `onLimit`). Empty when every figure
    /// has a limit.
    pub unbounded: Vec<&'static str>,
}
