//! How a failed model call is retried.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use crate::engine::model::error::FailureCode;

/// Retries of a model call after status 408, 409, 429 or 5xx, a network failure or a broken stream.
///
/// The n-th retry waits `min(maxMs, baseMs × factor^n)` plus up to `jitterMs`, or longer if the server asks for it.
/// While the network rejects the first request of a run, all waits together take at most 3 s, unless `delaysMs` lists
/// them. All numbers are non-negative integers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("x-options" = "none")))]
#[serde(rename_all = "camelCase", default)]
pub struct RetryPolicy {
    /// Maximum number of retries. 0 disables retries.
    pub max_retries: u32,
    /// The first wait, in milliseconds.
    pub base_ms: u64,
    /// The factor between one wait and the next, a positive integer.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub factor: u32,
    /// The waits before each retry in milliseconds, instead of `baseMs` and `factor`. The last one also applies to
    /// all later retries. Default: none.
    pub delays_ms: Vec<u64>,
    /// The maximum of the random part, in milliseconds.
    pub jitter_ms: u64,
    /// How random the waits are.
    pub jitter: Jitter,
    /// The longest wait in milliseconds, at least `baseMs`. Default 60,000, or `baseMs` if that is more. A longer
    /// `Retry-After` ends the retries.
    pub max_ms: Option<u64>,
    /// Whether looplet waits as long as the server asks (`Retry-After`).
    pub respect_retry_after: bool,
    /// The failure codes to retry. Default: all failures that are `retryable`.
    #[cfg_attr(test, schemars(with = "Vec<FailureCode>"))]
    pub on: Vec<String>,
    /// How many times looplet repeats a whole model call, a non-negative integer. It starts the next call when all
    /// attempts of the previous one have failed, for any reason. Each call has its own attempts.
    pub max_model_call_retries: u32,
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy {
            max_retries: 3,
            base_ms: 1000,
            factor: 2,
            delays_ms: Vec::new(),
            jitter_ms: 1000,
            jitter: Jitter::Added,
            max_ms: None,
            respect_retry_after: true,
            on: Vec::new(),
            max_model_call_retries: 0,
        }
    }
}

/// How the random share enters a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Jitter {
    /// Adds up to `jitterMs` to the formula's wait.
    #[default]
    Added,
    /// Picks a wait between 0 and the formula's, which spreads many clients best.
    Full,
}
