//! Detects which protocol an unreadable answer looks like, by its first bytes.
//!
//! The model call asks [`another`] after an answer has failed as `malformed_stream` without a block. The rows of the
//! protocols have the marks. The earliest mark wins, because an answer may quote another protocol in its text.

use crate::engine::protocol::framing::Framing;
use crate::engine::protocol::{PROTOCOLS, Protocol};

/// Advice about an answer of another protocol than the requested one. `None` if it looks like that one, or like
/// nothing known.
pub fn another(head: &[u8], asked: &Protocol) -> Option<String> {
    // Lines of JSON are from your own function.
    if asked.framing == Framing::Ndjson {
        return None;
    }
    let text = String::from_utf8_lossy(head);
    let has_lines = text.trim_start().starts_with('{') && (text.contains("}\n{") || text.contains("}\r\n{"));
    if has_lines {
        let title = asked.title;
        return Some(format!(
            "the answer is NDJSON (a JSON value per line), and not {title}{ADVICE}"
        ));
    }
    let first = |protocol: &Protocol| protocol.marks.iter().filter_map(|mark| text.find(mark)).min();
    let found = PROTOCOLS
        .iter()
        .filter_map(|protocol| Some((first(protocol)?, protocol)));
    let (_, like) = found.min_by_key(|(at, _)| *at)?;
    if like.name == asked.name {
        return None;
    }
    Some(format!(
        "the answer looks like {}, and not like {}: use {}(…), or compatible(…) with protocol: \"{}\"",
        like.title, asked.title, like.constructor, like.name
    ))
}

const ADVICE: &str = ": set baseUrl to the path where the server speaks it; that of Ollama ends in /v1";
