//! Addresses against `domain:` and a host, or against a pattern of addresses, by what URL parsers find in them.
//!
//! What reads differently from one parser to the next, or is rewritten before it is asked for, is not known here: an
//! address without a scheme or with fewer than two slashes (it may be relative to a page), a host that ends otherwise for
//! parsers that do not take `\` for a slash, hosts with characters that IDNA maps, percent signs, IPv6, IPv4 in any but
//! its usual form. <https://url.spec.whatwg.org/#concept-basic-url-parser> (2026-11-22)

use crate::engine::policy::rule::path::{clean, unescaped};
use crate::engine::policy::rule::{is_glob, matches};
use crate::engine::text::{find, join, parts, replaced};

/// Schemes and their ports. Of others the part behind `//` is no host, or parsed by other rules.
const SCHEMES: &[(&str, &str)] = &[
    ("http", "80"),
    ("https", "443"),
    ("ws", "80"),
    ("wss", "443"),
    ("ftp", "21"),
];

struct Address<'a> {
    scheme: &'static str,
    /// In lower case and without a last dot.
    host: String,
    /// With and without a port, if it is the usual one.
    places: Vec<String>,
    path: &'a str,
    /// Query and fragment.
    tail: &'a str,
}

/// `is_allowing`: the address is known and fits. Else: it may.
pub fn fits(specifier: &str, address: &str, is_allowing: bool) -> bool {
    let folded = |text: &str| {
        if is_allowing {
            text.to_owned()
        } else {
            text.to_ascii_lowercase()
        }
    };
    let (text, pattern) = (folded(address), folded(specifier));
    let target = find(&pattern, "://").and_then(|at| Some((pattern.get(..at)?, pattern.get(at + 3..)?)));
    if target.is_some_and(|(scheme, _)| !is_glob(scheme) && port_of(scheme).is_none()) {
        return matches(&pattern, &text);
    }
    let mut text = text;
    text.retain(|sign| !matches!(sign, '\t' | '\n' | '\r'));
    let Some(address) = read(&text) else {
        return !is_allowing;
    };
    if let Some(domain) = pattern.strip_prefix("domain:") {
        let domain = domain.to_ascii_lowercase();
        return matches(domain.strip_suffix('.').unwrap_or(&domain), &address.host);
    }
    let path = replaced(address.path, b'\\', b'/');
    let mut settled = join(&clean(&unescaped(&path)), "/");
    if path.ends_with('/') {
        settled.push('/');
    }
    let does_fit = |path: &str| {
        let path = [if path.is_empty() { "/" } else { path }, address.tail].concat();
        let is_at = |place: &String| match target {
            Some((scheme, rest)) if is_allowing => {
                let host = parts(rest, b"/").first().copied().unwrap_or_default();
                let wanted = rest.get(host.len()..).unwrap_or_default();
                matches(scheme, address.scheme)
                    && matches(&host.to_ascii_lowercase(), place)
                    && match wanted {
                        "" => host.ends_with('*') || path == "/",
                        _ => matches(wanted, &path),
                    }
            }
            _ => matches(&pattern, &[address.scheme, "://", place, &path].concat()),
        };
        address.places.iter().any(is_at)
    };
    if is_allowing {
        (target.is_some() || matches(&pattern, &text)) && does_fit(&path) && does_fit(&settled)
    } else {
        matches(&pattern, &text) || does_fit(&path) || does_fit(&settled)
    }
}

/// What `domain:` can be compared with.
pub fn is_domain(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'*'))
}

fn port_of(scheme: &str) -> Option<(&'static str, &'static str)> {
    let is_it = |(name, _): &&(&str, &str)| name.eq_ignore_ascii_case(scheme);
    SCHEMES.iter().find(is_it).copied()
}

/// `None` where it is not known for sure.
fn read(text: &str) -> Option<Address<'_>> {
    let text = text.trim_matches(|sign| sign <= ' ');
    let (scheme, rest) = text.split_once(':')?;
    let (scheme, usual) = port_of(scheme)?;
    let behind = rest.trim_start_matches(['/', '\\']);
    if rest.len() - behind.len() < 2 {
        return None;
    }
    let until_slash = parts(behind, b"/").first().copied()?;
    let authority = parts(until_slash, b"?#").first().copied()?;
    // Some parsers look for the last `@` further on.
    let tail = until_slash.get(authority.len()..)?;
    if until_slash.contains('\\') || tail.contains('@') {
        return None;
    }
    let host = parts(authority, b"@").last().copied()?;
    let (host, port) = host.split_once(':').unwrap_or((host, ""));
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let labels = parts(&host, b".");
    // A label that ends with a hyphen may be punycode of plain letters.
    let is_label = |label: &&str| !label.is_empty() && !label.ends_with('-');
    let last = labels.last().copied()?;
    let is_known = port.bytes().all(|byte| byte.is_ascii_digit())
        && host.bytes().all(is_plain)
        && labels.iter().all(is_label)
        && (!last.starts_with(|sign: char| sign.is_ascii_digit()) || is_ipv4(&labels));
    if !is_known {
        return None;
    }
    let port = match port.trim_start_matches('0') {
        "" if port.is_empty() => usual,
        number => number,
    };
    let mut places = vec![[&host, ":", port].concat()];
    if port == usual {
        places.push(host.clone());
    }
    let behind = behind.get(authority.len()..)?;
    let path = parts(behind, b"?#").first().copied()?;
    Some(Address {
        scheme,
        host,
        places,
        path,
        tail: behind.get(path.len()..)?,
    })
}

/// Four numbers without leading zeros; any other host whose last label is a number becomes another address.
fn is_ipv4(labels: &[&str]) -> bool {
    let is_number =
        |label: &&str| label.parse::<u8>().is_ok() && (*label == "0" || !label.starts_with(['0', '+']));
    labels.len() == 4 && labels.iter().all(is_number)
}
