//! Recorded conversations, replayed: from the first request, with the recorded answers and tool results, each request
//! that our encoders make means the same as the recorded one.

use std::fs;
use std::path::Path;

use looplet::engine::agent::history::body::Body;
use looplet::engine::model::answer::{ModelAnswer, Part, PartKind};
use looplet::engine::model::message::{Block, Json, MediaSource, Message, Origin, ToolInput};
use looplet::engine::protocol::{RequestSpec, protocol};
use serde_json::Value;

use crate::convert::{self, Setup};
use crate::convert_bedrock;
use crate::convert_gemini;
use crate::convert_responses;
use crate::feed;
use crate::semantics::{canonical, difference};
use crate::shared;

/// One recorded exchange after the request is made.
pub struct Step {
    pub streaming: bool,
    /// An error ends the conversation.
    pub failed: bool,
    pub body: Vec<u8>,
    /// What answers the calls in it; empty after the last step.
    pub results: Vec<Block>,
}

/// Plays the steps and returns the request bodies that were made, one per step.
pub type Driver = fn(&Setup, &[Step]) -> Result<Vec<Vec<u8>>, String>;

#[test]
fn recorded_anthropic_conversations_replay_through_the_encoders() {
    replay_all("anthropic-messages", "anthropic", "chain", encoders, 20);
}

#[test]
fn recorded_chat_conversations_replay_through_the_encoders() {
    replay_all("openai-chat", "openai_chat", "chain", encoders, 90);
}

#[test]
fn recorded_gemini_conversations_replay_through_the_encoders() {
    replay_all("gemini", "gemini", "chain", encoders, 30);
}

#[test]
fn recorded_bedrock_conversations_replay_through_the_encoders() {
    replay_all("bedrock-converse", "bedrock_converse", "chain", encoders, 9);
}

/// Replays every chain that is marked replayable. `label` begins the names of exceptions that only this driver has.
pub fn replay_all(recorded: &str, name: &'static str, label: &str, driver: Driver, at_least: usize) {
    let Some(wire) = shared::wire(name) else { return };
    let exceptions = shared::exceptions();
    let mut files: Vec<_> = fs::read_dir(wire.join(recorded))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let (mut checked, mut problems) = (0, Vec::new());
    for file in files
        .iter()
        .filter(|file| file.to_string_lossy().ends_with(".conversation.json"))
    {
        let conversation: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        for chain in conversation["chains"].as_array().unwrap() {
            if chain["replayable"] != true {
                continue;
            }
            let steps: Vec<&Value> = chain["steps"]
                .as_array()
                .unwrap()
                .iter()
                .map(|at| step(&conversation, at))
                .collect();
            // Some conversations go on at another vendor.
            let body = steps[0]["response"]["body_file"].as_str().unwrap();
            let name = protocol_of(body);
            let id = steps[0]["id"].as_str().unwrap();
            let problem = std::panic::catch_unwind(|| replay(&wire, name, &steps, driver));
            let problem = problem.unwrap_or_else(|_| Err("panicked".to_owned()));
            let is_of = |known: &str| known == format!("chain:{id}") || known == format!("{label}:{id}");
            let excepted = exceptions.iter().any(|(known, _)| is_of(known));
            match (problem, excepted) {
                (Err(problem), false) => problems.push(format!("{label}:{id}: {problem}")),
                (Ok(()), true) => problems.push(format!("{label}:{id}: is no exception any more")),
                _ => checked += 1,
            }
        }
    }
    println!("{checked} conversations of {recorded} replayed");
    assert!(
        problems.is_empty(),
        "{} problems:\n{}",
        problems.len(),
        problems.join("\n")
    );
    assert!(checked >= at_least);
}

/// The step of this number; some conversations leave numbers out.
fn step<'a>(conversation: &'a Value, index: &Value) -> &'a Value {
    let mut steps = conversation["steps"].as_array().unwrap().iter();
    steps.find(|step| step["index"] == *index).unwrap()
}

fn protocol_of(body_file: &str) -> &'static str {
    match body_file.split_once('/').unwrap().0 {
        "anthropic-messages" => "anthropic",
        "openai-chat" => "openai_chat",
        "openai-responses" => "openai_responses",
        "gemini" => "gemini",
        "bedrock-converse" => "bedrock_converse",
        other => panic!("{other}"),
    }
}

fn replay(wire: &Path, name: &'static str, steps: &[&Value], driver: Driver) -> Result<(), String> {
    let read = |path: &Value| fs::read(wire.join(path.as_str().unwrap())).unwrap();
    let requests: Vec<Value> = steps
        .iter()
        .map(|step| serde_json::from_slice(&read(&step["request"]["body_file"])).unwrap())
        .collect();
    let openai = steps[0]["request"]["url"]
        .as_str()
        .unwrap()
        .contains("api.openai.com");
    let mut setup = match name {
        "gemini" => convert_gemini::setup(steps[0]["request"]["url"].as_str().unwrap(), &requests[0]),
        _ => convert::setup(name, if openai { "openai" } else { "other" }, &requests[0]),
    };
    convert_bedrock::read_url(&mut setup, steps[0]["request"]["url"].as_str().unwrap());
    let exchanges: Vec<Step> = steps
        .iter()
        .enumerate()
        .map(|(at, step)| Step {
            streaming: step["response"]["streaming"] == true,
            failed: step["response"]["status"].as_u64().unwrap() >= 400,
            body: read(&step["response"]["body_file"]),
            results: requests
                .get(at + 1)
                .map(|next| results(name, &requests[at], next))
                .unwrap_or_default(),
        })
        .collect();
    let bodies = driver(&setup, &exchanges)?;
    if bodies.len() != steps.len() {
        return Err(format!("{} requests instead of {}", bodies.len(), steps.len()));
    }
    for (at, (body, request)) in bodies.iter().zip(&requests).enumerate() {
        let made: Value =
            serde_json::from_slice(body).map_err(|error| format!("request {at} is no JSON: {error}"))?;
        let made = convert_responses::like_the_client(made, request);
        if let Some(difference) = difference(&canonical(&made), &canonical(request), "") {
            return Err(format!("request {at}: {difference}"));
        }
    }
    Ok(())
}

/// What `next` has after the assistant's turn.
fn results(name: &str, request: &Value, next: &Value) -> Vec<Block> {
    if name == "openai_responses" {
        return convert_responses::results(request, next);
    }
    if name == "gemini" {
        return convert_gemini::results(request, next);
    }
    let before = request["messages"].as_array().unwrap().len();
    let new = &next["messages"].as_array().unwrap()[before + 1..];
    convert::messages(name, "", new)
        .into_iter()
        .flat_map(|message| convert::results(&message))
        .collect()
}

/// Encoders and decoders alone, as the run uses them: the history's bytes are only appended to.
pub fn encoders(setup: &Setup, steps: &[Step]) -> Result<Vec<Vec<u8>>, String> {
    let protocol = protocol(setup.protocol).unwrap();
    let spec = RequestSpec {
        model: &setup.model,
        system: setup.system.as_deref(),
        tools: &setup.tools,
        before: None,
        is_digested: false,
        appended: Default::default(),
        clearing: Default::default(),
    };
    let mut messages = setup.messages.clone();
    let mut body = Body::default();
    let mut bodies = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let sent = body.close(protocol, &spec, &messages, false);
        bodies.push(sent.map_err(|error| format!("{error:?}"))?.to_vec());
        // The last answer may be an error.
        if step.failed || at + 1 == steps.len() {
            break;
        }
        let decoded = if step.streaming {
            feed::decode_stream(protocol, feed::cuts(&step.body, 1).into_iter())
        } else {
            feed::decode_body(protocol, &step.body)
        };
        if let Some(failure) = decoded.failure {
            return Err(format!("{failure:?}"));
        }
        let turn = assistant(setup, &decoded.answer);
        let results = convert_gemini::in_order(&turn, &step.results);
        messages.push(turn);
        if !step.results.is_empty() {
            messages.push(Message::user(results));
        }
    }
    Ok(bodies)
}

fn assistant(setup: &Setup, answer: &ModelAnswer) -> Message {
    let origin = Origin {
        protocol: setup.protocol.to_owned(),
        model: setup.model.model.clone(),
        prefix: None,
        thread: None,
    };
    let content = answer
        .parts
        .iter()
        .enumerate()
        .map(|(at, part)| block(at, part))
        .collect();
    Message {
        origin: Some(origin),
        ..Message::assistant(content)
    }
}

pub fn block(at: usize, part: &Part) -> Block {
    let (text, vendor) = (part.text.clone(), part.vendor.clone());
    match part.kind {
        PartKind::Text => Block::Text {
            text,
            purpose: None,
            vendor,
        },
        PartKind::Thinking => Block::Thinking {
            text,
            signature: part.signature.clone(),
            vendor,
        },
        PartKind::RedactedThinking => Block::RedactedThinking { data: text },
        PartKind::Refusal => Block::Refusal { text },
        PartKind::Media => Block::Media {
            media_type: part.name.clone(),
            source: MediaSource::Data(text),
            name: None,
            vendor,
        },
        PartKind::Raw => Block::Raw {
            json: Json::parse(&text).unwrap(),
        },
        PartKind::ToolCall => Block::ToolCall {
            id: if part.id.is_empty() {
                format!("call_{at}")
            } else {
                part.id.clone()
            },
            name: part.name.clone(),
            input: Json::parse(&text).map_or(ToolInput::Invalid(text), ToolInput::Json),
            vendor,
        },
    }
}
