//! How long a provider asks us to wait: the headers `retry-after` and `retry-after-ms`.
//!
//! Reads header text and one moment, and never looks at a clock. What a header says wrongly it does not
//! say at all: the caller's own backoff applies then. <https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3>

use crate::engine::json::reader::whole;
use crate::engine::text::parts;

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

/// The longest wait that a host's timer is asked for by these headers.
const CAP_MS: u64 = u32::MAX as u64;

fn wait_ms(text: &str, now_ms: u64) -> Option<u64> {
    decimal(text, 3).or_else(|| Some(http_date_ms(text, now_ms)?.saturating_sub(now_ms)))
}

/// Digits with an optional fraction, times 10^`scale`, rounded up.
fn decimal(text: &str, scale: usize) -> Option<u64> {
    let (mut number, mut scale, mut in_fraction, mut rest_is_zero) = (0u64, scale, false, true);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'.' if at > 0 && !in_fraction => in_fraction = true,
            b'0'..=b'9' if in_fraction && scale == 0 => rest_is_zero &= byte == b'0',
            b'0'..=b'9' => {
                number = number.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
                scale -= usize::from(in_fraction);
            }
            _ => return None,
        }
    }
    if text.is_empty() {
        return None;
    }
    for _ in 0..scale {
        number = number.saturating_mul(10);
    }
    Some(number.saturating_add(u64::from(!rest_is_zero)))
}

fn digits_only(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A date in any of the three forms of <https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7>, in
/// milliseconds since 1970. They differ only in separators and in where the year stands.
fn http_date_ms(text: &str, now_ms: u64) -> Option<u64> {
    let (mut month, mut day, mut year, mut seconds) = (None, None, None, None);
    for word in parts(text, b" ,-") {
        if word.is_empty() {
            continue;
        }
        if word.as_bytes().contains(&b':') {
            put(&mut seconds, seconds_of_day(word)?)?;
        } else if digits_only(word) {
            let number = whole(word).filter(|_| word.len() <= 4)?;
            if day.is_none() {
                day = Some(number);
            } else {
                put(
                    &mut year,
                    if word.len() == 2 {
                        full_year(number, now_ms)
                    } else {
                        number
                    },
                )?;
            }
        } else if let Some(index) = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(word)) {
            put(&mut month, index as u64 + 1)?;
        } else if !is_weekday(word) && !word.eq_ignore_ascii_case("GMT") && !word.eq_ignore_ascii_case("UTC")
        {
            return None;
        }
    }
    let (year, month, day) = (year?, month?, day?);
    if day == 0 || day > days_in_month(year, month) {
        return None;
    }
    let days = days_since_1970(year, month, day)?;
    Some((days * 86_400 + seconds?) * 1000)
}

fn put(place: &mut Option<u64>, number: u64) -> Option<()> {
    place.replace(number).is_none().then_some(())
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

fn is_weekday(word: &str) -> bool {
    let days = [
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
    ];
    days.iter().any(|day| {
        day.eq_ignore_ascii_case(word) || day.get(..3).is_some_and(|short| short.eq_ignore_ascii_case(word))
    })
}

fn seconds_of_day(word: &str) -> Option<u64> {
    let words = parts(word, b":");
    let [hour, minute, second] = words.as_slice() else {
        return None;
    };
    let number = |part: &str| whole(part).filter(|_| part.len() == 2);
    let (hour, minute, second) = (number(hour)?, number(minute)?, number(second)?);
    // 60 is a leap second.
    let valid = hour < 24 && minute < 60 && second <= 60;
    valid.then_some(hour * 3600 + minute * 60 + second)
}

/// RFC 850 has two digits: the year of that ending that is at most 50 years ahead of now.
fn full_year(two_digits: u64, now_ms: u64) -> u64 {
    let this_year = 1970 + now_ms / 31_556_952_000;
    let in_this_century = this_year - this_year % 100 + two_digits;
    if in_this_century > this_year + 50 {
        in_this_century - 100
    } else {
        in_this_century
    }
}

fn days_in_month(year: u64, month: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days in the proleptic Gregorian calendar, the year counted from March; a date before 1970 is day 0.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year.checked_sub(1)?, month + 9)
    };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some(days.saturating_sub(719_468))
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
        ] {
            assert_eq!(retry_after_ms(Some(text), None, 0), None, "{text}");
        }
    }

    #[test]
    fn a_two_digit_year_is_the_nearest_that_is_not_50_years_ahead() {
        // 2026-11-20
        let now_ms = 1_795_132_800_000;
        assert_eq!(
            http_date_ms("Friday, 20-Nov-26 00:00:00 GMT", now_ms),
            Some(now_ms)
        );
        assert_eq!(
            http_date_ms("Sunday, 06-Nov-94 08:49:37 GMT", now_ms),
            Some(THEN_MS)
        );
        assert_eq!(
            http_date_ms("Wednesday, 01-Jan-76 00:00:00 GMT", now_ms),
            Some(3_345_062_400_000)
        );
        assert_eq!(
            http_date_ms("Saturday, 01-Jan-77 00:00:00 GMT", now_ms),
            Some(220_924_800_000)
        );
    }

    #[test]
    fn leap_days_and_century_years_count_as_in_the_calendar() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 31 Dec 1960 23:59:59 GMT", 86_399),
        ] {
            assert_eq!(http_date_ms(text, 0), Some(seconds * 1000), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_a_bounded_wait_or_none(one: String, other: String, now_ms: u64) {
            let wait_ms = retry_after_ms(Some(&one), Some(&other), now_ms);
            prop_assert!(wait_ms.is_none_or(|wait_ms| wait_ms <= CAP_MS));
        }

        #[test]
        fn a_later_day_is_a_later_date(day in 1u64..28, month in 1u64..13, year in 1970u64..9999) {
            let here = days_since_1970(year, month, day).unwrap();
            prop_assert_eq!(days_since_1970(year, month, day + 1).unwrap(), here + 1);
        }
    }
}
