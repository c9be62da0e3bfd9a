//! Time and randomness as data: the engine reads neither a clock nor a random source.
//!
//! The shell reads both in JavaScript and hands a [`Moment`] in with each input. Tests make their own, which makes
//! every run repeatable. A clock that stands still or steps back is legal.

use serde::{Deserialize, Serialize};

/// The time of an input, and the randomness from which its ids and jitter derive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// Milliseconds since the Unix epoch. The value may stand still or step back, in which case no time has passed. A
    /// value of 2^53 or more means that the time is unknown.
    pub now_ms: u64,
    /// The seed of everything random that this input causes.
    pub random: u64,
}
