//! Every deadline of a run, and the only place where one exists.

use serde::{Deserialize, Serialize};

use crate::engine::model::output::EffectId;

/// How long the host's functions are waited for where no option says otherwise, in milliseconds: as long as for a hook.
pub const QUESTION_MS: u64 = 600_000;

/// Why the run wants to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimerReason {
    /// `timeouts.totalMs`.
    Total,
    /// `timeouts.iterationMs`: from the preparation of an iteration until its stop conditions and hooks have been heard.
    Iteration { agent: u32 },
    /// The wait before the next attempt.
    Backoff { agent: u32 },
    /// An effect that is open: `timeouts.firstChunkMs` and `timeouts.chunkMs` of a request, the time of a tool, how long
    /// an answer is waited for. It goes with the effect.
    Effect(EffectId),
}

/// A moment at which the run must get an input, at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadline {
    pub at_ms: u64,
    pub reason: TimerReason,
}

/// The set of deadlines: a handful, so a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timers {
    deadlines: Vec<Deadline>,
    /// Those that stand still: how many milliseconds are left of each.
    held: Vec<Deadline>,
}

impl Timers {
    /// Sets the one deadline of this reason.
    pub fn set(&mut self, reason: TimerReason, at_ms: u64) {
        match self
            .deadlines
            .iter_mut()
            .find(|deadline| deadline.reason == reason)
        {
            Some(deadline) => deadline.at_ms = at_ms,
            None => self.deadlines.push(Deadline { at_ms, reason }),
        }
    }

    pub fn at(&self, reason: TimerReason) -> Option<u64> {
        let of_it = |deadline: &&Deadline| deadline.reason == reason;
        self.deadlines.iter().find(of_it).map(|deadline| deadline.at_ms)
    }

    pub fn clear(&mut self, reason: TimerReason) {
        self.deadlines.retain(|deadline| deadline.reason != reason);
        self.held.retain(|deadline| deadline.reason != reason);
    }

    pub fn clear_all(&mut self) {
        self.deadlines.clear();
        self.held.clear();
    }

    /// Stops the clock of this deadline, if there is one, until [`Timers::release`].
    pub fn hold(&mut self, reason: TimerReason, now_ms: u64) {
        if let Some(at_ms) = self.at(reason) {
            self.clear(reason);
            let at_ms = at_ms.saturating_sub(now_ms);
            self.held.push(Deadline { at_ms, reason });
        }
    }

    pub fn release(&mut self, reason: TimerReason, now_ms: u64) {
        if let Some(held) = self.held.iter().find(|held| held.reason == reason) {
            let at_ms = held.at_ms.saturating_add(now_ms);
            self.clear(reason);
            self.set(reason, at_ms);
        }
    }

    /// The earliest deadline; of equal ones the one that was set first.
    pub fn next(&self) -> Option<Deadline> {
        self.deadlines
            .iter()
            .min_by_key(|deadline| deadline.at_ms)
            .copied()
    }

    /// The deadline of the run, or of an iteration of one of these agents, that has come.
    pub fn late(&self, now_ms: u64, of: impl Fn(u32) -> bool) -> Option<TimerReason> {
        let is_late = |deadline: &&Deadline| {
            deadline.at_ms <= now_ms
                && match deadline.reason {
                    TimerReason::Total => true,
                    TimerReason::Iteration { agent } => of(agent),
                    _ => false,
                }
        };
        self.deadlines.iter().find(is_late).map(|late| late.reason)
    }

    /// Takes the earliest deadline out if it has come.
    pub fn take_due(&mut self, now_ms: u64) -> Option<TimerReason> {
        let due = self.next().filter(|deadline| deadline.at_ms <= now_ms)?;
        self.clear(due.reason);
        Some(due.reason)
    }
}
