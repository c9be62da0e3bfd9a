//! Time and randomness as data: the engine reads neither, each input brings both.

use serde::{Deserialize, Serialize};

/// When an input happened and the randomness that ids and jitter made by it derive from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Milliseconds since the Unix epoch. May stand still or step back: then no time has passed. 2^53 and more say that
    /// the time is not known.
    pub now_ms: u64,
    /// Seed of everything random that this input causes.
    pub random: u64,
}
