//! How tool calls run, and what the model reads of them.

use serde::{Deserialize, Serialize};

/// How tool calls run, and what the model reads of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ToolCallPolicy {
    /// Which calls of one answer may run at the same time. Results are always in the order of the calls.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub execution: ToolExecution,
    /// Maximum number of tool calls that run at the same time, a positive integer.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_concurrency: u32,
    /// Maximum number of characters (code points) of a tool's result that the model sees, a positive integer. A
    /// longer result is cut, with a note of how much is missing and a `warning` event (`result_cut`). Events and
    /// `result.toolCalls` have the complete result, and media are never cut. A tool's `maxResultChars` overrides it.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_result_chars: u32,
    /// Whether calls of tools with `readOnly: true` start as soon as they are complete, while the rest of the answer
    /// still streams. If the attempt fails, its calls are aborted and forgotten. No call starts early when there is
    /// an output guardrail.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub eager: bool,
    /// Whether the last call of an answer runs if the limit of output tokens ended the answer directly after
    /// arguments that are complete JSON. Default false: the call gets an error result (`cut_off`), because gateways
    /// close the JSON of arguments that a model did not finish. A call that `toolCalls.eager` has already started
    /// keeps its result.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub run_cut_off: bool,
    /// Whether the model reads the input with which a tool ran, in a text block after the result, if an approval, a
    /// hook or a guardrail changed it. Fields filled by `bindings` are left out. Use `false` for changes that the
    /// model must not see. Default true.
    #[cfg_attr(test, schemars(extend("x-option" = "run")))]
    pub tell_updated_input: bool,
    /// Your code words the failed calls of each round for the model; default: their structured errors.
    pub word_errors: bool,
    /// How a call of an unknown tool is answered.
    pub on_unknown_tool: OnUnknownTool,
    /// Pairs of names: a call of the first is a call of the second, if there is such a tool.
    pub aliases: Vec<(String, String)>,
}

impl Default for ToolCallPolicy {
    fn default() -> ToolCallPolicy {
        ToolCallPolicy {
            execution: ToolExecution::default(),
            max_concurrency: 8,
            max_result_chars: 100_000,
            eager: false,
            run_cut_off: false,
            tell_updated_input: true,
            word_errors: false,
            on_unknown_tool: OnUnknownTool::default(),
            aliases: Vec::new(),
        }
    }
}

/// Which calls of one answer may run at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ToolExecution {
    /// Read-only calls run in parallel, and so do calls with different resource keys. All other calls run in order.
    #[default]
    ReadOnlyParallel,
    /// All calls run at the same time, except that calls with the same resource key run in order.
    Parallel,
    /// One call runs after the other.
    Sequential,
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
