//! Media in the form that every vendor takes: one spelling of each type, and no `data:` address as a URL.
//!
//! Vendors compare a media type letter by letter, and fetch a URL or refuse it. [`mended`] is called for each message
//! before an encoder writes it. The transcript keeps what it was given. Nothing fails: an address that cannot be read
//! stays as it is.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD};

use crate::engine::model::message::{Block, MediaSource, Message};

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

/// The message with its media as vendors take them.
pub fn mended(message: &Message) -> Cow<'_, Message> {
    if !message.content.iter().any(is_off) {
        return Cow::Borrowed(message);
    }
    Cow::Owned(Message {
        role: message.role,
        content: message.content.iter().map(block).collect(),
        partial: message.partial,
        compacted: message.compacted,
        origin: message.origin.clone(),
    })
}

fn is_off(block: &Block) -> bool {
    match block {
        Block::Media {
            media_type, source, ..
        } => usual(media_type) != *media_type || data_address(source).is_some(),
        Block::ToolResult { content, .. } => content.iter().any(is_off),
        _ => false,
    }
}

fn block(given: &Block) -> Block {
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
        }
        Block::ToolResult { content, .. } => *content = content.iter().map(block).collect(),
        _ => {}
    }
    out
}

/// A media type by its usual name: small letters, and no parameters except those of raw sound.
fn usual(given: &str) -> Cow<'_, str> {
    let bare = match given.split_once(';') {
        Some((bare, _)) if is_sound(bare) => return Cow::Borrowed(given),
        Some((bare, _)) => bare,
        None => given,
    };
    let bare = bare.trim();
    let small: Cow<'_, str> = match bare.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(bare.to_ascii_lowercase()),
        false => Cow::Borrowed(bare),
    };
    match ALIASES.iter().find(|(alias, _)| *alias == small) {
        Some((_, usual)) => Cow::Borrowed(usual),
        None => small,
    }
}

fn is_sound(media_type: &str) -> bool {
    let kind = media_type.trim_start().get(..6);
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("audio/"))
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
    let bytes = unescaped(body);
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
fn unescaped(text: &str) -> Vec<u8> {
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

/// True for a type of text, which a vendor without a form for its documents takes as plain text.
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
    // A lone last digit stands for no byte.
    digits.truncate(digits.len() - usize::from(digits.len() % 4 == 1));
    LENIENT.decode(digits).unwrap_or_default()
}

const LENIENT: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));
