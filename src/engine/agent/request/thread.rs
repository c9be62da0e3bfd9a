//! A conversation that the vendor stores: requests that send only what is new, and what happens if the vendor does
//! not have it any more.
//!
//! With the option `serverState` each answer has a [`crate::engine::model::message::Origin::thread`]: its id, and a
//! digest of the conversation up to it. The next request, of any run and process, continues the last such answer if
//! the digest matches, and sends everything otherwise. [`Threads::continued`] decides that. [`Threads::recover_from`]
//! handles a rejection. Nothing here fails: a request with everything is always valid.

use looplet_scan::reader::Object;

use crate::engine::agent::context::AgentContext;
use crate::engine::agent::history::History;
use crate::engine::agent::history::body::Body;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::identity::tuning::to_send;
use crate::engine::json::checksum::{FNV, fnv, mixed};
use crate::engine::json::writer::decimal_u64;
use crate::engine::model::answer::{FinishReason, ModelAnswer, Part, PartKind};
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::message::Message;
use crate::engine::protocol::anthropic::thread::{LIFETIME_S, continued};

/// What is known of the threads of an agent's requests.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    /// The answer that the open request continues, or that the last one has continued.
    continued: Option<String>,
    /// The answer that cannot be continued.
    refused: Option<String>,
    /// The vendor did not find the last answer that was continued. A second time in a row turns threads off.
    has_lost: bool,
}

impl Threads {
    /// The body of the next request, if it sends only what follows an answer.
    pub fn continued(&mut self, ctx: &AgentContext<'_>, transcript: &Transcript) -> Option<Vec<u8>> {
        if self.continued.take().is_some() {
            self.has_lost = false;
        }
        let now_s = ctx.ledger.now_ms / 1000;
        let sent = to_send(transcript, ctx.identity);
        if !ctx.identity.model.has_threads() {
            return None;
        }
        let threads = sent.messages().iter().enumerate().rev();
        let thread = |message: &Message| message.origin.as_ref()?.thread.clone();
        let (at, text) = threads
            .filter_map(|(at, message)| Some((at, thread(message)?)))
            .next()?;
        let mut parts = text.rsplitn(3, '.');
        let (came_s, digest, id) = (parts.next()?, parts.next()?, parts.next()?);
        let is_held = came_s
            .parse()
            .is_ok_and(|came_s: u64| now_s < came_s + LIFETIME_S);
        let same = decimal_u64(at_address(ctx, sent.digest(at + 1)?)) == digest;
        if !is_held || !same || self.refused.as_deref() == Some(id) {
            return None;
        }
        let (without, messages) = sent.split(at + 1)?;
        let body = continued(
            &str::from_utf8(&without).ok().and_then(Object::parse)?,
            id,
            messages,
        );
        self.continued = Some(id.to_owned());
        Some(body)
    }

    /// Makes the next attempt send everything if the vendor does not continue an answer, and disables threads if the
    /// vendor does not have them. Returns false for another failure.
    pub fn recover_from(
        &mut self,
        ctx: &mut AgentContext<'_>,
        failure: &Failure,
        history: &mut History,
    ) -> bool {
        // A proxy's status is 403.
        let is_refusal = matches!(
            failure.code,
            FailureCode::InvalidRequest | FailureCode::NotFound | FailureCode::Auth
        );
        if !is_refusal || failure.status.is_none() || !ctx.identity.model.has_threads() {
            return false;
        }
        let code = failure.vendor_code.as_deref().unwrap_or_default();
        let is_lost = code == "thread_not_found";
        let continued = self.continued.take();
        let has_none = match &continued {
            Some(_) => code == "thread_unsupported_request" || (is_lost && self.has_lost),
            None => code.starts_with("thread_") || names_thread(&failure.message),
        };
        if has_none && ctx.identity.model.leave_out_threads() {
            history.transcript.forget_body();
            let why = &failure.message;
            ctx.warn(
                "server_state_not_used",
                format!(
                    "The vendor does not store this conversation, so each request sends all of it: {why}"
                ),
            );
            return true;
        }
        // Any rejection may be caused by data that the vendor or a gateway stores.
        let Some(continued) = continued else {
            return false;
        };
        self.has_lost = is_lost;
        self.refused = Some(continued);
        true
    }
}

/// True if a server reports that it does not know the field `thread`.
fn names_thread(message: &str) -> bool {
    [
        "thread:",
        "thread.",
        "`thread`",
        "'thread'",
        "\"thread\"",
        "field thread",
    ]
    .iter()
    .any(|name| message.contains(name))
}

/// A digest of a request, if the vendor is asked to store its conversation.
pub fn thread_of(ctx: &AgentContext<'_>, sent: &Transcript) -> Option<u64> {
    let messages = sent.messages().len();
    sent.digest(messages).filter(|_| ctx.identity.model.has_threads())
}

/// True if the vendor can continue this answer and its message is complete. Anthropic stores neither refusals nor
/// answers of a fallback model.
pub fn can_continue(answer: &ModelAnswer) -> bool {
    let is_whole = matches!(
        answer.finish_reason,
        Some(FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Pause)
    );
    let is_other = |part: &Part| {
        part.is_answer || (part.kind == PartKind::Raw && part.text.contains("\"type\":\"fallback\""))
    };
    is_whole && !answer.parts.iter().any(is_other)
}

/// The text of [`crate::engine::model::message::Origin::thread`] for the answer with this id, to a request with this
/// digest.
pub fn thread_after(ctx: &AgentContext<'_>, id: &str, request: u64, message: &Message) -> String {
    let model = &ctx.identity.model;
    let digest = Body::digest_with(request, model.protocol, &model.spec(ctx.config), message);
    let (digest, now_s) = (decimal_u64(at_address(ctx, digest)), ctx.ledger.now_ms / 1000);
    format!("{id}.{digest}.{now_s}")
}

fn at_address(ctx: &AgentContext<'_>, digest: u64) -> u64 {
    mixed(fnv(FNV, ctx.identity.model.url.as_bytes()), digest)
}
