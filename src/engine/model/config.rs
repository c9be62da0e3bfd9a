//! The configuration of an agent and of one of its runs: plain data, read from the JSON that the TypeScript writes.
//!
//! [`Config`] is what all runs of an agent share, [`RunOptions`] what one run adds. Each option has its default here,
//! or in [`crate::engine::policy::defaults`] if the default depends on other options. The TypeScript checks names and
//! types by its own table. [`crate::engine::agent::setup::Setup::new`] then checks everything that only the engine
//! can judge, and refuses a wrong value with its path.

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
    /// Conditions that end the run when a round of tools is over. One that holds is enough.
    pub stop_when: Vec<StopCondition>,
    /// True when your code is asked after each round of tools whether to stop.
    pub ask_stop: bool,
    /// The form that answers must have; default: any text.
    pub output: Option<OutputFormat>,
    /// When and how the history is made shorter.
    pub context: ContextPolicy,
    pub repeat: RepeatPolicy,
    /// True when your code is asked about repeated rounds.
    pub ask_repeat: bool,
    /// When and how looplet repeats a failed model call.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub retry: RetryPolicy,
    /// The models to ask in turn when a model's retries are used up.
    pub fallback_models: Vec<ModelConfig>,
    /// Which calls may run; default: every call, except calls of tools that need an approval.
    pub permissions: Option<Permissions>,
    /// Hooks and guardrails, in the order in which they are asked; default none.
    pub hooks: Vec<Hook>,
    /// The bounds of one answer of a model, and how looplet treats one that is not whole.
    pub answers: AnswerPolicy,
    /// How tool calls run, and what the model reads of them.
    pub tool_calls: ToolCallPolicy,
    /// Which events a run tells.
    pub events: EventPolicy,
    /// How many deaths of its processes a run with a `store` outlasts.
    pub durable: Recovery,
    /// How many of the waiting steers a model call takes.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub steering_mode: QueueMode,
    /// How many of the waiting follow-ups are asked when the model has finished.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub follow_up_mode: QueueMode,
    /// The steps of effects are saved; without a journal no step is saved, and nothing waits for a save.
    pub journal: bool,
    /// Events carry their time, and tool calls the hash of their input.
    pub trace: bool,
    /// The configurations of the agents that stand behind tools, from the second profile on. Their own lists are
    /// empty.
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

/// The options that each run of an agent has of its own, camelCase in JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RunOptions {
    /// The history that the run continues.
    pub messages: Vec<Message>,
    /// The earlier conversations of agents that are kept from call to call.
    pub subagents: Vec<Memory>,
    /// A JSON object with your code's values for the tools' bindings.
    pub inputs: Option<Json>,
    /// The index of the agent that begins: 0, or that of an agent which has taken the conversation over earlier.
    pub profile: u32,
    /// How the session begins, for hooks of `SessionStart`; absent in every later run of the session.
    pub session: Option<String>,
    /// The usage of the conversation before the run; default: none.
    pub chat_usage: Option<Usage>,
    /// The head of the run before, whose messages these are; default: none.
    pub head: Option<Box<Head>>,
}

/// The memory of a persistent subagent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SubagentMemory"))]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// The agent's path at its first call, for example `"root/researcher"`.
    pub agent_path: String,
    /// The agent's conversation, legal to send again.
    pub messages: Vec<Message>,
    /// The head of its requests. No result shows it.
    #[cfg_attr(test, schemars(skip))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Box<Head>>,
}

/// The limits that end a run early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Model calls of one run, a positive integer. Default 50, or as many as `maxToolRounds`, `iterationCount(n)` and
    /// `output.maxRetries` need. A run that wants more is `stopped` by `iterations`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_iterations: Option<u32>,
    /// Input plus output tokens of one run, a positive integer. A run that uses more is `stopped` by `tokens`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_total_tokens: Option<u64>,
    /// The cost of one run, in nano-USD; default: no limit. The run stops when it has cost more.
    pub max_cost_nano_usd: Option<u64>,
    /// Answers with tool calls in one run, a non-negative integer. A final answer is always allowed; further calls
    /// end the run as `stopped` by `tool_rounds`. With 0 the calls of the first answer are left to you:
    /// `result.toolCalls` has them.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub max_tool_rounds: Option<u32>,
    /// Tool calls of one run with its subagents, a positive integer. An answer that would exceed it ends the run as
    /// `stopped` by `tool_calls`, before its tools run.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_tool_calls: Option<u32>,
    /// Levels of subagents below the run's own agent, from 1 to 8. Default 1: subagents have no subagents.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "run")))]
    pub max_subagent_depth: u32,
    /// Whether limits of tokens and money also count estimates of usage that no vendor has reported yet. Estimates
    /// cover the request that is about to be sent, the answer that streams, and whole answers of servers that never
    /// report usage. A request's estimate is reserved, so that parallel subagents see each other's, and a request
    /// that does not fit in the rest of the limit is not sent. An estimate takes 3.5 bytes for a token. Default
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

/// A condition on the round of tools that has just ended. JSON: `{"toolCall":"name"}`, `{"iterations":n}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum StopCondition {
    /// The round called this tool.
    ToolCall(String),
    /// The round belongs to this iteration or a later one.
    Iterations(u32),
}

/// Steps against tool calls that repeat. A call repeats if it has the same input and the same result as an earlier
/// one, within one answer or in consecutive answers. A cycle of up to four rounds counts too.
///
/// Each number says how often calls repeat before the step. A step may not come before the one above it, and
/// `stopAfter` must be the greatest. `null` switches a step off. Steps that you leave out adapt to the others: at
/// least twice the one before, less than `stopAfter`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RepeatPolicy {
    pub enabled: bool,
    /// The model is told about it, beside the results. Default 3.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "repeat")))]
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub nudge_after: Option<Option<u32>>,
    /// `onRepeat` is called; without that function the model is told again. Default 6.
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
    /// The whole run, which then ends as `stopped` by `time`.
    pub total_ms: Option<u64>,
    /// One iteration, from `prepareIteration` to `onIterationEnd`: the model call with its retries, its tools, and
    /// your functions that looplet asks. This clock stands still while a person is asked (`canUseTool`). The run ends
    /// as `stopped` by `time`.
    pub iteration_ms: Option<u64>,
    /// From sending a request to the first byte of its body; ten minutes as in the vendors' own SDKs. A timeout
    /// counts as a retryable failure.
    pub first_chunk_ms: Option<u64>,
    /// Between two chunks of a body. A timeout counts as a retryable failure.
    pub chunk_ms: Option<u64>,
    /// The whole body of a failed response. The failure then tells what has come.
    pub error_body_ms: Option<u64>,
    /// One call of a tool that has no `timeoutMs`. The model gets an error result.
    pub tool_ms: Option<u64>,
    /// From a question whether a call may run to its answer. Without an answer the call is denied.
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

/// How many waiting messages are taken at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum QueueMode {
    All,
    One,
}

impl QueueMode {
    /// The most messages that are taken at once.
    pub fn most(self) -> usize {
        match self {
            QueueMode::All => usize::MAX,
            QueueMode::One => 1,
        }
    }
}
