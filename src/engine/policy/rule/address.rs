//! Compares addresses with `domain:` and a host name, or with a pattern of addresses.
//!
//! The platform's `URL` has parsed the address, because the engine has no parser. [`covers`] is for allow rules and
//! accepts only an address that every parser reads identically. [`touches`] is for deny and ask rules and accepts any
//! reading.

use crate::engine::model::config::permission::Address;
use crate::engine::policy::rule::{glob, matches};

/// For allow rules: true if every parser reads this text as this address, and it matches.
pub fn covers(pattern: &str, text: &str, address: &Address) -> bool {
    if !is_plain(text, address) {
        return false;
    }
    if let Some(domain) = domain_of(pattern) {
        return matches(&domain, &address.host);
    }
    let Some((scheme, rest)) = pattern.split_once("://") else {
        return false;
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let does_fit = |found: &String| match path {
        "" => host.ends_with('*') || found == "/",
        path => matches(path, found),
    };
    let is_at = |place: &String| matches(&host.to_ascii_lowercase(), place);
    matches(&scheme.to_ascii_lowercase(), &address.scheme)
        && address.places.iter().any(is_at)
        && address.paths.iter().all(does_fit)
}

/// For deny and ask rules: true if the text, or an address that it can be read as, matches. Case is ignored.
pub fn touches(pattern: &str, text: &str, address: Option<&Address>) -> bool {
    let fits = |text: &str| glob(pattern, text, pattern.len());
    let Some(address) = address else {
        return fits(text);
    };
    if let Some(domain) = domain_of(pattern) {
        return matches(&domain, &address.host);
    }
    let is_at = |place: &String| {
        let mut paths = address.paths.iter();
        paths.any(|path| fits(&format!("{}://{place}{path}", address.scheme)))
    };
    fits(text) || address.places.iter().any(is_at)
}

/// True when the text is a host name with which `domain:` can be compared.
pub fn is_domain(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'*'))
}

fn domain_of(pattern: &str) -> Option<String> {
    let domain = pattern.strip_prefix("domain:")?.to_ascii_lowercase();
    Some(domain.strip_suffix('.').unwrap_or(&domain).to_owned())
}

/// True if the text contains the host as it was read, and the host ends where every parser ends it.
pub fn is_plain(text: &str, address: &Address) -> bool {
    let folded = text.to_ascii_lowercase();
    let start = format!("{}://{}", address.scheme, address.host);
    let is_end = |rest: &str| {
        let rest = rest.split('/').next().unwrap_or_default();
        let port = rest.split(['?', '#']).next().unwrap_or_default();
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        !rest.contains(['@', '\\']) && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
    };
    folded.strip_prefix(&start).is_some_and(is_end)
}
