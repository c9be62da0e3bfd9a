use serde_json::Value;

use crate::engine::model::answer::FinishReason;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event_json::*;
use crate::engine::model::outcome::{Outcome, OutcomeKind, StoppedBy};

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
        EventKind::AgentStart {
            model: text(),
            vendor: text(),
        },
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
        EventKind::Limits { limits: json() },
        EventKind::ModelChange {
            model: text(),
            vendor: text(),
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
        EventKind::warning("code", text()),
        EventKind::Warning {
            code: text(),
            message: text(),
            error: Some(failure()),
        },
        EventKind::IterationFinish {
            finish_reason: None,
            raw_finish_reason: None,
            usage,
            response_id: None,
            response_model: None,
        },
        EventKind::IterationFinish {
            finish_reason: Some(FinishReason::ToolCalls),
            raw_finish_reason: Some(text()),
            usage,
            response_id: Some(text()),
            response_model: Some(text()),
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
