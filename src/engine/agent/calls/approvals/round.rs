//! The last questions of a round, before the model gets its results: the hooks of the batch, and the wording of
//! errors.
//!
//! `Calls::advance` asks when all calls have ended. The round ends when both have answered. Without an answer, the
//! wording of an error does not change.

use crate::engine::agent::calls::approvals::Approvals;
use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::next::Next;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::outcome::{StoppedBy, ToolCallRecord};
use crate::engine::model::question::{Facts, FaultyCall, Point};

impl Approvals {
    /// Asks before the round ends, or waits for the answers. Returns false if nothing is left to ask.
    pub fn ask_before_end(&self, batch: &Batch, ctx: &mut AgentContext<'_>) -> bool {
        let point = Point::PostToolBatch;
        if ctx.questions.is_at(ctx.identity.agent, point)
            || ctx.questions.is_at(ctx.identity.agent, Point::WordErrors)
        {
            return true;
        }
        if !ctx.has_hooks(point, "") {
            return self.ask_for_words(batch, ctx);
        }
        let tool_calls: Vec<ToolCallRecord> = batch.told().map(|call| call.record(false)).collect();
        let facts = Facts::Batch {
            tool_calls: &tool_calls,
        };
        ctx.ask(Ask::new(point, About::Phase, &facts));
        true
    }

    pub fn after_batch(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        mut verdict: HookAnswer,
    ) -> Next {
        self.note(&mut verdict, true);
        if let Some(why) = verdict.stop {
            return Next::StopBecause(StoppedBy::Hook, why);
        }
        if self.ask_for_words(batch, ctx) {
            return Next::Wait;
        }
        Next::RoundOver
    }

    /// Asks `toolCalls.wordError` for the text of this round's errors. Returns false if there is nothing to ask.
    fn ask_for_words(&self, batch: &Batch, ctx: &mut AgentContext<'_>) -> bool {
        if !ctx.config.tool_calls.word_errors {
            return false;
        }
        let faulty = batch.told().filter_map(|call| {
            Some(FaultyCall {
                tool_call_id: call.id(),
                tool_name: call.name(),
                input: call.input(),
                error: call.shown_fault()?.to_json(),
            })
        });
        let errors: Vec<FaultyCall<'_>> = faulty.collect();
        if errors.is_empty() {
            return false;
        }
        let facts = Facts::Errors { errors };
        ctx.ask(Ask::new(Point::WordErrors, About::Phase, &facts));
        true
    }
}
