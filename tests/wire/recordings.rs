//! Every recorded answer decodes to what the vendor's own SDK makes of it, however its bytes are cut.

use looplet::engine::model::answer::{ModelAnswer, Part, PartKind};
use looplet::engine::model::usage::{Terms, Usage};
use looplet::engine::protocol::{Protocol, protocol};
use serde_json::{Value, json};

use crate::bedrock;
use crate::failures;
use crate::feed::{self, Decoded};
use crate::gemini;
use crate::shared::{self, Recording};
use crate::taken;

#[test]
fn recorded_anthropic_answers_decode_to_what_the_oracle_says() {
    check_all("anthropic-messages", "anthropic");
}

#[test]
fn recorded_chat_answers_decode_to_what_the_oracle_says() {
    check_all("openai-chat", "openai_chat");
}

#[test]
fn recorded_gemini_answers_decode_to_what_the_oracle_says() {
    check_all("gemini", "gemini");
}

#[test]
fn recorded_bedrock_answers_decode_to_what_the_oracle_says() {
    check_all("bedrock-converse", "bedrock_converse");
}

fn check_all(recorded: &str, name: &str) {
    check_adapted(recorded, name, 4, |_| {});
}

/// `adapt` brings what the oracle says of another protocol into the form that is compared.
pub fn check_adapted(recorded: &str, name: &str, seeds: u64, adapt: fn(&mut Recording)) {
    let Some(wire) = shared::wire(name) else { return };
    let protocol = protocol(name).unwrap();
    let exceptions = shared::exceptions();
    let mut problems = Vec::new();
    let mut checked = 0;
    for mut recording in shared::recordings(&wire, recorded) {
        adapt(&mut recording);
        let problem = std::panic::catch_unwind(|| check(protocol, &recording, seeds));
        let problem = problem.unwrap_or_else(|_| Err("panicked".to_owned()));
        let excepted = exceptions.iter().find(|(id, _)| *id == recording.id);
        match (problem, excepted) {
            (Err(problem), None) => {
                problems.push(format!("{} ({}): {problem}", recording.id, recording.vendor))
            }
            (Ok(()), Some(_)) => problems.push(format!("{}: is no exception any more", recording.id)),
            _ => checked += 1,
        }
    }
    println!("{checked} recordings of {recorded} checked");
    assert!(
        problems.is_empty(),
        "{} problems:\n{}",
        problems.len(),
        problems.join("\n")
    );
    assert!(checked >= 50);
}

fn check(protocol: &Protocol, recording: &Recording, seeds: u64) -> Result<(), String> {
    if recording.status >= 400 {
        return failures::check(recording);
    }
    if !recording.streaming {
        return check_decoded(protocol, recording, &feed::decode_body(protocol, &recording.body));
    }
    let whole = feed::decode_stream(protocol, std::iter::once(recording.body.as_slice()));
    check_decoded(protocol, recording, &whole)?;
    if feed::decode_stream(protocol, feed::bytes(&recording.body)) != whole {
        return Err("byte by byte it decodes to something else".to_owned());
    }
    for seed in 0..seeds {
        if feed::decode_stream(protocol, feed::cuts(&recording.body, seed).into_iter()) != whole {
            return Err(format!("cut by seed {seed} it decodes to something else"));
        }
    }
    Ok(())
}

/// Compares the answer before and after the transcript has taken it.
fn check_decoded(protocol: &Protocol, recording: &Recording, decoded: &Decoded) -> Result<(), String> {
    compare(decoded, recording, false)?;
    if decoded.failure.is_some() {
        return Ok(());
    }
    let taken = taken::taken(protocol, recording, decoded);
    taken
        .and_then(|taken| compare(&taken, recording, true))
        .map_err(|problem| format!("in the transcript: {problem}"))
}

/// `is_taken` says that the transcript has dropped blanks before and behind the text.
fn compare(decoded: &Decoded, recording: &Recording, is_taken: bool) -> Result<(), String> {
    let expected = &recording.expected;
    let flushed = &expected["if_last_event_is_flushed"];
    let fails = matches!(expected["authoritative"].as_str(), Some("error" | "body")) && flushed.is_null();
    match (&decoded.failure, fails) {
        (Some(failure), false) => return Err(format!("failed: {failure:?}")),
        (None, true) => return Err("the oracle says that it fails".to_owned()),
        (Some(failure), true) if failure.message.is_empty() => return Err("an empty message".to_owned()),
        _ => {}
    }
    let expected = if flushed.is_null() {
        &expected["assembled"]
    } else {
        &flushed["assembled"]
    };
    if expected.is_null() {
        return Ok(());
    }
    let mut got =
        gemini::assembled(&decoded.answer, recording).unwrap_or_else(|| assembled(&decoded.answer, expected));
    bedrock::overlook(&mut got, expected);
    let trimmed = |value: &Value| match value.as_str() {
        Some(text) if is_taken => json!(text.trim()),
        _ => value.clone(),
    };
    for (key, got) in got.as_object().unwrap() {
        let empty = |value: &Value| value.is_null() || *value == json!("") || *value == json!([]);
        let wanted = if key == "usage" && !expected[key].is_null() {
            gemini::usage(&expected[key]).unwrap_or_else(|| neutral_usage(&expected[key]))
        } else {
            expected[key].clone()
        };
        if trimmed(got) != trimmed(&wanted) && !(empty(got) && empty(&wanted)) {
            return Err(format!("{key}\n  got  {got}\n  want {wanted}"));
        }
    }
    Ok(())
}

/// The answer in the oracle's form.
fn assembled(answer: &ModelAnswer, expected: &Value) -> Value {
    let parts = |kind: PartKind| answer.parts.iter().filter(move |part| part.kind == kind);
    let text = |kind: PartKind| parts(kind).map(|part| part.text.as_str()).collect::<String>();
    let calls: Vec<Value> = parts(PartKind::ToolCall)
        .enumerate()
        .map(|(at, part)| call(part, &expected["tool_calls"][at]))
        .collect();
    let raw_type = |part: &Part| serde_json::from_str::<Value>(&part.text).unwrap()["type"].clone();
    let citations = parts(PartKind::Text)
        .filter_map(|part| part.vendor.as_ref())
        .map(|json| serde_json::from_str::<Value>(json.as_str()).unwrap())
        // Perplexity's are addresses, which the oracle does not count.
        .flat_map(|vendor| vendor["citations"].as_array().cloned().unwrap_or_default())
        .filter(Value::is_object)
        .count();
    json!({
        "text": text(PartKind::Text),
        "thinking": text(PartKind::Thinking),
        "signatures": parts(PartKind::Thinking).filter_map(|part| part.signature.clone()).collect::<Vec<_>>(),
        "redacted": parts(PartKind::RedactedThinking).map(|part| part.text.clone()).collect::<Vec<_>>(),
        "refusal": text(PartKind::Refusal),
        "tool_calls": calls,
        "server_blocks": parts(PartKind::Raw).filter(|part| !part.text.is_empty()).map(raw_type).collect::<Vec<_>>(),
        "citations": if citations == 0 { Value::Null } else { json!(citations) },
        "stop_reason": answer.raw_finish_reason,
        "usage": answer.usage,
    })
}

fn call(part: &Part, expected: &Value) -> Value {
    let mut call = json!({ "id": part.id, "name": part.name });
    match serde_json::from_str::<Value>(&part.text) {
        Ok(input) => call["input"] = input,
        // A call that was cut off before its arguments stays blank; the oracle reads an empty object.
        Err(_) if part.text.is_empty() => call["input"] = json!({}),
        Err(_) => call["arguments_raw"] = json!(part.text),
    }
    for key in ["id", "input", "arguments_raw"] {
        if expected[key].is_null()
            && (call[key].is_null() || call[key] == json!("") || call[key] == json!({}))
        {
            call.as_object_mut().unwrap().shift_remove(key);
            if expected
                .as_object()
                .is_some_and(|expected| expected.contains_key(key))
            {
                call[key] = Value::Null;
            }
        }
    }
    call
}

/// Our own reading of the vendors' usage objects, from their documentation.
fn neutral_usage(raw: &Value) -> Value {
    let number = |path: &[&str]| {
        path.iter()
            .fold(raw, |at, key| &at[*key])
            .as_f64()
            .map(|number| number as u64)
    };
    let usage = if let Some(usage) = bedrock::usage(raw) {
        usage
    } else if raw["prompt_tokens"].is_null() {
        let read = number(&["cache_read_input_tokens"]).unwrap_or(0);
        let write = number(&["cache_creation_input_tokens"]).unwrap_or(0);
        // Top-level counts leave out what a compaction or an advisor used. No recorded one of them used a cache.
        let within = |key: &str| -> u64 {
            let iterations = raw["iterations"].as_array().into_iter().flatten();
            iterations
                .filter(|one| one["type"] != "message")
                .filter_map(|one| one[key].as_u64())
                .sum()
        };
        Usage {
            input_tokens: number(&["input_tokens"]).unwrap_or(0) + within("input_tokens") + read + write,
            output_tokens: number(&["output_tokens"]).unwrap_or(0) + within("output_tokens"),
            cache_read_tokens: read,
            cache_write_tokens: write,
            cache_write_hour_tokens: number(&["cache_creation", "ephemeral_1h_input_tokens"]).unwrap_or(0),
            reasoning_tokens: number(&["output_tokens_details", "thinking_tokens"]).unwrap_or(0),
            ..Usage::default()
        }
    } else {
        let (prompt, completion) = (
            number(&["prompt_tokens"]).unwrap(),
            number(&["completion_tokens"]).unwrap_or(0),
        );
        let reasoning = number(&["completion_tokens_details", "reasoning_tokens"])
            .or(number(&["reasoning_tokens"]))
            .unwrap_or(0);
        let beside =
            number(&["total_tokens"]) == Some(prompt + completion + reasoning) || reasoning > 2 * completion;
        let output = completion + if beside { reasoning } else { 0 };
        Usage {
            input_tokens: prompt,
            output_tokens: output,
            cache_read_tokens: number(&["prompt_tokens_details", "cached_tokens"])
                .or(number(&["prompt_cache_hit_tokens"]))
                .or(number(&["cached_tokens"]))
                .or(number(&["num_cached_tokens"]))
                .unwrap_or(0),
            cache_write_tokens: number(&["prompt_tokens_details", "cache_write_tokens"])
                .or(number(&["prompt_tokens_details", "cache_creation_tokens"]))
                .or(number(&["cache_creation_input_tokens"]))
                .unwrap_or(0),
            reasoning_tokens: reasoning.min(output),
            audio_input_tokens: number(&["prompt_tokens_details", "audio_tokens"]).unwrap_or(0),
            audio_output_tokens: number(&["completion_tokens_details", "audio_tokens"]).unwrap_or(0),
            ..Usage::default()
        }
    };
    let cost = |path: &[&str], nano: f64| {
        let cost = path.iter().fold(raw, |at, key| &at[*key]).as_f64()?;
        Some((cost * nano).round() as u64)
    };
    // With a key of the user's own, OpenRouter's cost is its fee.
    let byok = cost(&["cost_details", "upstream_inference_cost"], 1e9)
        .filter(|_| raw["is_byok"] == true)
        .unwrap_or(0);
    let cost_nano_usd = cost(&["cost_in_usd_ticks"], 0.1)
        .filter(|cost| *cost > 0)
        .or(cost(&["cost"], 1e9).map(|fee| fee + byok))
        .or(cost(&["cost", "total_cost"], 1e9));
    let usage = Usage {
        cost_nano_usd,
        ..usage
    }
    .priced(None, Terms::default());
    serde_json::to_value(usage).unwrap()
}
