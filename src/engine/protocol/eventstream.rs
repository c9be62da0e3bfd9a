//! The decoder of `application/vnd.amazon.eventstream`: bytes in, messages out.
//!
//! A message is `total length, length of the headers, CRC32 of these two, headers, payload, CRC32 of all before`,
//! with numbers of four bytes, big-endian. A header is a name with a length of one byte, a type, and a value with a
//! length that depends on the type. <https://docs.aws.amazon.com/lexv2/latest/dg/event-stream-encoding.html>
//! (2026-11-21)
//!
//! The decoder owns only the bytes of the unfinished message. It verifies both checksums. A message that is
//! completely within one chunk is borrowed from it. [`FramingState`](super::framing::FramingState) calls
//! [`EventStreamDecoder::feed`] for each chunk, then [`EventStreamDecoder::finish`]. A damaged message ends the
//! stream.

use crate::engine::json::checksum::crc32;
use crate::engine::model::error::Failure;
use crate::engine::protocol::failure::malformed;
use crate::engine::protocol::framing::too_long;

/// The length of the prelude: both lengths and their checksum.
const PRELUDE_BYTES: usize = 12;
const CHECKSUM_BYTES: usize = 4;
/// The type of a header with a text value.
const TEXT: u8 = 7;
/// The number of bytes of a header's value, by its type.
const LENGTHS: [u8; 10] = [0, 0, 1, 2, 4, 8, VARIES, VARIES, 8, 16];
/// The two bytes before the value are its length.
const VARIES: u8 = 255;

/// Decodes one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct EventStreamDecoder {
    pending: Vec<u8>,
    /// The most bytes of one message. AWS itself stays below 24 MiB.
    pub max_bytes: usize,
}

impl Default for EventStreamDecoder {
    fn default() -> EventStreamDecoder {
        EventStreamDecoder {
            pending: Vec::new(),
            max_bytes: 64 << 20,
        }
    }
}

impl EventStreamDecoder {
    /// Decodes one chunk and hands every message that ends in it to `on_event(name, payload)`. An event's name is its
    /// `:event-type`. An exception's name is `!` and its `:exception-type`. An error's name is `!` and its
    /// `:error-code`, and its payload is its `:error-message`.
    ///
    /// # Errors
    /// `malformed_stream` when a checksum is wrong, lengths contradict each other, or a message is too long.
    pub fn feed(&mut self, mut chunk: &[u8], on_event: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), Failure> {
        while !chunk.is_empty() {
            if self.pending.is_empty()
                && let Some(length) = message_length(chunk, self.max_bytes)?
                && let Some((message, rest)) = chunk.split_at_checked(length)
            {
                emit_message(message, on_event)?;
                chunk = rest;
                continue;
            }
            let wanted = message_length(&self.pending, self.max_bytes)?.unwrap_or(PRELUDE_BYTES);
            let missing = wanted.saturating_sub(self.pending.len());
            let (more, rest) = chunk.split_at_checked(missing).unwrap_or((chunk, &[]));
            self.pending.extend_from_slice(more);
            chunk = rest;
            if message_length(&self.pending, self.max_bytes)? == Some(self.pending.len()) {
                emit_message(&self.pending, on_event)?;
                self.pending.clear();
            }
        }
        Ok(())
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// `malformed_stream` within a message.
    pub fn finish(&self) -> Result<(), Failure> {
        if self.pending.is_empty() {
            Ok(())
        } else {
            Err(malformed("the stream ended within a message", &[]))
        }
    }
}

/// The length of the message at the front; `None` before the prelude is complete.
fn message_length(bytes: &[u8], max_bytes: usize) -> Result<Option<usize>, Failure> {
    let Some((lengths, rest)) = bytes.split_at_checked(8) else {
        return Ok(None);
    };
    let Some(checksum) = number(rest) else {
        return Ok(None);
    };
    let (total, headers) = lengths.split_at_checked(4).unwrap_or_default();
    let total = number(total).unwrap_or_default() as usize;
    let headers = number(headers).unwrap_or_default() as usize;
    if checksum != crc32(lengths) {
        return Err(malformed("the beginning of a message has a wrong checksum", &[]));
    }
    if total > max_bytes {
        return Err(too_long("One event of the stream", max_bytes));
    }
    if total < headers.saturating_add(PRELUDE_BYTES + CHECKSUM_BYTES) {
        return Err(malformed("a message of the stream has an impossible length", &[]));
    }
    Ok(Some(total))
}

/// Delivers a message that has its full length.
fn emit_message(message: &[u8], on_event: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), Failure> {
    let (checked, checksum) = message
        .split_at_checked(message.len().saturating_sub(CHECKSUM_BYTES))
        .unwrap_or_default();
    if number(checksum) != Some(crc32(checked)) {
        return Err(malformed("a message of the stream has a wrong checksum", &[]));
    }
    let headers = checked.get(4..).and_then(number).unwrap_or_default() as usize;
    let (headers, payload) = checked
        .get(PRELUDE_BYTES..)
        .and_then(|rest| rest.split_at_checked(headers))
        .unwrap_or_default();
    let named = |name: &[u8]| text_header(headers, name);
    let failed = |kind: &[u8]| [b"!", kind].concat();
    match named(b":message-type") {
        Some(b"exception") => on_event(&failed(named(b":exception-type").unwrap_or_default()), payload),
        Some(b"error") => on_event(
            &failed(named(b":error-code").unwrap_or_default()),
            named(b":error-message").unwrap_or_default(),
        ),
        _ => on_event(named(b":event-type").unwrap_or_default(), payload),
    }
    Ok(())
}

/// The value of a text header. Headers after an unreadable one are ignored.
fn text_header<'a>(mut headers: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    loop {
        let (length, rest) = headers.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        let (kind, rest) = rest.split_first()?;
        let (length, rest) = match LENGTHS.get(usize::from(*kind)).copied()? {
            VARIES => {
                let (length, rest) = rest.split_at_checked(2)?;
                (
                    length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)),
                    rest,
                )
            }
            length => (usize::from(length), rest),
        };
        let (value, rest) = rest.split_at_checked(length)?;
        if *kind == TEXT && name == wanted {
            return Some(value);
        }
        headers = rest;
    }
}

/// The first four bytes as a number.
fn number(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests;
