//! The parts of a run that its agents share: open effects, deadlines, outputs, accounts, time and randomness.
//!
//! Every effect is opened in [`Ledger::open`] and closed in [`Ledger::close`], and nowhere else. The run calls
//! [`Ledger::begin`] with each input. Agents then open effects, set timers and add outputs, which the run returns one
//! by one. The ledger decides nothing, and nothing fails: an effect that is not open is not found, so
//! `Run::on_effect` drops a late answer. Closing such an effect returns false.

pub mod accounts;
pub mod random;
pub mod spawn;
pub mod timers;

use std::collections::VecDeque;

use crate::engine::ledger::accounts::Accounts;
use crate::engine::ledger::random::Random;
use crate::engine::ledger::spawn::Spawn;
use crate::engine::ledger::timers::{TimerReason, Timers};
use crate::engine::model::answer::PartKind;
use crate::engine::model::event::{Event, EventKind};
use crate::engine::model::input::Moment;
use crate::engine::model::journal::{Entry, Fact, RunState};
use crate::engine::model::output::{EffectId, EffectKind, Output};

/// The place of an event in the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub agent: u32,
    pub iteration: u32,
    pub attempt: u32,
}

/// An effect that the outside world has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenEffect {
    pub agent: u32,
    pub kind: EffectKind,
    /// When it was opened.
    opened_ms: u64,
}

/// A delta without an event. Its text is in the answer, in the bytes `from` to `to` of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grown {
    pub seq: u32,
    pub place: Place,
    pub kind: PartKind,
    pub part: usize,
    pub from: usize,
    pub to: usize,
}

#[derive(Clone, Debug)]
pub struct Ledger {
    pub timers: Timers,
    pub accounts: Accounts,
    /// Subagents that start after the current input.
    pub spawns: Vec<Spawn>,
    pub now_ms: u64,
    /// The time of the prompt.
    started_ms: Option<u64>,
    /// The time that finished requests have taken.
    requests_ms: u64,
    /// The clock of your platform when it was last read, and the lead of our time over it.
    clock_ms: u64,
    ahead_ms: u64,
    /// The seed of the input at hand; see [`Moment::random`].
    pub seed: u64,
    pub random: Random,
    /// Sorted by id.
    open: Vec<(EffectId, OpenEffect)>,
    next_effect: EffectId,
    next_seq: u32,
    /// The warnings that a run gives once.
    pub warned: Vec<String>,
    /// The models with vendors that have refused to summarise.
    pub without_summaries: Vec<String>,
    /// Events carry their time.
    pub is_traced: bool,
    /// Your code listens to events of tool calls.
    pub is_observed: bool,
    /// Whether the run has a journal.
    pub has_journal: bool,
    /// A part of the run is lost. A call that must not be made twice may have been made in it.
    pub is_torn: bool,
    journal: Vec<Entry>,
    /// The number of the journal's last entry.
    journal_seq: u64,
    /// A call waits until the current journal is saved.
    awaited: bool,
    /// A part of an answer has changes for the journal.
    pub has_news: bool,
    /// The delta that is polled before `outputs`.
    grown: Option<Grown>,
    outputs: VecDeque<Output>,
    /// The path of each agent, by its index.
    pub paths: Vec<String>,
    /// The running calls that no agent has claimed yet, while a run resumes in its own process.
    pub running: Option<Vec<EffectId>>,
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger {
            timers: Timers::default(),
            accounts: Accounts::default(),
            spawns: Vec::new(),
            now_ms: 0,
            started_ms: None,
            requests_ms: 0,
            clock_ms: 0,
            ahead_ms: 0,
            seed: 0,
            random: Random(0),
            open: Vec::new(),
            next_effect: 1,
            next_seq: 1,
            warned: Vec::new(),
            without_summaries: Vec::new(),
            is_traced: false,
            is_observed: true,
            has_journal: false,
            is_torn: false,
            journal: Vec::new(),
            journal_seq: 0,
            awaited: false,
            has_news: false,
            grown: None,
            outputs: VecDeque::new(),
            paths: Vec::new(),
            running: None,
        }
    }
}

impl Ledger {
    /// Starts an input with its time and seed. Time never goes backward: if the platform's clock is set back, our
    /// clock continues from its last value, so no deadline is postponed. If timers have advanced our time beyond the
    /// platform's clock, ours waits for it. The seed restarts the random numbers for each input.
    pub fn begin(&mut self, moment: Moment) {
        if moment.has_time() {
            self.ahead_ms += self.clock_ms.saturating_sub(moment.now_ms);
            self.clock_ms = moment.now_ms;
            self.now_ms = self.now_ms.max(self.clock_ms.saturating_add(self.ahead_ms));
        }
        self.seed = moment.random;
        self.random = Random(moment.random);
    }

    pub fn emit(&mut self, place: Place, kind: EventKind) {
        let seq = self.next_seq;
        self.next_seq = self.next_seq.saturating_add(1);
        let Place {
            agent,
            iteration,
            attempt,
        } = place;
        let agent_path = self.paths.get(agent as usize).cloned().unwrap_or_default();
        self.outputs.push_back(Output::Emit(Event {
            seq,
            agent,
            agent_path,
            iteration,
            attempt,
            time_ms: (self.is_traced && !kind.is_delta()).then_some(self.now_ms),
            kind,
        }));
    }

    /// Skips an event without a listener, before its content is copied. Returns true if it did. The event is
    /// numbered all the same.
    pub fn skip_unobserved(&mut self) -> bool {
        self.next_seq = self.next_seq.saturating_add(u32::from(!self.is_observed));
        !self.is_observed
    }

    /// Returns true if no output waits to be polled.
    pub fn is_quiet(&self) -> bool {
        self.grown.is_none() && self.outputs.is_empty()
    }

    /// Returns true if a delta is the only output that waits.
    pub fn has_one_output(&self) -> bool {
        self.grown.is_some() && self.outputs.is_empty()
    }

    /// Makes the growth of a part the first output. The part must not change until the delta is polled.
    pub fn grow(&mut self, mut grown: Grown) {
        grown.seq = self.next_seq;
        self.next_seq = self.next_seq.saturating_add(1);
        self.grown = Some(grown);
    }

    pub fn take_grown(&mut self) -> Option<Grown> {
        self.grown.take()
    }

    /// Puts an output before those that wait.
    pub fn output_first(&mut self, output: Output) {
        self.outputs.push_front(output);
    }

    /// Starts the input of a timer. If the clock does not advance or has no time, the time is that of the timer.
    pub fn begin_due(&mut self) {
        self.now_ms = self.timers.fired(self.now_ms).unwrap_or(self.now_ms);
    }

    /// Sets or clears a deadline `wait_ms` from this input on.
    pub fn set_timer(&mut self, reason: TimerReason, wait_ms: Option<u64>) {
        match wait_ms {
            Some(wait_ms) => self.timers.set(reason, self.now_ms.saturating_add(wait_ms)),
            None => self.timers.clear(reason),
        }
    }

    pub fn output(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    pub fn open(&mut self, agent: u32, kind: EffectKind) -> EffectId {
        let effect = self.next_effect;
        self.next_effect = self.next_effect.saturating_add(1);
        self.put(effect, agent, kind);
        effect
    }

    /// The id of the effect that is opened next.
    pub fn next_effect(&self) -> EffectId {
        self.next_effect
    }

    /// Opens an effect under the id that it had in another process.
    pub fn reopen(&mut self, effect: EffectId, agent: u32, kind: EffectKind) -> EffectId {
        self.put(effect, agent, kind);
        effect
    }

    fn put(&mut self, effect: EffectId, agent: u32, kind: EffectKind) {
        let opened = OpenEffect {
            agent,
            kind,
            opened_ms: self.now_ms,
        };
        let at = self.open.partition_point(|(id, _)| *id < effect);
        self.open.insert(at, (effect, opened));
        if kind.awaits_person() {
            self.hold_times(agent);
        }
    }

    /// Closes an effect with its timer; false if it was not open, so that a late answer is dropped.
    pub fn close(&mut self, effect: EffectId) -> bool {
        let Some(place) = self.open.iter().position(|(id, _)| *id == effect) else {
            return false;
        };
        let (_, open) = self.open.remove(place);
        self.requests_ms = self.requests_ms.saturating_add(self.request_ms(&open));
        let OpenEffect { agent, kind, .. } = open;
        self.timers.clear(TimerReason::Effect(effect));
        if kind.awaits_person() {
            self.release_times(agent);
        }
        true
    }

    /// How long a request has taken so far. 0 for any other effect.
    fn request_ms(&self, open: &OpenEffect) -> u64 {
        match open.kind {
            EffectKind::Request => self.now_ms.saturating_sub(open.opened_ms),
            _ => 0,
        }
    }

    /// Starts the clock of the run, which has been active for `elapsed_ms` in other processes.
    pub fn start_clock(&mut self, elapsed_ms: u64) {
        self.started_ms = Some(self.now_ms.saturating_sub(elapsed_ms));
    }

    /// The time from the prompt to the last input, in milliseconds.
    pub fn duration_ms(&self) -> u64 {
        self.started_ms
            .map_or(0, |started_ms| self.now_ms.saturating_sub(started_ms))
    }

    /// The sum of the times that requests have taken, in milliseconds.
    pub fn api_duration_ms(&self) -> u64 {
        let open = self.open.iter().map(|(_, open)| self.request_ms(open));
        open.fold(self.requests_ms, u64::saturating_add)
    }

    /// Adds a fact to the journal.
    pub fn note(&mut self, agent: u32, fact: Fact) {
        self.journal_seq += 1;
        let seq = self.journal_seq;
        self.journal.push(Entry { seq, agent, fact });
    }

    /// The number of the journal's last entry.
    pub fn journal_seq(&self) -> u64 {
        self.journal_seq
    }

    /// Continues a journal whose last entry has this number.
    pub fn follow(&mut self, journal_seq: u64) {
        self.journal_seq = journal_seq;
    }

    /// The number of facts that wait to be saved.
    pub fn noted(&self) -> usize {
        self.journal.len()
    }

    /// The counters with which another process continues.
    pub fn counters(&self) -> RunState {
        RunState {
            elapsed_ms: self.duration_ms(),
            requests_ms: self.api_duration_ms(),
            next_effect: self.next_effect,
            next_event: self.next_seq,
            ..RunState::default()
        }
    }

    /// Continues from the counters of another process. Its last entry has this number.
    pub fn restore(&mut self, journal_seq: u64, counters: &RunState) {
        self.journal_seq = journal_seq;
        self.requests_ms = counters.requests_ms;
        self.next_effect = self.next_effect.max(counters.next_effect);
        self.next_seq = self.next_seq.max(counters.next_event);
    }

    /// Gives the next event this number at least.
    pub fn number_from(&mut self, event: u32) {
        self.next_seq = self.next_seq.max(event);
    }

    /// Continues in the same process, where these calls still run and this event is the next one.
    pub fn recover(&mut self, running: Vec<EffectId>, next_event: u32) {
        // The lost instance may have given ids that its last save does not know.
        let last = running.iter().max().copied().unwrap_or_default();
        self.next_effect = self.next_effect.max(last.saturating_add(1));
        self.number_from(next_event);
        self.running = Some(running);
    }

    /// Returns true, once, for a call with a running function. `None` in another process.
    pub fn claim(&mut self, call: EffectId) -> Option<bool> {
        let running = self.running.as_mut()?;
        let at = running.iter().position(|other| *other == call);
        Some(at.map(|at| running.swap_remove(at)).is_some())
    }

    /// Pauses the clocks of the iterations that wait for a user, which may take days.
    fn hold_times(&mut self, agent: u32) {
        for above in 0..=agent {
            if self.accounts.is_below(agent, above) {
                self.timers
                    .hold(TimerReason::Iteration { agent: above }, self.now_ms);
            }
        }
    }

    fn release_times(&mut self, agent: u32) {
        for above in 0..=agent {
            let waits = |(_, open): &(EffectId, OpenEffect)| {
                open.kind.awaits_person() && self.accounts.is_below(open.agent, above)
            };
            if !self.open.iter().any(waits) {
                self.timers
                    .release(TimerReason::Iteration { agent: above }, self.now_ms);
            }
        }
    }

    /// The deadline of the run or of any iteration that is over.
    pub fn late(&self) -> Option<TimerReason> {
        self.timers.late(self.now_ms, |_| true)
    }

    /// Returns true if the deadline of the run, of the agent's iteration or of one above it is over.
    pub fn is_late(&self, agent: u32) -> bool {
        let is_its = |above| self.accounts.is_below(agent, above);
        self.timers.late(self.now_ms, is_its).is_some()
    }

    /// Returns true for a tool call that a subagent answers.
    pub fn is_delegated(&self, effect: EffectId) -> bool {
        self.find(effect)
            .is_some_and(|open| open.kind == EffectKind::Subagent)
    }

    pub fn is_open(&self, effect: EffectId) -> bool {
        self.find(effect).is_some()
    }

    pub fn find(&self, effect: EffectId) -> Option<OpenEffect> {
        self.open
            .iter()
            .find(|(id, _)| *id == effect)
            .map(|(_, open)| *open)
    }

    /// The open effects, in the order in which they were opened.
    pub fn open_effects(&self) -> &[(EffectId, OpenEffect)] {
        &self.open
    }

    /// Marks the next save as one that a call waits for.
    pub fn await_save(&mut self) {
        self.awaited = true;
    }

    /// Hands out the new entries of the journal, once for each input. Returns the id of the save.
    pub fn flush_journal(&mut self) -> Option<EffectId> {
        if self.journal.is_empty() && !self.awaited {
            return None;
        }
        let save = self.open(0, EffectKind::Save);
        let entries = std::mem::take(&mut self.journal);
        let awaited = std::mem::take(&mut self.awaited);
        self.outputs.push_back(Output::Save {
            save,
            entries,
            awaited,
        });
        Some(save)
    }

    /// Closes all effects and timers at the end of the run.
    pub fn close_all(&mut self) {
        while let Some((effect, _)) = self.open.first() {
            self.close(*effect);
        }
        self.timers.clear_all();
    }
}
