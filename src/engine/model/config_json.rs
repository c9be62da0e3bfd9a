//! Reads a [`Config`] from JSON.
//!
//! By hand: derived readers of these types weigh 60 kB of wasm. The derived ones stay for the state of a run, and a
//! test compares the two.

use crate::engine::agent::output_format::output_format;
use crate::engine::json::reader::{Object, items};
use crate::engine::json::record::{Record, document, text_of};
use crate::engine::model::config::{
    Access, AgentTool, Config, Jitter, Limits, Memory, ModelConfig, OnOutputLimit, OnUnknownTool,
    PromptCaching, RepeatPolicy, ResponseFormat, RetryPolicy, StopCondition, Timeouts, ToolChoice,
    ToolConfig, ToolExecution,
};
use crate::engine::model::error::ConfigError;
use crate::engine::model::message_json::messages;
use crate::engine::model::question::Point;
use crate::engine::model::usage::Price;
use crate::engine::policy::binding::Binding;
use crate::engine::policy::context::context_policy;
use crate::engine::policy::hook::{Hook, Prepared, Raise};
use crate::engine::policy::permission::{PermissionMode, Permissions, RuleKind};
use crate::engine::policy::rule::Rule;
use crate::engine::policy::tool_error::ErrorFormat;

impl Config {
    /// Reads what the face hands in.
    ///
    /// # Errors
    /// The first field that is missing or is not what it must be, with its path.
    pub fn from_json(json: &str) -> Result<Config, ConfigError> {
        let mut record = Record::new(document("config", json)?);
        let r = &mut record;
        let mut tools = Vec::new();
        r.each("tools", &mut |json| {
            tools.push(tool(json)?);
            Ok(())
        });
        let mut config = Config {
            model: r.object("model", model),
            system: r.text_if("system"),
            instructions: r.text_if("instructions"),
            tools,
            messages: messages(r),
            limits: r.object_or_default("limits", limits),
            timeouts: r.object_or_default("timeouts", timeouts),
            retry: r.object_or_default("retry", retry),
            fallback_models: {
                let mut models = Vec::new();
                r.each("fallbackModels", &mut |json| {
                    let mut record = Record::new(json);
                    let read = model(&mut record);
                    models.push(record.finish(read)?);
                    Ok(())
                });
                models
            },
            stop_when: {
                let mut conditions = Vec::new();
                r.each("stopWhen", &mut |json| {
                    conditions.push(stop_condition(json)?);
                    Ok(())
                });
                conditions
            },
            ask_stop: r.flag("askStop", false),
            context: r.object_or_default("context", context_policy),
            output: match r.given("output") {
                Some(_) => Some(r.object_or_default("output", output_format)),
                None => None,
            },
            repeat: r.object_or_default("repeat", repeat),
            ask_repeat: r.flag("askRepeat", false),
            permissions: match r.given("permissions") {
                Some(_) => Some(r.object_or_default("permissions", permissions)),
                None => None,
            },
            hooks: hooks(r),
            tool_execution: match r.word("toolExecution", &["read-only-parallel", "parallel", "sequential"]) {
                Some(1) => ToolExecution::Parallel,
                Some(2) => ToolExecution::Sequential,
                _ => ToolExecution::ReadOnlyParallel,
            },
            max_tool_concurrency: r.small("maxToolConcurrency", 8),
            on_max_tokens: match r.word("onMaxTokens", &["return", "continue", "error"]) {
                Some(1) => OnOutputLimit::Continue,
                Some(2) => OnOutputLimit::Error,
                _ => OnOutputLimit::Return,
            },
            strict_stop_reason: r.flag("strictStopReason", false),
            steer_one: r.flag("steerOne", false),
            follow_up_all: r.flag("followUpAll", false),
            tool_error_format: ErrorFormat::nth(
                r.word("toolErrorFormat", ErrorFormat::NAMES).unwrap_or_default(),
            ),
            max_tool_result_chars: r.small("maxToolResultChars", 100_000),
            on_unknown_tool: match r.word("onUnknownTool", &["tool_result", "throw", "host"]) {
                Some(1) => OnUnknownTool::Throw,
                Some(2) => OnUnknownTool::Host,
                _ => OnUnknownTool::ToolResult,
            },
            inputs: r.json_if("inputs"),
            eager_tools: r.flag("eagerTools", false),
            estimate_usage: r.flag("estimateUsage", false),
            join_deltas: r.flag("joinDeltas", true),
            trace: r.flag("trace", false),
            agents: agents(r),
            subagents: memories(r),
            session: r.text_if("session"),
        };
        let limits = r.given("limits").and_then(Object::parse);
        if limits.is_none_or(|limits| limits.last("maxIterations").is_none()) {
            config.limits.max_iterations = config.max_iterations_following();
        }
        record.finish(config)
    }
}

impl ModelConfig {
    /// Reads one model.
    ///
    /// # Errors
    /// As [`Config::from_json`].
    pub fn from_json(json: &str) -> Result<ModelConfig, ConfigError> {
        let mut record = Record::new(document("model", json)?);
        let model = model(&mut record);
        record.finish(model)
    }

    /// A model with this vendor and name, and nothing else said.
    pub fn new(vendor: String, model: String) -> ModelConfig {
        ModelConfig {
            slot: 0,
            vendor,
            protocol: None,
            model,
            base_url: None,
            headers: Vec::new(),
            stream: true,
            max_output_tokens: None,
            temperature: None,
            top_p: None,
            top_k: None,
            frequency_penalty: None,
            presence_penalty: None,
            seed: None,
            stop_sequences: Vec::new(),
            thinking: None,
            effort: None,
            tool_choice: None,
            parallel_tool_calls: None,
            response_format: None,
            prompt_caching: PromptCaching::default(),
            metadata: None,
            body: None,
            quirks: None,
            price: None,
        }
    }
}

fn model(r: &mut Record<'_>) -> ModelConfig {
    let mut model = ModelConfig::new(r.text("vendor"), r.text("model"));
    model.slot = r.small("slot", 0);
    model.protocol = r.text_if("protocol");
    model.base_url = r.text_if("baseUrl");
    r.each("headers", &mut |json| {
        model.headers.push(pair(json)?);
        Ok(())
    });
    model.stream = r.flag("stream", true);
    model.max_output_tokens = r.number_if("maxOutputTokens");
    model.temperature = r.json_if("temperature");
    model.top_p = r.json_if("topP");
    model.top_k = r.json_if("topK");
    model.frequency_penalty = r.json_if("frequencyPenalty");
    model.presence_penalty = r.json_if("presencePenalty");
    model.seed = r.json_if("seed");
    model.stop_sequences = r.texts("stopSequences");
    model.thinking = r.json_if("thinking");
    model.effort = r.text_if("effort");
    if let Some(json) = r.given("toolChoice") {
        model.tool_choice = r.within("toolChoice", tool_choice(json));
    }
    model.parallel_tool_calls = r.flag_if("parallelToolCalls");
    if r.given("responseFormat").is_some() {
        model.response_format = Some(r.object("responseFormat", response_format));
    }
    model.prompt_caching = r.object_or_default("promptCaching", prompt_caching);
    model.metadata = r.json_if("metadata");
    model.body = r.json_if("body");
    model.quirks = r.json_if("quirks");
    if r.given("price").is_some() {
        model.price = Some(r.object_or_default("price", price));
    }
    model
}

fn permissions(r: &mut Record<'_>) -> Permissions {
    let mode = r.word("mode", PermissionMode::NAMES);
    let mut read = Permissions {
        mode: PermissionMode::nth(mode.unwrap_or(0)),
        can_use_tool: r.flag("canUseTool", false),
        timeout_ms: r.number_if("timeoutMs"),
        ..Permissions::default()
    };
    for (index, key) in RuleKind::NAMES.iter().enumerate() {
        let into = read.rules(RuleKind::nth(index));
        r.each(key, &mut |json| {
            into.push(rule(&text_of(json)?)?);
            Ok(())
        });
    }
    read
}

/// # Errors
/// A text that is no rule.
pub fn rule(text: &str) -> Result<Rule, ConfigError> {
    Rule::parse(text)
        .ok_or_else(|| ConfigError::new("", ["must be Tool or Tool(specifier), got ", text].concat()))
}

fn hooks(r: &mut Record<'_>) -> Vec<Hook> {
    let mut hooks = Vec::new();
    r.each("hooks", &mut |json| {
        let mut record = Record::new(json);
        let event = record.text("event");
        let names = record.given("names").is_some();
        let names = names.then(|| record.texts("names"));
        let timeout_ms = record.number_if("timeoutMs");
        let blocks = record.flag("blocks", false);
        let Some(event) = Point::hook_named(&event) else {
            return Err(ConfigError::new("event", "is no event"));
        };
        hooks.push(record.finish(Hook {
            event,
            names,
            timeout_ms,
            blocks,
        })?);
        Ok(())
    });
    hooks
}

fn pair(json: &str) -> Result<(String, String), ConfigError> {
    match items(json).as_deref() {
        Some([name, value]) => Ok((text_of(name)?, text_of(value)?)),
        _ => Err(ConfigError::new("", "must be a name and a value")),
    }
}

fn tool_choice(json: &str) -> Result<ToolChoice, ConfigError> {
    if json.starts_with('{') {
        let mut record = Record::new(json);
        let name = record.text("tool");
        return record.finish(ToolChoice::Tool(name));
    }
    match text_of(json)?.as_str() {
        "auto" => Ok(ToolChoice::Auto),
        "none" => Ok(ToolChoice::None),
        "required" => Ok(ToolChoice::Required),
        _ => Err(ConfigError::new(
            "",
            "must be one of auto, none, required, { tool: name }",
        )),
    }
}

fn response_format(r: &mut Record<'_>) -> ResponseFormat {
    ResponseFormat {
        name: match r.get("name") {
            Some(_) => r.text("name"),
            None => "answer".to_owned(),
        },
        schema: r.json("schema"),
        strict: r.flag("strict", true),
    }
}

fn prompt_caching(r: &mut Record<'_>) -> PromptCaching {
    PromptCaching {
        enabled: r.flag_if("enabled"),
        ttl: r.text_if("ttl"),
        key: r.text_if("key"),
    }
}

fn price(r: &mut Record<'_>) -> Price {
    for key in ["inputNanoUsd", "outputNanoUsd"] {
        if r.get(key).is_none() {
            r.refuse(key, "is missing");
        }
    }
    Price {
        input_nano_usd: r.number("inputNanoUsd", 0, u64::MAX),
        output_nano_usd: r.number("outputNanoUsd", 0, u64::MAX),
        cache_read_nano_usd: r.number_if("cacheReadNanoUsd"),
        cache_write_nano_usd: r.number_if("cacheWriteNanoUsd"),
        cache_write_hour_nano_usd: r.number_if("cacheWriteHourNanoUsd"),
        long_above_tokens: r.number_if("longAboveTokens"),
        long_input_percent: r.number_if("longInputPercent"),
        long_output_percent: r.number_if("longOutputPercent"),
    }
}

fn tool(json: &str) -> Result<ToolConfig, ConfigError> {
    let mut record = Record::new(json);
    let r = &mut record;
    let tool = ToolConfig {
        name: r.text("name"),
        description: r.text_or_empty("description"),
        input_schema: r.json("inputSchema"),
        full_schema: r.json_if("fullSchema"),
        bindings: bindings(r),
        max_result_chars: r.number_if("maxResultChars"),
        strict: r.flag("strict", false),
        needs_approval: r.flag("needsApproval", false),
        max_calls: r.number_if("maxCalls"),
        access: access(r),
        rule_subject: r.text_if("ruleSubject"),
        agent: match r.given("agent") {
            Some(_) => Some(r.object_or_default("agent", agent_tool)),
            None => None,
        },
        validate: r.flag("validate", true),
        read_only: r.flag("readOnly", false),
        prepare: r.flag("prepare", false),
        replay_once: r.flag("replayOnce", false),
        timeout_ms: r.number_if("timeoutMs"),
        answers: false,
    };
    record.finish(tool)
}

fn bindings(r: &mut Record<'_>) -> Vec<Binding> {
    let mut bindings = Vec::new();
    r.each("bindings", &mut |json| {
        let mut record = Record::new(json);
        let binding = Binding {
            field: record.text("field"),
            input: record.text("input"),
        };
        bindings.push(record.finish(binding)?);
        Ok(())
    });
    bindings
}

/// How deep they nest is bounded by how deep JSON does; those of agents are refused when the run is made.
fn agents(r: &mut Record<'_>) -> Vec<Config> {
    let mut agents = Vec::new();
    r.each("agents", &mut |json| {
        agents.push(Config::from_json(json)?);
        Ok(())
    });
    agents
}

fn memories(r: &mut Record<'_>) -> Vec<Memory> {
    let mut memories = Vec::new();
    r.each("subagents", &mut |json| {
        let mut record = Record::new(json);
        let memory = Memory {
            agent_path: record.text("agentPath"),
            messages: messages(&mut record),
        };
        memories.push(record.finish(memory)?);
        Ok(())
    });
    memories
}

fn agent_tool(r: &mut Record<'_>) -> AgentTool {
    AgentTool {
        profile: r.small("profile", 0),
        keep: r.flag("keep", false),
        handoff: r.flag("handoff", false),
        inherit_model: r.flag("inheritModel", false),
    }
}

fn access(r: &mut Record<'_>) -> Option<Access> {
    r.given("access")?;
    match r.word("access", &["read", "edit", "shell", "fetch"])? {
        0 => Some(Access::Read),
        1 => Some(Access::Edit),
        2 => Some(Access::Shell),
        _ => Some(Access::Fetch),
    }
}

fn limits(r: &mut Record<'_>) -> Limits {
    let default = Limits::default();
    Limits {
        max_iterations: r.small("maxIterations", default.max_iterations),
        max_total_tokens: r.number_if("maxTotalTokens"),
        max_cost_nano_usd: r.number_if("maxCostNanoUsd"),
        max_tool_rounds: small_if(r, "maxToolRounds"),
        max_tool_calls: small_if(r, "maxToolCalls"),
        max_subagent_depth: r.small("maxSubagentDepth", default.max_subagent_depth),
    }
}

/// How a host prepares the next iteration.
pub fn prepared(r: &mut Record<'_>) -> Prepared {
    Prepared {
        model: r.given("model").map(|_| r.object_or_default("model", model)),
        tools: r.given("tools").map(|_| r.texts("tools")),
        tool_choice: r
            .given("toolChoice")
            .and_then(|json| r.within("toolChoice", tool_choice(json))),
        system: r.text_if("system"),
    }
}

/// What limits a host raises.
pub fn raise(r: &mut Record<'_>) -> Raise {
    Raise {
        max_iterations: small_if(r, "maxIterations"),
        max_total_tokens: r.number_if("maxTotalTokens"),
        max_cost_nano_usd: r.number_if("maxCostNanoUsd"),
        max_tool_rounds: small_if(r, "maxToolRounds"),
        max_tool_calls: small_if(r, "maxToolCalls"),
        time_ms: r.number_if("timeMs"),
    }
}

fn small_if(r: &mut Record<'_>, key: &str) -> Option<u32> {
    r.given(key)?;
    Some(r.small(key, 0))
}

fn stop_condition(json: &str) -> Result<StopCondition, ConfigError> {
    let mut record = Record::new(json);
    let condition = if record.given("iterations").is_some() {
        StopCondition::Iterations(record.small("iterations", 0))
    } else {
        StopCondition::ToolCall(record.text("toolCall"))
    };
    record.finish(condition)
}

fn repeat(r: &mut Record<'_>) -> RepeatPolicy {
    // A threshold that is null is none.
    let mut said = |key: &str| r.get(key).map(|_| small_if(r, key));
    let (nudge, ask, stop) = (said("nudgeAfter"), said("askAfter"), said("stopAfter"));
    RepeatPolicy {
        enabled: r.flag("enabled", true),
        ..RepeatPolicy::following(nudge, ask, stop)
    }
}

fn timeouts(r: &mut Record<'_>) -> Timeouts {
    let default = Timeouts::default();
    // A timeout that is null is none, also where the default is one.
    let mut or = |key: &str, default: Option<u64>| match r.get(key) {
        None => default,
        Some(_) => r.number_if(key),
    };
    Timeouts {
        total_ms: or("totalMs", default.total_ms),
        iteration_ms: or("iterationMs", default.iteration_ms),
        first_chunk_ms: or("firstChunkMs", default.first_chunk_ms),
        chunk_ms: or("chunkMs", default.chunk_ms),
        tool_ms: or("toolMs", default.tool_ms),
    }
}

fn retry(r: &mut Record<'_>) -> RetryPolicy {
    let default = RetryPolicy::default();
    let base_ms = r.number("baseMs", default.base_ms, u64::MAX);
    RetryPolicy {
        max_retries: r.small("maxRetries", default.max_retries),
        base_ms,
        factor: r.small("factor", default.factor),
        first_exponent: r.small("firstExponent", default.first_exponent),
        jitter_ms: r.number("jitterMs", default.jitter_ms, u64::MAX),
        jitter: match r.word("jitter", &["added", "full"]) {
            Some(1) => Jitter::Full,
            _ => Jitter::Added,
        },
        max_ms: r.number("maxMs", RetryPolicy::max_ms_following(base_ms), u64::MAX),
        respect_retry_after: r.flag("respectRetryAfter", default.respect_retry_after),
        on: r.texts("on"),
        max_calls: r.small("maxCalls", default.max_calls),
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
