//! The length of an agent's history: how it is estimated, and how it is shortened without a model.
//!
//! [`History`] owns the messages, which the transcript keeps valid, and the data about their length. An iteration
//! calls `fit` once before its first request, and once more before that if an input guardrail checks the history. A
//! retry and another model send the history unchanged. `summary.rs` asks a model for a shorter history, before a
//! request or after a vendor has rejected one as too long.
//!
//! Pruning is first, then the budget. Nothing here sends a request, and nothing fails: a history that cannot be
//! shortened is sent unchanged.

pub mod body;
pub mod head;
mod legal;
pub mod transcript;

use crate::engine::agent::context::AgentContext;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::identity::tuning::to_send;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event::prefix::PrefixCause;
use crate::engine::model::event::{CompactTrigger, EventKind, SummaryBy};
use crate::engine::model::journal::{HistoryState, Length, Reply, Summarized, Wanted};
use crate::engine::model::message::{Json, Message, Role};
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::usage::Usage;
use crate::engine::policy::context::{
    Trimmed, cut_for, head_tokens, old_calls, plain_summary, summary_block, trim_to_budget,
};
use crate::engine::policy::estimate;
use crate::engine::protocol::waits_for_results;

/// The history of an agent: its messages, and what is known of their length.
#[derive(Clone, Default)]
pub struct History {
    pub transcript: Transcript,
    length: Length,
}

impl History {
    pub fn new(transcript: Transcript, length: Length) -> History {
        History { transcript, length }
    }

    /// The history of a checkpoint. A summary that the process before was making is wanted again.
    pub fn restored(transcript: Transcript, mut length: Length) -> History {
        length.wanted = length.wanted.take().or(length.making.take());
        History { transcript, length }
    }

    /// Requests a summary before the next request. With `only`, that request is not sent. `instructions` are added to
    /// the summary's prompt.
    pub fn want_summary(&mut self, instructions: Option<String>, only: bool) {
        self.length.wanted = Some(Wanted { instructions });
        self.length.only_summary |= only;
    }

    /// True if the agent ends when the history is summarised.
    pub fn wants_summary_alone(&self) -> bool {
        self.length.only_summary
    }

    pub fn kept(&self) -> HistoryState {
        HistoryState {
            sent: self.transcript.sent(),
            length: self.length.clone(),
        }
    }

    /// Emits each message once when it is complete: a user message when it is sent, a model's message when its answer
    /// has ended. A prompt that is joined to an unanswered prompt is emitted separately.
    pub(crate) fn emit_new_messages(&mut self, ctx: &mut AgentContext<'_>) {
        if ctx.config.events.messages {
            emit_messages(ctx, self.transcript.take_unemitted());
        }
    }

    /// Emits the new messages. The message of the model is the answer with these facts.
    pub(crate) fn emit_answer(&mut self, ctx: &mut AgentContext<'_>, reply: &Reply) {
        if ctx.config.events.messages {
            for message in self.transcript.take_unemitted() {
                let is_answer = message.role == Role::Assistant;
                emit_message(ctx, message, Some(reply).filter(|_| is_answer));
            }
        }
    }

    /// The estimated tokens of the next request.
    pub(crate) fn tokens(&self, ctx: &AgentContext<'_>) -> u64 {
        let messages = self.transcript.messages();
        let (tokens, counted, hidden) = match self.length.counted {
            Some((tokens, counted)) => {
                let sent = counted.checked_sub(1).and_then(|sent| messages.get(..sent));
                (tokens, counted, hidden(ctx, sent.unwrap_or_default()))
            }
            None => (head_tokens(ctx.config), 0, 0),
        };
        let tokens = tokens + estimate::tokens_of(messages.get(counted..).unwrap_or_default());
        // The vendor has counted nothing of what it hid already.
        let newly_hidden = messages.get(hidden..self::hidden(ctx, messages));
        tokens.saturating_sub(newly_hidden.map_or(0, estimate::tokens_of_calls))
    }

    /// Returns true if the vendor would hide calls in the first `upto` messages that do not fit in the window.
    pub(crate) fn needs_clearing(&self, ctx: &AgentContext<'_>, upto: usize) -> bool {
        let model = &ctx.identity.model;
        let limit = ctx
            .config
            .context
            .limit_tokens(model.window(), model.config.max_output_tokens);
        let messages = self.transcript.messages().get(..upto).unwrap_or_default();
        let tokens = head_tokens(ctx.config) + estimate::tokens_of(messages);
        hidden(ctx, messages) > 0 && limit.is_some_and(|limit| tokens > limit)
    }

    /// Emits what the vendor has hidden of the history, if that has changed. A server that answers without a word
    /// about it is not asked again.
    pub(crate) fn note_cleared(&mut self, ctx: &mut AgentContext<'_>, cleared: Option<(u64, u64)>) {
        let Some((parts, tokens)) = cleared else {
            let sent = to_send(&self.transcript, ctx.identity).messages();
            if hidden(ctx, sent) > 0 && ctx.identity.model.leave_out_clearing() {
                warn_of_pruning(ctx, "its answer does not report any hidden calls");
                self.transcript.forget_body();
            }
            return;
        };
        if parts == std::mem::replace(&mut self.length.cleared, parts) || parts == 0 {
            return;
        }
        let pre_tokens = self.tokens(ctx).saturating_add(tokens);
        let identity = (CompactTrigger::Pruning, Some(SummaryBy::Vendor));
        self.emit_boundary(ctx, identity, pre_tokens, 0);
    }

    /// Stores the vendor's count of a request and its answer, which is added to the history next.
    pub(crate) fn count_answer(&mut self, usage: &Usage) {
        if usage.input_tokens > 0 {
            let messages = self.transcript.messages().len() + 1;
            self.length.counted = Some((usage.total_tokens(), messages));
        }
    }

    /// Sets the estimated input of the next request aside in the accounts of this agent and those above it.
    pub(crate) fn reserve(&self, ctx: &mut AgentContext<'_>) {
        if ctx.estimates_usage() {
            ctx.reserve(self.tokens(ctx), 0);
        }
    }

    /// The limit that blocks the next request. An earlier attempt, a summary or another agent may have used up the
    /// budget.
    pub(crate) fn limit_on_request(&self, ctx: &mut AgentContext<'_>) -> Option<StoppedBy> {
        self.reserve(ctx);
        ctx.overrun()
    }

    /// Returns true if the vendor continues the last answer only after a message that has only results.
    pub fn waits_for_vendor(&self) -> bool {
        matches!(self.transcript.messages(), [.., answer, results] if results.role == Role::User && waits_for_results(answer, &[]))
    }

    /// Continues with other messages.
    pub(crate) fn begin_with(&mut self, transcript: Transcript) {
        self.transcript = transcript;
        self.length.counted = None;
    }

    /// Shortens the history without a model call.
    pub(crate) fn fit(&mut self, ctx: &mut AgentContext<'_>) {
        self.unfold(ctx);
        self.shorten_old(ctx);
        self.trim(ctx);
    }

    /// Restores the messages of a summary that the asked model cannot read.
    pub(crate) fn unfold(&mut self, ctx: &AgentContext<'_>) {
        let model = &ctx.identity.model;
        if self.transcript.unfold_unreadable(model.protocol, &model.config) {
            self.length.counted = None;
        }
    }

    fn shorten_old(&mut self, ctx: &mut AgentContext<'_>) {
        let Some(policy) = &ctx.config.context.pruning else {
            return;
        };
        if ctx.identity.model.leaves_pruning_to_vendor(policy) {
            return;
        }
        let pre_tokens = self.tokens(ctx);
        if self.transcript.shorten(policy) {
            self.length.counted = None;
            self.emit_boundary(ctx, (CompactTrigger::Pruning, None), pre_tokens, 0);
        }
    }

    fn trim(&mut self, ctx: &mut AgentContext<'_>) {
        let Some(budget) = ctx.config.context.max_chars else {
            return;
        };
        let messages = self.transcript.messages();
        let Some(trimmed) = trim_to_budget(messages, ctx.config.system.as_deref(), budget) else {
            return;
        };
        let pre_tokens = self.tokens(ctx);
        let Trimmed { cut, summary } = trimmed;
        self.replace_first(cut, &summary, None, PrefixCause::Budget);
        let by = Some(SummaryBy::BuiltIn);
        self.emit_boundary(ctx, (CompactTrigger::Budget, by), pre_tokens, 0);
    }

    /// Replaces the first `cut` messages with a summary.
    fn replace_first(&mut self, cut: usize, summary: &str, signed: Option<Json>, cause: PrefixCause) {
        let is_signed = signed.is_some();
        let block = summary_block(summary, signed);
        self.transcript.replace_first(cut, vec![block], is_signed);
        self.transcript.causes.add(cause);
        self.length.counted = None;
    }

    pub(crate) fn emit_boundary(
        &self,
        ctx: &mut AgentContext<'_>,
        (trigger, by): (CompactTrigger, Option<SummaryBy>),
        pre_tokens: u64,
        duration_ms: u64,
    ) {
        let kind = EventKind::CompactBoundary {
            trigger,
            by,
            pre_tokens,
            post_tokens: self.tokens(ctx),
            duration_ms,
        };
        ctx.emit(kind);
    }

    /// Returns true if the history is larger than the window allows. A limit of 0 leaves no space and is ignored.
    pub(crate) fn is_full(&self, ctx: &AgentContext<'_>) -> bool {
        let model = &ctx.identity.model;
        let context = &ctx.config.context;
        let limit = context.limit_tokens(model.window(), model.config.max_output_tokens);
        limit.is_some_and(|limit| limit > 0 && self.tokens(ctx) > limit)
    }

    /// Returns true if a summary can help. After one that did not help, enough new messages are required.
    pub(crate) fn may_gain(&mut self) -> bool {
        let messages = self.transcript.messages().len();
        let Some(before) = &mut self.length.in_vain_at else {
            return true;
        };
        *before = messages.min(*before);
        messages >= *before + MESSAGES_BEFORE_ANOTHER
    }

    /// The trigger and the instructions of the summary that was asked for, or that the window needs, if there is
    /// something to sum up.
    pub(crate) fn take_wanted(&mut self, ctx: &AgentContext<'_>) -> Option<(CompactTrigger, Option<String>)> {
        let wanted = self.length.wanted.take();
        let is_full = ctx.config.context.auto && self.is_full(ctx) && self.may_gain();
        let Some(wanted) = wanted else {
            return is_full.then_some((CompactTrigger::Auto, None));
        };
        self.cut(ctx)?;
        self.length.making = Some(wanted.clone());
        Some((CompactTrigger::Manual, wanted.instructions))
    }

    /// The number of messages that a summary takes in. `None` if there are none.
    pub(crate) fn cut(&self, ctx: &AgentContext<'_>) -> Option<usize> {
        cut_for(self.transcript.messages(), ctx.config.context.keep_last)
    }

    /// Returns true if a request that was too long can be sent again with a summary, once in an iteration. Else the
    /// failure is given the reason.
    pub(crate) fn may_summarize(&self, ctx: &AgentContext<'_>, failure: &mut Failure) -> bool {
        if failure.code != FailureCode::ContextLength || !ctx.config.context.auto {
            return false;
        }
        let why = if self.length.summarized_in == ctx.identity.kept.iteration {
            match self.length.last {
                Summarized::Shorter => {
                    " (The history had just been summarised; what is left of it is too long.)"
                }
                Summarized::NotShorter => NOT_SHORTER,
                Summarized::Blocked => " (A PreCompact hook has blocked the summary of the history.)",
            }
        } else if self.cut(ctx).is_none() {
            " (The history has no earlier part that could be summarised.)"
        } else {
            return true;
        };
        failure.message.push_str(why);
        false
    }

    /// Replaces the first `cut` messages with a summary. If the text is empty or too long, the built-in summary is
    /// used. Models of other vendors also read the built-in summary if only its vendor can read the text. Returns the
    /// text and its author, or `None` if nothing is shorter than the messages.
    pub(crate) fn sum_up(
        &mut self,
        cut: usize,
        text: &str,
        mut by: SummaryBy,
        signed: Option<Json>,
    ) -> Option<(String, SummaryBy)> {
        let before = self.transcript.messages().get(..cut).unwrap_or_default();
        if signed.is_some() {
            let text = match text.trim() {
                "" => plain_summary(before),
                text => text.to_owned(),
            };
            self.replace_first(cut, &text, signed, PrefixCause::Summary);
            return Some((text, by));
        }
        let most = estimate::tokens_of(before);
        let is_shorter =
            |text: &str| estimate::tokens_of(&[Message::user(vec![summary_block(text, None)])]) < most;
        let mut text = text.trim().to_owned();
        if text.is_empty() || !is_shorter(&text) {
            text = plain_summary(before);
            by = SummaryBy::BuiltIn;
        }
        if !is_shorter(&text) {
            return None;
        }
        self.replace_first(cut, &text, None, PrefixCause::Summary);
        Some((text, by))
    }

    /// Records that a summary was made, or that it did not help.
    pub(crate) fn note_summary(&mut self, ctx: &AgentContext<'_>, outcome: Summarized) {
        self.length.summarized_in = ctx.identity.kept.iteration;
        self.length.last = outcome;
        self.length.making = None;
        if outcome != Summarized::Blocked {
            let messages = self.transcript.messages().len();
            self.length.in_vain_at = self.is_full(ctx).then_some(messages);
        }
    }
}

/// The number of messages with calls that the vendor hides from the model in a request with these messages.
fn hidden(ctx: &AgentContext<'_>, messages: &[Message]) -> usize {
    let policy = ctx.identity.model.pruning(ctx.config);
    let old = policy.and_then(|policy| old_calls(messages, policy));
    old.map_or(0, |old| old.upto)
}

/// Warns that looplet shortens old answers, because the vendor does not.
pub(crate) fn warn_of_pruning(ctx: &mut AgentContext<'_>, why: &str) {
    let model = &ctx.identity.model.config.model;
    let message = format!(
        "The server of {model} does not hide old calls from the model: {why}. looplet shortens old answers itself from here on."
    );
    ctx.warn_once("vendor_pruning_failed", message);
}

/// The reason why a history stays as long as it is.
pub(crate) const NOT_SHORTER: &str = " (A summary would not be shorter.)";

/// How many new messages must precede another summary after one that did not help: five rounds of tools.
const MESSAGES_BEFORE_ANOTHER: usize = 10;

/// Emits complete messages, if your code subscribes to them.
pub(crate) fn emit_messages(ctx: &mut AgentContext<'_>, messages: impl IntoIterator<Item = Message>) {
    if !ctx.config.events.messages {
        return;
    }
    for message in messages {
        emit_message(ctx, message, None);
    }
}

fn emit_message(ctx: &mut AgentContext<'_>, message: Message, reply: Option<&Reply>) {
    if !message.content.is_empty() {
        ctx.emit(EventKind::Message {
            message,
            response_id: reply.and_then(|reply| reply.response_id.clone()),
            raw_finish_reason: reply.and_then(|reply| reply.raw_finish_reason.clone()),
        });
    }
}
