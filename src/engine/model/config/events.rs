//! Which events a run emits.

use serde::{Deserialize, Serialize};

/// Which events a run emits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventPolicy {
    /// Whether deltas of one block that arrive in the same network chunk are emitted as one event.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub join_deltas: bool,
    /// Whether the text of an answer is held until the answer has ended without tool calls. Each block is then one
    /// delta. Default false: text streams.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub hold_text: bool,
    /// Whether the run emits a `message` event for each complete message of the transcript. Default false.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub messages: bool,
    /// Whether `attempt-start` reports what each request shares with the previous one, and what changed its prefix.
    /// Default: false, or true in a run that is recorded.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub prefix: bool,
}

impl Default for EventPolicy {
    fn default() -> EventPolicy {
        EventPolicy {
            join_deltas: true,
            hold_text: false,
            messages: false,
            prefix: false,
        }
    }
}
