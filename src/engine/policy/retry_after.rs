//! The wait that a provider requests in the headers `retry-after` and `retry-after-ms`, or that follows from its rate
//! limits.
//!
//! [`retry_after_ms`] and [`reset_ms`] read header text and one moment, and never read a clock. The protocols call
//! them when they read a failed response. An unreadable header counts as absent, and the caller's own backoff then
//! applies. <https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3>

use std::time::UNIX_EPOCH;

use looplet_scan::reader::whole;

use crate::engine::policy::models::Date;

/// The wait in milliseconds that the two headers ask for, counted from `now_ms` (milliseconds since 1970).
///
/// A valid `retry-after-ms` above 0 wins, since some providers send `retry-after-ms: 0` together with `retry-after:
/// 1`. Decimals are allowed and rounded up. A date in the past is a wait of 0. The result is at most `u32::MAX` ms
/// (49 days). `None` if neither header is readable.
pub fn retry_after_ms(retry_after: Option<&str>, retry_after_ms: Option<&str>, now_ms: u64) -> Option<u64> {
    let exact_ms = retry_after_ms
        .and_then(|text| decimal(text.trim(), 0))
        .filter(|&wait_ms| wait_ms > 0);
    exact_ms
        .or_else(|| retry_after.and_then(|text| wait_ms(text.trim(), now_ms)))
        .map(|wait_ms| wait_ms.min(CAP_MS))
}

/// The wait in milliseconds until the exhausted limits are reset, at most a minute: the header has the time at which
/// a limit is full again, and a part of it is available earlier. `None` if no limit is known to be exhausted.
///
/// `anthropic-ratelimit-tokens-reset` is a moment in RFC 3339. `x-ratelimit-reset-tokens` of OpenAI and others is a
/// duration such as `6m0s`, `12ms` or seconds without a unit.
/// <https://platform.claude.com/docs/en/api/rate-limits>,
/// <https://platform.openai.com/docs/guides/rate-limits> (2026-11-29)
pub fn reset_ms<'a>(header: impl Fn(&str) -> Option<&'a str>, now_ms: u64) -> Option<u64> {
    let value = |parts: [&str; 3]| header(&parts.concat()).map(str::trim);
    let waits = LIMITS.iter().flat_map(|limit| {
        let moment = value(["anthropic-ratelimit-", limit, "-reset"])
            .filter(|_| value(["anthropic-ratelimit-", limit, "-remaining"]) == Some("0"))
            .and_then(|text| Some(utc_ms(text)?.saturating_sub(now_ms)));
        let duration = value(["x-ratelimit-reset-", limit, ""])
            .filter(|_| value(["x-ratelimit-remaining-", limit, ""]) == Some("0"))
            .and_then(duration_ms);
        [moment, duration]
    });
    waits.flatten().max().map(|wait_ms| wait_ms.min(60_000))
}

/// The limits in these headers.
const LIMITS: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];

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

/// A date in any of the three forms of <https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7>, in milliseconds since
/// 1970.
fn http_date_ms(text: &str) -> Option<u64> {
    let since_1970 = httpdate::parse_http_date(text)
        .ok()?
        .duration_since(UNIX_EPOCH)
        .ok()?;
    u64::try_from(since_1970.as_millis()).ok()
}

/// A moment such as `2026-11-29T17:30:00Z` in milliseconds since 1970. A fraction of a second is left out.
fn utc_ms(text: &str) -> Option<u64> {
    let text = text.strip_suffix('Z')?;
    let number = |from: usize, upto: usize| whole(text.get(from..upto)?);
    let year = u16::try_from(number(0, 4)?).ok().filter(|year| *year >= 1970)?;
    let day = number(8, 10)?.max(1) as u8;
    let seconds = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    Some(Date(year, number(5, 7)? as u8, day).ms() + seconds * 1000)
}

/// A duration of numbers with units, such as `1h6m0s` or `12ms`, in milliseconds; seconds without a unit.
fn duration_ms(text: &str) -> Option<u64> {
    let (mut rest, mut sum) = (text, 0_u64);
    while !rest.is_empty() {
        let end = rest.find(|char: char| char != '.' && !char.is_ascii_digit());
        let (number, behind) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        let next = behind.find(|char: char| char.is_ascii_digit());
        let (unit, behind) = behind.split_at_checked(next.unwrap_or(behind.len()))?;
        let (places, factor) = match unit {
            "ms" => (0, 1),
            "s" | "" => (3, 1),
            "m" => (3, 60),
            "h" => (3, 3600),
            _ => return None,
        };
        let ms = decimal(number, places)?.saturating_mul(factor);
        sum = sum.saturating_add(ms);
        rest = behind;
    }
    (!text.is_empty()).then_some(sum)
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
