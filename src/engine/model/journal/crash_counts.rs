//! The crashes and interruptions of a run's processes.

use serde::{Deserialize, Serialize};

use crate::engine::model::config::Recovery;
use crate::engine::model::journal::{AgentCheckpoint, CallState, CallStatus, Checkpoint, Step};
use crate::engine::model::outcome::StoppedBy;

/// The crashes and interruptions since the last progress of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CrashCounts {
    /// Processes that ended while a tool's function ran, and lost instances.
    pub crashes: u32,
    /// Other processes that ended.
    pub interruptions: u32,
    /// How many times the run was stopped by them in total.
    pub stops: u32,
}

impl CrashCounts {
    /// Resets the counts after progress.
    pub fn forget(&mut self) {
        (self.crashes, self.interruptions) = (0, 0);
    }

    /// Returns true if the limits of the options are reached.
    pub fn exhaust(&self, recovery: &Recovery) -> bool {
        self.crashes >= recovery.max_crashes || self.interruptions >= recovery.max_interruptions
    }

    /// Returns the reason for stopping the run. `running_tool` is the tool that ran last.
    pub fn reason(&self, running_tool: Option<String>) -> String {
        let (crashes, interruptions) = (self.crashes, self.interruptions);
        let tool = running_tool.map_or_else(String::new, |tool| format!(" (the last one in \"{tool}\")"));
        format!(
            "Processes ended one after the other without progress: {crashes} while a tool ran{tool}, {interruptions} while none ran."
        )
    }
}

impl Checkpoint {
    /// The crashes and interruptions including the end of the last process. `is_lost` means that the process is still
    /// running and has lost its instance, which is a crash. After a run was stopped by them the counts start at 0,
    /// because the cause has presumably been fixed before the run is resumed.
    pub fn crash_counts_now(&self, is_lost: bool) -> CrashCounts {
        let mut crash_counts = self.crash_counts;
        if let Some(is_by_crashes) = self.ended_by_crashes() {
            let stops = if is_by_crashes { crash_counts.stops + 1 } else { 0 };
            return CrashCounts {
                stops,
                ..CrashCounts::default()
            };
        }
        // Many processes may end while a run waits for a user.
        if self.seq == 0 || self.is_suspended || self.any_call(CallState::awaits_person) {
            return crash_counts;
        }
        if is_lost || self.running_tool().is_some() {
            crash_counts.crashes += 1;
        } else {
            crash_counts.interruptions += 1;
        }
        crash_counts
    }

    /// The name of a tool that was running when the last process ended. A call that a subagent answers has no
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

    /// Whether the run was stopped by crashes or interruptions. `None` if it has not ended.
    fn ended_by_crashes(&self) -> Option<bool> {
        let root: &AgentCheckpoint = self.agents.first()?;
        match &root.state.step.step {
            Step::Ended(outcome) => Some(outcome.stopped_by == Some(StoppedBy::RecoveryExhausted)),
            _ => None,
        }
    }
}
