//! Reads a journal, as far as it is whole.

use crate::engine::model::error::ConfigError;
use crate::engine::model::journal::{Begun, Checkpoint, Entry, FORMAT, Fact};

impl Checkpoint {
    /// Folds a journal, one JSON text for each entry. The entries of one input count together or not at all, and the last
    /// of them is the state of the run. An entry that was written twice counts once. Behind a tear nothing counts, unless
    /// a process has gone on from the entries before it. Returns the number of texts at the end that do not count.
    ///
    /// # Errors
    /// A journal of a newer format, or one without a whole beginning.
    pub fn of(texts: &[impl AsRef<str>]) -> Result<(Checkpoint, usize), ConfigError> {
        let (mut checkpoint, left_out) = read(texts, |_| Ok(()))?;
        match checkpoint.read_states() {
            Ok(()) => Ok((checkpoint, left_out)),
            // A state that cannot be read is a tear.
            Err(_) => read(texts, Checkpoint::read_states),
        }
    }
}

/// As [`Checkpoint::of`], with an `after_input` that looks at the checkpoint after the entries of each input.
fn read(
    texts: &[impl AsRef<str>],
    after_input: impl Fn(&mut Checkpoint) -> Result<(), ConfigError> + Copy,
) -> Result<(Checkpoint, usize), ConfigError> {
    let mut checkpoint = Checkpoint::default();
    let mut batch: Vec<Entry> = Vec::new();
    let (mut counted, mut end, mut is_torn) = (0, 0, false);
    for (index, text) in texts.iter().enumerate() {
        let Ok(entry) = Entry::of_line(text.as_ref()) else {
            end += 1;
            is_torn = true;
            continue;
        };
        let is_new = entry.seq > end;
        end = end.max(entry.seq);
        if let Fact::Begun(begun) = &entry.fact {
            begun.check_format()?;
            // A store that counts the entries it has gives numbers of lost ones again.
            if (is_new || is_torn) && begun.after == checkpoint.seq {
                batch = vec![entry];
                is_torn = false;
                continue;
            }
        }
        if is_torn {
            continue;
        }
        let last = batch.last().map_or(checkpoint.seq, |entry| entry.seq);
        if entry.seq <= last {
            counted += usize::from(batch.is_empty());
            continue;
        }
        is_torn = entry.seq != last + 1;
        let is_last = matches!(entry.fact, Fact::Run(_));
        batch.push(entry);
        if is_torn || !is_last {
            continue;
        }
        // Entries that do not count may stand before these.
        checkpoint.seq = batch.first().map_or(0, |entry| entry.seq - 1);
        let folded = batch.drain(..).try_for_each(|entry| checkpoint.take(entry));
        match folded.and_then(|()| after_input(&mut checkpoint)) {
            Ok(()) => counted = index + 1,
            Err(_) => {
                is_torn = true;
                // A part of these entries may have been folded.
                checkpoint = match texts.get(..counted) {
                    Some(whole) if counted > 0 => read(whole, after_input)?.0,
                    _ => Checkpoint::default(),
                };
            }
        }
    }
    if checkpoint.agents.is_empty() {
        let problem = match texts.is_empty() {
            true => "are empty: there is no such run",
            false => "have no whole beginning",
        };
        return Err(ConfigError::new("entries", problem));
    }
    checkpoint.end = end;
    Ok((checkpoint, texts.len() - counted))
}

impl Begun {
    /// Refuses the journal of a newer version.
    pub(super) fn check_format(&self) -> Result<(), ConfigError> {
        match self.format > FORMAT {
            true => Err(ConfigError::new(
                "format",
                "was written by a newer version of looplet: update looplet",
            )),
            false => Ok(()),
        }
    }
}
