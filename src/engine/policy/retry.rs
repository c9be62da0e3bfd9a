//! Decides whether and when a failed model call is retried.
//!
//! The agent calls [`Tries::delay_ms`] after each failed attempt and sets the timer to the wait. Nothing here reads a
//! clock or a random source: the jitter is derived from the seed of the input that reported the failure. Errors of
//! the configuration and bugs are never retried.

use crate::engine::model::config::{Jitter, RetryPolicy};
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::journal::Tries;
use crate::engine::model::json::word;

/// The maximum sum of the waits while the network rejects the first request of a run, in milliseconds. A wrong
/// address, CORS and a missing network do not resolve on their own, and a user waits for the first word.
const FIRST_CONTACT_MS: u64 = 3000;

impl Tries {
    /// The counts when another model is used after this many attempts.
    pub fn after(attempts: u32) -> Tries {
        Tries {
            failed_calls: 0,
            before: attempts,
        }
    }

    /// The wait before the attempt after this failed one, in milliseconds. `None` gives up. First come attempts
    /// within a call, for failures that may be temporary. Then come whole calls, for every failure of the provider or
    /// the network.
    pub fn delay_ms(
        &mut self,
        policy: &RetryPolicy,
        attempt: u32,
        failure: &Failure,
        seed: u64,
    ) -> Option<u64> {
        let own = delay_ms(policy, attempt.saturating_sub(self.before), failure, seed);
        let is_ours = matches!(
            failure.code,
            FailureCode::ConfigInvalid
                | FailureCode::CustomModel
                | FailureCode::Redirected
                | FailureCode::Bug
        );
        if own.is_some() || is_ours || self.failed_calls >= policy.max_model_call_retries {
            return own;
        }
        let wait = backoff_ms(policy, self.failed_calls + 1, seed);
        let wait = no_earlier(policy, failure, wait)?;
        self.failed_calls += 1;
        self.before = attempt;
        Some(wait)
    }
}

impl RetryPolicy {
    /// The most attempts of one request.
    pub fn most_attempts(&self) -> u32 {
        self.max_retries
            .saturating_add(1)
            .saturating_mul(self.max_model_call_retries.saturating_add(1))
    }

    /// A wait of this policy while no server has answered yet, if so many models may be asked in turn. Waits that the
    /// policy lists stay as they are.
    pub fn hurried_ms(&self, wait_ms: u64, models: usize) -> u64 {
        let retries = u64::from(self.most_attempts().saturating_sub(1).max(1));
        if self.delays_ms.is_empty() {
            wait_ms.min(FIRST_CONTACT_MS / retries / (models as u64).max(1))
        } else {
            wait_ms
        }
    }
}

/// The wait before the retry that follows the `failed_attempts`-th failure, in milliseconds; `None` gives up.
fn delay_ms(policy: &RetryPolicy, failed_attempts: u32, failure: &Failure, seed: u64) -> Option<u64> {
    let is_named = |name: &String| *name == word(failure.code);
    let is_wanted = policy.on.is_empty() || policy.on.iter().any(is_named);
    if !failure.retryable || !is_wanted || failed_attempts > policy.max_retries {
        return None;
    }
    no_earlier(policy, failure, backoff_ms(policy, failed_attempts, seed))
}

/// The wait, at least as long as the server asked for; `None` when that exceeds the longest wait.
fn no_earlier(policy: &RetryPolicy, failure: &Failure, wait: u64) -> Option<u64> {
    match failure.retry_after_ms {
        Some(asked) if policy.respect_retry_after && asked > policy.longest_ms() => None,
        Some(asked) if policy.respect_retry_after => Some(wait.max(asked)),
        _ => Some(wait),
    }
}

/// The wait after so many failures. The jitter is the seed modulo its range, so a random source that always returns 0
/// means no jitter.
fn backoff_ms(policy: &RetryPolicy, failures: u32, seed: u64) -> u64 {
    let given = policy.delays_ms.get(failures.saturating_sub(1) as usize);
    let backoff = given.or(policy.delays_ms.last()).copied().unwrap_or_else(|| {
        policy
            .base_ms
            .saturating_mul(u64::from(policy.factor).saturating_pow(failures))
    });
    let up_to = |most: u64| seed % most.saturating_add(1).max(1);
    match policy.jitter {
        Jitter::Added => backoff
            .saturating_add(up_to(policy.jitter_ms))
            .min(policy.longest_ms()),
        Jitter::Full => up_to(backoff.min(policy.longest_ms())),
    }
}

#[cfg(test)]
mod tests;
