//! What a test sees of a run: its requests, its result, its events.

use looplet::engine::model::event::{Event, EventKind};
use looplet::engine::model::output::{EffectId, HttpRequest};
use serde_json::{Value, json};

use super::super::told::event_name;
use super::World;

impl World {
    /// All requests with their agents, how often the history of those had been made shorter, and the address, which
    /// names some vendors' models; those of one agent in a row.
    pub fn requests_by_agent(&self) -> Vec<((u32, usize, &str), &str)> {
        let mut order: Vec<usize> = (0..self.requests.len()).collect();
        order.sort_by_key(|at| self.agents[*at]);
        let place = |at: usize| (self.agents[at], self.epochs[at], self.sent[at].url.as_str());
        let all = order.into_iter();
        all.map(|at| (place(at), self.requests[at].as_str())).collect()
    }

    /// What an open request says besides its body.
    pub fn asked(&self, request: EffectId) -> &HttpRequest {
        &self.sent[self.at(request)]
    }

    /// The path of the agent that asks, its iteration, and the body.
    pub fn asked_by(&self, request: EffectId) -> (&str, u32, &str) {
        let at = self.at(request);
        let path = self.run.agent_path(self.agents[at]);
        (path, self.iterations[at], &self.requests[at])
    }

    fn at(&self, request: EffectId) -> usize {
        // Another process may have used the id for a request that the journal does not know.
        let at = self.ids.iter().rposition(|id| *id == request);
        at.expect("it was never sent")
    }

    pub fn body(&self, request: usize) -> Value {
        serde_json::from_str(&self.requests[request]).unwrap()
    }

    pub fn result(&self) -> Value {
        let value = |part: Value| part.as_object().unwrap().clone();
        let outcome = self.run.outcome();
        let mut result = json!({
            "outcome": outcome.map(|outcome| outcome.outcome),
            "stoppedBy": outcome.and_then(|outcome| outcome.stopped_by),
            "abortReason": outcome.and_then(|outcome| outcome.abort_reason.clone()),
            "error": outcome.and_then(|outcome| outcome.error.clone()),
            "text": self.run.text(),
        });
        let shown = result.as_object_mut().unwrap();
        shown.extend(value(serde_json::to_value(self.run.report()).unwrap()));
        shown.extend(value(serde_json::to_value(self.run.history()).unwrap()));
        result
    }

    pub(super) fn compactions(&self, agent: u32) -> usize {
        let is_one = |event: &&Event| match &event.kind {
            EventKind::CompactStart { .. } | EventKind::CompactBoundary { .. } => true,
            EventKind::Warning { code, .. } => code == "compaction_failed",
            _ => false,
        };
        let of_agent = self.events.iter().filter(|event| event.agent == agent);
        of_agent.filter(is_one).count()
    }

    /// Names of all events, in order; deltas with their text.
    pub fn event_names(&self) -> Vec<String> {
        self.events.iter().map(|event| event_name(&event.kind)).collect()
    }

    /// All text that was delivered and not reset.
    pub fn delivered_text(&self) -> String {
        let mut text = String::new();
        for event in &self.events {
            match &event.kind {
                EventKind::TextDelta { text: delta, .. } => text.push_str(delta),
                EventKind::Reset { .. } | EventKind::IterationStart => text.clear(),
                _ => {}
            }
        }
        text
    }
}
