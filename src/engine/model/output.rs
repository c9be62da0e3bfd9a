//! Everything that a run asks the outside world to do.

use serde::{Deserialize, Serialize};

use crate::engine::model::event::Event;
use crate::engine::model::message::Json;
use crate::engine::model::outcome::Outcome;
use crate::engine::model::question::{Point, Question};

/// Names one effect of a run: unique, increasing.
pub type EffectId = u32;

/// One output, to be performed in order. Before performing an effect ask `run.is_live(effect)`.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send an HTTP request; its body is `run.request_body(request)`.
    Send {
        request: EffectId,
        http: HttpRequest,
    },
    /// Stop a request; nothing that comes of it matters any more.
    Abort {
        request: EffectId,
    },
    CallTool(ToolInvocation),
    /// Tell a running tool to stop; the run does not wait for it.
    AbortTool {
        call: EffectId,
        why: String,
    },
    Ask {
        question: EffectId,
        ask: Question,
    },
    /// Tell whoever was asked that the answer comes too late, or matters no more.
    Withdraw {
        question: EffectId,
        why: String,
    },
    /// Write the journal's entries. `awaited`: something waits for the answer.
    Save {
        save: EffectId,
        entries: Vec<JournalEntry>,
        awaited: bool,
    },
    /// Tell the host everything before this, then answer with [`crate::engine::model::input::Input::HandedOver`].
    HandOver {
        handover: EffectId,
    },
    Emit(Event),
    Done(Outcome),
}

/// A request without its body and without secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// Where the key goes.
    pub auth: AuthSlot,
    /// Which of the host's models is asked: [`crate::engine::model::config::ModelConfig::slot`].
    pub model: u32,
}

/// The header that carries the key; `authorize` may do anything else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthSlot {
    /// Lower case; empty when the vendor wants none.
    pub header: String,
    /// What stands before the key, for example `Bearer `.
    pub prefix: String,
}

/// A call of a host's tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolInvocation {
    pub call: EffectId,
    pub tool_call_id: String,
    pub tool_name: String,
    /// JSON text of the arguments: the validated input if the host gave one, else what the model wrote.
    pub input: Json,
    pub iteration: u32,
    /// Who calls: the place of the agent in the run's tree.
    pub agent: u32,
    /// Whose tool: the place of the agent's configuration, 0 for the run's own.
    pub profile: u32,
}

/// What happened to an effect, for the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalEntry {
    pub effect: EffectId,
    pub agent: u32,
    pub kind: EffectKind,
    pub opened: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    Request,
    Tool,
    /// A tool call that a subagent answers.
    Subagent,
    Question(Point),
    /// Of the journal itself.
    Save,
    /// A step that waits until everything before it has been heard.
    Handover,
}

impl EffectKind {
    /// Whether the journal hears of it.
    pub fn is_journaled(self) -> bool {
        !matches!(self, EffectKind::Save | EffectKind::Handover)
    }

    pub fn awaits_person(self) -> bool {
        self == EffectKind::Question(Point::Permission)
    }
}
