//! The end of a run, and everything that a run shows about itself.
//!
//! [`Outcome`] says how the run ended, [`Report`] and [`History`] hold its results. The run builds them on request
//! and borrows their content. The TypeScript reads them through the handle, a report at any time and an outcome after
//! [`crate::engine::model::event::EventKind::Finish`]. Nothing here fails: a run that failed has an outcome with an
//! error.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::Memory;
use crate::engine::model::error::Failure;
use crate::engine::model::journal::head::Head;
use crate::engine::model::message::{Json, Message};
use crate::engine::model::usage::Usage;

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
    /// A condition of `limits.stopWhen`.
    Condition,
    /// Repeated rounds of tool calls.
    Repeat,
    /// Processes have gone on with the run, one after the other, and ended without bringing it further
    /// (`durable.maxCrashes`, `durable.maxInterruptions`).
    RecoveryExhausted,
    /// Answers that never fitted the schema.
    StructuredOutput,
    /// A hook that said `continue: false` or refused the prompt.
    Hook,
    Guardrail,
}

/// How a run or an agent ended. `outcome` tells which of the other fields are there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(extend("x-tag" = "outcome")))]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    pub outcome: OutcomeKind,
    #[cfg_attr(test, schemars(extend("x-of" = ["stopped!"])))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<StoppedBy>,
    /// The reason that `abort(reason)` or the signal gave. In a `stopped` run it is the reason of a hook or a
    /// guardrail, or the problem of the last answer that did not fit its schema.
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
    /// The input that the tool got in place of the model's, if an approval, a hook or a guardrail changed it. Fields
    /// that `bindings` fill are left out. The model reads it beside the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Json>,
    /// The tool's result or the structured error; `null` while the call is open.
    pub output: Option<Json>,
    pub is_error: bool,
    pub duration_ms: u64,
}

/// The short half of a run's result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Report<'a> {
    /// The last answer that fits the schema.
    pub output: Option<&'a Json>,
    /// The usage that vendors have reported, subagents included; `null` if no answer came with any. An answer without
    /// a report is not in it.
    pub usage: Option<Usage>,
    /// `usage` with that of the conversation before the run.
    pub chat_usage: Option<Usage>,
    /// The part of `usage` that each model has used, by the name under which the model was asked. A model that has
    /// answered without a report is `null`.
    pub model_usage: &'a BTreeMap<String, Option<Usage>>,
    /// Milliseconds from the prompt to the end, by the run's clock: with the waits for tools, for people and between
    /// attempts.
    pub duration_ms: u64,
    /// Milliseconds that requests to models have taken, from sending to the end of the answer: the sum over all
    /// requests, failed ones and those of subagents and summaries included. Requests that overlap each count, so the
    /// sum may exceed `durationMs`.
    pub api_duration_ms: u64,
    /// The cost in billionths of a US dollar, an integer; `null` when it is not known.
    pub cost_nano_usd: Option<u64>,
    /// The index of the agent that spoke last: 0, or that of the agent which has taken over.
    pub profile: u32,
    /// Model calls made.
    pub iterations: u32,
    /// Why the last answer ended; `null` when no answer was complete.
    pub finish_reason: Option<FinishReason>,
    /// The vendor's own word for `finishReason`.
    pub raw_finish_reason: Option<&'a str>,
    /// What the vendor says beside it, as it says it. Of a refusal by Claude `{ type, category, explanation,
    /// recommended_model }`, each of which may be missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_details: Option<&'a Json>,
    /// The blocks of the answer that streams, which the messages do not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub streaming: Vec<StreamedBlock<'a>>,
    /// Ids of the steers and follow-ups that no model call has taken.
    pub undelivered: Vec<u32>,
}

/// A block of an answer that streams, as far as events have told it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum StreamedBlock<'a> {
    Text {
        /// The number of the block, as the events have it.
        block: u32,
        text: &'a str,
        /// True if it does not grow any more.
        is_over: bool,
        /// True if the model declines.
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
        /// The input of a call that has been told: some begin while the answer streams.
        #[serde(skip_serializing_if = "Option::is_none")]
        input: Option<Json>,
    },
}

/// The long half of a run's result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct History<'a> {
    pub tool_calls: Cow<'a, [ToolCallRecord]>,
    /// The whole transcript with the given history, legal to send again in every case.
    pub messages: Cow<'a, [Message]>,
    /// The memory of persistent subagents, including subagents that were not called. Pass it to the next run as
    /// `subagents`.
    pub subagents: &'a [Memory],
    /// The head of the requests, for the next run with these messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
}
