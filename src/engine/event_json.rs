//! Writes events as flat JSON, by hand: derived writers of these types weigh 25 kB of wasm. A test compares the two.

use super::event::{CompactTrigger, Event, EventKind, ToolFault};
use super::json_writer::{
    push_comma, push_count, push_flag, push_key, push_number, push_raw, push_string, push_text,
};
use super::message::Json;
use super::outcome_json::{push_failure, push_outcome};
use super::usage::Usage;

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
            EventKind::AgentStart { model } => push_text(into, "model", model),
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
            EventKind::Handoff { to } => push_text(into, "to", to),
            EventKind::ModelChange { model, error } => {
                push_text(into, "model", model);
                if let Some(error) = error {
                    push_key(into, "error");
                    push_failure(into, error);
                }
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
            EventKind::Warning { code, message } => {
                push_text(into, "code", code);
                push_text(into, "message", message);
            }
            EventKind::IterationFinish {
                finish_reason,
                raw_finish_reason,
                usage,
            } => {
                push_text_or_null(into, "finishReason", finish_reason.map(|reason| reason.name()));
                push_text_or_null(into, "rawFinishReason", raw_finish_reason.as_deref());
                push_usage(into, "usage", usage);
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
pub(super) fn push_counts(into: &mut Vec<u8>, key: &str, numbers: &[u32]) {
    push_key(into, key);
    into.push(b'[');
    for number in numbers {
        push_comma(into);
        push_number(into, (*number).into());
    }
    into.push(b']');
}

/// Appends a field with the counts of tokens.
pub(super) fn push_usage(into: &mut Vec<u8>, key: &str, usage: &Usage) {
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
pub(super) fn push_text_or_null(into: &mut Vec<u8>, key: &str, text: Option<&str>) {
    match text {
        Some(text) => push_text(into, key, text),
        None => push_raw(into, key, "null"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::answer::FinishReason;
    use super::super::error::{Failure, FailureCode};
    use super::super::outcome::{Outcome, OutcomeKind, StoppedBy};
    use super::*;

    fn failure() -> Failure {
        let mut failure = Failure::new(FailureCode::RateLimit, "slow \"down\"\n");
        failure.status = Some(429);
        failure.retry_after_ms = Some(7);
        failure.request_id = Some("r".into());
        failure.vendor = Some("v".into());
        failure.body = Some("\u{1}b".into());
        failure
    }

    fn every_kind() -> Vec<EventKind> {
        let text = || String::from("é\"");
        let json = || Json::parse(r#"{"b":1.0,"a":[null]}"#).unwrap();
        let usage = Usage {
            input_tokens: 1,
            output_tokens: u64::MAX,
            cache_read_tokens: 3,
            cache_write_tokens: 4,
            cache_write_hour_tokens: 2,
            reasoning_tokens: 5,
            cost_nano_usd: None,
            is_cost_reported: false,
        };
        let error = ToolFault {
            code: text(),
            message: text(),
            hint: text(),
            recoverable: false,
        };
        let (tool_call_id, tool_name) = (text(), text());
        let outcome = |outcome, stopped_by, error| Outcome {
            outcome,
            stopped_by,
            abort_reason: Some("why".into()),
            error,
        };
        vec![
            EventKind::RunStart {
                model: text(),
                tools: vec![text(), text()],
            },
            EventKind::RunStart {
                model: text(),
                tools: vec![],
            },
            EventKind::AgentStart { model: text() },
            EventKind::IterationStart,
            EventKind::AttemptStart,
            EventKind::TextStart { block: 1 },
            EventKind::TextDelta {
                block: 1,
                text: text(),
            },
            EventKind::TextEnd { block: 1 },
            EventKind::ReasoningStart { block: 1 },
            EventKind::ReasoningDelta {
                block: 1,
                text: text(),
            },
            EventKind::ReasoningEnd { block: 1 },
            EventKind::ToolInputStart {
                block: 1,
                tool_call_id: text(),
                tool_name: text(),
            },
            EventKind::ToolInputDelta {
                block: 1,
                text: text(),
            },
            EventKind::Handoff { to: text() },
            EventKind::ModelChange {
                model: text(),
                error: Some(failure()),
            },
            EventKind::ToolInputEnd { block: 1 },
            EventKind::ToolCall {
                tool_call_id: text(),
                tool_name: text(),
                input: json(),
                input_hash: None,
            },
            EventKind::ToolCall {
                tool_call_id: text(),
                tool_name: text(),
                input: json(),
                input_hash: Some(text()),
            },
            EventKind::ToolProgress {
                tool_call_id: text(),
                tool_name: text(),
                data: json(),
            },
            EventKind::ToolResult {
                tool_call_id: text(),
                tool_name: text(),
                output: json(),
                duration_ms: 3,
            },
            EventKind::ToolError {
                tool_call_id,
                tool_name,
                error,
                duration_ms: 3,
            },
            EventKind::Question {
                question_id: 4,
                question: text(),
                data: None,
            },
            EventKind::Question {
                question_id: 4,
                question: text(),
                data: Some(json()),
            },
            EventKind::Answered { question_id: 4 },
            EventKind::Retry {
                next_attempt: 1,
                max_attempts: 2,
                delay_ms: 3,
                error: failure(),
            },
            EventKind::Reset { blocks: vec![0, 1] },
            EventKind::SteerDelivered { ids: vec![] },
            EventKind::CompactStart {
                trigger: CompactTrigger::Manual,
                pre_tokens: 9,
            },
            EventKind::CompactBoundary {
                trigger: CompactTrigger::Overflow,
                pre_tokens: 9,
                post_tokens: 4,
                duration_ms: 5,
            },
            EventKind::Usage { usage, total: usage },
            EventKind::Warning {
                code: text(),
                message: text(),
            },
            EventKind::IterationFinish {
                finish_reason: None,
                raw_finish_reason: None,
                usage,
            },
            EventKind::IterationFinish {
                finish_reason: Some(FinishReason::ToolCalls),
                raw_finish_reason: Some(text()),
                usage,
            },
            EventKind::AgentFinish {
                outcome: outcome(OutcomeKind::Completed, None, None),
            },
            EventKind::Abort { reason: text() },
            EventKind::Error { error: failure() },
            EventKind::Error {
                error: Failure::new(FailureCode::Bug, ""),
            },
            EventKind::Finish {
                outcome: outcome(OutcomeKind::Failed, None, Some(failure())),
            },
            EventKind::Finish {
                outcome: outcome(OutcomeKind::Stopped, Some(StoppedBy::FatalTool), None),
            },
        ]
    }

    #[test]
    fn every_event_is_its_derived_form_made_flat() {
        for kind in every_kind() {
            let derived = serde_json::to_value(&kind).unwrap();
            let (name, fields) = match &derived {
                Value::String(name) => (name.clone(), Default::default()),
                Value::Object(outer) => {
                    let (name, fields) = outer.iter().next().unwrap();
                    (name.clone(), fields.as_object().unwrap().clone())
                }
                other => panic!("{other}"),
            };
            let mut expected = serde_json::Map::new();
            expected.insert("type".into(), name.into());
            expected.insert("seq".into(), 9.into());
            expected.insert("agentPath".into(), "root".into());
            expected.insert("iteration".into(), 2.into());
            expected.insert("attempt".into(), 1.into());
            expected.insert("timeMs".into(), 7.into());
            expected.extend(fields);
            let mut written = Vec::new();
            let event = Event {
                seq: 9,
                agent: 0,
                iteration: 2,
                attempt: 1,
                time_ms: Some(7),
                kind,
            };
            event.push_json(&mut written, "root");
            assert_eq!(
                String::from_utf8(written).unwrap(),
                Value::Object(expected).to_string()
            );
        }
    }
}
