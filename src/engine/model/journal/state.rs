//! The state of an agent and of its tool calls, as the journal keeps it.

use serde::{Deserialize, Serialize};

use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::{Limits, ModelConfig};
use crate::engine::model::hook::Gate;
use crate::engine::model::input::{ElicitationAnswer, ToolCheckpoint, ToolReturn};
use crate::engine::model::message::{Block, Json, Message};
use crate::engine::model::outcome::Outcome;
use crate::engine::model::output::EffectId;
use crate::engine::model::usage::Usage;

/// True for a value that a journal leaves out, because it reads as the default again.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// An agent's state besides its messages and its calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentState {
    #[serde(skip_serializing_if = "is_default")]
    pub step: Step,
    /// The index of its profile.
    #[serde(skip_serializing_if = "is_default")]
    pub profile: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub iteration: u32,
    /// The attempts of the open iteration.
    #[serde(skip_serializing_if = "is_default")]
    pub attempt: u32,
    /// The iteration has begun, and its end was not told.
    #[serde(skip_serializing_if = "is_default")]
    pub is_open: bool,
    /// `onIterationEnd` has heard of the last iteration.
    #[serde(skip_serializing_if = "is_default")]
    pub is_told: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub tool_rounds: u32,
    /// The iteration of the last round.
    #[serde(skip_serializing_if = "is_default")]
    pub round_iteration: u32,
    /// The usage of all finished model calls, and the estimate of those whose vendor reported none.
    #[serde(skip_serializing_if = "is_default")]
    pub spent: Option<Usage>,
    #[serde(skip_serializing_if = "is_default")]
    pub unreported: Usage,
    #[serde(skip_serializing_if = "is_default")]
    pub tool_calls: usize,
    #[serde(skip_serializing_if = "is_default")]
    pub answer: AnswerState,
    /// The last structured answer that fitted, and the number of later ones in a row that did not.
    #[serde(skip_serializing_if = "is_default")]
    pub output: Option<Json>,
    #[serde(skip_serializing_if = "is_default")]
    pub misfits: u32,
    /// Messages for the agent that its model has not got.
    #[serde(skip_serializing_if = "is_default")]
    pub steers: Vec<Queued>,
    #[serde(skip_serializing_if = "is_default")]
    pub follow_ups: Vec<Queued>,
    /// Text of hooks for the model, to go beside the next content.
    #[serde(skip_serializing_if = "is_default")]
    pub notes: Vec<Block>,
    #[serde(skip_serializing_if = "is_default")]
    pub classifier_context: Vec<String>,
    /// The agent that takes the conversation over when the round is over.
    #[serde(skip_serializing_if = "is_default")]
    pub successor: Option<Successor>,
    /// The model, if it is not its profile's, and the one that the next request asks.
    #[serde(skip_serializing_if = "is_default")]
    pub model: Option<ModelName>,
    #[serde(skip_serializing_if = "is_default")]
    pub next_model: Option<ModelName>,
    /// The id of the answer that streams, if the provider goes on with it when nobody listens.
    #[serde(skip_serializing_if = "is_default")]
    pub background: Option<String>,
    /// The limits, if they were raised.
    #[serde(skip_serializing_if = "is_default")]
    pub limits: Option<Limits>,
    #[serde(skip_serializing_if = "is_default")]
    pub stop_hook_active: bool,
    /// The input guardrail has not seen the latest content.
    #[serde(skip_serializing_if = "is_default")]
    pub has_new_prompt: bool,
    /// The caller has its result.
    #[serde(skip_serializing_if = "is_default")]
    pub has_reported: bool,
    /// The number of messages that have been part of a request.
    #[serde(skip_serializing_if = "is_default")]
    pub sent: usize,
    /// The counters of the policies for retries, repeats and the length of the history. A version of looplet that
    /// cannot read them begins them anew.
    #[serde(skip_serializing_if = "is_default")]
    pub policies: Option<Json>,
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

/// A model of `setModel`. Another process asks it with the key of a model in its options that stands at the same
/// place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnModel {
    /// A digest of its vendor, protocol and URL.
    pub place: String,
    /// Its configuration without the fields that may hold secrets.
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

/// The facts of the last answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AnswerState {
    #[serde(skip_serializing_if = "is_default")]
    pub finish_reason: Option<FinishReason>,
    #[serde(skip_serializing_if = "is_default")]
    pub raw_finish_reason: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub response_id: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub response_model: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub usage: Option<Usage>,
    /// The text of the last answer that brought any, if the last messages do not show it.
    #[serde(skip_serializing_if = "is_default")]
    pub text: Option<String>,
    /// The text of the answer that the next one continues.
    #[serde(skip_serializing_if = "is_default")]
    pub text_before: String,
}

/// A message that waits for its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Queued {
    pub id: u32,
    pub content: Vec<Block>,
}

/// The agent that takes the conversation over when the round is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Successor {
    pub profile: u32,
    pub inherit_model: bool,
    /// The name of the tool.
    pub name: String,
    /// The input of the handoff, if your code is still to choose the messages that the agent begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfiltered: Option<Json>,
}

/// The step that an agent is at, as far as it can be taken again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Step {
    /// Nobody has said anything to the agent yet.
    #[default]
    Ready,
    /// New content waits for its hooks. `is_opening` says that the hooks of the session come first.
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
    /// The last message is an answer, and its calls or its structured output are under way.
    Act,
    /// The round is over, and the stop conditions are judged; `repeats` if your code is asked about repeated rounds.
    Close {
        repeats: Option<u32>,
    },
    /// The iteration is over.
    HandOver {
        owes_answer: bool,
    },
    /// The model has finished, unless a `Stop` hook makes it go on.
    Complete,
    Ended(Outcome),
}

/// The state of one tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallState {
    /// The call's place in its answer.
    pub index: usize,
    pub tool_call_id: String,
    pub tool_name: String,
    pub status: CallStatus,
    /// The version of its tool, if the tool has one: that of the call's first process, until your code has said what
    /// became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The input that the tool gets, if it is not the one that the model wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    /// The input that the tool would get if your code had not changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<Json>,
    /// The answer of the `PreToolUse` hooks.
    #[serde(default, skip_serializing_if = "Gate::is_unasked")]
    pub gate: Gate,
    /// The tool wants an approval, or your code asked for one when it prepared the call.
    #[serde(default, skip_serializing_if = "is_default")]
    pub needs_approval: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_key: Option<String>,
    /// The question about it that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<EffectId>,
    /// The state from which the tool goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<ToolCheckpoint>,
    /// The tool's questions to a person since its checkpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elicitations: Vec<Elicitation>,
}

impl CallState {
    /// Returns true if nobody has decided yet whether the call may run.
    pub fn awaits_judgement(&self) -> bool {
        matches!(
            self.status,
            CallStatus::Open | CallStatus::Passed | CallStatus::Asked
        )
    }

    /// Returns true if a person is asked about the call, or by it.
    pub fn awaits_person(&self) -> bool {
        self.question.is_some() || self.elicitations.iter().any(Elicitation::is_open)
    }
}

/// A question of a tool to a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Elicitation {
    /// Its place among the call's questions, from 1.
    pub number: u32,
    pub question: EffectId,
    pub request: Json,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<ElicitationAnswer>,
}

impl Elicitation {
    /// Returns true if nobody has answered it.
    pub fn is_open(&self) -> bool {
        self.answer.is_none()
    }
}

/// How far a call has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CallStatus {
    /// Nobody has judged it. The journal has no such call.
    #[default]
    Open,
    /// Hooks have let it through, and the rules judge it next.
    Passed,
    /// A person was asked whether it may run.
    Asked,
    /// It was denied, and hooks hear of it first.
    Refused { message: Option<String>, reason: String },
    /// It may run, unless its guardrail is against it.
    Allowed,
    /// Its guardrail has let it through.
    Cleared,
    /// Its function was called, or is about to be.
    Started { effect: EffectId },
    /// It has come back, and hooks look at its result.
    Returned {
        result: ToolReturn,
        duration_ms: u64,
        #[serde(default)]
        terminates: bool,
    },
    Done {
        result: ToolReturn,
        duration_ms: u64,
        /// The tool wants the run to end after this round.
        terminates: bool,
    },
}

/// A text of an answer that streams, or what has been added to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamedText {
    /// The index of its block in the answer.
    pub block: u32,
    /// It is reasoning.
    pub is_reasoning: bool,
    /// It is neither text nor reasoning, and its content is not kept.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_other: bool,
    pub text: String,
}
