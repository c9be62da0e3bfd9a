//! The events that a run emits. In JSON:
//! `{"type":"text-delta","seq":7,"agentPath":"root","iteration":1,"attempt":1,…}`.
//!
//! An [`Event`] is an [`EventKind`] with its position in the run. Agents emit events, the run numbers them without
//! gaps, and the shell passes them to JavaScript. [`EventKind::Finish`] is always the last one. A single delta
//! crosses as a [`Delta`], which borrows its text. The doc comments of the kinds are copied into
//! `src/typescript/core/generated`.

pub mod prefix;

use serde::{Deserialize, Serialize};

use crate::engine::model::answer::FinishReason;
use crate::engine::model::error::Failure;
use crate::engine::model::event::prefix::SharedPrefix;
use crate::engine::model::message::{Block, Json, Message};
use crate::engine::model::outcome::Outcome;
use crate::engine::model::question::Point;
use crate::engine::model::usage::Usage;

/// One event with its place in the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    #[serde(flatten)]
    pub kind: EventKind,
    /// The number of the event within its run, from 1 and without a gap.
    pub seq: u32,
    /// The index of the agent in the run's tree; 0 is the root.
    #[serde(skip)]
    pub agent: u32,
    /// `root`, or `root/…` for a subagent.
    pub agent_path: String,
    /// The number of the agent's model call, from 1. 0 before the first.
    pub iteration: u32,
    /// The number of the HTTP request within that iteration, from 1. 0 before the first.
    pub attempt: u32,
    /// The time of the event in a traced run, in milliseconds since the epoch. A delta has none: its listener knows
    /// the time, and a replay may join deltas differently but must report every other event identically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum EventKind {
    RunStart {
        model: String,
        tools: Vec<String>,
    },
    AgentStart {
        /// The model that the agent asks first.
        model: String,
        /// The vendor of that model.
        vendor: String,
    },
    IterationStart,
    /// Only after the `run-start` of a process that resumes a run. It has the part of the interrupted answer that the
    /// previous process received. The model is asked again. It does not get this text, except with `onCutOff:
    /// "continue"`: then the text is the first delta of the next answer.
    AnswerCutOff {
        text: String,
        reasoning: String,
    },
    /// Another agent continues the conversation.
    Handoff {
        /// The name of the tool that handed off.
        to: String,
    },
    /// The agent uses this model from its next request on.
    ModelChange {
        model: String,
        vendor: String,
        /// The failure because of which the previous model was given up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
    },
    /// A request is sent.
    AttemptStart {
        /// Present if `events.prefix` is set, from an agent's second request on. A request for a summary has none,
        /// and neither has a request that continues a partial answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prefix: Option<Box<SharedPrefix>>,
    },
    TextStart {
        block: u32,
        /// Whether the vendor marks the block as a refusal. Absent for ordinary text.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        refusal: bool,
    },
    /// New text of a block. Deltas of one block that arrive together are joined.
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
    /// The vendor's estimate of the tokens of a block of reasoning so far, if the vendor does not send the text
    /// (Claude with `thinking: { type: "adaptive", display: "omitted" }`). Use it for a progress indicator. `usage`
    /// has the real count.
    ReasoningProgress {
        block: u32,
        estimated_tokens: u64,
    },
    ReasoningEnd {
        block: u32,
    },
    ToolInputStart {
        block: u32,
        tool_call_id: String,
        tool_name: String,
    },
    /// New JSON text of a tool call's arguments.
    ToolInputDelta {
        block: u32,
        text: String,
    },
    ToolInputEnd {
        block: u32,
    },
    /// A complete call, before looplet has checked or run it.
    ToolCall {
        tool_call_id: String,
        tool_name: String,
        input: Json,
        /// The hash of the input, in a traced run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_hash: Option<String>,
        /// How the call reaches another agent, in a traced run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transfer: Option<Transfer>,
    },
    /// Progress that a tool reported with `progress()` or `yield`.
    ToolProgress {
        tool_call_id: String,
        tool_name: String,
        data: Json,
    },
    ToolResult {
        tool_call_id: String,
        tool_name: String,
        /// The input that the tool got instead of the model's, if your code changed it. Fields filled by `bindings`
        /// are left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input: Option<Json>,
        /// The hash of that input, in a traced run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input_hash: Option<String>,
        output: Json,
        duration_ms: u64,
    },
    ToolError {
        tool_call_id: String,
        tool_name: String,
        /// The input that the tool got instead of the model's, if your code changed it. Fields filled by `bindings`
        /// are left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input: Option<Json>,
        /// The hash of that input, in a traced run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input_hash: Option<String>,
        error: ToolFault,
        duration_ms: u64,
    },
    /// The run asks a question. You answer the kinds `permission` (may this call run?), `reconcile` and
    /// `elicitation`, with `Run.answer` or with functions in the options. looplet answers the other kinds itself.
    Question {
        question_id: u32,
        /// The point of the run at which the question is asked.
        #[cfg_attr(test, schemars(extend("x-type" = "Exclude<Point, \"classify\">")))]
        question: Point,
        /// The data that a user needs to answer. Absent if looplet answers.
        #[cfg_attr(test, schemars(extend("x-type" = "Facts[\"permission\" | \"reconcile\" | \"elicitation\"]")))]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Json>,
    },
    /// The question is closed. Emitted once for each question.
    Answered {
        question_id: u32,
        /// The tool's input according to the answer, if it replaces the model's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input: Option<Json>,
        /// True if no one has answered and an answer would have no effect, because the call or the run has ended.
        #[cfg_attr(test, schemars(extend("x-type" = "true")))]
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_withdrawn: bool,
    },
    /// The run cannot continue before one of these questions is answered. No request is open, and the only running
    /// tools are those that have asked. Emitted again when the set of questions changes. Your code can send a
    /// notification now. In a run with a store it can also end the process after `run.saved()`.
    Waiting {
        question_ids: Vec<u32>,
    },
    /// The store has not saved these entries of the journal, so a process that resumes the run would not have them.
    /// `durable.onSaveFailed` decides whether the run continues. Emitted for each failed write. The next write
    /// includes all of these entries.
    NotSaved {
        /// The number of entries that are missing in the store.
        entries: u32,
        /// The position of the first one in the journal, from 1.
        since: u64,
        /// The message of the store's error.
        message: String,
    },
    /// The model call failed and is retried after [`EventKind::Retry::delay_ms`].
    Retry {
        next_attempt: u32,
        max_attempts: u32,
        delay_ms: u64,
        error: Failure,
    },
    /// The text that this attempt delivered in [`EventKind::Reset::blocks`] is retracted. The next attempt starts
    /// from scratch.
    Reset {
        blocks: Vec<u32>,
    },
    /// The steers and follow-ups with these ids are now part of the transcript.
    SteerDelivered {
        ids: Vec<u32>,
        /// The content of the message that the model gets, from all of them together.
        content: Vec<Block>,
    },
    /// The history is about to be summarised.
    CompactStart {
        trigger: CompactTrigger,
        /// The estimated length of the history, in tokens.
        pre_tokens: u64,
    },
    /// The history has been shortened, so later requests have a different prefix. If the trigger is `pruning` and
    /// `by` is `vendor`, the history and the requests are unchanged, and the vendor has hidden old calls from the
    /// model.
    CompactBoundary {
        trigger: CompactTrigger,
        /// Who wrote the summary, or `vendor` if the vendor has hidden old calls. Absent if looplet has pruned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<SummaryBy>,
        pre_tokens: u64,
        post_tokens: u64,
        duration_ms: u64,
    },
    Usage {
        /// The usage of this model call so far.
        usage: Usage,
        /// The usage of the run so far, including this call.
        total: Usage,
    },
    /// `onLimit` or `run.addBudget` raised limits of this agent.
    Limits {
        limits: CurrentLimits,
    },
    /// A complete message of the transcript, if `events.messages` is set. The user's messages, including tool
    /// results, are emitted when they are sent, and the model's when the answer has ended or is given up. A prompt
    /// that is joined to an unanswered message is emitted separately.
    Message {
        message: Message,
        /// The vendor's id of a complete answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        response_id: Option<String>,
        /// The vendor's finish reason of a complete answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw_finish_reason: Option<String>,
    },
    /// A problem that does not stop the run.
    Warning {
        code: String,
        message: String,
        /// The failure of the model call that the warning is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
    },
    IterationFinish {
        finish_reason: Option<FinishReason>,
        raw_finish_reason: Option<String>,
        /// The usage of the iteration's requests. `null` if the vendor reported none.
        usage: Option<Usage>,
        /// The vendor's id of the answer.
        response_id: Option<String>,
        /// The model that answered, as reported by the vendor.
        response_model: Option<String>,
    },
    /// How this agent ended. The end of a subagent does not end the run.
    AgentFinish {
        outcome: Outcome,
    },
    Abort {
        reason: String,
    },
    Error {
        error: Failure,
    },
    /// The last event of every run.
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

/// The current limits of an agent. `null` means no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CurrentLimits {
    pub max_iterations: u32,
    pub max_total_tokens: Option<u64>,
    pub max_cost_nano_usd: Option<u64>,
    pub max_tool_rounds: Option<u32>,
    pub max_tool_calls: Option<u32>,
    /// The remaining part of `timeouts.totalMs`.
    pub time_left_ms: Option<u64>,
}

/// Why the history is shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CompactTrigger {
    /// The context window is nearly full.
    Auto,
    /// Your code requested it.
    Manual,
    /// The vendor reported that the context window is full.
    Overflow,
    /// Old answers were shortened by `context.pruning`, or by `context_management` in the `body` of the model.
    Pruning,
    /// The history exceeds `context.maxChars`.
    Budget,
}

/// The author of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryBy {
    /// The vendor. It signs or encrypts the summary, so the model's later reasoning remains valid.
    Vendor,
    /// The model, in its answer to a prompt of looplet.
    Model,
    /// Your function.
    Host,
    /// looplet, from the first characters of each message.
    BuiltIn,
}

/// How a call reaches another agent, in the terms of OpenTelemetry's conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Transfer {
    /// A subagent works for the caller, which continues with the result.
    ReturnToCaller,
    /// The agent continues the conversation.
    PassControl,
}

/// The most frequent events. The discriminant is the kind of their record on the way into JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaKind {
    Text = 0,
    Reasoning = 1,
    ToolInput = 2,
}

/// A delta without an [`Event`]. It borrows its text from the answer.
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

/// The error of a tool call, as it is sent to the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolFault {
    /// A short, stable code: `tool_failed`, `invalid_json`, `invalid_input`, `cut_off`, `unknown_tool`, `denied`,
    /// `timeout`, `call_limit`, `unusable_result`, `cancelled`, `not_run`, `save_failed`, `early_answer`,
    /// `subagent_failed`, `depth_limit`, or a code of the tool.
    pub code: String,
    /// The problem as text, without a stack trace.
    pub message: String,
    /// What the model should do instead.
    pub hint: String,
    /// `false` ends the run.
    pub recoverable: bool,
}
