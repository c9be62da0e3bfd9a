//! Guardrails: what the model gets, what it answers and which tools it calls, let through, rewritten or denied.

use serde::{Deserialize, Serialize};

use crate::engine::agent::answer::structured::answer_with;
use crate::engine::agent::asks::Wait;
use crate::engine::agent::calls::batch::CallPhase;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::transcript::Transcript;
use crate::engine::agent::{Agent, Desk};
use crate::engine::json::reader::string;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event::EventKind;
use crate::engine::model::message::{Block, Message, ToolInput};
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::question::{Facts, Point};
use crate::engine::policy::hook::HookAnswer;

/// An answer that waits for its guardrails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guarded {
    message: Message,
    calls: Vec<WrittenCall>,
    text: String,
    /// How many blocks of it the host was told.
    pub blocks: u32,
}

impl Agent {
    /// The next request goes out when the guardrails have let its messages through.
    pub(crate) fn guard_input(&mut self, desk: &mut Desk<'_>) {
        if !desk.has_hooks(Point::InputGuardrail, "") {
            return self.start_iteration(desk);
        }
        // What is looked at is what is sent.
        self.fit_history(desk);
        self.ask_about_input(desk);
    }

    /// A summary stands in the request of an iteration that has begun: no guardrail has seen that one.
    pub(crate) fn guard_summary(&mut self, desk: &mut Desk<'_>) {
        if !desk.has_hooks(Point::InputGuardrail, "") {
            return self.send(desk);
        }
        self.ask_about_input(desk);
    }

    fn ask_about_input(&mut self, desk: &mut Desk<'_>) {
        let transcript = self.tuned.as_deref().unwrap_or(&self.transcript);
        let messages = transcript.messages();
        let data = Facts::Input { messages }.to_json();
        self.ask(desk, Point::InputGuardrail, "", data, Wait::Point);
    }

    pub(crate) fn after_input(&mut self, desk: &mut Desk<'_>, verdict: HookAnswer) {
        if verdict.denies() {
            return self.end_denied(desk, "Input", verdict.reason);
        }
        if let Some(messages) = verdict.messages
            && messages != self.transcript.messages()
        {
            match Transcript::to_send(messages) {
                Ok(transcript) => {
                    self.transcript = transcript;
                    let message = "An input guardrail has rewritten the messages.".into();
                    self.warn(desk, "messages_rewritten", message);
                }
                Err(error) => return self.end_denied(desk, "Input", Some(error.to_text())),
            }
        }
        if self.iteration_open {
            return self.send(desk);
        }
        self.start_iteration(desk);
    }

    /// The answer counts when the guardrails have let it through. `shown`: how many blocks the host was told.
    pub(crate) fn guard_answer(
        &mut self,
        desk: &mut Desk<'_>,
        message: Message,
        calls: Vec<WrittenCall>,
        shown: usize,
    ) {
        let point = Point::OutputGuardrail;
        if message.content.is_empty() || !desk.has_hooks(point, "") {
            return self.take_answer(desk, message, calls);
        }
        let told = as_told(&message, desk);
        let data = Facts::Output { message: &told }.to_json();
        let guarded = Guarded {
            message,
            calls,
            // What the answer continues has been let through.
            text: std::mem::replace(&mut self.text, self.text_before.clone()),
            blocks: shown as u32,
        };
        self.ask(desk, point, "", data, Wait::Output(guarded));
    }

    pub(crate) fn after_output(&mut self, desk: &mut Desk<'_>, guarded: Guarded, verdict: HookAnswer) {
        let Guarded {
            mut message,
            mut calls,
            text,
            blocks,
        } = guarded;
        if verdict.denies() {
            self.withhold(desk, blocks);
            return self.end_denied(desk, "Output", verdict.reason);
        }
        self.text = text;
        let rewrite = verdict
            .updated_output
            .as_ref()
            .and_then(|json| string(json.as_str()));
        if let Some(rewrite) = rewrite {
            self.rewrite(desk, &mut message, &mut calls, &rewrite, blocks);
        }
        self.take_answer(desk, message, calls);
    }

    /// The text of an answer is replaced, also where it is a call that gives the answer that is owed; its other calls and
    /// its thinking stay.
    fn rewrite(
        &mut self,
        desk: &mut Desk<'_>,
        message: &mut Message,
        calls: &mut [WrittenCall],
        rewrite: &str,
        blocks: u32,
    ) {
        self.withhold(desk, blocks);
        self.text = [&*self.text_before, rewrite].concat();
        let is_text = |block: &Block| matches!(block, Block::Text { .. } | Block::Refusal { .. });
        let at = message.content.iter().position(is_text);
        message.content.retain(|block| !is_text(block));
        let answers = calls
            .iter_mut()
            .filter(|call| desk.config.is_answer_tool(&call.name));
        let mut is_call = false;
        for call in answers {
            is_call = true;
            answer_with(call, rewrite);
            for block in &mut message.content {
                match block {
                    Block::ToolCall { id, input, .. } if *id == call.id => input.clone_from(&call.input),
                    _ => {}
                }
            }
        }
        if rewrite.trim().is_empty() {
            return;
        }
        if !is_call {
            let at = at.unwrap_or(0).min(message.content.len());
            message.content.insert(at, Block::text(rewrite));
        }
        let place = self.place();
        let (block, text) = (blocks, rewrite.to_owned());
        desk.ledger.emit(place, EventKind::TextStart { block });
        desk.ledger.emit(place, EventKind::TextDelta { block, text });
        desk.ledger.emit(place, EventKind::TextEnd { block });
    }

    /// What the host was told of an answer is void.
    pub(crate) fn withhold(&mut self, desk: &mut Desk<'_>, blocks: u32) {
        let blocks = (0..blocks).collect();
        desk.ledger.emit(self.place(), EventKind::Reset { blocks });
    }

    pub(crate) fn after_tool_guardrail(&mut self, desk: &mut Desk<'_>, index: usize, verdict: HookAnswer) {
        if verdict.denies() {
            let reason = verdict.reason.unwrap_or_default();
            let message = ["Tool denied by guardrail: ", &reason].concat();
            return self.deny(desk, index, Some(&message), "", false);
        }
        if self.change_input(desk, index, verdict.updated_input) && !self.deny_by_rule(desk, index) {
            self.tools.set_phase(index, CallPhase::Queued);
        }
    }

    fn end_denied(&mut self, desk: &mut Desk<'_>, which: &str, reason: Option<String>) {
        let reason = reason.unwrap_or_default();
        let message = [which, " guardrail denied: ", &reason].concat();
        let error = Failure::new(FailureCode::Guardrail, &message);
        desk.ledger.emit(self.place(), EventKind::Error { error });
        self.stop_because(desk, StoppedBy::Guardrail, message);
    }
}

/// An answer as the host was told it: a call that gives the answer that is owed is text.
fn as_told(message: &Message, desk: &Desk<'_>) -> Message {
    let mut told = message.clone();
    for block in &mut told.content {
        let text = match block {
            Block::ToolCall { name, input, .. } if desk.config.is_answer_tool(name) => match input {
                ToolInput::Json(json) => json.as_str().to_owned(),
                ToolInput::Invalid(text) => std::mem::take(text),
            },
            _ => continue,
        };
        *block = Block::text(text);
    }
    told
}
