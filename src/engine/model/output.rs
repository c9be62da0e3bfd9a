//! Everything that a run asks the outside world to do.

use serde::{Deserialize, Serialize};

use crate::engine::model::event::Event;
use crate::engine::model::message::Json;
use crate::engine::model::outcome::Outcome;
use crate::engine::policy::hook::HookEvent;

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
    /// Tell a running tool, or a hook that has not answered in time, to stop; the run does not wait for it.
    AbortTool {
        call: EffectId,
        why: String,
    },
    Ask {
        question: EffectId,
        ask: Question,
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

/// A question to the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Question {
    /// Once per batch, for the calls whose tools want it: validate, name the resource.
    /// Of `texts`, which permission rules compare, the platform's readings are wanted.
    PrepareCalls {
        calls: Vec<ToolInvocation>,
        texts: Vec<String>,
    },
    /// How shall the model be told what went wrong in this round?
    WordErrors {
        /// `[{ toolCallId, toolName, input, error: { error, code, message, hint, recoverable } }]`
        errors: Json,
    },
    /// May this call run?
    Permission {
        /// `{ toolCallId, toolName, input, reason }`, as the event says it too.
        call: Json,
        /// Ask the host's classifier, not a person.
        classify: bool,
    },
    /// What stands for the first part of the conversation?
    Summarize {
        /// `{ trigger, instructions?, messages }`
        compact: Json,
    },
    /// Is this answer, which fits its schema, one? (Standard Schema, a function of the host's)
    CheckOutput { output: Json },
    /// What does this hook or guardrail say?
    Hook {
        /// Its place in the configuration.
        hook: u32,
        event: HookEvent,
        /// `{ event, agentPath, iteration, … }`
        input: Json,
    },
    /// Shall the run stop after this round of tools?
    Stop {
        about: StopAbout,
        /// `{ iteration, times?, toolCalls: [{ toolCallId, toolName, input, output, isError }] }`
        round: Json,
    },
}

/// Why the host is asked whether to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopAbout {
    /// Its own conditions.
    Condition,
    /// The rounds repeat themselves.
    Repeat,
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
    Question,
}
