//! The tool calls of an answer: read, checked, judged, run and answered.
//!
//! [`Calls`] owns the batch at hand, the records of all calls before it, and the text that hooks add to the results.
//! For a whole answer the agent calls [`Calls::read`], [`Calls::take_in`], [`Calls::limit`], [`Calls::prepare`] and
//! [`Calls::advance`]. Each result, time-out, save and answer to a question then comes in through a method of its own
//! ([`Calls::finished`] for a result), which lets the other calls advance itself. After each of them the agent does
//! what [`Next`](crate::engine::agent::next::Next) says, and calls [`Calls::close`] when the round is over.
//!
//! [`Calls::start_early`] starts calls while their answer streams, and [`Calls::drop_early`] forgets them with a
//! failed attempt. [`Calls::shelve`] closes the calls of an answer that goes no further. [`Calls::abort`] ends the
//! running calls of an agent that ends.
//!
//! A call that fails gets a fault as its result, which the model can answer. A fault that is not recoverable stops
//! the agent. An unknown tool ends the run only with `onUnknownTool: "throw"`. Nothing here sends a request or writes
//! the transcript.

pub(crate) mod approval;
pub mod batch;
pub mod call;
pub(crate) mod check;
pub(crate) mod delegation;
pub(crate) mod early;
pub(crate) mod elicitation;
pub(crate) mod hooks;
pub(crate) mod permission;
pub(crate) mod restore;
pub(crate) mod run;
pub(crate) mod stopping;
pub(crate) mod words;
pub(crate) mod written;

pub(super) use restore::calls_of;

use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::desk::Desk;
use crate::engine::model::config::permission::Reading;
use crate::engine::model::error::Failure;
use crate::engine::model::event::ToolFault;
use crate::engine::model::journal::{CallState, CallsState, Successor};
use crate::engine::model::message::Block;
use crate::engine::model::outcome::{StoppedBy, ToolCallRecord};
use crate::engine::policy::repeat::Advice;

/// The tool calls of an agent.
#[derive(Clone, Default)]
pub struct Calls {
    kept: CallsState,
    pub batch: Batch,
    /// Texts of the batch's calls, as the platform reads them for the rules.
    readings: Vec<Reading>,
    /// The calls of all rounds before.
    pub records: Vec<ToolCallRecord>,
    /// Index of the first record of the last round.
    pub round_start: usize,
    /// The states of the open round's calls, until a restored agent goes on.
    pub restored: Vec<CallState>,
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
    /// The calls of a checkpoint. `calls` are the states of the open round, and `last_round` is the number of the
    /// records of the round before.
    pub fn restored(
        kept: CallsState,
        calls: Vec<CallState>,
        records: Vec<ToolCallRecord>,
        last_round: usize,
    ) -> Calls {
        Calls {
            kept,
            batch: Batch::default(),
            readings: Vec::new(),
            round_start: records.len().saturating_sub(last_round),
            records,
            restored: calls,
        }
    }

    pub fn kept(&self) -> &CallsState {
        &self.kept
    }

    /// The number of rounds that are over.
    pub fn rounds(&self) -> u32 {
        self.kept.rounds
    }

    /// Takes out the text of hooks that goes beside the next content.
    pub fn take_notes(&mut self) -> Vec<Block> {
        std::mem::take(&mut self.kept.notes)
    }

    /// Takes out the agent that takes the conversation over.
    pub fn take_successor(&mut self) -> Option<Successor> {
        self.kept.successor.take()
    }

    /// Makes room for the calls of another answer.
    pub fn begin(&mut self) {
        // The batch still counts the parts of an answer that had no calls.
        drop(self.take_batch());
    }

    /// Takes out the calls of an answer that is done with.
    fn take_batch(&mut self) -> Batch {
        self.readings.clear();
        std::mem::take(&mut self.batch)
    }

    /// Keeps what the platform has read for the rules.
    pub fn note_readings(&mut self, readings: Vec<Reading>) {
        self.readings.extend(readings);
    }

    /// Takes the calls of a whole answer. Calls that have started early stand in the batch already.
    ///
    /// # Errors
    /// A call of an unknown tool, with `onUnknownTool: "throw"`.
    pub fn take_in(&mut self, desk: &mut Desk<'_>, written: Vec<WrittenCall>) -> Result<(), Failure> {
        if !self.restored.is_empty() {
            self.take_restored(desk, written);
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
            let fault = self.problem_of(&call, desk);
            let index = self.batch.list(desk, call, false);
            if let Some(message) = repaired {
                desk.warn("repaired_arguments", message);
            }
            faults.extend(fault.map(|fault| (index, fault)));
        }
        for (index, fault) in faults {
            self.batch.fail(desk, index, fault);
        }
        self.unregistered(desk).map_or(Ok(()), Err)
    }

    /// Closes the calls of an answer without running them. They are recorded and get results that say so. Calls that
    /// have started early keep their results, or are aborted.
    pub fn shelve(&mut self, desk: &mut Desk<'_>, written: Vec<WrittenCall>) -> Vec<Block> {
        if written.is_empty() {
            return Vec::new();
        }
        desk.withdraw_asks();
        self.batch
            .abort(desk, "the answer that asked for it goes no further");
        let early = self.batch.calls().len();
        self.batch.leave_all(desk);
        // Tools that ran while the answer streamed are a round, even if the answer was given up.
        self.kept.rounds += u32::from(early > 0);
        let mut batch = self.take_batch();
        batch.list_unrun(desk, written.into_iter().skip(early));
        self.records.extend(batch.told().map(|call| call.record(false)));
        batch.results()
    }

    /// Ends the round: keeps its records and returns its results for the model.
    pub fn close(&mut self, desk: &mut Desk<'_>) -> Round {
        let batch = self.take_batch();
        self.round_start = self.records.len();
        self.records.extend(batch.told().map(|call| call.record(false)));
        self.kept.rounds += 1;
        self.kept.round_iteration = desk.who.kept.iteration;
        let round = self.records.get(self.round_start..).unwrap_or_default();
        let advice = self.kept.repeats.note(&desk.config.repeat, round);
        let mut more = std::mem::take(&mut self.kept.notes);
        if let Advice::Nudge(times) | Advice::Ask(times) = advice {
            let message = format!(
                "You have made the same tool calls with the same results {} times. Do something else, or answer with what you know.",
                times
            );
            desk.warn("repeat", message.clone());
            more.push(Block::notice(message));
        }
        Round {
            results: batch.results(),
            more,
            // A structured answer is still owed.
            is_last: desk.config.output.is_none() && batch.calls().iter().all(|call| call.terminates),
            advice,
        }
    }

    /// The calls of the round that is over.
    pub fn last_round(&self) -> &[ToolCallRecord] {
        self.records.get(self.round_start..).unwrap_or_default()
    }

    /// The calls of the last round, if it was in this iteration.
    pub fn round_of(&self, iteration: u32) -> &[ToolCallRecord] {
        if self.kept.round_iteration == iteration {
            self.last_round()
        } else {
            &[]
        }
    }

    /// The number of calls in earlier rounds and in the batch.
    fn count(&self) -> usize {
        self.records.len() + self.batch.told().count()
    }

    /// Counts the calls of a whole answer, for the agents above too.
    pub fn note_count(&self, desk: &mut Desk<'_>) {
        desk.ledger.accounts.note_tool_calls(desk.who.agent, self.count());
    }

    /// The limit that keeps the calls of an answer, and `more` calls, from being run.
    pub fn limit(&self, desk: &Desk<'_>, more: usize) -> Option<StoppedBy> {
        let most = desk.limits().max_tool_rounds;
        if let Some(stopped_by) = desk.overrun() {
            // If two limits are reached together, the number of iterations is told.
            let is_last = Some(desk.who.kept.iteration) >= desk.limits().max_iterations;
            let is_budget = matches!(stopped_by, StoppedBy::Tokens | StoppedBy::Usd);
            return Some(if is_last && is_budget {
                StoppedBy::Iterations
            } else {
                stopped_by
            });
        }
        if most.is_some_and(|most| self.kept.rounds >= most) {
            return Some(StoppedBy::ToolRounds);
        }
        let accounts = &desk.ledger.accounts;
        let count = self.count() + more;
        let new = count.saturating_sub(accounts.own_tool_calls(desk.who.agent));
        accounts
            .overcalled(desk.who.agent, new)
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
