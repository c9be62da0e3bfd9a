//! What is said to an agent while it works: told to its model between two requests.

use serde::{Deserialize, Serialize};

use crate::engine::agent::Agent;
use crate::engine::agent::desk::Desk;
use crate::engine::model::event::EventKind;
use crate::engine::model::message::Block;

/// Something to tell the model between its turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Queued {
    pub id: u32,
    pub content: Vec<Block>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inbox {
    /// Before its next request.
    pub steers: Vec<Queued>,
    /// When it has finished.
    pub follow_ups: Vec<Queued>,
}

impl Inbox {
    pub fn is_empty(&self) -> bool {
        self.steers.is_empty() && self.follow_ups.is_empty()
    }

    pub fn withdraw(&mut self, id: u32) {
        self.steers.retain(|steer| steer.id != id);
        self.follow_ups.retain(|follow_up| follow_up.id != id);
    }

    /// Of what was not delivered.
    pub fn ids(&self) -> Vec<u32> {
        let all = self.steers.iter().chain(&self.follow_ups);
        all.map(|queued| queued.id).collect()
    }
}

impl Agent {
    /// For the next message.
    pub(super) fn deliver(&self, desk: &mut Desk<'_>, queued: Vec<Queued>) -> Vec<Block> {
        if queued.is_empty() {
            return Vec::new();
        }
        let ids = queued.iter().map(|queued| queued.id).collect();
        desk.emit(self.who.place(), EventKind::SteerDelivered { ids });
        let mut content = Vec::new();
        for mut queued in queued {
            content.append(&mut queued.content);
        }
        content
    }
}

pub(super) fn take_first(queue: &mut Vec<Queued>, many: usize) -> Vec<Queued> {
    let rest = queue.split_off(many.min(queue.len()));
    std::mem::replace(queue, rest)
}
