//! Everything that can happen to a run.

use serde::{Deserialize, Serialize};

use crate::engine::model::config::ModelConfig;
use crate::engine::model::event::ToolFault;
use crate::engine::model::hook::Raise;
use crate::engine::model::message::{Block, Json};
use crate::engine::model::output::EffectId;
use crate::engine::model::permission::Rule;
use crate::engine::model::permission::{PermissionMode, RuleKind};
use crate::engine::model::question::Answer;

/// One input. Bytes are borrowed: a chunk crosses into the engine once.
///
/// All but heads and chunks cross the boundary as JSON: `{"steer":{"id":1,"content":[…]}}`, `"due"`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
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
    #[serde(skip)]
    Chunk {
        request: EffectId,
        #[serde(skip)]
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
    pub behavior: Behavior,
    /// What the tool gets in place of what the model wrote; the history keeps the latter.
    pub updated_input: Option<Json>,
    /// Why the call is denied; the model is told.
    pub message: Option<String>,
    /// The denial ends the run.
    pub interrupt: bool,
    pub updated_permissions: Vec<PermissionUpdate>,
}

/// Whether a call may run, in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Behavior {
    Allow,
    #[default]
    Deny,
}

/// A change of what the run may do from now on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PermissionUpdate {
    pub r#type: UpdateType,
    /// The list that `rules` belong to.
    pub behavior: Option<RuleKind>,
    pub rules: Vec<Rule>,
    /// Of `setMode`.
    pub mode: Option<PermissionMode>,
    /// Where the change is to be kept. A run keeps it for itself, whatever this says.
    pub destination: Option<String>,
}

impl PermissionUpdate {
    /// A change of the rules of one list.
    pub fn rules(r#type: UpdateType, behavior: RuleKind, rules: Vec<Rule>) -> PermissionUpdate {
        PermissionUpdate {
            r#type,
            behavior: Some(behavior),
            rules,
            ..PermissionUpdate::default()
        }
    }

    /// A switch of the mode.
    pub fn mode(mode: PermissionMode) -> PermissionUpdate {
        PermissionUpdate {
            r#type: UpdateType::SetMode,
            mode: Some(mode),
            ..PermissionUpdate::default()
        }
    }

    pub fn is_of_directories(&self) -> bool {
        matches!(
            self.r#type,
            UpdateType::AddDirectories | UpdateType::RemoveDirectories
        )
    }
}

/// What a [`PermissionUpdate`] changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UpdateType {
    #[default]
    AddRules,
    ReplaceRules,
    RemoveRules,
    SetMode,
    /// Does nothing: a run has no folders.
    AddDirectories,
    /// Does nothing either.
    RemoveDirectories,
}
