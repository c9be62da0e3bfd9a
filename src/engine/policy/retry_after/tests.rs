use super::*;
use proptest::prelude::*;

/// Sun, 06 Nov 1994 08:49:37 GMT.
const THEN_MS: u64 = 784_111_777_000;

#[test]
fn seconds_may_be_whole_or_decimal_and_round_up() {
    let rows = [
        ("0", Some(0)),
        ("1", Some(1000)),
        (" 20 ", Some(20_000)),
        ("1.5", Some(1500)),
        ("0.0001", Some(1)),
        ("2.", Some(2000)),
        ("007", Some(7000)),
        ("16.1", Some(16_100)),
        ("0.1230", Some(123)),
        ("99999999999999999999999", Some(CAP_MS)),
        ("", None),
        (".5", None),
        ("-1", None),
        ("+1", None),
        ("1e3", None),
        ("1,5", None),
        ("soon", None),
        ("10s", None),
    ];
    for (text, expected) in rows {
        assert_eq!(retry_after_ms(Some(text), None, 0), expected, "{text:?}");
    }
}

#[test]
fn milliseconds_above_zero_win_over_seconds() {
    let rows = [
        (Some("1"), Some("250"), Some(250)),
        (Some("1"), Some("0"), Some(1000)),
        (Some("1"), Some("nonsense"), Some(1000)),
        (Some("nonsense"), Some("12.5"), Some(13)),
        (None, Some("0"), None),
        (None, None, None),
        (None, Some("4294967296"), Some(CAP_MS)),
    ];
    for (seconds, milliseconds, expected) in rows {
        assert_eq!(
            retry_after_ms(seconds, milliseconds, 0),
            expected,
            "{seconds:?} {milliseconds:?}"
        );
    }
}

#[test]
fn all_three_forms_of_an_http_date_are_read() {
    for text in [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ] {
        assert_eq!(
            retry_after_ms(Some(text), None, THEN_MS - 2500),
            Some(2500),
            "{text}"
        );
        assert_eq!(retry_after_ms(Some(text), None, THEN_MS + 1), Some(0), "{text}");
        assert_eq!(retry_after_ms(Some(text), None, 0), Some(CAP_MS), "{text}");
    }
}

#[test]
fn a_date_that_is_none_says_nothing() {
    for text in [
        "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 29 Feb 2100 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov Dec 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 1995 08:49:37 GMT",
        "06 Nov 08:49:37 GMT",
        "Sun, 06 Nov 1994",
        "Sun, 06 Nov 19940 08:49:37 GMT",
        "1994-11-06T08:49:37Z",
        "06 Nov 1994 08:49:37 GMT",
        "Mon, 06 Nov 1994 08:49:37 GMT",
        "Sat, 31 Dec 1960 23:59:59 GMT",
        "Sun, 06 Nov 1994 08:49:37 GM\u{fffd}",
    ] {
        assert_eq!(retry_after_ms(Some(text), None, 0), None, "{text}");
    }
}

#[test]
fn a_two_digit_year_lies_from_1970_to_2069() {
    for (text, seconds) in [
        ("Friday, 20-Nov-26 00:00:00 GMT", 1_795_132_800),
        ("Sunday, 06-Nov-94 08:49:37 GMT", THEN_MS / 1000),
        ("Thursday, 01-Jan-70 00:00:00 GMT", 0),
        ("Tuesday, 31-Dec-69 23:59:59 GMT", 3_155_759_999),
    ] {
        assert_eq!(http_date_ms(text), Some(seconds * 1000), "{text}");
    }
}

#[test]
fn leap_days_and_century_years_count_as_in_the_calendar() {
    for (text, seconds) in [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ] {
        assert_eq!(http_date_ms(text), Some(seconds * 1000), "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_gives_a_bounded_wait_or_none(one: String, other: String, now_ms: u64) {
        let wait_ms = retry_after_ms(Some(&one), Some(&other), now_ms);
        prop_assert!(wait_ms.is_none_or(|wait_ms| wait_ms <= CAP_MS));
    }

    #[test]
    fn a_date_is_a_wait_until_then(now_ms in 0..THEN_MS) {
        let wait_ms = retry_after_ms(Some("Sun, 06 Nov 1994 08:49:37 GMT"), None, now_ms);
        prop_assert_eq!(wait_ms, Some((THEN_MS - now_ms).min(CAP_MS)));
    }
}

/// 2026-11-29T17:30:00Z.
const NOW_MS: u64 = 1_795_973_400_000;

fn reset(headers: &[(&str, &str)]) -> Option<u64> {
    let find = |name: &str| {
        headers
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| *value)
    };
    reset_ms(find, NOW_MS)
}

#[test]
fn a_limit_that_is_used_up_gives_the_wait_until_its_reset() {
    let anthropic = |limit: &str, remaining: &str, at: &str| {
        let name = |what: &str| format!("anthropic-ratelimit-{limit}-{what}");
        let (left, until) = (name("remaining"), name("reset"));
        reset(&[(&left, remaining), (&until, at)])
    };
    for limit in ["requests", "tokens", "input-tokens", "output-tokens"] {
        assert_eq!(
            anthropic(limit, "0", "2026-11-29T17:30:07Z"),
            Some(7000),
            "{limit}"
        );
    }
    let rows = [
        ("0", "2026-11-29T17:30:07.900Z", Some(7000)),
        ("0", "2026-11-29T17:29:07Z", Some(0)),
        ("0", "2026-11-30T00:00:00Z", Some(60_000)),
        ("0", "2026-00-00T99:99:99Z", Some(0)),
        ("0", "0000-00-00T00:00:00Z", None),
        ("0", "2026-11-29T17:30:07+01:00", None),
        ("0", "soon", None),
        ("0", "ünï", None),
        ("12", "2026-11-29T17:30:07Z", None),
    ];
    for (remaining, at, expected) in rows {
        assert_eq!(anthropic("tokens", remaining, at), expected, "{remaining} {at}");
    }
    let openai = |remaining: &str, after: &str| {
        reset(&[
            ("x-ratelimit-remaining-tokens", remaining),
            ("x-ratelimit-reset-tokens", after),
        ])
    };
    let rows = [
        ("0", "12ms", Some(12)),
        ("0", "7.66s", Some(7660)),
        ("0", "0m30s", Some(30_000)),
        ("0", "6m0s", Some(60_000)),
        ("0", "1h0m0s", Some(60_000)),
        ("0", "3", Some(3000)),
        ("0", "", None),
        ("0", "s", None),
        ("0", "3 weeks", None),
        ("-1", "3s", None),
        ("5", "3s", None),
    ];
    for (remaining, after, expected) in rows {
        assert_eq!(openai(remaining, after), expected, "{remaining} {after:?}");
    }
}

#[test]
fn of_several_limits_that_are_used_up_the_last_reset_counts() {
    let headers = [
        ("x-ratelimit-remaining-requests", "0"),
        ("x-ratelimit-reset-requests", "2s"),
        ("x-ratelimit-remaining-tokens", "0"),
        ("x-ratelimit-reset-tokens", "5s"),
    ];
    assert_eq!(reset(&headers), Some(5000));
    assert_eq!(reset(&[("x-ratelimit-reset-tokens", "5s")]), None);
}
