//! The tool calls of one answer: their order, their states and their results.
//!
//! [`Batch`] owns the calls. [`Batch::list`] adds one, [`Batch::set`] changes its status so that the searches find
//! it, and [`Batch::finish`] gives it its result. [`Batch::next_to_start`] chooses the call that starts next. Only
//! the calls of a journal get their status with the rest of their state (`restore.rs`), and those of an answer that
//! is not used get theirs before they are in a batch ([`Batch::list_unrun`]).
//!
//! A batch opens no effect and asks no question. `schedule.rs` starts its calls, and `approvals` asks about them.

mod early;
mod listing;
mod results;

use std::ops::Range;

use crate::engine::agent::calls::call::{Call, Wait};
use crate::engine::model::config::ToolExecution;
use crate::engine::model::input::ToolCheckpoint;
use crate::engine::model::journal::{CallState, CallStatus, Elicitation};
use crate::engine::model::message::Json;
use crate::engine::model::outcome::ToolCallRecord;
use crate::engine::model::output::EffectId;
use crate::engine::policy::schedule;

/// All calls of one answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    calls: Vec<Call>,
    /// The number of parts of a streaming answer that have been looked at, to start their calls early.
    parts_seen: usize,
    /// No further call of the answer starts early.
    is_closed: bool,
    /// The answer is complete.
    pub is_whole: bool,
    /// The number of calls of each limited tool in the run, this batch included.
    counts: Vec<(String, u64)>,
    // An answer may have thousands of calls, so each input searches only between these indexes.
    /// All calls before this index are done.
    first_open: usize,
    /// No call before this index is still to be judged.
    unjudged: usize,
    /// No call before this index waits to be started.
    queued: usize,
    /// No call from this index on has been started.
    started: usize,
}

impl Batch {
    pub fn is_done(&self) -> bool {
        self.calls.iter().skip(self.first_open).all(Call::is_done)
    }

    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub fn get(&self, index: usize) -> Option<&Call> {
        self.calls.get(index)
    }

    /// A call, to change its data. [`Batch::set`] changes its status.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut Call> {
        self.calls.get_mut(index)
    }

    pub fn get_all_mut(&mut self) -> &mut [Call] {
        &mut self.calls
    }

    /// The calls that your code sees.
    pub fn told(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| !call.is_answer)
    }

    /// The number of calls of a tool, with those of earlier rounds.
    pub fn count(&mut self, name: &str, earlier: &[ToolCallRecord]) -> u64 {
        if let Some((_, count)) = self.counts.iter().find(|(tool, _)| tool == name) {
            return *count;
        }
        let records = earlier.iter().filter(|record| record.tool_name == name).count();
        let here = self.calls.iter().filter(|call| call.name() == name).count();
        let count = (records + here) as u64;
        self.counts.push((name.to_owned(), count));
        count
    }

    /// Brings a call to another status. Without a wait, the batch takes the call's next step automatically.
    pub fn set(&mut self, index: usize, status: CallStatus, waits: Option<Wait>) {
        let Some(call) = self.calls.get_mut(index) else {
            return;
        };
        (call.kept.status, call.waits) = (status, waits);
        // Each search starts no later than at a call that it must find.
        if call.is_to_judge() {
            self.unjudged = self.unjudged.min(index);
        } else if call.is_queued() {
            self.queued = self.queued.min(index);
        } else if call.under_way().is_some() {
            self.started = self.started.max(index + 1);
        }
    }

    /// Marks a call to be checked, also again.
    pub fn set_to_judge(&mut self, index: usize) {
        if let Some(call) = self.calls.get(index) {
            let status = match call.kept.gate.is_unasked() {
                true => CallStatus::Open,
                false => CallStatus::Passed,
            };
            self.set(index, status, None);
        }
    }

    /// The range of all calls that are still to be checked.
    pub fn to_judge(&self) -> Range<usize> {
        self.unjudged..self.calls.len()
    }

    /// Notes that all calls were judged, except those that still wait for it.
    pub fn note_judged(&mut self) {
        let rest = self.calls.iter().skip(self.unjudged);
        self.unjudged += rest.take_while(|call| !call.is_to_judge()).count();
    }

    /// The range of all calls that run or wait for their save.
    pub fn under_way(&self) -> Range<usize> {
        self.first_open..self.started
    }

    /// The index of the first queued call that may start, according to the mode and the maximum concurrency.
    pub fn next_to_start(&mut self, mode: ToolExecution, max_concurrency: u32) -> Option<usize> {
        let done = self.calls.iter().skip(self.first_open);
        self.first_open += done.take_while(|call| call.is_done()).count();
        let is_busy = |call: &&Call| call.under_way().is_some();
        let busy = self.calls.get(self.under_way()).unwrap_or_default();
        if busy.iter().filter(is_busy).count() >= max_concurrency as usize {
            return None;
        }
        let rest = self.calls.iter().skip(self.queued);
        self.queued += rest.take_while(|call| !call.is_queued()).count();
        for (index, call) in self.calls.iter().enumerate().skip(self.queued) {
            if !call.is_queued() {
                continue;
            }
            let before = self.calls.get(self.first_open..index).unwrap_or_default();
            let Some(blocker) = before.iter().find(|earlier| call.waits_for(earlier, mode)) else {
                return Some(index);
            };
            // Every later call waits too.
            if schedule::is_barrier(mode, blocker.traits()) || schedule::is_barrier(mode, call.traits()) {
                return None;
            }
        }
        None
    }

    /// Ties the calls that asked for a save to the one that was just made.
    pub fn note_save(&mut self, made: EffectId) {
        let under_way = self.under_way();
        for call in self.calls.get_mut(under_way).unwrap_or_default() {
            if let Some(Wait::Save(save @ None)) = &mut call.waits {
                *save = Some(made);
            }
        }
    }

    /// The calls that the journal may have to note. It notes none of an answer that still streams, because they can
    /// be taken back.
    pub fn to_note(&self) -> impl Iterator<Item = &CallState> {
        let calls = self.calls.iter().filter(|_| self.is_whole);
        calls
            .map(|call| &call.kept)
            .filter(|kept| kept.status != CallStatus::Open)
    }

    /// The running call of this effect.
    pub fn running(&self, effect: EffectId) -> Option<&Call> {
        self.calls.get(self.index_of(effect)?)
    }

    /// The index of the running call of this effect.
    pub fn index_of(&self, wanted: EffectId) -> Option<usize> {
        let is_it = |call: &Call| call.running() == Some(wanted);
        let under_way = self.under_way();
        let at = self.calls.get(under_way.clone())?.iter().position(is_it)?;
        Some(under_way.start + at)
    }

    /// Returns true if a user has been asked about one of the calls, or by it or an agent below it.
    pub fn awaits_person(&self, asking: &[EffectId]) -> bool {
        let asks_below = |call: &Call| call.begun().is_some_and(|effect| asking.contains(&effect));
        let open = self.calls.iter().skip(self.first_open);
        open.filter(|call| !call.is_done())
            .any(|call| call.kept.awaits_person() || asks_below(call))
    }

    /// Returns true for a running call that waits for the user.
    pub fn is_asking(&self, effect: EffectId) -> bool {
        let call = self.running(effect);
        call.is_some_and(|call| call.kept.elicitations.iter().any(Elicitation::is_open))
    }

    /// Saves the state from which a running call can continue, or drops the last one. `asked` is the number of its
    /// questions so far, whose answers are dropped.
    pub fn keep_checkpoint(&mut self, effect: EffectId, state: Option<Json>, asked: u32) {
        let index = self.index_of(effect);
        let Some(call) = index.and_then(|index| self.calls.get_mut(index)) else {
            return;
        };
        call.kept
            .elicitations
            .retain(|other| other.number > asked || other.answer.is_none());
        call.kept.checkpoint = state.map(|state| ToolCheckpoint { state, asked });
    }
}
