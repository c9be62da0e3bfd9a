//! The decoder of `application/vnd.amazon.eventstream`: bytes in, messages out.
//!
//! A message is `total length, length of the headers, CRC32 of these two, headers, payload, CRC32 of all before`, with
//! numbers of four bytes, big-endian. A header is a name with a length of one byte, a type, and a value whose length
//! follows from the type. <https://docs.aws.amazon.com/lexv2/latest/dg/event-stream-encoding.html> (2026-11-21)
//!
//! The decoder owns the bytes of the unfinished message and nothing else. It verifies both checksums. A message that
//! lies whole within one chunk is borrowed from it. [`FramingState`](super::framing::FramingState) calls
//! [`EventStreamDecoder::feed`] for each chunk, then [`EventStreamDecoder::finish`]. A broken message ends the stream.

pub use crc32fast::hash as crc32;
use serde::{Deserialize, Serialize};

use crate::engine::model::error::Failure;
use crate::engine::protocol::failure::malformed;

/// The longest message in bytes, equal to the limit of an SSE event. AWS itself stays below 24 MiB.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;
/// The length of the prelude: both lengths and their checksum.
const PRELUDE_BYTES: usize = 12;
const CHECKSUM_BYTES: usize = 4;
/// The type of a header whose value is text.
const TEXT: u8 = 7;
/// The number of bytes of a header's value, by its type.
const LENGTHS: [u8; 10] = [0, 0, 1, 2, 4, 8, VARIES, VARIES, 8, 16];
/// The two bytes before the value are its length.
const VARIES: u8 = 255;

/// Decodes one stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventStreamDecoder {
    pending: Vec<u8>,
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
                && let Some(length) = message_length(chunk)?
                && let Some((message, rest)) = chunk.split_at_checked(length)
            {
                hand_over(message, on_event)?;
                chunk = rest;
                continue;
            }
            let wanted = message_length(&self.pending)?.unwrap_or(PRELUDE_BYTES);
            let missing = wanted.saturating_sub(self.pending.len());
            let (more, rest) = chunk.split_at_checked(missing).unwrap_or((chunk, &[]));
            self.pending.extend_from_slice(more);
            chunk = rest;
            if message_length(&self.pending)? == Some(self.pending.len()) {
                hand_over(&self.pending, on_event)?;
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
fn message_length(bytes: &[u8]) -> Result<Option<usize>, Failure> {
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
        return Err(malformed("the begin of a message has a wrong checksum", &[]));
    }
    if total > MAX_MESSAGE_BYTES || total < headers.saturating_add(PRELUDE_BYTES + CHECKSUM_BYTES) {
        return Err(malformed("a message of the stream has an impossible length", &[]));
    }
    Ok(Some(total))
}

/// Hands over a message that has its full length.
fn hand_over(message: &[u8], on_event: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), Failure> {
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

/// The value of a text header. Headers behind one that cannot be read are ignored.
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
mod tests {
    use super::*;

    /// A message with these headers, all text.
    fn message(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
        let mut block = Vec::new();
        for (name, value) in headers {
            block.push(name.len() as u8);
            block.extend_from_slice(name.as_bytes());
            block.push(TEXT);
            block.extend_from_slice(&(value.len() as u16).to_be_bytes());
            block.extend_from_slice(value.as_bytes());
        }
        framed(&block, payload)
    }

    fn framed(headers: &[u8], payload: &[u8]) -> Vec<u8> {
        let total = (headers.len() + payload.len() + 16) as u32;
        let mut out = total.to_be_bytes().to_vec();
        out.extend_from_slice(&(headers.len() as u32).to_be_bytes());
        out.extend_from_slice(&crc32(&out).to_be_bytes());
        out.extend_from_slice(headers);
        out.extend_from_slice(payload);
        out.extend_from_slice(&crc32(&out).to_be_bytes());
        out
    }

    fn decode(chunks: &[&[u8]]) -> Result<Vec<(String, String)>, Failure> {
        let mut decoder = EventStreamDecoder::default();
        let mut found = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for chunk in chunks {
            decoder.feed(chunk, &mut |name, payload| {
                found.push((text(name), text(payload)))
            })?;
        }
        decoder.finish()?;
        Ok(found)
    }

    #[test]
    fn the_checksum_is_that_of_gzip() {
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(&[0, 0, 0, 16, 0, 0, 0, 0]), 0x05C2_48EB);
    }

    #[test]
    fn messages_come_whole_wherever_they_are_cut() {
        let mut body = message(
            &[
                (":event-type", "messageStart"),
                (":content-type", "application/json"),
                (":message-type", "event"),
            ],
            b"{}",
        );
        // Every type of header, before the one that matters.
        let mut headers =
            b"\x01a\0\x01b\x01\x01c\x02\0\x01d\x03\0\0\x01e\x04\0\0\0\0\x01f\x05........".to_vec();
        headers.extend_from_slice(b"\x01g\x06\0\x03\0\0\0\x01h\x08........\x01i\x09................");
        headers.extend_from_slice(b"\x0b:event-type\x07\0\x04late");
        body.extend(framed(&headers, b"1"));
        body.extend(framed(b"\x01x\xff", b""));
        body.extend(message(
            &[
                (":message-type", "exception"),
                (":exception-type", "throttlingException"),
            ],
            b"{\"message\":\"Slow down\"}",
        ));
        body.extend(message(
            &[
                (":message-type", "error"),
                (":error-code", "InternalError"),
                (":error-message", "Oh"),
            ],
            b"",
        ));
        let whole = decode(&[&body]).unwrap();
        let pairs = [
            ("messageStart", "{}"),
            ("late", "1"),
            ("", ""),
            ("!throttlingException", "{\"message\":\"Slow down\"}"),
            ("!InternalError", "Oh"),
        ];
        assert_eq!(
            whole,
            pairs.map(|(name, data)| (name.to_owned(), data.to_owned()))
        );
        for at in 0..=body.len() {
            let (head, tail) = body.split_at(at);
            assert_eq!(decode(&[head, tail]).unwrap(), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(decode(&bytes).unwrap(), whole);
    }

    #[test]
    fn no_flipped_bit_goes_unnoticed_and_no_missing_byte() {
        let body = message(&[(":event-type", "metadata")], b"{\"usage\":{}}");
        for bit in 0..body.len() * 8 {
            let mut broken = body.clone();
            *broken.get_mut(bit / 8).unwrap() ^= 1 << (bit % 8);
            assert!(decode(&[&broken]).is_err(), "bit {bit}");
        }
        for length in 1..body.len() {
            let cut = body.get(..length).unwrap();
            assert!(
                decode(&[cut]).unwrap_err().message.contains("ended within"),
                "{length} bytes"
            );
        }
    }

    #[test]
    fn a_message_that_is_too_long_or_too_short_is_refused_at_its_prelude() {
        for (total, headers) in [
            (64 * 1024 * 1024 + 1, 0),
            (15, 0),
            (20, 5),
            (u32::MAX, u32::MAX),
            (16, u32::MAX),
        ] {
            let mut prelude = total.to_be_bytes().to_vec();
            prelude.extend_from_slice(&u32::to_be_bytes(headers));
            prelude.extend_from_slice(&crc32(&prelude).to_be_bytes());
            let failure = decode(&[&prelude]).unwrap_err();
            assert!(
                failure.message.contains("impossible"),
                "{total} {headers}: {failure:?}"
            );
        }
    }
}
