//! Which events a run tells.

use serde::{Deserialize, Serialize};

/// Which events a run tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventPolicy {
    /// Whether deltas of one block that arrive in the same network chunk are delivered as one event.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub join_deltas: bool,
    /// Whether the text of an answer is told only when the answer is over and has no tool calls, as one delta a
    /// block. Default false: text streams.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub hold_text: bool,
    /// Whether each whole message of the transcript is an event. Default false.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub messages: bool,
    /// Whether `attempt-start` says what each request shares with the one before it, and what changed its beginning.
    /// Default false, and true in a run that is recorded.
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
