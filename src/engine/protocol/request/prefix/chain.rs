//! Selects the reasoning to send if a model lost some of it in between.
//!
//! Claude records with each block which one preceded it, so a request has a chain: each block is followed by one that
//! was written after it. After a change that was reverted there can be two chains, and a request can have only one of
//! them. [`best`] chooses the one of which the model reads most. Nothing fails.

use std::collections::BTreeMap;

/// The reasoning of a message that is valid except for the reasoning before it.
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

/// The messages of the chain of which the model reads most. `None` if that is the one that is sent. A chain may begin
/// with any block, but only after `summarized` if a vendor's summary replaces that block.
pub fn best(links: &[Link], summarized: Option<u64>) -> Option<Vec<usize>> {
    let sent = links.iter().filter(|link| link.is_sent);
    let sent: usize = sent.map(|link| link.read).sum();
    // For each last block: how much a chain to there has, and the link.
    let mut ends: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
    let mut before: Vec<Option<usize>> = Vec::new();
    for (index, link) in links.iter().enumerate() {
        let known = link.before.and_then(|last| ends.get(&last)).copied();
        let (read, at) = known.map_or((0, None), |(read, at)| (read, Some(at)));
        before.push(at);
        if at.is_none() && summarized.is_some() && link.before != summarized {
            continue;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn link(at: usize, before: Option<u64>, last: u64, is_sent: bool) -> Link {
        Link {
            at,
            before,
            last,
            read: 1,
            is_sent,
        }
    }

    #[test]
    fn the_longer_chain_is_chosen_and_begins_after_a_summary_only_behind_its_reasoning() {
        let links = [
            link(1, None, 10, true),
            link(3, Some(9), 20, false),
            link(5, Some(20), 30, false),
        ];
        assert_eq!(best(&links, None), Some(vec![5, 3]));
        assert_eq!(best(&links, Some(9)), Some(vec![5, 3]));
        // The blocks of messages 3 and 5 followed a block that the summary does not end with.
        assert_eq!(best(&links, Some(8)), None);
        assert_eq!(
            best(&links[..2], None),
            None,
            "no chain has more than the one that is sent"
        );
    }
}
