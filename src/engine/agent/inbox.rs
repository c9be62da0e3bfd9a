//! What the host says between two model calls: delivered when it has heard everything before.

use crate::engine::agent::{Agent, Desk, Handover, Queued};
use crate::engine::model::answer::FinishReason;
use crate::engine::model::event::EventKind;
use crate::engine::model::message::Block;
use crate::engine::model::output::{EffectKind, Output};

impl Agent {
    /// Goes on only when the host has heard everything so far: what its listeners steer or abort on hearing it counts.
    /// `owes_answer`: the transcript ends with what the model has to answer.
    pub(super) fn hand_over(&mut self, desk: &mut Desk<'_>, owes_answer: bool) {
        if self.tell_end(desk, owes_answer) {
            return;
        }
        self.end_iteration_time(desk);
        let handover = desk.ledger.open(self.index, EffectKind::Handover);
        self.handover = Some(Handover {
            handover,
            owes_answer,
        });
        desk.ledger.output(Output::HandOver { handover });
    }

    /// What waits for the model, or the answer that it owes, starts the next iteration; else the run is complete.
    #[inline(never)]
    pub fn handle_handed_over(&mut self, desk: &mut Desk<'_>) {
        let Some(Handover {
            handover,
            owes_answer,
        }) = self.handover.take()
        else {
            return;
        };
        desk.ledger.close(handover);
        let may_go_on = self.may_go_on(desk);
        if !may_go_on && !owes_answer {
            return self.complete(desk);
        }
        let is_paused = self.finish_reason == Some(FinishReason::Pause);
        let mut content = if is_paused || !may_go_on {
            Vec::new()
        } else {
            let many = if desk.config.steer_one { 1 } else { usize::MAX };
            let steers = take_first(&mut self.steers, many);
            self.deliver(desk, steers)
        };
        let mut source = "steer";
        if content.is_empty() && !owes_answer {
            let many = if desk.config.follow_up_all { usize::MAX } else { 1 };
            let follow_ups = take_first(&mut self.follow_ups, many);
            content = self.deliver(desk, follow_ups);
            source = "followUp";
        }
        if content.is_empty() && !owes_answer {
            return self.complete(desk);
        }
        self.submit(desk, content, source, owes_answer);
    }

    pub(super) fn may_go_on(&self, desk: &Desk<'_>) -> bool {
        self.limit_on_iteration(desk).is_none()
    }

    /// What the host has queued, for the next message.
    fn deliver(&self, desk: &mut Desk<'_>, queued: Vec<Queued>) -> Vec<Block> {
        if queued.is_empty() {
            return Vec::new();
        }
        let ids = queued.iter().map(|queued| queued.id).collect();
        desk.ledger.emit(self.place(), EventKind::SteerDelivered { ids });
        let mut content = Vec::new();
        for mut queued in queued {
            content.append(&mut queued.content);
        }
        content
    }
}

fn take_first(queue: &mut Vec<Queued>, many: usize) -> Vec<Queued> {
    let rest = queue.split_off(many.min(queue.len()));
    std::mem::replace(queue, rest)
}
