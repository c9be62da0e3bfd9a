//! Writes how a run ended and what it has to show, by hand: see [`crate::engine::model::event_json`].

use crate::engine::json::writer::{
    push_comma, push_count, push_flag, push_key, push_number, push_raw, push_string, push_text, push_text_if,
};
use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::Memory;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event_json::{push_counts, push_text_or_null, push_usage};
use crate::engine::model::message::Json;
use crate::engine::model::message_json::push_messages;
use crate::engine::model::outcome::{Outcome, OutcomeKind, RunResult, StoppedBy, ToolCallRecord};
use crate::engine::model::output::HttpRequest;

impl OutcomeKind {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            OutcomeKind::Completed => "completed",
            OutcomeKind::Stopped => "stopped",
            OutcomeKind::Cancelled => "cancelled",
            OutcomeKind::Failed => "failed",
        }
    }
}

impl StoppedBy {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            StoppedBy::Iterations => "iterations",
            StoppedBy::Tokens => "tokens",
            StoppedBy::Usd => "usd",
            StoppedBy::Time => "time",
            StoppedBy::FatalTool => "fatal_tool",
            StoppedBy::ToolRounds => "tool_rounds",
            StoppedBy::ToolCalls => "tool_calls",
            StoppedBy::Condition => "condition",
            StoppedBy::Repeat => "repeat",
            StoppedBy::StructuredOutput => "structured_output",
            StoppedBy::Hook => "hook",
            StoppedBy::Guardrail => "guardrail",
        }
    }
}

impl FinishReason {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::Refusal => "refusal",
            FinishReason::Pause => "pause",
            FinishReason::Other => "other",
        }
    }
}

/// The words for failures in JSON.
const FAILURE_CODES: [(FailureCode, &str); 16] = [
    (FailureCode::RateLimit, "rate_limit"),
    (FailureCode::FinishReason, "finish_reason"),
    (FailureCode::Overloaded, "overloaded"),
    (FailureCode::Auth, "auth"),
    (FailureCode::Billing, "billing"),
    (FailureCode::InvalidRequest, "invalid_request"),
    (FailureCode::ContextLength, "context_length"),
    (FailureCode::ContentFilter, "content_filter"),
    (FailureCode::NotFound, "not_found"),
    (FailureCode::Server, "server"),
    (FailureCode::Network, "network"),
    (FailureCode::Timeout, "timeout"),
    (FailureCode::MalformedStream, "malformed_stream"),
    (FailureCode::ConfigInvalid, "config_invalid"),
    (FailureCode::Guardrail, "guardrail"),
    (FailureCode::Bug, "bug"),
];

impl FailureCode {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        FAILURE_CODES
            .iter()
            .find(|(code, _)| *code == self)
            .map_or("", |(_, name)| name)
    }

    /// The code of this name.
    pub fn named(name: &str) -> Option<FailureCode> {
        FAILURE_CODES
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(code, _)| *code)
    }
}

/// Appends a failure.
pub fn push_failure(into: &mut Vec<u8>, failure: &Failure) {
    into.push(b'{');
    push_text(into, "code", failure.code.name());
    push_text(into, "message", &failure.message);
    push_count_if(into, "status", failure.status.map(u64::from));
    push_count_if(into, "retryAfterMs", failure.retry_after_ms);
    push_flag(into, "retryable", failure.retryable);
    push_text_if(into, "requestId", failure.request_id.as_deref());
    push_text_if(into, "vendor", failure.vendor.as_deref());
    push_text_if(into, "body", failure.body.as_deref());
    into.push(b'}');
}

fn push_count_if(into: &mut Vec<u8>, key: &str, number: Option<u64>) {
    if let Some(number) = number {
        push_count(into, key, number);
    }
}

/// Appends an outcome.
pub fn push_outcome(into: &mut Vec<u8>, outcome: &Outcome) {
    into.push(b'{');
    push_text(into, "outcome", outcome.outcome.name());
    push_text_if(into, "stoppedBy", outcome.stopped_by.map(StoppedBy::name));
    push_text_if(into, "abortReason", outcome.abort_reason.as_deref());
    if let Some(error) = &outcome.error {
        push_key(into, "error");
        push_failure(into, error);
    }
    into.push(b'}');
}

impl Outcome {
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        push_outcome(&mut out, self);
        String::from_utf8(out).unwrap_or_default()
    }
}

impl RunResult<'_> {
    pub fn to_json(&self) -> String {
        let mut out = b"{".to_vec();
        let into = &mut out;
        push_text_or_null(into, "outcome", self.outcome.map(OutcomeKind::name));
        push_text_or_null(into, "stoppedBy", self.stopped_by.map(StoppedBy::name));
        push_text_or_null(into, "abortReason", self.abort_reason);
        push_key(into, "error");
        match self.error {
            Some(error) => push_failure(into, error),
            None => into.extend_from_slice(b"null"),
        }
        push_text(into, "text", &self.text);
        push_raw(into, "output", self.output.map_or("null", Json::as_str));
        push_key(into, "toolCalls");
        into.push(b'[');
        for call in self.tool_calls.iter() {
            push_comma(into);
            push_tool_call(into, call);
        }
        into.push(b']');
        push_messages(into, &self.messages);
        push_usage(into, "usage", &self.usage);
        push_key(into, "costNanoUsd");
        match self.cost_nano_usd {
            Some(cost) => push_number(into, cost),
            None => into.extend_from_slice(b"null"),
        }
        push_count(into, "iterations", self.iterations.into());
        push_text_or_null(into, "finishReason", self.finish_reason.map(FinishReason::name));
        push_text_or_null(into, "rawFinishReason", self.raw_finish_reason);
        push_counts(into, "undelivered", &self.undelivered);
        push_key(into, "subagents");
        into.push(b'[');
        for Memory { agent_path, messages } in self.subagents {
            push_comma(into);
            into.push(b'{');
            push_text(into, "agentPath", agent_path);
            push_messages(into, messages);
            into.push(b'}');
        }
        into.extend_from_slice(b"]}");
        String::from_utf8(out).unwrap_or_default()
    }
}

fn push_tool_call(into: &mut Vec<u8>, call: &ToolCallRecord) {
    into.push(b'{');
    push_text(into, "toolCallId", &call.tool_call_id);
    push_text(into, "toolName", &call.tool_name);
    push_raw(into, "input", call.input.as_str());
    push_raw(
        into,
        "output",
        call.output.as_ref().map_or("null", |output| output.as_str()),
    );
    push_flag(into, "isError", call.is_error);
    push_count(into, "durationMs", call.duration_ms);
    into.push(b'}');
}

impl HttpRequest {
    /// As `AuthorizeRequest` in `src/face/driver.ts`, without its body.
    pub fn to_json(&self) -> String {
        let mut out = b"{".to_vec();
        let into = &mut out;
        push_text(into, "method", &self.method);
        push_text(into, "url", &self.url);
        push_key(into, "headers");
        into.push(b'[');
        for (name, value) in &self.headers {
            push_comma(into);
            into.push(b'[');
            push_string(into, name);
            into.push(b',');
            push_string(into, value);
            into.push(b']');
        }
        into.extend_from_slice(b"],\"auth\":{");
        push_text(into, "header", &self.auth.header);
        push_text(into, "prefix", &self.auth.prefix);
        into.push(b'}');
        push_count(into, "model", self.model.into());
        into.push(b'}');
        String::from_utf8(out).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::model::config::Config;
    use crate::engine::model::input::ToolReturn;
    use crate::engine::model::output::AuthSlot;
    use crate::engine::model::question::Answer;
    use crate::engine::model::usage::Usage;

    #[test]
    fn a_result_is_written_as_serde_writes_it() {
        let history = r#"{"model":{"vendor":"v","model":"m"},"messages":[{"role":"user","content":[
            {"type":"text","text":"a","vendor":{"x":1}},{"type":"media","mediaType":"image/png","data":"AA"},
            {"type":"media","mediaType":"image/png","url":"u"},
            {"type":"tool_result","callId":"1","content":[{"type":"text","text":"r"}],"isError":true},
            {"type":"tool_result","callId":"1","content":[]}]},
            {"role":"assistant","partial":true,"origin":{"protocol":"p","model":"m"},"content":[
            {"type":"thinking","text":"h","signature":"s","vendor":{}},{"type":"thinking","text":"h"},
            {"type":"redacted_thinking","data":"d"},{"type":"refusal","text":"no"},
            {"type":"tool_call","id":"1","name":"t","input":{"a":1.0}},
            {"type":"tool_call","id":"2","name":"t","inputText":"{"},{"type":"raw","json":[1]}]}]}"#;
        let messages = Config::from_json(history).unwrap().messages;
        let subagents = [Memory {
            agent_path: "root/a".into(),
            messages: messages.clone(),
        }];
        let error = Failure::new(FailureCode::Billing, "pay");
        let call = |output| ToolCallRecord {
            tool_call_id: "1".into(),
            tool_name: "t".into(),
            input: Json::empty_object(),
            output,
            is_error: true,
            duration_ms: 4,
        };
        let output = Json::parse("{\"a\": 1.0}").unwrap();
        let mut result = RunResult {
            outcome: Some(OutcomeKind::Cancelled),
            stopped_by: Some(StoppedBy::Time),
            abort_reason: Some("why"),
            error: Some(&error),
            text: "t\"".into(),
            output: Some(&output),
            tool_calls: vec![call(None), call(Some(Json::string("x\ny")))].into(),
            messages: messages.into(),
            usage: Usage::default(),
            cost_nano_usd: Some(7),
            iterations: 2,
            finish_reason: Some(FinishReason::Other),
            raw_finish_reason: Some("odd"),
            undelivered: vec![1, 2],
            subagents: &subagents,
        };
        assert_eq!(result.to_json(), serde_json::to_string(&result).unwrap());
        result.outcome = None;
        result.stopped_by = None;
        result.abort_reason = None;
        result.output = None;
        result.error = None;
        result.tool_calls.to_mut().clear();
        result.messages.to_mut().clear();
        result.cost_nano_usd = None;
        result.finish_reason = None;
        result.raw_finish_reason = None;
        assert_eq!(result.to_json(), serde_json::to_string(&result).unwrap());
    }

    #[test]
    fn every_word_is_the_one_that_serde_writes() {
        for (code, name) in FAILURE_CODES {
            assert_eq!(serde_json::to_value(code).unwrap(), name);
            assert_eq!((code.name(), FailureCode::named(name)), (name, Some(code)));
        }
        use FinishReason::{ContentFilter, Length, Other, Pause, Refusal, Stop, ToolCalls};
        for reason in [Stop, Length, ToolCalls, ContentFilter, Refusal, Pause, Other] {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.name());
        }
        use OutcomeKind::{Cancelled, Completed, Failed, Stopped};
        for kind in [Completed, Stopped, Cancelled, Failed] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        use StoppedBy::{FatalTool, Iterations, StructuredOutput, Time, Tokens};
        for by in [Iterations, Tokens, Time, FatalTool, StructuredOutput] {
            assert_eq!(serde_json::to_value(by).unwrap(), by.name());
        }
    }

    #[test]
    fn a_request_is_written_as_serde_writes_it() {
        let mut request = HttpRequest {
            method: "POST".into(),
            url: "https://api.test/\"".into(),
            headers: vec![("a".into(), "\n".into()), ("b".into(), String::new())],
            auth: AuthSlot {
                header: "authorization".into(),
                prefix: "Bearer ".into(),
            },
            model: 1,
        };
        assert_eq!(request.to_json(), serde_json::to_string(&request).unwrap());
        request.headers.clear();
        assert_eq!(request.to_json(), serde_json::to_string(&request).unwrap());
    }

    #[test]
    fn answers_are_read_as_by_serde() {
        for answer in [
            r#"{"prepared":[]}"#,
            r#"{"prepared":[{},{"input":{"a":1},"resourceKey":"k","problem":null}]}"#,
            r#"{"failed":{"why":"no"}}"#,
            r#"{"prepared":[1]}"#,
            r#"{"checked":{}}"#,
            r#"{"summary":"s"}"#,
            r#"{"summary":1}"#,
            r#"{"checked":{"problem":"p","output":[1]}}"#,
            r#"{"failed":{}}"#,
            "{}",
            "[",
        ] {
            let expected = serde_json::from_str::<Answer>(answer).ok();
            assert_eq!(Answer::from_json(answer).ok(), expected, "{answer}");
        }
        for result in [
            r#"{"value":null}"#,
            r#" {"value":{"a": [1.0]}} "#,
            r#"{"content":[{"type":"text","text":"a"}]}"#,
            r#"{"content":[{"type":"text"}]}"#,
            r#"{"fault":{"code":"c","message":"m","hint":"h","recoverable":false}}"#,
            r#"{"fault":{"code":"c","message":"m","hint":"h"}}"#,
            r#"{"other":1}"#,
            "{}",
            "nonsense",
        ] {
            let expected = serde_json::from_str::<ToolReturn>(result).ok();
            assert_eq!(ToolReturn::from_json(result).ok(), expected, "{result}");
        }
    }
}
