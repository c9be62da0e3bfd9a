//! Everything that can happen to a run: commands from your code, and answers from outside.
//!
//! The shell and the tests pass each [`Input`] to `Run::handle_input`, together with its time. An answer names its
//! effect. An answer for a closed effect is dropped. Chunks borrow their bytes, the head of a platform's `Response`
//! is read in place, and the driver creates `HandedOver`. Every other input is JSON from JavaScript. JSON that does
//! not match these types is rejected with its path and changes nothing.

use serde::{Deserialize, Serialize};

use crate::engine::model::config::ModelConfig;
use crate::engine::model::config::permission::Rule;
use crate::engine::model::config::permission::{PermissionMode, RuleKind};
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event::ToolFault;
use crate::engine::model::hook::Raise;
use crate::engine::model::message::{Block, Json};
use crate::engine::model::output::EffectId;
use crate::engine::model::question::Answer;

/// The time of an input, and the random value for its ids and jitter. The engine has neither a clock nor a random
/// source: the shell reads both in JavaScript, and tests provide their own. So every run is repeatable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// Milliseconds since the Unix epoch. The value may be equal to or less than the previous one, which means that
    /// no time has passed. A value of 2^53 or more means that the time is unknown.
    pub now_ms: u64,
    /// The seed of everything random that this input causes.
    pub random: u64,
}

impl Moment {
    /// True for a time that JavaScript could have counted.
    pub fn has_time(&self) -> bool {
        self.now_ms < 1 << 53
    }
}

/// One input. Its bytes are borrowed, so that a chunk is copied into the engine once.
///
/// In JSON: `{"steer":{"id":1,"content":[…]}}`, `"due"`.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Input<'a> {
    /// Starts the run. A run that is restored from a checkpoint resumes as for `PickUp` if it started with this
    /// prompt. Otherwise it fails.
    Prompt {
        content: Vec<Block>,
    },
    /// Resumes a run that is restored from a checkpoint, including one that was stopped.
    Resume,
    /// Resumes a run that is restored from a checkpoint. A run that has ended ends again with the same outcome.
    PickUp,
    /// Resumes a run after its WebAssembly instance was lost, in the process that started it.
    Recover {
        /// The calls whose functions are still running, or whose results were not delivered.
        running: Vec<EffectId>,
        /// The number of the next event, which no listener has received.
        next_event: u32,
        /// The number of blocks of the root's open answer that your listeners have received.
        shown_blocks: u32,
    },
    /// Gives the model a message before its next call. The TypeScript chooses the id, any number.
    Steer {
        id: u32,
        content: Vec<Block>,
    },
    /// Gives the model a message when it has finished.
    FollowUp {
        id: u32,
        content: Vec<Block>,
    },
    /// Takes back a steer or follow-up that has not been delivered.
    Withdraw {
        id: u32,
    },
    /// An input that your code may deliver twice. A second one with this text changes nothing, in another process
    /// neither.
    Once {
        request: String,
        input: Box<Input<'a>>,
    },
    /// The head of a response. Header names may have any case. A redirect has a status from 300 to 399, or 302 if the
    /// platform hides it. It has the origin of its target as `location` if that is readable.
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
    /// The request failed, or the reading of its body. `why` contains no secret.
    NetworkFailed {
        request: EffectId,
        why: String,
    },
    /// No server was asked, by the fault of your code: `authorize` threw (`config_invalid`), or code that answers in
    /// place of a server did (`custom_model`). It is not retried.
    NotSent {
        request: EffectId,
        code: FailureCode,
        why: String,
    },
    /// The failure of [`Output::Redact`](crate::engine::model::output::Output::Redact), without secrets.
    RequestFailed {
        request: EffectId,
        failure: Failure,
    },
    ToolFinished {
        call: EffectId,
        result: ToolReturn,
    },
    ToolProgress {
        call: EffectId,
        data: Json,
    },
    /// A running call asks the user, with the number of its question, from 1. A call that runs again asks with the
    /// same numbers, and gets the answers from the journal.
    ToolAsks {
        call: EffectId,
        number: u32,
        request: Json,
    },
    /// A running call has a new state from which it can resume, or can no longer resume from the last one.
    ToolCheckpoint {
        call: EffectId,
        state: Option<Json>,
        /// The number of questions that the call has asked before. Their answers are forgotten.
        asked: u32,
    },
    Answered {
        question: EffectId,
        answer: Answer,
    },
    Saved {
        save: EffectId,
        ok: bool,
    },
    /// The store has not saved this number of entries, starting with number `since`. `why` is its error.
    NotSaved {
        entries: u32,
        since: u64,
        why: String,
    },
    /// Your listeners have received everything before the handover.
    HandedOver {
        handover: EffectId,
    },
    /// Sets the mode for calls that no rule speaks of, from the next call on.
    SetMode {
        mode: PermissionMode,
    },
    /// The root asks this model from its next request on.
    SetModel {
        model: Box<ModelConfig>,
    },
    /// Summarises the root's history before its next request. `instructions` is guidance for the summary. With
    /// `only`, the run then ends. Its prompt follows this input and is empty.
    Compact {
        instructions: Option<String>,
        #[serde(default)]
        only: bool,
    },
    /// Raises limits of an agent that is at work.
    AddBudget {
        agent_path: String,
        more: Raise,
    },
    /// The timer fired, or time has passed anyway.
    Due,
    Cancel {
        why: String,
    },
    /// Sets the minimum number of the next event. It precedes `Resume`, because listeners have received events of
    /// another process that are not in the journal.
    NumberFrom {
        event: u32,
    },
    /// Ends the work of this process. The journal records no end, so another process can resume the run.
    Suspend {
        why: String,
    },
    /// Ends the work of this process as `Suspend` does, because your code can do nothing more for the run.
    GiveUp {
        failure: Failure,
    },
}

/// The return value of a tool's function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ToolReturn {
    /// Any JSON value. The model sees a string as it is and any other value as its JSON text.
    Value(Json),
    /// Blocks for the model (text, media).
    Content(Vec<Block>),
    Fault(ToolFault),
    /// A result after which the run ends, if the round's other calls have such results too. It is never nested.
    Last(Box<ToolReturn>),
}

impl ToolReturn {
    /// The result as the JSON value that your code and the journal get.
    pub fn output(&self) -> Json {
        match self {
            ToolReturn::Value(value) => value.clone(),
            ToolReturn::Content(content) => Json::of(content),
            ToolReturn::Fault(fault) => fault.to_json(),
            ToolReturn::Last(result) => result.output(),
        }
    }
}

/// The state from which a tool call resumes in another process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolCheckpoint {
    pub state: Json,
    /// The number of questions that the call has asked before.
    pub asked: u32,
}

/// A user's answer to a tool, in MCP's terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ElicitationAnswer {
    pub action: ElicitationAction,
    /// The values that the user has filled in, for `accept`.
    #[cfg_attr(test, schemars(extend("x-type" = "{ readonly [field: string]: unknown }")))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Json>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ElicitationAction {
    Accept,
    /// The user has declined.
    Decline,
    /// The user has not answered.
    Cancel,
}

/// Your code's preparation of one call before it runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PreparedCall {
    /// The validated input for the tool. The history keeps the model's own text.
    pub input: Option<Json>,
    /// The key of the resource. Calls with equal keys never overlap.
    pub resource_key: Option<String>,
    /// The message for the model when the input is invalid.
    pub problem: Option<String>,
    /// This call has to be approved before it runs.
    pub needs_approval: bool,
    /// The call touches another place than its input names, as through a link.
    pub leads_elsewhere: bool,
}

/// Your code's judgement of a structured answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CheckedOutput {
    /// The message for the model when the answer is not accepted.
    pub problem: Option<String>,
    /// The value that the run's result shows instead of the model's own.
    pub output: Option<Json>,
}

/// The answer to a question whether a call may run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    test,
    derive(schemars::JsonSchema),
    schemars(rename = "PermissionResult", extend("x-options" = "none", "x-tag" = "behavior"))
)]
#[serde(rename_all = "camelCase", default)]
pub struct PermissionAnswer {
    pub behavior: Behavior,
    /// The tool's new input. The history has the model's input, and the model reads the new one next to the result.
    #[cfg_attr(test, schemars(extend("x-of" = ["allow"], "x-kind" = "object", "x-type" = "object")))]
    pub updated_input: Option<Json>,
    /// The reason, which the model reads.
    #[cfg_attr(test, schemars(extend("x-of" = ["deny"], "x-kind" = "string")))]
    pub message: Option<String>,
    /// Whether the denial ends the run as `cancelled`, with the message as its reason.
    #[cfg_attr(test, schemars(extend("x-of" = ["deny"])))]
    pub interrupt: bool,
    /// Changes of the rules or the mode for the rest of the run. Default: none.
    pub updated_permissions: Vec<PermissionUpdate>,
}

/// The answer to what happened to a call that had started in another process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Reconciled {
    /// The call was done, and this is its result.
    Done { output: Json },
    /// The call was not done, and runs now.
    Run,
    /// The call failed. The model reads the message.
    Fail { message: String },
}

/// The decision in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Behavior {
    Allow,
    #[default]
    Deny,
}

/// A change of the rules or the mode, for the rest of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("x-options" = "none", "x-tag" = "type")))]
#[serde(rename_all = "camelCase", default)]
pub struct PermissionUpdate {
    pub r#type: UpdateType,
    /// The list of the `rules`.
    #[cfg_attr(test, schemars(extend("x-of" = ["addRules!", "replaceRules!", "removeRules!"])))]
    pub behavior: Option<RuleKind>,
    /// Texts of rules, or their parts.
    #[cfg_attr(
        test,
        schemars(extend(
            "x-of" = ["addRules!", "replaceRules!", "removeRules!"],
            "x-type" = "readonly (string | PermissionRuleParts)[]"
        ))
    )]
    pub rules: Vec<Rule>,
    #[cfg_attr(test, schemars(extend("x-of" = ["setMode!"])))]
    pub mode: Option<PermissionMode>,
    /// Where to store the change. looplet does not store it, so any value except `"session"` causes a `warning` event
    /// (`permission_update`).
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

/// The target of a [`PermissionUpdate`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum UpdateType {
    #[default]
    AddRules,
    ReplaceRules,
    RemoveRules,
    SetMode,
    /// Changes nothing: a run has no folders.
    AddDirectories,
    /// Changes nothing either.
    RemoveDirectories,
}
