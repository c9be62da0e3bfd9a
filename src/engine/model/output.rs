//! Everything that a run asks the outside world to do.
//!
//! `Run::poll_output` returns each [`Output`] once, and the shell performs them in that order. An effect has an
//! [`EffectId`], which its answer names. An effect may be withdrawn before it is performed, so the shell checks
//! `run.is_live` first. No output contains a secret: a request only says where its key belongs.

use serde::{Deserialize, Serialize};

use crate::engine::model::error::Failure;
use crate::engine::model::event::Event;
use crate::engine::model::input::{ElicitationAnswer, ToolCheckpoint};
use crate::engine::model::journal::Entry;
use crate::engine::model::message::Json;
use crate::engine::model::outcome::Outcome;
use crate::engine::model::question::{Point, Question};

/// The id of one effect of a run. Ids are unique and increase.
pub type EffectId = u32;

/// One output, to be performed in order. Ask `run.is_live(effect)` before you perform an effect. The outputs that
/// have no way of their own into JavaScript go there as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Output {
    /// Sends an HTTP request. Its body is `run.request_body(request)`.
    #[serde(skip)]
    Send {
        request: EffectId,
        http: HttpRequest,
    },
    /// Cancels a request. The run ignores everything that it still delivers.
    Abort {
        request: EffectId,
    },
    /// Removes the request's secrets from its failure, before anything in the run reads the server's words. The
    /// answer is [`crate::engine::model::input::Input::RequestFailed`].
    Redact {
        request: EffectId,
        failure: Failure,
    },
    CallTool(ToolInvocation),
    /// Asks a running tool to stop. The run does not wait for it.
    AbortTool {
        call: EffectId,
        why: String,
    },
    /// Hands a running tool the answer to its question of this number.
    AnswerTool {
        call: EffectId,
        number: u32,
        answer: ElicitationAnswer,
    },
    Ask {
        question: EffectId,
        ask: Question,
    },
    /// Withdraws a question because its answer would be too late or have no effect.
    Withdraw {
        question: EffectId,
        why: String,
    },
    /// Saves entries of the journal. `awaited` says whether the run waits for the save.
    #[serde(skip)]
    Save {
        save: EffectId,
        entries: Vec<Entry>,
        awaited: bool,
    },
    /// Delivers everything before this to your listeners. The answer is
    /// [`crate::engine::model::input::Input::HandedOver`].
    #[serde(skip)]
    HandOver {
        handover: EffectId,
    },
    #[serde(skip)]
    Emit(Event),
    #[serde(skip)]
    Done(Outcome),
}

impl Output {
    /// The effect that must be open for this output to be performed.
    pub fn live_effect(&self) -> Option<EffectId> {
        match self {
            Output::Send { request, .. } | Output::Redact { request, .. } => Some(*request),
            Output::CallTool(invocation) => Some(invocation.call),
            Output::Ask { question, .. } => Some(*question),
            Output::Abort { .. }
            | Output::AbortTool { .. }
            | Output::AnswerTool { .. }
            | Output::Withdraw { .. }
            | Output::Save { .. }
            | Output::HandOver { .. }
            | Output::Emit(_)
            | Output::Done(_) => None,
        }
    }
}

/// A request without its body and without secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// The header for the key.
    pub auth: AuthSlot,
    /// The model that is asked: [`crate::engine::model::config::ModelConfig::slot`].
    pub model: u32,
}

/// The header that carries the key. `authorize` may change any other part of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthSlot {
    /// The header's name in lower case; empty when the vendor wants none.
    pub header: String,
    /// The text before the key, for example `Bearer `.
    pub prefix: String,
}

/// A call of one of your tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolInvocation {
    pub call: EffectId,
    pub tool_call_id: String,
    pub tool_name: String,
    /// The JSON text of the arguments: the validated input if your code gave one, else the model's own.
    pub input: Json,
    pub iteration: u32,
    /// The index of the calling agent in the run's tree.
    pub agent: u32,
    /// The index of the configuration that has the tool, 0 for the run's own.
    pub profile: u32,
    /// The call must not be made twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// The state from which the call resumes, if another process has saved one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<ToolCheckpoint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    Request,
    Tool,
    /// A tool call that a subagent answers.
    Subagent,
    Question(Point),
    /// The save of the journal itself.
    Save,
    /// A step that waits until your listeners have received everything before it.
    Handover,
}

impl EffectKind {
    pub fn awaits_person(self) -> bool {
        matches!(
            self,
            EffectKind::Question(Point::Permission | Point::Reconcile | Point::Elicitation)
        )
    }
}
