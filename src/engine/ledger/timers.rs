//! Every deadline of a run, and the only place where one exists.
//!
//! Agents set and clear deadlines through the ledger. The run asks for the earliest one after each input and takes
//! those that are due. Nothing here reads a clock or starts a timer: the shell sets the one timer that
//! [`Timers::arm`] asks for.

use crate::engine::model::output::EffectId;

/// The longest wait for one of your functions if no option sets it, in milliseconds. It also applies to hooks.
pub const QUESTION_MS: u64 = 600_000;

/// The reason why the run wants to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerReason {
    /// The end of `timeouts.totalMs`.
    Total,
    /// The end of `timeouts.iterationMs`, from the preparation of an iteration until its last hooks have answered.
    Iteration { agent: u32 },
    /// The end of the wait before the next attempt.
    Backoff { agent: u32 },
    /// The end of an open effect: `timeouts.firstChunkMs` or `timeouts.chunkMs` of a request, the time of a tool, the
    /// wait for an answer. The deadline is cleared when the effect closes.
    Effect(EffectId),
}

/// The time by which the run needs an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    pub at_ms: u64,
    pub reason: TimerReason,
}

/// The longest delay that a platform's timer takes, in milliseconds. A later deadline is armed again when it fires.
const MAX_TIMER_MS: u64 = i32::MAX as u64;

/// The platform's timer: when it was set, and for when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Armed {
    set_ms: u64,
    at_ms: u64,
}

/// The deadlines of a run, in a list because there are few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timers {
    deadlines: Vec<Deadline>,
    /// The paused deadlines. Their `at_ms` is the remaining time.
    held: Vec<Deadline>,
    armed: Option<Armed>,
}

impl Timers {
    /// Returns true if an agent waits before its next attempt.
    pub fn has_backoff(&self) -> bool {
        let mut reasons = self.deadlines.iter().map(|deadline| deadline.reason);
        reasons.any(|reason| matches!(reason, TimerReason::Backoff { .. }))
    }

    /// Sets the deadline for this reason, and replaces an earlier one.
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

    /// The earliest deadline. Among equal ones, the first that was set.
    pub fn next(&self) -> Option<Deadline> {
        self.deadlines
            .iter()
            .min_by_key(|deadline| deadline.at_ms)
            .copied()
    }

    /// The expired deadline of the run, or of an iteration of an agent that `of` accepts.
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

    /// The delay of the timer to set now, in milliseconds. `None` if nothing is waited for, or if the timer that is
    /// set fires in time.
    pub fn arm(&mut self, now_ms: u64) -> Option<u64> {
        let next = self.next()?;
        if self.armed.is_some_and(|armed| armed.at_ms <= next.at_ms) {
            return None;
        }
        let delay_ms = next.at_ms.saturating_sub(now_ms).min(MAX_TIMER_MS);
        self.armed = Some(Armed {
            set_ms: now_ms,
            at_ms: now_ms.saturating_add(delay_ms),
        });
        Some(delay_ms)
    }

    /// Handles the fired timer. Returns its time if the clock has not changed since it was set: the delay has passed,
    /// and the clock does not show it. If the clock has changed, it is right, because timers may fire early.
    pub fn fired(&mut self, now_ms: u64) -> Option<u64> {
        let armed = self.armed.take()?;
        (armed.set_ms == now_ms).then_some(armed.at_ms)
    }

    /// Removes the earliest deadline if it has expired.
    pub fn take_due(&mut self, now_ms: u64) -> Option<TimerReason> {
        let due = self.next().filter(|deadline| deadline.at_ms <= now_ms)?;
        self.clear(due.reason);
        Some(due.reason)
    }
}
