//! Amazon's binary event stream: whatever the bytes, and messages that the input names.
//!
//! A line of the input is a message: its name, a blank, its payload. A line with `!` before its name is an exception.

use looplet::engine::json::checksum::crc32;
use looplet::engine::protocol::eventstream::EventStreamDecoder;

use super::cuts;

/// A message's name and payload.
type Event = (Vec<u8>, Vec<u8>);

pub fn check(data: &[u8]) {
    check_cuts(data);
    let (body, events) = messages(data);
    let (whole, is_ok) = decode(&[&body]);
    assert_eq!(whole, events, "messages do not come back");
    assert!(is_ok);
    check_cuts(&body);
    if let Some(at) = data.first().map(|first| usize::from(*first) * body.len() / 256)
        && let Some(byte) = body.get(at)
    {
        let mut damaged = body.clone();
        damaged[at] = byte ^ 0x40;
        let (some, is_ok) = decode(&[&damaged]);
        assert!(!is_ok, "a damaged byte goes unseen");
        assert!(events.starts_with(&some), "damage changes what was before it");
    }
}

fn check_cuts(body: &[u8]) {
    let whole = decode(&[body]);
    for way in cuts::ways(body) {
        assert_eq!(decode(&way), whole, "a cut makes a difference");
    }
}

/// The messages, and whether the stream is whole.
fn decode(chunks: &[&[u8]]) -> (Vec<Event>, bool) {
    let mut decoder = EventStreamDecoder::default();
    let mut events = Vec::new();
    for chunk in chunks {
        let fed = decoder.feed(chunk, &mut |name, payload| {
            events.push((name.to_vec(), payload.to_vec()))
        });
        if fed.is_err() {
            return (events, false);
        }
    }
    let is_ok = decoder.finish().is_ok();
    (events, is_ok)
}

/// The bytes of the messages that the lines name, and what must be read from them.
pub fn messages(data: &[u8]) -> (Vec<u8>, Vec<Event>) {
    let mut body = Vec::new();
    let mut events = Vec::new();
    for line in data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let blank = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let (name, payload) = line.split_at(blank);
        let payload = payload.strip_prefix(b" ").unwrap_or(payload);
        let headers: [(&str, &[u8]); 2] = match name.strip_prefix(b"!") {
            Some(kind) => [(":message-type", b"exception"), (":exception-type", kind)],
            None => [(":message-type", b"event"), (":event-type", name)],
        };
        push_message(&headers, payload, &mut body);
        events.push((name.to_vec(), payload.to_vec()));
    }
    (body, events)
}

fn push_message(headers: &[(&str, &[u8])], payload: &[u8], into: &mut Vec<u8>) {
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(name.len() as u8);
        block.extend_from_slice(name.as_bytes());
        block.push(7);
        block.extend_from_slice(&(value.len() as u16).to_be_bytes());
        block.extend_from_slice(value);
    }
    let total = (block.len() + payload.len() + 16) as u32;
    let mut message = total.to_be_bytes().to_vec();
    message.extend_from_slice(&(block.len() as u32).to_be_bytes());
    message.extend_from_slice(&crc32(&message).to_be_bytes());
    message.extend_from_slice(&block);
    message.extend_from_slice(payload);
    message.extend_from_slice(&crc32(&message).to_be_bytes());
    into.extend(message);
}
