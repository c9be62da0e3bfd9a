//! A request to the model: sent, read while its answer streams, tried again.

pub mod active_model;
pub(crate) mod failure;
pub(crate) mod fallback;
pub mod model_call;
pub(crate) mod stream;
pub(crate) mod switch;
