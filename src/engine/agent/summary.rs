//! Shortens a history before a request, or after the vendor has rejected it as too long.
//!
//! A summary is a separate model call within the iteration that needs it. It is counted, retried and aborted like any
//! other call, but it is not an iteration. There is at most one per iteration. If a summary fails, the built-in one
//! replaces it, or the run ends. There is never a second summary. If the window remains too full, the run continues,
//! and the next summary waits until it would gain more.
//!
//! The model's vendor writes it where it can: a summary that it has signed preserves the reasoning after it. If the
//! vendor writes none, the model does. If the vendor refuses, it is not asked again in this run.
//!
//! The order is `fit`, [`Summary::wanted`], the `PreCompact` hooks ([`Summary::ask_hooks`]), the summary itself
//! ([`Summary::ask`] or [`Summary::send`]), [`Summary::take_place`], and the `PostCompact` hooks. Then the request is
//! sent.

use crate::engine::agent::answer::Answers;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::history::{History, NOT_SHORTER};
use crate::engine::agent::next::Next;
use crate::engine::agent::questions::points::{BUILT_IN_SUMMARY, NO_SUMMARY};
use crate::engine::agent::questions::{About, Ask};
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::agent::request::{close_request, open_request_at, retry_after};
use crate::engine::model::answer::{FinishReason, ModelAnswer, PartKind};
use crate::engine::model::config::{ModelConfig, ToolChoice};
use crate::engine::model::error::{ConfigError, Failure, FailureCode};
use crate::engine::model::event::{CompactTrigger, EventKind, SummaryBy};
use crate::engine::model::journal::{Summarized, Tries};
use crate::engine::model::json::word;
use crate::engine::model::message::{Json, Message};
use crate::engine::model::output::EffectId;
use crate::engine::model::question::{Facts, Point};
use crate::engine::protocol::request::prefix::summary::{SummaryForm, signed};
use crate::engine::protocol::{Clearing, RequestSpec};

/// A summary in progress.
#[derive(Clone)]
pub struct Summary {
    trigger: CompactTrigger,
    /// The number of messages that are summarised.
    cut: usize,
    pre_tokens: u64,
    started_ms: u64,
    tries: Tries,
    instructions: Option<String>,
    /// Who writes it.
    by: SummaryBy,
    /// The summary as the vendor has made it.
    signed: Option<Json>,
    /// What the vendor's summary needs to know of its request.
    prefix: Option<String>,
    /// The failure that ends the run if the summary gains nothing.
    overflow: Option<Failure>,
    /// The model that writes it.
    call: Option<Box<ModelCall>>,
    /// Derived data, which a restored run computes again.
    body: Vec<u8>,
}

impl Summary {
    /// Starts the summary that was requested or that the window needs. `None` if there is nothing to summarise.
    pub fn wanted(ctx: &mut AgentContext<'_>, history: &mut History) -> Option<Box<Summary>> {
        let (trigger, instructions) = history.take_wanted(ctx)?;
        Summary::begin(ctx, history, trigger, instructions, None)
    }

    /// Starts a summary because a request was too long. If the summary gains nothing, the failure ends the run.
    pub fn of_overflow(
        ctx: &mut AgentContext<'_>,
        history: &History,
        failure: Failure,
    ) -> Option<Box<Summary>> {
        Summary::begin(ctx, history, CompactTrigger::Overflow, None, Some(failure))
    }

    fn begin(
        ctx: &mut AgentContext<'_>,
        history: &History,
        trigger: CompactTrigger,
        instructions: Option<String>,
        overflow: Option<Failure>,
    ) -> Option<Box<Summary>> {
        let cut = history.cut(ctx)?;
        let pre_tokens = history.tokens(ctx);
        let instructions = instructions.or_else(|| ctx.config.context.instructions.clone());
        ctx.emit(EventKind::CompactStart { trigger, pre_tokens });
        Some(Box::new(Summary {
            trigger,
            cut,
            pre_tokens,
            started_ms: ctx.ledger.now_ms,
            tries: Tries::after(ctx.identity.kept.attempt),
            by: author(ctx, history, cut, instructions.is_some()),
            instructions,
            signed: None,
            prefix: None,
            overflow,
            call: None,
            body: Vec::new(),
        }))
    }

    /// The model call that writes it.
    pub fn call(&self) -> Option<&ModelCall> {
        self.call.as_deref()
    }

    pub fn call_mut(&mut self) -> Option<&mut ModelCall> {
        self.call.as_deref_mut()
    }

    /// Returns true if this is the request for the summary.
    pub fn is_asked_by(&self, request: EffectId) -> bool {
        let call = self.call.as_ref();
        call.is_some_and(|call| call.request == Some(request))
    }

    /// Asks the `PreCompact` hooks. Returns false if there are none.
    pub fn ask_hooks(&self, ctx: &mut AgentContext<'_>) -> bool {
        let (point, name) = (Point::PreCompact, word(self.trigger));
        if !ctx.has_hooks(point, &name) {
            return false;
        }
        let facts = Facts::Compact {
            trigger: self.trigger,
            pre_tokens: self.pre_tokens,
            instructions: self.instructions.as_deref(),
        };
        ctx.ask(Ask::new(point, About::Phase, &facts).named(&name));
        true
    }

    /// Asks your function for the summary. Returns false if the model is to write it.
    pub fn ask(&self, ctx: &mut AgentContext<'_>, messages: &[Message]) -> bool {
        if self.by != SummaryBy::Host {
            return false;
        }
        let facts = Facts::Summarize {
            trigger: self.trigger,
            instructions: self.instructions.as_deref(),
            messages: messages.get(..self.cut).unwrap_or(messages),
        };
        ctx.ask(Ask::new(Point::Summarize, About::Phase, &facts));
        true
    }

    /// Sends the request for the summary, also as a retry. Returns false if there is no such request.
    pub fn send(&mut self, ctx: &mut AgentContext<'_>, transcript: &Transcript) -> bool {
        ctx.identity.kept.attempt += 1;
        if let Err(error) = self.body(ctx, transcript) {
            let message = unwritten("its request cannot be made: ", &error.to_text());
            ctx.warn(NO_SUMMARY, message);
            return false;
        }
        ctx.identity.model.allow_clearing(ctx.config);
        let mut url = ctx.identity.model.url.clone();
        if let Some(form) = self.form(ctx) {
            url = with_path(&url, form.path);
            ctx.identity.model.allow_summary(form);
        }
        let model = &ctx.identity.model;
        if let Some(form) = transcript.signed_summary(model.protocol, &model.config) {
            ctx.identity.model.allow_summary(form);
        }
        self.call = Some(Box::new(open_request_at(ctx, "POST", url, None)));
        true
    }

    /// How the vendor writes it; `None` if someone else does.
    fn form(&self, ctx: &AgentContext<'_>) -> Option<&'static SummaryForm> {
        let form = ctx.identity.model.summary_form();
        form.filter(|_| self.by == SummaryBy::Vendor)
    }

    /// Lets the model write the summary because its vendor has not.
    fn leave_to_model(&mut self, ctx: &mut AgentContext<'_>, why: &str, error: Option<Failure>) {
        let kind = EventKind::Warning {
            code: "vendor_summary_failed".into(),
            message: format!("The vendor has not written a summary, so the model writes one: {why}"),
            error,
        };
        ctx.emit(kind);
        self.by = SummaryBy::Model;
        self.body = Vec::new();
        self.tries = Tries::after(ctx.identity.kept.attempt);
    }

    /// The body of the request: the conversation as it was sent, and the prompt for the summary.
    pub fn body(&mut self, ctx: &AgentContext<'_>, transcript: &Transcript) -> Result<&[u8], ConfigError> {
        let model = &ctx.identity.model;
        if self.body.is_empty() {
            let mut prompt = PROMPT.to_owned();
            if let Some(instructions) = &self.instructions {
                prompt.push_str("\n\n");
                prompt.push_str(instructions);
            }
            if let Some(form) = self.form(ctx) {
                // Instructions replace the vendor's own prompt.
                let prompt = self.instructions.is_some().then_some(prompt.as_str());
                let spec = RequestSpec {
                    clearing: Clearing::default(),
                    ..model.spec(ctx.config)
                };
                (self.body, self.prefix) =
                    transcript.body_of_summary(model.protocol, &spec, self.cut, (form, prompt))?;
                return Ok(&self.body);
            }
            let mut config = ModelConfig {
                response_format: None,
                tool_choice: None,
                ..model.asked().clone()
            };
            // Vendors reject a history with calls if their tools are not in the request.
            if !ctx.config.tools.is_empty() {
                config.tool_choice = Some(ToolChoice::None);
            }
            let spec = RequestSpec {
                model: &config,
                ..model.spec(ctx.config)
            };
            self.body = transcript.body_about(model.protocol, &spec, self.cut, &prompt)?;
        }
        Ok(&self.body)
    }

    /// The text of a summary with a complete response. Empty if the answer cannot be a summary. `None` if the model
    /// must be asked for it.
    pub fn finished(&mut self, ctx: &mut AgentContext<'_>, answers: &mut Answers) -> Option<String> {
        let mut call = self.call.take()?;
        answers.count(ctx, &mut call.answer);
        if let Some(form) = self.form(ctx) {
            let raw = call.answer.parts.iter().filter(|part| part.kind == PartKind::Raw);
            let Some((text, items)) = raw.filter_map(|part| (form.read)(&part.text)).next() else {
                // https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand (2026-09-30)
                let reason = call.answer.raw_finish_reason.as_deref().unwrap_or("unknown");
                self.leave_to_model(ctx, &format!("its answer ended with {reason}."), None);
                return None;
            };
            let model = &ctx.identity.model;
            self.signed = Some(signed(
                model.protocol,
                &model.config,
                (&items, text.is_empty()),
                self.prefix.as_deref(),
            ));
            return Some(text);
        }
        if let Some(why) = no_summary(&call.answer) {
            ctx.warn(NO_SUMMARY, unwritten(why, ""));
            return Some(String::new());
        }
        let parts = call.answer.parts.iter();
        let texts = parts.filter(|part| part.kind == PartKind::Text);
        Some(texts.map(|part| part.text.as_str()).collect())
    }

    /// Retries a failed request.
    pub fn retry(&mut self, ctx: &mut AgentContext<'_>, failure: Failure, answers: &mut Answers) -> Retry {
        if let Some(mut call) = self.call.take() {
            close_request(&mut call, ctx, true);
            answers.count(ctx, &mut call.answer);
        }
        let (policy, seed) = (&ctx.config.retry, ctx.ledger.seed);
        let attempt = ctx.identity.kept.attempt;
        if let Some(delay_ms) = self.tries.delay_ms(policy, attempt, &failure, seed) {
            retry_after(ctx, delay_ms, failure);
            return Retry::Later;
        }
        let is_refused = matches!(failure.code, FailureCode::InvalidRequest | FailureCode::NotFound);
        // Where the vendor is out of reach or finds the conversation too long, so does the model.
        let may_help = is_refused || matches!(failure.code, FailureCode::Server | FailureCode::Overloaded);
        if self.by == SummaryBy::Vendor && may_help {
            if is_refused {
                let model = ctx.identity.model.config.model.clone();
                ctx.ledger.without_summaries.push(model);
            }
            let why = failure.message.clone();
            self.leave_to_model(ctx, &why, Some(failure));
            return Retry::Now;
        }
        let kind = EventKind::Warning {
            code: NO_SUMMARY.into(),
            message: unwritten("the model call failed: ", &failure.message),
            error: Some(failure),
        };
        ctx.emit(kind);
        Retry::Never
    }

    /// Gives up the summary because a hook has blocked it. The request is sent unchanged. If the vendor has rejected
    /// it as too long, its failure remains.
    pub fn block(self, ctx: &mut AgentContext<'_>, history: &mut History, why: Option<String>) -> Next {
        let kept = || "a hook blocked the summary".into();
        ctx.warn("compaction_blocked", why.unwrap_or_else(kept));
        history.note_summary(ctx, Summarized::Blocked);
        self.overflow.map_or(Next::Send, Next::Fail)
    }

    /// Replaces the summarised messages with a text.
    pub fn take_place(self, ctx: &mut AgentContext<'_>, history: &mut History, text: &str) -> Next {
        let signed = self.signed.filter(|_| self.by == SummaryBy::Vendor);
        let Some((text, by)) = history.sum_up(self.cut, text, self.by, signed) else {
            history.note_summary(ctx, Summarized::NotShorter);
            if let Some(mut failure) = self.overflow {
                failure.message.push_str(NOT_SHORTER);
                return Next::Fail(failure);
            }
            let message = "A summary would not be shorter than the messages that it replaces.";
            ctx.warn(NO_SUMMARY, message.into());
            return Next::Send;
        };
        let duration_ms = ctx.ledger.now_ms.saturating_sub(self.started_ms);
        history.emit_boundary(ctx, (self.trigger, Some(by)), self.pre_tokens, duration_ms);
        history.note_summary(ctx, Summarized::Shorter);
        ask_about_summary(ctx, self.trigger, &text)
    }
}

/// What follows a failed request for a summary.
pub enum Retry {
    /// It is sent again after a delay.
    Later,
    /// The model is asked.
    Now,
    /// The built-in summary takes the place.
    Never,
}

/// Who writes a summary.
fn author(ctx: &AgentContext<'_>, history: &History, cut: usize, has_instructions: bool) -> SummaryBy {
    let (context, model) = (&ctx.config.context, &ctx.identity.model);
    // A request for a summary of the vendor cannot hide old calls.
    let is_refused =
        ctx.ledger.without_summaries.contains(&model.config.model) || history.needs_clearing(ctx, cut);
    let form = model
        .summary_form()
        .filter(|form| form.takes_instructions || !has_instructions);
    match form {
        _ if context.ask => SummaryBy::Host,
        Some(_) if context.by_vendor && !is_refused => SummaryBy::Vendor,
        _ => SummaryBy::Model,
    }
}

/// The URL with this at the end of its path.
fn with_path(url: &str, path: &str) -> String {
    match url.split_once('?') {
        Some((before, query)) => format!("{before}{path}?{query}"),
        None => format!("{url}{path}"),
    }
}

/// Calls the `PostCompact` hooks with the summary before the request is sent.
fn ask_about_summary(ctx: &mut AgentContext<'_>, trigger: CompactTrigger, summary: &str) -> Next {
    let (point, name) = (Point::PostCompact, word(trigger));
    if !ctx.has_hooks(point, &name) {
        return Next::GuardInput;
    }
    let facts = Facts::Compacted { trigger, summary };
    ctx.ask(Ask::new(point, About::Phase, &facts).named(&name));
    Next::Wait
}

/// Why an answer of the model must not replace a history, if so.
fn no_summary(answer: &ModelAnswer) -> Option<&'static str> {
    let has = |kind| answer.parts.iter().any(|part| part.kind == kind);
    match answer.finish_reason {
        Some(FinishReason::Refusal | FinishReason::ContentFilter) => Some(REFUSED),
        _ if has(PartKind::Refusal) => Some(REFUSED),
        Some(FinishReason::Length | FinishReason::Pause) => Some("the model's summary was cut off."),
        _ if has(PartKind::ToolCall) => Some("the model called tools instead."),
        _ => None,
    }
}

const REFUSED: &str = "the model refused to write one.";

fn unwritten(what: &str, why: &str) -> String {
    format!("{BUILT_IN_SUMMARY}{what}{why}")
}

const PROMPT: &str = "Stop here and write a summary of this conversation: it will stand in place of the text, so that the \
work can go on from it alone. Say what the user wants, in their own words where these matter, with every condition; what \
was done and found out, with the exact names, numbers, paths and identifiers; what was decided and why; what went wrong; \
and what is still to be done. Do not go on with the work and do not call tools: answer with the summary and nothing else.";
