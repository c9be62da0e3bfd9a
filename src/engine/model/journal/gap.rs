//! Restores the runs of a chat after a part of the journal was lost: the intact messages, and a notice for each lost
//! one. So the indexes of later entries remain correct.

use std::collections::HashSet;

use crate::engine::model::error::ConfigError;
use crate::engine::model::journal::{AgentCheckpoint, Checkpoint, Entry, Fact, Next, message_name};
use crate::engine::model::message::{Block, Message, Role};

/// The maximum number of messages that are replaced by notices. A journal from elsewhere could name any number.
const MAX_LOST: usize = 10_000;

const LOST: &str = "A part of this conversation was lost: its entry in the journal is damaged.";

/// Whether later runs of a chat need this entry of a run that has lost another one.
pub(super) fn is_of_use(entry: &Entry) -> bool {
    let is_of_chat = matches!(
        entry.fact,
        Fact::Messages { .. }
            | Fact::Call(_)
            | Fact::Round { .. }
            | Fact::ProcessStarted(_)
            | Fact::Remembered(_)
            | Fact::Received(_)
    );
    entry.agent == 0 && is_of_chat
}

impl Checkpoint {
    /// Folds what is intact of the runs before `next`, which have lost a part.
    ///
    /// # Errors
    /// More messages are lost than any chat has.
    pub(super) fn cross(&mut self, intact: Vec<Entry>, next: &Next) -> Result<(), ConfigError> {
        if self.agents.is_empty() {
            self.agents.push(AgentCheckpoint {
                earlier_transcript: self.earlier_transcript(&next.place),
                ..AgentCheckpoint::default()
            });
        }
        for Entry { fact, .. } in intact {
            match (fact, self.agents.first_mut()) {
                (Fact::ProcessStarted(begun), _) => {
                    if let Some(run) = &begun.run {
                        self.requests.add(message_name(run));
                    }
                }
                (fact, Some(root)) if fact.is_of_agent() => root.fold_intact(fact)?,
                (fact, _) => self.fold_run(fact)?,
            }
        }
        if let Some(root) = self.agents.first_mut() {
            root.fill_upto(next.messages)?;
            pair(&mut root.messages);
        }
        Ok(())
    }
}

impl AgentCheckpoint {
    fn fold_intact(&mut self, fact: Fact) -> Result<(), ConfigError> {
        let Fact::Messages {
            from, upto, left_out, ..
        } = &fact
        else {
            return self.fold(fact, false).map(|_| ());
        };
        let (from, left_out) = (*from, left_out.clone());
        self.fill_upto(upto.unwrap_or(from).max(from))?;
        self.fold(fact, false)?;
        // The record of a result may be lost.
        for block in self
            .messages
            .iter_mut()
            .skip(from)
            .flat_map(|own| &mut own.content)
        {
            if let Block::ToolResult { call_id, content, .. } = block
                && content.is_empty()
                && left_out.contains(call_id)
            {
                content.push(Block::text(LOST));
            }
        }
        Ok(())
    }

    /// Puts a notice in the place of each message before this index that is not there.
    fn fill_upto(&mut self, length: usize) -> Result<(), ConfigError> {
        let from = self.messages.len();
        if length > from.saturating_add(MAX_LOST) {
            return Err(ConfigError::new("messages.from", "leaves out too many messages"));
        }
        let mut last = self.messages.last().map(|message| message.role);
        let messages = (from..length).map(|_| {
            let lost = match last {
                Some(Role::User) => Role::Assistant,
                _ => Role::User,
            };
            last = Some(lost);
            notice(lost)
        });
        let messages: Vec<Message> = messages.collect();
        if messages.is_empty() {
            return Ok(());
        }
        let (upto, left_out) = (None, Vec::new());
        let fact = Fact::Messages {
            from,
            upto,
            messages,
            left_out,
        };
        self.fold(fact, false).map(|_| ())
    }
}

fn notice(role: Role) -> Message {
    Message {
        role,
        ..Message::user(vec![Block::notice(LOST)])
    }
}

/// Takes out calls without their results, and results without their calls.
fn pair(messages: &mut [Message]) {
    let ids = |message: Option<&Message>, of: fn(&Block) -> Option<&String>| -> HashSet<String> {
        let blocks = message.into_iter().flat_map(|message| &message.content);
        blocks.filter_map(of).cloned().collect()
    };
    for at in 0..messages.len() {
        let before = at.checked_sub(1).and_then(|before| messages.get(before));
        let [called, answered] = [ids(before, call_of), ids(messages.get(at + 1), result_of)];
        let Some(message) = messages.get_mut(at) else {
            return;
        };
        let length = message.content.len();
        message.content.retain(|block| {
            call_of(block).is_none_or(|id| answered.contains(id))
                && result_of(block).is_none_or(|id| called.contains(id))
        });
        if message.content.len() < length {
            message.content.push(Block::notice(LOST));
        }
    }
}

fn call_of(block: &Block) -> Option<&String> {
    match block {
        Block::ToolCall { id, .. } => Some(id),
        _ => None,
    }
}

fn result_of(block: &Block) -> Option<&String> {
    match block {
        Block::ToolResult { call_id, .. } => Some(call_id),
        _ => None,
    }
}
