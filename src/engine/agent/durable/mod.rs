//! The durable part of an agent: what the journal saves, and how an agent is restored from it.
//!
//! [`Node::note_state`] compares the state with that in the journal. [`Node::restored`] creates an agent from it, and
//! [`Agent::continue_from_checkpoint`] repeats the agent's last step. Nothing here writes to a store. The only error
//! is an invalid history.
//!
//! [`Node::note_state`]: crate::engine::agent::Node::note_state
//! [`Node::restored`]: crate::engine::agent::Node::restored
//! [`Agent::continue_from_checkpoint`]: crate::engine::agent::Agent::continue_from_checkpoint

mod restore;
pub mod state;
pub mod streamed;
