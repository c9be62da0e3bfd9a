//! An answer that waits for its guardrails: the data of its phase, on which `guardrail.rs` acts.

use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::model::journal::Step;
use crate::engine::model::message::Message;

/// An answer that waits for its guardrails.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarded {
    pub(super) message: Message,
    pub(super) calls: Vec<WrittenCall>,
    pub(super) text: String,
    /// The number of its blocks that your code has been told.
    pub blocks: u32,
}

impl Guarded {
    /// The step that judges the answer again.
    pub fn step(&self) -> Step {
        let cut_off = self.calls.iter().filter(|call| call.is_cut_off);
        Step::Judge {
            message: self.message.clone(),
            text: self.text.clone(),
            cut_off: cut_off.map(|call| call.id.clone()).collect(),
        }
    }
}
