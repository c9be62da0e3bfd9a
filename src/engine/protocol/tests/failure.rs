//! Tests of error bodies from many vendors.

use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::protocol::failure::{decode_error_value, decode_failure};

fn failure(status: u16, headers: &[(&str, &str)], body: &str) -> Failure {
    let headers: Vec<(String, String)> = headers
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    decode_failure(status, &headers, body.as_bytes(), 0)
}

#[test]
fn every_shape_of_error_body_gives_its_message_and_a_code() {
    use FailureCode::{
        Auth, Billing, ContentFilter, ContextLength, InvalidRequest, NotFound, Overloaded, RateLimit, Server,
    };
    let rows: &[(u16, &str, FailureCode, &str, bool)] = &[
        (
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"r"}"#,
            Auth,
            "invalid x-api-key",
            false,
        ),
        (
            403,
            r#"{"type":"error","error":{"type":"permission_error","message":"no"}}"#,
            Auth,
            "no",
            false,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
            Billing,
            "Your credit balance is too low to access the Anthropic API.",
            false,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Ask your admin.","details":{"error_code":"contract_spend_limit_reached"}}}"#,
            Billing,
            "Ask your admin. Ask Anthropic to raise the spend limit of your contract.",
            false,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Too big.","details":{"error_code":"request_body_too_large_after_decoding"}}}"#,
            ContextLength,
            "Too big.",
            false,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            ContextLength,
            "prompt is too long: 210000 tokens > 200000 maximum",
            false,
        ),
        (
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"big"}}"#,
            ContextLength,
            "big",
            false,
        ),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Overloaded,
            "Overloaded",
            true,
        ),
        (
            429,
            r#"{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}"#,
            RateLimit,
            "Rate limit reached",
            true,
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            Billing,
            "You exceeded your current quota",
            false,
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            ContextLength,
            "This model's maximum context length is 8192 tokens.",
            false,
        ),
        (
            400,
            r#"{"error":{"message":"filtered","code":"content_filter","status":400}}"#,
            ContentFilter,
            "filtered",
            false,
        ),
        (
            404,
            r#"{"error":{"message":"The model `x` does not exist","type":"invalid_request_error","code":"model_not_found"}}"#,
            NotFound,
            "The model `x` does not exist",
            false,
        ),
        (
            404,
            r#"{"error":"Specified model not found"}"#,
            NotFound,
            "Specified model not found",
            false,
        ),
        (
            400,
            r#"{"code":"Client specified an invalid argument","error":"Incorrect API key"}"#,
            Auth,
            "Incorrect API key",
            false,
        ),
        (
            400,
            r#"{"object":"error","message":"bad","type":"invalid_request_message_order","code":"3230"}"#,
            InvalidRequest,
            "bad",
            false,
        ),
        (
            422,
            r#"{"object":"error","message":{"detail":[{"type":"missing","loc":["body"],"msg":"Field required"}]},"type":"invalid_request_error"}"#,
            InvalidRequest,
            "Field required",
            false,
        ),
        (401, r#"{"detail":"Unauthorized"}"#, Auth, "Unauthorized", false),
        (
            422,
            r#"{"detail":[{"loc":["a"],"msg":"Field required"},{"msg":"Too short"}]}"#,
            InvalidRequest,
            "Field required; Too short",
            false,
        ),
        (
            402,
            r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
            Billing,
            "Insufficient Balance",
            false,
        ),
        (
            402,
            r#"{"error":{"message":"Pay","code":402}}"#,
            Billing,
            "Pay",
            false,
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]"#,
            Auth,
            "API key not valid.",
            false,
        ),
        (
            503,
            r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
            Overloaded,
            "The model is overloaded.",
            true,
        ),
        (
            500,
            r#"{"error":{"message":"The server had an error","type":"server_error"}}"#,
            Server,
            "The server had an error",
            true,
        ),
        (529, "", Overloaded, "no message", true),
        (
            502,
            "<html><h1>Bad gateway</h1></html>",
            Server,
            "an HTML page",
            true,
        ),
        (
            503,
            "upstream connect error",
            Overloaded,
            "upstream connect error",
            true,
        ),
        (418, "{\"odd\":1}", InvalidRequest, "no message", false),
        (
            408,
            r#"{"error":{"message":"Request timed out"}}"#,
            FailureCode::Timeout,
            "Request timed out",
            true,
        ),
        (
            409,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Conflict"}}"#,
            InvalidRequest,
            "Conflict",
            true,
        ),
    ];
    for (status, body, code, message, retryable) in rows {
        let failure = failure(*status, &[], body);
        assert_eq!(
            (failure.code, failure.message.as_str(), failure.retryable),
            (*code, *message, *retryable),
            "{status} {body}"
        );
        assert_eq!(failure.status, Some(*status));
    }
}

#[test]
fn headers_say_the_kind_the_request_and_whether_and_when_to_try_again() {
    let throttled = failure(
        400,
        &[
            ("X-Amzn-ErrorType", "ThrottlingException:http://x"),
            ("x-amzn-RequestId", "q"),
        ],
        r#"{"message":"Too fast"}"#,
    );
    assert_eq!(
        (throttled.code, throttled.request_id.as_deref()),
        (FailureCode::RateLimit, Some("q"))
    );
    let told_not_to = failure(
        500,
        &[
            ("x-should-retry", "false"),
            ("request-id", "a"),
            ("x-request-id", "b"),
        ],
        "",
    );
    assert_eq!(
        (told_not_to.retryable, told_not_to.request_id.as_deref()),
        (false, Some("a"))
    );
    assert!(failure(400, &[("x-should-retry", "true")], "").retryable);
    assert_eq!(
        failure(429, &[("Retry-After", "7")], "").retry_after_ms,
        Some(7000)
    );
    assert_eq!(
        failure(429, &[("retry-after", "1"), ("retry-after-ms", "0")], "").retry_after_ms,
        Some(1000)
    );
    assert_eq!(
        failure(400, &[], r#"{"error":{"message":"x"},"request_id":"body"}"#)
            .request_id
            .as_deref(),
        Some("body")
    );
}

#[test]
fn an_unreadable_body_is_kept_up_to_500_characters() {
    let page = format!("<html>{}", "ü".repeat(2000));
    let kept = failure(500, &[], &page).body.unwrap();
    assert_eq!(kept.chars().count(), 500);
    assert!(!kept.contains('\u{fffd}'));
    assert_eq!(failure(400, &[], r#"{"error":{"message":"clear"}}"#).body, None);
}

#[test]
fn too_long_a_prompt_is_recognised_in_every_vendors_words() {
    let messages = [
        "prompt is too long: 213462 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 199990 + 20000 > 200000",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        "Input is too long for requested model.",
        "The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Please reduce the length of the messages or completion.",
        "This endpoint's maximum context length is 131072 tokens.",
        "Prompt contains 150000 tokens, too large for model with 131072 maximum context length",
        "The input (300 tokens) is longer than the model's context length (200 tokens).",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193.",
        "the request exceeds the available context size, try increasing it",
        "Prompt has 5000 tokens, but the configured context size is 4096 tokens",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        "prompt token count of 5000 exceeds the limit of 4096",
        "invalid params, context window exceeds limit",
        "Invalid request: Your request exceeded model token limit: 262144 (requested: 310000)",
        "Range of input length should be [1, 30720]",
        "prompt too long; exceeded max context length by 12 tokens",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        "The total length of all messages is too long.",
        "Input length exceeds the maximum allowed input length of 1000 tokens",
    ];
    for message in messages {
        let body = serde_json::json!({"error": {"message": message, "type": "invalid_request_error"}});
        let failure = failure(400, &[], &body.to_string());
        assert_eq!(
            (failure.code, failure.retryable),
            (FailureCode::ContextLength, false),
            "{message}"
        );
    }
    let waits = r#"{"error":{"message":"Rate limit: reduce the length of the messages","type":"tokens"}}"#;
    assert_eq!(failure(429, &[], waits).code, FailureCode::RateLimit);
}

#[test]
fn an_error_inside_a_stream_has_its_code_from_its_words() {
    use FailureCode::{Billing, ContentFilter, ContextLength, Overloaded, RateLimit, Server};
    let rows = [
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"m"}}}"#,
            RateLimit,
        ),
        (
            r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"m"}}}"#,
            Server,
        ),
        (
            r#"{"type":"error","code":"context_length_exceeded","message":"m","param":null}"#,
            ContextLength,
        ),
        (
            r#"{"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"m: flagged as potentially violating our usage policy"}}}"#,
            ContentFilter,
        ),
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#,
            Overloaded,
        ),
        (r#"{"error":{"code":402,"message":"m"},"choices":[]}"#, Billing),
        (r#"{"error":{"code":502,"message":"m"}}"#, Server),
        (r#"{"error":{"code":"502","message":"m"}}"#, Server),
    ];
    for (json, code) in rows {
        let failure = decode_error_value(json);
        assert_eq!(failure.code, code, "{json}");
        assert!(failure.message.starts_with('m'), "{json} {}", failure.message);
        assert_eq!(failure.retry_after_ms, None);
    }
}

#[test]
fn a_wait_is_believed_only_of_an_error() {
    let wait = [("retry-after", "30")];
    assert_eq!(failure(200, &wait, "<html>").retry_after_ms, None);
    assert_eq!(failure(503, &wait, "<html>").retry_after_ms, Some(30_000));
    let google = r#"{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[
        {"@type":"type.googleapis.com/google.rpc.QuotaFailure"},
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.074824224s"}]}}"#;
    assert_eq!(failure(429, &[], google).retry_after_ms, Some(34_075));
    assert_eq!(
        failure(429, &[("retry-after", "7")], google).retry_after_ms,
        Some(7_000)
    );
    assert_eq!(failure(200, &[], google).retry_after_ms, None);
    assert_eq!(decode_error_value(google).retry_after_ms, None);
}

/// `error.details.error_code` of Anthropic's SDK 1.14.0 with the status it comes with, and what the message adds.
#[test]
fn every_code_of_anthropics_details_has_its_kind_and_its_remedy() {
    use FailureCode::{Auth, Billing, ContextLength, InvalidRequest, NotFound, Overloaded, RateLimit};
    let rows: &[(u16, &str, FailureCode, bool, &str)] = &[
        (
            400,
            "available_tools_limit_exceeded",
            InvalidRequest,
            false,
            "fewer tools",
        ),
        (400, "compaction_block_ambiguous", InvalidRequest, false, ""),
        (400, "compaction_block_misplaced", InvalidRequest, false, ""),
        (400, "compaction_content_mismatch", InvalidRequest, false, ""),
        (400, "compaction_incomplete_turn", InvalidRequest, false, ""),
        (400, "compaction_nothing_to_summarize", InvalidRequest, false, ""),
        (400, "compaction_signature_invalid", InvalidRequest, false, ""),
        (
            400,
            "compaction_too_many_tool_references",
            InvalidRequest,
            false,
            "",
        ),
        (400, "compaction_tool_changes_mismatch", InvalidRequest, false, ""),
        (529, "compaction_unavailable", Overloaded, true, ""),
        (
            400,
            "image_dimensions_too_large",
            InvalidRequest,
            false,
            "Scale the images down",
        ),
        (400, "organization_on_hold", Auth, false, "appeal"),
        (
            400,
            "request_body_encoding_invalid",
            InvalidRequest,
            false,
            "fetch or proxy",
        ),
        (
            400,
            "request_body_encoding_unsupported",
            InvalidRequest,
            false,
            "fetch or proxy",
        ),
        (400, "thread_already_continued", InvalidRequest, false, ""),
        (400, "thread_continue_in_flight", InvalidRequest, false, ""),
        (400, "thread_fingerprint_mismatch", InvalidRequest, false, ""),
        (400, "thread_unsupported_request", InvalidRequest, false, ""),
        (400, "tool_name_conflict", InvalidRequest, false, "Rename"),
        (400, "tool_reference_unresolved", InvalidRequest, false, ""),
        (402, "linked_organization_billing_unavailable", Billing, false, ""),
        (
            402,
            "linked_organization_spend_limit_reached",
            Billing,
            false,
            "must raise its limit",
        ),
        (403, "user_profile_billing_not_authorized", Billing, false, ""),
        (403, "user_profile_not_billable", Billing, false, ""),
        (404, "thread_not_found", NotFound, false, ""),
        (
            413,
            "request_body_too_large_after_decoding",
            ContextLength,
            false,
            "",
        ),
        (
            429,
            "contract_spend_limit_reached",
            Billing,
            false,
            "your contract",
        ),
        (
            429,
            "enforced_spend_limit_reached",
            Billing,
            false,
            "Claude Console",
        ),
        (429, "ramp_limit_exceeded", RateLimit, true, ""),
    ];
    for (status, code, kind, retryable, remedy) in rows {
        let word = match status {
            402 => "billing_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "invalid_request_error",
        };
        let body = serde_json::json!({"type": "error", "request_id": "req_1", "error":
            {"type": word, "message": "Their words.", "details": {"error_code": code}}});
        let failure = failure(*status, &[], &body.to_string());
        assert_eq!((failure.code, failure.retryable), (*kind, *retryable), "{code}");
        assert_eq!(failure.vendor_code.as_deref(), Some(*code));
        assert!(failure.message.starts_with("Their words."), "{code}");
        assert!(failure.message.contains(remedy), "{code}: {}", failure.message);
        assert_eq!(failure.message == "Their words.", remedy.is_empty(), "{code}");
        let streamed = decode_error_value(&body.to_string());
        assert_eq!(streamed.vendor_code.as_deref(), Some(*code));
    }
}

#[test]
fn limits_that_are_used_up_make_a_wait_where_the_server_asks_for_none() {
    let limits = [
        ("x-ratelimit-remaining-tokens", "0"),
        ("X-RateLimit-Reset-Tokens", "5s"),
    ];
    assert_eq!(failure(429, &limits, "").retry_after_ms, Some(5000));
    assert_eq!(failure(500, &limits, "").retry_after_ms, None);
    let asked = [limits[0], limits[1], ("retry-after", "2")];
    assert_eq!(failure(429, &asked, "").retry_after_ms, Some(2000));
}
