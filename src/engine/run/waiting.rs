//! Whether a run waits for nothing but answers of people. It looks and tells; it decides nothing.

use crate::engine::ledger::OpenEffect;
use crate::engine::model::event::EventKind;
use crate::engine::model::output::{EffectId, EffectKind};
use crate::engine::run::Run;

impl Run {
    /// Tells, once for the same questions, that only their answers bring the run on.
    pub(super) fn tell_waiting(&mut self) {
        let question_ids = if self.is_waiting() {
            self.questions().collect()
        } else {
            Vec::new()
        };
        if question_ids == self.waiting {
            return;
        }
        self.waiting.clone_from(&question_ids);
        if question_ids.is_empty() {
            return;
        }
        self.ledger
            .emit(self.root_place(), EventKind::Waiting { question_ids });
    }

    /// The calls of agents below which a person is asked.
    pub(super) fn asking(&self) -> Vec<EffectId> {
        let mut asking = Vec::new();
        // An agent stands behind its caller.
        for node in self.agents.iter().rev() {
            if let Some(parent) = &node.who.parent
                && node.agent.calls.batch.awaits_person(&asking)
            {
                asking.push(parent.call);
            }
        }
        asking
    }

    fn is_waiting(&self) -> bool {
        self.questions().next().is_some()
            && !self.ledger.timers.has_backoff()
            && !self.ledger.open_effects().iter().any(|open| self.goes_on(open))
    }

    fn questions(&self) -> impl Iterator<Item = EffectId> {
        let open = self.ledger.open_effects().iter();
        open.filter(|(_, open)| open.kind.awaits_person())
            .map(|(id, _)| *id)
    }

    /// Returns true for an effect that may bring the run on without a person.
    fn goes_on(&self, (effect, open): &(EffectId, OpenEffect)) -> bool {
        match open.kind {
            // Whether a call waits for a save, its own effect says.
            EffectKind::Save | EffectKind::Subagent => false,
            EffectKind::Tool => {
                let node = self.agents.get(open.agent as usize);
                !node.is_some_and(|node| node.agent.calls.batch.is_asking(*effect))
            }
            EffectKind::Request | EffectKind::Handover | EffectKind::Question(_) => {
                !open.kind.awaits_person()
            }
        }
    }
}
