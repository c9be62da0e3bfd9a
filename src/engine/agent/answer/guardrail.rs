//! The output guardrail, which lets an answer through, rewrites it or denies it.
//!
//! [`Agent::guard_answer`] asks it about each complete answer, before anything follows from that answer. The answer
//! waits as a [`Step::Judge`]. A denial stops the agent with `stoppedBy: "guardrail"`, and the text that was streamed
//! is taken back.

use looplet_scan::reader::string;

use crate::engine::agent::Agent;
use crate::engine::agent::answer::structured::answer_with;
use crate::engine::agent::answer::telling::take_back_blocks;
use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::desk::Desk;
use crate::engine::agent::machine::step::{Now, Phase};
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event::EventKind;
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::journal::Step;
use crate::engine::model::message::{Block, Message, ToolInput};
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::question::{Facts, Point};

impl Agent {
    /// Asks the output guardrail about the answer. Without a guardrail the answer counts at once. `shown` is the
    /// number of blocks that your code has been told.
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
        let facts = Facts::Output { message: &told };
        desk.ask(Ask::new(point, About::Phase, &facts));
        let cut_off = calls.iter().filter(|call| call.is_cut_off);
        let step = Step::Judge {
            message,
            text: self.answers.reply.hold_back(),
            cut_off: cut_off.map(|call| call.id.clone()).collect(),
        };
        let blocks = shown as u32;
        self.machine.enter(step, Now::Judging { calls, blocks });
    }

    pub(crate) fn after_output(&mut self, desk: &mut Desk<'_>, verdict: HookAnswer) {
        if !self.machine.is(Phase::Judging) {
            return;
        }
        let (
            Step::Judge {
                mut message, text, ..
            },
            Now::Judging { mut calls, blocks },
        ) = (self.machine.take_step(), self.machine.leave())
        else {
            return;
        };
        if verdict.denies() {
            take_back_blocks(desk, blocks);
            return self.end_denied(desk, "Output", verdict.reason);
        }
        self.answers.reply.text = Some(text);
        let rewrite = verdict
            .updated_output
            .as_ref()
            .and_then(|json| string(json.as_str()));
        if let Some(rewrite) = rewrite {
            self.rewrite(desk, &mut message, &mut calls, &rewrite, blocks);
        }
        self.take_answer(desk, message, calls);
    }

    /// Replaces the text of an answer. A call that gives a structured answer gets the new text as its input. Other
    /// calls and the thinking stay.
    fn rewrite(
        &mut self,
        desk: &mut Desk<'_>,
        message: &mut Message,
        calls: &mut [WrittenCall],
        rewrite: &str,
        blocks: u32,
    ) {
        take_back_blocks(desk, blocks);
        self.answers.reply.text = Some(format!("{}{rewrite}", self.answers.reply.text_before));
        let is_text = |block: &Block| matches!(block, Block::Text { .. } | Block::Refusal { .. });
        let at = message.content.iter().position(is_text);
        message.content.retain(|block| !is_text(block));
        let answers = calls.iter_mut().filter(|call| call.is_answer(desk));
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
        let (block, text) = (blocks, rewrite.to_owned());
        let refusal = false;
        desk.emit(EventKind::TextStart { block, refusal });
        desk.emit(EventKind::TextDelta { block, text });
        desk.emit(EventKind::TextEnd { block });
    }

    pub(crate) fn end_denied(&mut self, desk: &mut Desk<'_>, which: &str, reason: Option<String>) {
        let reason = reason.unwrap_or_default();
        let message = format!("{which} guardrail denied: {reason}");
        let error = Failure::new(FailureCode::Guardrail, &message);
        desk.emit(EventKind::Error { error });
        self.stop_because(desk, StoppedBy::Guardrail, message);
    }
}

/// The answer as your code was told it, where a call that gives a structured answer is text.
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
