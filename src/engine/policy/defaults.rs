//! Defaults that depend on other options. A given option always takes precedence over a default.
//!
//! A plain default is next to its field in [`crate::engine::model::config`]. The functions here extend the
//! configuration's types, and the agent, the retry policy and the generated table of options call them. Nothing
//! fails.

use crate::engine::model::config::{Config, RepeatPolicy, RetryPolicy, StopCondition};

/// The number of repetitions before each step; `None` means never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatSteps {
    pub nudge: Option<u32>,
    pub ask: Option<u32>,
    pub stop: Option<u32>,
}

impl RepeatPolicy {
    /// The steps with their defaults. The defaults preserve the order: a note to the model, a question to your code,
    /// the end of the run.
    pub fn steps(&self) -> RepeatSteps {
        let (nudge, ask, stop) = (self.nudge_after, self.ask_after, self.stop_after);
        let twice = |said: Option<Option<u32>>| said.flatten().unwrap_or(0).saturating_mul(2);
        let before_stop = stop.flatten().map_or(u32::MAX, |stop| stop.saturating_sub(1));
        // A call that was made once repeats nothing.
        let until = |times: u32, most: u32| Some(times.min(most)).filter(|times| *times > 1);
        let before_ask = ask.flatten().unwrap_or(u32::MAX).min(before_stop);
        RepeatSteps {
            nudge: nudge.unwrap_or_else(|| until(3, before_ask)),
            ask: ask.unwrap_or_else(|| until(twice(nudge).max(6), before_stop)),
            stop: stop.unwrap_or_else(|| Some(twice(nudge).max(twice(ask)).max(20))),
        }
    }
}

impl RetryPolicy {
    /// The longest wait between two attempts, in milliseconds.
    pub fn longest_ms(&self) -> u64 {
        self.max_ms.unwrap_or(self.base_ms.max(60_000))
    }
}

impl Config {
    /// The number of model calls in one run. If it was left out, it is 50, or as many as it takes to reach the other
    /// limits.
    pub fn max_iterations(&self) -> u32 {
        if let Some(given) = self.limits.max_iterations {
            return given;
        }
        let mut most = 50;
        // The model may always answer once more after the last round.
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
mod tests;
