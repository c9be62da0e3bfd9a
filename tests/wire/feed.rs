//! Feeds a body to a protocol's decoder in pieces, as the run does, and checks what it reports on the way.

use looplet::engine::model::answer::{Answer, Change, PartKind};
use looplet::engine::model::error::Failure;
use looplet::engine::protocol::{Decoder, Framing, Protocol};
use looplet::engine::stream::eventstream::EventStreamDecoder;
use looplet_scan::sse::SseDecoder;

/// What a body decodes to. The answer's list of changes is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    pub answer: Answer,
    pub failure: Option<Failure>,
}

/// Decodes a body that comes whole.
pub fn decode_body(protocol: &Protocol, body: &[u8]) -> Decoded {
    let mut answer = Answer::new(true);
    let mut decoder = (protocol.decoder)();
    let failure = decoder.decode_body(body, &mut answer).err();
    let mut report = Report::default();
    report.read(&mut answer);
    report.check(&answer, failure.is_none());
    Decoded { answer, failure }
}

/// Decodes a streamed body that comes in these chunks.
pub fn decode_stream<'a>(protocol: &Protocol, chunks: impl Iterator<Item = &'a [u8]>) -> Decoded {
    let mut answer = Answer::new(true);
    let mut report = Report::default();
    let mut framed = Framed::new(protocol);
    let mut failure = None;
    for chunk in chunks {
        failure = framed.feed(chunk, &mut answer).err();
        report.read(&mut answer);
        if failure.is_some() {
            break;
        }
    }
    if failure.is_none() {
        failure = framed.finish(&mut answer).err();
        report.read(&mut answer);
    }
    report.check(&answer, failure.is_none());
    Decoded { answer, failure }
}

struct Framed {
    framing: Framing,
    sse: SseDecoder,
    binary: EventStreamDecoder,
    line: Vec<u8>,
    decoder: Decoder,
}

impl Framed {
    fn new(protocol: &Protocol) -> Framed {
        Framed {
            framing: protocol.framing,
            sse: SseDecoder::default(),
            binary: EventStreamDecoder::default(),
            line: Vec::new(),
            decoder: (protocol.decoder)(),
        }
    }

    fn feed(&mut self, chunk: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        if self.framing == Framing::Ndjson {
            for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
                self.line.extend_from_slice(piece);
                if piece.ends_with(b"\n") {
                    let line = std::mem::take(&mut self.line);
                    self.decoder.decode_event(b"", &line, answer)?;
                }
            }
            return Ok(());
        }
        if self.framing == Framing::EventStream {
            return self.feed_binary(chunk, answer);
        }
        let mut result = Ok(());
        let decoder = &mut self.decoder;
        self.sse
            .feed(chunk, &mut |event| {
                if result.is_ok() {
                    result = decoder.decode_event(event.event, event.data, answer);
                    // A decoder's state survives being saved between any two events.
                    if event.data.len().is_multiple_of(7) {
                        let saved = serde_json::to_string(&*decoder).unwrap();
                        *decoder = serde_json::from_str(&saved).unwrap();
                    }
                }
            })
            .unwrap();
        result
    }

    fn feed_binary(&mut self, chunk: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        let mut result = Ok(());
        let decoder = &mut self.decoder;
        let framed = self.binary.feed(chunk, &mut |name, data| {
            if result.is_ok() {
                result = decoder.decode_event(name, data, answer);
                if data.len().is_multiple_of(7) {
                    let saved = serde_json::to_string(&*decoder).unwrap();
                    *decoder = serde_json::from_str(&saved).unwrap();
                }
            }
        });
        result.and(framed)
    }

    fn finish(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        self.binary.finish()?;
        if self.framing == Framing::Ndjson {
            let line = std::mem::take(&mut self.line);
            self.decoder.decode_event(b"", &line, answer)?;
        }
        let mut result = Ok(());
        let decoder = &mut self.decoder;
        self.sse
            .finish(&mut |event| {
                if result.is_ok() {
                    result = decoder.decode_event(event.event, event.data, answer);
                }
            })
            .unwrap();
        result?;
        self.decoder.finish(answer)
    }
}

/// What an answer's changes have said.
#[derive(Default)]
struct Report {
    texts: Vec<String>,
    ended: Vec<bool>,
}

impl Report {
    fn read(&mut self, answer: &mut Answer) {
        let changes = answer.take_changes();
        for change in &changes {
            match *change {
                Change::Started { part } => {
                    assert_eq!(part, self.texts.len(), "parts start in order");
                    self.texts.push(String::new());
                    self.ended.push(false);
                }
                Change::Grew { part, from, to } => {
                    assert_eq!(from, self.texts[part].len(), "growth follows growth");
                    self.texts[part].push_str(&answer.parts[part].text[from..to]);
                }
                Change::Ended { part } => {
                    assert!(!self.ended[part], "a part ends once");
                    self.ended[part] = true;
                }
                Change::Usage => {}
            }
        }
        answer.recycle(changes);
    }

    fn check(&self, answer: &Answer, complete: bool) {
        for (part, text) in answer.parts.iter().zip(&self.texts) {
            if part.kind != PartKind::Raw {
                assert_eq!(&part.text, text, "the reported pieces are the text");
            }
        }
        if complete {
            assert!(
                self.ended.iter().all(|ended| *ended),
                "every part of a complete answer has ended"
            );
            assert!(answer.complete);
        }
    }
}

/// The bytes one by one.
pub fn bytes(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.chunks(1)
}

/// The bytes cut at 16 places that `seed` chooses.
pub fn cuts(body: &[u8], seed: u64) -> Vec<&[u8]> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut places: Vec<usize> = (0..16)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % (body.len() as u64 + 1)) as usize
        })
        .collect();
    places.extend([0, body.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect()
}
