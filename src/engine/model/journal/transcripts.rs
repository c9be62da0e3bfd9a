//! The complete transcript of each agent of a chat.
//!
//! A run resumes from the messages that a model still gets. So a [`Checkpoint`] has neither the messages that a
//! summary replaces nor the subagents of earlier runs. A reader that asks for them folds the same entries, and each
//! agent then also has a [`EarlierTranscript`].

use std::ops::Range;

use serde::Serialize;

use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::Memory;
use crate::engine::model::error::ConfigError;
use crate::engine::model::input::ToolReturn;
use crate::engine::model::journal::{
    AgentCheckpoint, AgentState, CallState, CallStatus, Checkpoint, Place, Step,
};
use crate::engine::model::message::{Block, Json, Message, Role, SUMMARY_HEAD, ToolInput};
use crate::engine::model::outcome::{OutcomeKind, ToolCallRecord};
use crate::engine::model::output::EffectId;

/// The transcript of an agent of a chat, from its first message on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentTranscript {
    /// The agent's place in the tree, for example `root/researcher-2`. Runs of a chat use the same paths.
    pub agent_path: String,
    /// The provider's id of the call that a subagent answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_tool_call_id: Option<String>,
    /// How the agent ended. Absent while it is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeKind>,
    /// The original messages. A summary follows the messages that it has replaced for the model.
    pub messages: Vec<Message>,
    /// The calls that have returned, in the order in which their rounds ended.
    pub tool_calls: Vec<ToolCallRecord>,
    /// The agent's progress in the last run. Absent for agents of earlier runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<AgentProgress>,
}

/// The progress of an agent in its run, according to the journal.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentProgress {
    /// The number of the iteration of the last answer, from 1. 0 before the first.
    pub iteration: u32,
    /// Whether `iteration-finish` was emitted for that iteration.
    pub is_finished: bool,
    /// Why that answer ended, if its end is known.
    pub finish_reason: Option<FinishReason>,
    /// The ids of the open questions about the calls of that answer.
    pub question_ids: Vec<EffectId>,
    /// The ids of the messages that have waited in the agent's inbox and have left it.
    pub delivered_ids: Vec<u32>,
}

/// The part of an agent's transcript that its checkpoint does not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct EarlierTranscript {
    /// The messages that summaries replace.
    before: Vec<Message>,
    /// The summaries, each with the number of messages before it.
    summaries: Vec<(usize, Block)>,
    /// The complete form of messages that a model gets shortened, with their positions in the transcript.
    whole: Vec<(usize, Message)>,
    /// The number of messages of earlier calls in a persistent subagent's memory.
    remembered: usize,
    tool_calls: Vec<ToolCallRecord>,
}

impl EarlierTranscript {
    /// Starts a transcript after these messages of earlier calls.
    pub(super) fn after(remembered: &[Message]) -> Self {
        EarlierTranscript {
            remembered: split(remembered).1.len(),
            ..EarlierTranscript::default()
        }
    }

    /// Records that `new` is about to replace the messages in the range.
    pub(super) fn record(
        &mut self,
        messages: &[Message],
        Range {
            start: from,
            end: upto,
        }: Range<usize>,
        is_change: bool,
        new: &[Message],
    ) {
        let (_, kept) = split(messages.get(..from).unwrap_or_default());
        let place = self.before.len() + kept.len();
        match new {
            [head] if is_change && from == 0 && head.role == Role::User => {
                let (_, replaced) = split(messages.get(..upto).unwrap_or_default());
                let (summary, joined) = split(new);
                // A text that was joined to the summary is listed once. A damaged journal may have less to replace.
                let length = replaced.len().saturating_sub(joined.len());
                let replaced = replaced.get(..length).unwrap_or_default();
                self.before.extend_from_slice(replaced);
                let rest = messages.len().saturating_sub(upto);
                let earlier = self.before.len() + joined.len() + rest;
                self.summaries.extend(summary.map(|summary| (earlier, summary)));
            }
            [_] if is_change => {
                if let Some(message) = messages.get(from)
                    && self.whole.iter().all(|(at, _)| *at != place)
                {
                    self.whole.push((place, message.clone()));
                }
            }
            _ => {
                let (summary, new) = split(new);
                if from == 0 && summary.is_none() {
                    self.before.clear();
                }
                self.whole.retain(|(at, _)| *at < place);
                let earlier = self.before.len() + kept.len() + new.len();
                self.summaries.retain(|(at, _)| *at <= earlier);
            }
        }
    }

    pub(super) fn end_round(&mut self, records: &[ToolCallRecord]) {
        self.tool_calls.extend_from_slice(records);
    }

    /// The complete transcript of an agent with these messages.
    fn with(&self, messages: &[Message]) -> Vec<Message> {
        let (summary, own) = split(messages);
        let mut earlier = [self.before.as_slice(), &own].concat();
        for (at, message) in &self.whole {
            if let Some(short) = earlier.get_mut(*at) {
                short.clone_from(message);
            }
        }
        earlier.drain(..self.remembered.min(earlier.len()));
        let mut summaries = self.summaries.clone();
        if summaries.is_empty() {
            summaries.extend(summary.map(|summary| (0, summary)));
        }
        for (at, summary) in summaries.into_iter().rev() {
            if let Some(at) = at.checked_sub(self.remembered) {
                earlier.insert(at.min(earlier.len()), Message::user(vec![summary]));
            }
        }
        earlier
    }
}

/// The summary at the beginning of a history, and the messages without it.
fn split(messages: &[Message]) -> (Option<Block>, Vec<Message>) {
    let mut own = messages.to_vec();
    let Some(first) = own.first_mut() else {
        return (None, own);
    };
    if !first.content.first().is_some_and(is_summary) {
        return (None, own);
    }
    let summary = first.content.remove(0);
    if first.content.is_empty() {
        own.remove(0);
    }
    (Some(summary), own)
}

fn is_summary(block: &Block) -> bool {
    matches!(block, Block::Text { text, .. } if text.starts_with(SUMMARY_HEAD))
}

impl AgentCheckpoint {
    fn transcript(&self, is_of_last_run: bool) -> Option<AgentTranscript> {
        let earlier = self.earlier_transcript.as_ref()?;
        let messages = earlier.with(&self.messages);
        let open_round = self.calls.iter().filter_map(|call| match &call.status {
            CallStatus::Done {
                result, duration_ms, ..
            } => Some(ToolCallRecord {
                tool_call_id: call.tool_call_id.clone(),
                tool_name: call.tool_name.clone(),
                input: input_of(&messages, &call.tool_call_id).unwrap_or_else(Json::empty_object),
                updated_input: None,
                output: Some(result.output()),
                is_error: matches!(result, ToolReturn::Fault(_)),
                duration_ms: *duration_ms,
            }),
            _ => None,
        });
        let tool_calls = earlier.tool_calls.iter().cloned().chain(open_round).collect();
        Some(AgentTranscript {
            agent_path: self.place.path.clone(),
            parent_tool_call_id: self
                .place
                .parent
                .as_ref()
                .map(|parent| parent.tool_call_id.clone()),
            outcome: match &self.state.step.step {
                Step::Ended(outcome) => Some(outcome.outcome),
                _ => None,
            },
            progress: is_of_last_run.then(|| self.progress(&messages)),
            messages,
            tool_calls,
        })
    }

    /// Notes which messages wait in the inbox of this state.
    pub(super) fn note_queued(&mut self, state: &Json) -> Result<(), ConfigError> {
        let text = state.as_str();
        if !text.contains("\"steers\":") && !text.contains("\"followUps\":") {
            return Ok(());
        }
        for id in state.read::<AgentState>()?.inbox.ids() {
            if !self.queued.contains(&id) {
                self.queued.push(id);
            }
        }
        Ok(())
    }

    fn progress(&self, messages: &[Message]) -> AgentProgress {
        let AgentState {
            step, course, who, ..
        } = &self.state;
        let is_under_way = course.is_open && !course.begins_again;
        // An iteration starts before it has an answer.
        let lacks_answer = match &step.step {
            Step::Ask | Step::Judge { .. } => is_under_way,
            Step::Ended(_) => is_under_way && messages.last().is_none_or(|last| last.role == Role::User),
            _ => false,
        };
        let questions = |call: &CallState| {
            let asked_by_tool = call.elicitations.iter().filter(|one| one.is_open());
            let asked_by_tool = asked_by_tool.map(|one| one.question);
            call.question.into_iter().chain(asked_by_tool).collect::<Vec<_>>()
        };
        let waiting = self.state.inbox.ids();
        let has_left = |id: &u32| !waiting.contains(id);
        AgentProgress {
            iteration: who.iteration.saturating_sub(u32::from(lacks_answer)),
            is_finished: lacks_answer || !course.is_open || course.begins_again,
            finish_reason: self.state.answers.reply.finish_reason,
            question_ids: self.calls.iter().flat_map(questions).collect(),
            delivered_ids: self.queued.iter().copied().filter(has_left).collect(),
        }
    }
}

fn input_of(messages: &[Message], call_id: &str) -> Option<Json> {
    let blocks = messages.iter().rev().flat_map(|message| &message.content);
    blocks
        .filter_map(|block| match block {
            Block::ToolCall { id, input, .. } if id == call_id => Some(match input {
                ToolInput::Json(json) => json.clone(),
                ToolInput::Invalid(text) => Json::string(text),
            }),
            _ => None,
        })
        .next()
}

impl Checkpoint {
    /// The beginning of an agent's transcript, if the reader wants transcripts.
    pub(super) fn earlier_transcript(&self, place: &Place) -> Option<Box<EarlierTranscript>> {
        self.past.as_ref()?;
        let is_its = |memory: &&Memory| place.is_kept && memory.agent_path == place.home;
        let memory = self.memories.iter().find(is_its);
        let remembered = memory.map(|memory| memory.messages.as_slice());
        Some(Box::new(EarlierTranscript::after(remembered.unwrap_or_default())))
    }

    /// Saves the transcripts of subagents of a run that has ended.
    pub(super) fn keep_transcripts(&mut self, is_of_last_run: bool) {
        let agents = self.agents.iter().skip(1);
        if let Some(past) = &mut self.past {
            past.extend(agents.filter_map(|agent| agent.transcript(is_of_last_run)));
        }
    }

    /// The transcripts of all agents of all runs, the root's first, if a reader has been asked for them
    /// ([`super::JournalReader::with_transcripts`]).
    pub fn transcripts(mut self) -> Vec<AgentTranscript> {
        self.keep_transcripts(true);
        let root = self.agents.first().and_then(|root| root.transcript(true));
        root.into_iter().chain(self.past.unwrap_or_default()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_nothing_in_a_damaged_journal_replaces_nothing() {
        let mut earlier = EarlierTranscript::after(&[]);
        let head = Message::user(vec![Block::text("no summary")]);
        earlier.record(&[], 0..0, true, std::slice::from_ref(&head));
        assert_eq!(earlier.with(std::slice::from_ref(&head)), [head]);
    }
}
