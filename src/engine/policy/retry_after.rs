//! The wait that a provider asks for in the headers `retry-after` and `retry-after-ms`.
//!
//! [`retry_after_ms`] reads header text and one moment, and never looks at a clock. The protocols call it when they
//! read a failed response. An unreadable header counts as absent, and the caller's own backoff applies then.
//! <https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3>

use std::time::UNIX_EPOCH;

/// The wait in milliseconds that the two headers ask for, counted from `now_ms` (milliseconds since 1970).
///
/// A valid `retry-after-ms` above 0 wins, since some providers send `retry-after-ms: 0` beside
/// `retry-after: 1`. Decimals are allowed and round up. A date in the past is a wait of 0. The result is at
/// most `u32::MAX` ms (49 days). `None` if neither header says anything readable.
pub fn retry_after_ms(retry_after: Option<&str>, retry_after_ms: Option<&str>, now_ms: u64) -> Option<u64> {
    let exact_ms = retry_after_ms
        .and_then(|text| decimal(text.trim(), 0))
        .filter(|&wait_ms| wait_ms > 0);
    exact_ms
        .or_else(|| retry_after.and_then(|text| wait_ms(text.trim(), now_ms)))
        .map(|wait_ms| wait_ms.min(CAP_MS))
}

/// The longest wait that these headers can ask for.
const CAP_MS: u64 = u32::MAX as u64;

fn wait_ms(text: &str, now_ms: u64) -> Option<u64> {
    decimal(text, 3).or_else(|| Some(http_date_ms(text)?.saturating_sub(now_ms)))
}

/// A number of digits with an optional fraction, its point moved by `places`, rounded up.
fn decimal(text: &str, places: usize) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty()
        || !whole
            .bytes()
            .chain(fraction.bytes())
            .all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let (kept, rest) = fraction.split_at_checked(places).unwrap_or((fraction, ""));
    let number = format!("{whole}{kept:0<places$}").parse().unwrap_or(u64::MAX);
    Some(number.saturating_add(u64::from(rest.bytes().any(|byte| byte != b'0'))))
}

/// A date in any of the three forms of <https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7>, in milliseconds since 1970.
fn http_date_ms(text: &str) -> Option<u64> {
    let since_1970 = httpdate::parse_http_date(text)
        .ok()?
        .duration_since(UNIX_EPOCH)
        .ok()?;
    u64::try_from(since_1970.as_millis()).ok()
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests {
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
}
