//! The end of an agent: complete, stopped by a limit, cancelled or failed.
//!
//! `complete` asks the `Stop` hooks when the model has nothing left to answer. `stop`, `cancel` and `end_failed` are
//! called in any phase. They first close the open request, questions and calls. All received text, usage and results
//! remain. `end` is called by steps without open work. An agent ends once and leaves no effect open. `report.rs` has
//! the report to its caller.

use crate::engine::agent::Agent;
use crate::engine::agent::answer_events::take_back_blocks;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::history::emit_messages;
use crate::engine::agent::machine::step::Now;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::agent::request::close_request;
use crate::engine::model::error::Failure;
use crate::engine::model::event::{EventKind, ToolFault};
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::journal::Step;
use crate::engine::model::message::Block;
use crate::engine::model::outcome::{Outcome, OutcomeKind, StoppedBy};
use crate::engine::model::question::{Facts, Point};

impl Agent {
    /// Ends the agent, unless a `Stop` hook makes the model continue.
    pub(crate) fn complete(&mut self, ctx: &mut AgentContext<'_>) {
        let (point, name) = ctx.identity.its_point(Point::Stop, Point::SubagentStop);
        if !ctx.has_hooks(point, &name) {
            return self.end(ctx, completed());
        }
        let facts = Facts::Stop {
            tool_call_id: ctx.identity.its_call(),
            stop_hook_active: self.iteration.is_kept_going(),
            last_assistant_message: self.answers.reply().text(),
        };
        ctx.ask(Ask::new(point, About::Phase, &facts).named(&name));
        self.machine.enter(Step::Complete, Now::Nothing);
    }

    pub(crate) fn after_stop_hooks(&mut self, ctx: &mut AgentContext<'_>, mut verdict: HookAnswer) {
        let mut told = std::mem::take(&mut verdict.context);
        if verdict.denies() {
            let default_reason = || "Continue: you have not finished.".to_owned();
            told.insert(0, verdict.reason.unwrap_or_else(default_reason));
        }
        if verdict.stop.is_some() {
            return self.end(ctx, completed());
        }
        if !told.is_empty() {
            self.iteration.keep_going();
            let told = told.into_iter().map(Block::notice);
            self.history.transcript.push_user(told.collect());
            return self.hand_over(ctx, true);
        }
        if !self.inbox.is_empty() && ctx.limit_on_iteration().is_none() {
            self.hand_over(ctx, false)
        } else {
            self.end(ctx, completed())
        }
    }

    /// Stops the agent at a limit. Running calls are aborted, and messages that were not delivered stay in the inbox.
    pub fn stop(&mut self, ctx: &mut AgentContext<'_>, stopped_by: StoppedBy) {
        self.halt(ctx, "the run was stopped");
        self.end(ctx, stopped(stopped_by));
    }

    /// Ends the agent because your code has aborted it.
    pub fn cancel(&mut self, ctx: &mut AgentContext<'_>, why: String) {
        self.halt(ctx, "the run was aborted");
        ctx.emit(EventKind::Abort { reason: why.clone() });
        let outcome = Outcome {
            abort_reason: Some(why),
            ..outcome(OutcomeKind::Cancelled)
        };
        self.end(ctx, outcome);
    }

    pub(crate) fn end_failed(&mut self, ctx: &mut AgentContext<'_>, error: Failure) {
        self.halt(ctx, "the run failed");
        ctx.emit(EventKind::Error { error: error.clone() });
        let outcome = Outcome {
            error: Some(error),
            ..outcome(OutcomeKind::Failed)
        };
        self.end(ctx, outcome);
    }

    /// Stops the agent for the reason that a hook or a guardrail has given.
    pub(crate) fn stop_because(&mut self, ctx: &mut AgentContext<'_>, stopped_by: StoppedBy, why: String) {
        self.halt(ctx, "the run was stopped");
        let outcome = Outcome {
            abort_reason: Some(why),
            ..stopped(stopped_by)
        };
        self.end(ctx, outcome);
    }

    /// Closes all open work, without discarding what was received.
    fn halt(&mut self, ctx: &mut AgentContext<'_>, why: &str) {
        if let Some(call) = self.machine.call_mut() {
            close_request(call, ctx, true);
        }
        ctx.withdraw_asks();
        let now = self.machine.leave();
        if let Now::Judging { blocks, .. } = &now {
            take_back_blocks(ctx, *blocks);
        }
        self.calls.batch.abort(ctx, why);
        match now {
            Now::Reading(call) => {
                let (calls, history) = (&mut self.calls, &mut self.history);
                self.answers.keep_partial(ctx, call.answer, calls, history);
            }
            Now::Summarizing(mut summary) => {
                if let Some(call) = summary.call_mut() {
                    self.answers.count(ctx, &mut call.answer);
                }
            }
            Now::HandingOver(Some(handover)) => drop(ctx.ledger.close(handover)),
            _ => {}
        }
    }

    pub(crate) fn end(&mut self, ctx: &mut AgentContext<'_>, outcome: Outcome) {
        self.history.emit_new_messages(ctx);
        let told = self.history.transcript.whole_len();
        emit_messages(ctx, self.messages().iter().skip(told).cloned());
        ctx.ledger.timers.clear(ctx.identity.iteration_timer());
        ctx.withdraw_all();
        ctx.ledger.accounts.count(ctx.identity.agent, None);
        for call in self.calls.batch.calls().iter().filter(|call| !call.is_done()) {
            let kind = EventKind::ToolError {
                tool_call_id: call.id().to_owned(),
                tool_name: call.name().to_owned(),
                updated_input: None,
                updated_input_hash: None,
                error: ToolFault::not_run(),
                duration_ms: 0,
            };
            ctx.emit(kind);
        }
        self.finish_iteration(ctx);
        self.machine.enter(Step::Ended(outcome.clone()), Now::Nothing);
        ctx.emit(EventKind::AgentFinish { outcome });
    }
}

/// The outcome of an agent whose model has finished.
pub(crate) fn completed() -> Outcome {
    outcome(OutcomeKind::Completed)
}

/// The outcome of an agent that was stopped.
pub(crate) fn stopped(stopped_by: StoppedBy) -> Outcome {
    Outcome {
        stopped_by: Some(stopped_by),
        ..outcome(OutcomeKind::Stopped)
    }
}

fn outcome(kind: OutcomeKind) -> Outcome {
    Outcome {
        outcome: kind,
        stopped_by: None,
        abort_reason: None,
        error: None,
    }
}
