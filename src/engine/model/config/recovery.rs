//! How many deaths of its processes a run outlasts.

use serde::{Deserialize, Serialize};

/// Processes in a row that may end with a run and bring it no further: no message and no finished call has come. Then
/// it is `stopped` by `recovery_exhausted`. A process that ended while a person was asked does not count, and neither
/// does one that gave its runs up with `agent.close({ recoverable: true })`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Recovery {
    /// Processes that ended while a function of a tool ran, which may have been the cause; a positive integer. Losses
    /// of the WebAssembly instance count here too.
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
