//! Defaults that depend on other options: what was given never loses to what was not.

use crate::engine::model::config::{Config, Limits, RepeatPolicy, RetryPolicy, StopCondition};

/// What was said of an option: nothing, or a number, or that there is none.
pub type Said = Option<Option<u32>>;

impl RepeatPolicy {
    /// Steps that were not named keep the order: the model is told, the host is asked, the run is stopped.
    pub fn following(nudge: Said, ask: Said, stop: Said) -> RepeatPolicy {
        let default = RepeatPolicy::default();
        let twice = |said: Said| said.flatten().unwrap_or(0).saturating_mul(2);
        let before_stop = stop.flatten().map_or(u32::MAX, |stop| stop.saturating_sub(1));
        // A call that was made once repeats nothing.
        let until =
            |times: Option<u32>, most: u32| times.map(|times| times.min(most)).filter(|times| *times > 1);
        let before_ask = ask.flatten().unwrap_or(u32::MAX).min(before_stop);
        RepeatPolicy {
            enabled: default.enabled,
            nudge_after: nudge.unwrap_or_else(|| until(default.nudge_after, before_ask)),
            ask_after: ask.unwrap_or_else(|| until(default.ask_after.max(Some(twice(nudge))), before_stop)),
            stop_after: stop.unwrap_or_else(|| default.stop_after.max(Some(twice(nudge).max(twice(ask))))),
        }
    }
}

impl RetryPolicy {
    /// The longest wait, if nobody has named one.
    pub fn max_ms_following(base_ms: u64) -> u64 {
        RetryPolicy::default().max_ms.max(base_ms)
    }
}

impl Config {
    /// Model calls of a run, if nobody has said how many: as many as the other limits need to be reached.
    pub fn max_iterations_following(&self) -> u32 {
        let mut most = Limits::default().max_iterations;
        // The answer after the last round is always allowed.
        most = most.max(self.limits.max_tool_rounds.unwrap_or(0).saturating_add(1));
        if let Some(format) = &self.output {
            most = most.max(format.max_retries.saturating_add(1));
        }
        for condition in &self.stop_when {
            if let StopCondition::Iterations(iterations) = condition {
                most = most.max(*iterations);
            }
        }
        most
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests {
    use super::*;

    #[test]
    fn steps_of_repetition_that_are_left_out_keep_to_the_order() {
        let none = Some(None);
        let at = |times| Some(Some(times));
        let rows: &[(Said, Said, Said, [Option<u32>; 3])] = &[
            (None, None, None, [Some(3), Some(6), Some(20)]),
            (None, at(30), None, [Some(3), Some(30), Some(60)]),
            (at(12), None, None, [Some(12), Some(24), Some(24)]),
            (at(5), None, None, [Some(5), Some(10), Some(20)]),
            (at(5), None, at(8), [Some(5), Some(7), Some(8)]),
            (None, None, at(5), [Some(3), Some(4), Some(5)]),
            (None, None, at(3), [Some(2), Some(2), Some(3)]),
            (None, None, at(2), [None, None, Some(2)]),
            (None, at(2), None, [Some(2), Some(2), Some(20)]),
            (none, none, at(2), [None, None, Some(2)]),
            (none, None, none, [None, Some(6), None]),
            (at(40), at(50), at(60), [Some(40), Some(50), Some(60)]),
        ];
        for (nudge, ask, stop, expected) in rows {
            let policy = RepeatPolicy::following(*nudge, *ask, *stop);
            let steps = [policy.nudge_after, policy.ask_after, policy.stop_after];
            assert_eq!(steps, *expected, "{nudge:?} {ask:?} {stop:?}");
        }
    }
}
