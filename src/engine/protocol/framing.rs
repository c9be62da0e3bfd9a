//! Splits a streamed body into events, in the framing that its protocol uses.
//!
//! A model call has one [`FramingState`] per response and calls [`FramingState::feed`] for each chunk, then
//! [`FramingState::finish`]. The state is only the unfinished event. It never reads the content of an event, which is
//! the decoder's task. Only an event that is too long or damaged fails.

use looplet_scan::sse::{SseDecoder, SseEvent};

use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::protocol::eventstream::EventStreamDecoder;

/// How a streamed body is split into events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Sse,
    /// One JSON value per line.
    Ndjson,
    /// Amazon's `application/vnd.amazon.eventstream`.
    EventStream,
}

/// A framing's state between two chunks.
#[derive(Clone, Debug)]
pub enum FramingState {
    Sse(SseDecoder),
    Ndjson { pending: Vec<u8>, max_bytes: usize },
    EventStream(EventStreamDecoder),
}

impl FramingState {
    pub fn new(framing: Framing) -> FramingState {
        match framing {
            Framing::Sse => FramingState::Sse(SseDecoder::default()),
            Framing::Ndjson => FramingState::Ndjson {
                pending: Vec::new(),
                max_bytes: usize::MAX,
            },
            Framing::EventStream => FramingState::EventStream(EventStreamDecoder::default()),
        }
    }

    /// Sets the most bytes of one event.
    pub fn limit(&mut self, bytes: usize) {
        match self {
            FramingState::Sse(sse) => sse.max_event_bytes = bytes,
            FramingState::Ndjson { max_bytes, .. } => *max_bytes = bytes,
            FramingState::EventStream(stream) => stream.max_bytes = bytes,
        }
    }

    /// Calls `on_event` with every event that this chunk completes. It returns the same as in [`SseDecoder::feed`]. A
    /// line of NDJSON is an event without a name.
    ///
    /// # Errors
    /// `malformed_stream` if an event is too long or damaged.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        on_event: &mut dyn FnMut(SseEvent<'_>) -> usize,
    ) -> Result<(), Failure> {
        match self {
            FramingState::Sse(sse) => {
                let max_bytes = sse.max_event_bytes;
                let fed = sse.feed(chunk, on_event);
                fed.map_err(|_| event_too_long(max_bytes))
            }
            FramingState::Ndjson { pending, max_bytes } => {
                feed_lines(pending, chunk, &mut |line| {
                    on_event(alone(b"", line));
                });
                if pending.len() > *max_bytes {
                    return Err(event_too_long(*max_bytes));
                }
                Ok(())
            }
            FramingState::EventStream(stream) => stream.feed(chunk, &mut |name, data| {
                on_event(alone(name, data));
            }),
        }
    }

    /// True if the next byte begins an event, in a framing with blank lines after events.
    pub fn is_between_events(&self) -> bool {
        match self {
            FramingState::Sse(sse) => sse.is_between_events(),
            _ => false,
        }
    }

    /// Ends the body. An event without its end counts as complete, except in the binary framing.
    ///
    /// # Errors
    /// As [`FramingState::feed`].
    pub fn finish(&mut self, on_event: &mut dyn FnMut(SseEvent<'_>) -> usize) -> Result<(), Failure> {
        match self {
            FramingState::Sse(sse) => {
                let max_bytes = sse.max_event_bytes;
                sse.finish(on_event).map_err(|_| event_too_long(max_bytes))
            }
            FramingState::Ndjson { pending, .. } => {
                let line = std::mem::take(pending);
                if !line.trim_ascii().is_empty() {
                    on_event(alone(b"", &line));
                }
                Ok(())
            }
            FramingState::EventStream(stream) => stream.finish(),
        }
    }
}

/// An event of a framing in which `on_event` reads no further events.
fn alone<'a>(event: &'a [u8], data: &'a [u8]) -> SseEvent<'a> {
    SseEvent {
        event,
        data,
        rest: &[],
    }
}

fn feed_lines(pending: &mut Vec<u8>, chunk: &[u8], on_line: &mut dyn FnMut(&[u8])) {
    let mut lines = chunk.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        if lines.peek().is_none() {
            pending.extend_from_slice(line);
        } else if pending.is_empty() {
            emit_line(line, on_line);
        } else {
            pending.extend_from_slice(line);
            emit_line(pending, on_line);
            pending.clear();
        }
    }
}

fn emit_line(line: &[u8], on_line: &mut dyn FnMut(&[u8])) {
    if !line.trim_ascii().is_empty() {
        on_line(line);
    }
}

fn event_too_long(max_bytes: usize) -> Failure {
    too_long("One event of the stream", max_bytes)
}

/// The failure of a piece of an answer that is longer than `answers.maxEventBytes`.
pub fn too_long(what: &str, max_bytes: usize) -> Failure {
    let message = format!("{what} has more bytes than answers.maxEventBytes ({max_bytes}) allows.");
    Failure::new(FailureCode::MalformedStream, message)
}

#[cfg(test)]
mod tests;
