//! Detects a model that goes in circles: a call that repeats with an equal result, or a cycle of calls.
//!
//! It counts each call, within a round and over consecutive rounds. It also counts cycles of whole rounds with equal
//! calls in equal order. The agent calls [`Repeats::note`] after each round and follows the [`Advice`]. The
//! configuration has the thresholds. The state is a few hashes and counts, regardless of the length of the run.

use std::borrow::Cow;

use crate::engine::json::canonical::canonical;
use crate::engine::json::checksum::{FNV, fnv, mixed};
use crate::engine::model::config::RepeatPolicy;
use crate::engine::model::journal::{MAX_PERIOD, Repeats};
use crate::engine::model::outcome::ToolCallRecord;

/// The step that a repetition calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    Continue,
    /// Tell the model that it repeats itself. The number is the count of repetitions.
    Nudge(u32),
    Ask(u32),
    Stop,
}

impl Repeats {
    /// Notes a finished round and returns the step that it calls for.
    pub fn note(&mut self, policy: &RepeatPolicy, calls: &[ToolCallRecord]) -> Advice {
        if !policy.enabled {
            return Advice::Continue;
        }
        let hashes: Vec<u64> = calls.iter().map(hash_of).collect();
        let cycles = self.note_cycles(&hashes);
        // Each pair is the count of a repetition before this round and after it.
        let mut counts = self.note_calls(hashes);
        counts.push(cycles);
        let times = |threshold: Option<u32>| {
            let threshold = threshold?;
            let reached = counts
                .iter()
                .filter(|(before, now)| *before < threshold && threshold <= *now);
            reached.map(|(_, now)| *now).max()
        };
        let most = counts.iter().map(|(_, now)| *now).max();
        let steps = policy.steps();
        if steps.stop.is_some_and(|threshold| most >= Some(threshold)) {
            Advice::Stop
        } else if let Some(times) = times(steps.ask) {
            Advice::Ask(times)
        } else if let Some(times) = times(steps.nudge) {
            Advice::Nudge(times)
        } else {
            Advice::Continue
        }
    }

    /// The counts of the most frequent cycle. One round is a cycle of any length.
    fn note_cycles(&mut self, calls: &[u64]) -> (u32, u32) {
        let round = kept(calls.iter().fold(FNV, |round, call| mixed(round, *call)));
        let (mut before, mut now) = (0, 0);
        for (at, same) in self.same.iter_mut().enumerate() {
            let period = at + 1;
            before = before.max(*same / period as u32 + 1);
            let earlier = self.rounds.iter().rev().nth(at);
            *same = if earlier == Some(&round) {
                same.saturating_add(1)
            } else {
                0
            };
            now = now.max(*same / period as u32 + 1);
        }
        if self.rounds.len() == MAX_PERIOD {
            self.rounds.remove(0);
        }
        self.rounds.push(round);
        (before, now)
    }

    fn note_calls(&mut self, mut hashes: Vec<u64>) -> Vec<(u32, u32)> {
        hashes.sort_unstable();
        let mut now: Vec<(u64, u32)> = Vec::new();
        let mut counts: Vec<(u32, u32)> = Vec::new();
        for hash in hashes {
            match (now.last_mut(), counts.last_mut()) {
                (Some((last, times)), Some(count)) if *last == hash => {
                    *times = times.saturating_add(1);
                    count.1 = *times;
                }
                _ => {
                    let found = self.calls.binary_search_by_key(&hash, |(known, _)| *known);
                    let known = found.ok().and_then(|at| self.calls.get(at));
                    let before = known.map_or(0, |(_, times)| *times);
                    now.push((hash, before.saturating_add(1)));
                    counts.push((before, before.saturating_add(1)));
                }
            }
        }
        self.calls = now;
        counts
    }
}

/// Hashes name, input and output.
fn hash_of(call: &ToolCallRecord) -> u64 {
    let input = canonical(call.input.as_str());
    let output = call.output.as_ref().map(|output| output_text(output.as_str()));
    let texts = [&*call.tool_name, &*input, &*output.unwrap_or_default()];
    let hash = texts.iter().fold(FNV, |hash, text| fnv(hash, text.as_bytes()));
    kept(hash)
}

/// The stored form of a hash: a journal passes through JavaScript, which has integers of 53 bits.
fn kept(hash: u64) -> u64 {
    hash >> 11
}

/// The output as it is compared. A string stays as it was written: equal strings are always written alike, and they
/// may be long.
fn output_text(json: &str) -> Cow<'_, str> {
    if json.starts_with('"') {
        Cow::Borrowed(json)
    } else {
        Cow::Owned(canonical(json))
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
