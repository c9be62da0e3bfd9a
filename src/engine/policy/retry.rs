//! Whether and when a failed model call is tried again.

use super::super::config::RetryPolicy;
use super::super::error::Failure;

/// The wait before the retry that follows the `failed_attempts`-th failure, in milliseconds; `None` gives up. The
/// jitter is the seed of the input that brought the failure, modulo its range: a host whose random source is
/// constantly 0 waits without jitter.
pub fn delay_ms(policy: &RetryPolicy, failed_attempts: u32, failure: &Failure, seed: u64) -> Option<u64> {
    if !failure.retryable || failed_attempts > policy.max_retries {
        return None;
    }
    let exponent = failed_attempts
        .saturating_sub(1)
        .saturating_add(policy.first_exponent);
    let backoff = policy
        .base_ms
        .saturating_mul(u64::from(policy.factor).saturating_pow(exponent));
    let jitter = seed % policy.jitter_ms.saturating_add(1).max(1);
    let wait = backoff.saturating_add(jitter).min(policy.max_ms);
    match failure.retry_after_ms {
        Some(asked) if policy.respect_retry_after && asked > policy.max_ms => None,
        Some(asked) if policy.respect_retry_after => Some(wait.max(asked)),
        _ => Some(wait),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::error::FailureCode;

    fn delays(policy: &RetryPolicy, failure: &Failure) -> Vec<Option<u64>> {
        (1..=4)
            .map(|attempt| delay_ms(policy, attempt, failure, 7))
            .collect()
    }

    #[test]
    fn waits_double_and_end_after_the_last_retry() {
        let policy = RetryPolicy {
            jitter_ms: 0,
            ..RetryPolicy::default()
        };
        let failure = Failure::new(FailureCode::RateLimit, "slow down");
        assert_eq!(
            delays(&policy, &failure),
            [Some(2000), Some(4000), Some(8000), None]
        );
    }

    #[test]
    fn a_failure_that_will_not_go_away_is_not_tried_again() {
        let failure = Failure::new(FailureCode::Auth, "who are you");
        assert_eq!(
            delays(&RetryPolicy::default(), &failure),
            [None, None, None, None]
        );
    }

    #[test]
    fn the_server_may_ask_for_more_time_but_not_for_more_than_the_maximum() {
        let policy = RetryPolicy {
            jitter_ms: 0,
            ..RetryPolicy::default()
        };
        let mut failure = Failure::new(FailureCode::RateLimit, "slow down");
        failure.retry_after_ms = Some(3000);
        assert_eq!(
            delays(&policy, &failure),
            [Some(3000), Some(4000), Some(8000), None]
        );
        failure.retry_after_ms = Some(60_001);
        assert_eq!(delays(&policy, &failure), [None, None, None, None]);
    }

    #[test]
    fn no_wait_is_longer_than_the_maximum() {
        let policy = RetryPolicy {
            base_ms: u64::MAX,
            ..RetryPolicy::default()
        };
        let failure = Failure::new(FailureCode::Server, "oops");
        assert_eq!(delay_ms(&policy, 1, &failure, 7), Some(60_000));
    }
}
