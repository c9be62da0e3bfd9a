//! Failures out of error responses.

use super::super::error::{Failure, FailureCode};

pub fn decode_failure(
    vendor: &str,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
    _now_ms: u64,
) -> Failure {
    let code = if status >= 500 {
        FailureCode::Server
    } else {
        FailureCode::InvalidRequest
    };
    let mut failure = Failure::new(code, String::from_utf8_lossy(body));
    failure.status = Some(status);
    failure.vendor = Some(vendor.to_owned());
    failure.request_id = request_id(headers);
    failure
}

pub fn request_id(headers: &[(String, String)]) -> Option<String> {
    headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("request-id"))
        .map(|(_, value)| value.clone())
}
