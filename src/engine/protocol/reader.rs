//! The reader of a streamed answer: framing, the text-delta lane, and the protocol's decoder.
//!
//! A model call feeds each chunk to [`AnswerReader::feed`], then calls [`AnswerReader::finish`]. An event takes one
//! of two ways. The lane ([`looplet_scan::lane`]) takes an event that repeats a frame, if the protocol has a row for
//! it. Every other event is the decoder's. Both ways give the same answer.

use looplet_scan::cursor::RawString;
use looplet_scan::lane::Lane;
use looplet_scan::sse::SseEvent;

use crate::engine::model::answer::ModelAnswer;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::protocol::framing::FramingState;
use crate::engine::protocol::{Decoder, Protocol};

/// The state between two chunks.
#[derive(Clone, Debug)]
pub struct AnswerReader {
    framing: FramingState,
    events: EventReader,
}

#[derive(Clone, Debug)]
struct EventReader {
    decoder: Decoder,
    lane: Lane,
    /// The number of frames that were proven.
    proofs: u32,
}

/// The most proofs in one answer. A proof copies the state of the decoder, and a few dozen blocks are all that an
/// answer has that is long enough for the lane to matter.
const MAX_PROOFS: u32 = 64;

impl AnswerReader {
    pub fn new(protocol: &Protocol) -> AnswerReader {
        AnswerReader {
            framing: FramingState::new(protocol.framing),
            events: EventReader {
                decoder: (protocol.decoder)(),
                lane: Lane::new(protocol.lane),
                proofs: 0,
            },
        }
    }

    /// A reader that leaves every event to the decoder. The lane must make no difference.
    pub fn without_lane(protocol: &Protocol) -> AnswerReader {
        let mut reader = AnswerReader::new(protocol);
        reader.events.lane = Lane::default();
        reader
    }

    /// Reads the events that follow those of another response. A part of an event at its end is dropped.
    pub fn continue_from(&mut self, before: AnswerReader) {
        self.events = before.events;
    }

    /// Sets the most bytes of one event.
    pub fn limit_events(&mut self, max_bytes: usize) {
        self.framing.limit(max_bytes);
    }

    /// Reads every event that this chunk completes.
    ///
    /// # Errors
    /// The failure that an event reports, or `malformed_stream`. The caller fills in its `status`, `vendor` and
    /// `request_id`.
    pub fn feed(&mut self, chunk: &[u8], answer: &mut ModelAnswer) -> Result<(), Failure> {
        let AnswerReader { framing, events } = self;
        let repeated = if framing.is_between_events() {
            events.read_repeats(chunk, answer)
        } else {
            0
        };
        let rest = chunk.get(repeated..).unwrap_or_default();
        events.read_each(answer, |on_event| framing.feed(rest, on_event))
    }

    /// Ends the body and closes every open block.
    ///
    /// # Errors
    /// As [`AnswerReader::feed`], and `malformed_stream` when the protocol's end was never seen.
    pub fn finish(&mut self, answer: &mut ModelAnswer) -> Result<(), Failure> {
        let AnswerReader { framing, events } = self;
        events.read_each(answer, |on_event| framing.finish(on_event))?;
        events.decoder.finish(answer)
    }

    /// Reads a body that is one JSON value.
    ///
    /// # Errors
    /// The failure that the body reports, or `malformed_stream`.
    pub fn read_body(&mut self, body: &[u8], answer: &mut ModelAnswer) -> Result<(), Failure> {
        let read = self.events.decoder.decode_body(body, answer);
        check_room(answer).and(read)
    }

    /// True if a stream of events may begin with this byte.
    pub fn may_begin_with(&self, byte: u8) -> bool {
        match self.framing {
            FramingState::EventStream(_) => byte == 0,
            FramingState::Ndjson { .. } => !matches!(byte, b'<' | 0x1F),
            FramingState::Sse(_) => !matches!(byte, b'<' | 0x1F | b'{' | b'['),
        }
    }
}

type OnEvent<'a> = &'a mut dyn FnMut(SseEvent<'_>) -> usize;

impl EventReader {
    /// Reads the events of `frame`, up to the first that fails.
    fn read_each(
        &mut self,
        answer: &mut ModelAnswer,
        frame: impl FnOnce(OnEvent<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut failed = None;
        let framed = frame(&mut |event| {
            if failed.is_some() {
                return 0;
            }
            let read = self.read(event.event, event.data, answer);
            failed = check_room(answer).and(read).err();
            self.read_repeats(event.rest, answer)
        });
        failed.map_or(framed, Err)
    }

    fn read(&mut self, name: &[u8], data: &[u8], answer: &mut ModelAnswer) -> Result<(), Failure> {
        match (self.lane.text(name, data), self.lane.part()) {
            (Some(text), Some(part)) if grow(part, text, answer) => Ok(()),
            (Some(text), None) if self.proofs < MAX_PROOFS => self.prove(name, data, &text.to_text(), answer),
            _ => {
                self.lane.learn(name, data);
                self.decoder.decode_event(name, data, answer)
            }
        }
    }

    /// Reads the complete events at the start of `bytes` that match a trusted frame. Returns their length.
    fn read_repeats(&mut self, bytes: &[u8], answer: &mut ModelAnswer) -> usize {
        let Some(part) = self.lane.part() else { return 0 };
        let mut rest = bytes;
        while let Some((text, behind)) = self.lane.next(rest) {
            if !grow(part, text, answer) {
                break;
            }
            rest = behind;
        }
        bytes.len() - rest.len()
    }

    /// Decodes an event that repeats the frame before it. The lane trusts the frame if nothing has happened but that
    /// one block has grown by `text`.
    fn prove(
        &mut self,
        name: &[u8],
        data: &[u8],
        text: &str,
        answer: &mut ModelAnswer,
    ) -> Result<(), Failure> {
        self.proofs += 1;
        let (decoder, outline, lengths) = (self.decoder.clone(), answer.outline(), answer.text_lengths());
        self.decoder.decode_event(name, data, answer)?;
        let mut grown = (0..).zip(lengths).zip(&answer.parts);
        let grown = grown.find(|((_, length), part)| part.text.len() != *length);
        match grown {
            Some(((part, length), open))
                if open.text.get(length..) == Some(text)
                    && self.decoder == decoder
                    && answer.outline() == outline =>
            {
                self.lane.trust(part);
            }
            _ => self.lane.learn(name, data),
        }
        Ok(())
    }
}

/// # Errors
/// `malformed_stream` for an answer with too many blocks. Another attempt would not help.
fn check_room(answer: &ModelAnswer) -> Result<(), Failure> {
    if !answer.is_overfull {
        return Ok(());
    }
    let most = answer.max_parts;
    let message =
        format!("The answer has more blocks and tool calls than answers.maxBlocks ({most}) allows.");
    let mut failure = Failure::new(FailureCode::MalformedStream, message);
    failure.retryable = false;
    Err(failure)
}

/// False for a block that has ended.
fn grow(part: usize, text: RawString<'_>, answer: &mut ModelAnswer) -> bool {
    let waits = answer.parts.get(part).is_some_and(|part| part.half.waits());
    match text.plain() {
        Some(text) if !waits => answer.grow(part, |into| into.push_str(text)).is_some(),
        _ => answer.push_piece(part, &text.piece()).is_some(),
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod halves;
