//! The wasm shell: performs what the engine asks for with web APIs, and decides nothing.
//!
//! Owns the handle that JavaScript holds ([`handle`]), the one function that takes every input in ([`driver`]), HTTP
//! through the host's `fetch` ([`request`]), the way of events out ([`batch`]) and of bytes in ([`inlet`]), and the
//! hook that words a panic ([`mod@panic`]). It never retries, reads no JSON of a provider and knows no provider's name.
//!
//! Two rules keep it free of "recursive use of an object": no borrow is held while JavaScript runs, and whatever
//! JavaScript calls from inside a callback is taken in at once but performed by the drain that is already going on.

pub mod batch;
pub mod driver;
pub mod handle;
pub mod host;
pub mod inlet;
pub mod panic;
pub mod request;

pub use handle::RunHandle;
pub use host::Host;
