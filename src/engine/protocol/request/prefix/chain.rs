//! Which reasoning goes out where a model was made to forget some of it in between.
//!
//! Claude notes with each block which one came before it, so a request has a chain: each block is followed by one
//! that was made behind it. After a change that was taken back there can be two chains, and a request can have one of
//! them. [`best`] chooses the one of which the model reads most. Nothing fails.

use std::collections::HashMap;

/// The reasoning of a message that fits by everything but the reasoning before it.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The index of the message.
    pub at: usize,
    /// The digest of the block that was sent before it; `None` for the first.
    pub before: Option<u64>,
    /// The digest of its last block.
    pub last: u64,
    /// The number of its blocks that the asked model reads.
    pub read: usize,
    pub is_sent: bool,
}

/// The messages of the chain of which the model reads most; `None` if that is the one that is sent.
pub fn best(links: &[Link]) -> Option<Vec<usize>> {
    let sent = links.iter().filter(|link| link.is_sent);
    let sent: usize = sent.map(|link| link.read).sum();
    // For each last block: how much a chain to there has, and the link.
    let mut ends: HashMap<u64, (usize, usize)> = HashMap::new();
    let mut before: Vec<Option<usize>> = Vec::new();
    for (index, link) in links.iter().enumerate() {
        let known = link.before.and_then(|last| ends.get(&last)).copied();
        let (read, at) = known.map_or((0, None), |(read, at)| (read, Some(at)));
        before.push(at);
        let end = ends.entry(link.last).or_insert((0, index));
        *end = (*end).max((read + link.read, index));
    }
    let (read, last) = ends.into_values().max()?;
    if read <= sent {
        return None;
    }
    let chain = std::iter::successors(Some(last), |at| before.get(*at).copied().flatten());
    Some(chain.filter_map(|at| Some(links.get(at)?.at)).collect())
}
