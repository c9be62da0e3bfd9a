//! Failed saves, and the end of a run in this process only.

use crate::engine::ledger::Place;
use crate::engine::model::error::Failure;
use crate::engine::model::event::EventKind;
use crate::engine::model::journal::Fact;
use crate::engine::model::outcome::{Outcome, OutcomeKind};
use crate::engine::run::Run;

impl Run {
    /// Reports which entries the store does not have.
    pub(super) fn emit_not_saved(&mut self, entries: u32, since: u64, message: String) {
        let kind = EventKind::NotSaved {
            entries,
            since,
            message,
        };
        self.ledger.emit(self.root_place(), kind);
    }

    /// Ends the work of this process. The journal gets the text that streams and learns of no end.
    pub(super) fn suspend(&mut self, why: String) {
        self.note_suspended();
        let reason = why.clone();
        self.ledger.emit(Place::default(), EventKind::Abort { reason });
        self.conclude(Outcome {
            outcome: OutcomeKind::Cancelled,
            stopped_by: None,
            abort_reason: Some(why),
            error: None,
        });
    }

    /// Ends the work of this process as `failed`. The journal learns of no end.
    pub(super) fn give_up(&mut self, failure: Failure) {
        self.note_suspended();
        self.fail(failure);
    }

    fn note_suspended(&mut self) {
        if self.ledger.has_journal {
            self.noted.facts.push(Fact::Suspended);
        }
    }

    /// The place of events of the run as a whole.
    pub(super) fn root_place(&self) -> Place {
        let root = self.agents.first();
        let (iteration, attempt) = root
            .map(|root| (root.identity.kept.iteration, root.identity.kept.attempt))
            .unwrap_or_default();
        Place {
            agent: 0,
            iteration,
            attempt,
        }
    }
}
