//! A history that is made shorter: before a request, or after the vendor has said that it is too long.
//!
//! A summary is a model call of its own, inside the iteration that needs it: counted, retried and aborted as any other,
//! but no iteration. It happens once in an iteration at most, and whatever goes wrong with it leads to the built-in
//! summary or to the end of the run, never to a second one. Where the window stays too full all the same, the run goes on
//! and the next summary waits until there is more to gain.

use serde::{Deserialize, Serialize};

use crate::engine::agent::asks::Wait;
use crate::engine::agent::{Agent, Desk};
use crate::engine::model::answer::{Answer, FinishReason, PartKind};
use crate::engine::model::config::{ModelConfig, ToolChoice};
use crate::engine::model::error::{ConfigError, Failure, FailureCode};
use crate::engine::model::event::{CompactTrigger, EventKind};
use crate::engine::model::message::Message;
use crate::engine::model::question::{Facts, Point};
use crate::engine::model::usage::Usage;
use crate::engine::policy::context::{
    Trimmed, cut_for, head_tokens, plain_summary, summary_block, trim_to_budget,
};
use crate::engine::policy::estimate;
use crate::engine::policy::retry::Tries;
use crate::engine::protocol::RequestSpec;

/// What an agent knows of the length of its history.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Context {
    /// Tokens that the vendor has counted, and in how many messages.
    counted: Option<(u64, usize)>,
    wanted: Option<Wanted>,
    /// The iteration of the last summary.
    summarized_in: u32,
    /// What came of it.
    last: Summarized,
    /// How many messages there were when a summary did not help.
    in_vain_at: Option<usize>,
    open: Option<Compacting>,
}

/// What came of a summary that was begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Summarized {
    #[default]
    Shorter,
    NotShorter,
    Blocked,
}

/// The host has asked for a summary.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Wanted {
    instructions: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Compacting {
    trigger: CompactTrigger,
    /// How many messages are summarised.
    cut: usize,
    pre_tokens: u64,
    started_ms: u64,
    tries: Tries,
    instructions: Option<String>,
    /// Why the run ends if nothing is gained.
    overflow: Option<Failure>,
    /// Derived; made again by a restored run.
    #[serde(skip)]
    body: Vec<u8>,
}

impl Context {
    /// What the summary that is being made shall also heed.
    pub(crate) fn instructions(&self) -> Option<&str> {
        self.open.as_ref()?.instructions.as_deref()
    }

    /// A model call under way is not the conversation's.
    pub fn is_compacting(&self) -> bool {
        self.open.is_some()
    }

    /// No summary is made. Gives why the run ends without one, if it does.
    pub fn refuse(&mut self) -> Option<Failure> {
        self.last = Summarized::Blocked;
        self.open.take().and_then(|open| open.overflow)
    }

    /// The vendor has counted a request and its answer, which are so many messages.
    pub fn count(&mut self, usage: &Usage, messages: usize) {
        if usage.input_tokens > 0 {
            self.counted = Some((usage.total_tokens(), messages));
        }
    }
}

impl Agent {
    pub fn ask_to_compact(&mut self, instructions: Option<String>) {
        self.context.wanted = Some(Wanted { instructions });
    }

    /// Sends the request of an iteration that has begun, once its history is as short as it has to be.
    pub(crate) fn send_what_fits(&mut self, desk: &mut Desk<'_>) {
        self.fit_history(desk);
        let wanted = self.context.wanted.take();
        let is_full = desk.config.context.auto && self.is_full(desk) && self.may_gain();
        let begun = match wanted {
            Some(Wanted { instructions }) => {
                self.begin_compaction(desk, CompactTrigger::Manual, instructions, None)
            }
            None => is_full && self.begin_compaction(desk, CompactTrigger::Auto, None, None),
        };
        if !begun {
            self.send(desk);
        }
    }

    /// More than may be in the window, if that leaves room for anything.
    fn is_full(&self, desk: &Desk<'_>) -> bool {
        let limit = desk
            .config
            .context
            .limit_tokens(self.asked.config.max_output_tokens);
        limit.is_some_and(|limit| limit > 0 && self.tokens(desk) > limit)
    }

    /// Whether a summary can help that did not before: there must be more to put it in place of.
    fn may_gain(&mut self) -> bool {
        let messages = self.transcript.messages().len();
        let Some(before) = &mut self.context.in_vain_at else {
            return true;
        };
        *before = messages.min(*before);
        messages >= *before + MESSAGES_BEFORE_ANOTHER
    }

    /// The vendor says that the request is too long: one summary and one more attempt in an iteration, if there is
    /// anything to summarise. Else the failure says why not.
    pub(crate) fn may_compact(&self, desk: &Desk<'_>, failure: &mut Failure) -> bool {
        let policy = &desk.config.context;
        if failure.code != FailureCode::ContextLength || !policy.auto {
            return false;
        }
        let why = if self.context.summarized_in == self.iteration {
            match self.context.last {
                Summarized::Shorter => {
                    " (The history had just been summarised; what is left of it is too long.)"
                }
                Summarized::NotShorter => NOT_SHORTER,
                Summarized::Blocked => " (A PreCompact hook has kept the history from being summarised.)",
            }
        } else if cut_for(self.transcript.messages(), policy.keep_last).is_none() {
            " (The history has no earlier part that could be summarised.)"
        } else {
            return true;
        };
        failure.message.push_str(why);
        false
    }

    /// Estimated tokens of the next request.
    pub(crate) fn tokens(&self, desk: &Desk<'_>) -> u64 {
        let messages = self.transcript.messages();
        match self.context.counted {
            Some((tokens, counted)) => {
                tokens + estimate::tokens_of(messages.get(counted..).unwrap_or_default())
            }
            None => head_tokens(desk.config) + estimate::tokens_of(messages),
        }
    }

    /// What makes the history shorter without asking a model.
    pub(crate) fn fit_history(&mut self, desk: &mut Desk<'_>) {
        self.shorten_old(desk);
        self.trim(desk);
    }

    fn shorten_old(&mut self, desk: &mut Desk<'_>) {
        let Some(policy) = &desk.config.context.history else {
            return;
        };
        let pre_tokens = self.tokens(desk);
        if self.transcript.shorten(policy) {
            self.tell_boundary(desk, CompactTrigger::History, pre_tokens, 0);
        }
    }

    fn trim(&mut self, desk: &mut Desk<'_>) {
        let Some(budget) = desk.config.context.budget_chars else {
            return;
        };
        let messages = self.transcript.messages();
        let Some(trimmed) = trim_to_budget(messages, desk.config.system.as_deref(), budget) else {
            return;
        };
        let pre_tokens = self.tokens(desk);
        let Trimmed { cut, summary } = trimmed;
        self.transcript.replace_first(cut, vec![summary_block(&summary)]);
        self.tell_boundary(desk, CompactTrigger::Budget, pre_tokens, 0);
    }

    fn tell_boundary(
        &mut self,
        desk: &mut Desk<'_>,
        trigger: CompactTrigger,
        pre_tokens: u64,
        duration_ms: u64,
    ) {
        self.context.counted = None;
        let kind = EventKind::CompactBoundary {
            trigger,
            pre_tokens,
            post_tokens: self.tokens(desk),
            duration_ms,
        };
        desk.ledger.emit(self.place(), kind);
    }

    /// The one place where a summary begins, whoever wants it: what is to be asked first belongs between its two steps.
    /// `false` if there is nothing to summarise.
    pub(crate) fn begin_compaction(
        &mut self,
        desk: &mut Desk<'_>,
        trigger: CompactTrigger,
        instructions: Option<String>,
        overflow: Option<Failure>,
    ) -> bool {
        let policy = &desk.config.context;
        let Some(cut) = cut_for(self.transcript.messages(), policy.keep_last) else {
            return false;
        };
        self.context.summarized_in = self.iteration;
        let pre_tokens = self.tokens(desk);
        desk.ledger
            .emit(self.place(), EventKind::CompactStart { trigger, pre_tokens });
        let open = Compacting {
            trigger,
            cut,
            pre_tokens,
            started_ms: desk.ledger.now_ms,
            tries: Tries::after(self.attempt),
            instructions: instructions.or_else(|| policy.instructions.clone()),
            overflow,
            body: Vec::new(),
        };
        self.context.open = Some(open);
        self.ask_before_summary(desk, trigger, pre_tokens);
        true
    }

    /// The second step: the host or the model is asked.
    pub(crate) fn summarize(&mut self, desk: &mut Desk<'_>) {
        if !desk.config.context.ask {
            return self.send_compaction(desk);
        }
        let Some(open) = &self.context.open else {
            return;
        };
        let messages = self.transcript.messages();
        let facts = Facts::Summarize {
            trigger: open.trigger,
            instructions: open.instructions.as_deref(),
            messages: messages.get(..open.cut).unwrap_or(messages),
        };
        let data = facts.to_json();
        self.ask(desk, Point::Summarize, "", data, Wait::Point);
    }

    /// Also what a retry does.
    pub(crate) fn send_compaction(&mut self, desk: &mut Desk<'_>) {
        if self.lacks_budget(desk) {
            return;
        }
        self.attempt += 1;
        if let Err(error) = self.compaction_body(desk) {
            self.warn_of_summary(desk, "its request cannot be made: ", &error.to_text());
            return self.apply_summary(desk, "");
        }
        self.open_request(desk);
    }

    /// The body of the summary's request: the conversation as it was sent, and what is wanted.
    pub(crate) fn compaction_body(&mut self, desk: &Desk<'_>) -> Result<&[u8], ConfigError> {
        let Agent {
            context,
            transcript,
            asked,
            ..
        } = self;
        let Some(open) = &mut context.open else {
            return Ok(&[]);
        };
        if open.body.is_empty() {
            let mut prompt = PROMPT.to_owned();
            if let Some(instructions) = &open.instructions {
                prompt.push_str("\n\n");
                prompt.push_str(instructions);
            }
            let mut model = ModelConfig {
                response_format: None,
                tool_choice: None,
                ..asked.config.clone()
            };
            // A history with calls must not come without their tools.
            if !desk.config.tools.is_empty() {
                model.tool_choice = Some(ToolChoice::None);
            }
            let spec = RequestSpec {
                model: &model,
                ..asked.spec(desk.config)
            };
            open.body = transcript.body_about(asked.protocol, &spec, open.cut, &prompt)?;
        }
        Ok(&open.body)
    }

    /// The summary's response is complete.
    pub(crate) fn finish_compaction(&mut self, desk: &mut Desk<'_>) {
        self.close_request(desk, false);
        self.count_usage(desk);
        let Some(model) = self.model.take() else { return };
        if let Some(why) = no_summary(&model.answer) {
            self.warn_of_summary(desk, why, "");
            return self.apply_summary(desk, "");
        }
        let parts = model.answer.parts.iter();
        let texts = parts.filter(|part| part.kind == PartKind::Text);
        let summary: String = texts.map(|part| part.text.as_str()).collect();
        self.apply_summary(desk, &summary);
    }

    pub(crate) fn compaction_failed(&mut self, desk: &mut Desk<'_>, failure: Failure) {
        self.close_request(desk, true);
        self.count_usage(desk);
        let (policy, seed) = (&desk.config.retry, desk.ledger.seed);
        let Some(open) = &mut self.context.open else {
            return;
        };
        let Some(delay_ms) = open.tries.delay_ms(policy, self.attempt, &failure, seed) else {
            self.model = None;
            let why = unwritten("the model call failed: ", &failure.message);
            let kind = EventKind::Warning {
                code: FAILED.into(),
                message: why,
                error: Some(failure),
            };
            desk.ledger.emit(self.place(), kind);
            return self.apply_summary(desk, "");
        };
        self.retry_after(desk, delay_ms, failure);
    }

    /// Puts the summary, or the built-in one if it is none or too long, in place of what it stands for, and sends the
    /// request.
    pub(crate) fn apply_summary(&mut self, desk: &mut Desk<'_>, summary: &str) {
        let Some(open) = self.context.open.take() else {
            return;
        };
        self.tries = Tries::after(self.attempt);
        let before = self.transcript.messages().get(..open.cut).unwrap_or_default();
        let most = estimate::tokens_of(before);
        let length = |block| estimate::tokens_of(&[Message::user(vec![block])]);
        let mut summary = summary.trim().to_owned();
        if summary.is_empty() || length(summary_block(&summary)) >= most {
            summary = plain_summary(before);
        }
        let block = summary_block(&summary);
        let is_shorter = length(block.clone()) < most;
        if is_shorter {
            self.context.last = Summarized::Shorter;
            self.transcript.replace_first(open.cut, vec![block]);
            let duration_ms = desk.ledger.now_ms.saturating_sub(open.started_ms);
            self.tell_boundary(desk, open.trigger, open.pre_tokens, duration_ms);
        }
        let messages = self.transcript.messages().len();
        self.context.in_vain_at = self.is_full(desk).then_some(messages);
        if is_shorter {
            return self.ask_after_summary(desk, open.trigger, &summary);
        }
        self.context.last = Summarized::NotShorter;
        if let Some(mut failure) = open.overflow {
            failure.message.push_str(NOT_SHORTER);
            return self.end_failed(desk, failure);
        }
        let message = "A summary would not be shorter than what it stands for.";
        self.warn(desk, FAILED, message.into());
        self.send(desk);
    }

    pub(crate) fn warn_of_summary(&self, desk: &mut Desk<'_>, what: &str, why: &str) {
        self.warn(desk, FAILED, unwritten(what, why));
    }

    /// Gives up a summary that is under way.
    pub(crate) fn drop_compaction(&mut self, desk: &mut Desk<'_>) {
        if self.context.open.take().is_none() {
            return;
        }
        self.count_usage(desk);
        self.model = None;
    }
}

/// Why what the model has answered must not stand in place of a history.
fn no_summary(answer: &Answer) -> Option<&'static str> {
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

const NOT_SHORTER: &str = " (A summary would not be shorter.)";

fn unwritten(what: &str, why: &str) -> String {
    let message = "No summary of the history was written, and the built-in one stands in its place: ";
    [message, what, why].concat()
}

const FAILED: &str = "compaction_failed";

/// What is new since a summary that did not help, before there is another: five rounds of tools.
const MESSAGES_BEFORE_ANOTHER: usize = 10;

const PROMPT: &str = "Stop here and write a summary of this conversation: it will stand in place of the text, so that the \
work can go on from it alone. Say what the user wants, in their own words where these matter, with every condition; what \
was done and found out, with the exact names, numbers, paths and identifiers; what was decided and why; what went wrong; \
and what is still to be done. Do not go on with the work and do not call tools: answer with the summary and nothing else.";
