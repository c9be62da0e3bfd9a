//! Answers of one protocol to a request of another, page of HTML and NDJSON: each failure says what it looks like.

use std::fs;
use std::path::{Path, PathBuf};

use looplet::engine::agent::identity::active_model::ActiveModel;
use looplet::engine::agent::request::model_call::ModelCall;
use looplet::engine::model::error::{Failure, FailureCode};
use looplet::engine::protocol::protocol;
use serde_json::{Value, json};

use crate::bedrock;

const SERVERS: [&str; 5] = [
    "anthropic",
    "openai_chat",
    "openai_responses",
    "gemini",
    "bedrock_converse",
];

/// The failure of a request in this protocol that a server answers with this body and status 200.
fn failure(asked: &str, body: &[u8], cut: usize) -> Option<Failure> {
    let model =
        json!({"vendor": "compatible", "protocol": asked, "model": "m", "baseUrl": "https://x.example/v1"});
    let model = ActiveModel::new(serde_json::from_value(model).unwrap()).unwrap();
    let mut call = ModelCall::new(1, model.protocol, true, true);
    call.handle_head(200, Vec::new());
    let failed = body.chunks(cut).find_map(|chunk| call.handle_chunk(chunk).err());
    let failed = failed.or_else(|| call.handle_end(0, model.protocol).err());
    failed.map(|failure| call.describe(failure, &model))
}

/// The fixtures of a protocol with an answer that nothing is wrong with.
fn answers(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_sound = |file: &PathBuf| {
        let expected = fs::read(file.with_extension("expected.json")).unwrap_or_default();
        serde_json::from_slice(&expected).is_ok_and(|expected: Value| expected["failure"].is_null())
    };
    let bodies = files
        .filter(|file| !file.to_string_lossy().ends_with(".expected.json") && is_sound(file))
        .map(|file| (file.clone(), bedrock::frame(&file, fs::read(&file).unwrap())));
    bodies.collect()
}

#[test]
fn an_answer_of_another_protocol_says_which_one_it_looks_like_and_what_to_use() {
    let mut checked = 0;
    let mut problems = Vec::new();
    for speaks in SERVERS {
        let constructor = protocol(speaks).unwrap().constructor;
        let advice = format!(": use {constructor}(…), or compatible(…) with protocol: \"{speaks}\"");
        for (file, body) in answers(speaks) {
            for asked in SERVERS.into_iter().filter(|asked| *asked != speaks) {
                for cut in [3, body.len()] {
                    checked += 1;
                    let failed = failure(asked, &body, cut);
                    let is_told = failed.as_ref().is_some_and(|failed| {
                        (failed.code, failed.retryable) == (FailureCode::MalformedStream, false)
                            && failed.message.starts_with("the answer looks like ")
                            && failed.message.ends_with(&advice)
                    });
                    if !is_told {
                        let words = failed.map(|failed| failed.message);
                        problems.push(format!(
                            "{asked} reads {} cut at {cut}: {words:?}",
                            file.display()
                        ));
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(checked > 300, "{checked}");
}

#[test]
fn lines_of_json_and_a_page_are_told_apart_from_protocols() {
    let ollama = concat!(
        r#"{"model":"llama3.2","created_at":"2026-11-22T10:00:00Z","message":{"role":"assistant","content":"Hi"},"done":false}"#,
        "\n",
        r#"{"model":"llama3.2","created_at":"2026-11-22T10:00:01Z","message":{"role":"assistant","content":""},"done":true}"#,
        "\n",
    );
    for asked in SERVERS {
        for cut in [3, ollama.len()] {
            let failed = failure(asked, ollama.as_bytes(), cut).unwrap();
            assert!(
                failed.message.contains("is NDJSON"),
                "{asked}: {}",
                failed.message
            );
            assert!(failed.message.contains("/v1"), "{asked}: {}", failed.message);
            assert!(!failed.retryable);
        }
        let page = failure(asked, b"<!doctype html><title>choices</title>", 3).unwrap();
        assert!(page.message.contains("an HTML page"), "{asked}: {}", page.message);
        assert!(
            page.message.contains("Check that the URL is that of the API."),
            "{asked}: {}",
            page.message
        );
        assert!(!page.retryable);
    }
}

#[test]
fn an_answer_of_the_protocol_that_was_asked_keeps_its_own_words() {
    for (asked, body, words) in [
        (
            "openai_chat",
            "data: {\"choices\":[{\"delta\":{}}],\"note\":\"message_start \\\"candidates\\\"\"}\n\n",
            "the stream ended before the answer did",
        ),
        (
            "anthropic",
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"choices\"}}\n\n",
            "the stream ended before the message did",
        ),
        (
            "gemini",
            "data: {\"odd\":1}\n\n",
            "the stream ended before the answer did",
        ),
    ] {
        let failed = failure(asked, body.as_bytes(), body.len()).unwrap();
        assert_eq!(
            (failed.message.as_str(), failed.retryable),
            (words, true),
            "{asked}"
        );
    }
    let nothing = "{\"type\":\"usage\",\"inputTokens\":1}\n{\"type\":\"finish\",\"reason\":\"stop\"}\n";
    assert_eq!(failure("ndjson", nothing.as_bytes(), 9), None);
    let refused = r#"{"type":"error","error":{"type":"overloaded_error","message":"later"}}"#;
    for asked in SERVERS {
        let failed = failure(asked, refused.as_bytes(), 9).unwrap();
        assert_eq!(
            (failed.code, failed.message.as_str()),
            (FailureCode::Overloaded, "later"),
            "{asked}"
        );
    }
}
