//! Writes events as flat JSON, by hand: derived writers of these types weigh 25 kB of wasm. A test compares the two.

use crate::engine::json::writer::{
    push_comma, push_count, push_flag, push_key, push_number, push_raw, push_string, push_text,
};
use crate::engine::model::error::Failure;
use crate::engine::model::event::{CompactTrigger, Event, EventKind, ToolFault};
use crate::engine::model::message::Json;
use crate::engine::model::outcome_json::{push_failure, push_outcome};
use crate::engine::model::usage::Usage;

impl Event {
    /// Appends `{"type":…,"seq":…,"agentPath":…,"iteration":…,"attempt":…}` with the fields of its kind.
    pub fn push_json(&self, into: &mut Vec<u8>, agent_path: &str) {
        into.push(b'{');
        push_text(into, "type", self.kind.name());
        push_count(into, "seq", self.seq.into());
        push_text(into, "agentPath", agent_path);
        push_count(into, "iteration", self.iteration.into());
        push_count(into, "attempt", self.attempt.into());
        if let Some(time_ms) = self.time_ms {
            push_count(into, "timeMs", time_ms);
        }
        self.kind.push_fields(into);
        into.push(b'}');
    }
}

impl CompactTrigger {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            CompactTrigger::Auto => "auto",
            CompactTrigger::Manual => "manual",
            CompactTrigger::Overflow => "overflow",
            CompactTrigger::History => "history",
            CompactTrigger::Budget => "budget",
        }
    }
}

impl EventKind {
    /// The event's `type`.
    pub fn name(&self) -> &'static str {
        match self {
            EventKind::RunStart { .. } => "run-start",
            EventKind::AgentStart { .. } => "agent-start",
            EventKind::IterationStart => "iteration-start",
            EventKind::Handoff { .. } => "handoff",
            EventKind::ModelChange { .. } => "model-change",
            EventKind::AttemptStart => "attempt-start",
            EventKind::TextStart { .. } => "text-start",
            EventKind::TextDelta { .. } => "text-delta",
            EventKind::TextEnd { .. } => "text-end",
            EventKind::ReasoningStart { .. } => "reasoning-start",
            EventKind::ReasoningDelta { .. } => "reasoning-delta",
            EventKind::ReasoningEnd { .. } => "reasoning-end",
            EventKind::ToolInputStart { .. } => "tool-input-start",
            EventKind::ToolInputDelta { .. } => "tool-input-delta",
            EventKind::ToolInputEnd { .. } => "tool-input-end",
            EventKind::ToolCall { .. } => "tool-call",
            EventKind::ToolProgress { .. } => "tool-progress",
            EventKind::ToolResult { .. } => "tool-result",
            EventKind::ToolError { .. } => "tool-error",
            EventKind::Question { .. } => "question",
            EventKind::Answered { .. } => "answered",
            EventKind::Retry { .. } => "retry",
            EventKind::Reset { .. } => "reset",
            EventKind::SteerDelivered { .. } => "steer-delivered",
            EventKind::CompactStart { .. } => "compact-start",
            EventKind::CompactBoundary { .. } => "compact-boundary",
            EventKind::Usage { .. } => "usage",
            EventKind::Limits { .. } => "limits",
            EventKind::Warning { .. } => "warning",
            EventKind::IterationFinish { .. } => "iteration-finish",
            EventKind::AgentFinish { .. } => "agent-finish",
            EventKind::Abort { .. } => "abort",
            EventKind::Error { .. } => "error",
            EventKind::Finish { .. } => "finish",
        }
    }

    fn push_fields(&self, into: &mut Vec<u8>) {
        match self {
            EventKind::AgentStart { model, vendor } => {
                push_text(into, "model", model);
                push_text(into, "vendor", vendor);
            }
            EventKind::IterationStart | EventKind::AttemptStart => {}
            EventKind::RunStart { model, tools } => {
                push_text(into, "model", model);
                push_key(into, "tools");
                into.push(b'[');
                for tool in tools {
                    push_comma(into);
                    push_string(into, tool);
                }
                into.push(b']');
            }
            EventKind::TextStart { block }
            | EventKind::TextEnd { block }
            | EventKind::ReasoningStart { block }
            | EventKind::ReasoningEnd { block }
            | EventKind::ToolInputEnd { block } => push_count(into, "block", (*block).into()),
            EventKind::TextDelta { block, text }
            | EventKind::ReasoningDelta { block, text }
            | EventKind::ToolInputDelta { block, text } => {
                push_count(into, "block", (*block).into());
                push_text(into, "text", text);
            }
            EventKind::ToolInputStart {
                block,
                tool_call_id,
                tool_name,
            } => {
                push_count(into, "block", (*block).into());
                push_tool(into, tool_call_id, tool_name);
            }
            EventKind::ToolCall {
                tool_call_id,
                tool_name,
                input,
                input_hash,
            } => {
                push_tool_json(into, tool_call_id, tool_name, "input", input);
                if let Some(hash) = input_hash {
                    push_text(into, "inputHash", hash);
                }
            }
            EventKind::ToolProgress {
                tool_call_id,
                tool_name,
                data,
            } => push_tool_json(into, tool_call_id, tool_name, "data", data),
            EventKind::ToolResult {
                tool_call_id,
                tool_name,
                output,
                duration_ms,
            } => {
                push_tool_json(into, tool_call_id, tool_name, "output", output);
                push_count(into, "durationMs", *duration_ms);
            }
            EventKind::ToolError {
                tool_call_id,
                tool_name,
                error,
                duration_ms,
            } => {
                push_tool(into, tool_call_id, tool_name);
                push_key(into, "error");
                push_fault(into, error);
                push_count(into, "durationMs", *duration_ms);
            }
            EventKind::Question {
                question_id,
                question,
                data,
            } => {
                push_count(into, "questionId", (*question_id).into());
                push_text(into, "question", question);
                if let Some(data) = data {
                    push_raw(into, "data", data.as_str());
                }
            }
            EventKind::Limits { limits } => push_raw(into, "limits", limits.as_str()),
            EventKind::Handoff { to } => push_text(into, "to", to),
            EventKind::ModelChange { model, vendor, error } => {
                push_text(into, "model", model);
                push_text(into, "vendor", vendor);
                push_failure_if(into, error.as_ref());
            }
            EventKind::Answered { question_id } => push_count(into, "questionId", (*question_id).into()),
            EventKind::Retry {
                next_attempt,
                max_attempts,
                delay_ms,
                error,
            } => {
                push_count(into, "nextAttempt", (*next_attempt).into());
                push_count(into, "maxAttempts", (*max_attempts).into());
                push_count(into, "delayMs", *delay_ms);
                push_key(into, "error");
                push_failure(into, error);
            }
            EventKind::Reset { blocks } => push_counts(into, "blocks", blocks),
            EventKind::SteerDelivered { ids } => push_counts(into, "ids", ids),
            EventKind::CompactStart { trigger, pre_tokens } => {
                push_text(into, "trigger", trigger.name());
                push_count(into, "preTokens", *pre_tokens);
            }
            EventKind::CompactBoundary {
                trigger,
                pre_tokens,
                post_tokens,
                duration_ms,
            } => {
                push_text(into, "trigger", trigger.name());
                push_count(into, "preTokens", *pre_tokens);
                push_count(into, "postTokens", *post_tokens);
                push_count(into, "durationMs", *duration_ms);
            }
            EventKind::Usage { usage, total } => {
                push_usage(into, "usage", usage);
                push_usage(into, "total", total);
            }
            EventKind::Warning { code, message, error } => {
                push_text(into, "code", code);
                push_text(into, "message", message);
                push_failure_if(into, error.as_ref());
            }
            EventKind::IterationFinish {
                finish_reason,
                raw_finish_reason,
                usage,
                response_id,
                response_model,
            } => {
                push_text_or_null(into, "finishReason", finish_reason.map(|reason| reason.name()));
                push_text_or_null(into, "rawFinishReason", raw_finish_reason.as_deref());
                push_usage(into, "usage", usage);
                push_text_or_null(into, "responseId", response_id.as_deref());
                push_text_or_null(into, "responseModel", response_model.as_deref());
            }
            EventKind::Abort { reason } => push_text(into, "reason", reason),
            EventKind::Error { error } => {
                push_key(into, "error");
                push_failure(into, error);
            }
            EventKind::AgentFinish { outcome } | EventKind::Finish { outcome } => {
                push_key(into, "outcome");
                push_outcome(into, outcome);
            }
        }
    }
}

fn push_failure_if(into: &mut Vec<u8>, error: Option<&Failure>) {
    if let Some(error) = error {
        push_key(into, "error");
        push_failure(into, error);
    }
}

fn push_tool(into: &mut Vec<u8>, tool_call_id: &str, tool_name: &str) {
    push_text(into, "toolCallId", tool_call_id);
    push_text(into, "toolName", tool_name);
}

fn push_tool_json(into: &mut Vec<u8>, tool_call_id: &str, tool_name: &str, key: &str, json: &Json) {
    push_tool(into, tool_call_id, tool_name);
    push_raw(into, key, json.as_str());
}

fn push_fault(into: &mut Vec<u8>, fault: &ToolFault) {
    into.push(b'{');
    push_text(into, "code", &fault.code);
    push_text(into, "message", &fault.message);
    push_text(into, "hint", &fault.hint);
    push_flag(into, "recoverable", fault.recoverable);
    into.push(b'}');
}

/// Appends a field with an array of numbers.
pub(in crate::engine) fn push_counts(into: &mut Vec<u8>, key: &str, numbers: &[u32]) {
    push_key(into, key);
    into.push(b'[');
    for number in numbers {
        push_comma(into);
        push_number(into, (*number).into());
    }
    into.push(b']');
}

/// Appends a field with the counts of tokens.
pub(in crate::engine) fn push_usage(into: &mut Vec<u8>, key: &str, usage: &Usage) {
    push_key(into, key);
    into.push(b'{');
    push_count(into, "inputTokens", usage.input_tokens);
    push_count(into, "outputTokens", usage.output_tokens);
    push_count(into, "cacheReadTokens", usage.cache_read_tokens);
    push_count(into, "cacheWriteTokens", usage.cache_write_tokens);
    push_count(into, "cacheWriteHourTokens", usage.cache_write_hour_tokens);
    push_count(into, "reasoningTokens", usage.reasoning_tokens);
    push_key(into, "costNanoUsd");
    match usage.cost_nano_usd {
        Some(cost) => push_number(into, cost),
        None => into.extend_from_slice(b"null"),
    }
    push_flag(into, "isCostReported", usage.is_cost_reported);
    into.push(b'}');
}

/// Appends a field with a string, or `null`.
pub(in crate::engine) fn push_text_or_null(into: &mut Vec<u8>, key: &str, text: Option<&str>) {
    match text {
        Some(text) => push_text(into, key, text),
        None => push_raw(into, key, "null"),
    }
}

#[cfg(test)]
mod tests;
