//! The configuration of an agent and of one of its runs: plain data, read from the JSON that the face writes.
//!
//! [`Config`] is what all runs of an agent share, [`RunOptions`] what one run adds. Each option has its default here, or
//! in [`crate::engine::policy::defaults`] if the default depends on other options. The face checks names and types by its
//! own table. [`crate::engine::agent::setup::Setup::new`] then checks everything that only the engine can judge, and
//! refuses a wrong value with its path.

use serde::{Deserialize, Serialize};

use crate::engine::model::context::ContextPolicy;
use crate::engine::model::hook::Hook;
use crate::engine::model::json::given;
use crate::engine::model::message::{Json, Message};
pub use crate::engine::model::model_config::{ModelConfig, PromptCaching, ResponseFormat, ToolChoice};
use crate::engine::model::output_format::OutputFormat;
use crate::engine::model::permission::Permissions;

/// The configuration that all runs of an agent share, camelCase in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Config {
    pub model: ModelConfig,
    pub system: Option<String>,
    /// Instructions that are appended to the system prompt of every agent of the run.
    pub instructions: Option<String>,
    pub tools: Vec<ToolConfig>,
    pub limits: Limits,
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
    pub retry: RetryPolicy,
    /// The models to ask in turn when a model's retries are used up.
    pub fallback_models: Vec<ModelConfig>,
    /// Which calls may run; default: every call, except calls of tools that need an approval.
    pub permissions: Option<Permissions>,
    /// Hooks and guardrails, in the order in which they are asked; default none.
    pub hooks: Vec<Hook>,
    pub tool_execution: ToolExecution,
    /// The number of tools that run at once; default 8.
    pub max_tool_concurrency: u32,
    /// How the run treats an answer that the limit of output tokens cut off.
    pub on_max_tokens: OnOutputLimit,
    /// A strict run fails when an answer ends with anything but `stop` or tool calls. In a strict run, an answer with
    /// tool calls that says it is finished is finished, and its calls do not run. Default false.
    pub strict_stop_reason: bool,
    /// One steer is delivered with each request; default: all that wait.
    pub steer_one: bool,
    /// All follow-ups that wait are delivered at once; default: one at a time.
    pub follow_up_all: bool,
    /// Your code words the failed calls of each round for the model; default: their structured errors.
    pub word_errors: bool,
    /// The longest tool result that the model is shown, in characters; default 100,000.
    pub max_tool_result_chars: u32,
    /// How a call of an unknown tool is answered.
    pub on_unknown_tool: OnUnknownTool,
    /// Calls of read-only tools start while the rest of their answer streams; default false.
    pub eager_tools: bool,
    /// Limits of tokens and money also count an estimate of usage that is not reported yet; default false.
    pub estimate_usage: bool,
    /// The deltas of one block within one network chunk are joined; default true.
    pub join_deltas: bool,
    /// The steps of effects are saved; without a journal no step is saved, and nothing waits for a save.
    pub journal: bool,
    /// Events carry their time, and tool calls the hash of their input.
    pub trace: bool,
    /// The configurations of the agents that stand behind tools, from the second profile on. Their own lists are empty.
    pub agents: Vec<Config>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            model: ModelConfig::default(),
            system: None,
            instructions: None,
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
            max_tool_concurrency: 8,
            on_max_tokens: OnOutputLimit::default(),
            strict_stop_reason: false,
            steer_one: false,
            follow_up_all: false,
            word_errors: false,
            max_tool_result_chars: 100_000,
            on_unknown_tool: OnUnknownTool::default(),
            eager_tools: false,
            estimate_usage: false,
            join_deltas: true,
            journal: false,
            trace: false,
            agents: Vec::new(),
        }
    }
}

/// What each run of an agent has of its own when it starts, camelCase in JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunOptions {
    /// The history that the run continues.
    pub messages: Vec<Message>,
    /// The earlier conversations of agents that are kept from call to call.
    pub subagents: Vec<Memory>,
    /// A JSON object with your code's values for the tools' bindings.
    pub inputs: Option<Json>,
    /// How the session begins, for hooks of `SessionStart`; absent in every later run of the session.
    pub session: Option<String>,
}

/// The conversation of an agent that is kept from call to call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// The agent's path at its first call.
    pub agent_path: String,
    pub messages: Vec<Message>,
}

/// One tool, without its function, which stays in JavaScript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolConfig {
    pub name: String,
    pub description: String,
    /// JSON Schema of the input, sent to the model as it is.
    pub input_schema: Json,
    /// The vendor makes the model keep to the schema, where it can; default false.
    pub strict: bool,
    /// JSON Schema of the input with the bound fields, against which a call is checked; present only when the model is
    /// not shown all fields.
    pub full_schema: Option<Json>,
    /// Fields that your code fills in.
    pub bindings: Vec<Binding>,
    /// The longest result of this tool, in characters; default: [`Config::max_tool_result_chars`].
    pub max_result_chars: Option<u64>,
    /// True when the engine checks the input against the schema; false when a Standard Schema checks it in
    /// `PrepareCalls`.
    pub validate: bool,
    /// The tool changes nothing. Its calls may run beside other read-only calls.
    pub read_only: bool,
    /// Your code sees the calls before they run, for a Standard Schema or a `resourceKey`.
    pub prepare: bool,
    /// Calls of this tool must not be repeated. A call starts only when the save of its start is confirmed, and never
    /// early. A save outlives a crash only with a store: a run without one warns with `replay_needs_store`.
    pub replay_once: bool,
    pub timeout_ms: Option<u64>,
    /// The number of calls in one run; default: no limit. The model is told when they are used up.
    pub max_calls: Option<u64>,
    /// Each call waits until your code approves it.
    pub needs_approval: bool,
    /// The kind of resource that the tool touches, for permission modes and the scopes of rules.
    pub access: Option<Access>,
    /// The input field with which the scopes of permission rules are compared; default: by `access`.
    pub rule_subject: Option<String>,
    /// The answer tool, by which the model gives its structured answer. Your code never sees it.
    pub answers: bool,
    /// The agent of the run that answers the calls.
    pub agent: Option<AgentTool>,
}

/// A tool that is an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentTool {
    /// The index of its configuration: 0 is the run's own, 1 the first of [`Config::agents`].
    pub profile: u32,
    /// Each call goes on where the last one ended.
    pub keep: bool,
    /// The agent takes the conversation over instead of answering the call.
    pub handoff: bool,
    /// The agent asks the model of its caller.
    pub inherit_model: bool,
}

impl Default for ToolConfig {
    fn default() -> ToolConfig {
        ToolConfig::new(String::new(), Json::empty_object())
    }
}

impl ToolConfig {
    /// Creates a tool with this name and schema; every other field has its default.
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

/// The kind of resource that a tool touches.
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

/// The limits that end a run early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// The number of model calls in one run; default: see [`Config::max_iterations`].
    pub max_iterations: Option<u32>,
    /// Input plus output tokens of one run; default: no limit. The run stops when it has used more.
    pub max_total_tokens: Option<u64>,
    /// The cost of one run, in nano-USD; default: no limit. The run stops when it has cost more.
    pub max_cost_nano_usd: Option<u64>,
    /// The number of answers with tool calls; default: no limit. The model may answer once more after the last round,
    /// but without calls.
    pub max_tool_rounds: Option<u32>,
    /// The number of tool calls of an agent and all agents below it; default: no limit. An answer that would exceed it
    /// ends the agent before any of its tools runs.
    pub max_tool_calls: Option<u32>,
    /// The levels of subagents below the run's own agent; default 1, at most 8.
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
    /// The round called this tool.
    ToolCall(String),
    /// The round belongs to this iteration or a later one.
    Iterations(u32),
}

/// The steps that a run takes when rounds of tool calls repeat with equal calls and equal results.
///
/// `null` switches a step off. A step that is left out keeps the order of the three: see [`RepeatPolicy::steps`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RepeatPolicy {
    pub enabled: bool,
    /// The number of equal calls, or turns of a cycle of rounds, after which the model is told; default 3.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub nudge_after: Option<Option<u32>>,
    /// The number after which your code is asked; default 6.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub ask_after: Option<Option<u32>>,
    /// The number after which the run stops; default 20.
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

/// Timeouts in milliseconds. `None` waits for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Timeouts {
    /// The whole run; default none. The run then ends as stopped by `time`.
    pub total_ms: Option<u64>,
    /// One iteration with every question that your code answers in it, except approvals; default none. The run then
    /// ends as stopped by `time`.
    pub iteration_ms: Option<u64>,
    /// The time from sending a request to the first byte of its body; default 600,000 (10 minutes, as in the vendors'
    /// own SDKs). The failure is retryable.
    pub first_chunk_ms: Option<u64>,
    /// The time between two chunks of a body; default 120,000. The failure is retryable.
    pub chunk_ms: Option<u64>,
    /// One tool call, unless the tool has a timeout of its own; default none. The model gets an error result.
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

/// When and how a failed model call is tried again.
///
/// The n-th retry waits `base_ms × factor^n` plus up to `jitter_ms`, at most `max_ms`. It waits
/// as long as the server asked for, if that is longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RetryPolicy {
    /// Attempts after the first; default 3.
    pub max_retries: u32,
    /// The wait that grows with each retry, in milliseconds; default 1,000.
    pub base_ms: u64,
    /// The factor by which each wait exceeds the one before; default 2.
    pub factor: u32,
    /// The waits before the first retries in milliseconds, instead of `base_ms` and `factor`; the last one holds for all
    /// later retries. Default empty.
    pub delays_ms: Vec<u64>,
    /// The upper bound of the random share of a wait, in milliseconds; default 1,000.
    pub jitter_ms: u64,
    /// How the random share enters; default: it is added.
    pub jitter: Jitter,
    /// The longest wait, in milliseconds; default 60,000, or `base_ms` if that is longer. A `Retry-After` beyond it
    /// ends the retries.
    pub max_ms: Option<u64>,
    /// A `Retry-After` of the server is obeyed; default true.
    pub respect_retry_after: bool,
    /// Names of the failures that are tried again; default: every failure that is retryable.
    pub on: Vec<String>,
    /// The number of times that a model call is made when all of its attempts fail, whatever the failure; default 1.
    pub max_calls: u32,
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy {
            max_retries: 3,
            base_ms: 1000,
            factor: 2,
            delays_ms: Vec::new(),
            jitter_ms: 1000,
            jitter: Jitter::Added,
            max_ms: None,
            respect_retry_after: true,
            on: Vec::new(),
            max_calls: 1,
        }
    }
}

/// How the random share enters a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Jitter {
    /// Up to `jitter_ms` is added.
    #[default]
    Added,
    /// The wait is random between zero and its full length.
    Full,
}

/// How the run treats an answer without tool calls that the limit of output tokens cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnOutputLimit {
    /// The answer is the last one.
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
    /// Read-only calls run beside each other, and so do calls with different resource keys. Every other call runs in
    /// order.
    #[default]
    ReadOnlyParallel,
    /// All calls run at once, except that calls with the same resource key run in order.
    Parallel,
    /// Calls run one after the other.
    Sequential,
}

/// How a call of an unknown tool is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnUnknownTool {
    /// The model gets an error result.
    #[default]
    ToolResult,
    /// The run fails.
    Throw,
    /// Your code answers it like a call of one of its tools.
    Host,
}

/// A field of a tool's input that is filled in from the run's inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The name of a field of the tool's input.
    pub field: String,
    /// The name of one of the run's inputs.
    pub input: String,
}
