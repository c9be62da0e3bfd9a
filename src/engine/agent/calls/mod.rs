//! The tool calls of an agent: read, checked, judged, run and answered.
//!
//! | object | owns |
//! |---|---|
//! | [`Batch`] | the calls of the answer: their order, their states, their results |
//! | [`Approvals`] | questions about calls, and their answers: hooks, permissions, elicitations, reconciliation |
//! | [`Delegations`] | calls that other agents of the run answer |
//! | [`Rounds`] | the batches before: their records, and whether they repeat each other |
//!
//! [`Calls`] puts them together. For a complete answer the agent calls [`Calls::take_in`], [`Calls::limit`] and
//! [`Calls::set_out`]. `schedule.rs` then decides which call runs when: [`Calls::advance`] judges and starts calls.
//! Each result, timeout, save and answer to a question comes in through its own method, which returns the step that
//! follows. `Next::Advance` leads back to [`Calls::advance`], and `Next::RoundOver` to [`Calls::close`].
//! [`Calls::shelve`] closes the calls of an answer that is not used.
//!
//! A call that fails gets a fault as its result, which the model can answer. A fault that is not recoverable stops
//! the agent. An unknown tool ends the run only with `onUnknownTool: "throw"`. Nothing here sends a request or writes
//! the transcript.

pub(crate) mod approvals;
pub mod batch;
pub mod call;
pub(crate) mod check;
pub(crate) mod delegations;
pub(crate) mod restore;
pub mod rounds;
pub(crate) mod rules;
pub(crate) mod schedule;
pub(crate) mod written;

pub(super) use restore::calls_of;

use crate::engine::agent::calls::approvals::Approvals;
use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::calls::delegations::Delegations;
use crate::engine::agent::calls::rounds::Rounds;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::context::AgentContext;
use crate::engine::model::error::Failure;
use crate::engine::model::event::ToolFault;
use crate::engine::model::journal::{ApprovalsState, CallState, DelegationsState};
use crate::engine::model::message::Block;
use crate::engine::model::outcome::StoppedBy;
use crate::engine::policy::repeat::Advice;

/// The tool calls of an agent.
#[derive(Clone, Default)]
pub struct Calls {
    pub batch: Batch,
    pub approvals: Approvals,
    pub delegations: Delegations,
    pub rounds: Rounds,
    /// The states of the open round's calls, until a restored agent lists them.
    restored: Vec<CallState>,
}

/// A round that is over.
pub struct Round {
    /// The results for the model, in request order, and the text that comes with them.
    pub results: Vec<Block>,
    pub more: Vec<Block>,
    /// All of its calls want the run to end.
    pub is_last: bool,
    pub advice: Advice,
}

impl Calls {
    /// The calls of a checkpoint. `calls` are the states of the open round.
    pub fn restored(
        approvals: ApprovalsState,
        delegations: DelegationsState,
        calls: Vec<CallState>,
        rounds: Rounds,
    ) -> Calls {
        Calls {
            batch: Batch::default(),
            approvals: Approvals::restored(approvals),
            delegations: Delegations::restored(delegations),
            rounds,
            restored: calls,
        }
    }

    /// Starts without calls, for another answer.
    pub fn begin(&mut self) {
        // The batch still counts the parts of an answer that had no calls.
        drop(self.take_batch());
    }

    /// Takes out the calls of an answer that is over.
    fn take_batch(&mut self) -> Batch {
        self.approvals.forget_readings();
        std::mem::take(&mut self.batch)
    }

    /// Takes the calls of a complete answer. Calls that have started early are in the batch already.
    ///
    /// # Errors
    /// A call of an unknown tool, with `onUnknownTool: "throw"`.
    pub fn take_in(&mut self, ctx: &mut AgentContext<'_>, written: Vec<WrittenCall>) -> Result<(), Failure> {
        if !self.restored.is_empty() {
            self.take_restored(ctx, written);
            return Ok(());
        }
        let mut faults = Vec::new();
        self.batch.is_whole = true;
        let early = self.batch.calls().len();
        for call in written.into_iter().skip(early) {
            let repaired = call.repaired_by.map(|repair| {
                let what = " were not valid JSON; repaired by ";
                format!("The arguments of {}{what}{}", call.name, repair.name())
            });
            let fault = self.problem_of(&call, ctx);
            let index = self.batch.list(ctx, call, false);
            if let Some(message) = repaired {
                ctx.warn("repaired_arguments", message);
            }
            faults.extend(fault.map(|fault| (index, fault)));
        }
        for (index, fault) in faults {
            self.batch.fail(ctx, index, fault);
        }
        self.unregistered(ctx).map_or(Ok(()), Err)
    }

    /// Closes the calls of an answer without running them. They are recorded and get results that say so. Calls that
    /// have started early keep their results, or are aborted.
    pub fn shelve(&mut self, ctx: &mut AgentContext<'_>, written: Vec<WrittenCall>) -> Vec<Block> {
        if written.is_empty() {
            return Vec::new();
        }
        ctx.withdraw_asks();
        self.batch.abort(ctx, "the answer that requested it is not used");
        let early = self.batch.calls().len();
        self.batch.leave_all(ctx);
        let mut batch = self.take_batch();
        batch.list_unrun(ctx, written.into_iter().skip(early));
        self.rounds.add_unused(&batch, early > 0);
        batch.results()
    }

    /// Ends the round and returns its results for the model.
    pub fn close(&mut self, ctx: &mut AgentContext<'_>) -> Round {
        let batch = self.take_batch();
        let advice = self.rounds.add(ctx, &batch);
        let mut more = self.approvals.take_notes();
        if let Advice::Nudge(times) | Advice::Ask(times) = advice {
            let message = format!(
                "You have made the same tool calls with the same results {} times. Do something else, or answer with what you know.",
                times
            );
            ctx.warn("repeat", message.clone());
            more.push(Block::notice(message));
        }
        Round {
            results: batch.results(),
            more,
            // A structured answer is still owed.
            is_last: ctx.config.output.is_none() && batch.calls().iter().all(|call| call.terminates),
            advice,
        }
    }

    /// The number of calls in earlier rounds and in the batch.
    fn count(&self) -> usize {
        self.rounds.records().len() + self.batch.told().count()
    }

    /// Counts the calls of a complete answer, also for the agents above.
    pub fn note_count(&self, ctx: &mut AgentContext<'_>) {
        ctx.ledger
            .accounts
            .note_tool_calls(ctx.identity.agent, self.count());
    }

    /// The limit that prevents the calls of an answer, plus `more` calls, from running.
    pub fn limit(&self, ctx: &AgentContext<'_>, more: usize) -> Option<StoppedBy> {
        let most = ctx.limits().max_tool_rounds;
        if let Some(stopped_by) = ctx.overrun() {
            // If two limits are reached together, the number of iterations is reported.
            let is_last = Some(ctx.identity.kept.iteration) >= ctx.limits().max_iterations;
            let is_budget = matches!(stopped_by, StoppedBy::Tokens | StoppedBy::Usd);
            return Some(if is_last && is_budget {
                StoppedBy::Iterations
            } else {
                stopped_by
            });
        }
        if most.is_some_and(|most| self.rounds.count() >= most) {
            return Some(StoppedBy::ToolRounds);
        }
        let accounts = &ctx.ledger.accounts;
        let count = self.count() + more;
        let new = count.saturating_sub(accounts.own_tool_calls(ctx.identity.agent));
        accounts
            .overcalled(ctx.identity.agent, new)
            .map(|_| StoppedBy::ToolCalls)
    }
}

pub(crate) fn fault(code: &str, message: impl Into<String>, hint: &str) -> ToolFault {
    ToolFault {
        code: code.into(),
        message: message.into(),
        hint: hint.into(),
        recoverable: true,
    }
}
