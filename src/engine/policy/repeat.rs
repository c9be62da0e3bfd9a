//! Notices a model that goes in circles: the same call with the same result again and again, or a cycle of calls.
//!
//! Owns what the last rounds did, as hashes. A round counts as a whole: the same calls in the same order.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::super::config::RepeatPolicy;
use super::super::json_canonical::canonical;
use super::super::outcome::ToolCallRecord;

/// The longest cycle that is noticed, in rounds.
const MAX_PERIOD: usize = 4;
/// How many rounds are remembered: enough for any sensible threshold.
const MAX_ROUNDS: usize = 256;

/// What to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    GoOn,
    /// Tell the model that it repeats itself; how often it has.
    Nudge(u32),
    Ask(u32),
    Stop,
}

/// The rounds so far, the last one at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeats {
    rounds: Vec<u64>,
}

impl Repeats {
    /// Notes a finished round and says what its repetition calls for.
    pub fn note(&mut self, policy: &RepeatPolicy, calls: &[ToolCallRecord]) -> Advice {
        if !policy.enabled {
            return Advice::GoOn;
        }
        if self.rounds.len() == MAX_ROUNDS {
            self.rounds.remove(0);
        }
        self.rounds.push(hash(calls));
        let times = (1..=MAX_PERIOD)
            .map(|period| self.times(period))
            .max()
            .unwrap_or(1);
        let is_new = |threshold: Option<u32>| threshold == Some(times);
        if policy.stop_after.is_some_and(|threshold| times >= threshold) {
            Advice::Stop
        } else if is_new(policy.ask_after) {
            Advice::Ask(times)
        } else if is_new(policy.nudge_after) {
            Advice::Nudge(times)
        } else {
            Advice::GoOn
        }
    }

    /// How often the last `period` rounds stand at the end, one after the other.
    fn times(&self, period: usize) -> u32 {
        let same = self
            .rounds
            .iter()
            .rev()
            .zip(self.rounds.iter().rev().skip(period))
            .take_while(|(later, earlier)| later == earlier)
            .count();
        (same / period + 1) as u32
    }
}

/// Over names, inputs and outputs, eight bytes at a time, mixed as in FNV-1a. <http://www.isthe.com/chongo/tech/comp/fnv/>
fn hash(calls: &[ToolCallRecord]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |text: &str| {
        let mut mix = |word: u64| hash = (hash.rotate_left(23) ^ word).wrapping_mul(0x0100_0000_01b3);
        let (words, tail) = text.as_bytes().as_chunks::<8>();
        words.iter().for_each(|word| mix(u64::from_le_bytes(*word)));
        tail.iter().for_each(|byte| mix(u64::from(*byte)));
        mix(text.len() as u64);
    };
    for call in calls {
        add(&call.name);
        add(&canonical(call.input.as_str()));
        add(&call
            .output
            .as_ref()
            .map(|output| output_text(output.as_str()))
            .unwrap_or_default());
    }
    hash
}

/// A string is as the host wrote it, which always writes it the same way, and may be long.
fn output_text(json: &str) -> Cow<'_, str> {
    if json.starts_with('"') {
        Cow::Borrowed(json)
    } else {
        Cow::Owned(canonical(json))
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests {
    use super::*;
    use crate::engine::message::Json;

    fn round(input: &str, output: &str) -> Vec<ToolCallRecord> {
        vec![ToolCallRecord {
            id: "unique".into(),
            name: "look".into(),
            input: Json::parse(input).unwrap(),
            output: Some(Json::parse(output).unwrap()),
            is_error: false,
            duration_ms: 3,
        }]
    }

    fn advice(rounds: &[(&str, &str)]) -> Vec<Advice> {
        let policy = RepeatPolicy {
            enabled: true,
            nudge_after: Some(2),
            ask_after: Some(3),
            stop_after: Some(4),
        };
        let mut repeats = Repeats::default();
        rounds
            .iter()
            .map(|(input, output)| repeats.note(&policy, &round(input, output)))
            .collect()
    }

    #[test]
    fn the_same_call_with_the_same_result_is_nudged_asked_about_and_stopped() {
        let same = [(r#"{"a":1,"b":2}"#, "1"), (r#"{"b":2, "a":1}"#, "1")];
        let rounds: Vec<_> = same.iter().cycle().take(4).copied().collect();
        assert_eq!(
            advice(&rounds),
            [Advice::GoOn, Advice::Nudge(2), Advice::Ask(3), Advice::Stop]
        );
    }

    #[test]
    fn another_result_is_no_repetition() {
        let polled = [("{}", "1"), ("{}", "2"), ("{}", "3"), ("{}", "4")];
        assert_eq!(advice(&polled), [Advice::GoOn; 4]);
    }

    #[test]
    fn a_cycle_of_calls_is_a_repetition() {
        let (a, b, c) = (("1", "1"), ("2", "2"), ("3", "3"));
        assert_eq!(
            advice(&[a, b, c, a, b, c, a, b, c]),
            [
                Advice::GoOn,
                Advice::GoOn,
                Advice::GoOn,
                Advice::GoOn,
                Advice::GoOn,
                Advice::Nudge(2),
                Advice::Nudge(2),
                Advice::Nudge(2),
                Advice::Ask(3)
            ]
        );
    }

    #[test]
    fn switched_off_it_notices_nothing() {
        let mut repeats = Repeats::default();
        let policy = RepeatPolicy {
            enabled: false,
            ..RepeatPolicy::default()
        };
        for _ in 0..100 {
            assert_eq!(repeats.note(&policy, &round("{}", "1")), Advice::GoOn);
        }
    }
}
