//! How many crashes and interruptions of its process a run survives.

use serde::{Deserialize, Serialize};

/// How many processes in a row may end without progress: no new message and no finished call. After that the run is
/// `stopped` by `recovery_exhausted`. A process does not count if it ended while a user was being asked, or if it
/// closed the agent with `agent.close({ recoverable: true })`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Recovery {
    /// Maximum number of processes that ended while a tool's function ran and may have caused the end, a positive
    /// integer. Crashes of the WebAssembly instance also count here.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "run")))]
    pub max_crashes: u32,
    /// All other processes, a positive integer. They ended while the model was asked, for example by a deploy or a
    /// closed tab.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "run")))]
    pub max_interruptions: u32,
}

impl Default for Recovery {
    fn default() -> Recovery {
        Recovery {
            max_crashes: 3,
            max_interruptions: 20,
        }
    }
}
