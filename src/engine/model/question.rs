//! The questions of a run: the points at which it asks, the facts that it tells, and the answers that it accepts.
//!
//! An agent asks through its gate, which sends one [`Question`] per function, and the shell hands it to your code. The
//! [`Answer`] comes back as an input. `agent/asks/points.rs` has a row for each point: it says which answer is
//! accepted, and decides if your code cannot answer. Some answers carry changed inputs, and with them the platform's
//! readings of the changed texts ([`Answer::Read`]).

use serde::{Deserialize, Serialize};

use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::permission::PermissionMode;
use crate::engine::model::config::permission::Reading;
use crate::engine::model::event::CompactTrigger;
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::input::{CheckedOutput, PermissionAnswer, PreparedCall};
use crate::engine::model::message::{Json, Message};
use crate::engine::model::outcome::{StoppedBy, ToolCallRecord};
use crate::engine::model::output::ToolInvocation;
use crate::engine::model::usage::Usage;

/// A point of a run at which it asks your code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Point {
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
    PostToolBatch,
    /// The run is the first of its session. Only hooks of the root are asked.
    SessionStart,
    UserPromptSubmit,
    Stop,
    SubagentStart,
    SubagentStop,
    PreCompact,
    PostCompact,
    PermissionRequest,
    PermissionDenied,
    /// Something waits for your code. Nothing waits for the hook's answer.
    Notification,
    InputGuardrail,
    OutputGuardrail,
    ToolGuardrail,
    /// The next request can be changed before it is sent.
    PrepareIteration,
    IterationEnd,
    /// A limit is reached and may be raised.
    Limit,
    /// Asks once per batch to validate the inputs and to name the resources of the calls whose tools want it.
    #[serde(rename = "prepare_calls")]
    PrepareCalls,
    /// How should the model be told about the errors of this round?
    #[serde(rename = "word_errors")]
    WordErrors,
    /// May this call run? A person may answer, or a function in their place.
    #[serde(rename = "permission")]
    Permission,
    /// May this call run? Your classifier answers.
    #[serde(rename = "classify")]
    Classify,
    /// Which text stands for the first part of the conversation?
    #[serde(rename = "summarize")]
    Summarize,
    /// Is this answer, which fits its schema, acceptable to your Standard Schema or your function?
    #[serde(rename = "check_output")]
    CheckOutput,
    /// Should the run stop after this round of tools, by your conditions?
    #[serde(rename = "stop_condition")]
    StopCondition,
    /// Should the run stop because its rounds repeat themselves?
    #[serde(rename = "stop_repeat")]
    StopRepeat,
}

/// A question to one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Question {
    pub point: Point,
    /// The index of the function in [`crate::engine::model::config::Config::hooks`]; 0 at a point with one function.
    pub asker: u32,
    /// The index of the configuration that has the function, 0 for the run's own.
    pub profile: u32,
    pub agent_path: String,
    pub iteration: u32,
    /// The name of a subagent's tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The [`Facts`] of the point.
    pub data: Json,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    Hook(Box<HookAnswer>),
    /// One entry per call in the question, in order.
    Prepared(Vec<PreparedCall>),
    /// One text per error in the question, in order.
    Worded(Vec<String>),
    Permission(PermissionAnswer),
    Classified(PermissionAnswer),
    /// True when the run should stop.
    Stop(bool),
    Checked(CheckedOutput),
    /// The summary of the conversation so far.
    Summary(String),
    /// An answer that changes inputs, together with the platform's readings of texts in them.
    Read {
        readings: Vec<Reading>,
        answer: Box<Answer>,
    },
    /// Your code could not answer. The point's own failure rule decides.
    Failed {
        why: String,
    },
}

/// The facts that a question tells, by its point.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Facts<'a> {
    /// The facts of one call, at the points around a tool and for permissions.
    Call(Box<CallFacts<'a>>),
    Session {
        source: &'a str,
        model: &'a str,
    },
    Prompt {
        /// The provider's id of the call that a subagent answers.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<&'a str>,
        prompt: String,
        source: &'a str,
    },
    Stop {
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<&'a str>,
        stop_hook_active: bool,
        last_assistant_message: &'a str,
    },
    Compact {
        trigger: CompactTrigger,
        pre_tokens: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        instructions: Option<&'a str>,
    },
    Compacted {
        trigger: CompactTrigger,
        summary: &'a str,
    },
    Summarize {
        trigger: CompactTrigger,
        #[serde(skip_serializing_if = "Option::is_none")]
        instructions: Option<&'a str>,
        messages: &'a [Message],
    },
    Notification {
        notification_type: &'a str,
        message: String,
        question_id: u32,
        tool_name: &'a str,
    },
    Iteration {
        model: &'a str,
        messages: &'a [Message],
    },
    Input {
        messages: &'a [Message],
    },
    Output {
        message: &'a Message,
    },
    IterationEnd {
        text: &'a str,
        finish_reason: Option<FinishReason>,
        usage: &'a Usage,
        tool_calls: &'a [ToolCallRecord],
    },
    Limit {
        limit: StoppedBy,
        /// The option of the timeout that was reached, for the limit `time`.
        #[serde(skip_serializing_if = "Option::is_none")]
        timeout: Option<&'a str>,
        usage: &'a Usage,
        tool_rounds: u32,
        tool_calls: usize,
    },
    Batch {
        tool_calls: &'a [ToolCallRecord],
    },
    Round {
        iteration: u32,
        /// The number of times that the calls have repeated.
        #[serde(skip_serializing_if = "Option::is_none")]
        times: Option<u32>,
        tool_calls: &'a [ToolCallRecord],
    },
    Calls {
        calls: Vec<ToolInvocation>,
        /// Texts that rules compare. The answer brings the platform's readings of them.
        texts: Vec<String>,
    },
    Errors {
        errors: Vec<FaultyCall<'a>>,
    },
    Checked {
        output: &'a Json,
    },
}

impl<'a> Facts<'a> {
    pub fn call(facts: CallFacts<'a>) -> Facts<'a> {
        Facts::Call(Box::new(facts))
    }

    pub fn to_json(&self) -> Json {
        Json::of(self)
    }
}

/// A call as your code is told about it.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFacts<'a> {
    pub tool_call_id: &'a str,
    pub tool_name: &'a str,
    /// The input that the tool gets.
    pub input: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The reason why your code is asked about the call, or why it was denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// The path of a subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_path: Option<&'a str>,
    /// The rule that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_ask_rule: Option<RuleFacts>,
    /// A rule that would allow such calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<[Suggestion; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifier_context: Option<&'a [String]>,
}

/// A rule in the form in which an answer names it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleFacts {
    pub tool_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_content: Option<String>,
}

/// A change of rules that would settle the question for good, in the form in which an answer names it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub behavior: &'static str,
    pub rules: [RuleFacts; 1],
    pub destination: &'static str,
}

/// A failed call.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FaultyCall<'a> {
    pub tool_call_id: &'a str,
    pub tool_name: &'a str,
    pub input: &'a Json,
    pub error: Json,
}
