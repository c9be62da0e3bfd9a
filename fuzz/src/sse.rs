//! The decoder of event streams against a reading of the whole body, line by line.

use looplet_scan::sse::{SseDecoder, SseError};

use super::cuts;

/// An event's name and data.
type Event = (Vec<u8>, Vec<u8>);

pub fn check(data: &[u8]) {
    let whole = decode(&[data], usize::MAX);
    assert_eq!(
        whole,
        (oracle(data), Ok(())),
        "the decoder differs from the grammar"
    );
    for way in cuts::ways(data) {
        assert_eq!(decode(&way, usize::MAX), whole, "a cut makes a difference");
    }
    let limited = decode(&[data], 16);
    assert!(limited.0.iter().all(|(_, data)| data.len() <= 16));
    for way in cuts::ways(data) {
        assert_eq!(decode(&way, 16), limited, "a cut makes a difference to the limit");
    }
}

fn decode(chunks: &[&[u8]], max_event_bytes: usize) -> (Vec<Event>, Result<(), SseError>) {
    let mut decoder = SseDecoder::default();
    decoder.max_event_bytes = max_event_bytes;
    let mut events = Vec::new();
    for chunk in chunks {
        let fed = decoder.feed(chunk, &mut |event| {
            events.push((event.event.to_vec(), event.data.to_vec()));
            0
        });
        if fed.is_err() {
            assert_eq!(
                decoder.feed(b"data: x\n\n", &mut |_| panic!("an event after the failure")),
                fed
            );
            return (events, fed);
        }
    }
    let finished = decoder.finish(&mut |event| {
        events.push((event.event.to_vec(), event.data.to_vec()));
        0
    });
    (events, finished)
}

/// The same by hand: all lines, then what they mean. An event without its blank line counts.
fn oracle(body: &[u8]) -> Vec<Event> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut lines: Vec<Vec<u8>> = vec![Vec::new()];
    let mut after_cr = false;
    for byte in body {
        match byte {
            b'\n' if after_cr => {}
            b'\n' | b'\r' => lines.push(Vec::new()),
            _ => lines.last_mut().unwrap().push(*byte),
        }
        after_cr = *byte == b'\r';
    }
    let mut events = Vec::new();
    let (mut name, mut data): (Vec<u8>, Option<Vec<u8>>) = (Vec::new(), None);
    let last = lines.len() - 1;
    for (at, line) in lines.iter().enumerate() {
        if !line.is_empty() {
            let colon = line.iter().position(|byte| *byte == b':');
            let (field, value) = match colon {
                Some(at) => (&line[..at], &line[at + 1..]),
                None => (&line[..], &[][..]),
            };
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match field {
                b"data" => match &mut data {
                    Some(data) => {
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                    None => data = Some(value.to_vec()),
                },
                b"event" => name = value.to_vec(),
                _ => {}
            }
        }
        if line.is_empty() || at == last {
            if let Some(data) = data.take() {
                events.push((name, data));
            }
            name = Vec::new();
        }
    }
    events
}
