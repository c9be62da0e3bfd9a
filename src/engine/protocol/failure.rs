//! Converts every error that a provider reports to one [`Failure`] with a code from a closed list.
//!
//! These shapes have been seen: `{"error":{"type","code","message"}}` (OpenAI and most),
//! `{"type":"error","error":{…},"request_id"}` (Anthropic), `[{"error":{…}}]` (Gemini), `{"error":"text"}` (Venice,
//! xAI), a flat `{"message","code","type"}` (Mistral, AWS), `{"detail":"text"}` or a list of them (Mistral 401,
//! FastAPI), `{"response":{"error":{…}}}` (a failed answer of OpenAI's Responses), HTML, text and an empty body.
//!
//! The code comes from clear words of the provider, else from the status.
//! <https://platform.claude.com/docs/en/api/errors>, <https://platform.openai.com/docs/guides/error-codes>
//! (2026-11-20). The model call and the decoders call this module. It never fails itself and never puts a key into a
//! message.

use std::borrow::Cow;

use looplet_scan::reader::{Object, items, string, validate, whole};

use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::usage::shifted;
use crate::engine::policy::retry_after::{reset_ms, retry_after_ms};

use FailureCode::{
    Auth, Billing, ContentFilter, ContextLength, InvalidRequest, NotFound, Overloaded, RateLimit, Server,
    Timeout,
};
use Place::{Message, Word};

/// The failure of an HTTP response with an error status. Header names may have any case. `now_ms` is the time of the
/// response in milliseconds since 1970, for a `Retry-After` that is a date.
pub fn decode_failure(status: u16, headers: &[(String, String)], body: &[u8], now_ms: u64) -> Failure {
    let text = validate(body);
    let mut said = text.as_deref().map(ErrorDetails::read).unwrap_or_default();
    if let Some(kind) = header(headers, "x-amzn-errortype") {
        said.words.push_str(&kind.to_ascii_lowercase());
    }
    let code = said.code(Some(status));
    let mut failure = Failure::new(code, "");
    failure.message = if said.message.is_empty() {
        plain_message(body)
    } else {
        said.message.clone()
    };
    failure.status = Some(status);
    failure.retryable = retryable(status, code, header(headers, "x-should-retry"));
    // Vendors also send `retry-after` with successes, where it means nothing.
    if status >= 400 {
        failure.retry_after_ms = retry_after_ms(
            header(headers, "retry-after"),
            header(headers, "retry-after-ms"),
            now_ms,
        )
        .or(said.retry_after_ms)
        .or_else(|| reset_ms(|name| header(headers, name), now_ms).filter(|_| status == 429));
    }
    failure.request_id = request_id(headers).or(said.request_id);
    failure.vendor_code = said.vendor_code.map(String::into_boxed_str);
    if said.message.is_empty() {
        failure.body = excerpt(body);
    }
    failure
}

/// The failure of an error object inside a stream, or inside a body with status 200. `json` is the complete event or
/// body, and it is valid JSON.
pub(super) fn decode_error_value(json: &str) -> Failure {
    let said = ErrorDetails::read(json);
    let code = said.code(None);
    let mut failure = Failure::new(code, "");
    if said.message.is_empty() {
        failure.message = "the provider reported an error without a message".to_owned();
        failure.body = excerpt(json.as_bytes());
    } else {
        failure.message = said.message;
    }
    failure.request_id = said.request_id;
    failure.vendor_code = said.vendor_code.map(String::into_boxed_str);
    failure
}

/// The failure of an exception inside an Amazon stream. Its type is outside the event, its message inside.
pub(super) fn decode_exception(kind: &[u8], data: &[u8]) -> Failure {
    let text = validate(data);
    let mut said = text.as_deref().map(ErrorDetails::read).unwrap_or_default();
    said.words
        .push_str(&String::from_utf8_lossy(kind).to_ascii_lowercase());
    let mut failure = Failure::new(said.code(None), said.message);
    if failure.message.is_empty() {
        failure.message = String::from_utf8_lossy(if data.is_empty() { kind } else { data }).into_owned();
    }
    failure
}

/// The failure of a body or an event that breaks the protocol.
pub fn malformed(why: &str, body: &[u8]) -> Failure {
    let mut failure = Failure::new(FailureCode::MalformedStream, why);
    failure.body = excerpt(body);
    failure
}

/// The provider's id of the request, for its support team.
pub fn request_id(headers: &[(String, String)]) -> Option<String> {
    let names = [
        "request-id",
        "x-request-id",
        "x-amzn-requestid",
        "apim-request-id",
        "x-ms-request-id",
        "mistral-correlation-id",
        "x-ds-trace-id",
        "x-generation-id",
        "cf-ray",
    ];
    names
        .iter()
        .find_map(|name| header(headers, name))
        .filter(|id| !id.is_empty())
        .map(str::to_owned)
}

/// The first 500 characters, or `None` for an empty body.
fn excerpt(body: &[u8]) -> Option<String> {
    let head = body.get(..body.len().min(2_003)).unwrap_or_default();
    let text: String = String::from_utf8_lossy(head).trim().chars().take(500).collect();
    if text.is_empty() { None } else { Some(text) }
}

/// The message for a body without one: the body itself if it is short plain text.
fn plain_message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body.get(..body.len().min(800)).unwrap_or_default());
    let text = text.trim();
    if text.starts_with('<') {
        "an HTML page".to_owned()
    } else if text.is_empty() || text.len() > 200 || text.starts_with(['{', '[']) {
        "no message".to_owned()
    } else {
        text.to_owned()
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}

/// True when another attempt could succeed: for 408 (a timeout of the request), 409 (of a lock), 429 and 5xx, as in
/// the SDKs of OpenAI and Anthropic, and for no other 4xx. The vendor's `x-should-retry` wins. AWS throttles with
/// 400. <https://github.com/anthropics/anthropic-sdk-typescript/blob/main/src/client.ts> (2026-11-29)
fn retryable(status: u16, code: FailureCode, should_retry: Option<&str>) -> bool {
    match should_retry {
        Some("true") => true,
        Some("false") => false,
        _ => {
            !matches!(code, Billing | ContextLength | ContentFilter)
                && matches!(status, 408 | 409 | 429 | 500..)
        }
    }
}

/// The content of an error body.
#[derive(Default)]
struct ErrorDetails {
    message: String,
    /// Type and code in lower case, separated by a blank.
    words: String,
    /// A number in `code` or `status` that is an HTTP status.
    status: Option<u16>,
    request_id: Option<String>,
    vendor_code: Option<String>,
    /// Google's `RetryInfo`.
    retry_after_ms: Option<u64>,
}

impl ErrorDetails {
    fn read(json: &str) -> ErrorDetails {
        let mut said = ErrorDetails::default();
        if let Some(list) = items(json) {
            return list
                .first()
                .map(|first| ErrorDetails::read(first))
                .unwrap_or_default();
        }
        let Some(mut outer) = Object::parse(json) else {
            return said;
        };
        // A failed answer of the Responses API contains its error.
        if let Some(response) = outer.object("response") {
            outer = response;
        }
        said.request_id = outer.owned("request_id");
        if let Some(inner) = outer.object("error") {
            said.fill(&inner);
            if said.message.is_empty() {
                said.message = inner.get("message").unwrap_or_default().to_owned();
            }
        }
        if said.message.is_empty()
            && let Some(text) = outer.string("error")
        {
            said.message = text.into_owned();
        }
        if said.message.is_empty() || said.words.is_empty() {
            said.fill(&outer);
        }
        let code = said.vendor_code.as_deref().unwrap_or_default();
        let remedy = REMEDIES.iter().find(|(known, _)| *known == code);
        if let Some((_, remedy)) = remedy.filter(|_| !said.message.is_empty()) {
            said.message.push(' ');
            said.message.push_str(remedy);
        }
        said
    }

    fn fill(&mut self, object: &Object<'_>) {
        if self.message.is_empty() {
            let text = ["message", "Message", "error_message", "msg", "detail"]
                .iter()
                .find_map(|name| object.owned(name));
            self.message = text.or_else(|| details(object)).unwrap_or_default();
        }
        for name in ["type", "code", "status", "reason", "__type"] {
            if let Some(number) = object.number(name).and_then(|number| u16::try_from(number).ok())
                && (400..600).contains(&number)
            {
                self.status = self.status.or(Some(number));
            } else if let Some(word) = object.string(name) {
                self.words.push_str(&word.to_ascii_lowercase());
                self.words.push(' ');
                let number = whole(&word).filter(|number| (400..600).contains(number));
                self.status = self.status.or(number.map(|number| number as u16));
            }
        }
        // Anthropic's `BetaErrorDetails`: the words of a message change, the code does not (SDK 1.14.0, 2026-11-24).
        let details = object.object("details");
        if let Some(code) = details.and_then(|details| details.owned("error_code")) {
            self.words.push_str(&code.to_ascii_lowercase());
            self.words.push(' ');
            self.vendor_code = Some(code);
        }
        for detail in object.items("details") {
            let delay = Object::parse(detail).and_then(|detail| detail.string("retryDelay"));
            let delay = delay.and_then(|delay| shifted(delay.strip_suffix('s')?, 3));
            self.retry_after_ms = self.retry_after_ms.or(delay);
        }
    }

    fn code(&self, status: Option<u16>) -> FailureCode {
        let message = self.message.to_ascii_lowercase();
        let is_throttled = status.or(self.status) == Some(429);
        let by_words = named(&self.words, if is_throttled { "" } else { &message });
        let by_status = status.or(self.status).map(code_of_status);
        match (by_words, by_status) {
            // 429 and the server's own failures keep their meaning, unless the message says that waiting is useless.
            (Some(InvalidRequest | Server), Some(by_status)) => by_status,
            (Some(by_words), _) => by_words,
            (None, Some(by_status)) => by_status,
            (None, None) => Server,
        }
    }
}

/// The texts in `{"detail":[{"msg":"…"}]}` of FastAPI or `{"message":{"detail":[{"msg"}]}}` of Mistral.
fn details(object: &Object<'_>) -> Option<String> {
    let inner = object.object("message");
    let list = inner.as_ref().unwrap_or(object).items("detail");
    let mut texts = Vec::new();
    for item in &list {
        let text = match string(item) {
            Some(text) => Some(text),
            None => Object::parse(item).and_then(|item| item.filled("msg")),
        };
        texts.extend(text.map(Cow::into_owned));
    }
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// How to fix errors of Anthropic with messages that do not say it, by `error.details.error_code`. Their meanings are
/// in the types of `@anthropic-ai/sdk` 1.14.0 (2026-11-24).
const REMEDIES: &[(&str, &str)] = &[
    (
        "available_tools_limit_exceeded",
        "Give the agent fewer tools, or shorter descriptions.",
    ),
    (
        "contract_spend_limit_reached",
        "Ask Anthropic to raise the spend limit of your contract.",
    ),
    (
        "enforced_spend_limit_reached",
        "Raise the monthly limit in the Claude Console.",
    ),
    (
        "image_dimensions_too_large",
        "Scale the images down before they go into a prompt or a result.",
    ),
    (
        "linked_organization_spend_limit_reached",
        "The organization of the user profile must raise its limit or buy credit.",
    ),
    (
        "organization_on_hold",
        "Anthropic has disabled the organization: appeal to its support.",
    ),
    (
        "request_body_encoding_invalid",
        "looplet does not compress bodies: check your fetch or proxy.",
    ),
    (
        "request_body_encoding_unsupported",
        "looplet does not compress bodies: check your fetch or proxy.",
    ),
    ("tool_name_conflict", "Rename one of the tools."),
];

enum Place {
    /// The provider's type or code.
    Word,
    /// The message, in lower case.
    Message,
}

/// The code of the first row that matches.
fn named(words: &str, message: &str) -> Option<FailureCode> {
    for (place, code, known) in WORDS {
        let text = match place {
            Place::Word => words,
            Place::Message => message,
        };
        if known.split('|').any(|part| text.contains(part)) {
            return Some(*code);
        }
    }
    None
}

/// Words and parts of messages with their codes. The first matching row wins. Their sources are recorded answers, the
/// vendors' documentation, and the overflow texts that clients of many vendors recognise (2026-11-21).
const WORDS: &[(Place, FailureCode, &str)] = &[
    (
        Word,
        Billing,
        "insufficient_quota|exceeded_current_quota|billing|insufficient_balance|payment_required|\
         arrearage|spend_limit_reached|not_billable",
    ),
    (
        Message,
        Billing,
        "credit balance is too low|insufficient balance|insufficient credits|requires more credits|\
         have any credits|spending limit",
    ),
    (
        Word,
        ContextLength,
        "context_length|context_window|exceed_context_size|prompt_tokens|request_too_large|\
         request_body_too_large",
    ),
    (
        Message,
        ContextLength,
        "prompt is too long|prompt too long|input is too long|messages is too long|context length|\
         context window|context size|context limit|maximum number of tokens|maximum prompt length|\
         maximum model length|maximum allowed input length|prompt exceeds max length|\
         prompt token count of|exceeded model token limit|reduce the length of|\
         range of input length|input tokens exceed|too many input tokens|`max_new_tokens` must be",
    ),
    (
        Word,
        ContentFilter,
        "content_filter|content_policy|responsibleaipolicyviolation|data_inspection_failed|\
         moderation",
    ),
    (
        Message,
        ContentFilter,
        "flagged as potentially violating|content management policy",
    ),
    (
        Word,
        RateLimit,
        "rate_limit|ratelimit|too_many_requests|throttling|servicequotaexceeded|resource_exhausted",
    ),
    (Word, Overloaded, "overloaded|unavailable|modelnotready|slow_down"),
    (
        Word,
        Auth,
        "authentication|invalid_api_key|permission|unauthorized|unauthenticated|accessdenied|\
         unrecognizedclient|expiredtoken|organization_on_hold",
    ),
    (
        Message,
        Auth,
        "api key not valid|incorrect api key|invalid api key",
    ),
    (
        Word,
        NotFound,
        "model_not_found|invalid_model|not_found|resourcenotfound",
    ),
    (
        Message,
        NotFound,
        "model not found|supported api model names|model identifier is invalid|is not a valid model",
    ),
    (Word, Timeout, "timeout|timed_out"),
    (Word, Server, "api_error|server_error|internal|modelstreamerror"),
    (Word, InvalidRequest, "invalid|validation|tool_use_failed"),
];

fn code_of_status(status: u16) -> FailureCode {
    match status {
        401 | 403 => Auth,
        402 => Billing,
        404 => NotFound,
        408 | 504 => Timeout,
        // A shorter history helps, as it does with too many tokens.
        413 => ContextLength,
        424 | 500 => Server,
        429 => RateLimit,
        503 | 529 => Overloaded,
        501.. => Server,
        _ => InvalidRequest,
    }
}
