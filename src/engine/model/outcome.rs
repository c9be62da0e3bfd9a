//! How a run ends.

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
    /// A limit or a condition said stop; see [`Outcome::stopped_by`].
    Stopped,
    /// You aborted.
    Cancelled,
    /// A provider, the network, the configuration or a defect; see [`Outcome::error`].
    Failed,
}

/// What stopped a run.
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
    /// `stopWhen`.
    Condition,
    /// Rounds of tool calls that repeat themselves.
    Repeat,
    /// No answer fitted the schema.
    StructuredOutput,
    /// A hook said `continue: false`, or turned the prompt down.
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
    /// Why the host aborted, or what a hook or guardrail gave as its reason to stop.
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
    /// What the tool returned, or the structured error; `null` while it is open.
    pub output: Option<Json>,
    pub is_error: bool,
    pub duration_ms: u64,
}

/// The short part of what a finished or running run has to show.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report<'a> {
    /// The last answer that fits the schema.
    pub output: Option<&'a Json>,
    pub cost_nano_usd: Option<u64>,
    pub iterations: u32,
    /// Why the last answer ended.
    pub finish_reason: Option<FinishReason>,
    /// The same in the vendor's word.
    pub raw_finish_reason: Option<&'a str>,
    /// Ids of the steers and follow-ups that were never delivered.
    pub undelivered: Vec<u32>,
}

/// The long part.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct History<'a> {
    pub tool_calls: Cow<'a, [ToolCallRecord]>,
    /// The legal transcript, the given history included.
    pub messages: Cow<'a, [Message]>,
    /// The conversations of agents that are kept.
    pub subagents: &'a [Memory],
}
