//! The configuration of an agent and of one run: plain data that the TypeScript sends as JSON.
//!
//! [`Config`] is shared by all runs of an agent. [`RunOptions`] is what one run adds. The defaults are here, or in
//! [`crate::engine::policy::defaults`] if a default depends on other options. The TypeScript checks names and types
//! with its own table. [`crate::engine::agent::setup::Setup::new`] then checks everything that only the engine can
//! judge, and rejects an invalid value with its path.

mod answers;
pub mod context;
mod events;
mod model;
pub mod output_format;
pub mod permission;
mod recovery;
mod retry;
mod tool;
mod tool_calls;

use serde::{Deserialize, Serialize};

pub use self::answers::{AnswerPolicy, OnCutOff, OnOutputLimit};
pub use self::events::EventPolicy;
#[cfg(test)]
pub use self::model::Fields;
pub use self::model::{ModelConfig, PromptCaching, ResponseFormat, ToolChoice};
pub use self::recovery::Recovery;
pub use self::retry::{Jitter, RetryPolicy};
pub use self::tool::{Access, AgentTool, Binding, Loader, Replay, ToolConfig, VendorTool};
pub use self::tool_calls::{OnUnknownTool, ToolCallPolicy, ToolExecution};
use crate::engine::model::config::context::ContextPolicy;
use crate::engine::model::config::output_format::OutputFormat;
use crate::engine::model::config::permission::Permissions;
use crate::engine::model::hook::Hook;
use crate::engine::model::journal::head::Head;
use crate::engine::model::json::given;
use crate::engine::model::message::{Json, Message};
use crate::engine::model::usage::Usage;

/// The configuration that all runs of an agent share, camelCase in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Config {
    pub model: ModelConfig,
    pub system: Option<String>,
    /// Text that is appended to the system prompt of every agent of the run.
    pub shared_instructions: Option<String>,
    pub tools: Vec<ToolConfig>,
    pub limits: Limits,
    /// Time limits of the run and its parts.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub timeouts: Timeouts,
    /// Conditions that end the run after a round of tools. One that is true is enough.
    pub stop_when: Vec<StopCondition>,
    /// Whether your code is asked after each round of tools if the run should stop.
    pub ask_stop: bool,
    /// The form that answers must have; default: any text.
    pub output: Option<OutputFormat>,
    /// When and how the history is shortened.
    pub context: ContextPolicy,
    pub repeat: RepeatPolicy,
    /// Whether your code is asked about repeated rounds.
    pub ask_repeat: bool,
    /// When and how looplet repeats a failed model call.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub retry: RetryPolicy,
    /// The models to try, in this order, after a model's retries are used up.
    pub fallback_models: Vec<ModelConfig>,
    /// Which calls may run; default: every call, except calls of tools that need an approval.
    pub permissions: Option<Permissions>,
    /// Hooks and guardrails, in the order in which they are called. Default: none.
    pub hooks: Vec<Hook>,
    /// The limits of a model's answer, and how looplet treats an incomplete one.
    pub answers: AnswerPolicy,
    /// How tool calls run, and what the model reads of them.
    pub tool_calls: ToolCallPolicy,
    /// Which events a run emits.
    pub events: EventPolicy,
    /// How many crashes and interruptions of its process a run with a `store` survives.
    pub durable: Recovery,
    /// How many of the waiting steers one model call includes.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub steering_mode: QueueMode,
    /// How many of the waiting follow-ups are sent when the model has finished.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub follow_up_mode: QueueMode,
    /// Whether the steps of effects are saved. Without a journal, nothing is saved and nothing waits for a save.
    pub journal: bool,
    /// Whether events have their time, and tool calls the hash of their input.
    pub trace: bool,
    /// The configurations of the agents that tools call. The first has profile 1. Their own `agents` are empty.
    pub agents: Vec<Config>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            model: ModelConfig::default(),
            system: None,
            shared_instructions: None,
            tools: Vec::new(),
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            stop_when: Vec::new(),
            ask_stop: false,
            output: None,
            context: ContextPolicy::default(),
            repeat: RepeatPolicy::default(),
            ask_repeat: false,
            retry: RetryPolicy::default(),
            fallback_models: Vec::new(),
            permissions: None,
            hooks: Vec::new(),
            answers: AnswerPolicy::default(),
            tool_calls: ToolCallPolicy::default(),
            events: EventPolicy::default(),
            durable: Recovery::default(),
            steering_mode: QueueMode::All,
            follow_up_mode: QueueMode::One,
            journal: false,
            trace: false,
            agents: Vec::new(),
        }
    }
}

/// The options of one run, camelCase in JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RunOptions {
    /// The history that the run continues.
    pub messages: Vec<Message>,
    /// The earlier conversations of persistent subagents.
    pub subagents: Vec<Memory>,
    /// A JSON object with your code's values for the tools' bindings.
    pub inputs: Option<Json>,
    /// The index of the agent that starts: 0, or the agent to which an earlier run handed off.
    pub profile: u32,
    /// How the session begins, for `SessionStart` hooks. Absent in later runs of the session.
    pub session: Option<String>,
    /// The usage of the conversation before this run. Default: none.
    pub chat_usage: Option<Usage>,
    /// The head of the previous run, which produced `messages`. Default: none.
    pub head: Option<Box<Head>>,
}

/// The saved conversation of a persistent subagent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SubagentMemory"))]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// The agent's path at its first call, for example `"root/researcher"`.
    pub agent_path: String,
    /// The agent's conversation, valid to send again.
    pub messages: Vec<Message>,
    /// The head of its requests. Results do not show it.
    #[cfg_attr(test, schemars(skip))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Box<Head>>,
}

/// Limits that end a run early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Maximum number of model calls of one run, a positive integer. Default: 50, or more if `maxToolRounds`,
    /// `iterationCount(n)` and `output.maxRetries` need it. A run that needs more is `stopped` by `iterations`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_iterations: Option<u32>,
    /// Maximum number of input and output tokens of one run, a positive integer. A run that uses more is `stopped` by
    /// `tokens`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_total_tokens: Option<u64>,
    /// Maximum cost of one run, in nano-USD. Default: no limit. The run stops when it has cost more.
    pub max_cost_nano_usd: Option<u64>,
    /// Maximum number of answers with tool calls in one run, a non-negative integer. A final answer is always
    /// allowed. Further calls end the run as `stopped` by `tool_rounds`. With 0, looplet runs no tools, and
    /// `result.toolCalls` has the calls of the first answer.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub max_tool_rounds: Option<u32>,
    /// Maximum number of tool calls of one run and its subagents, a positive integer. If an answer would exceed it,
    /// the run ends as `stopped` by `tool_calls` before the tools run.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_tool_calls: Option<u32>,
    /// Maximum depth of subagents below the run's own agent, from 1 to 8. Default 1: subagents have no subagents.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "run")))]
    pub max_subagent_depth: u32,
    /// Whether the token and cost limits also count estimates of usage that the vendor has not reported yet: the
    /// request that is about to be sent, the answer that is streaming, and complete answers of servers that never
    /// report usage. looplet reserves the estimate of each request, so parallel subagents see each other's. A request
    /// that does not fit in the rest of the limit is not sent. An estimate counts 3.5 bytes as one token. Default
    /// false: only reported usage counts.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub estimate_usage: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_iterations: None,
            max_total_tokens: None,
            max_cost_nano_usd: None,
            max_tool_rounds: None,
            max_tool_calls: None,
            max_subagent_depth: 1,
            estimate_usage: false,
        }
    }
}

/// A condition on the round of tools that has just finished. JSON: `{"toolCall":"name"}`, `{"iterations":n}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum StopCondition {
    /// The round called this tool.
    ToolCall(String),
    /// The round belongs to this iteration or a later one.
    Iterations(u32),
}

/// Steps against repeated tool calls. A call is repeated if it has the same input and the same result as an earlier
/// one, in the same answer or in consecutive answers. A cycle of up to four rounds counts too.
///
/// Each number is how many repetitions trigger the step. A step must not come before the previous one, and
/// `stopAfter` must be the greatest. `null` disables a step. A step that you leave out adapts to the others: at least
/// twice the previous one, and less than `stopAfter`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RepeatPolicy {
    pub enabled: bool,
    /// looplet notes it next to the results, for the model. Default 3.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "repeat")))]
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub nudge_after: Option<Option<u32>>,
    /// looplet calls `onRepeat`, or repeats the note if you have no `onRepeat`. Default 6.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "repeat")))]
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub ask_after: Option<Option<u32>>,
    /// The run is `stopped` by `repeat`. Default 20.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "repeat")))]
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub stop_after: Option<Option<u32>>,
}

impl Default for RepeatPolicy {
    fn default() -> RepeatPolicy {
        RepeatPolicy {
            enabled: true,
            nudge_after: None,
            ask_after: None,
            stop_after: None,
        }
    }
}

/// Time limits in milliseconds: non-negative integers, or `null` for no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("x-options" = "null")))]
#[serde(rename_all = "camelCase", default)]
pub struct Timeouts {
    /// For the whole run, which then ends as `stopped` by `time`.
    pub total_ms: Option<u64>,
    /// For one iteration, from `prepareIteration` to `onIterationEnd`: the model call with its retries, its tools,
    /// and your functions. The clock pauses while looplet waits for a user (`canUseTool`). The run ends as `stopped`
    /// by `time`.
    pub iteration_ms: Option<u64>,
    /// From sending a request to the first byte of the response's body. The default is ten minutes, as in the
    /// vendors' SDKs. A timeout counts as a retryable failure.
    pub first_chunk_ms: Option<u64>,
    /// Between two chunks of a body. A timeout counts as a retryable failure.
    pub chunk_ms: Option<u64>,
    /// For the whole body of a failed response. The failure then has the part that was received.
    pub error_body_ms: Option<u64>,
    /// For one call of a tool that has no `timeoutMs`. The model gets an error result.
    pub tool_ms: Option<u64>,
    /// For your decision whether a call may run. Without a decision the call is denied.
    pub permission_ms: Option<u64>,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            total_ms: None,
            iteration_ms: None,
            first_chunk_ms: Some(600_000),
            chunk_ms: Some(120_000),
            error_body_ms: Some(10_000),
            tool_ms: None,
            permission_ms: None,
        }
    }
}

/// How many waiting messages are sent together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum QueueMode {
    All,
    One,
}

impl QueueMode {
    /// The maximum number of messages that are sent together.
    pub fn most(self) -> usize {
        match self {
            QueueMode::All => usize::MAX,
            QueueMode::One => 1,
        }
    }
}
