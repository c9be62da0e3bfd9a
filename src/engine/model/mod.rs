//! Every type that crosses the boundary between the engine and the outside world, each declared once.
//!
//! Plain data: nothing here decides, and nothing here names a provider's protocol.

pub mod answer;
pub mod config;
pub mod context;
pub mod error;
pub mod event;
pub mod hook;
pub mod input;
pub mod json;
pub mod message;
pub mod model_config;
pub mod moment;
pub mod outcome;
pub mod output;
pub mod output_format;
pub mod permission;
pub mod question;

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod typescript;
pub mod usage;
