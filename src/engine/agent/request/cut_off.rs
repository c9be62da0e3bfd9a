//! An interrupted answer: the next request's answer starts with the received text, if the options say so.
//!
//! [`Requests::keep_begun`] saves the text after a lost connection, and [`Requests::restored`] after a process has
//! ended. At the next request, [`Requests::begun`] decides whether the model continues the text: the answer must
//! consist of one block of text, and the protocol's row must list the model. A model that refuses is asked for the
//! whole answer ([`Requests::begin_again`]). Nothing here decides whether there is another request.

use crate::engine::agent::context::AgentContext;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::identity::tuning::{encode_prefilled, to_send};
use crate::engine::agent::request::Requests;
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::model::answer::{Part, PartKind};
use crate::engine::model::config::OnCutOff;
use crate::engine::model::error::Failure;
use crate::engine::model::journal::StreamedText;
use crate::engine::model::message::Role;
use crate::engine::protocol::request::prefill::is_free;

/// The smallest text, in bytes, that the model continues. Less is cheaper to write again, and a short text that is
/// repeated may be the answer's own.
const ENOUGH_BYTES: usize = 32;

/// The received part of an answer that broke off.
#[derive(Clone, Debug, PartialEq)]
pub struct StartedAnswer {
    text: String,
    /// The answer was one block of text and nothing else.
    is_alone: bool,
}

impl StartedAnswer {
    /// The part of an answer that the journal has; `None` without any text.
    pub fn of_journal(texts: &[StreamedText]) -> Option<StartedAnswer> {
        let texts = texts
            .iter()
            .map(|text| (text.is_reasoning || text.is_other, text.text.as_str()));
        StartedAnswer::of(texts)
    }

    fn of_parts(parts: &[Part]) -> Option<StartedAnswer> {
        let is_other = |part: &Part| part.kind != PartKind::Text;
        StartedAnswer::of(parts.iter().map(|part| (is_other(part), part.text.as_str())))
    }

    fn of<'a>(mut blocks: impl Iterator<Item = (bool, &'a str)>) -> Option<StartedAnswer> {
        let (is_other, text) = blocks.next()?;
        let begun = StartedAnswer {
            // Vendors refuse a beginning with a blank at its end, and the model writes the blank again.
            text: text.trim_end().to_owned(),
            is_alone: !is_other && blocks.next().is_none(),
        };
        let is_enough = !begun.is_alone || begun.text.len() >= ENOUGH_BYTES;
        is_enough.then_some(begun)
    }
}

impl Requests {
    /// Saves the text of a failed attempt for the next one.
    pub(super) fn keep_begun(&mut self, ctx: &AgentContext<'_>, call: &ModelCall) {
        if ctx.config.answers.on_cut_off == OnCutOff::Continue {
            self.begun = StartedAnswer::of_parts(&call.answer.parts);
        }
    }

    /// The text that the model continues, and the body of the request for it. `None` if the whole answer is
    /// requested.
    pub(super) fn begun(
        &mut self,
        ctx: &mut AgentContext<'_>,
        transcript: &Transcript,
    ) -> Option<(String, Vec<u8>)> {
        let begun = self.begun.take()?;
        if ctx.config.answers.on_cut_off != OnCutOff::Continue {
            return None;
        }
        let model = &ctx.identity.model;
        let asked = model.asked();
        let messages = to_send(transcript, ctx.identity).messages();
        let is_owed = messages.last().is_some_and(|last| last.role == Role::User);
        let why = if !begun.is_alone || !is_owed {
            "it had more than text"
        } else if ctx.config.output.is_some() || !is_free(asked) {
            "a schema or toolChoice determines its form"
        } else if self.kept.refuses_begun {
            "the model has refused to"
        } else if let Some(prefill) = (model.protocol.prefill)(asked) {
            let body = encode_prefilled(transcript, ctx.identity, ctx.config, (&begun.text, &prefill));
            return Some((begun.text, body.ok()?));
        } else {
            "the model is not known to continue a text"
        };
        warn_of_restart(ctx, why);
        None
    }

    /// Requests the whole answer if the server has refused to continue a text. Returns false for any other failure.
    pub(super) fn begin_again(
        &mut self,
        ctx: &mut AgentContext<'_>,
        call: &ModelCall,
        failure: &Failure,
    ) -> bool {
        if !call.answer.has_only_begun() || !matches!(failure.status, Some(400 | 422)) {
            return false;
        }
        self.kept.refuses_begun = true;
        warn_of_restart(ctx, &failure.message);
        true
    }
}

fn warn_of_restart(ctx: &mut AgentContext<'_>, why: &str) {
    ctx.warn("not_continued", format!("{AGAIN}{why}"));
}

const AGAIN: &str = "The interrupted answer is requested again from the beginning, not continued: ";
