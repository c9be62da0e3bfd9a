//! An agent's place in the tree, its progress, its limits, and its model.
//!
//! [`active_model`] has the data of a model, [`tuning`] an iteration with other settings, and [`model_name`] the name
//! of a model in the journal.
//!
//! The tree stores it next to the agent, and the agent's context gives all parts access to it. The agent's steps and
//! requests are counted in it, and the run sets its profile.

pub mod active_model;
pub mod model_name;
pub mod tuning;

use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::agent::identity::model_name::name_of;
use crate::engine::agent::identity::tuning::Tuning;
use crate::engine::agent::limits::AgentLimits;
use crate::engine::agent::profile::Profile;
use crate::engine::agent::setup::Setup;
use crate::engine::ledger::Place;
use crate::engine::ledger::spawn::Parent;
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::journal::IdentityState;
use crate::engine::model::question::Point;

#[derive(Clone)]
pub struct AgentIdentity {
    pub kept: IdentityState,
    pub limits: AgentLimits,
    /// The agent's index in the run's tree.
    pub agent: u32,
    /// The index of its profile before any handover.
    pub first_profile: u32,
    /// The call that it answers; `None` for the root.
    pub parent: Option<Parent>,
    /// The number of agents above it.
    pub depth: u32,
    /// `root`, or `root/…` below it.
    pub path: String,
    /// The path under which its conversation is saved. A persistent subagent continues the conversation of its first
    /// call.
    pub home: String,
    /// The model in use.
    pub model: ActiveModel,
    /// The differences between the requests of this iteration and the others.
    pub tuning: Option<Box<Tuning>>,
}

impl AgentIdentity {
    pub fn new(agent: u32, path: &str, model: ActiveModel) -> AgentIdentity {
        AgentIdentity {
            kept: IdentityState::default(),
            limits: AgentLimits::default(),
            agent,
            first_profile: 0,
            parent: None,
            depth: 0,
            path: path.to_owned(),
            home: path.to_owned(),
            model,
            tuning: None,
        }
    }

    /// The model that the agent asks, apart from this iteration.
    pub fn own_model(&self) -> &ActiveModel {
        let before = self.tuning.as_ref().and_then(|tuning| tuning.before());
        before.unwrap_or(&self.model)
    }

    /// Saves the name of the agent's own model, if it is not its profile's. Call it after each change of the model or
    /// the profile.
    pub fn keep_model(&mut self, setup: &Setup) {
        let own = &self.own_model().config;
        let is_profiles = |profile: &Profile| profile.model.config == *own;
        let is_known = setup.profile(self.kept.profile).is_some_and(is_profiles);
        self.kept.model = (!is_known).then(|| name_of(own, setup));
    }

    pub fn place(&self) -> Place {
        Place {
            agent: self.agent,
            iteration: self.kept.iteration,
            attempt: self.kept.attempt,
        }
    }

    /// The point of the root, or the point of a subagent with the name of its tool.
    pub fn its_point(&self, root: Point, subagent: Point) -> (Point, String) {
        match &self.parent {
            None => (root, String::new()),
            Some(parent) => (subagent, parent.name.clone()),
        }
    }

    /// The provider's id of the call that a subagent answers.
    pub fn its_call(&self) -> Option<&str> {
        let parent = self.parent.as_ref();
        parent.map(|parent| parent.tool_call_id.as_str())
    }

    /// The timer of the run, or of the call that the agent answers.
    pub fn total_timer(&self) -> TimerReason {
        match &self.parent {
            None => TimerReason::Total,
            Some(parent) => TimerReason::Effect(parent.call),
        }
    }

    /// The timer of its iteration.
    pub fn iteration_timer(&self) -> TimerReason {
        TimerReason::Iteration { agent: self.agent }
    }

    /// Returns true if the model was offered this tool.
    pub fn is_offered(&self, tool: &str) -> bool {
        let tuning = self.tuning.as_ref();
        tuning.is_none_or(|tuning| tuning.offers(tool))
    }

    /// The path under which the conversations of its subagents are saved. Before and after a handoff, subagents with
    /// the same name are different.
    pub fn place_of_memory(&self) -> String {
        if self.kept.profile == self.first_profile {
            return self.home.clone();
        }
        format!("{}@{}", self.home, self.kept.profile)
    }
}
