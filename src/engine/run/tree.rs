//! Who acts: the agent that an input or an effect belongs to, with what it works with.

use super::super::agent::{Agent, Desk};
use super::super::output::EffectId;
use super::super::profile::Profile;
use super::Run;

impl Run {
    pub(super) fn on_root(&mut self, act: impl FnOnce(&mut Agent, &mut Desk<'_>)) {
        self.on_agent(0, act);
    }

    /// Lets the agent act that an open effect belongs to. An effect that is not open has nothing to say any more.
    pub(super) fn on_effect(&mut self, effect: EffectId, act: impl FnOnce(&mut Agent, &mut Desk<'_>)) {
        if let Some(open) = self.ledger.find(effect) {
            self.on_agent(open.agent, act);
        }
    }

    pub(super) fn on_agent(&mut self, index: u32, act: impl FnOnce(&mut Agent, &mut Desk<'_>)) {
        if let Some((agent, mut desk)) = self.desk(index) {
            act(agent, &mut desk);
        }
    }

    /// An agent that has not ended, with what it works with.
    #[cfg_attr(looplet_speed, optimize(speed))]
    pub(super) fn desk(&mut self, index: u32) -> Option<(&mut Agent, Desk<'_>)> {
        let agent = self
            .agents
            .get_mut(index as usize)
            .filter(|agent| agent.ended().is_none())?;
        let Profile { config, catalog } = self.profiles.get(agent.profile as usize)?;
        let desk = Desk {
            config,
            catalog,
            ledger: &mut self.ledger,
            permissions: &mut self.permissions,
        };
        Some((agent, desk))
    }
}
