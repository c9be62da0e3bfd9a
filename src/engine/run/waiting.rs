//! Detects whether a run waits only for answers of users. It changes nothing else.

use crate::engine::ledger::OpenEffect;
use crate::engine::model::event::EventKind;
use crate::engine::model::output::{EffectId, EffectKind};
use crate::engine::run::Run;

impl Run {
    /// Emits, once for each set of questions, that the run can continue only after their answers.
    pub(super) fn emit_waiting(&mut self) {
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

    /// The calls of agents below which a user has been asked.
    pub(super) fn asking(&self) -> Vec<EffectId> {
        let mut asking = Vec::new();
        // An agent's index is greater than its caller's.
        for node in self.agents.iter().rev() {
            if let Some(parent) = &node.identity.parent
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
            && !self.ledger.open_effects().iter().any(|open| self.continues(open))
    }

    fn questions(&self) -> impl Iterator<Item = EffectId> {
        let open = self.ledger.open_effects().iter();
        open.filter(|(_, open)| open.kind.awaits_person())
            .map(|(id, _)| *id)
    }

    /// Returns true if an effect may let the run continue without a user.
    fn continues(&self, (effect, open): &(EffectId, OpenEffect)) -> bool {
        match open.kind {
            // The effect of a call shows whether it waits for a save.
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
