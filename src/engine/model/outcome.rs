//! The end of a run, and its results.
//!
//! [`Outcome`] says how the run ended. [`Report`] and [`History`] have its results. The run builds them on request
//! and lets them borrow its content. The TypeScript can read a report and a history at any time, and an outcome after
//! [`crate::engine::model::event::EventKind::Finish`]. Nothing here fails: a failed run has an outcome with an error.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::Memory;
use crate::engine::model::error::Failure;
use crate::engine::model::journal::head::Head;
use crate::engine::model::message::{Json, Message};
use crate::engine::model::usage::Usage;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The model finished.
    Completed,
    /// A limit or a condition ended the run: see [`Outcome::stopped_by`].
    Stopped,
    /// Your code aborted the run.
    Cancelled,
    /// A provider, the network, the configuration or a bug ended the run: see [`Outcome::error`].
    Failed,
}

/// The cause of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StoppedBy {
    Iterations,
    Tokens,
    Usd,
    Time,
    FatalTool,
    ToolRounds,
    ToolCalls,
    /// A condition of `limits.stopWhen`.
    Condition,
    /// Repeated rounds of tool calls.
    Repeat,
    /// Several processes in a row have resumed the run and ended without progress (`durable.maxCrashes`,
    /// `durable.maxInterruptions`).
    RecoveryExhausted,
    /// No answer matched the schema.
    StructuredOutput,
    /// A hook returned `continue: false` or blocked the prompt.
    Hook,
    Guardrail,
}

/// How a run or an agent ended. `outcome` determines which other fields are present.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(extend("x-tag" = "outcome")))]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    pub outcome: OutcomeKind,
    #[cfg_attr(test, schemars(extend("x-of" = ["stopped!"])))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<StoppedBy>,
    /// The reason from `abort(reason)` or from the signal. In a `stopped` run: the reason of a hook or a guardrail,
    /// or why the last answer did not match its schema.
    #[cfg_attr(test, schemars(extend("x-of" = ["cancelled!", "stopped"])))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abort_reason: Option<String>,
    #[cfg_attr(test, schemars(extend("x-of" = ["failed!"])))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// One tool call of a run, as the result, the rounds and the inputs of hooks list it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolCallRecord {
    /// The provider's id.
    pub tool_call_id: String,
    pub tool_name: String,
    /// The model's arguments; a string when they are not a JSON object.
    pub input: Json,
    /// The input that the tool got instead of the model's, if an approval, a hook or a guardrail changed it. Fields
    /// filled by `bindings` are left out. The model reads it next to the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Json>,
    /// The tool's result or the structured error. `null` while the call is open.
    pub output: Option<Json>,
    pub is_error: bool,
    pub duration_ms: u64,
}

/// The short part of a run's result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Report<'a> {
    /// The last answer that matches the schema.
    pub output: Option<&'a Json>,
    /// The usage that vendors have reported, including subagents. `null` if no vendor reported any. Answers without
    /// reported usage are not included.
    pub usage: Option<Usage>,
    /// `usage` plus the usage of the conversation before the run.
    pub chat_usage: Option<Usage>,
    /// The part of `usage` for each requested model. `null` for a model that has answered without reporting usage.
    pub model_usage: &'a BTreeMap<String, Option<Usage>>,
    /// Milliseconds from the prompt to the end on the run's clock, including waits for tools and users and between
    /// attempts.
    pub duration_ms: u64,
    /// Milliseconds that requests to models have taken, from sending to the end of the answer. It is the sum over all
    /// requests, including failed ones and those of subagents and summaries. Requests that overlap each count in
    /// full, so the sum may exceed `durationMs`.
    pub api_duration_ms: u64,
    /// The cost in billionths of a US dollar, an integer. `null` if it is not known.
    pub cost_nano_usd: Option<u64>,
    /// The index of the last active agent: 0, or the agent to which the conversation was handed off.
    pub profile: u32,
    /// The number of model calls.
    pub iterations: u32,
    /// Why the last answer ended. `null` if no answer was complete.
    pub finish_reason: Option<FinishReason>,
    /// The vendor's own word for `finishReason`.
    pub raw_finish_reason: Option<&'a str>,
    /// The vendor's details of the finish reason, unchanged. For a refusal by Claude `{ type, category, explanation,
    /// recommended_model }`, each of which may be missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_details: Option<&'a Json>,
    /// The blocks of the answer that is streaming. The messages do not have them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub streaming: Vec<StreamedBlock<'a>>,
    /// Ids of the steers and follow-ups that no model call has included.
    pub undelivered: Vec<u32>,
}

/// A block of an answer that is streaming, as far as it has been emitted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum StreamedBlock<'a> {
    Text {
        /// The number of the block in the events.
        block: u32,
        text: &'a str,
        /// True if the block is complete.
        is_over: bool,
        /// True if the model refuses.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        refusal: bool,
    },
    Reasoning {
        block: u32,
        text: &'a str,
        is_over: bool,
    },
    ToolInput {
        block: u32,
        /// The JSON text of the input.
        text: &'a str,
        is_over: bool,
        /// The provider's id.
        tool_call_id: &'a str,
        tool_name: &'a str,
        /// The input, if its `tool-call` event has been emitted. Some calls begin while the answer streams.
        #[serde(skip_serializing_if = "Option::is_none")]
        input: Option<Json>,
    },
}

/// The long part of a run's result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct History<'a> {
    pub tool_calls: Cow<'a, [ToolCallRecord]>,
    /// The complete transcript including the given history, always valid to send again.
    pub messages: Cow<'a, [Message]>,
    /// The saved conversations of persistent subagents, including subagents that were not called. Pass them to the
    /// next run as `subagents`.
    pub subagents: &'a [Memory],
    /// The head of the requests, for the next run with these messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
}
