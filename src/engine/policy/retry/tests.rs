use super::*;

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
fn waits_may_be_given_and_the_last_one_holds_on() {
    let policy = RetryPolicy {
        delays_ms: vec![5, 70_000],
        max_retries: 4,
        jitter_ms: 0,
        ..RetryPolicy::default()
    };
    let failure = Failure::new(FailureCode::RateLimit, "slow down");
    let longest = Some(60_000);
    assert_eq!(delays(&policy, &failure), [Some(5), longest, longest, longest]);
}

#[test]
fn full_jitter_waits_anything_up_to_the_whole_backoff() {
    let policy = RetryPolicy {
        jitter: Jitter::Full,
        max_ms: Some(3000),
        ..RetryPolicy::default()
    };
    let failure = Failure::new(FailureCode::RateLimit, "slow down");
    let wait = |attempt, seed| delay_ms(&policy, attempt, &failure, seed);
    assert_eq!(wait(1, 0), Some(0));
    assert_eq!(wait(1, 2000), Some(2000));
    assert_eq!(wait(1, 2001), Some(0));
    assert_eq!(wait(2, 3000), Some(3000), "the longest wait bounds it");
    assert_eq!(wait(2, 3001), Some(0));
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
        max_ms: Some(60_000),
        ..RetryPolicy::default()
    };
    let failure = Failure::new(FailureCode::Server, "oops");
    assert_eq!(delay_ms(&policy, 1, &failure, 7), Some(60_000));
    let unsaid = RetryPolicy {
        base_ms: 90_000,
        jitter_ms: 0,
        ..RetryPolicy::default()
    };
    assert_eq!(delay_ms(&unsaid, 1, &failure, 7), Some(90_000));
}

#[test]
fn s000_20_only_the_named_failures_are_tried_again() {
    let policy = RetryPolicy {
        jitter_ms: 0,
        on: vec!["rate_limit".into()],
        ..RetryPolicy::default()
    };
    let limited = Failure::new(FailureCode::RateLimit, "slow down");
    let down = Failure::new(FailureCode::Server, "down");
    assert_eq!(
        delays(&policy, &limited),
        [Some(2000), Some(4000), Some(8000), None]
    );
    assert_eq!(delays(&policy, &down), [None; 4]);
}

#[test]
fn s004_08_s004_09_s004_32_a_call_is_made_anew_whatever_failed_with_attempts_of_its_own() {
    let policy = RetryPolicy {
        jitter_ms: 0,
        max_retries: 1,
        max_model_call_retries: 2,
        ..RetryPolicy::default()
    };
    let waits = |code| {
        let failure = Failure::new(code, "no");
        let mut tries = Tries::default();
        let waits = (1..=7).map(|attempt| tries.delay_ms(&policy, attempt, &failure, 0));
        waits.collect::<Vec<_>>()
    };
    let own = Some(2000);
    assert_eq!(
        waits(FailureCode::Server),
        [own, Some(2000), own, Some(4000), own, None, None]
    );
    assert_eq!(
        waits(FailureCode::InvalidRequest)[..3],
        [Some(2000), Some(4000), None]
    );
    assert_eq!(waits(FailureCode::ConfigInvalid)[0], None);
}

#[test]
fn a_call_is_made_anew_no_earlier_than_the_server_asks() {
    let policy = RetryPolicy {
        jitter_ms: 0,
        max_retries: 0,
        max_model_call_retries: 2,
        ..RetryPolicy::default()
    };
    let wait = |retry_after_ms| {
        let mut failure = Failure::new(FailureCode::RateLimit, "slow down");
        failure.retry_after_ms = Some(retry_after_ms);
        Tries::default().delay_ms(&policy, 1, &failure, 0)
    };
    assert_eq!(
        [wait(1000), wait(30_000), wait(60_001)],
        [Some(2000), Some(30_000), None]
    );
}
