//! The end of a run, and everything that a run shows about itself.
//!
//! [`Outcome`] says how the run ended, [`Report`] and [`History`] hold its results. The run builds them on request and
//! borrows their content. The face reads them through the handle, a report at any time and an outcome after
//! [`crate::engine::model::event::EventKind::Finish`]. Nothing here fails: a run that failed has an outcome with an
//! error.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::Memory;
use crate::engine::model::error::Failure;
use crate::engine::model::message::{Json, Message};

/// The end of a run in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The model finished.
    Completed,
    /// A limit or a condition ended the run; see [`Outcome::stopped_by`].
    Stopped,
    /// Your code aborted the run.
    Cancelled,
    /// A provider, the network, the configuration or a defect ended the run; see [`Outcome::error`].
    Failed,
}

/// The cause of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    Iterations,
    Tokens,
    Usd,
    Time,
    FatalTool,
    ToolRounds,
    ToolCalls,
    /// A condition of `stopWhen`.
    Condition,
    /// Repeated rounds of tool calls.
    Repeat,
    /// Answers that never fitted the schema.
    StructuredOutput,
    /// A hook that said `continue: false` or refused the prompt.
    Hook,
    Guardrail,
}

/// How the run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    pub outcome: OutcomeKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<StoppedBy>,
    /// The reason that your code gave for its abort, or a hook or guardrail for its stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abort_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// One tool call of a run, as the result, the rounds and the hooks' inputs list it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallRecord {
    /// The provider's id.
    pub tool_call_id: String,
    pub tool_name: String,
    /// What the model wrote, or a JSON string with the text that could not be parsed.
    pub input: Json,
    /// The tool's return value or the structured error; `null` while the call is open.
    pub output: Option<Json>,
    pub is_error: bool,
    pub duration_ms: u64,
}

/// The short half of a run's result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report<'a> {
    /// The last answer that fits the schema.
    pub output: Option<&'a Json>,
    pub cost_nano_usd: Option<u64>,
    pub iterations: u32,
    /// Why the last answer ended.
    pub finish_reason: Option<FinishReason>,
    /// The last answer's finish reason in the vendor's own word.
    pub raw_finish_reason: Option<&'a str>,
    /// Ids of the steers and follow-ups that were never delivered.
    pub undelivered: Vec<u32>,
}

/// The long half of a run's result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct History<'a> {
    pub tool_calls: Cow<'a, [ToolCallRecord]>,
    /// The transcript in the order that providers accept, the given history included.
    pub messages: Cow<'a, [Message]>,
    /// The conversations of agents that are kept from call to call.
    pub subagents: &'a [Memory],
}
