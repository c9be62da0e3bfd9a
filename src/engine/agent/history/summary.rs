//! A history is made shorter before a request, or after the vendor has refused it as too long.
//!
//! A summary is a model call of its own, inside the iteration that needs it. It is counted, retried and aborted as
//! any other call, but it is no iteration. It happens at most once in an iteration. A summary that fails leads to the
//! built-in one or to the end of the run, never to a second summary. If the window stays too full, the run goes on,
//! and the next summary waits until there is more to gain.
//!
//! The order is `fit`, [`History::wanted_summary`], the `PreCompact` hooks ([`Summary::ask_hooks`]), the summary itself
//! ([`Summary::ask`] or [`Summary::send`]), [`History::take_summary`], and the `PostCompact` hooks. After the last step
//! the request goes out.

use crate::engine::agent::answer::Answers;
use crate::engine::agent::asks::points::{BUILT_IN_SUMMARY, NO_SUMMARY};
use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::desk::Desk;
use crate::engine::agent::history::History;
use crate::engine::agent::history::summing::Summary;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::next::Next;
use crate::engine::agent::request::{close_request, open_request, retry_after};
use crate::engine::model::answer::{FinishReason, ModelAnswer, PartKind};
use crate::engine::model::config::{ModelConfig, ToolChoice};
use crate::engine::model::error::{ConfigError, Failure, FailureCode};
use crate::engine::model::event::{CompactTrigger, EventKind};
use crate::engine::model::journal::{Summarized, Tries, Wanted};
use crate::engine::model::json::word;
use crate::engine::model::message::Message;
use crate::engine::model::output::EffectId;
use crate::engine::model::question::{Facts, Point};
use crate::engine::policy::context::{cut_for, plain_summary, summary_block};
use crate::engine::policy::estimate;
use crate::engine::protocol::RequestSpec;

impl History {
    /// The summary that was asked for, or that the window needs, if there is something to summarise.
    pub(crate) fn wanted_summary(&mut self, desk: &mut Desk<'_>) -> Option<Box<Summary>> {
        let wanted = self.length.wanted.take();
        let is_full = desk.config.context.auto && self.is_full(desk) && self.may_gain();
        let (trigger, instructions) = match wanted {
            Some(Wanted { instructions }) => (CompactTrigger::Manual, instructions),
            None if is_full => (CompactTrigger::Auto, None),
            None => return None,
        };
        let cut = self.cut(desk)?;
        if trigger == CompactTrigger::Manual {
            self.length.making = Some(Wanted {
                instructions: instructions.clone(),
            });
        }
        Some(self.summary(desk, trigger, cut, instructions, None))
    }

    /// The number of messages that a summary takes in.
    fn cut(&self, desk: &Desk<'_>) -> Option<usize> {
        cut_for(self.transcript.messages(), desk.config.context.keep_last)
    }

    /// Returns the number of messages to sum up if a request that was too long can be sent again with a summary, once
    /// in an iteration. Else the failure is given the reason.
    pub(crate) fn may_summarize(&self, desk: &Desk<'_>, failure: &mut Failure) -> Option<usize> {
        if failure.code != FailureCode::ContextLength || !desk.config.context.auto {
            return None;
        }
        let cut = self.cut(desk);
        let why = if self.length.summarized_in == desk.who.kept.iteration {
            match self.length.last {
                Summarized::Shorter => {
                    " (The history had just been summarised; what is left of it is too long.)"
                }
                Summarized::NotShorter => NOT_SHORTER,
                Summarized::Blocked => " (A PreCompact hook has kept the history from being summarised.)",
            }
        } else if cut.is_none() {
            " (The history has no earlier part that could be summarised.)"
        } else {
            return cut;
        };
        failure.message.push_str(why);
        None
    }

    /// Begins a summary of the first `cut` messages for any trigger.
    pub(crate) fn summary(
        &self,
        desk: &mut Desk<'_>,
        trigger: CompactTrigger,
        cut: usize,
        instructions: Option<String>,
        overflow: Option<Failure>,
    ) -> Box<Summary> {
        let pre_tokens = self.tokens(desk);
        desk.emit(EventKind::CompactStart { trigger, pre_tokens });
        Box::new(Summary {
            trigger,
            cut,
            pre_tokens,
            started_ms: desk.ledger.now_ms,
            tries: Tries::after(desk.who.kept.attempt),
            instructions: instructions.or_else(|| desk.config.context.instructions.clone()),
            overflow,
            call: None,
            body: Vec::new(),
        })
    }

    /// Gives a summary up because a hook has blocked it. The request goes out as it is, and a request that the vendor
    /// has refused as too long stays refused.
    pub(crate) fn block_summary(
        &mut self,
        desk: &mut Desk<'_>,
        summary: Summary,
        why: Option<String>,
    ) -> Next {
        let kept = || "a hook kept the history as it is".into();
        desk.warn("compaction_blocked", why.unwrap_or_else(kept));
        self.note_made(desk.who.kept.iteration, Summarized::Blocked);
        summary.overflow.map_or(Next::Send, Next::Fail)
    }

    /// Puts the summary in place of the messages that it sums up. An empty summary, or one that is too long, gives way
    /// to the built-in one.
    pub(crate) fn take_summary(&mut self, desk: &mut Desk<'_>, open: Summary, text: &str) -> Next {
        let before = self.transcript.messages().get(..open.cut).unwrap_or_default();
        let most = estimate::tokens_of(before);
        let length = |block| estimate::tokens_of(&[Message::user(vec![block])]);
        let mut text = text.trim().to_owned();
        if text.is_empty() || length(summary_block(&text)) >= most {
            text = plain_summary(before);
        }
        let block = summary_block(&text);
        let is_shorter = length(block.clone()) < most;
        self.note_made(
            desk.who.kept.iteration,
            match is_shorter {
                true => Summarized::Shorter,
                false => Summarized::NotShorter,
            },
        );
        if is_shorter {
            self.transcript.replace_first(open.cut, vec![block]);
            let duration_ms = desk.ledger.now_ms.saturating_sub(open.started_ms);
            self.tell_boundary(desk, open.trigger, open.pre_tokens, duration_ms);
        }
        let messages = self.transcript.messages().len();
        self.length.in_vain_at = self.is_full(desk).then_some(messages);
        if is_shorter {
            return tell_summary(desk, open.trigger, &text);
        }
        if let Some(mut failure) = open.overflow {
            failure.message.push_str(NOT_SHORTER);
            return Next::Fail(failure);
        }
        let message = "A summary would not be shorter than what it stands for.";
        desk.warn(NO_SUMMARY, message.into());
        Next::Send
    }

    /// Notes that a summary was made, or that it was tried in vain.
    fn note_made(&mut self, iteration: u32, outcome: Summarized) {
        self.length.summarized_in = iteration;
        self.length.last = outcome;
        self.length.making = None;
    }
}

impl Summary {
    /// Returns true if this is the request for the summary.
    pub(crate) fn is_asked_by(&self, request: EffectId) -> bool {
        let call = self.call.as_ref();
        call.is_some_and(|call| call.request == Some(request))
    }

    /// Asks the `PreCompact` hooks. Returns false if there are none.
    pub(crate) fn ask_hooks(&self, desk: &mut Desk<'_>) -> bool {
        let (point, name) = (Point::PreCompact, word(self.trigger));
        if !desk.has_hooks(point, &name) {
            return false;
        }
        let facts = Facts::Compact {
            trigger: self.trigger,
            pre_tokens: self.pre_tokens,
            instructions: self.instructions.as_deref(),
        };
        desk.ask(Ask::new(point, About::Phase, &facts).named(&name));
        true
    }

    /// Asks your function for the summary. Returns false if the model is to write it.
    pub(crate) fn ask(&self, desk: &mut Desk<'_>, messages: &[Message]) -> bool {
        if !desk.config.context.ask {
            return false;
        }
        let facts = Facts::Summarize {
            trigger: self.trigger,
            instructions: self.instructions.as_deref(),
            messages: messages.get(..self.cut).unwrap_or(messages),
        };
        desk.ask(Ask::new(Point::Summarize, About::Phase, &facts));
        true
    }

    /// Sends the request for the summary, also as a retry. Returns false if there is no such request.
    pub(crate) fn send(&mut self, desk: &mut Desk<'_>, transcript: &Transcript) -> bool {
        desk.who.kept.attempt += 1;
        if let Err(error) = self.body(desk, transcript) {
            let message = unwritten("its request cannot be made: ", &error.to_text());
            desk.warn(NO_SUMMARY, message);
            return false;
        }
        self.call = Some(Box::new(open_request(desk)));
        true
    }

    /// The body of the request: the conversation as it was sent, and the prompt for the summary.
    pub(crate) fn body(&mut self, desk: &Desk<'_>, transcript: &Transcript) -> Result<&[u8], ConfigError> {
        let model = &desk.who.model;
        if self.body.is_empty() {
            let mut prompt = PROMPT.to_owned();
            if let Some(instructions) = &self.instructions {
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
            self.body = transcript.body_about(model.protocol, &spec, self.cut, &prompt)?;
        }
        Ok(&self.body)
    }

    /// The text of a summary whose response is complete; empty for an answer that cannot be one.
    pub(crate) fn finished(&mut self, desk: &mut Desk<'_>, answers: &mut Answers) -> Option<String> {
        let mut call = self.call.take()?;
        answers.count(desk, &mut call.answer);
        if let Some(why) = no_summary(&call.answer) {
            desk.warn(NO_SUMMARY, unwritten(why, ""));
            return Some(String::new());
        }
        let parts = call.answer.parts.iter();
        let texts = parts.filter(|part| part.kind == PartKind::Text);
        Some(texts.map(|part| part.text.as_str()).collect())
    }

    /// Lets a failed request be sent again. Returns false after the last attempt.
    pub(crate) fn retry(&mut self, desk: &mut Desk<'_>, failure: Failure, answers: &mut Answers) -> bool {
        if let Some(mut call) = self.call.take() {
            close_request(&mut call, desk, true);
            answers.count(desk, &mut call.answer);
        }
        let (policy, seed) = (&desk.config.retry, desk.ledger.seed);
        let attempt = desk.who.kept.attempt;
        if let Some(delay_ms) = self.tries.delay_ms(policy, attempt, &failure, seed) {
            retry_after(desk, delay_ms, failure);
            return true;
        }
        let kind = EventKind::Warning {
            code: NO_SUMMARY.into(),
            message: unwritten("the model call failed: ", &failure.message),
            error: Some(failure),
        };
        desk.emit(kind);
        false
    }
}

/// Tells the `PostCompact` hooks of the summary before the request goes out.
fn tell_summary(desk: &mut Desk<'_>, trigger: CompactTrigger, summary: &str) -> Next {
    let (point, name) = (Point::PostCompact, word(trigger));
    if !desk.has_hooks(point, &name) {
        return Next::GuardInput;
    }
    let facts = Facts::Compacted { trigger, summary };
    desk.ask(Ask::new(point, About::Phase, &facts).named(&name));
    Next::Wait
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
