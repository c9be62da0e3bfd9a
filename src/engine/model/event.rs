//! The events that a run emits. In JSON:
//! `{"type":"text-delta","seq":7,"agentPath":"root","iteration":1,"attempt":1,…}`.
//!
//! An [`Event`] is an [`EventKind`] with its place in the run. Agents emit events, the run numbers them without a
//! gap, and the shell carries them into JavaScript. [`EventKind::Finish`] is always the last one. A lone delta
//! crosses as a [`Delta`], which owns no text. The doc comments of the kinds are printed into
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
    /// The agent's model call to which the event belongs, from 1; 0 before the first.
    pub iteration: u32,
    /// The HTTP request of that iteration to which the event belongs, from 1; 0 before the first.
    pub attempt: u32,
    /// The time of the event in a traced run, in milliseconds since the epoch. A delta has none: its listener knows
    /// the time, and a replay that joins deltas differently reports every other event alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
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
    /// Only behind the `run-start` of a process that goes on with a run: another process has received so much of an
    /// answer that its end cut off. The model is asked again. It does not get these texts, except with `onCutOff:
    /// "continue"`: then the text is the first delta of the next answer.
    AnswerCutOff {
        text: String,
        reasoning: String,
    },
    /// Another agent goes on with the conversation.
    Handoff {
        /// The name of the tool that handed over.
        to: String,
    },
    /// The agent asks this model from its next request on.
    ModelChange {
        model: String,
        vendor: String,
        /// The failure for which the model before it was given up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
    },
    /// A request is sent.
    AttemptStart {
        /// Present if `events.prefix` is set, from the second request of an agent on. The request for a summary has
        /// none, and neither has one that lets the model continue a partial answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prefix: Option<Box<SharedPrefix>>,
    },
    TextStart {
        block: u32,
        /// Whether the block is a refusal that the vendor marks as such. Absent for an ordinary text.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        refusal: bool,
    },
    /// New text of a block. Deltas of one block that arrive together come as one.
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
    /// The vendor's estimate of the tokens of a block of reasoning so far, where it does not send the text: Claude
    /// with `thinking: { type: "adaptive", display: "omitted" }`. It is for a progress indicator; `usage` counts.
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
    /// A complete call, before anything is done with it.
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
        /// The input that the tool got in place of the model's, if your code changed it. Fields that `bindings` fill
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
        /// The input that the tool got in place of the model's, if your code changed it. Fields that `bindings` fill
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
        /// The data that a person needs to answer; absent where looplet answers.
        #[cfg_attr(test, schemars(extend("x-type" = "Facts[\"permission\" | \"reconcile\" | \"elicitation\"]")))]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Json>,
    },
    /// The question is closed. It comes once for each question.
    Answered {
        question_id: u32,
        /// The input that the answer gives the tool in place of the model's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input: Option<Json>,
        /// True if nobody has answered, and nobody waits for the answer any more: the call has ended, or the run.
        #[cfg_attr(test, schemars(extend("x-type" = "true")))]
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_withdrawn: bool,
    },
    /// Nothing goes on before somebody answers one of these questions: no request and no tool is under way, but tools
    /// that have asked themselves. It comes again when the questions are others. Your code may send a notice at this
    /// moment or, in a run with a store, end the process after `run.saved()`.
    Waiting {
        question_ids: Vec<u32>,
    },
    /// The store has not taken these entries of the journal, so a process that went on with the run would not know
    /// what they say. `durable.onSaveFailed` decides whether the run goes on. The event comes for each write that
    /// fails; the next write takes all entries along.
    NotSaved {
        /// The number of entries that the store does not have.
        entries: u32,
        /// The number of the first of them in the journal, from 1.
        since: u64,
        /// The words of the store's error.
        message: String,
    },
    /// The model call failed and is tried again after [`EventKind::Retry::delay_ms`].
    Retry {
        next_attempt: u32,
        max_attempts: u32,
        delay_ms: u64,
        error: Failure,
    },
    /// The text of [`EventKind::Reset::blocks`] that this attempt delivered is void. The next attempt starts over.
    Reset {
        blocks: Vec<u32>,
    },
    /// The steers and follow-ups with these ids have become part of the transcript.
    SteerDelivered {
        ids: Vec<u32>,
        /// The content of the message that the model gets: that of all of them.
        content: Vec<Block>,
    },
    /// The history is about to be summarised.
    CompactStart {
        trigger: CompactTrigger,
        /// The estimated length of the history, in tokens.
        pre_tokens: u64,
    },
    /// The history has been made shorter: later requests have a different beginning. If the trigger is `pruning` and
    /// `by` is `vendor`, requests and history are what they were, and the vendor has hidden old calls from the model.
    CompactBoundary {
        trigger: CompactTrigger,
        /// Who has written the summary, or the vendor if it has hidden old calls; absent if looplet has pruned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<SummaryBy>,
        pre_tokens: u64,
        post_tokens: u64,
        duration_ms: u64,
    },
    Usage {
        /// The usage of this model call so far.
        usage: Usage,
        /// The usage of the run so far, this call included.
        total: Usage,
    },
    /// `onLimit` or `run.addBudget` raised limits of this agent.
    Limits {
        limits: CurrentLimits,
    },
    /// A whole message of the transcript, if `events.messages` is set. The user's messages come when they are sent,
    /// with the results of tools in them, the model's when its answer is over or given up. A prompt that joins a
    /// message without an answer comes by itself.
    Message {
        message: Message,
        /// The vendor's id of an answer that is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        response_id: Option<String>,
        /// The vendor's word for the end of an answer that is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw_finish_reason: Option<String>,
    },
    /// Something is odd, and the run goes on.
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
        /// The usage of the iteration's requests; `null` if the vendor reported none.
        usage: Option<Usage>,
        /// The vendor's id of the answer.
        response_id: Option<String>,
        /// The model that answered, by the vendor's account.
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

/// The limits that count for an agent; `null` for a limit that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CurrentLimits {
    pub max_iterations: u32,
    pub max_total_tokens: Option<u64>,
    pub max_cost_nano_usd: Option<u64>,
    pub max_tool_rounds: Option<u32>,
    pub max_tool_calls: Option<u32>,
    /// The rest of `timeouts.totalMs`.
    pub time_left_ms: Option<u64>,
}

/// Why the history is made shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CompactTrigger {
    /// The context window is nearly full.
    Auto,
    /// Your code asked for it.
    Manual,
    /// The vendor reported that the context window is full.
    Overflow,
    /// Old answers were shortened by `context.pruning`, or by `context_management` in the `body` of the model.
    Pruning,
    /// The history exceeds `context.maxChars`, a number of characters.
    Budget,
}

/// The author of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryBy {
    /// The vendor, which signs or encrypts it, so that the model's later reasoning stays.
    Vendor,
    /// The model, in an answer to a prompt of looplet.
    Model,
    /// Your function.
    Host,
    /// looplet, from the beginnings of the messages.
    BuiltIn,
}

/// How a call reaches another agent, in the words of OpenTelemetry's conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Transfer {
    /// A subagent works for the caller, which goes on with the result.
    ReturnToCaller,
    /// The agent goes on with the conversation.
    PassControl,
}

/// The events that come by the thousand. The discriminant is their record kind on the way into JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaKind {
    Text = 0,
    Reasoning = 1,
    ToolInput = 2,
}

/// A delta for which no [`Event`] was built. It borrows its text from the answer.
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
    /// A short, stable code: `tool_failed`, `invalid_json`, `invalid_input`, `cut_off`, `unknown_tool`, `denied`,
    /// `timeout`, `call_limit`, `unusable_result`, `cancelled`, `not_run`, `save_failed`, `early_answer`,
    /// `subagent_failed`, `depth_limit`, or a code of the tool's own.
    pub code: String,
    /// The defect in words, without a stack trace.
    pub message: String,
    /// The step that the model should take instead.
    pub hint: String,
    /// `false` ends the run.
    pub recoverable: bool,
}
