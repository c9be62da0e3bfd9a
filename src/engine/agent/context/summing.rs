//! A summary under way: the data of its phase, on which `summary.rs` acts.

use crate::engine::agent::context::{Context, Wanted};
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::model::error::Failure;
use crate::engine::model::event::CompactTrigger;
use crate::engine::policy::retry::Tries;

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

impl Summary {
    /// The facts about the length before this summary began. Another process begins it again.
    pub fn before(&self, mut context: Context) -> Context {
        if self.trigger == CompactTrigger::Manual && context.wanted.is_none() {
            let instructions = self.instructions.clone();
            context.wanted = Some(Wanted { instructions });
        }
        context
    }
}
