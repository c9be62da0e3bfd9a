//! An answer that the provider continues without a connection: `background` of OpenAI Responses.
//! <https://platform.openai.com/docs/guides/background#streaming-a-background-response> (2026-11-23)
//!
//! After a lost connection the next attempt asks for the rest of the answer's stream, and the answer grows on. After
//! the end of a process it asks for all of it. The provider makes the answer once, and it is paid for once. An answer
//! that the provider does not know any more is requested again.

use percent_encoding::utf8_percent_encode;

use crate::engine::agent::calls::Calls;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::identity::AgentIdentity;
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::agent::request::{Requests, close_request, open_request_at, retry_after, take_back};
use crate::engine::json::writer::decimal;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::protocol::vertex::RESERVED;

impl Requests {
    /// The id of the answer that the provider continues, for the next process. `reading` is the model call that is
    /// being received.
    pub(super) fn background_id<'a>(
        &'a self,
        reading: Option<&'a ModelCall>,
        identity: &AgentIdentity,
    ) -> Option<&'a str> {
        match reading {
            Some(call) => id_of(call, identity),
            None => self.kept.background.as_deref(),
        }
    }

    /// Waits for the next attempt with the partial answer. Returns false if the provider does not continue the
    /// answer, and after the last attempt.
    pub(super) fn wait_for_rest(
        &mut self,
        ctx: &mut AgentContext<'_>,
        call: &mut ModelCall,
        failure: &Failure,
    ) -> bool {
        let is_lost = matches!(
            failure.code,
            FailureCode::Network | FailureCode::Timeout | FailureCode::MalformedStream
        );
        if !is_lost || id_of(call, ctx.identity).is_none() {
            return false;
        }
        let Some(delay_ms) = self.delay_ms(ctx, failure) else {
            return false;
        };
        close_request(call, ctx, true);
        retry_after(ctx, delay_ms, failure.clone());
        true
    }

    /// Requests the stream of the answer that the provider continues. `before` is the call with the lost connection.
    /// `None` if there is no such answer.
    pub(super) fn attach(
        &mut self,
        ctx: &mut AgentContext<'_>,
        before: Option<Box<ModelCall>>,
        calls: &mut Calls,
    ) -> Option<ModelCall> {
        let id = self.kept.background.take();
        let lost = before.as_ref().and_then(|call| call.answer.response_id.clone());
        let id = lost.or(id)?;
        let model = &ctx.identity.model;
        if self.next_model.is_some() || !(model.protocol.is_background)(model.asked()) {
            if let Some(before) = before {
                take_back(ctx, calls, before.answer.parts.len());
            }
            return None;
        }
        self.begun = None;
        let after = before.as_ref().and_then(|call| call.answer.event_number);
        let url = stream_url(&model.url, &id, after);
        let mut call = open_request_at(ctx, "GET", url, None);
        call.attach(before);
        Some(call)
    }
}

/// True if the provider does not know the answer to continue, so the whole answer is requested again.
pub(super) fn is_forgotten(call: &ModelCall, failure: &Failure) -> bool {
    call.is_attached() && matches!(failure.status, Some(400 | 404 | 405 | 409 | 410 | 422))
}

/// The id of an answer that continues without a connection.
fn id_of<'a>(call: &'a ModelCall, identity: &AgentIdentity) -> Option<&'a str> {
    let model = &identity.model;
    let id = call.answer.response_id.as_deref().filter(|id| is_segment(id))?;
    (model.protocol.is_background)(model.asked()).then_some(id)
}

/// Whether an id stays one segment of a URL. Dots climb out of the path even if they are escaped.
pub fn is_segment(id: &str) -> bool {
    !matches!(id, "" | "." | "..")
}

/// The URL of an answer's stream, after the event with this number.
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
