//! The output guardrail, which accepts an answer, rewrites it or denies it.
//!
//! [`Answers::ask_guardrail`] asks it about each complete answer, before the answer is used. The text is held
//! meanwhile. A denial stops the agent with `stoppedBy: "guardrail"` ([`denied`]).

use looplet_scan::reader::string;

use crate::engine::agent::answer::Answers;
use crate::engine::agent::answer::message::CompleteAnswer;
use crate::engine::agent::answer::structured::answer_with;
use crate::engine::agent::answer_events::take_back_blocks;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::next::Next;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event::EventKind;
use crate::engine::model::message::{Block, Json, Message, ToolInput};
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::question::{Facts, Point};

impl Answers {
    /// Asks the output guardrail about the answer. Returns false without a guardrail.
    pub fn ask_guardrail(&self, ctx: &mut AgentContext<'_>, message: &Message) -> bool {
        let point = Point::OutputGuardrail;
        if message.content.is_empty() || !ctx.has_hooks(point, "") {
            return false;
        }
        let told = as_reported(message, ctx);
        let facts = Facts::Output { message: &told };
        ctx.ask(Ask::new(point, About::Phase, &facts));
        true
    }

    /// Removes the text until it is accepted. The text that it continues has already been accepted.
    pub fn hold_back(&mut self) -> String {
        let reply = &mut self.kept.reply;
        let text = reply.text.replace(reply.text_before.clone());
        text.unwrap_or_default()
    }

    /// Gives the text back that was held back.
    pub fn let_through(&mut self, text: String) {
        self.kept.reply.text = Some(text);
    }

    /// Replaces the answer's text with the guardrail's. For a structured answer, the text becomes the input of its
    /// call. Other calls and the thinking do not change.
    pub fn rewrite(
        &mut self,
        ctx: &mut AgentContext<'_>,
        answer: &mut CompleteAnswer,
        output: Option<&Json>,
    ) {
        let Some(rewrite) = output.and_then(|json| string(json.as_str())) else {
            return;
        };
        let CompleteAnswer {
            message,
            calls,
            blocks,
        } = answer;
        let block = *blocks;
        take_back_blocks(ctx, block);
        let reply = &mut self.kept.reply;
        reply.text = Some(format!("{}{rewrite}", reply.text_before));
        let is_text = |block: &Block| matches!(block, Block::Text { .. } | Block::Refusal { .. });
        let at = message.content.iter().position(is_text);
        message.content.retain(|block| !is_text(block));
        let answers = calls.iter_mut().filter(|call| call.is_answer(ctx));
        let mut is_call = false;
        for call in answers {
            is_call = true;
            answer_with(call, &rewrite);
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
            message.content.insert(at, Block::text(&*rewrite));
        }
        let (text, refusal) = (rewrite.into_owned(), false);
        ctx.emit(EventKind::TextStart { block, refusal });
        ctx.emit(EventKind::TextDelta { block, text });
        ctx.emit(EventKind::TextEnd { block });
    }
}

/// Ends an agent after a guardrail has denied its input or output.
pub fn denied(ctx: &mut AgentContext<'_>, which: &str, reason: Option<String>) -> Next {
    let reason = reason.unwrap_or_default();
    let message = format!("{which} guardrail denied: {reason}");
    let error = Failure::new(FailureCode::Guardrail, &message);
    ctx.emit(EventKind::Error { error });
    Next::StopBecause(StoppedBy::Guardrail, message)
}

/// The answer in the form that your code receives: a call that gives a structured answer is text.
fn as_reported(message: &Message, ctx: &AgentContext<'_>) -> Message {
    let mut told = message.clone();
    for block in &mut told.content {
        let text = match block {
            Block::ToolCall { name, input, .. } if ctx.config.is_answer_tool(name) => match input {
                ToolInput::Json(json) => json.as_str().to_owned(),
                ToolInput::Invalid(text) => std::mem::take(text),
            },
            _ => continue,
        };
        *block = Block::text(text);
    }
    told
}
