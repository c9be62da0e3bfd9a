//! The state of an agent's tool calls in the journal.

use serde::{Deserialize, Serialize};

use crate::engine::model::hook::Gate;
use crate::engine::model::input::{ElicitationAnswer, ToolCheckpoint, ToolReturn};
use crate::engine::model::journal::agent::is_default;
use crate::engine::model::message::Json;
use crate::engine::model::output::EffectId;

/// The state of one tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallState {
    /// The call's place in its answer.
    pub index: usize,
    pub tool_call_id: String,
    pub tool_name: String,
    pub status: CallStatus,
    /// The version of its tool, if the tool has one: that of the call's first process, until your code has reported
    /// what happened to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The tool's input, if it is not the model's.
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
    /// The call uses another path than its input names, for example through a link. Your code has reported this.
    #[serde(default, skip_serializing_if = "is_default")]
    pub leads_elsewhere: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_key: Option<String>,
    /// The question about it that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<EffectId>,
    /// The state from which the tool resumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<ToolCheckpoint>,
    /// The tool's questions to the user since its checkpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elicitations: Vec<Elicitation>,
}

impl CallState {
    /// Returns true if no one has decided yet whether the call may run.
    pub fn awaits_judgement(&self) -> bool {
        matches!(
            self.status,
            CallStatus::Open | CallStatus::Passed | CallStatus::Asked
        )
    }

    /// Returns true if a user has been asked about the call, or by it.
    pub fn awaits_person(&self) -> bool {
        self.question.is_some() || self.elicitations.iter().any(Elicitation::is_open)
    }
}

/// A tool's question to the user.
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
    /// Returns true if it has no answer.
    pub fn is_open(&self) -> bool {
        self.answer.is_none()
    }
}

/// The progress of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CallStatus {
    /// It has not been checked. The journal has no such call.
    #[default]
    Open,
    /// Hooks have accepted it. The rules are checked next.
    Passed,
    /// The user was asked whether it may run.
    Asked,
    /// It was denied. Its hooks are called first.
    Refused { message: Option<String>, reason: String },
    /// It may run, unless its guardrail is against it.
    Allowed,
    /// Its guardrail has accepted it.
    Cleared,
    /// Its function was called, or is about to be.
    Started { effect: EffectId },
    /// It has returned, and hooks check its result.
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

/// Replaces the previous state of a call. Returns false if it has not changed.
pub fn note_call(calls: &mut Vec<CallState>, call: &CallState) -> bool {
    match calls.binary_search_by_key(&call.index, |call| call.index) {
        Ok(at) => {
            let Some(before) = calls.get_mut(at).filter(|before| *before != call) else {
                return false;
            };
            before.clone_from(call);
        }
        Err(at) => calls.insert(at, call.clone()),
    }
    true
}
