//! The parts of a run that an agent works with, borrowed for one input.
//!
//! The run creates an [`AgentContext`] for the agent that an input belongs to. Through it the agent reads its
//! configuration, opens and closes effects, asks questions, and reaches the agents below it. The context owns nothing
//! and decides nothing.

use crate::engine::agent::catalog::Catalog;
use crate::engine::agent::identity::AgentIdentity;
use crate::engine::agent::profile::Profile;
use crate::engine::agent::questions::Questions;
use crate::engine::agent::setup::Setup;
use crate::engine::agent::{Agent, Node};
use crate::engine::ledger::{Ledger, Place};
use crate::engine::model::config::permission::Permissions;
use crate::engine::model::config::{Config, ToolConfig};
use crate::engine::model::event::EventKind;
use crate::engine::model::hook::Hook;
use crate::engine::model::message::Json;
use crate::engine::model::output::EffectId;
use crate::engine::model::question::Point;

/// The maximum depth of the tree of agents, also if the configuration allows more: ending a tree recurses.
const MAX_DEPTH: u32 = 8;

pub struct AgentContext<'a> {
    /// The agent that the context is for.
    pub identity: &'a mut AgentIdentity,
    pub config: &'a Config,
    pub catalog: &'a Catalog,
    pub ledger: &'a mut Ledger,
    /// The open questions of the run.
    pub questions: &'a mut Questions,
    /// The current permissions of the run.
    pub permissions: &'a mut Option<Permissions>,
    pub setup: &'a Setup,
    /// A JSON object with your code's values for the tools' bindings.
    pub inputs: Option<&'a Json>,
    /// The source of the session, if this run starts it.
    pub session: Option<&'a str>,
    /// The agents with a higher index than this one. Its subagents are among them.
    pub below: &'a mut [Node],
    /// The index of the first of `below`.
    pub first_below: u32,
}

impl<'a> AgentContext<'a> {
    pub fn place(&self) -> Place {
        self.identity.place()
    }

    pub fn emit(&mut self, kind: EventKind) {
        self.ledger.emit(self.place(), kind);
    }

    pub fn warn(&mut self, code: &str, message: String) {
        self.emit(EventKind::warning(code, message));
    }

    /// Warns unless the run has given this warning before.
    pub fn warn_once(&mut self, code: &str, message: String) {
        if !self.ledger.warned.contains(&message) {
            self.ledger.warned.push(message.clone());
            self.warn(code, message);
        }
    }

    /// The tool that a call names, by its index in the configuration.
    pub fn tool(&self, index: Option<usize>) -> Option<&'a ToolConfig> {
        self.config.tools.get(index?)
    }

    /// The name of the tool that a model calls by this name, and its index; without an index for an unknown tool.
    pub fn called(&self, name: &str) -> (String, Option<usize>) {
        let is_called = |tool: &ToolConfig, name: &str| tool.name == name && !tool.is_hosted();
        let at = |name: &str| self.config.tools.iter().position(|tool| is_called(tool, name));
        let mut aliases = self.setup.root.config.tool_calls.aliases.iter();
        let alias = aliases.find_map(|(alias, tool)| (alias == name).then_some(tool));
        match alias.and_then(|tool| Some((tool, at(tool)?))) {
            Some((tool, index)) => (tool.clone(), Some(index)),
            None => (name.to_owned(), at(name)),
        }
    }

    /// Returns true if a hook, a guardrail or another listener at this point is for `name`.
    pub fn has_hooks(&self, point: Point, name: &str) -> bool {
        self.hooks().iter().any(|hook| hook.is_for(point, name))
    }

    /// The hooks of the run, which apply to all of its agents.
    pub fn hooks(&self) -> &'a [Hook] {
        &self.setup.root.config.hooks
    }

    /// The number of levels of subagents that may be below the root.
    pub fn max_depth(&self) -> u32 {
        self.setup.root.config.limits.max_subagent_depth.min(MAX_DEPTH)
    }

    /// The index of the agent that answers this call and has not ended.
    pub fn child_of(&self, call: EffectId) -> Option<u32> {
        let answers = |node: &&Node| {
            let parent = node.identity.parent.as_ref();
            node.agent.ended().is_none() && parent.is_some_and(|parent| parent.call == call)
        };
        self.below.iter().find(answers).map(|node| node.identity.agent)
    }

    /// Calls `act` with an agent below and a context for it.
    pub fn on_child(&mut self, child: u32, act: &mut dyn FnMut(&mut Agent, &mut AgentContext<'_>)) {
        let Some(at) = child.checked_sub(self.first_below) else {
            return;
        };
        let Some((upto, below)) = self.below.split_at_mut_checked(at as usize + 1) else {
            return;
        };
        let Some(Node { identity, agent }) = upto.last_mut() else {
            return;
        };
        let Some(Profile { config, catalog, .. }) = self.setup.profile(identity.kept.profile) else {
            return;
        };
        let mut ctx = AgentContext {
            identity,
            setup: self.setup,
            inputs: self.inputs,
            session: self.session,
            config,
            catalog,
            ledger: &mut *self.ledger,
            questions: &mut *self.questions,
            permissions: &mut *self.permissions,
            below,
            first_below: child + 1,
        };
        act(agent, &mut ctx);
    }
}
