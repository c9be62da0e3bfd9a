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

/// A date in any of the three forms of <https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7>, in milliseconds since
/// 1970.
fn http_date_ms(text: &str) -> Option<u64> {
    let since_1970 = httpdate::parse_http_date(text)
        .ok()?
        .duration_since(UNIX_EPOCH)
        .ok()?;
    u64::try_from(since_1970.as_millis()).ok()
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
