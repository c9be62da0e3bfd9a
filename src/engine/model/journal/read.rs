//! Reads the valid part of a journal.

use crate::engine::model::error::ConfigError;
use crate::engine::model::journal::{Checkpoint, Entry, FORMAT, Fact, ProcessStart, gap};

/// Folds the entries of a journal, one JSON text after the other, so that they are never all in memory. The entries
/// of one input are valid together or not at all, and the last of them is the state of the run. An entry that was
/// written twice counts once. After a gap no entry is valid, with two exceptions: a process has continued from the
/// entries before it, or the next run of the chat begins. That run gets what is intact of the runs before it.
///
/// Pass each text to [`JournalReader::take`], then call [`JournalReader::finish`]. It may ask for all texts a second
/// time.
#[derive(Default)]
pub struct JournalReader {
    checkpoint: Checkpoint,
    /// The entries of an input that is not complete yet.
    input: Vec<Entry>,
    texts: usize,
    /// The number of texts up to the last valid one.
    counted: usize,
    /// The number of the journal's last entry.
    end: u64,
    is_torn: bool,
    /// The number of invalid texts before a valid entry, because they are out of order.
    misplaced: usize,
    /// The entries after a gap that the next run of the chat needs.
    intact: Vec<Entry>,
    /// The process after a gap that wrote the entries of the input.
    crossing: Option<Crossing>,
    /// The numbers of the last texts of inputs that cannot be folded.
    unfoldable: Vec<usize>,
    /// Parse each state, because one of them cannot be parsed, which is a gap.
    reads_states: bool,
    /// A part of an input has been folded, and the whole input cannot be.
    is_spoilt: bool,
}

/// A process has started after a gap.
struct Crossing {
    /// The number of its last valid entry.
    after: u64,
    /// The number of texts before its first one.
    texts: usize,
}

impl JournalReader {
    /// A reader that also collects the transcripts of all agents.
    pub fn with_transcripts() -> Self {
        let mut reader = JournalReader::default();
        reader.checkpoint.past = Some(Vec::new());
        reader
    }

    /// Takes the next entry.
    ///
    /// # Errors
    /// A journal of a newer format.
    pub fn take(&mut self, text: &str) -> Result<(), ConfigError> {
        self.texts += 1;
        if self.is_spoilt {
            return Ok(());
        }
        let Ok(entry) = Entry::of_line(text) else {
            self.end += 1;
            self.tear();
            return Ok(());
        };
        let is_new = entry.seq > self.end;
        self.end = self.end.max(entry.seq);
        if let Fact::ProcessStarted(begun) = &entry.fact {
            begun.check_format()?;
            // A store that numbers by counting reuses the numbers of lost entries.
            if (is_new || self.is_torn) && begun.after == self.checkpoint.seq {
                if begun.is_torn {
                    // Its process has reported the invalid entries.
                    self.misplaced = 0;
                } else if !is_new {
                    self.misplaced = (self.texts - 1).saturating_sub(self.counted);
                }
                self.input = vec![entry];
                self.is_torn = false;
                self.intact.clear();
                self.crossing = None;
                return Ok(());
            }
        }
        let last = self.input.last().map_or(self.checkpoint.seq, |entry| entry.seq);
        if !self.is_torn && entry.seq <= last {
            self.counted += usize::from(self.input.is_empty());
            return Ok(());
        }
        if !self.is_torn && entry.seq != last + 1 {
            self.tear();
        }
        if self.is_torn {
            if is_new {
                self.take_intact(entry);
            }
            return Ok(());
        }
        let is_last = matches!(entry.fact, Fact::Run(_));
        self.input.push(entry);
        if is_last {
            self.fold_input();
        }
        Ok(())
    }

    /// A part of the journal is lost here.
    fn tear(&mut self) {
        let input = std::mem::take(&mut self.input);
        if !self.is_torn {
            self.intact.extend(input.into_iter().filter(gap::is_of_use));
        }
        self.is_torn = true;
        self.crossing = None;
    }

    /// Takes an entry after a gap.
    fn take_intact(&mut self, entry: Entry) {
        if gap::is_of_use(&entry) {
            self.intact.push(entry.clone());
        }
        if let Fact::ProcessStarted(begun) = &entry.fact
            && begun.after > self.checkpoint.seq
        {
            self.crossing = Some(Crossing {
                after: begun.after,
                texts: self.texts - 1,
            });
            self.input = vec![entry];
            return;
        }
        let follows = self.input.last().is_some_and(|last| entry.seq == last.seq + 1);
        if !follows {
            self.crossing = None;
            self.input.clear();
            return;
        }
        let is_last = matches!(entry.fact, Fact::Run(_));
        self.input.push(entry);
        if is_last {
            self.cross();
        }
    }

    /// The input after a gap is complete. If a run of the chat begins with it, it is valid, and so are the following
    /// ones.
    fn cross(&mut self) {
        let input = std::mem::take(&mut self.input);
        let Some(Crossing { after, texts }) = self.crossing.take() else {
            return;
        };
        let next = input.iter().find_map(|entry| match &entry.fact {
            Fact::Next(next) => Some(next),
            _ => None,
        });
        let Some(next) = next.filter(|_| !self.unfoldable.contains(&self.texts)) else {
            return;
        };
        let mut intact = std::mem::take(&mut self.intact);
        intact.retain(|entry| entry.seq <= after);
        if self.checkpoint.cross(intact, next).is_err() {
            self.unfoldable.push(self.texts);
            self.is_spoilt = true;
            return;
        }
        self.checkpoint.lost += texts.saturating_sub(self.counted).max(1);
        self.is_torn = false;
        self.input = input;
        self.fold_input();
    }

    fn fold_input(&mut self) {
        let input = std::mem::take(&mut self.input);
        if self.unfoldable.contains(&self.texts) {
            self.is_torn = true;
            return;
        }
        let checkpoint = &mut self.checkpoint;
        // Invalid entries may precede these.
        checkpoint.seq = input.first().map_or(0, |entry| entry.seq - 1);
        let folded = input.into_iter().try_for_each(|entry| checkpoint.take(entry));
        let read = folded.and_then(|()| match self.reads_states {
            true => checkpoint.read_states(),
            false => Ok(()),
        });
        match read {
            Ok(()) => self.counted = self.texts,
            Err(_) => {
                self.unfoldable.push(self.texts);
                self.is_spoilt = true;
            }
        }
    }

    /// The journal, and the number of invalid texts at its end. `None` asks for all texts a second time, because one
    /// of them was found to be invalid.
    ///
    /// # Errors
    /// A journal without a valid beginning.
    pub fn finish(&mut self) -> Result<Option<(Checkpoint, usize)>, ConfigError> {
        let JournalReader {
            mut checkpoint,
            texts,
            counted,
            end,
            misplaced,
            unfoldable,
            reads_states,
            is_spoilt,
            ..
        } = std::mem::take(self);
        // The next reading collects the same as this one.
        self.checkpoint.past = checkpoint.past.as_ref().map(|_| Vec::new());
        if is_spoilt {
            (self.unfoldable, self.reads_states) = (unfoldable, reads_states);
            return Ok(None);
        }
        if checkpoint.read_states().is_err() {
            self.reads_states = true;
            return Ok(None);
        }
        if checkpoint.agents.is_empty() {
            let problem = match texts {
                0 => "are empty: there is no such run",
                _ => "have no valid beginning",
            };
            return Err(ConfigError::new("entries", problem));
        }
        checkpoint.end = end;
        Ok(Some((checkpoint, texts - counted + misplaced)))
    }
}

impl Checkpoint {
    /// The checkpoint of a journal, with one JSON text for each entry, and the number of invalid texts at its end.
    ///
    /// # Errors
    /// A journal of a newer format, or one without a valid beginning.
    pub fn of(texts: &[impl AsRef<str>]) -> Result<(Checkpoint, usize), ConfigError> {
        let mut reader = JournalReader::default();
        loop {
            texts.iter().try_for_each(|text| reader.take(text.as_ref()))?;
            if let Some(read) = reader.finish()? {
                return Ok(read);
            }
        }
    }
}

impl ProcessStart {
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
