//! The wasm shell: performs the engine's outputs with web APIs, and decides nothing.
//!
//! It owns the handles that JavaScript holds ([`handle`]), the driver that takes inputs in and performs outputs
//! ([`driver`]), the calls into JavaScript ([`javascript`]), HTTP through the TypeScript's `fetch` ([`request`]), the
//! way of events out ([`batch`]) and of bytes in ([`inlet`]), and the hook that words a panic ([`mod@panic`]). It
//! never retries, and it neither reads a provider's JSON nor knows a provider's name.
//!
//! Two rules keep it free of "recursive use of an object". No borrow is held while JavaScript runs. An input that
//! JavaScript hands over from inside a callback reaches the run at once, but the drain that is at work performs its
//! outputs.

pub mod batch;
pub mod driver;
pub mod handle;
pub mod inlet;
pub mod javascript;
pub mod panic;
pub mod request;

pub use handle::{AgentHandle, RunHandle};
pub use javascript::Shell;
