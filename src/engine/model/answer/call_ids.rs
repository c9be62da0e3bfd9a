//! The ids of a conversation's tool calls. Vendors reject a second call with the same id, also in a later message,
//! and some servers number their calls from 0 in each answer.

use crate::engine::json::checksum::{FNV, fnv};

const BUCKETS: usize = 256;

/// A set of ids, as hashes. If two ids have the same hash, the second counts as used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallIds {
    /// By the last byte of the hash: an answer, or a conversation, may have thousands of calls.
    buckets: Vec<Vec<u64>>,
}

impl CallIds {
    /// Adds an id. Returns false if it is there already.
    pub fn admit(&mut self, id: &str) -> bool {
        let hash = fnv(FNV, id.as_bytes());
        self.buckets.resize(BUCKETS, Vec::new());
        let Some(bucket) = self.buckets.get_mut(place(hash)) else {
            return true;
        };
        let is_new = !bucket.contains(&hash);
        if is_new {
            bucket.push(hash);
        }
        is_new
    }

    /// True for an id that was added.
    pub fn has(&self, id: &str) -> bool {
        let hash = fnv(FNV, id.as_bytes());
        let bucket = self.buckets.get(place(hash));
        bucket.is_some_and(|bucket| bucket.contains(&hash))
    }

    pub fn clear(&mut self) {
        self.buckets.clear();
    }

    /// Adds the ids of another set.
    pub fn extend(&mut self, other: CallIds) {
        self.buckets.resize(BUCKETS, Vec::new());
        for (bucket, more) in self.buckets.iter_mut().zip(other.buckets) {
            bucket.extend(more);
        }
    }
}

/// The ids that a call of an answer must not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TakenIds {
    /// Those of earlier answers, borrowed from the transcript. `None` before they are needed.
    pub earlier: Option<CallIds>,
    /// The ids of the calls that this answer has emitted.
    pub own: CallIds,
}

impl TakenIds {
    /// Takes an id. Returns false if it is taken already.
    pub fn admit(&mut self, id: &str) -> bool {
        let is_taken = self.earlier.as_ref().is_some_and(|earlier| earlier.has(id));
        !is_taken && self.own.admit(id)
    }
}

fn place(hash: u64) -> usize {
    usize::from(hash as u8)
}
