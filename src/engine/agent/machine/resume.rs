//! Repeats the step of an agent from a checkpoint.
//!
//! [`Agent::continue_from_checkpoint`] repeats the step that the agent was in when its process ended. A step that
//! waited for hooks asks them again, and an interrupted request is sent again. `calls/restore.rs` restores calls.

use crate::engine::agent::Agent;
use crate::engine::agent::answer::message::CompleteAnswer;
use crate::engine::agent::answer_events::take_back_blocks;
use crate::engine::agent::calls::calls_of;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::machine::step::Phase;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::journal::Step;
use crate::engine::model::message::{Block, Message, Role};
use crate::engine::model::outcome::OutcomeKind;

impl Agent {
    /// Repeats the step that the agent was in when its process ended. `reopens` means that a stopped run is resumed,
    /// perhaps with higher limits.
    pub fn continue_from_checkpoint(&mut self, ctx: &mut AgentContext<'_>, reopens: bool) {
        if !self.machine.is(Phase::Restored) {
            return;
        }
        match self.machine.take_step() {
            Step::Ready => {
                let why = "The journal ends before the prompt.";
                self.end_failed(ctx, Failure::new(FailureCode::ConfigInvalid, why));
            }
            Step::Prompt {
                content,
                is_opening: true,
                ..
            } => self.open_with(ctx, content),
            Step::Prompt {
                content,
                source,
                owes_answer,
                ..
            } => self.submit(ctx, content, &source, owes_answer),
            Step::Ask => {
                self.iteration.cut_off(ctx.identity);
                self.begin(ctx);
            }
            Step::Judge {
                message,
                text,
                cut_off,
            } => {
                self.answers.let_through(text);
                let answer = CompleteAnswer {
                    calls: calls_of(&message, &cut_off, ctx),
                    message,
                    blocks: 0,
                };
                self.guard_answer(ctx, answer);
            }
            Step::Act => self.act_again(ctx),
            Step::Close { repeats } => self.judge_round(ctx, repeats),
            Step::HandOver { owes_answer } => self.hand_over(ctx, owes_answer),
            Step::Complete => self.complete(ctx),
            Step::Ended(outcome) if outcome.outcome == OutcomeKind::Completed || !reopens => {
                self.end(ctx, outcome)
            }
            Step::Ended(_) => match self.history.transcript.messages().last() {
                Some(last) if last.role == Role::Assistant && has_calls(last) => self.act_again(ctx),
                last => {
                    let owes_answer = last.is_some_and(|last| last.role == Role::User);
                    self.hand_over(ctx, owes_answer);
                }
            },
        }
    }

    /// Lists the calls of the open round with their states. `continues` is false for a run that does not continue.
    pub fn recall_calls(&mut self, ctx: &mut AgentContext<'_>, continues: bool) {
        let last = self.history.transcript.messages().last();
        if let Some(last) = last.filter(|last| last.role == Role::Assistant) {
            let calls = calls_of(last, &[], ctx);
            self.calls.recall(ctx, calls, continues);
        }
    }

    /// Resets the emitted blocks of an answer that was lost, if the model is asked again.
    pub fn take_back_lost(&self, ctx: &mut AgentContext<'_>, blocks: u32) {
        if self.machine.is(Phase::Restored) && *self.machine.step() == Step::Ask {
            take_back_blocks(ctx, blocks);
        }
    }

    fn act_again(&mut self, ctx: &mut AgentContext<'_>) {
        let wait_ms = ctx.config.timeouts.iteration_ms;
        ctx.ledger.set_timer(ctx.identity.iteration_timer(), wait_ms);
        let last = self.history.transcript.messages().last();
        let calls = last.map(|answer| calls_of(answer, &[], ctx));
        self.act_on_answer(ctx, calls.unwrap_or_default());
    }
}

fn has_calls(message: &Message) -> bool {
    message
        .content
        .iter()
        .any(|block| matches!(block, Block::ToolCall { .. }))
}
