//! The durable state of an agent, as the journal has it.

use crate::engine::agent::phase::Phase;
use crate::engine::agent::prompt::PROMPT;
use crate::engine::agent::who::Who;
use crate::engine::agent::{Agent, Node};
use crate::engine::model::journal::{
    AgentState, CourseState, HistoryState, Place, RequestsState, Step, UsageState,
};
use crate::engine::model::message::{Block, Json, Message, Role};

/// The number of messages in which the last text is looked for at each input.
const LOOKBACK: usize = 4;

impl Node {
    pub fn place(&self) -> Place {
        let Who {
            path,
            home,
            depth,
            first_profile,
            parent,
            ..
        } = &self.who;
        Place {
            path: path.clone(),
            home: home.clone(),
            depth: *depth,
            first_profile: *first_profile,
            parent: parent.clone(),
            is_kept: self.agent.is_kept,
        }
    }

    /// Brings the state that the journal has up to this agent's, part by part. `usage` are the figures of its
    /// account. Returns false if no part has changed.
    pub fn note_state(&self, noted: &mut AgentState, usage: &UsageState) -> bool {
        let Node { who, agent } = self;
        // Every field of an agent is noted here, or is one that a process makes anew.
        let Agent {
            kept,
            calls,
            requests,
            length,
            answers,
            inbox,
            transcript,
            phase: _,
            is_kept: _,
        } = agent;
        let course = CourseState {
            step: agent.step(),
            ..kept.clone()
        };
        let requests = RequestsState {
            background: agent.background_id(who).map(str::to_owned),
            ..requests.kept.clone()
        };
        let history = HistoryState {
            sent: transcript.sent(),
            length: length.clone(),
        };
        let changes = [
            renew(&mut noted.course, &course),
            renew(&mut noted.who, &who.kept),
            renew(&mut noted.usage, usage),
            renew(&mut noted.calls, &calls.kept),
            renew(&mut noted.requests, &requests),
            renew(&mut noted.answers, answers),
            renew(&mut noted.history, &history),
            renew(&mut noted.inbox, inbox),
        ];
        changes.contains(&true)
    }

    /// The entry of a state. It has no text that the last messages show.
    pub fn entry_of(&self, state: &mut AgentState) -> Json {
        let messages = self.agent.transcript.messages();
        let text = &mut state.answers.reply.text;
        let shown = text.take_if(|text| is_in(messages, text));
        let entry = Json::of(state);
        if shown.is_some() {
            state.answers.reply.text = shown;
        }
        entry
    }
}

fn renew<T: Clone + PartialEq>(noted: &mut T, now: &T) -> bool {
    let is_new = noted != now;
    if is_new {
        noted.clone_from(now);
    }
    is_new
}

impl Agent {
    /// Returns true if no step is left to take.
    pub fn is_over(&self) -> bool {
        match &self.phase {
            Phase::Restored(step) => matches!(**step, Step::Ready | Step::Ended(_)),
            phase => matches!(phase, Phase::Ready | Phase::Ended(_)),
        }
    }

    /// The step that is taken again in another process.
    pub fn step(&self) -> Step {
        match &self.phase {
            Phase::Ready => Step::Ready,
            Phase::Opening { prompt } => Step::Prompt {
                content: prompt.clone(),
                source: PROMPT.into(),
                owes_answer: true,
                is_opening: true,
            },
            Phase::Prompting {
                content,
                source,
                owes_answer,
            } => Step::Prompt {
                content: content.clone(),
                source: source.clone(),
                owes_answer: *owes_answer,
                is_opening: false,
            },
            Phase::Preparing | Phase::Summarizing(_) | Phase::Sending | Phase::Reading(_) => Step::Ask,
            Phase::Judging(guarded) => guarded.step(),
            Phase::Checking { .. } | Phase::Running => Step::Act,
            Phase::Closing { repeats } => Step::Close { repeats: *repeats },
            Phase::HandingOver { owes_answer, .. } => Step::HandOver {
                owes_answer: *owes_answer,
            },
            Phase::Completing => Step::Complete,
            Phase::Ended(outcome) => Step::Ended(outcome.clone()),
            Phase::Restored(step) => (**step).clone(),
        }
    }
}

/// True if the last answers show that this is the text of the one that brought any.
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
