//! The durable part of an agent: what the journal keeps of it, and the agent that is made of that.
//!
//! [`Node::note_state`] compares it with what the journal has. [`Node::restored`] makes an agent of it, and
//! [`Agent::go_on_from_checkpoint`] takes the step again at which the agent was. Nothing here writes a store, and
//! only a history that is not legal is refused.
//!
//! [`Node::note_state`]: crate::engine::agent::Node::note_state
//! [`Node::restored`]: crate::engine::agent::Node::restored
//! [`Agent::go_on_from_checkpoint`]: crate::engine::agent::Agent::go_on_from_checkpoint

mod restore;
pub mod state;
pub mod streamed;
