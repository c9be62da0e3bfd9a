//! A recorded answer after the transcript has taken it: its message still says what the vendor's own SDK makes of the
//! answer, and the next request sends it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use looplet::engine::agent::setup::Setup as PreparedAgent;
use looplet::engine::model::answer::{ModelAnswer, Part, PartKind};
use looplet::engine::model::config::{Config, RunOptions};
use looplet::engine::model::input::Input;
use looplet::engine::model::message::{Block, MediaSource, Message, Role, ToolInput};
use looplet::engine::protocol::Protocol;
use looplet::engine::run::Run;
use serde_json::{Value, json};

use crate::chains::Step;
use crate::feed::Decoded;
use crate::machine::World;
use crate::shared::Recording;

/// The answer as the transcript keeps it, in the form in which the decoder left it.
///
/// # Errors
/// What the next request does not say.
pub fn taken(protocol: &Protocol, recording: &Recording, decoded: &Decoded) -> Result<Decoded, String> {
    let mut world = world(protocol, recording, &decoded.answer)?;
    let text = |text: &str| vec![Block::text(text)];
    world.input(Input::Prompt { content: text("Go.") })?;
    let content = text("And then?");
    world.input(Input::FollowUp { id: 1, content })?;
    let step = Step {
        streaming: recording.streaming,
        failed: false,
        body: recording.body.clone(),
        results: Vec::new(),
    };
    world.play(&step, text("Done."))?;
    let messages = world.messages();
    // An empty answer is not kept, and another message stands in its place.
    let is_answer = |message: &&Message| message.role == Role::Assistant && **message != Message::nothing();
    let answer = messages.iter().take(2).find(is_answer);
    let content = answer.map_or(&[][..], |message| &message.content);
    let Some(next) = world.bodies.get(1) else {
        return Err("there was no next request".to_owned());
    };
    sends(content, &serde_json::from_slice(next).unwrap())?;
    let mut answer = decoded.answer.clone();
    answer.parts = parts(content, &decoded.answer);
    Ok(Decoded {
        answer,
        failure: None,
    })
}

fn world(protocol: &Protocol, recording: &Recording, answer: &ModelAnswer) -> Result<World, String> {
    let calls = answer.parts.iter().filter(|part| part.kind == PartKind::ToolCall);
    let names: BTreeSet<&str> = calls
        .map(|part| part.name.as_str())
        .filter(|name| !name.is_empty())
        .collect();
    let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}, "validate": false});
    let model = json!({"vendor": "compatible", "protocol": protocol.name, "model": "m", "stream": recording.streaming,
        "baseUrl": "https://recorded.example"});
    let config = json!({
        "model": model, "tools": names.iter().map(tool).collect::<Vec<_>>(), "toolCalls": {"runCutOff": true},
        "answers": {"maxBlocks": 100_000}, "retry": {"maxRetries": 0}
    });
    let config: Config = serde_json::from_str(&config.to_string()).unwrap();
    let run = PreparedAgent::new(config).and_then(|agent| Run::new(Arc::new(agent), RunOptions::default()));
    Ok(World {
        run: run.map_err(|error| format!("{error:?}"))?,
        seed: 0,
        records: Vec::new(),
        performed: 0,
        events: Vec::new(),
        bodies: Vec::new(),
        waiting: VecDeque::new(),
    })
}

/// The blocks as parts. An id that looplet has made for a call is taken back.
fn parts(content: &[Block], decoded: &ModelAnswer) -> Vec<Part> {
    let mut calls = decoded
        .parts
        .iter()
        .filter(|part| part.kind == PartKind::ToolCall);
    let mut answer = ModelAnswer::new(true);
    for block in content {
        let (kind, text, signature, vendor) = match block {
            Block::Text { text, vendor, .. } => (PartKind::Text, text.as_str(), &None, vendor),
            Block::Thinking {
                text,
                signature,
                vendor,
            } => (PartKind::Thinking, text.as_str(), signature, vendor),
            Block::RedactedThinking { data } => (PartKind::RedactedThinking, data.as_str(), &None, &None),
            Block::Refusal { text } => (PartKind::Refusal, text.as_str(), &None, &None),
            Block::ToolCall { input, vendor, .. } => {
                let text = match input {
                    ToolInput::Json(json) => json.as_str(),
                    ToolInput::Invalid(text) => text,
                };
                (PartKind::ToolCall, text, &None, vendor)
            }
            Block::Media { source, vendor, .. } => {
                let (MediaSource::Data(text) | MediaSource::Url(text)) = source;
                (PartKind::Media, text.as_str(), &None, vendor)
            }
            Block::Raw { json } => (PartKind::Raw, json.as_str(), &None, &None),
            other => panic!("{other:?} in an answer"),
        };
        let at = answer.start(kind);
        answer.push(at, text);
        let part = &mut answer.parts[at];
        part.signature.clone_from(signature);
        part.vendor.clone_from(vendor);
        if let Block::ToolCall { name, .. } = block {
            part.name.clone_from(name);
            part.id = calls.next().map(|call| call.id.clone()).unwrap_or_default();
        }
        if let Block::Media { media_type, .. } = block {
            part.name.clone_from(media_type);
        }
    }
    answer.parts
}

/// # Errors
/// A block of which the request says nothing.
fn sends(content: &[Block], request: &Value) -> Result<(), String> {
    let mut said = Said::default();
    said.read(request);
    let last = content
        .iter()
        .rposition(|block| !matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. }));
    for (at, block) in content.iter().enumerate() {
        let is_sent = match block {
            Block::Text { text, .. } | Block::Refusal { text } => said.has(text),
            // Reasoning behind everything else belongs to nothing.
            Block::Thinking { .. } | Block::RedactedThinking { .. } if Some(at) > last => true,
            Block::Thinking {
                signature: Some(signature),
                ..
            } => said.has(signature),
            Block::Thinking { .. } => true,
            Block::RedactedThinking { data } => said.has(data),
            Block::ToolCall { name, input, .. } => {
                said.has(name)
                    && match input {
                        ToolInput::Json(json) => said.has_json(&serde_json::from_str(json.as_str()).unwrap()),
                        ToolInput::Invalid(text) => said.has(text),
                    }
            }
            Block::Raw { json } => said.has_json(&serde_json::from_str(json.as_str()).unwrap()),
            Block::Media { .. } | Block::ToolResult { .. } => true,
            other => return Err(format!("this test does not know how {other:?} is sent")),
        };
        if !is_sent {
            return Err(format!("the next request leaves out {block:?}"));
        }
    }
    Ok(())
}

/// The texts and values of a request.
#[derive(Default)]
struct Said {
    texts: Vec<String>,
    values: Vec<Value>,
}

impl Said {
    fn read(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                self.texts.push(text.clone());
                // The arguments of a call are JSON in a text.
                let json = serde_json::from_str::<Value>(text).ok();
                if let Some(json) = json.filter(|json| json.is_object() || json.is_array()) {
                    self.read(&json);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.read(item)),
            Value::Object(fields) => {
                fields.values().for_each(|field| self.read(field));
                self.values.push(value.clone());
            }
            _ => {}
        }
    }

    fn has(&self, text: &str) -> bool {
        self.texts.iter().any(|known| known.contains(text))
    }

    fn has_json(&self, value: &Value) -> bool {
        self.values.contains(value)
    }
}
