//! Every type that crosses the boundary between the engine and the outside world, each declared once.
//!
//! These types are plain data. They decide nothing and name no provider's protocol, with one exception: [`answer`]
//! knows how an answer grows. `Run::new` takes [`config`]. `handle_input` takes [`input`]. `poll_output` returns
//! [`output`], which includes the events in [`event`]. [`outcome`] is the end of a run, and [`journal`] is what a
//! store saves. [`json`] reads and writes them and reports an invalid value as an [`error`] with a path.

pub mod answer;
pub mod config;
pub mod error;
pub mod event;
pub mod hook;
pub mod input;
pub mod journal;
pub mod json;
pub mod message;
pub mod outcome;
pub mod output;
pub mod question;
pub mod usage;

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
