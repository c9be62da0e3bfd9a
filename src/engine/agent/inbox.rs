//! Messages for a running agent, which its model gets between two requests.
//!
//! The run adds steers and follow-ups to the root's [`Inbox`]. The agent takes them when an iteration yields to your
//! listeners. Messages that are left at the end are reported as undelivered.

use crate::engine::agent::context::AgentContext;
use crate::engine::model::event::EventKind;
use crate::engine::model::journal::{Inbox, Queued};
use crate::engine::model::message::Block;

impl Inbox {
    pub fn is_empty(&self) -> bool {
        self.steers.is_empty() && self.follow_ups.is_empty()
    }

    pub fn withdraw(&mut self, id: u32) {
        self.steers.retain(|steer| steer.id != id);
        self.follow_ups.retain(|follow_up| follow_up.id != id);
    }

    /// The ids of the deliveries of messages that no model call took.
    pub fn requests(&self) -> Vec<&str> {
        let all = self.steers.iter().chain(&self.follow_ups);
        all.filter_map(|queued| queued.request.as_deref()).collect()
    }

    /// The ids of the messages that were not delivered.
    pub fn ids(&self) -> Vec<u32> {
        let all = self.steers.iter().chain(&self.follow_ups);
        all.map(|queued| queued.id).collect()
    }
}

/// Takes the first messages out of a queue and emits that they were delivered. Returns their content as one message
/// to the model.
pub(super) fn deliver(queue: &mut Vec<Queued>, most: usize, ctx: &mut AgentContext<'_>) -> Vec<Block> {
    let first: Vec<Queued> = queue.drain(..most.min(queue.len())).collect();
    let ids: Vec<u32> = first.iter().map(|queued| queued.id).collect();
    let content: Vec<Block> = first.into_iter().flat_map(|queued| queued.content).collect();
    if !ids.is_empty() {
        let content = content.clone();
        ctx.emit(EventKind::SteerDelivered { ids, content });
    }
    content
}
