//! One HTTP request to a model, and the answer that its response becomes.
//!
//! Owns the answer under assembly and its reader. The order is [`ModelCall::handle_head`], then
//! [`ModelCall::handle_chunk`] for each chunk, then [`ModelCall::handle_end`]. A failure ends the attempt; the parts
//! that have arrived stay in [`ModelCall::answer`].

use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::json::writer::decimal;
use crate::engine::model::answer::ModelAnswer;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::output::EffectId;
use crate::engine::protocol::failure::{decode_failure, request_id};
use crate::engine::protocol::framing::too_long;
use crate::engine::protocol::reader::AnswerReader;
use crate::engine::protocol::{Protocol, likeness};

/// The characters of an unreadable body that a failure shows.
const EXCERPT_CHARS: usize = 500;

/// The form of a response's body.
#[derive(Clone, Debug)]
enum BodyForm {
    /// No byte that determines the form was received yet.
    Unknown,
    Events,
    /// One JSON value.
    Whole(Vec<u8>),
    /// The body of a response with a status other than 2xx, or one that is not an answer, such as a page or a text.
    Error(Vec<u8>),
}

/// One attempt.
#[derive(Clone, Debug)]
pub struct ModelCall {
    /// `None` while waiting for the next attempt.
    pub request: Option<EffectId>,
    pub answer: ModelAnswer,
    status: u16,
    headers: Vec<(String, String)>,
    received_bytes: usize,
    /// The bytes of an error's body that are read, so that a hostile one does not fill memory.
    pub max_error_bytes: usize,
    /// The bytes of a body that is one JSON value; one event has an equal bound.
    max_event_bytes: usize,
    stream: bool,
    body: BodyForm,
    /// The first bytes, as long as no event has been read.
    prefix: Vec<u8>,
    reader: AnswerReader,
    /// The body of the request, if it is not that of the transcript.
    pub own_body: Option<Vec<u8>>,
}

impl ModelCall {
    pub fn new(request: EffectId, protocol: &Protocol, stream: bool, join_deltas: bool) -> ModelCall {
        ModelCall {
            request: Some(request),
            answer: ModelAnswer::new(join_deltas),
            status: 0,
            headers: Vec::new(),
            received_bytes: 0,
            max_error_bytes: usize::MAX,
            max_event_bytes: usize::MAX,
            stream,
            body: BodyForm::Unknown,
            prefix: Vec::new(),
            reader: AnswerReader::new(protocol),
            own_body: None,
        }
    }

    /// Starts the answer with the text of an interrupted one, which this request continues.
    pub fn continue_from(&mut self, text: &str, body: Vec<u8>) {
        self.answer.begin_with(text);
        self.own_body = Some(body);
    }

    /// Makes this a request for the stream of an existing answer, and appends to the part that was received.
    pub fn attach(&mut self, before: Option<Box<ModelCall>>) {
        self.own_body = Some(Vec::new());
        if let Some(before) = before {
            self.answer = before.answer;
            self.reader.continue_from(before.reader);
        }
    }

    /// True for a request for the stream of an existing answer.
    pub fn is_attached(&self) -> bool {
        self.own_body.as_ref().is_some_and(Vec::is_empty)
    }

    /// The body of the request, if it is not that of the transcript.
    pub fn own_body(&self) -> Option<&[u8]> {
        self.own_body.as_deref()
    }

    /// Sets the maximum number of bytes of one event, and of a body that is not streamed.
    pub fn limit_events(&mut self, max_bytes: usize) {
        self.max_event_bytes = max_bytes;
        self.reader.limit_events(max_bytes);
    }

    pub fn handle_head(&mut self, status: u16, headers: Vec<(String, String)>) {
        self.status = status;
        self.headers = headers;
        if !(200..300).contains(&status) {
            self.body = BodyForm::Error(Vec::new());
        }
    }

    /// # Errors
    /// The failure that the stream reports, or `malformed_stream`.
    pub fn handle_chunk(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.received_bytes += bytes.len();
        self.read(bytes)
    }

    fn read(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.body {
            BodyForm::Error(_) => {
                self.take_error(bytes);
                Ok(())
            }
            BodyForm::Whole(body) => {
                body.extend_from_slice(bytes);
                if body.len() > self.max_event_bytes {
                    return Err(too_long("The body", self.max_event_bytes));
                }
                Ok(())
            }
            BodyForm::Events => self.feed(bytes),
            BodyForm::Unknown => self.sniff(bytes),
        }
    }

    /// True if the status is not 2xx, or if the body cannot be an answer. The body is then an error.
    pub fn is_refused(&self) -> bool {
        matches!(self.body, BodyForm::Error(_))
    }

    /// True when the server answered with a redirect. Its body does not matter.
    pub fn is_redirected(&self) -> bool {
        (300..400).contains(&self.status)
    }

    /// True when more bytes of an error would not be read.
    pub fn has_enough(&self) -> bool {
        matches!(&self.body, BodyForm::Error(body) if body.len() >= self.max_error_bytes)
    }

    /// Stores the first bytes of an error's body.
    pub fn take_error(&mut self, bytes: &[u8]) {
        if let BodyForm::Error(body) = &mut self.body {
            let room = self.max_error_bytes.saturating_sub(body.len());
            body.extend(bytes.iter().take(room));
        }
    }

    /// Handles the end of the body. The answer is then complete.
    ///
    /// # Errors
    /// The vendor's error, or `malformed_stream` for a body that is unreadable or incomplete, or that is an answer of
    /// another protocol in which nothing was found.
    pub fn handle_end(&mut self, now_ms: u64, asked: &Protocol) -> Result<(), Failure> {
        self.finish(now_ms)?;
        if self.answer.parts.is_empty() && likeness::another(&self.prefix, asked).is_some() {
            return Err(Failure::new(FailureCode::MalformedStream, "The answer is empty."));
        }
        Ok(())
    }

    fn finish(&mut self, now_ms: u64) -> Result<(), Failure> {
        match std::mem::replace(&mut self.body, BodyForm::Unknown) {
            BodyForm::Error(_) if self.is_redirected() => Err(redirected(&self.headers)),
            BodyForm::Error(body) if (200..300).contains(&self.status) => self.finish_whole(&body, now_ms),
            BodyForm::Error(body) => Err(decode_failure(self.status, &self.headers, &body, now_ms)),
            BodyForm::Whole(body) => self.finish_whole(&body, now_ms),
            BodyForm::Events => self.finish_events(),
            BodyForm::Unknown => Err(Failure::new(
                FailureCode::MalformedStream,
                "The response has an empty body.",
            )),
        }
    }

    /// Adds the facts of the request and of its response, and the start of an unreadable body. An answer of another
    /// protocol is not asked for again.
    pub fn describe(&self, mut failure: Failure, model: &ActiveModel) -> Failure {
        failure = model.describe(failure);
        // A successful answer from inside the process has no server's status.
        if self.status >= 300 || (self.status != 0 && failure.url.is_some()) {
            failure.status = failure.status.or(Some(self.status));
        }
        failure.request_id = failure.request_id.or_else(|| request_id(&self.headers));
        if failure.code != FailureCode::MalformedStream || self.prefix.is_empty() {
            return failure;
        }
        if self.answer.parts.is_empty()
            && let Some(advice) = likeness::another(&self.prefix, model.protocol)
        {
            failure.message = advice;
            failure.retryable = false;
        }
        failure.body = failure.body.or_else(|| Some(excerpt(&self.prefix)));
        failure
    }

    /// The failure of a lost connection, with the number of received bytes if the response had started.
    pub fn broken(&self, mut failure: Failure) -> Failure {
        if failure.code == FailureCode::Network && self.status != 0 {
            let bytes = decimal(self.received_bytes);
            failure.message = format!(
                "the answer was interrupted after {bytes} bytes: {}",
                failure.message
            );
        }
        failure
    }

    /// Determines the form of a body from its first byte. A stream begins with a field, a comment or a blank line,
    /// and not like JSON, HTML or gzip, which the platform should have decoded. A binary stream begins with a zero,
    /// the first byte of a length.
    fn sniff(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let tells = |byte: &&u8| !byte.is_ascii_whitespace() && ![0xEF, 0xBB, 0xBF].contains(*byte);
        let Some(first) = bytes.iter().find(tells) else {
            return if self.stream { self.feed(bytes) } else { Ok(()) };
        };
        let is_stream = self.stream && self.reader.may_begin_with(*first);
        self.body = match first {
            _ if is_stream => BodyForm::Events,
            b'{' | b'[' => BodyForm::Whole(Vec::new()),
            _ => BodyForm::Error(Vec::new()),
        };
        self.read(bytes)
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.answer.parts.is_empty() && self.prefix.len() < 4 * EXCERPT_CHARS {
            self.prefix
                .extend(bytes.iter().take(4 * EXCERPT_CHARS - self.prefix.len()));
        }
        self.reader.feed(bytes, &mut self.answer)?;
        self.check_size()
    }

    /// # Errors
    /// An answer that is beyond a limit. Another attempt would be as long.
    fn check_size(&self) -> Result<(), Failure> {
        let Some(why) = self.answer.excess() else {
            return Ok(());
        };
        let mut failure = Failure::new(FailureCode::MalformedStream, why);
        failure.retryable = false;
        Err(failure)
    }

    fn finish_events(&mut self) -> Result<(), Failure> {
        self.reader.finish(&mut self.answer)
    }

    fn finish_whole(&mut self, body: &[u8], now_ms: u64) -> Result<(), Failure> {
        self.prefix = body.iter().take(4 * EXCERPT_CHARS).copied().collect();
        if matches!(body.trim_ascii().first(), Some(b'{' | b'[')) {
            return self.reader.read_body(body, &mut self.answer);
        }
        let mut failure = decode_failure(self.status, &self.headers, body, now_ms);
        failure.code = FailureCode::MalformedStream;
        failure.message = if body.trim_ascii().starts_with(b"<") {
            "The response is an HTML page, not an event stream or JSON. Check that the URL is that of the API."
        } else {
            "The response is neither an event stream nor JSON."
        }
        .into();
        // A gateway's failure may be plain text.
        failure.retryable = !matches!(body.trim_ascii().first(), Some(b'<' | 0x1F));
        Err(failure)
    }
}

/// The header with which the shell reports that a `fetch` has followed a redirect.
const FOLLOWED: &str = "x-looplet-followed";

/// The failure of a redirect. `location` is the origin of its target.
fn redirected(headers: &[(String, String)]) -> Failure {
    let location = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("location"));
    let target = location.map_or("another address", |(_, origin)| origin);
    let has_followed = headers.iter().any(|(name, _)| name == FOLLOWED);
    let message = if has_followed {
        [
            "Your fetch has followed a redirect to ",
            target,
            ", and has sent the key there. Treat the key as leaked. Pass init.redirect on, and set baseUrl to the final address.",
        ]
    } else {
        [
            "The server redirects to ",
            target,
            ". looplet does not follow redirects, because they would receive the key. Set baseUrl to the final address.",
        ]
    };
    Failure::new(FailureCode::Redirected, message.concat())
}

fn excerpt(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .take(EXCERPT_CHARS)
        .collect()
}
