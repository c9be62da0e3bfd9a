//! Which agent of the tree it is, how far it is, and what it asks its model with: known to all of its parts.

use serde::{Deserialize, Serialize};

use crate::engine::agent::desk::Desk;
use crate::engine::agent::request::active_model::ActiveModel;
use crate::engine::agent::request::tuning::Tuning;
use crate::engine::json::writer::decimal;
use crate::engine::ledger::Place;
use crate::engine::ledger::spawn::Parent;
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::config::Limits;

#[derive(Clone, Serialize, Deserialize)]
pub struct Who {
    /// Its index in the run's tree.
    pub agent: u32,
    /// Index of what it is configured with.
    pub profile: u32,
    /// That before any handover.
    pub first_profile: u32,
    /// Whose call it answers; none for the root.
    pub parent: Option<Parent>,
    /// Levels above it.
    pub depth: u32,
    /// `root`, or `root/…` below it.
    pub path: String,
    /// Of the first call for an agent that is kept: whose conversation it goes on with.
    pub home: String,
    pub iteration: u32,
    pub attempt: u32,
    /// The model in use.
    pub model: ActiveModel,
    /// How the requests of this iteration differ.
    pub tuning: Option<Box<Tuning>>,
    /// As they were raised.
    pub raised: Option<Limits>,
}

impl Who {
    pub fn new(agent: u32, path: &str, model: ActiveModel) -> Who {
        Who {
            agent,
            profile: 0,
            first_profile: 0,
            parent: None,
            depth: 0,
            path: path.to_owned(),
            home: path.to_owned(),
            iteration: 0,
            attempt: 0,
            model,
            tuning: None,
            raised: None,
        }
    }

    pub fn place(&self) -> Place {
        Place {
            agent: self.agent,
            iteration: self.iteration,
            attempt: self.attempt,
        }
    }

    /// The limits as they stand.
    pub fn limits<'a>(&'a self, desk: &Desk<'a>) -> &'a Limits {
        self.raised.as_ref().unwrap_or(&desk.config.limits)
    }

    /// Of the run, or of the call that the agent answers.
    pub fn total_timer(&self) -> TimerReason {
        match &self.parent {
            None => TimerReason::Total,
            Some(parent) => TimerReason::Effect(parent.call),
        }
    }

    /// Of its iteration.
    pub fn iteration_timer(&self) -> TimerReason {
        TimerReason::Iteration { agent: self.agent }
    }

    /// Whether the model was told of this tool.
    pub fn is_offered(&self, tool: &str) -> bool {
        let tuning = self.tuning.as_ref();
        tuning.is_none_or(|tuning| tuning.offers(tool))
    }

    /// Where those that it calls remember: subagents of one name, of it and of an agent that it has handed over to, are
    /// not the same.
    pub fn place_of_memory(&self) -> String {
        if self.profile == self.first_profile {
            return self.home.clone();
        }
        [&self.home, "@", &decimal(self.profile as usize)].concat()
    }
}
