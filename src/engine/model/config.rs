//! What a run is configured with: plain data, read once from the face's JSON.
//!
//! The face checks names and types by its own table; [`crate::engine::run::Run::new`] checks what only the engine can judge.

use serde::{Deserialize, Serialize};

use crate::engine::model::context::ContextPolicy;
use crate::engine::model::hook::Hook;
use crate::engine::model::json::given;
use crate::engine::model::message::{Json, Message};
pub use crate::engine::model::model_config::{ModelConfig, PromptCaching, ResponseFormat, ToolChoice};
use crate::engine::model::output_format::OutputFormat;
use crate::engine::model::permission::Permissions;

/// The whole configuration of a run, camelCase in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Config {
    pub model: ModelConfig,
    pub system: Option<String>,
    /// Behind the system prompt of every agent of the run.
    pub instructions: Option<String>,
    pub tools: Vec<ToolConfig>,
    /// History to go on from.
    pub messages: Vec<Message>,
    pub limits: Limits,
    pub timeouts: Timeouts,
    /// Any of them ends the run when a round of tools is over.
    pub stop_when: Vec<StopCondition>,
    /// The host is asked after each round whether to stop.
    pub ask_stop: bool,
    /// What answers must be; default: any text.
    pub output: Option<OutputFormat>,
    /// When the history is made shorter.
    pub context: ContextPolicy,
    pub repeat: RepeatPolicy,
    /// The host is asked about repetitions.
    pub ask_repeat: bool,
    pub retry: RetryPolicy,
    /// Asked in turn when a model's retries are used up.
    pub fallback_models: Vec<ModelConfig>,
    /// Which calls may run; default: all of them, but those of tools that need an approval.
    pub permissions: Option<Permissions>,
    /// The host's functions that are asked at certain points; without them nothing is.
    pub hooks: Vec<Hook>,
    pub tool_execution: ToolExecution,
    /// Tools that run at once; default 8.
    pub max_tool_concurrency: u32,
    /// What becomes of an answer that the limit of output tokens cut off.
    pub on_max_tokens: OnOutputLimit,
    /// An answer that ends otherwise than finished or with tool calls fails the run, and one that says it is finished
    /// is, whatever it calls; default false.
    pub strict_stop_reason: bool,
    /// One steer at a time, the others with later requests; default all that wait.
    pub steer_one: bool,
    /// All follow-ups that wait at once; default one at a time.
    pub follow_up_all: bool,
    /// How a call that went wrong is told to the model.
    pub tool_error_format: ErrorFormat,
    /// Characters of a tool's result that the model is shown; default 100,000.
    pub max_tool_result_chars: u32,
    /// What becomes of a call of a tool that there is not.
    pub on_unknown_tool: OnUnknownTool,
    /// A JSON object of the host's values for the tools' bindings.
    pub inputs: Option<Json>,
    /// Calls of read-only tools start while the rest of their answer streams; default false.
    pub eager_tools: bool,
    /// Limits of tokens and money also count what is not reported yet, by estimate; default false.
    pub estimate_usage: bool,
    /// Join the deltas of one block within one network chunk; default true.
    pub join_deltas: bool,
    /// What happens to effects is saved; without a journal nothing is, and nothing waits for it.
    pub journal: bool,
    /// Events say when they happened, and calls the hash of their input.
    pub trace: bool,
    /// The configurations of the agents that tools stand for, from the second profile on. Theirs have none.
    pub agents: Vec<Config>,
    /// What agents that are kept remember of earlier runs.
    pub subagents: Vec<Memory>,
    /// How the session begins whose first run it is, for hooks of `SessionStart`; none for a later run.
    pub session: Option<String>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            model: ModelConfig::default(),
            system: None,
            instructions: None,
            tools: Vec::new(),
            messages: Vec::new(),
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
            max_tool_concurrency: 8,
            on_max_tokens: OnOutputLimit::default(),
            strict_stop_reason: false,
            steer_one: false,
            follow_up_all: false,
            tool_error_format: ErrorFormat::default(),
            max_tool_result_chars: 100_000,
            on_unknown_tool: OnUnknownTool::default(),
            inputs: None,
            eager_tools: false,
            estimate_usage: false,
            join_deltas: true,
            journal: false,
            trace: false,
            agents: Vec::new(),
            subagents: Vec::new(),
            session: None,
        }
    }
}

/// The conversation of an agent that is kept from call to call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Of its first call.
    pub agent_path: String,
    pub messages: Vec<Message>,
}

/// One tool, without its function: that stays in JavaScript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolConfig {
    pub name: String,
    pub description: String,
    /// JSON Schema of the input, sent to the model as it is.
    pub input_schema: Json,
    /// The vendor makes the model keep to the schema, where it can; default false.
    pub strict: bool,
    /// The same with the bound fields, where the model is not shown all of them; what is checked.
    pub full_schema: Option<Json>,
    /// Fields that the host fills in.
    pub bindings: Vec<Binding>,
    /// Default: `max_tool_result_chars` of the configuration.
    pub max_result_chars: Option<u64>,
    /// The engine checks the input against the full schema; false when a Standard Schema does it in `PrepareCalls`.
    pub validate: bool,
    /// Does not change anything: may run beside other read-only calls.
    pub read_only: bool,
    /// The host wants to see the calls before they run (Standard Schema, `resourceKey`).
    pub prepare: bool,
    /// A call that must not be repeated: it starts only when the save of its start is confirmed, and never early. A save
    /// outlives a crash only with a store; a run warns that it has none (`replay_needs_store`).
    pub replay_once: bool,
    pub timeout_ms: Option<u64>,
    /// Calls of one run; default any number. The model is told when they are used up.
    pub max_calls: Option<u64>,
    /// The host approves each call before it runs.
    pub needs_approval: bool,
    /// What the tool touches, for permission modes and the scopes of rules.
    pub access: Option<Access>,
    /// The field of the input that the scopes of permission rules are compared with; default: by `access`.
    pub rule_subject: Option<String>,
    /// Ours: the model answers by calling it. The host never sees it.
    pub answers: bool,
    /// An agent of the run answers the calls.
    pub agent: Option<AgentTool>,
}

/// A tool that is an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentTool {
    /// Its configuration: 1 is the first of [`Config::agents`], 0 the run's own.
    pub profile: u32,
    /// Each call goes on where the last one ended.
    pub keep: bool,
    /// It takes the conversation over, instead of answering the call.
    pub handoff: bool,
    /// It asks the model that its caller asks.
    pub inherit_model: bool,
}

impl Default for ToolConfig {
    fn default() -> ToolConfig {
        ToolConfig::new(String::new(), Json::empty_object())
    }
}

impl ToolConfig {
    /// A tool with this name and schema, and nothing else said.
    pub fn new(name: String, input_schema: Json) -> ToolConfig {
        ToolConfig {
            name,
            description: String::new(),
            input_schema,
            full_schema: None,
            bindings: Vec::new(),
            max_result_chars: None,
            strict: false,
            validate: true,
            read_only: false,
            prepare: false,
            replay_once: false,
            timeout_ms: None,
            max_calls: None,
            needs_approval: false,
            access: None,
            rule_subject: None,
            answers: false,
            agent: None,
        }
    }
}

/// What a tool touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Reads files.
    Read,
    /// Writes files.
    Edit,
    /// Runs commands.
    Shell,
    /// Reads addresses of the web.
    Fetch,
}

/// What ends a run early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Model calls of one run; default: see [`Config::max_iterations`].
    pub max_iterations: Option<u32>,
    /// Input plus output tokens of one run, checked on strictly greater; default none.
    pub max_total_tokens: Option<u64>,
    /// What one run may cost, in nano-USD, checked on strictly greater; default none.
    pub max_cost_nano_usd: Option<u64>,
    /// Answers with tool calls; default none. The answer after the last round is always allowed, its calls are not.
    pub max_tool_rounds: Option<u32>,
    /// Tool calls of an agent and those below it; default none. An answer that would exceed it ends it before its tools.
    pub max_tool_calls: Option<u32>,
    /// Levels of subagents below the run's own agent; default 1, at most 8.
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
#[serde(rename_all = "camelCase")]
pub enum StopCondition {
    /// This tool was called in it.
    ToolCall(String),
    /// It belongs to this iteration, or a later one.
    Iterations(u32),
}

/// What is done when rounds of tool calls repeat themselves, calls and results being the same.
///
/// `null` switches a step off. A step that is left out keeps the order of the three: see [`RepeatPolicy::steps`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RepeatPolicy {
    pub enabled: bool,
    /// The model is told after so many equal calls, or turns of a cycle of rounds; default 3.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub nudge_after: Option<Option<u32>>,
    /// The host is asked; default 6.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub ask_after: Option<Option<u32>>,
    /// The run is stopped; default 20.
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

/// Times after which something is given up, in milliseconds. `None` waits for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Timeouts {
    /// The whole run; default none. Ends it as stopped by `time`.
    pub total_ms: Option<u64>,
    /// One iteration with all that the host is asked in it, but for approvals; default none. Stopped by `time`.
    pub iteration_ms: Option<u64>,
    /// From sending a request to the first byte of its body; default 600,000 (10 minutes, what the vendors' own SDKs
    /// wait). Retryable.
    pub first_chunk_ms: Option<u64>,
    /// Between two chunks of a body; default 120,000. Retryable.
    pub chunk_ms: Option<u64>,
    /// One tool call, where the tool itself names none; default none. The model gets an error result.
    pub tool_ms: Option<u64>,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            total_ms: None,
            iteration_ms: None,
            first_chunk_ms: Some(600_000),
            chunk_ms: Some(120_000),
            tool_ms: None,
        }
    }
}

/// When and how a failed model call is tried again: after `base_ms × factor^(n - 1 + first_exponent)` plus up to
/// `jitter_ms`, at most `max_ms`, for the n-th retry; or what the server asked for, if that is longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RetryPolicy {
    /// Attempts after the first; default 3.
    pub max_retries: u32,
    /// Default 1,000.
    pub base_ms: u64,
    /// Default 2.
    pub factor: u32,
    /// Default 1: the first wait is base × factor.
    pub first_exponent: u32,
    /// Upper bound of the random part; default 1,000.
    pub jitter_ms: u64,
    /// Default: it is added.
    pub jitter: Jitter,
    /// Default 60,000, or `base_ms` if that is longer. A `Retry-After` beyond it ends the retries.
    pub max_ms: Option<u64>,
    /// Default true.
    pub respect_retry_after: bool,
    /// Names of the failures that are tried again; default: empty, every one that is retryable.
    pub on: Vec<String>,
    /// How often a model call is made when all of its attempts fail, whatever the failure; default 1.
    pub max_calls: u32,
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy {
            max_retries: 3,
            base_ms: 1000,
            factor: 2,
            first_exponent: 1,
            jitter_ms: 1000,
            jitter: Jitter::Added,
            max_ms: None,
            respect_retry_after: true,
            on: Vec::new(),
            max_calls: 1,
        }
    }
}

/// How waits are made to differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Jitter {
    /// Up to `jitter_ms` more.
    #[default]
    Added,
    /// Anything up to the whole wait.
    Full,
}

/// What becomes of an answer without tool calls that the limit of output tokens cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnOutputLimit {
    /// It is the last one.
    #[default]
    Return,
    /// The model is asked to go on where it stopped.
    Continue,
    /// The run fails.
    Error,
}

/// Which calls of one answer may run at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ToolExecution {
    /// Read-only calls beside each other, calls with different resource keys beside each other, all else in order.
    #[default]
    ReadOnlyParallel,
    /// Everything at once, but calls with one resource key in order.
    Parallel,
    /// One after the other.
    Sequential,
}

/// What becomes of a call of a tool that there is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnUnknownTool {
    /// The model is told.
    #[default]
    ToolResult,
    /// The run fails.
    Throw,
    /// The host answers it as it answers the calls of its tools.
    Host,
}

/// A field of a tool's input that is filled in from the run's inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Of the tool's input.
    pub field: String,
    /// The name of one of the run's inputs.
    pub input: String,
}

/// How a call that went wrong is told to the model: one text per convention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ErrorFormat {
    /// `{"error":true,"code":…,"message":…,"hint":…,"recoverable":…}`
    #[default]
    Structured,
    /// `{"error":message}`
    Sprout,
    /// The message.
    Claude,
    /// `Error: message`
    Guide,
    /// `error: message`
    Simple,
    /// `Error: Tool 'name' failed: message`, for what its tool brought about.
    Prompty,
    /// The host finds the words when the round is over; what it leaves open is structured.
    Host,
}
