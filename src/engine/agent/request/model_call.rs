//! One HTTP request to a model, and the answer that its response becomes.
//!
//! Owns the answer under assembly and the state of its decoder. The order is [`ModelCall::handle_head`], then
//! [`ModelCall::handle_chunk`] for each chunk, then [`ModelCall::handle_end`]. A failure ends the attempt; the parts that
//! have arrived stay in [`ModelCall::answer`].

use looplet_scan::sse::byte_text;
use serde::{Deserialize, Serialize};

use crate::engine::model::answer::Answer;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::output::EffectId;
use crate::engine::protocol::failure::{decode_failure, request_id};
use crate::engine::protocol::{Decoder, Protocol};
use crate::engine::stream::framing::FramingState;
use crate::engine::stream::lane::{Lane, split_event};

/// The bytes of an error body that are read. Any vendor's error object fits, and a hostile body does not fill memory.
const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;
/// The bytes of a body that is one JSON value; one event has an equal bound.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;
/// The bytes of an event's beginning that are kept until its end comes. A longer one is framed piece by piece.
const MAX_HELD_BYTES: usize = 4096;
/// The bytes of a buffer that is kept. The memory that a larger chunk needed is given back.
const MAX_KEPT_BYTES: usize = 64 * 1024;
/// The characters of an unreadable body that a failure shows.
const EXCERPT_CHARS: usize = 500;

/// The form of a response's body.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Body {
    /// No byte has come that tells the form.
    Unknown,
    Events,
    /// One JSON value, or something unreadable.
    Whole(Vec<u8>),
    /// The body of a response with another status than 2xx.
    Error(Vec<u8>),
}

/// One attempt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelCall {
    /// `None` while waiting for the next attempt.
    pub request: Option<EffectId>,
    pub answer: Answer,
    vendor: String,
    status: u16,
    headers: Vec<(String, String)>,
    stream: bool,
    body: Body,
    /// The first bytes, as long as no event has been read.
    prefix: Vec<u8>,
    decoder: Decoder,
    framing: FramingState,
    /// The beginning of an event that the framing has not seen.
    #[serde(with = "byte_text")]
    held: Vec<u8>,
    #[serde(skip)]
    lane: Lane,
}

impl ModelCall {
    pub fn new(
        request: EffectId,
        vendor: &str,
        protocol: &Protocol,
        stream: bool,
        join_deltas: bool,
    ) -> ModelCall {
        ModelCall {
            request: Some(request),
            answer: Answer::new(join_deltas),
            vendor: vendor.to_owned(),
            status: 0,
            headers: Vec::new(),
            stream,
            body: Body::Unknown,
            prefix: Vec::new(),
            decoder: (protocol.decoder)(),
            framing: FramingState::new(protocol.framing),
            held: Vec::new(),
            lane: Lane::default(),
        }
    }

    pub fn handle_head(&mut self, status: u16, headers: Vec<(String, String)>) {
        self.status = status;
        self.headers = headers;
        if !(200..300).contains(&status) {
            self.body = Body::Error(Vec::new());
        } else if !self.stream {
            self.body = Body::Whole(Vec::new());
        }
    }

    /// # Errors
    /// The failure that the stream reports, or `malformed_stream`.
    pub fn handle_chunk(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.body {
            Body::Error(body) => {
                let room = MAX_ERROR_BODY_BYTES.saturating_sub(body.len());
                body.extend(bytes.iter().take(room));
                Ok(())
            }
            Body::Whole(body) => {
                body.extend_from_slice(bytes);
                if body.len() > MAX_BODY_BYTES {
                    let failure =
                        Failure::new(FailureCode::MalformedStream, "The body is longer than 64 MiB.");
                    return Err(self.describe(failure));
                }
                Ok(())
            }
            Body::Events => self.feed(bytes),
            Body::Unknown => self.sniff(bytes),
        }
    }

    /// Takes the end of the body; then the answer is complete.
    ///
    /// # Errors
    /// The vendor's error, or `malformed_stream` for a body that is unreadable or cut off.
    pub fn handle_end(&mut self, now_ms: u64) -> Result<(), Failure> {
        match std::mem::replace(&mut self.body, Body::Unknown) {
            Body::Error(body) => Err(decode_failure(
                &self.vendor,
                self.status,
                &self.headers,
                &body,
                now_ms,
            )),
            Body::Whole(body) => self.finish_whole(&body, now_ms),
            Body::Events => self.finish_events(),
            Body::Unknown => {
                let failure = Failure::new(FailureCode::MalformedStream, "The response has an empty body.");
                Err(self.describe(failure))
            }
        }
    }

    /// Adds the facts of the response: status, vendor, request id and the start of an unreadable body.
    pub fn describe(&self, mut failure: Failure) -> Failure {
        if self.status != 0 {
            failure.status = failure.status.or(Some(self.status));
        }
        if failure.vendor.is_none() {
            failure.vendor = Some(self.vendor.clone());
        }
        if failure.request_id.is_none() {
            failure.request_id = request_id(&self.headers);
        }
        if failure.body.is_none() && failure.code == FailureCode::MalformedStream && !self.prefix.is_empty() {
            failure.body = Some(excerpt(&self.prefix));
        }
        failure
    }

    /// Tells a stream from other bodies by the first byte. A stream begins with a field, a comment or a blank line, and not
    /// like JSON, HTML or gzip, which the platform should have decoded.
    fn sniff(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let tells = |byte: &&u8| !byte.is_ascii_whitespace() && ![0xEF, 0xBB, 0xBF].contains(*byte);
        let first = bytes.iter().find(tells).copied();
        let is_ndjson = matches!(self.framing, FramingState::Ndjson(_));
        match first {
            Some(b'<' | 0x1F) => self.body = Body::Whole(Vec::new()),
            Some(b'{' | b'[') if !is_ndjson => self.body = Body::Whole(Vec::new()),
            Some(_) => self.body = Body::Events,
            None => return self.feed(bytes),
        }
        self.handle_chunk(bytes)
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.answer.parts.is_empty() && self.prefix.len() < 4 * EXCERPT_CHARS {
            self.prefix
                .extend(bytes.iter().take(4 * EXCERPT_CHARS - self.prefix.len()));
        }
        if self.held.is_empty() {
            let taken = self.feed_events(bytes)?;
            self.held
                .extend_from_slice(bytes.get(taken..).unwrap_or_default());
            return Ok(());
        }
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(bytes);
        let taken = self.feed_events(&held)?;
        held.drain(..taken.min(held.len()));
        held.shrink_to(MAX_KEPT_BYTES);
        self.held = held;
        Ok(())
    }

    /// Takes the events that repeat the one before them, and keeps the beginning of the next. Returns true if nothing else
    /// was in `bytes`, and the bytes that are left for [`ModelCall::handle_chunk`].
    pub fn take_repeats<'a>(&mut self, bytes: &'a [u8]) -> (bool, &'a [u8]) {
        let is_ready = matches!(self.body, Body::Events) && self.lane.is_known();
        if !is_ready || !self.framing.is_between_events() {
            return (false, bytes);
        }
        if self.held.is_empty() {
            let rest = self.lane.take(bytes, &mut self.answer);
            if !is_beginning(rest) {
                return (false, rest);
            }
            self.held.extend_from_slice(rest);
            return (true, &[]);
        }
        self.held.extend_from_slice(bytes);
        let left = self.lane.take(&self.held, &mut self.answer).len();
        self.held.drain(..self.held.len().saturating_sub(left));
        self.held.shrink_to(MAX_KEPT_BYTES);
        (is_beginning(&self.held), &[])
    }

    /// Returns the number of bytes that were taken; the rest is the beginning of an event.
    fn feed_events(&mut self, bytes: &[u8]) -> Result<usize, Failure> {
        if !matches!(self.framing, FramingState::Sse(_)) {
            self.feed_long_way(bytes, false)?;
            return Ok(bytes.len());
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let begins_event = self.framing.is_between_events();
            if begins_event {
                rest = self.lane.take(rest, &mut self.answer);
                if rest.is_empty() {
                    break;
                }
            }
            let is_open = self.lane.is_open();
            let event = if is_open { split_event(rest) } else { None };
            let Some((event, after)) = event else {
                if begins_event && is_open && rest.len() <= MAX_HELD_BYTES {
                    return Ok(bytes.len() - rest.len());
                }
                self.feed_long_way(rest, false)?;
                break;
            };
            self.feed_long_way(event, begins_event)?;
            rest = after;
        }
        Ok(bytes.len())
    }

    /// Feeds framing and decoder. `is_event` says that `bytes` is one whole event.
    fn feed_long_way(&mut self, bytes: &[u8], is_event: bool) -> Result<(), Failure> {
        let ModelCall {
            decoder,
            framing,
            answer,
            lane,
            ..
        } = self;
        lane.forget();
        let mut failed = None;
        let framed = framing.feed(bytes, &mut |event, data| {
            if failed.is_some() {
                return;
            }
            decoder.take_repeat();
            failed = decoder.decode_event(event, data, answer).err();
            if is_event && let Some(repeat) = decoder.take_repeat() {
                lane.learn(bytes, data, repeat);
            }
        });
        match failed.map_or(framed, Err) {
            Ok(()) => Ok(()),
            Err(failure) => Err(self.describe(failure)),
        }
    }

    fn finish_events(&mut self) -> Result<(), Failure> {
        let held = std::mem::take(&mut self.held);
        self.feed_long_way(&held, false)?;
        let ModelCall {
            decoder,
            framing,
            answer,
            ..
        } = self;
        let mut failed = None;
        let framed = framing.finish(&mut |event, data| {
            if failed.is_none() {
                failed = decoder.decode_event(event, data, answer).err();
            }
        });
        failed
            .map_or(framed, Err)
            .and_then(|()| decoder.finish(answer))
            .map_err(|failure| self.describe(failure))
    }

    fn finish_whole(&mut self, body: &[u8], now_ms: u64) -> Result<(), Failure> {
        self.prefix = body.iter().take(4 * EXCERPT_CHARS).copied().collect();
        if matches!(body.trim_ascii().first(), Some(b'{' | b'[')) {
            return self
                .decoder
                .decode_body(body, &mut self.answer)
                .map_err(|failure| self.describe(failure));
        }
        let mut failure = decode_failure(&self.vendor, self.status, &self.headers, body, now_ms);
        failure.code = FailureCode::MalformedStream;
        failure.message = if body.trim_ascii().starts_with(b"<") {
            "The response is an HTML page, no event stream or JSON: is the URL that of the API?"
        } else {
            "The response is neither an event stream nor JSON."
        }
        .into();
        failure.retryable = false;
        Err(self.describe(failure))
    }
}

/// True when the end of an event is not in `bytes`, and they are few enough to be kept.
fn is_beginning(bytes: &[u8]) -> bool {
    bytes.len() <= MAX_HELD_BYTES && split_event(bytes).is_none()
}

fn excerpt(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .take(EXCERPT_CHARS)
        .collect()
}
