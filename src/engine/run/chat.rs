//! The runs of a chat, which follow each other in one journal.
//!
//! [`Run::follow`] is called before the first input of such a run. Its first entries say which messages and which
//! conversations of persistent subagents remain ([`Fact::Next`]), so no message is written twice. [`Run::tail`]
//! returns where the next run continues. A run that follows nothing starts a journal with everything that it was
//! given.

use crate::engine::agent::Agent;
use crate::engine::model::journal::{Deliveries, Fact, JournalTail, Next, message_name};
use crate::engine::run::Run;

impl Run {
    /// Continues at this end of a journal. The journal has the first of the messages that this run was given, and all
    /// conversations of persistent subagents. `id` is the run's own.
    pub fn follow(&mut self, tail: JournalTail, id: String) {
        let JournalTail {
            seq,
            whole,
            messages,
            left_out,
            requests,
            ..
        } = tail;
        self.noted.requests = Deliveries::of_messages(&requests);
        self.noted.requests.add(message_name(&id));
        self.id = Some(id);
        self.noted.left_out = left_out;
        if seq == 0 {
            return;
        }
        let Some(root) = self.agents.first_mut() else {
            return;
        };
        // A history that had to be corrected is written completely.
        let is_legal = root.agent.history.transcript.whole_len() == self.noted.given;
        let messages = if is_legal { messages } else { 0 };
        if messages > 0 {
            root.agent.history.transcript.heads.note_kept();
        }
        self.noted.follows = Some((whole, root.agent.history.transcript.keep(messages)));
        self.ledger.follow(seq);
    }

    /// Makes [`Run::history`] show the progress of the calls in open rounds. Use it for a run that is only read from
    /// its journal and never resumed.
    pub fn recall(&mut self) {
        for index in 0..self.agents.len() as u32 {
            self.on_agent(index, |agent, ctx| {
                let continues = !agent.is_over();
                agent.recall_calls(ctx, continues);
            });
        }
    }

    /// The current end of the journal.
    pub fn tail(&self) -> JournalTail {
        let root = self.agents.first().map(|root| &root.agent);
        let is_over = root.is_none_or(Agent::is_over);
        let mut requests = self.noted.requests.clone();
        // A message that waits may still be delivered.
        let undelivered = root.filter(|_| is_over).map(|root| root.inbox.requests());
        requests.end_run(&undelivered.unwrap_or_default());
        JournalTail {
            seq: self.ledger.journal_seq(),
            whole: self.noted.whole().unwrap_or(self.ledger.journal_seq()),
            messages: root
                .map(|root| root.history.transcript.kept())
                .unwrap_or_default(),
            run: self.id.clone(),
            left_out: self.noted.left_out + self.noted.lost,
            requests: requests.messages(),
            is_over,
            stops: if is_over { self.noted.stops() } else { 0 },
        }
    }

    /// Writes the first entries of a process that has not resumed a journal.
    pub(super) fn note_first(&mut self) {
        let follows = self.noted.follows.take();
        self.note_begun(follows.map_or(0, |(whole, _)| whole), false);
        let Some((_, messages)) = follows else {
            // The journal has nothing yet of the conversations that the run was given.
            for memory in &self.memories {
                self.ledger.note(0, Fact::Remembered(memory.clone()));
            }
            return;
        };
        let Some(root) = self.agents.first() else {
            return;
        };
        let remembered = self.memories.iter().map(|memory| memory.agent_path.clone());
        let next = Next {
            place: root.place(),
            messages,
            remembered: remembered.collect(),
        };
        self.ledger.note(0, Fact::Next(Box::new(next)));
        self.noted.has_root();
    }
}
