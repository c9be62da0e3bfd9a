//! An answer that the provider goes on with when nobody listens: `background` of OpenAI Responses.
//! <https://platform.openai.com/docs/guides/background#streaming-a-background-response> (2026-11-23)
//!
//! After a lost connection the next attempt asks for the rest of the answer's stream, and the answer grows on. After
//! the end of a process it asks for all of it. The provider makes the answer once, and it is paid for once. An answer
//! that the provider does not know any more is asked for anew.

use percent_encoding::utf8_percent_encode;

use crate::engine::agent::Agent;
use crate::engine::agent::desk::Desk;
use crate::engine::agent::machine::step::Now;
use crate::engine::agent::request::close_request;
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::agent::who::Who;
use crate::engine::json::writer::decimal;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::journal::Step;
use crate::engine::protocol::vertex::RESERVED;

impl Agent {
    /// The id of the answer that the provider goes on with, for the process that comes after this one.
    pub fn background_id(&self, who: &Who) -> Option<&str> {
        match &self.machine.now {
            Now::Reading(call) => id_of(call, who),
            _ => self.requests.kept.background.as_deref(),
        }
    }

    /// Waits for the next attempt with the answer as it stands. Returns false for an answer that the provider does
    /// not go on with, and after the last attempt.
    pub(super) fn wait_for_rest(&mut self, desk: &mut Desk<'_>, failure: &Failure) -> bool {
        let Now::Reading(call) = &mut self.machine.now else {
            return false;
        };
        let is_lost = matches!(
            failure.code,
            FailureCode::Network | FailureCode::Timeout | FailureCode::MalformedStream
        );
        if !is_lost || id_of(call, desk.who).is_none() {
            return false;
        }
        let (policy, seed) = (&desk.config.retry, desk.ledger.seed);
        let tries = &mut self.requests.kept.tries;
        let Some(delay_ms) = tries.delay_ms(policy, desk.who.kept.attempt, failure, seed) else {
            return false;
        };
        close_request(call, desk, true);
        self.retry_after(desk, delay_ms, failure.clone());
        true
    }

    /// Asks for the stream of the answer that the provider goes on with. `None` if there is none.
    pub(crate) fn attach(&mut self, desk: &mut Desk<'_>) -> Option<ModelCall> {
        let before = match self.machine.leave() {
            Now::Reading(call) => Some(call),
            _ => None,
        };
        self.machine.enter(Step::Ask, Now::Sending);
        let id = self.requests.kept.background.take();
        let id = before
            .as_ref()
            .and_then(|call| call.answer.response_id.clone())
            .or(id)?;
        let model = &desk.who.model;
        if self.requests.next_model.is_some() || !(model.protocol.is_background)(model.asked()) {
            if let Some(before) = before {
                self.take_back_parts(desk, before.answer.parts.len());
            }
            return None;
        }
        self.requests.begun = None;
        let after = before.as_ref().and_then(|call| call.answer.event_number);
        let url = stream_url(&model.url, &id, after);
        let mut call = self.open_request_at(desk, "GET", url);
        call.attach(before);
        Some(call)
    }

    /// Asks for the whole answer, if the provider does not know the one that was to go on. Returns false for any
    /// other failure.
    pub(super) fn ask_anew(&mut self, desk: &mut Desk<'_>, failure: &Failure) -> bool {
        let is_attached = matches!(&self.machine.now, Now::Reading(call) if call.is_attached());
        if !is_attached || !matches!(failure.status, Some(400 | 404 | 405 | 409 | 410 | 422)) {
            return false;
        }
        self.take_back(desk);
        self.machine.enter(Step::Ask, Now::Sending);
        let what = "The answer that the provider went on with is asked for anew: ";
        desk.warn("not_continued", format!("{what}{}", failure.message));
        self.send(desk);
        true
    }
}

/// The id of an answer that goes on without a connection.
fn id_of<'a>(call: &'a ModelCall, who: &Who) -> Option<&'a str> {
    let model = &who.model;
    let id = call.answer.response_id.as_deref().filter(|id| is_segment(id))?;
    (model.protocol.is_background)(model.asked()).then_some(id)
}

/// Whether an id stays one segment of a URL. Dots climb out of the path even if they are escaped.
pub fn is_segment(id: &str) -> bool {
    !matches!(id, "" | "." | "..")
}

/// The URL of an answer's stream, behind the event with this number.
fn stream_url(url: &str, id: &str, after: Option<u64>) -> String {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let mut stream = format!("{path}/");
    stream.extend(utf8_percent_encode(id, RESERVED));
    stream.push('?');
    if !query.is_empty() {
        stream.push_str(query);
        stream.push('&');
    }
    stream.push_str("stream=true");
    if let Some(number) = after {
        stream.push_str("&starting_after=");
        stream.push_str(&decimal(number as usize));
    }
    stream
}
