//! The wasm shell: performs the engine's outputs with web APIs, and decides nothing.
//!
//! It owns the handles for JavaScript ([`handle`]), the driver that receives inputs and performs outputs
//! ([`driver`]), the calls into JavaScript ([`javascript`]), HTTP through the TypeScript's `fetch` ([`request`]), the
//! path of events out ([`batch`]) and of bytes in ([`inlet`]), and the hook for the message of a panic
//! ([`mod@panic`]). It never retries, and it neither reads a provider's JSON nor knows a provider's name.
//!
//! Two rules prevent the error "recursive use of an object". No borrow is active while JavaScript runs. An input that
//! JavaScript passes from inside a callback reaches the run immediately, but the current drain performs its outputs.

pub mod batch;
pub mod driver;
pub mod handle;
pub mod inlet;
pub mod javascript;
pub mod panic;
pub mod request;

pub use handle::{AgentHandle, RunHandle};
pub use javascript::Shell;
