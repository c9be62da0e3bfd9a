//! What a run tells about itself. In JSON: `{"type":"text-delta","seq":7,"agentPath":"root","iteration":1,"attempt":1,…}`.

use serde::{Deserialize, Serialize};

use crate::engine::model::answer::FinishReason;
use crate::engine::model::error::Failure;
use crate::engine::model::message::Json;
use crate::engine::model::outcome::Outcome;
use crate::engine::model::usage::Usage;

/// One event with its place in the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    #[serde(flatten)]
    pub kind: EventKind,
    /// Gapless from 1 within a run.
    pub seq: u32,
    /// Index of the agent in the run's tree; 0 is the root.
    #[serde(skip)]
    pub agent: u32,
    /// `root`, or `root/…` for a subagent.
    pub agent_path: String,
    /// Model call of the agent that this belongs to, from 1; 0 before the first.
    pub iteration: u32,
    /// HTTP request of that iteration, from 1; 0 before the first.
    pub attempt: u32,
    /// The input's moment, in a traced run. A delta never has one: whoever hears it knows when, and a replay that joins
    /// deltas otherwise tells the rest alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum EventKind {
    RunStart {
        model: String,
        tools: Vec<String>,
    },
    AgentStart {
        /// What it asks at first.
        model: String,
        /// Whose model that is.
        vendor: String,
    },
    IterationStart,
    /// Another agent goes on with the conversation.
    Handoff {
        /// The tool's name.
        to: String,
    },
    /// The agent asks this model from its next request on.
    ModelChange {
        model: String,
        vendor: String,
        /// Why the model before it was given up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
    },
    AttemptStart,
    TextStart {
        block: u32,
    },
    /// New text of a block. Deltas of one block that arrived together come as one.
    TextDelta {
        block: u32,
        text: String,
    },
    TextEnd {
        block: u32,
    },
    ReasoningStart {
        block: u32,
    },
    ReasoningDelta {
        block: u32,
        text: String,
    },
    ReasoningEnd {
        block: u32,
    },
    ToolInputStart {
        block: u32,
        tool_call_id: String,
        tool_name: String,
    },
    /// More of the JSON text of the arguments.
    ToolInputDelta {
        block: u32,
        text: String,
    },
    ToolInputEnd {
        block: u32,
    },
    /// A complete call, before anything is done with it.
    ToolCall {
        tool_call_id: String,
        tool_name: String,
        input: Json,
        /// In a traced run: see `trace::input_hash`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_hash: Option<String>,
    },
    /// Progress that a tool reported, by `progress()` or `yield`.
    ToolProgress {
        tool_call_id: String,
        tool_name: String,
        data: Json,
    },
    ToolResult {
        tool_call_id: String,
        tool_name: String,
        output: Json,
        duration_ms: u64,
    },
    ToolError {
        tool_call_id: String,
        tool_name: String,
        error: ToolFault,
        duration_ms: u64,
    },
    Question {
        question_id: u32,
        /// The point of the run that it is asked at.
        question: String,
        /// What a person needs to answer it; absent where looplet answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Json>,
    },
    Answered {
        question_id: u32,
    },
    /// The model call failed and is tried again after `delayMs`.
    Retry {
        next_attempt: u32,
        max_attempts: u32,
        delay_ms: u64,
        error: Failure,
    },
    /// What `blocks` delivered in this attempt is void; the next attempt starts over.
    Reset {
        blocks: Vec<u32>,
    },
    /// The steers and follow-ups with these ids have become part of the transcript.
    SteerDelivered {
        ids: Vec<u32>,
    },
    /// The history is about to be summarised.
    CompactStart {
        trigger: CompactTrigger,
        /// Estimated.
        pre_tokens: u64,
    },
    /// The history has been made shorter: from here on requests begin otherwise.
    CompactBoundary {
        trigger: CompactTrigger,
        pre_tokens: u64,
        post_tokens: u64,
        duration_ms: u64,
    },
    Usage {
        /// Of this model call, so far.
        usage: Usage,
        /// Of the run, this call included.
        total: Usage,
    },
    /// Limits of this agent were raised, by `onLimit` or `run.addBudget`: the limits that count from now on.
    Limits {
        /// `{ maxIterations, maxTotalTokens, maxCostNanoUsd, maxToolRounds, maxToolCalls, timeLeftMs }`
        limits: Json,
    },
    /// Something is odd, and the run goes on.
    Warning {
        code: String,
        message: String,
        /// The failed model call that this is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
    },
    IterationFinish {
        finish_reason: Option<FinishReason>,
        raw_finish_reason: Option<String>,
        usage: Usage,
        /// The vendor's id of the answer.
        response_id: Option<String>,
        /// The model that the vendor says has answered.
        response_model: Option<String>,
    },
    /// How this agent ended; the end of a subagent ends no run.
    AgentFinish {
        outcome: Outcome,
    },
    Abort {
        reason: String,
    },
    Error {
        error: Failure,
    },
    /// Always the last event.
    Finish {
        outcome: Outcome,
    },
}

impl EventKind {
    pub fn warning(code: &str, message: String) -> EventKind {
        EventKind::Warning {
            code: code.into(),
            message,
            error: None,
        }
    }

    pub fn is_delta(&self) -> bool {
        matches!(
            self,
            EventKind::TextDelta { .. } | EventKind::ReasoningDelta { .. } | EventKind::ToolInputDelta { .. }
        )
    }
}

/// Why the history is made shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CompactTrigger {
    /// The window is nearly full.
    Auto,
    /// You asked for it.
    Manual,
    /// The vendor says that the window is full.
    Overflow,
    /// Old answers were cut short: `historyCompaction`.
    History,
    /// The budget of characters: `contextBudget`.
    Budget,
}

/// The events that come by the thousand; the number is their kind where they cross into JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaKind {
    Text = 0,
    Reasoning = 1,
    ToolInput = 2,
}

/// A delta for which no [`Event`] has been built, with its text lent by the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delta<'a> {
    pub seq: u32,
    pub agent: u32,
    pub iteration: u32,
    pub attempt: u32,
    pub block: u32,
    pub kind: DeltaKind,
    pub text: &'a str,
}

/// The error of a tool call, as the model is told it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolFault {
    /// Short, stable, machine-readable: `invalid_json`, `invalid_input`, `unknown_tool`, `tool_failed`, `timeout`,
    /// `cut_off`, `cancelled`, `not_run`, or the tool's own.
    pub code: String,
    /// What happened, without a stack trace.
    pub message: String,
    /// What to do instead.
    pub hint: String,
    /// `false` ends the run.
    pub recoverable: bool,
}
