//! The durable state of an agent, as the journal has it.

use crate::engine::agent::identity::AgentIdentity;
use crate::engine::agent::{Agent, Node};
use crate::engine::model::journal::{AgentState, Place};
use crate::engine::model::message::{Block, Json, Message, Role};

/// How many of the last messages are searched for the last text when a state is written.
const LOOKBACK: usize = 4;

impl Node {
    pub fn place(&self) -> Place {
        let AgentIdentity {
            path,
            home,
            depth,
            first_profile,
            parent,
            ..
        } = &self.identity;
        Place {
            path: path.clone(),
            home: home.clone(),
            depth: *depth,
            first_profile: *first_profile,
            parent: parent.clone(),
            is_kept: self.agent.is_kept,
        }
    }

    /// Updates the journaled state to this agent's, part by part. Returns false if no part has changed.
    pub fn note_state(&self, noted: &mut AgentState) -> bool {
        let Node { identity, agent } = self;
        // The state of every field of an agent is noted here, or is a separate fact: messages, records, the place.
        // Each process recomputes the fields outside `kept`.
        let Agent {
            machine,
            iteration,
            calls,
            requests,
            history,
            answers,
            inbox,
            is_kept: _,
        } = agent;
        let (rounds, repeats) = calls.rounds.kept();
        let requests = requests.kept(machine.reading(), identity);
        let history = history.kept();
        let changes = [
            renew(&mut noted.step, machine.kept()),
            renew(&mut noted.course, iteration.kept()),
            renew(&mut noted.who, &identity.kept),
            renew(&mut noted.limits, identity.limits.kept()),
            renew(&mut noted.rounds, rounds),
            renew(&mut noted.approvals, calls.approvals.kept()),
            renew(&mut noted.delegations, calls.delegations.kept()),
            renew(&mut noted.repeats, repeats),
            renew(&mut noted.requests, &requests),
            renew(&mut noted.answers, answers.kept()),
            renew(&mut noted.history, &history),
            renew(&mut noted.inbox, inbox),
        ];
        changes.contains(&true)
    }

    /// The JSON of a state. It leaves out a text that is in the last messages. An added or removed message changes
    /// the state too, so the next entry includes a text that is no longer in them.
    pub fn entry_of(&self, state: &mut AgentState) -> Json {
        let messages = self.agent.history.transcript.messages();
        let text = &mut state.answers.reply.text;
        let shown = text.take_if(|text| is_in(messages, text));
        let entry = Json::of(state);
        if shown.is_some() {
            state.answers.reply.text = shown;
        }
        entry
    }
}

/// Returns true if the value was another one.
pub fn renew<T: Clone + PartialEq>(noted: &mut T, now: &T) -> bool {
    let is_new = noted != now;
    if is_new {
        noted.clone_from(now);
    }
    is_new
}

/// True if this is the text of the last answer that had any.
fn is_in(messages: &[Message], text: &str) -> bool {
    let tail = messages.get(messages.len().saturating_sub(LOOKBACK)..);
    !text.is_empty() && last_text(tail.unwrap_or_default()) == text
}

/// The text of the last answer that brought any.
pub fn last_text(messages: &[Message]) -> String {
    let texts = |message: &Message| -> String {
        let text = |block: &Block| match block {
            Block::Text { text, .. } | Block::Refusal { text } => Some(text.clone()),
            _ => None,
        };
        message.content.iter().filter_map(text).collect()
    };
    let answers = messages
        .iter()
        .rev()
        .filter(|message| message.role == Role::Assistant);
    answers
        .map(texts)
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}
