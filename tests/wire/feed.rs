//! Feeds a body to a protocol's decoder in pieces, as the run does, and checks what it reports on the way.

use looplet::engine::model::answer::{Change, ModelAnswer, PartKind};
use looplet::engine::model::error::Failure;
use looplet::engine::protocol::Protocol;
use looplet::engine::protocol::reader::AnswerReader;

/// What a body decodes to. The answer's list of changes is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    pub answer: ModelAnswer,
    pub failure: Option<Failure>,
}

/// Decodes a body that comes whole.
pub fn decode_body(protocol: &Protocol, body: &[u8]) -> Decoded {
    let mut answer = ModelAnswer::new(true);
    let mut decoder = (protocol.decoder)();
    let failure = decoder.decode_body(body, &mut answer).err();
    let mut report = Report::default();
    report.read(&mut answer);
    report.check(&answer, failure.is_none());
    Decoded { answer, failure }
}

/// Decodes a streamed body that comes in these chunks, with the text-delta lane and without it.
pub fn decode_stream<'a>(protocol: &Protocol, chunks: impl Iterator<Item = &'a [u8]> + Clone) -> Decoded {
    let decoded = decode_with(AnswerReader::new(protocol), chunks.clone());
    let without = decode_with(AnswerReader::without_lane(protocol), chunks);
    assert_eq!(without, decoded, "the lane makes a difference");
    decoded
}

fn decode_with<'a>(mut reader: AnswerReader, chunks: impl Iterator<Item = &'a [u8]>) -> Decoded {
    let mut answer = ModelAnswer::new(true);
    let mut report = Report::default();
    let mut failure = None;
    for chunk in chunks {
        failure = reader.feed(chunk, &mut answer).err();
        report.read(&mut answer);
        if failure.is_some() {
            break;
        }
    }
    if failure.is_none() {
        failure = reader.finish(&mut answer).err();
        report.read(&mut answer);
    }
    report.check(&answer, failure.is_none());
    Decoded { answer, failure }
}

/// What an answer's changes have said.
#[derive(Default)]
struct Report {
    texts: Vec<String>,
    ended: Vec<bool>,
}

impl Report {
    fn read(&mut self, answer: &mut ModelAnswer) {
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
                Change::Estimated { .. } | Change::Usage => {}
            }
        }
        answer.recycle(changes);
    }

    fn check(&self, answer: &ModelAnswer, complete: bool) {
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
pub fn bytes(body: &[u8]) -> std::slice::Chunks<'_, u8> {
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
