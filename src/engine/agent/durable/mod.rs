//! The durable part of an agent: what the journal keeps of it, and how an agent goes on from there.
//!
//! [`Node::state`] shows it, and the run's journal compares it with what it wrote last. [`Node::restored`] makes an
//! agent of it, and [`Agent::go_on_from_checkpoint`] takes the step again at which the agent was. A step that waited
//! for hooks asks them again, and a request that was cut off is sent again. `calls/restore.rs` restores tool calls.
//! Nothing here writes a store, and only a history that is not legal is refused.
//!
//! [`Node::state`]: crate::engine::agent::Node::state
//! [`Node::restored`]: crate::engine::agent::Node::restored
//! [`Agent::go_on_from_checkpoint`]: crate::engine::agent::Agent::go_on_from_checkpoint

mod models;
mod restore;
mod state;
pub mod streamed;

use serde::{Deserialize, Serialize};

use crate::engine::agent::context::Context;
use crate::engine::policy::repeat::Repeats;
use crate::engine::policy::retry::Tries;

/// The counters of policies. A checkpoint holds them as JSON that only the engine reads.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Policies {
    tries: Tries,
    is_answered: bool,
    fallbacks_used: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    refuses_begun: bool,
    repeats: Repeats,
    context: Context,
}
