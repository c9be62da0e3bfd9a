//! The address of a request: a base URL and the path of its protocol.
//!
//! A base URL can be written in many ways: with or without a version, with a trailing slash, or as the complete
//! address of the endpoint. [`address`] understands them all and never fails. The path itself is the protocol's
//! ([`Protocol::path`]). [`shown`] is the part of an address that a failure may contain.

use crate::engine::model::config::ModelConfig;
use crate::engine::protocol::{Protocol, Vendor, vertex};

/// The URL of a model's requests.
pub fn address(model: &ModelConfig, vendor: &Vendor, protocol: &Protocol) -> String {
    let usual = model.vendor_url.as_deref().unwrap_or(vendor.base_url);
    let given = model.base_url.as_deref().unwrap_or(usual).trim_end_matches('/');
    // Some paths depend on the part that the base URL has already.
    let under = |base: &str| {
        let model = ModelConfig {
            base_url: Some(base.to_owned()),
            ..model.clone()
        };
        protocol.url(base, &model)
    };
    if let Some(before) = (protocol.before_endpoint)(given) {
        return format!("{before}{}", unversioned(&(protocol.path)(model)).1);
    }
    let usual_path = if usual.is_empty() {
        protocol.base_path
    } else {
        split(usual).1
    };
    let (origin, path) = split(given);
    if path.is_empty() {
        return under(&format!("{origin}{usual_path}"));
    }
    // The vendor's own server is known: a path that stops early is completed there, and a version too many is
    // dropped. A host may end in the dot of the root.
    let is_usual = origin.trim_end_matches('.').eq_ignore_ascii_case(split(usual).0);
    if !origin.is_empty() && is_usual {
        let rest = usual_path.strip_prefix(path);
        let is_early = rest.is_some_and(|rest| rest.starts_with('/'));
        let is_late = path.strip_prefix(usual_path).is_some_and(is_version);
        if is_early || (is_late && unversioned(&(protocol.path)(model)).0.is_empty()) {
            return under(usual);
        }
    }
    // A project of Vertex AI follows the version, also on your own server.
    if vertex::has_version(usual) && !vertex::has_version(given) {
        let (version, project) = unversioned(usual_path);
        let version = if ends_in_version(path) { "" } else { version };
        return under(&format!("{given}{version}{project}"));
    }
    under(given)
}

/// The address without user, query and fragment. `None` for a model inside the process, whose address is reserved for
/// names that do not exist: <https://www.rfc-editor.org/rfc/rfc6761#section-6.4>
pub fn shown(url: &str) -> Option<String> {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (origin, path) = split(url);
    let (scheme, authority) = match origin.split_once("//") {
        Some((scheme, authority)) => (format!("{scheme}//"), authority),
        None => (String::new(), origin),
    };
    let host = authority.rsplit('@').next().unwrap_or_default();
    (!host.trim_end_matches('.').ends_with(".invalid")).then(|| format!("{scheme}{host}{path}"))
}

/// The version in front of a path, such as `/v1`, and the rest.
pub fn unversioned(path: &str) -> (&str, &str) {
    let second = path.get(1..).and_then(|path| path.find('/'));
    match path.split_at_checked(second.map_or(0, |at| at + 1)) {
        Some((first, rest)) if is_version(first) => (first, rest),
        _ => ("", path),
    }
}

/// True for a URL or path with a version as its last segment.
pub fn ends_in_version(url: &str) -> bool {
    let last = url.rfind('/').and_then(|at| url.get(at..));
    last.is_some_and(is_version)
}

/// True for a segment such as `/v1` or `/v1beta`.
pub fn is_version(segment: &str) -> bool {
    segment.starts_with("/v")
        && segment.as_bytes().get(2).is_some_and(u8::is_ascii_digit)
        && segment.rfind('/') == Some(0)
}

/// The origin of a URL, which is empty for a relative one, and its path without trailing slashes.
fn split(url: &str) -> (&str, &str) {
    let origin_bytes = match url.split_once("://") {
        Some((scheme, rest)) => scheme.len() + 3 + rest.find('/').unwrap_or(rest.len()),
        None => 0,
    };
    let (origin, path) = url.split_at_checked(origin_bytes).unwrap_or((url, ""));
    (origin, path.trim_end_matches('/'))
}
