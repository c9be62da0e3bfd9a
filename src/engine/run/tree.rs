//! The agents of a run: which one acts on an input, and the growth of their tree.
//!
//! [`Run::on_agent`] calls an agent with its context. After each input, [`Run::settle_tree`] starts the subagents
//! that were called, and passes the results of those that have ended to their callers. An agent that has ended never
//! acts again. If a subagent cannot start, its caller gets an error.

use crate::engine::agent::context::AgentContext;
use crate::engine::agent::history::head::Heads;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::identity::AgentIdentity;
use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::agent::profile::Profile;
use crate::engine::agent::{Agent, Node, failed, inherited};
use crate::engine::ledger::spawn::{Parent, Spawn};
use crate::engine::model::config::Memory;
use crate::engine::model::error::ConfigError;
use crate::engine::model::hook::Hook;
use crate::engine::model::input::ToolReturn;
use crate::engine::model::journal::Fact;
use crate::engine::model::message::Block;
use crate::engine::model::outcome::{Outcome, OutcomeKind};
use crate::engine::model::output::EffectId;
use crate::engine::model::question::Point;
use crate::engine::run::Run;

impl Run {
    pub(super) fn on_root(&mut self, act: impl FnOnce(&mut Agent, &mut AgentContext<'_>)) {
        self.on_agent(0, act);
    }

    /// Calls the agent of an open effect. An effect that is not open has no agent.
    pub(super) fn on_effect(
        &mut self,
        effect: EffectId,
        act: impl FnOnce(&mut Agent, &mut AgentContext<'_>),
    ) {
        if let Some(open) = self.ledger.find(effect) {
            self.on_agent(open.agent, act);
        }
    }

    pub(super) fn on_agent(&mut self, index: u32, act: impl FnOnce(&mut Agent, &mut AgentContext<'_>)) {
        if let Some((agent, mut ctx)) = self.context(index) {
            act(agent, &mut ctx);
        }
    }

    /// An agent that has not ended, and its context.
    pub(super) fn context(&mut self, index: u32) -> Option<(&mut Agent, AgentContext<'_>)> {
        let (upto, below) = self.agents.split_at_mut_checked(index as usize + 1)?;
        let Node { identity, agent } = upto.last_mut()?;
        if agent.ended().is_some() {
            return None;
        }
        let Profile { config, catalog, .. } = self.setup.profile(identity.kept.profile)?;
        let ctx = AgentContext {
            identity,
            config,
            catalog,
            ledger: &mut self.ledger,
            questions: &mut self.questions,
            permissions: &mut self.permissions,
            setup: &self.setup,
            inputs: self.inputs.as_ref(),
            session: self.session.as_deref(),
            below,
            first_below: index + 1,
        };
        Some((agent, ctx))
    }

    /// Gives the agent at this handover the profile of its successor.
    pub(super) fn hand_off(&mut self, handover: EffectId) {
        let Some(index) = self.ledger.find(handover).map(|open| open.agent) else {
            return;
        };
        let node = self.agents.get_mut(index as usize);
        let Some(successor) = node.and_then(|Node { identity, agent }| {
            let successor = agent.calls.delegations.take_successor()?;
            identity.kept.profile = successor.profile;
            Some(successor)
        }) else {
            return;
        };
        self.on_agent(index, |agent, ctx| agent.accept_handoff(ctx, successor));
    }

    /// Starts the agents that were called, and gives the results of ended agents to their callers.
    pub(super) fn settle_tree(&mut self) {
        loop {
            if !self.ledger.spawns.is_empty() {
                let spawn = self.ledger.spawns.remove(0);
                self.begin_agent(spawn);
                continue;
            }
            let Some(node) = self.agents.iter_mut().find(|node| node.owes_report()) else {
                return;
            };
            let index = node.identity.agent;
            let profile = self.setup.profile(node.identity.kept.profile);
            let report = node.report(profile.is_some_and(|profile| profile.config.output.is_some()));
            if let Some(memory) = node.memory() {
                let known = |other: &Memory| other.agent_path == memory.agent_path;
                self.memories.retain(|other| !known(other));
                if self.ledger.has_journal {
                    self.noted.facts.push(Fact::Remembered(memory.clone()));
                }
                self.memories.push(memory);
            }
            if let Some((parent, outcome, result)) = report {
                self.hand_back(index, &parent, outcome, result);
            }
        }
    }

    fn begin_agent(&mut self, spawn: Spawn) {
        let Spawn { parent, .. } = &spawn;
        // The caller may have ended within this input.
        if !self.ledger.is_open(parent.call) {
            return;
        }
        let call = parent.clone();
        let prompt = vec![Block::text(spawn.prompt.clone())];
        match self.add_agent(spawn) {
            Ok(index) => self.on_agent(index, |agent, ctx| agent.start(ctx, prompt)),
            Err(error) => {
                let result = failed(&error.to_text(), "", true);
                self.finish_call(&call, result);
            }
        }
    }

    fn add_agent(&mut self, spawn: Spawn) -> Result<u32, ConfigError> {
        let Spawn { parent, profile, .. } = spawn;
        let index = self.agents.len() as u32;
        let of_tool = |node: &&Node| {
            let other = node.identity.parent.as_ref();
            other.is_some_and(|other| other.agent == parent.agent && other.name == parent.name)
        };
        let earlier = self.agents.iter().filter(of_tool).count();
        let caller = self.agents.get(parent.agent as usize);
        let (Some(caller), Some(Profile { config, model, .. })) = (caller, self.setup.profile(profile))
        else {
            return Err(ConfigError::new("agents", "has no such agent"));
        };
        let model = if spawn.inherit_model {
            ActiveModel::checked(inherited(&caller.identity.model.config), config)?
        } else {
            model.clone()
        };
        let mut path = format!("{}/{}", caller.identity.path, parent.name);
        if earlier > 0 {
            path = format!("{path}#{}", earlier + 1);
        }
        let mut transcript = Transcript::default();
        let mut home = path.clone();
        if spawn.keep {
            home = format!("{}/{}", caller.identity.place_of_memory(), parent.name);
            if let Some(memory) = self.memories.iter().find(|memory| memory.agent_path == home) {
                transcript =
                    Transcript::from_history(memory.messages.clone(), |name| self.setup.has_tool(name))?;
                if transcript.messages().len() == memory.messages.len() {
                    transcript.heads = Heads::restored(memory.head.as_deref().cloned());
                }
            }
        }
        let mut identity = AgentIdentity::new(index, &path, model);
        identity.home = home;
        identity.depth = caller.identity.depth + 1;
        (identity.kept.profile, identity.first_profile) = (profile, profile);
        identity.keep_model(&self.setup);
        let mut agent = Agent::new(transcript);
        agent.is_kept = spawn.keep;
        self.ledger.accounts.add(Some(parent.agent), &config.limits);
        identity.parent = Some(parent);
        self.ledger.paths.push(identity.path.clone());
        self.agents.push(Node { identity, agent });
        Ok(index)
    }

    /// Drops the saved conversations below an agent that is not persistent.
    pub(super) fn forget_fleeting(&mut self) {
        let Run { agents, memories, .. } = self;
        let fleeting = |node: &&Node| node.identity.parent.is_some() && !node.agent.is_kept;
        for node in agents.iter().filter(fleeting) {
            let is_below = |memory: &Memory| {
                let rest = memory.agent_path.strip_prefix(&node.identity.path);
                rest.is_some_and(|rest| rest.starts_with(['/', '@']))
            };
            memories.retain(|memory| !is_below(memory));
        }
    }

    /// Gives the result of an ended agent to its caller. An exceeded limit of an agent above stops that agent, and a
    /// cancelled agent cancels the run.
    fn hand_back(&mut self, index: u32, parent: &Parent, outcome: Outcome, result: ToolReturn) {
        if !self.ledger.is_open(parent.call) {
            return;
        }
        if let Some((above, by)) = self
            .ledger
            .accounts
            .exceeded(index)
            .filter(|(above, _)| *above != index && !self.asks_at_limits())
        {
            self.on_agent(parent.agent, |agent, ctx| {
                agent.calls.batch.take_result(ctx, parent.call, result);
            });
            return self.on_agent(above, |agent, ctx| agent.stop(ctx, by));
        }
        if outcome.outcome == OutcomeKind::Cancelled {
            let why = outcome.abort_reason.unwrap_or_default();
            return self.on_root(|agent, ctx| agent.cancel(ctx, why));
        }
        self.finish_call(parent, result);
    }

    /// Returns true if your code is asked before a limit stops an agent.
    fn asks_at_limits(&self) -> bool {
        let asks = |hook: &Hook| hook.event == Point::Limit;
        self.setup.root.config.hooks.iter().any(asks)
    }

    fn finish_call(&mut self, parent: &Parent, result: ToolReturn) {
        self.on_agent(parent.agent, |agent, ctx| {
            agent.tool_finished(ctx, parent.call, result);
        });
    }
}
