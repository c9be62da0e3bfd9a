//! The state of an agent in the journal.
//!
//! Each part of an agent owns its durable state, and [`AgentState`] combines these states. A new field of one of them
//! is automatically in the journal.

use std::borrow::Cow;

use looplet_scan::reader::Object;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::{Limits, ModelConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::model::json;
use crate::engine::model::message::{Block, Json, Message};
use crate::engine::model::outcome::Outcome;
use crate::engine::model::usage::{Usage, sparse};

/// True for a value that a journal leaves out, because it reads as the default again.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// An agent's state without its messages and calls. In JSON it is one object.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AgentState {
    #[serde(flatten)]
    pub step: StepState,
    #[serde(flatten)]
    pub course: ProgressState,
    #[serde(flatten)]
    pub who: IdentityState,
    #[serde(flatten)]
    pub limits: LimitsState,
    #[serde(flatten)]
    pub rounds: RoundsState,
    #[serde(flatten)]
    pub approvals: ApprovalsState,
    #[serde(flatten)]
    pub delegations: DelegationsState,
    #[serde(flatten)]
    pub repeats: RepeatsState,
    #[serde(flatten)]
    pub requests: RequestsState,
    #[serde(flatten)]
    pub answers: AnswersState,
    #[serde(flatten)]
    pub history: HistoryState,
    #[serde(flatten)]
    pub inbox: Inbox,
}

impl<'de> Deserialize<'de> for AgentState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AgentState, D::Error> {
        let json = Json::deserialize(deserializer)?;
        AgentState::of(json.as_str()).map_err(|error| D::Error::custom(error.to_text()))
    }
}

impl AgentState {
    /// Each part reads its own fields, because `flatten` would read all of them into a map first.
    fn of(text: &str) -> Result<AgentState, ConfigError> {
        let text = &with_policies(text);
        Ok(AgentState {
            step: json::read("", text)?,
            course: json::read("", text)?,
            who: json::read("", text)?,
            limits: json::read("", text)?,
            rounds: json::read("", text)?,
            approvals: json::read("", text)?,
            delegations: json::read("", text)?,
            repeats: json::read("", text)?,
            requests: json::read("", text)?,
            answers: json::read("", text)?,
            history: json::read("", text)?,
            inbox: json::read("", text)?,
        })
    }
}

/// The object with the fields that formats before 5 had in a separate object, `policies`.
fn with_policies(text: &str) -> Cow<'_, str> {
    let policies = Object::parse(text).and_then(|object| object.get("policies"));
    match (fields_of(text), policies.and_then(fields_of)) {
        (Some(own), Some(policies)) => Cow::Owned(format!("{{{own},{policies}}}")),
        _ => Cow::Borrowed(text),
    }
}

/// The text inside the braces of an object that has fields.
fn fields_of(object: &str) -> Option<&str> {
    let inside = object.trim_ascii().strip_prefix('{')?.strip_suffix('}')?;
    (!inside.trim_ascii().is_empty()).then_some(inside)
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepState {
    #[serde(skip_serializing_if = "is_default")]
    pub step: Step,
}

/// The progress of an agent in its iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProgressState {
    /// The iteration has started, and its end was not emitted.
    #[serde(skip_serializing_if = "is_default")]
    pub is_open: bool,
    /// `onIterationEnd` has been called for the last iteration.
    #[serde(skip_serializing_if = "is_default")]
    pub is_told: bool,
    /// Another process has started the open iteration, and it is prepared again. Until then, the count of iterations
    /// is one lower.
    #[serde(skip_serializing_if = "is_default")]
    pub begins_again: bool,
    /// A `Stop` hook has made the model continue.
    #[serde(skip_serializing_if = "is_default")]
    pub stop_hook_active: bool,
    /// The input guardrail has not seen the latest content of your code.
    #[serde(skip_serializing_if = "is_default")]
    pub has_new_prompt: bool,
    /// The caller has its result.
    #[serde(skip_serializing_if = "is_default")]
    pub has_reported: bool,
}

/// The agent's counts and its model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct IdentityState {
    /// The index of its profile.
    #[serde(skip_serializing_if = "is_default")]
    pub profile: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub iteration: u32,
    /// The attempts of the open iteration.
    #[serde(skip_serializing_if = "is_default")]
    pub attempt: u32,
    /// The model, if it is not its profile's.
    #[serde(skip_serializing_if = "is_default")]
    pub model: Option<ModelName>,
}

/// The limits that differ from the configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitsState {
    /// `None` if they were not raised.
    #[serde(skip_serializing_if = "is_default")]
    pub limits: Option<Limits>,
}

/// The figures of the agent's account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UsageState {
    /// The reported usage of all finished model calls, with those of the agents below; `None` if none was reported.
    #[serde(skip_serializing_if = "is_default", serialize_with = "sparse::option")]
    pub spent: Option<Usage>,
    /// The estimated usage of finished calls without reported usage.
    #[serde(skip_serializing_if = "is_default", serialize_with = "sparse::counts")]
    pub unreported: Usage,
    /// Tool calls of this agent, without its subagents.
    #[serde(skip_serializing_if = "is_default")]
    pub tool_calls: usize,
}

/// The rounds of tool calls that are over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RoundsState {
    #[serde(rename = "toolRounds", skip_serializing_if = "is_default")]
    pub rounds: u32,
    /// The iteration of the last round.
    #[serde(skip_serializing_if = "is_default")]
    pub round_iteration: u32,
}

/// The answers about tool calls that are still to be used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ApprovalsState {
    /// Text of hooks for the model, sent with the next content.
    #[serde(skip_serializing_if = "is_default")]
    pub notes: Vec<Block>,
    /// Text of hooks for the classifier.
    #[serde(skip_serializing_if = "is_default")]
    pub classifier_context: Vec<String>,
}

/// The tool calls that agents answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DelegationsState {
    /// The agent that takes the conversation over when the round is over.
    #[serde(skip_serializing_if = "is_default")]
    pub successor: Option<Successor>,
}

/// The repetitions of rounds. They are a separate state so that the fields of an entry keep their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RepeatsState {
    #[serde(skip_serializing_if = "is_default")]
    pub repeats: Repeats,
}

/// The counts and hashes of the rounds so far, which detect repetitions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Repeats {
    /// The hashes of the last rounds, in order.
    #[serde(skip_serializing_if = "is_default")]
    pub rounds: Vec<u64>,
    /// By the length of a cycle: the number of consecutive rounds that equal the round one cycle before.
    #[serde(skip_serializing_if = "is_default")]
    pub same: [u32; MAX_PERIOD],
    /// The hashes of the last round's calls, sorted, each with the number of its consecutive occurrences.
    #[serde(skip_serializing_if = "is_default")]
    pub calls: Vec<(u64, u32)>,
}

/// The longest cycle that is noticed, in rounds.
pub const MAX_PERIOD: usize = 4;

/// The attempts of the agent's requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestsState {
    #[serde(skip_serializing_if = "is_default")]
    pub tries: Tries,
    /// A server has answered this agent.
    #[serde(skip_serializing_if = "is_default")]
    pub is_answered: bool,
    /// The number of the configuration's fallback models that have been asked.
    #[serde(skip_serializing_if = "is_default")]
    pub fallbacks_used: u32,
    /// The model has refused to continue a text.
    #[serde(skip_serializing_if = "is_default")]
    pub refuses_begun: bool,
    /// The model that the next request asks.
    #[serde(skip_serializing_if = "is_default")]
    pub next_model: Option<ModelName>,
    /// The id of the answer that is streaming, if the provider continues it after a disconnect.
    #[serde(skip_serializing_if = "is_default")]
    pub background: Option<String>,
}

/// The number of times that the model call of an iteration has been made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tries {
    /// The number of calls for which every attempt has failed.
    #[serde(skip_serializing_if = "is_default")]
    pub failed_calls: u32,
    /// The attempts of those calls.
    #[serde(skip_serializing_if = "is_default")]
    pub before: u32,
}

/// The last answer, and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AnswersState {
    #[serde(rename = "answer", skip_serializing_if = "is_default")]
    pub reply: Reply,
    /// The last structured answer that matched the schema. A later one that does not match leaves it unchanged.
    #[serde(skip_serializing_if = "is_default")]
    pub output: Option<Json>,
    /// The number of later answers in a row that did not match.
    #[serde(skip_serializing_if = "is_default")]
    pub misfits: u32,
}

/// The facts of the last answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Reply {
    #[serde(skip_serializing_if = "is_default")]
    pub finish_reason: Option<FinishReason>,
    #[serde(skip_serializing_if = "is_default")]
    pub raw_finish_reason: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub stop_details: Option<Json>,
    /// The vendor's id of the response.
    #[serde(skip_serializing_if = "is_default")]
    pub response_id: Option<String>,
    /// The model that answered, as reported by the vendor.
    #[serde(skip_serializing_if = "is_default")]
    pub response_model: Option<String>,
    /// The usage of this iteration's attempts; `None` if none of them reported any.
    #[serde(skip_serializing_if = "is_default", serialize_with = "sparse::option")]
    pub usage: Option<Usage>,
    /// The text of the last answer with text. An entry leaves it out if it is in the last messages.
    #[serde(skip_serializing_if = "is_default")]
    pub text: Option<String>,
    /// The text of the answer that the next one continues.
    #[serde(skip_serializing_if = "is_default")]
    pub text_before: String,
}

/// The length of the history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HistoryState {
    /// The number of messages that have been part of a request.
    #[serde(skip_serializing_if = "is_default")]
    pub sent: usize,
    #[serde(rename = "context", skip_serializing_if = "is_default")]
    pub length: Length,
}

/// The facts that an agent has about the length of its history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Length {
    /// Tokens that the vendor has counted, and in how many messages.
    #[serde(skip_serializing_if = "is_default")]
    pub counted: Option<(u64, usize)>,
    #[serde(skip_serializing_if = "is_default")]
    pub wanted: Option<Wanted>,
    /// The summary that was wanted, as long as it is made.
    #[serde(skip_serializing_if = "is_default")]
    pub making: Option<Wanted>,
    /// The iteration of the last summary.
    #[serde(skip_serializing_if = "is_default")]
    pub summarized_in: u32,
    /// The outcome of the last summary.
    #[serde(skip_serializing_if = "is_default")]
    pub last: Summarized,
    /// The number of messages when a summary did not help.
    #[serde(skip_serializing_if = "is_default")]
    pub in_vain_at: Option<usize>,
    /// Nothing is asked but a summary.
    #[serde(skip_serializing_if = "is_default")]
    pub only_summary: bool,
    /// The number of calls and thoughts that the vendor has last hidden from the model.
    #[serde(skip_serializing_if = "is_default")]
    pub cleared: u64,
}

/// The outcome of a summary that was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Summarized {
    #[default]
    Shorter,
    NotShorter,
    Blocked,
}

/// Your code has asked for a summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    pub instructions: Option<String>,
}

/// Messages for the agent that its model has not got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Inbox {
    /// Messages for the next request.
    #[serde(skip_serializing_if = "is_default")]
    pub steers: Vec<Queued>,
    /// Messages for the time when the agent has finished.
    #[serde(skip_serializing_if = "is_default")]
    pub follow_ups: Vec<Queued>,
}

/// One of the models in the options, without anything that may be secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelName {
    pub slot: u32,
    pub vendor: String,
    pub model: String,
    /// A model that the options do not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnModel>,
}

/// A model of `setModel`. Another process uses it with the key of the model in the same position of its options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnModel {
    /// A digest of its vendor, protocol and URL.
    pub place: String,
    /// Its configuration without the fields that may contain secrets.
    pub config: Json,
}

impl From<&ModelConfig> for ModelName {
    fn from(config: &ModelConfig) -> ModelName {
        ModelName {
            slot: config.slot,
            vendor: config.vendor.clone(),
            model: config.model.clone(),
            own: None,
        }
    }
}

/// A message that waits for its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Queued {
    pub id: u32,
    pub content: Vec<Block>,
    /// The id of its delivery, if your code may deliver it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// The agent that takes the conversation over when the round is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Successor {
    pub profile: u32,
    pub inherit_model: bool,
    /// The name of the tool.
    pub name: String,
    /// The input of the handoff, if your code has not chosen the agent's first messages yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfiltered: Option<Json>,
}

/// The step that an agent is at, as far as it can be taken again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Step {
    /// The agent has received nothing yet.
    #[default]
    Ready,
    /// New content waits for its hooks. `is_opening` says that the hooks of the session run first.
    Prompt {
        content: Vec<Block>,
        source: String,
        owes_answer: bool,
        is_opening: bool,
    },
    /// The model is asked next, or is being asked.
    Ask,
    /// The output guardrail judges this answer. `cut_off` names its calls that the output limit has cut off.
    Judge {
        message: Message,
        text: String,
        cut_off: Vec<String>,
    },
    /// The last message is an answer, and its calls or its structured output are in progress.
    Act,
    /// The round is over, and the stop conditions are judged; `repeats` if your code is asked about repeated rounds.
    Close {
        repeats: Option<u32>,
    },
    /// The iteration is over.
    HandOver {
        owes_answer: bool,
    },
    /// The model has finished, unless a `Stop` hook makes it continue.
    Complete,
    Ended(Outcome),
}

/// A text of an answer that streams, or what has been added to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamedText {
    /// The index of its block in the answer.
    pub block: u32,
    /// It is reasoning.
    pub is_reasoning: bool,
    /// It is neither text nor reasoning, and its content is not saved.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_other: bool,
    pub text: String,
}
