//! The deaths of a run's processes, counted by what may have caused them.

use serde::{Deserialize, Serialize};

use crate::engine::model::config::Recovery;
use crate::engine::model::journal::{AgentCheckpoint, CallState, CallStatus, Checkpoint, Step};
use crate::engine::model::outcome::StoppedBy;

/// The deaths since the run was last brought further.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Deaths {
    /// Processes that ended while a function of a tool ran, and lost instances.
    pub crashes: u32,
    /// Other processes that ended.
    pub interruptions: u32,
    /// How often the run was stopped because of its deaths, whatever came between.
    pub stops: u32,
}

impl Deaths {
    /// The run has come further.
    pub fn forget(&mut self) {
        (self.crashes, self.interruptions) = (0, 0);
    }

    /// Returns true if there were as many as the options allow.
    pub fn exhaust(&self, recovery: &Recovery) -> bool {
        self.crashes >= recovery.max_crashes || self.interruptions >= recovery.max_interruptions
    }

    /// Says why a run is stopped because of them. `running_tool` is the tool whose function ran last.
    pub fn told(&self, running_tool: Option<String>) -> String {
        let (crashes, interruptions) = (self.crashes, self.interruptions);
        let tool = running_tool.map_or_else(String::new, |tool| format!(" (the last one in \"{tool}\")"));
        format!(
            "Processes ended one after the other and brought the run no further: {crashes} while a tool ran{tool}, {interruptions} while none ran."
        )
    }
}

impl Checkpoint {
    /// The deaths with that of the last process, which has left the run as it is here. `is_lost` says that the
    /// process lives and has lost its instance, which is a crash. A run that was stopped by deaths begins to count
    /// anew, because whoever goes on with it has mended their cause.
    pub fn deaths_by_now(&self, is_lost: bool) -> Deaths {
        let mut deaths = self.deaths;
        if let Some(is_by_deaths) = self.end_by_deaths() {
            let stops = if is_by_deaths { deaths.stops + 1 } else { 0 };
            return Deaths {
                stops,
                ..Deaths::default()
            };
        }
        // A run that waits for a person may see many processes.
        if self.seq == 0 || self.is_suspended || self.any_call(CallState::awaits_person) {
            return deaths;
        }
        if is_lost || self.running_tool().is_some() {
            deaths.crashes += 1;
        } else {
            deaths.interruptions += 1;
        }
        deaths
    }

    /// The name of a tool whose function ran when the last process ended. A call that a subagent answers has no
    /// function.
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
        match &root.state.step.step {
            Step::Ended(outcome) => Some(outcome.stopped_by == Some(StoppedBy::RecoveryExhausted)),
            _ => None,
        }
    }
}
