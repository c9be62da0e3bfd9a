//! The durable state of an agent, as the journal has it.

use crate::engine::agent::durable::{Policies, models};
use crate::engine::agent::phase::Phase;
use crate::engine::agent::profile::Profile;
use crate::engine::agent::prompt::PROMPT;
use crate::engine::agent::setup::Setup;
use crate::engine::agent::who::Who;
use crate::engine::agent::{Agent, Node, Progress};
use crate::engine::ledger::accounts::Accounts;
use crate::engine::model::journal::{AgentState, AnswerState, Place, Step};
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

    /// `profile` is the agent's own.
    pub fn state(&self, profile: &Profile, setup: &Setup, accounts: &Accounts) -> AgentState {
        let Node { who, agent } = self;
        let Agent {
            calls,
            requests,
            context,
            reply,
            structured,
            ..
        } = agent;
        let model = &who.own_model().config;
        let policies = Policies {
            tries: requests.tries,
            is_answered: requests.is_answered,
            fallbacks_used: requests.fallbacks_used,
            refuses_begun: requests.refuses_begun,
            repeats: calls.repeats.clone(),
            context: match &agent.phase {
                Phase::Summarizing(summary) => summary.before(context.clone()),
                _ => context.clone(),
            },
        };
        let (spent, unreported) = accounts.spent(who.agent);
        AgentState {
            step: agent.step(),
            profile: who.profile,
            iteration: who.iteration + u32::from(agent.progress == Progress::CutOff),
            attempt: who.attempt,
            is_open: matches!(agent.progress, Progress::Open | Progress::CutOff),
            is_told: agent.progress == Progress::Told,
            tool_rounds: calls.rounds,
            round_iteration: calls.round_iteration,
            spent,
            unreported,
            tool_calls: accounts.own_tool_calls(who.agent),
            answer: AnswerState {
                finish_reason: reply.finish_reason,
                raw_finish_reason: reply.raw_finish_reason.clone(),
                response_id: reply.response_id.clone(),
                response_model: reply.response_model.clone(),
                usage: reply.usage,
                text: (!is_in(agent.transcript.messages(), &reply.text)).then(|| reply.text.clone()),
                text_before: reply.text_before.clone(),
            },
            output: structured.output.clone(),
            misfits: structured.failures,
            steers: agent.inbox.steers.clone(),
            follow_ups: agent.inbox.follow_ups.clone(),
            notes: calls.notes.clone(),
            classifier_context: calls.classifier_context.clone(),
            successor: calls.successor.clone(),
            model: (*model != profile.model.config).then(|| models::name_of(model, setup)),
            next_model: requests
                .next_model
                .as_deref()
                .map(|model| models::name_of(model, setup)),
            background: agent.background_id(who).map(str::to_owned),
            limits: who.raised.clone(),
            stop_hook_active: agent.stop_hook_active,
            has_new_prompt: agent.has_new_prompt,
            has_reported: agent.has_reported,
            sent: agent.transcript.sent(),
            policies: Some(Json::of(&policies)),
        }
    }
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
