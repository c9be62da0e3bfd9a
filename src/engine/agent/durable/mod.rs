//! The durable part of an agent: what the journal keeps of it, and how an agent goes on from there.
//!
//! [`Node::note_state`] compares it with what the journal has. [`Node::restored`] makes an agent of it, and
//! [`Agent::go_on_from_checkpoint`] takes the step again at which the agent was. A step that waited for hooks asks
//! them again, and a request that was cut off is sent again. `calls/restore.rs` restores tool calls. Nothing here
//! writes a store, and only a history that is not legal is refused.
//!
//! [`Node::note_state`]: crate::engine::agent::Node::note_state
//! [`Node::restored`]: crate::engine::agent::Node::restored
//! [`Agent::go_on_from_checkpoint`]: crate::engine::agent::Agent::go_on_from_checkpoint

mod restore;
mod state;
pub mod streamed;
