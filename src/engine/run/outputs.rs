//! The outputs of a run, one by one, and its results at any time.
//!
//! The driver polls here after each input. If the only output is a delta, it is returned without an event and borrows
//! its text from the answer. Reading results changes nothing.

use crate::engine::agent::{Agent, delta, kind_of_delta};
use crate::engine::ledger::Place;
use crate::engine::model::event::{Delta, Event};
use crate::engine::model::outcome::{History, Report};
use crate::engine::model::output::Output;
use crate::engine::model::usage::{Usage, add_report};
use crate::engine::run::Run;

impl Run {
    pub fn poll_output(&mut self) -> Option<Output> {
        match self.poll_grown() {
            Some(output) => Some(output),
            None => self.ledger.poll_output(),
        }
    }

    /// Returns true if there is no output.
    pub fn is_quiet(&self) -> bool {
        self.ledger.is_quiet()
    }

    /// Returns true if no output follows the delta that [`Run::poll_delta`] returns.
    pub fn has_one_output(&self) -> bool {
        self.ledger.has_one_output()
    }

    /// The next output, if it is a delta that can borrow its text. [`Run::poll_output`] returns it as an event.
    pub fn poll_delta(&mut self) -> Option<Delta<'_>> {
        let grown = self.ledger.take_grown()?;
        Some(Delta {
            seq: grown.seq,
            agent: grown.place.agent,
            iteration: grown.place.iteration,
            attempt: grown.place.attempt,
            block: grown.part as u32,
            kind: kind_of_delta(grown.kind)?,
            text: self
                .agents
                .get(grown.place.agent as usize)?
                .agent
                .grown_text(&grown),
        })
    }

    fn poll_grown(&mut self) -> Option<Output> {
        let grown = self.ledger.take_grown()?;
        let node = self.agents.get(grown.place.agent as usize)?;
        let kind = delta(grown.kind, grown.part as u32, node.agent.grown_text(&grown))?;
        let Place {
            agent,
            iteration,
            attempt,
        } = grown.place;
        Some(Output::Emit(Event {
            seq: grown.seq,
            agent,
            agent_path: self.agent_path(agent).to_owned(),
            iteration,
            attempt,
            time_ms: None,
            kind,
        }))
    }

    /// Turns a delta that was not polled into an event, before the answer changes.
    pub(super) fn keep_grown(&mut self) {
        if let Some(output) = self.poll_grown() {
            self.ledger.output_first(output);
        }
    }

    /// The tokens and cost so far. `None` if no vendor reported any.
    pub fn usage(&self) -> Option<Usage> {
        self.ledger.accounts.used(0)
    }

    fn root(&self) -> Option<&Agent> {
        self.agents.first().map(|root| &root.agent)
    }

    /// The text of the last answer, partial or not.
    pub fn text(&self) -> String {
        self.root().map(Agent::text).unwrap_or_default()
    }

    /// The short part of the run's results, during the run or after it.
    pub fn report(&self) -> Report<'_> {
        let (root, identity) = (self.root(), self.agents.first().map(|root| &root.identity));
        let usage = self.usage();
        let mut chat_usage = self.chat_usage;
        add_report(&mut chat_usage, usage.as_ref());
        let undelivered = root.map(|root| root.inbox.ids());
        Report {
            output: root.and_then(|root| root.answers.output()),
            usage,
            chat_usage,
            cost_nano_usd: match (usage, identity.and_then(|identity| identity.model.config.price)) {
                (None, Some(_)) if self.ledger.accounts.by_model().is_empty() => Some(0),
                _ => usage.and_then(|usage| usage.cost_nano_usd),
            },
            model_usage: self.ledger.accounts.by_model(),
            duration_ms: self.ledger.duration_ms(),
            api_duration_ms: self.ledger.api_duration_ms(),
            profile: identity.map(|identity| identity.kept.profile).unwrap_or_default(),
            iterations: identity
                .map(|identity| identity.kept.iteration)
                .unwrap_or_default(),
            finish_reason: root.and_then(|root| root.answers.reply().finish_reason),
            raw_finish_reason: root.and_then(|root| root.answers.reply().raw_finish_reason.as_deref()),
            stop_details: root.and_then(|root| root.answers.reply().stop_details.as_ref()),
            streaming: root.map(Agent::streaming).unwrap_or_default(),
            undelivered: undelivered.unwrap_or_default(),
        }
    }

    /// The long part of the run's results: messages, tool calls and memories.
    pub fn history(&self) -> History<'_> {
        let root = self.root();
        History {
            tool_calls: root.map(Agent::tool_calls).unwrap_or_default(),
            messages: root
                .map(|root| root.messages_so_far(&self.asking()))
                .unwrap_or_default(),
            subagents: &self.memories,
            head: self
                .agents
                .first()
                .and_then(|root| root.agent.history.transcript.heads.to_keep()),
        }
    }
}
