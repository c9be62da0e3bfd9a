//! A history is made shorter before a request, or after the vendor has refused it as too long.
//!
//! A summary is a model call of its own, inside the iteration that needs it. It is counted, retried and aborted as
//! any other call, but it is no iteration. It happens at most once in an iteration. A summary that fails leads to the
//! built-in one or to the end of the run, never to a second summary. If the window stays too full, the run goes on,
//! and the next summary waits until there is more to gain.
//!
//! The order is `fit`, `begin_wanted_summary`, the `PreCompact` hooks, the summary itself, `apply_summary`,
//! and the `PostCompact` hooks. After the last step the request goes out.

use crate::engine::agent::Agent;
use crate::engine::agent::asks::points::{BUILT_IN_SUMMARY, NO_SUMMARY};
use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::desk::Desk;
use crate::engine::agent::history::summing::Summary;
use crate::engine::agent::machine::step::{Now, Phase};
use crate::engine::agent::request::close_request;
use crate::engine::model::answer::{FinishReason, ModelAnswer, PartKind};
use crate::engine::model::config::{ModelConfig, ToolChoice};
use crate::engine::model::error::{ConfigError, Failure, FailureCode};
use crate::engine::model::event::{CompactTrigger, EventKind};
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::journal::{Step, Summarized, Tries, Wanted};
use crate::engine::model::json::word;
use crate::engine::model::message::Message;
use crate::engine::model::question::{Facts, Point};
use crate::engine::policy::context::{cut_for, plain_summary, summary_block};
use crate::engine::policy::estimate;
use crate::engine::protocol::RequestSpec;

impl Agent {
    /// Begins the summary that was asked for, or that the window needs. Returns false if there is nothing to
    /// summarise.
    pub(crate) fn begin_wanted_summary(&mut self, desk: &mut Desk<'_>) -> bool {
        let wanted = self.history.length.wanted.take();
        let is_full = desk.config.context.auto && self.history.is_full(desk) && self.history.may_gain();
        match wanted {
            Some(Wanted { instructions }) => {
                self.history.length.making = Some(Wanted {
                    instructions: instructions.clone(),
                });
                let has_begun = self.begin_summary(desk, CompactTrigger::Manual, instructions, None);
                if !has_begun {
                    self.history.length.making = None;
                }
                has_begun
            }
            None => is_full && self.begin_summary(desk, CompactTrigger::Auto, None, None),
        }
    }

    /// Returns true if a request that was too long can be sent again with a summary, once in an iteration. Else the
    /// failure is given the reason.
    pub(crate) fn may_summarize(&self, desk: &Desk<'_>, failure: &mut Failure) -> bool {
        let policy = &desk.config.context;
        if failure.code != FailureCode::ContextLength || !policy.auto {
            return false;
        }
        let why = if self.history.length.summarized_in == desk.who.kept.iteration {
            match self.history.length.last {
                Summarized::Shorter => {
                    " (The history had just been summarised; what is left of it is too long.)"
                }
                Summarized::NotShorter => NOT_SHORTER,
                Summarized::Blocked => " (A PreCompact hook has kept the history from being summarised.)",
            }
        } else if cut_for(self.history.transcript.messages(), policy.keep_last).is_none() {
            " (The history has no earlier part that could be summarised.)"
        } else {
            return true;
        };
        failure.message.push_str(why);
        false
    }

    /// Begins a summary for any trigger. Returns false if there is nothing to summarise.
    pub(crate) fn begin_summary(
        &mut self,
        desk: &mut Desk<'_>,
        trigger: CompactTrigger,
        instructions: Option<String>,
        overflow: Option<Failure>,
    ) -> bool {
        let policy = &desk.config.context;
        let Some(cut) = cut_for(self.history.transcript.messages(), policy.keep_last) else {
            return false;
        };
        let pre_tokens = self.history.tokens(desk);
        desk.emit(EventKind::CompactStart { trigger, pre_tokens });
        let instructions = instructions.or_else(|| policy.instructions.clone());
        let (point, name) = (Point::PreCompact, word(trigger));
        let is_asked = desk.has_hooks(point, &name);
        if is_asked {
            let facts = Facts::Compact {
                trigger,
                pre_tokens,
                instructions: instructions.as_deref(),
            };
            desk.ask(Ask::new(point, About::Phase, &facts).named(&name));
        }
        let summary = Box::new(Summary {
            trigger,
            cut,
            pre_tokens,
            started_ms: desk.ledger.now_ms,
            tries: Tries::after(desk.who.kept.attempt),
            instructions,
            overflow,
            call: None,
            body: Vec::new(),
        });
        self.machine.enter(Step::Ask, Now::Summarizing(summary));
        if !is_asked {
            self.summarize(desk);
        }
        true
    }

    /// Takes the answer of the `PreCompact` hooks. If they block the summary, the request goes out as it is, and a
    /// request that the vendor has refused as too long stays refused.
    pub(crate) fn after_precompact(&mut self, desk: &mut Desk<'_>, verdict: HookAnswer) {
        if !verdict.denies() {
            return self.summarize(desk);
        }
        let kept = || "a hook kept the history as it is".into();
        let why = verdict.reason.unwrap_or_else(kept);
        desk.warn("compaction_blocked", why);
        self.history.length.note_made(desk.who.kept.iteration);
        self.history.length.last = Summarized::Blocked;
        let overflow = match self.machine.leave() {
            Now::Summarizing(summary) => summary.overflow,
            _ => None,
        };
        self.machine.enter(Step::Ask, Now::Sending);
        match overflow {
            Some(failure) => self.end_failed(desk, failure),
            None => self.send(desk),
        }
    }

    /// Asks your function for the summary, or the model.
    fn summarize(&mut self, desk: &mut Desk<'_>) {
        if !desk.config.context.ask {
            return self.send_summary(desk);
        }
        let Now::Summarizing(summary) = &self.machine.now else {
            return;
        };
        let messages = self.history.transcript.messages();
        let facts = Facts::Summarize {
            trigger: summary.trigger,
            instructions: summary.instructions.as_deref(),
            messages: messages.get(..summary.cut).unwrap_or(messages),
        };
        desk.ask(Ask::new(Point::Summarize, About::Phase, &facts));
    }

    /// Sends the request for the summary, also as a retry.
    pub(crate) fn send_summary(&mut self, desk: &mut Desk<'_>) {
        if self.lacks_budget(desk) {
            return;
        }
        desk.who.kept.attempt += 1;
        if let Err(error) = self.summary_body(desk) {
            let message = unwritten("its request cannot be made: ", &error.to_text());
            desk.warn(NO_SUMMARY, message);
            return self.apply_summary(desk, "");
        }
        let call = self.open_request(desk);
        if let Now::Summarizing(summary) = &mut self.machine.now {
            summary.call = Some(Box::new(call));
        }
    }

    /// The body of the summary's request: the conversation as it was sent, and the prompt for the summary.
    pub(crate) fn summary_body(&mut self, desk: &Desk<'_>) -> Result<&[u8], ConfigError> {
        let Agent { machine, history, .. } = self;
        let model = &desk.who.model;
        let Now::Summarizing(summary) = &mut machine.now else {
            return Ok(&[]);
        };
        if summary.body.is_empty() {
            let mut prompt = PROMPT.to_owned();
            if let Some(instructions) = &summary.instructions {
                prompt.push_str("\n\n");
                prompt.push_str(instructions);
            }
            let mut config = ModelConfig {
                response_format: None,
                tool_choice: None,
                ..model.asked().clone()
            };
            // Vendors refuse a history with calls whose tools are not in the request.
            if !desk.config.tools.is_empty() {
                config.tool_choice = Some(ToolChoice::None);
            }
            let spec = RequestSpec {
                model: &config,
                ..model.spec(desk.config)
            };
            summary.body = history
                .transcript
                .body_about(model.protocol, &spec, summary.cut, &prompt)?;
        }
        Ok(&summary.body)
    }

    /// The summary's response is complete.
    pub(crate) fn finish_summary(&mut self, desk: &mut Desk<'_>) {
        let Now::Summarizing(summary) = &mut self.machine.now else {
            return;
        };
        let Some(mut call) = summary.call.take() else {
            return;
        };
        close_request(&mut call, desk, false);
        self.answers.count(desk, &mut call.answer);
        if let Some(why) = no_summary(&call.answer) {
            desk.warn(NO_SUMMARY, unwritten(why, ""));
            return self.apply_summary(desk, "");
        }
        let parts = call.answer.parts.iter();
        let texts = parts.filter(|part| part.kind == PartKind::Text);
        let summary: String = texts.map(|part| part.text.as_str()).collect();
        self.apply_summary(desk, &summary);
    }

    pub(crate) fn summary_failed(&mut self, desk: &mut Desk<'_>, failure: Failure) {
        let (policy, seed) = (&desk.config.retry, desk.ledger.seed);
        let attempt = desk.who.kept.attempt;
        let Now::Summarizing(summary) = &mut self.machine.now else {
            return;
        };
        summary.call = None;
        if let Some(delay_ms) = summary.tries.delay_ms(policy, attempt, &failure, seed) {
            return self.retry_after(desk, delay_ms, failure);
        }
        let kind = EventKind::Warning {
            code: NO_SUMMARY.into(),
            message: unwritten("the model call failed: ", &failure.message),
            error: Some(failure),
        };
        desk.emit(kind);
        self.apply_summary(desk, "");
    }

    /// Puts the summary in place of the messages that it sums up, and sends the request. An empty summary, or one
    /// that is too long, gives way to the built-in one.
    pub(crate) fn apply_summary(&mut self, desk: &mut Desk<'_>, text: &str) {
        if !self.machine.is(Phase::Summarizing) {
            return;
        }
        let Now::Summarizing(open) = self.machine.leave() else {
            return;
        };
        self.machine.enter(Step::Ask, Now::Sending);
        self.requests.kept.tries = Tries::after(desk.who.kept.attempt);
        self.history.length.note_made(desk.who.kept.iteration);
        let before = self
            .history
            .transcript
            .messages()
            .get(..open.cut)
            .unwrap_or_default();
        let most = estimate::tokens_of(before);
        let length = |block| estimate::tokens_of(&[Message::user(vec![block])]);
        let mut text = text.trim().to_owned();
        if text.is_empty() || length(summary_block(&text)) >= most {
            text = plain_summary(before);
        }
        let block = summary_block(&text);
        let is_shorter = length(block.clone()) < most;
        if is_shorter {
            self.history.length.last = Summarized::Shorter;
            self.history.transcript.replace_first(open.cut, vec![block]);
            let duration_ms = desk.ledger.now_ms.saturating_sub(open.started_ms);
            self.history
                .tell_boundary(desk, open.trigger, open.pre_tokens, duration_ms);
        }
        let messages = self.history.transcript.messages().len();
        self.history.length.in_vain_at = self.history.is_full(desk).then_some(messages);
        if is_shorter {
            return self.tell_summary(desk, open.trigger, &text);
        }
        self.history.length.last = Summarized::NotShorter;
        if let Some(mut failure) = open.overflow {
            failure.message.push_str(NOT_SHORTER);
            return self.end_failed(desk, failure);
        }
        let message = "A summary would not be shorter than what it stands for.";
        desk.warn(NO_SUMMARY, message.into());
        self.send(desk);
    }

    /// Tells the `PostCompact` hooks of the summary before the request goes out.
    fn tell_summary(&mut self, desk: &mut Desk<'_>, trigger: CompactTrigger, summary: &str) {
        let (point, name) = (Point::PostCompact, word(trigger));
        if !desk.has_hooks(point, &name) {
            return self.guard_summary(desk);
        }
        let facts = Facts::Compacted { trigger, summary };
        desk.ask(Ask::new(point, About::Phase, &facts).named(&name));
    }
}

/// The reason why an answer of the model must not stand in place of a history.
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

const NOT_SHORTER: &str = " (A summary would not be shorter.)";

fn unwritten(what: &str, why: &str) -> String {
    format!("{BUILT_IN_SUMMARY}{what}{why}")
}

const PROMPT: &str = "Stop here and write a summary of this conversation: it will stand in place of the text, so that the \
work can go on from it alone. Say what the user wants, in their own words where these matter, with every condition; what \
was done and found out, with the exact names, numbers, paths and identifiers; what was decided and why; what went wrong; \
and what is still to be done. Do not go on with the work and do not call tools: answer with the summary and nothing else.";
