//! The host of an address, as URL parsers find it.
//!
//! What reads differently from one parser to the next, or is rewritten before it is asked for, is not known here: an
//! address without a scheme or with fewer than two slashes (it may be relative to a page), hosts with characters that
//! IDNA maps, percent signs, IPv6, IPv4 in any but its usual form.
//! <https://url.spec.whatwg.org/#concept-basic-url-parser> (2026-11-22)

use super::super::text::parts;
use super::rule::matches;

/// Of other schemes the part behind `//` is no host, or parsed by other rules.
const SCHEMES: &[&str] = &["http", "https", "ws", "wss", "ftp"];

/// In lower case and without a last dot; `None` where it is not known for sure.
pub fn host(address: &str) -> Option<String> {
    let mut text = address.trim_matches(|sign| sign <= ' ').to_ascii_lowercase();
    text.retain(|sign| !matches!(sign, '\t' | '\n' | '\r'));
    let (scheme, rest) = text.split_once(':')?;
    let behind = rest.trim_start_matches(['/', '\\']);
    if !SCHEMES.contains(&scheme) || rest.len() - behind.len() < 2 {
        return None;
    }
    let authority = parts(behind, b"/\\?#").first().copied()?;
    let host = parts(authority, b"@").last().copied()?;
    let (host, port) = host.split_once(':').unwrap_or((host, ""));
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let labels = parts(host, b".");
    // A label that ends with a hyphen may be punycode of plain letters.
    let is_label = |label: &&str| !label.is_empty() && !label.ends_with('-');
    let last = labels.last().copied()?;
    let is_known = port.bytes().all(|byte| byte.is_ascii_digit())
        && host.bytes().all(is_plain)
        && labels.iter().all(is_label)
        && (!last.starts_with(|sign: char| sign.is_ascii_digit()) || is_ipv4(&labels));
    is_known.then(|| host.to_owned())
}

/// Four numbers without leading zeros; any other host whose last label is a number becomes another address.
fn is_ipv4(labels: &[&str]) -> bool {
    let is_number =
        |label: &&str| label.parse::<u8>().is_ok() && (*label == "0" || !label.starts_with(['0', '+']));
    labels.len() == 4 && labels.iter().all(is_number)
}

/// A host that is known fits `domain:pattern`.
pub fn fits(pattern: &str, host: &str) -> bool {
    matches(&pattern.to_ascii_lowercase(), host)
}
