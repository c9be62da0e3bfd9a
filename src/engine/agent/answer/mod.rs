//! Turns a complete answer into a message, and checks it with guardrails and against its schema.
//!
//! `answer_events.rs` emits an answer while it streams. [`message`] reads the parts of a complete one. [`guardrail`]
//! asks about the message. [`structured`] checks it against its schema, which the vendor or a tool enforces as
//! [`output_format`] has chosen. [`Answers`] owns the data of the last answer and the output. Nothing here sends a
//! request or takes a step of the agent.

pub(crate) mod guardrail;
pub(crate) mod message;
pub mod output_format;
pub(crate) mod structured;

use crate::engine::agent::context::AgentContext;
use crate::engine::model::answer::{FinishReason, ModelAnswer, PartKind};
use crate::engine::model::config::OnOutputLimit;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::journal::{AnswersState, Reply};
use crate::engine::model::message::{Block, Json};
use crate::engine::model::usage::add_report;

/// The message that makes the model continue an answer that was cut off.
const CONTINUATION_PROMPT: &str = "Your answer was cut off at the limit of output tokens. Continue exactly where it stopped, without repeating anything.";

/// The last answer of an agent, and its result.
#[derive(Clone, Default)]
pub struct Answers {
    kept: AnswersState,
}

impl Answers {
    /// Restores the answers of a checkpoint, which leaves out a text that is in the messages.
    pub fn restored(mut kept: AnswersState, shown: impl FnOnce() -> String) -> Answers {
        kept.reply.text.get_or_insert_with(shown);
        Answers { kept }
    }

    pub fn kept(&self) -> &AnswersState {
        &self.kept
    }

    /// The facts of the last answer.
    pub fn reply(&self) -> &Reply {
        &self.kept.reply
    }

    /// The text of the streaming answer, or else of the last answer that brought any.
    pub fn text_with(&self, streaming: Option<&ModelAnswer>) -> String {
        let reply = &self.kept.reply;
        match streaming {
            Some(answer) if !answer.parts.is_empty() => {
                format!("{}{}", reply.text_before, text_of_parts(answer))
            }
            _ => reply.text().to_owned(),
        }
    }

    /// The last answer that matches its schema.
    pub fn output(&self) -> Option<&Json> {
        self.kept.output.as_ref()
    }

    /// Takes out the last text and the last output.
    pub fn take(&mut self) -> (String, Option<Json>) {
        let text = self.kept.reply.text.take();
        (text.unwrap_or_default(), self.kept.output.take())
    }

    /// Clears the data before another answer, except its texts.
    pub fn begin(&mut self) {
        let reply = &mut self.kept.reply;
        *reply = Reply {
            text: reply.text.take(),
            text_before: std::mem::take(&mut reply.text_before),
            ..Reply::default()
        };
    }

    /// Counts the usage of a model call that has ended, including a failed one.
    pub fn count(&mut self, ctx: &mut AgentContext<'_>, answer: &mut ModelAnswer) {
        let usage = answer.usage.take();
        let accounts = &mut ctx.ledger.accounts;
        accounts.count(ctx.identity.agent, usage.as_ref());
        let asked = &ctx.identity.model.config.model;
        let parts = std::mem::take(&mut answer.usage_by_model);
        for (model, usage) in &parts {
            accounts.count_model(model.as_ref().unwrap_or(asked), Some(usage));
        }
        let has_answered = usage.is_some() || !answer.parts.is_empty() || answer.finish_reason.is_some();
        if parts.is_empty() && has_answered {
            accounts.count_model(asked, usage.as_ref());
        }
        add_report(&mut self.kept.reply.usage, usage.as_ref());
    }

    /// Takes the ids of a response, complete or not.
    pub fn note_response(&mut self, answer: &mut ModelAnswer) {
        self.kept.reply.response_id = answer.response_id.take();
        self.kept.reply.response_model = answer.model.take();
    }

    /// Clears the previous text after the answer was added to the history.
    pub fn note_taken(&mut self) {
        self.kept.reply.text_before = String::new();
    }

    /// Returns true if the vendor has paused its answer and continues when asked.
    pub fn is_paused(&self) -> bool {
        self.kept.reply.finish_reason == Some(FinishReason::Pause)
    }

    /// Returns true if the calls of the answer must not run, because its finish reason says that it is complete.
    pub fn is_final(&self, ctx: &AgentContext<'_>) -> bool {
        // While the model calls tools, its structured answer is still missing.
        let may_end = ctx.config.answers.strict_stop_reason && ctx.config.output.is_none();
        may_end && self.kept.reply.finish_reason == Some(FinishReason::Stop)
    }

    /// Returns true if the answer reached the output limit and the model must continue it.
    pub fn needs_continuation(&self, ctx: &AgentContext<'_>) -> bool {
        self.kept.reply.finish_reason == Some(FinishReason::Length)
            && ctx.config.answers.on_max_tokens == OnOutputLimit::Continue
            && !self.kept.reply.text().is_empty()
            && Some(ctx.identity.kept.iteration) < ctx.limits().max_iterations
    }

    /// The text that asks the model to continue the answer. The text of this answer precedes that of the next one.
    pub fn continuation_prompt(&mut self) -> Block {
        self.kept.reply.text_before = self.kept.reply.text().to_owned();
        Block::notice(CONTINUATION_PROMPT)
    }

    /// The failure for a finish reason that the options do not accept.
    pub fn refused_finish(&self, ctx: &AgentContext<'_>) -> Option<Failure> {
        let raw = self.kept.reply.raw_finish_reason.as_deref().unwrap_or("none");
        let message = match self.kept.reply.finish_reason {
            Some(FinishReason::Length) if ctx.config.answers.on_max_tokens == OnOutputLimit::Error => {
                format!(
                    "The answer was cut off at the limit of output tokens ({raw}). Raise maxOutputTokens, or set answers.onMaxTokens to \"return\" or \"continue\"."
                )
            }
            Some(FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Pause) => return None,
            _ if ctx.config.answers.strict_stop_reason => format!("unexpected stop_reason: {raw}"),
            _ => return None,
        };
        let mut failure = ctx
            .identity
            .model
            .describe(Failure::new(FailureCode::FinishReason, message));
        failure.add_facts();
        Some(failure)
    }
}

impl Reply {
    /// The text of the last answer that brought any.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }
}

/// The text of an answer so far.
fn text_of_parts(answer: &ModelAnswer) -> String {
    let texts = answer
        .parts
        .iter()
        .filter(|part| matches!(part.shown_kind(), PartKind::Text | PartKind::Refusal));
    texts.map(|part| part.text.as_str()).collect()
}
