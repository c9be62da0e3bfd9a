//! Everything that can happen to a run.

use serde::{Deserialize, Serialize};

use crate::engine::model::config::ModelConfig;
use crate::engine::model::event::ToolFault;
use crate::engine::model::message::{Block, Json};
use crate::engine::model::output::EffectId;
use crate::engine::model::question::Answer;
use crate::engine::policy::hook::Raise;
use crate::engine::policy::permission::{PermissionMode, RuleKind};
use crate::engine::policy::rule::Rule;

/// One input. Bytes are borrowed: a chunk crosses into the engine once.
#[derive(Debug)]
pub enum Input<'a> {
    /// Starts the run.
    Prompt {
        content: Vec<Block>,
    },
    /// To be told to the model before its next call. The id is the host's, any number.
    Steer {
        id: u32,
        content: Vec<Block>,
    },
    /// To be asked when the model has finished.
    FollowUp {
        id: u32,
        content: Vec<Block>,
    },
    /// Takes back a steer or follow-up that has not been delivered.
    Withdraw {
        id: u32,
    },
    /// The response's head has come. Header names in any case.
    Head {
        request: EffectId,
        status: u16,
        headers: Vec<(String, String)>,
    },
    Chunk {
        request: EffectId,
        bytes: &'a [u8],
    },
    End {
        request: EffectId,
    },
    /// The request, or the reading of its body, failed. `why` contains no secret.
    NetworkFailed {
        request: EffectId,
        why: String,
    },
    /// The request could not even be made: `authorize` or the host's `fetch` refused it. Not retried.
    NotSent {
        request: EffectId,
        why: String,
    },
    ToolFinished {
        call: EffectId,
        result: ToolReturn,
    },
    ToolProgress {
        call: EffectId,
        data: Json,
    },
    Answered {
        question: EffectId,
        answer: Answer,
    },
    Saved {
        save: EffectId,
        ok: bool,
    },
    /// The host's listeners have heard everything that came before the handover.
    HandedOver {
        handover: EffectId,
    },
    /// What happens to calls that no rule speaks of, from the next call on.
    SetMode {
        mode: PermissionMode,
    },
    /// The root asks this model from its next request on.
    SetModel {
        model: Box<ModelConfig>,
    },
    /// The root's history is summarised before its next request. `instructions`: what the summary shall also heed.
    Compact {
        instructions: Option<String>,
    },
    /// More of what is limited for an agent that is at work.
    AddBudget {
        agent_path: String,
        more: Raise,
    },
    /// The timer fired (or time has passed anyway).
    Due,
    Cancel {
        why: String,
    },
}

/// What a tool's function came back with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolReturn {
    /// Any JSON value; a string is shown to the model as it is, anything else as its JSON text.
    Value(Json),
    /// Blocks for the model (text, media).
    Content(Vec<Block>),
    Fault(ToolFault),
    /// The same, after which the run is to end if the round's other calls say so too. Never nested.
    Last(Box<ToolReturn>),
}

/// What the host made of one call before it runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PreparedCall {
    /// The validated input that the tool gets; the history keeps what the model wrote.
    pub input: Option<Json>,
    /// Calls with equal keys never overlap.
    pub resource_key: Option<String>,
    /// The input is invalid: what the model is told.
    pub problem: Option<String>,
    /// This call has to be approved before it runs.
    pub needs_approval: bool,
}

/// What the host made of a structured answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckedOutput {
    /// It is none: what the model is told.
    pub problem: Option<String>,
    /// What the run has to show in place of what the model wrote.
    pub output: Option<Json>,
}

/// Whether a call may run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PermissionAnswer {
    pub allow: bool,
    /// What the tool gets in place of what the model wrote; the history keeps the latter.
    pub updated_input: Option<Json>,
    /// Why the call is denied; the model is told.
    pub message: Option<String>,
    /// The denial ends the run.
    pub interrupt: bool,
    pub updates: Vec<PermissionUpdate>,
}

/// A change of what the run may do from now on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionUpdate {
    AddRules {
        behavior: RuleKind,
        rules: Vec<Rule>,
    },
    ReplaceRules {
        behavior: RuleKind,
        rules: Vec<Rule>,
    },
    RemoveRules {
        behavior: RuleKind,
        rules: Vec<Rule>,
    },
    SetMode(PermissionMode),
    /// What of it cannot be done, for the host to be warned of.
    Beside(String),
}
