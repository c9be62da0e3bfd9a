//! Questions of a run: where one is asked, what is told with it, what may be answered.

use serde::{Deserialize, Serialize};

use crate::engine::model::answer::FinishReason;
use crate::engine::model::event::CompactTrigger;
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::input::{CheckedOutput, PermissionAnswer, PreparedCall};
use crate::engine::model::message::{Json, Message};
use crate::engine::model::outcome::{StoppedBy, ToolCallRecord};
use crate::engine::model::output::ToolInvocation;
use crate::engine::model::permission::PermissionMode;
use crate::engine::model::permission::Reading;
use crate::engine::model::usage::Usage;

/// A place in a run at which it asks. The hooks' points come first, then the guardrails', then those around iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Point {
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
    PostToolBatch,
    /// The run is the first of its session. Those of its root only.
    SessionStart,
    UserPromptSubmit,
    Stop,
    SubagentStart,
    SubagentStop,
    PreCompact,
    PostCompact,
    PermissionRequest,
    PermissionDenied,
    /// A person is waited for; nothing waits for what hooks say to that.
    Notification,
    InputGuardrail,
    OutputGuardrail,
    ToolGuardrail,
    /// The next request can be made otherwise.
    PrepareIteration,
    IterationEnd,
    /// A limit is hit and may be raised.
    Limit,
    /// Once per batch, for the calls whose tools want it: validate, name the resource.
    #[serde(rename = "prepare_calls")]
    PrepareCalls,
    /// How shall the model be told what went wrong in this round?
    #[serde(rename = "word_errors")]
    WordErrors,
    /// May this call run? A person may answer, or a function in their place.
    #[serde(rename = "permission")]
    Permission,
    /// The same, asked of a classifier.
    #[serde(rename = "classify")]
    Classify,
    /// What stands for the first part of the conversation?
    #[serde(rename = "summarize")]
    Summarize,
    /// Is this answer, which fits its schema, one? (Standard Schema, a function of yours)
    #[serde(rename = "check_output")]
    CheckOutput,
    /// Shall the run stop after this round of tools, by conditions of yours?
    #[serde(rename = "stop_condition")]
    StopCondition,
    /// The same, because the rounds repeat themselves.
    #[serde(rename = "stop_repeat")]
    StopRepeat,
}

impl Point {
    /// As the `question` event calls it: who decides about a call is nobody's business there.
    pub fn told(self) -> Point {
        match self {
            Point::Classify => Point::Permission,
            point => point,
        }
    }

    /// A hook, not a guardrail or what goes with iterations.
    pub fn is_hook(self) -> bool {
        (self as usize) < Point::InputGuardrail as usize
    }

    /// Any number of configured functions is asked at once.
    pub fn is_hooked(self) -> bool {
        self as usize <= Point::Limit as usize
    }

    /// Whether this is an answer to it.
    pub fn takes(self, answer: &Answer) -> bool {
        match answer {
            Answer::Failed { .. } => true,
            Answer::Read { answer, .. } => self.takes(answer),
            Answer::Hook(_) => self.is_hooked(),
            Answer::Prepared(_) => self == Point::PrepareCalls,
            Answer::Worded(_) => self == Point::WordErrors,
            Answer::Permission(_) => self == Point::Permission,
            Answer::Classified(_) => self == Point::Classify,
            Answer::Stop(_) => matches!(self, Point::StopCondition | Point::StopRepeat),
            Answer::Checked(_) => self == Point::CheckOutput,
            Answer::Summary(_) => self == Point::Summarize,
        }
    }
}

/// A question to one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    pub point: Point,
    /// Which function of [`crate::engine::model::config::Config::hooks`]; 0 at a point that has one function.
    pub asker: u32,
    /// Whose configuration the function stands in, where that is not the run's own: 0 for the run's own.
    pub profile: u32,
    pub agent_path: String,
    pub iteration: u32,
    /// Of a subagent: the name of its tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// [`Facts`] of the point.
    pub data: Json,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    Hook(Box<HookAnswer>),
    /// One entry per asked call, in order.
    Prepared(Vec<PreparedCall>),
    /// One text per asked error, in order.
    Worded(Vec<String>),
    Permission(PermissionAnswer),
    Classified(PermissionAnswer),
    /// Whether the run shall stop.
    Stop(bool),
    Checked(CheckedOutput),
    /// Of the conversation so far.
    Summary(String),
    /// An answer that brings inputs, and the platform's readings of texts in them.
    Read {
        readings: Vec<Reading>,
        answer: Box<Answer>,
    },
    /// There is none: what follows is the point's own failure rule.
    Failed {
        why: String,
    },
}

/// What is told with a question, by its point.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Facts<'a> {
    /// About one call: the points around a tool, and whether it may run.
    Call(Box<CallFacts<'a>>),
    Session {
        source: &'a str,
        model: &'a str,
    },
    Prompt {
        /// The call that a subagent answers.
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
        /// Which time it is.
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
        /// How often the calls have repeated.
        #[serde(skip_serializing_if = "Option::is_none")]
        times: Option<u32>,
        tool_calls: &'a [ToolCallRecord],
    },
    Calls {
        calls: Vec<ToolInvocation>,
        /// Texts that rules compare: the platform's readings of them are wanted.
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

/// A call as those hear of it who are asked about it.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFacts<'a> {
    pub tool_call_id: &'a str,
    pub tool_name: &'a str,
    /// As the tool gets it.
    pub input: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Why it is asked about, or was denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// Of a subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_path: Option<&'a str>,
    /// The rule that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_ask_rule: Option<RuleFacts>,
    /// The rule that would let such calls through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<[Suggestion; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifier_context: Option<&'a [String]>,
}

/// A rule in the words of an answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleFacts {
    pub tool_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_content: Option<String>,
}

/// A change of rules that would answer the question for good, in the words of an answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub behavior: &'static str,
    pub rules: [RuleFacts; 1],
    pub destination: &'static str,
}

/// A call that came to a fault.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FaultyCall<'a> {
    pub tool_call_id: &'a str,
    pub tool_name: &'a str,
    pub input: &'a Json,
    pub error: Json,
}
