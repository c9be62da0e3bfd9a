//! The differences that a run reports when it resumes: changed options, and invalid entries of the journal.

use crate::engine::ledger::Place;
use crate::engine::model::event::EventKind;
use crate::engine::run::Run;

impl Run {
    /// Warns once about an invalid part of the journal.
    pub(super) fn warn_of_tear(&mut self) {
        let left_out = std::mem::take(&mut self.noted.left_out);
        if left_out > 0 {
            let message = format!("{JOURNAL_TORN}{left_out}");
            let kind = EventKind::warning("journal_torn", message);
            self.ledger.emit(Place::default(), kind);
        }
    }

    pub(super) fn warn_of_options(&mut self, before: &[(String, String)]) {
        let now = &self.setup.digests;
        let differs = |(name, digest): &&(String, String)| {
            let other = before.iter().find(|(other, _)| other == name);
            other.is_none_or(|(_, other)| other != digest)
        };
        let is_gone = |(name, _): &&(String, String)| !now.iter().any(|(other, _)| other == name);
        let changed = now.iter().filter(differs).chain(before.iter().filter(is_gone));
        let names: Vec<&str> = changed.map(|(name, _)| name.as_str()).collect();
        if !names.is_empty() {
            let message = format!("{OPTIONS_CHANGED}{}", names.join(", "));
            let kind = EventKind::warning("options_changed", message);
            self.ledger.emit(Place::default(), kind);
        }
    }
}

const JOURNAL_TORN: &str = "A part of the journal is missing or damaged. The run resumes from its last complete save. Entries left out: ";
const OPTIONS_CHANGED: &str = "The run resumes with options that differ from those it started with: ";
