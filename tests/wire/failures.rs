//! Every recorded error of every vendor: its message, and the code that a person has judged it to deserve.

use looplet::engine::protocol::failure::decode_failure;

use crate::shared::{self, Recording};

/// Words of a message, and what it means where the status alone does not say it.
const JUDGED: &[(&str, &str)] = &[
    ("requested model 'invalid-model' does not exist", "not_found"),
    (
        "requested model 'this-model-does-not-exist' does not exist",
        "not_found",
    ),
    ("previous response with id", "not_found"),
    ("model not found: grok-nonexistent", "not_found"),
    ("the supported api model names are", "not_found"),
    ("provided model identifier is invalid", "not_found"),
    ("invalid model: mistral-does-not-exist", "not_found"),
    ("api key not valid", "auth"),
    ("exceeds the context window", "context_length"),
    ("total length of all messages is too long", "context_length"),
    ("input tokens exceeded", "context_length"),
];

#[test]
fn every_recorded_error_has_the_code_that_it_deserves() {
    let Some(wire) = shared::wire("failures") else {
        return;
    };
    let protocols = [
        "anthropic-messages",
        "openai-chat",
        "openai-responses",
        "gemini",
        "bedrock-converse",
    ];
    let mut checked = 0;
    let mut problems = Vec::new();
    for protocol in protocols {
        for recording in shared::recordings(&wire, protocol) {
            if recording.status >= 400 {
                checked += 1;
                if let Err(problem) = check(&recording) {
                    problems.push(format!("{}: {problem}", recording.id));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    println!("{checked} recorded errors checked");
    assert!(checked > 60);
}

/// The failure has the recorded status, the server's message, the code that it deserves, and is retried when that
/// helps.
pub fn check(recording: &Recording) -> Result<(), String> {
    let failure = decode_failure(recording.status, &recording.headers, &recording.body, 0);
    let message = failure.message.to_lowercase();
    let judged = JUDGED.iter().find(|(words, _)| message.contains(words));
    let wanted = match (judged, recording.status) {
        (Some((_, code)), _) => code,
        (None, 401 | 403) => "auth",
        (None, 404) => "not_found",
        (None, 429) => "rate_limit",
        (None, 500..) => "server",
        (None, _) => "invalid_request",
    };
    let code = serde_json::to_value(failure.code).unwrap();
    if code != wanted {
        return Err(format!("{code} instead of {wanted}: {}", failure.message));
    }
    let said = recording.expected["error"]["body"]["message"]
        .as_str()
        .or_else(|| recording.expected["error"]["body"]["error"]["message"].as_str());
    if failure.status != Some(recording.status) || failure.message.is_empty() {
        return Err(format!("{failure:?}"));
    }
    if said.is_some_and(|said| said != failure.message) {
        return Err(format!(
            "said {said:?}, but the failure says {:?}",
            failure.message
        ));
    }
    if failure.retryable != (recording.status == 429 || recording.status >= 500) {
        return Err(format!("retryable is {}", failure.retryable));
    }
    Ok(())
}
