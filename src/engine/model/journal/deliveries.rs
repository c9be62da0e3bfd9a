//! The requests of your code that the runs of a journal have received, each of which may be delivered twice: prompts
//! and messages by the ids of their deliveries, and answers to questions.

use serde::{Deserialize, Serialize};

/// Deliveries that are remembered. A later one makes a journal forget the first.
pub const MAX_REQUESTS: usize = 256;

/// The beginning of the name of a prompt or a message. An answer has another one.
const MESSAGE: &str = "message ";

/// The name of the prompt or message with this delivery id.
pub fn message_name(id: &str) -> String {
    format!("{MESSAGE}{id}")
}

/// The names of requests, in the order in which they were received.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Deliveries(pub Vec<String>);

impl Deliveries {
    /// The prompts and messages with these ids.
    pub fn of_messages(ids: &[String]) -> Deliveries {
        Deliveries(ids.iter().map(|id| message_name(id)).collect())
    }

    /// The ids of prompts and messages.
    pub fn messages(&self) -> Vec<String> {
        let ids = self.0.iter().filter_map(|name| name.strip_prefix(MESSAGE));
        ids.map(str::to_owned).collect()
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|other| other == name)
    }

    /// Adds a request. Returns false if it was already received.
    pub fn add(&mut self, name: String) -> bool {
        if self.has(&name) {
            return false;
        }
        if self.0.len() >= MAX_REQUESTS {
            self.0.remove(0);
        }
        self.0.push(name);
        true
    }

    /// Removes what the next run does not need. A message that the run has not delivered may be sent again, and
    /// answers apply only to their own run.
    pub fn end_run(&mut self, undelivered: &[&str]) {
        self.0.retain(|name| {
            let id = name.strip_prefix(MESSAGE);
            id.is_some_and(|id| !undelivered.contains(&id))
        });
    }
}
