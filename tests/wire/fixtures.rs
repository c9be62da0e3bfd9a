//! Our own small streams in `tests/fixtures`: whole, byte by byte, and cut in two at every position.
//!
//! A fixture is a body (`.sse`, `.ndjson`, `.json`, or `.events` for the binary framing, a message a line) and beside
//! it `.expected.json`: the parts, the finish, the usage, and the failure if there is one. `LOOPLET_WRITE_FIXTURES=1`
//! writes it anew: read the difference before committing it.

use std::fs;
use std::path::{Path, PathBuf};

use looplet::engine::model::answer::ModelAnswer;
use looplet::engine::protocol::framing::Framing;
use looplet::engine::protocol::{Protocol, protocol};
use serde_json::{Value, json};

use crate::bedrock;
use crate::feed::{self, Decoded};

#[test]
fn anthropic_fixtures_decode_alike_wherever_they_are_cut() {
    check_all("anthropic");
}

#[test]
fn chat_fixtures_decode_alike_wherever_they_are_cut() {
    check_all("openai_chat");
}

#[test]
fn responses_fixtures_decode_alike_wherever_they_are_cut() {
    check_all("openai_responses");
}

#[test]
fn gemini_fixtures_decode_alike_wherever_they_are_cut() {
    check_all("gemini");
}

#[test]
fn ndjson_fixtures_decode_alike_wherever_they_are_cut() {
    check_all("ndjson");
}

#[test]
fn bedrock_fixtures_decode_alike_wherever_they_are_cut() {
    check_all("bedrock_converse");
}

fn check_all(name: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| !file.to_string_lossy().ends_with(".expected.json"));
    files.sort();
    assert!(files.len() >= 4, "{} fixtures of {name}", files.len());
    let problems: Vec<String> = files
        .iter()
        .filter_map(|file| check(protocol(name).unwrap(), file).err())
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn check(protocol: &Protocol, file: &Path) -> Result<(), String> {
    let body = bedrock::frame(file, fs::read(file).unwrap());
    assert!(body.len() <= 8192, "{} is larger than 8 KiB", file.display());
    let expected_file = file.with_extension("expected.json");
    let streamed = file.extension().is_some_and(|extension| extension != "json");
    let whole = if streamed {
        feed::decode_stream(protocol, std::iter::once(body.as_slice()))
    } else {
        feed::decode_body(protocol, &body)
    };
    let got = readable(&whole);
    if std::env::var_os("LOOPLET_WRITE_FIXTURES").is_some() {
        fs::write(&expected_file, serde_json::to_string_pretty(&got).unwrap() + "\n").unwrap();
    }
    let expected: Value =
        serde_json::from_slice(&fs::read(&expected_file).unwrap_or_default()).unwrap_or_default();
    if got != expected {
        return Err(format!("{}\n  got  {got}\n  want {expected}", file.display()));
    }
    if streamed {
        check_cuts(protocol, file, &body, &whole)?;
    }
    Ok(())
}

fn check_cuts(protocol: &Protocol, file: &Path, body: &[u8], whole: &Decoded) -> Result<(), String> {
    if feed::decode_stream(protocol, feed::bytes(body)) != *whole {
        return Err(format!(
            "{} byte by byte decodes to something else",
            file.display()
        ));
    }
    for at in 0..=body.len() {
        let (first, second) = body.split_at(at);
        if feed::decode_stream(protocol, [first, second].into_iter()) != *whole {
            return Err(format!(
                "{} cut at {at} decodes to something else",
                file.display()
            ));
        }
    }
    if protocol.framing == Framing::Sse {
        let crlf = String::from_utf8_lossy(body).replace('\n', "\r\n");
        if !body.contains(&b'\r')
            && std::str::from_utf8(body).is_ok()
            && feed::decode_stream(protocol, feed::bytes(crlf.as_bytes())) != *whole
        {
            return Err(format!("{} with CRLF decodes to something else", file.display()));
        }
    }
    Ok(())
}

fn readable(decoded: &Decoded) -> Value {
    let answer = &decoded.answer;
    let parts: Vec<Value> = answer
        .parts
        .iter()
        .map(|part| {
            let mut shown = json!({ "kind": part.kind, "text": part.text });
            let id = (!part.id.is_empty()).then(|| part.id.clone());
            let name = (!part.name.is_empty()).then(|| part.name.clone());
            let vendor = part
                .vendor
                .as_ref()
                .map(|json| serde_json::from_str::<Value>(json.as_str()).unwrap());
            let fields = [
                ("id", json!(id)),
                ("name", json!(name)),
                ("signature", json!(part.signature)),
                ("vendor", json!(vendor)),
            ];
            for (key, value) in fields {
                if !value.is_null() {
                    shown[key] = value;
                }
            }
            if !part.ended {
                shown["ended"] = json!(false);
            }
            shown
        })
        .collect();
    json!({
        "parts": parts,
        "finish": answer.finish_reason,
        "rawFinish": answer.raw_finish_reason,
        "complete": answer.complete,
        "responseId": answer.response_id,
        "model": answer.model,
        "usage": usage(answer),
        "failure": decoded.failure,
    })
}

/// The counts, `null` if there was no report; what few vendors report is left out where it says nothing.
fn usage(answer: &ModelAnswer) -> Value {
    let mut usage = json!(answer.usage);
    let rare = |key: &str| {
        let names = ["cacheWriteHourTokens", "costNanoUsd", "isCostReported"];
        names.contains(&key) || key.starts_with("audio")
    };
    if let Some(counts) = usage.as_object_mut() {
        counts.retain(|key, value| !rare(key) || ![json!(0), json!(null), json!(false)].contains(value));
    }
    usage
}
