//! The deaths of a run's processes, counted by what may have caused them.

use serde::{Deserialize, Serialize};

use crate::engine::model::config::Recovery;
use crate::engine::model::journal::{AgentCheckpoint, CallState, CallStatus, Checkpoint, Step};
use crate::engine::model::outcome::StoppedBy;

/// The deaths since the run was last brought further.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Deaths {
    /// Processes that ended while a function of a tool ran.
    pub crashes: u32,
    /// Processes that ended while nothing of yours ran.
    pub interruptions: u32,
    /// How often the run was stopped because of its deaths.
    pub stops: u32,
}

impl Deaths {
    /// Returns true if there were as many as the options allow.
    pub fn exhaust(&self, recovery: &Recovery) -> bool {
        self.crashes >= recovery.max_crashes || self.interruptions >= recovery.max_interruptions
    }
}

impl Checkpoint {
    /// The deaths with that of the last process, which has left the run as it is here. A run that was stopped by deaths begins
    /// to count anew, because whoever goes on with it has mended their cause.
    pub fn deaths_by_now(&self) -> Deaths {
        let before = self.deaths;
        let stops = before.stops;
        if let Some(is_by_deaths) = self.end_by_deaths() {
            let stops = if is_by_deaths { stops + 1 } else { 0 };
            return Deaths {
                stops,
                ..Deaths::default()
            };
        }
        // A run that waits for a person may see many processes.
        if self.seq == 0 || self.is_suspended || self.any_call(CallState::awaits_person) {
            return before;
        }
        match self.running_tool() {
            Some(_) => Deaths {
                crashes: before.crashes + 1,
                ..before
            },
            None => Deaths {
                interruptions: before.interruptions + 1,
                ..before
            },
        }
    }

    /// The name of a tool whose function ran when the last process ended. A call that a subagent answers has no function.
    pub fn running_tool(&self) -> Option<&str> {
        let is_answered = |effect| {
            let mut parents = self.agents.iter().filter_map(|agent| agent.place.parent.as_ref());
            parents.any(|parent| parent.call == effect)
        };
        let mut calls = self.agents.iter().flat_map(|agent| &agent.calls);
        let running = calls.find(|call| match call.status {
            CallStatus::Started { effect } => !is_answered(effect),
            _ => false,
        });
        running.map(|call| call.tool_name.as_str())
    }

    fn any_call(&self, is: impl Fn(&CallState) -> bool) -> bool {
        self.agents.iter().any(|agent| agent.calls.iter().any(&is))
    }

    /// Whether the run was ended by its deaths; `None` if it has not ended.
    fn end_by_deaths(&self) -> Option<bool> {
        let root: &AgentCheckpoint = self.agents.first()?;
        match &root.state.step {
            Step::Ended(outcome) => Some(outcome.stopped_by == Some(StoppedBy::RecoveryExhausted)),
            _ => None,
        }
    }
}
