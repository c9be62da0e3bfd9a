//! A summary under way: the data of its phase, on which `summary.rs` acts.

use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::model::error::Failure;
use crate::engine::model::event::CompactTrigger;
use crate::engine::model::journal::Tries;

/// A summary under way.
#[derive(Clone)]
pub struct Summary {
    pub(super) trigger: CompactTrigger,
    /// The number of messages that are summarised.
    pub(super) cut: usize,
    pub(super) pre_tokens: u64,
    pub(super) started_ms: u64,
    pub(super) tries: Tries,
    pub(super) instructions: Option<String>,
    /// The failure that ends the run if the summary gains nothing.
    pub(super) overflow: Option<Failure>,
    /// The model that writes it.
    pub call: Option<Box<ModelCall>>,
    /// Derived data, which a restored run makes again.
    pub(super) body: Vec<u8>,
}
