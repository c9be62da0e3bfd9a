//! Media in a form that every vendor accepts: one spelling of each type, and no `data:` address as a URL.
//!
//! Vendors compare a media type exactly, and fetch a URL or reject it. [`mended`] is called for each message before
//! an encoder writes it. The transcript is not changed. A text replaces a file that the vendors reject, and
//! [`refused`] names it for the agent's warning. Nothing fails: an unreadable address remains unchanged.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD};

use crate::engine::model::message::{Block, MediaSource, Message, Role};
use crate::engine::protocol::request::accepts::Accepts;

/// Other names of a type that vendors know by one name only.
/// <https://platform.claude.com/docs/en/build-with-claude/vision>, <https://ai.google.dev/gemini-api/docs/vision> and
/// <https://github.com/NousResearch/hermes-agent/issues/55440> (a report; not checked)
const ALIASES: &[(&str, &str)] = &[
    ("image/jpg", "image/jpeg"),
    ("image/pjpeg", "image/jpeg"),
    ("image/x-citrix-jpeg", "image/jpeg"),
    ("image/x-jpeg", "image/jpeg"),
    ("image/x-png", "image/png"),
    ("image/x-citrix-png", "image/png"),
    ("image/apng", "image/png"),
    ("image/x-webp", "image/webp"),
    ("image/x-gif", "image/gif"),
    ("application/x-pdf", "application/pdf"),
    ("text/pdf", "application/pdf"),
    ("audio/mp3", "audio/mpeg"),
    ("audio/x-mp3", "audio/mpeg"),
    ("audio/x-mpeg", "audio/mpeg"),
    ("audio/wave", "audio/wav"),
    ("audio/x-wav", "audio/wav"),
    ("audio/vnd.wave", "audio/wav"),
    ("text/x-markdown", "text/markdown"),
];

/// The message with media that vendors accept. Media that a model made are sent back only to that model.
pub fn mended<'a>(message: &'a Message, accepts: &Accepts) -> Cow<'a, Message> {
    if message.role == Role::Assistant || !message.content.iter().any(|block| is_off(block, accepts)) {
        return Cow::Borrowed(message);
    }
    let content = message.content.iter().map(|given| block(given, accepts));
    Cow::Owned(Message {
        role: message.role,
        content: content.collect(),
        partial: message.partial,
        compacted: message.compacted,
        origin: message.origin.clone(),
    })
}

/// The types of the files in a block that the vendors refuse.
pub fn refused(given: &Block, accepts: &Accepts, types: &mut Vec<String>) {
    match given {
        Block::Media {
            media_type, source, ..
        } => {
            let of_address = data_address(source).filter(|(named, _)| !named.is_empty());
            let named = usual(of_address.as_ref().map_or(media_type, |(named, _)| *named));
            let is_data = of_address.is_some() || matches!(source, MediaSource::Data(_));
            if is_data && is_refused(&named, accepts) && !types.contains(&named.to_string()) {
                types.push(named.into_owned());
            }
        }
        Block::ToolResult { content, .. } => content.iter().for_each(|inner| refused(inner, accepts, types)),
        _ => {}
    }
}

fn is_refused(media_type: &str, accepts: &Accepts) -> bool {
    !is_text(media_type) && !accepts.takes(media_type)
}

/// True for a picture that is text, which no vendor shows as a picture.
fn is_drawn_text(media_type: &str, accepts: &Accepts) -> bool {
    media_type.starts_with("image/") && is_text(media_type) && !accepts.takes(media_type)
}

fn is_off(block: &Block, accepts: &Accepts) -> bool {
    match block {
        Block::Media {
            media_type, source, ..
        } => {
            let is_foreign = is_refused(media_type, accepts) || is_drawn_text(media_type, accepts);
            usual(media_type) != *media_type
                || data_address(source).is_some()
                || (is_foreign && matches!(source, MediaSource::Data(_)))
        }
        Block::ToolResult { content, .. } => content.iter().any(|inner| is_off(inner, accepts)),
        _ => false,
    }
}

fn block(given: &Block, accepts: &Accepts) -> Block {
    let mut out = given.clone();
    match &mut out {
        Block::Media {
            media_type, source, ..
        } => {
            if let Some((of_address, data)) = data_address(source) {
                if !of_address.is_empty() {
                    *media_type = of_address.to_owned();
                }
                *source = MediaSource::Data(data);
            }
            *media_type = usual(media_type).into_owned();
            let is_data = matches!(source, MediaSource::Data(_));
            if is_data && is_drawn_text(media_type, accepts) {
                "text/plain".clone_into(media_type);
            }
            if is_data && is_refused(media_type, accepts) {
                return Block::text(format!(
                    "[{media_type} left out: {} does not take it]",
                    accepts.who
                ));
            }
        }
        Block::ToolResult { content, .. } => {
            *content = content.iter().map(|inner| block(inner, accepts)).collect();
        }
        _ => {}
    }
    out
}

/// The usual name of a media type: lower case, and no parameters except those of raw sound, which has no header with
/// its rate.
fn usual(given: &str) -> Cow<'_, str> {
    let (bare, parameters) = given.split_once(';').unwrap_or((given, ""));
    let bare = bare.trim();
    let small: Cow<'_, str> = match bare.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(bare.to_ascii_lowercase()),
        false => Cow::Borrowed(bare),
    };
    if !parameters.is_empty() && matches!(&*small, "audio/l16" | "audio/l24" | "audio/pcm" | "audio/raw") {
        return Cow::Borrowed(given);
    }
    match ALIASES.iter().find(|(alias, _)| *alias == small) {
        Some((_, usual)) => Cow::Borrowed(usual),
        None => small,
    }
}

/// The media type and the base64 of a `data:` address: <https://www.rfc-editor.org/rfc/rfc2397>.
fn data_address(source: &MediaSource) -> Option<(&str, String)> {
    let MediaSource::Url(url) = source else {
        return None;
    };
    let (scheme, rest) = url.trim_start().split_at_checked(5)?;
    if !scheme.eq_ignore_ascii_case("data:") {
        return None;
    }
    let (head, body) = rest.split_once(',')?;
    let bytes = percent_decoded(body);
    let (media_type, is_base64) = match head.rsplit_once(';') {
        Some((before, last)) if last.trim().eq_ignore_ascii_case("base64") => (before, true),
        _ => (head, false),
    };
    // An address that begins with its parameters has no type.
    let media_type = if media_type.trim_start().starts_with(';') {
        ""
    } else {
        media_type
    };
    let data = if is_base64 {
        let digits = bytes.into_iter().filter(|byte| !byte.is_ascii_whitespace());
        String::from_utf8_lossy(&digits.collect::<Vec<u8>>()).into_owned()
    } else {
        STANDARD.encode(bytes)
    };
    Some((media_type, data))
}

/// The bytes of an address, `%20` and its like decoded.
pub fn percent_decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = behind.get(..2).filter(|_| *first == b'%');
        let code = code.filter(|code| code.iter().all(u8::is_ascii_hexdigit));
        let code = code.and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 16).ok());
        out.push(code.unwrap_or(*first));
        rest = if code.is_some() {
            behind.get(2..).unwrap_or_default()
        } else {
            behind
        };
    }
    out
}

/// True for a type of text. A vendor without a form for such documents gets plain text.
pub fn is_text(media_type: &str) -> bool {
    const TEXTS: &[&str] = &[
        "json",
        "xml",
        "yaml",
        "x-yaml",
        "javascript",
        "x-javascript",
        "typescript",
        "x-sh",
        "sql",
        "csv",
        "toml",
        "x-ndjson",
        "jsonl",
        "graphql",
        "ld+json",
        "x-httpd-php",
    ];
    let Some((kind, name)) = media_type.split_once('/') else {
        return false;
    };
    kind == "text"
        || name.ends_with("+json")
        || name.ends_with("+xml")
        || (kind == "application" && TEXTS.contains(&name))
}

/// The bytes of a base64 text in either alphabet. Other characters are passed over.
pub fn base64(text: &str) -> Vec<u8> {
    let digits = text.bytes().filter_map(|byte| match byte {
        b'-' => Some(b'+'),
        b'_' => Some(b'/'),
        byte if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/') => Some(byte),
        _ => None,
    });
    let mut digits: Vec<u8> = digits.collect();
    // A single last digit encodes no byte.
    digits.truncate(digits.len() - usize::from(digits.len() % 4 == 1));
    LENIENT.decode(digits).unwrap_or_default()
}

const LENIENT: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));
