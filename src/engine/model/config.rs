//! The configuration of an agent and of one of its runs: plain data, read from the JSON that the face writes.
//!
//! [`Config`] is what all runs of an agent share, [`RunOptions`] what one run adds. Each option has its default here,
//! or in [`crate::engine::policy::defaults`] if the default depends on other options. The face checks names and types
//! by its own table. [`crate::engine::agent::setup::Setup::new`] then checks everything that only the engine can
//! judge, and refuses a wrong value with its path.

pub mod context;
mod model;
pub mod output_format;
pub mod permission;
mod recovery;
mod retry;
mod tool;

use serde::{Deserialize, Serialize};

#[cfg(test)]
pub use self::model::Fields;
pub use self::model::{ModelConfig, PromptCaching, ResponseFormat, ToolChoice};
pub use self::recovery::Recovery;
pub use self::retry::{Jitter, RetryPolicy};
pub use self::tool::{Access, AgentTool, Binding, Replay, ToolConfig};
use crate::engine::model::config::context::ContextPolicy;
use crate::engine::model::config::output_format::OutputFormat;
use crate::engine::model::config::permission::Permissions;
use crate::engine::model::hook::Hook;
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
    /// Which calls of one answer may run at the same time. Results always keep the order of the calls.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub tool_execution: ToolExecution,
    /// Blocks of one answer, tool calls among them, a positive integer. An answer with more fails as
    /// `malformed_stream`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_answer_blocks: u32,
    /// Bytes of text and reasoning of one answer, a positive integer up to 64 MiB (67,108,864). An answer with more
    /// fails as `malformed_stream`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_answer_text_bytes: u32,
    /// Bytes of tool arguments and media of one answer, a positive integer up to 128 MiB (134,217,728). An answer
    /// with more fails as `malformed_stream`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_answer_argument_bytes: u32,
    /// Bytes of one event of a stream, and of a body that comes whole, a positive integer up to 256 MiB
    /// (268,435,456). A longer one fails as `malformed_stream`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_answer_event_bytes: u32,
    /// Bytes of a failed response's body that are read, a positive integer up to 64 MiB (67,108,864). The request is
    /// cancelled behind them, and the failure tells what has come. `timeouts.errorBodyMs` is the time for it.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_error_body_bytes: u32,
    /// Tool calls that run at once, a positive integer.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_tool_concurrency: u32,
    /// How looplet treats an answer without tool calls that the limit of output tokens cut off.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub on_max_tokens: OnOutputLimit,
    /// How looplet asks again for an answer that broke off: the connection was lost, or the process ended and the run
    /// has a `store`.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub on_cut_off: OnCutOff,
    /// Whether the last call of an answer runs if its arguments are complete JSON and the limit of output tokens
    /// ended the answer right behind them. Default false: gateways close the JSON of arguments that a model did not
    /// finish, so the call gets an error result (`cut_off`). A call that `eagerTools` has started already keeps its
    /// result.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub run_cut_off_calls: bool,
    /// Whether a run fails (code `finish_reason`) when an answer ends in any way but finished, paused or with tool
    /// calls. An answer that says it is finished then ends the run, even with calls beside it. Default false: a run
    /// continues as long as there are calls.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub strict_stop_reason: bool,
    /// How often processes may end with a run that has a `store` before they bring it further.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub recovery: Recovery,
    /// How many of the waiting steers a model call takes.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub steering_mode: QueueMode,
    /// How many of the waiting follow-ups are asked when the model has finished.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub follow_up_mode: QueueMode,
    /// Your code words the failed calls of each round for the model; default: their structured errors.
    pub word_errors: bool,
    /// Characters (code points) of a tool's result that the model sees, a positive integer. A longer result is cut
    /// there, with a note of how much is missing and a `warning` event (`result_cut`). Events and `result.toolCalls`
    /// have the whole result, and media are never cut. A tool's `maxResultChars` wins.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_tool_result_chars: u32,
    /// How a call of an unknown tool is answered.
    pub on_unknown_tool: OnUnknownTool,
    /// Pairs of names: a call of the first is a call of the second, if there is such a tool.
    pub tool_aliases: Vec<(String, String)>,
    /// Whether calls of tools with `readOnly: true` start as soon as they are complete, while the rest of the answer
    /// still streams. If the attempt fails, its calls are aborted and forgotten. No call starts early when there is
    /// an output guardrail.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub eager_tools: bool,
    /// Whether limits of tokens and money also count estimates of usage that no vendor has reported yet. Estimates
    /// cover the request that is about to be sent, the answer that streams, and whole answers of servers that never
    /// report usage. A request's estimate is reserved, so that parallel subagents see each other's, and a request
    /// that does not fit in the rest of the limit is not sent. An estimate takes 3.5 bytes for a token. Default
    /// false: only reported usage counts.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub estimate_usage: bool,
    /// Whether the model reads, in a text block behind the result, the input with which a tool ran, if an approval, a
    /// hook or a guardrail changed it. Fields that `bindings` fill are left out. `false` is for changes that the
    /// model must not see. Default true.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub tell_updated_input: bool,
    /// Whether deltas of one block that arrive in the same network chunk are delivered as one event.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub join_deltas: bool,
    /// Whether the text of an answer is told only when the answer is over and has no tool calls, as one delta a
    /// block. Default false: text streams.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub hold_text: bool,
    /// Whether each whole message of the transcript is an event. Default false.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub message_events: bool,
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
            tool_execution: ToolExecution::default(),
            max_answer_blocks: 1000,
            max_answer_text_bytes: 32 << 20,
            max_answer_argument_bytes: 64 << 20,
            max_answer_event_bytes: 64 << 20,
            max_error_body_bytes: 64 << 10,
            max_tool_concurrency: 8,
            on_max_tokens: OnOutputLimit::default(),
            on_cut_off: OnCutOff::default(),
            run_cut_off_calls: false,
            strict_stop_reason: false,
            recovery: Recovery::default(),
            steering_mode: QueueMode::All,
            follow_up_mode: QueueMode::One,
            word_errors: false,
            max_tool_result_chars: 100_000,
            on_unknown_tool: OnUnknownTool::default(),
            tool_aliases: Vec::new(),
            eager_tools: false,
            estimate_usage: false,
            tell_updated_input: true,
            join_deltas: true,
            hold_text: false,
            message_events: false,
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
}

/// The limits that end a run early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Model calls of one run, a positive integer. Default 50, or as many as `maxToolRounds`, `iterationCount(n)` and
    /// `maxStructuredOutputRetries` need. A run that wants more is `stopped` by `iterations`.
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
        }
    }
}

/// How the run treats an answer without tool calls that the limit of output tokens cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OnOutputLimit {
    /// It is the last answer, with `finishReason: "length"`.
    #[default]
    Return,
    /// The model continues where it stopped, within `maxIterations`, and `result.text` is the whole text.
    Continue,
    /// The run is `failed` with the code `finish_reason`.
    Error,
}

/// How the run asks again for an answer that broke off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OnCutOff {
    /// The model writes the whole answer again.
    #[default]
    Again,
    /// The model goes on from the text that has come, where the protocol and the model allow it. Otherwise it writes
    /// the whole answer again, and the warning `not_continued` says why.
    Continue,
}

/// Which calls of one answer may run at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ToolExecution {
    /// Read-only calls run in parallel, and so do calls with different resource keys. All other calls run in order.
    #[default]
    ReadOnlyParallel,
    /// All calls run at once, but calls with the same resource key run in order.
    Parallel,
    /// One call runs after the other.
    Sequential,
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

/// How a call of an unknown tool is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnUnknownTool {
    /// The model gets an error result.
    #[default]
    ToolResult,
    /// The run is `failed` with the code `config_invalid`; `agent.run` itself throws nothing.
    Throw,
    /// Your code answers it like a call of one of its tools.
    #[cfg_attr(test, schemars(skip))]
    Host,
}
