//! The tool calls of one answer in request order, and which of them is next.
//!
//! [`ToolBatch`] owns the calls. It opens no effects and asks nobody: the other files of this folder do. They bring
//! each call on through [`ToolBatch::set`], which lets the searches find it. Only the calls of a journal get their
//! status with the rest of their state (`restore.rs`), and those of an answer that goes no further get theirs before
//! they are in a batch (`Calls::shelve`).

use std::ops::Range;

use crate::engine::agent::calls::call::{Call, Wait};
use crate::engine::model::config::ToolExecution;
use crate::engine::model::config::permission::Reading;
use crate::engine::model::journal::CallStatus;
use crate::engine::model::message::Block;
use crate::engine::model::outcome::ToolCallRecord;
use crate::engine::model::output::EffectId;
use crate::engine::policy::schedule;

/// All calls of one answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolBatch {
    pub calls: Vec<Call>,
    /// The number of parts of a streaming answer that have been looked at, to start their calls early.
    pub parts_seen: usize,
    /// No further call of the answer starts early.
    pub is_closed: bool,
    /// The answer has come to its end.
    pub is_whole: bool,
    /// The number of calls of each limited tool in the run, this batch included.
    pub counts: Vec<(String, u64)>,
    // An answer may have thousands of calls, so each input searches only between these indexes.
    /// All calls before this index are done.
    first_open: usize,
    /// No call before this index is still to be judged.
    unjudged: usize,
    /// No call before this index waits to be started.
    queued: usize,
    /// No call from this index on has been started.
    started: usize,
    /// Texts of the calls, as the platform reads them.
    pub readings: Vec<Reading>,
}

impl ToolBatch {
    pub fn is_done(&self) -> bool {
        self.calls.iter().skip(self.first_open).all(Call::is_done)
    }

    /// The calls that your code is told of.
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

    /// Counts a call that was added to the batch.
    pub fn note_call(&mut self, name: &str) {
        if let Some((_, count)) = self.counts.iter_mut().find(|(tool, _)| tool == name) {
            *count += 1;
        }
    }

    /// Brings a call to another status. Without a wait, the batch takes the call's next step by itself.
    pub fn set(&mut self, index: usize, status: CallStatus, waits: Option<Wait>) {
        let Some(call) = self.calls.get_mut(index) else {
            return;
        };
        (call.kept.status, call.waits) = (status, waits);
        // Each search begins no later than at a call that it is to find.
        if call.is_to_judge() {
            self.unjudged = self.unjudged.min(index);
        } else if call.is_queued() {
            self.queued = self.queued.min(index);
        } else if call.under_way().is_some() {
            self.started = self.started.max(index + 1);
        }
    }

    /// Lets a call be judged, or be judged anew.
    pub fn set_to_judge(&mut self, index: usize) {
        if let Some(call) = self.calls.get(index) {
            let status = match call.kept.gate.is_unasked() {
                true => CallStatus::Open,
                false => CallStatus::Passed,
            };
            self.set(index, status, None);
        }
    }

    /// The range that holds all calls that are still to be judged.
    pub fn to_judge(&self) -> Range<usize> {
        self.unjudged..self.calls.len()
    }

    /// Notes that all calls were judged, except those that still wait for it.
    pub fn note_judged(&mut self) {
        let rest = self.calls.iter().skip(self.unjudged);
        self.unjudged += rest.take_while(|call| !call.is_to_judge()).count();
    }

    /// The range that holds all calls that run or wait for their save.
    pub fn under_way(&self) -> Range<usize> {
        self.first_open..self.started
    }

    /// The index of the first queued call that may start, by the mode and the number of calls that may run at once.
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

    /// The index of the running call of this effect.
    pub fn index_of(&self, wanted: EffectId) -> Option<usize> {
        let is_it = |call: &Call| call.running() == Some(wanted);
        let under_way = self.under_way();
        let at = self.calls.get(under_way.clone())?.iter().position(is_it)?;
        Some(under_way.start + at)
    }

    /// The result blocks in request order. A call that is not done gets a result that says so.
    pub fn results(&self) -> Vec<Block> {
        self.calls.iter().map(Call::result_block).collect()
    }

    /// The blocks of a round that goes on, in request order. See [`Call::block_so_far`].
    pub fn results_so_far(&self, asking: &[EffectId]) -> Vec<Block> {
        self.calls.iter().map(|call| call.block_so_far(asking)).collect()
    }

    /// Returns true if a person is asked about one of the calls, or by it or an agent below it.
    pub fn awaits_person(&self, asking: &[EffectId]) -> bool {
        let asks_below = |call: &Call| call.begun().is_some_and(|effect| asking.contains(&effect));
        let open = self.calls.iter().skip(self.first_open);
        open.filter(|call| !call.is_done())
            .any(|call| call.kept.awaits_person() || asks_below(call))
    }
}
