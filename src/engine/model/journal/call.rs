//! The state of an agent's tool calls, as the journal keeps it.

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
    /// The call touches another place than its input names, as through a link. Your code has said so.
    #[serde(default, skip_serializing_if = "is_default")]
    pub leads_elsewhere: bool,
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

/// Takes the state of a call in place of the one before. Returns false if it is the same.
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
