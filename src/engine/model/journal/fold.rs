//! How the facts of a journal become the state of an agent.

use crate::engine::model::error::ConfigError;
use crate::engine::model::journal::{AgentCheckpoint, CallStatus, Fact, Step, note_call, outputs};
use crate::engine::model::message::{Block, Message, Role, SUMMARY_HEAD, TextPurpose};

impl AgentCheckpoint {
    /// Reads the last state if that was not done yet. `has_usage`: the state includes the figures of the account.
    pub(super) fn read_state(&mut self, has_usage: bool) -> Result<(), ConfigError> {
        if let Some(state) = self.unread.take() {
            self.state = state.read()?;
            if has_usage {
                self.usage = state.read()?;
            }
        }
        Ok(())
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state.step.step, Step::Ended(_))
    }

    /// Folds a fact. Returns true if it is progress of the run. `has_usage` as for [`AgentCheckpoint::read_state`].
    pub(super) fn fold(&mut self, fact: Fact, has_usage: bool) -> Result<bool, ConfigError> {
        match fact {
            Fact::Agent(place) => self.place = *place,
            Fact::Messages {
                from,
                upto,
                mut messages,
                left_out,
            } => {
                outputs::fill_messages(&mut messages, &left_out, &self.records);
                let is_change = upto.is_some();
                let upto = upto.unwrap_or(self.messages.len());
                if from > upto || upto > self.messages.len() {
                    return Err(ConfigError::new("messages.from", "leaves messages out"));
                }
                if let Some(earlier) = &mut self.earlier_transcript {
                    earlier.record(&self.messages, from..upto, is_change, &messages);
                }
                if let ([head], 0, true) = (messages.as_mut_slice(), from, is_change) {
                    if mark_summary(head) {
                        // The last of them may have been joined to the summary.
                        let joined = usize::from(head.content.len() > 1);
                        let gone = self.messages.get(..upto.saturating_sub(joined));
                        self.earlier.extend_from_slice(gone.unwrap_or_default());
                    }
                } else if from == 0 && !is_change {
                    self.earlier.clear();
                }
                self.messages.splice(from..upto, messages);
                return Ok(true);
            }
            Fact::Head(head) => self.head = head,
            Fact::State(state) => {
                if self.earlier_transcript.is_some() {
                    self.note_queued(&state)?;
                }
                // It may end the answer that streams.
                if self.streamed.is_empty() {
                    self.unread = Some(state);
                    return Ok(false);
                }
                self.read_state(has_usage)?;
                let before = std::mem::take(&mut self.state);
                self.unread = Some(state);
                self.read_state(has_usage)?;
                let now = &self.state;
                let is_same =
                    (now.who.iteration, now.who.attempt) == (before.who.iteration, before.who.attempt);
                if !is_same || now.step.step != Step::Ask {
                    self.streamed.clear();
                }
            }
            Fact::Usage(usage) => self.usage = usage,
            Fact::Streamed { is_first, texts } => {
                if is_first {
                    self.streamed.clear();
                }
                for text in texts {
                    match self.streamed.iter_mut().find(|other| other.block == text.block) {
                        Some(before) => before.text.push_str(&text.text),
                        None => self.streamed.push(text),
                    }
                }
            }
            Fact::Call(call) => {
                let is_further = !matches!(call.status, CallStatus::Started { .. });
                note_call(&mut self.calls, &call);
                return Ok(is_further);
            }
            Fact::Round { mut records } => {
                outputs::fill_records(&mut records, &self.calls);
                if let Some(earlier) = &mut self.earlier_transcript {
                    earlier.end_round(&records);
                }
                self.calls.clear();
                self.last_round = records.len();
                self.records.extend(records);
                return Ok(true);
            }
            _ => {}
        }
        Ok(false)
    }
}

/// Marks the summary at the beginning of a message. Earlier versions did not. Returns false if it has no summary.
fn mark_summary(message: &mut Message) -> bool {
    match message.content.first_mut() {
        Some(Block::Text { text, purpose, .. })
            if message.role == Role::User && text.starts_with(SUMMARY_HEAD) =>
        {
            *purpose = Some(TextPurpose::Summary);
            true
        }
        _ => false,
    }
}
