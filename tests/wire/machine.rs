//! The recorded conversations once more, through the whole run: each request that the loop makes by itself means the
//! same as the recorded one.

use std::collections::VecDeque;
use std::sync::Arc;

use looplet::engine::agent::setup::Setup as PreparedAgent;
use looplet::engine::model::config::{Config, RunOptions, ToolConfig};
use looplet::engine::model::event::Event;
use looplet::engine::model::input::{Input, Moment, ToolReturn};
use looplet::engine::model::journal::{Record, Recorded};
use looplet::engine::model::json;
use looplet::engine::model::message::{Block, Message, Role};
use looplet::engine::model::output::{EffectId, Output, ToolInvocation};
use looplet::engine::run::Run;
use serde_json::{Value, json};

use crate::chains::{Step, replay_all};
use crate::convert::Setup;
use crate::convert_gemini;
use crate::feed;
use crate::player::{Player, leave_loop};

#[test]
fn recorded_anthropic_conversations_replay_through_the_run() {
    replay_all("anthropic-messages", "anthropic", "run", run, 20);
}

#[test]
fn recorded_chat_conversations_replay_through_the_run() {
    replay_all("openai-chat", "openai_chat", "run", run, 90);
}

#[test]
fn recorded_gemini_conversations_replay_through_the_run() {
    replay_all("gemini", "gemini", "run", run, 30);
}

#[test]
fn recorded_bedrock_conversations_replay_through_the_run() {
    replay_all("bedrock-converse", "bedrock_converse", "run", run, 9);
}

/// Starts a run with the first request's prompt, answers with the recorded bytes and results, keeps the bodies.
pub fn run(setup: &Setup, steps: &[Step]) -> Result<Vec<Vec<u8>>, String> {
    let (mut config, options, prompt) = config(setup);
    config.trace = true;
    let open = || {
        let agent = PreparedAgent::new(config.clone())?;
        Run::new(Arc::new(agent), options.clone())
    };
    let mut world = World {
        run: open().map_err(|error| format!("{error:?}"))?,
        seed: 0,
        records: Vec::new(),
        performed: 0,
        events: Vec::new(),
        bodies: Vec::new(),
        waiting: VecDeque::new(),
    };
    world.input(Input::Prompt { content: prompt })?;
    for step in steps {
        let Some(request) = world.waiting.pop_front() else {
            return Err(format!(
                "no request after {}: {:?}",
                world.bodies.len(),
                world.run.outcome()
            ));
        };
        let Wait::Request(request) = request else {
            return Err("a tool runs before the answer".to_owned());
        };
        world.answer(request, step)?;
        world.return_results(step)?;
    }
    let played = Player::play(open().map_err(|error| format!("{error:?}"))?, &world.records);
    let [config, options] = [json::write(&config), json::write(&options)];
    leave_loop(
        "recordings.ndjson",
        "recording",
        &config,
        &options,
        &world.records,
    );
    let bodies: Vec<_> = played.requests.into_iter().map(|(_, body)| body).collect();
    if played.events != world.events || bodies != world.bodies {
        return Err("a replay of its records differs".to_owned());
    }
    Ok(world.bodies)
}

fn config(setup: &Setup) -> (Config, RunOptions, Vec<Block>) {
    let mut config: Config =
        serde_json::from_value(json!({ "model": { "vendor": "custom", "model": "" } })).unwrap();
    config.model = setup.model.clone();
    config.model.base_url = Some("https://recorded.example".to_owned());
    config.system = setup.system.clone();
    config.tools = setup.tools.clone();
    // Tools that go through `body` must be known to the run all the same.
    let body: Value = setup
        .model
        .body
        .as_ref()
        .map_or(Value::Null, |body| serde_json::from_str(body.as_str()).unwrap());
    for tool in convert_gemini::declarations(&body["tools"]) {
        let name = tool["name"]
            .as_str()
            .or(tool["function"]["name"].as_str())
            .unwrap_or_default();
        let tool: ToolConfig =
            serde_json::from_str(&json!({ "name": name, "inputSchema": {} }).to_string()).unwrap();
        config.tools.push(tool);
    }
    for tool in &mut config.tools {
        tool.validate = false;
    }
    let mut messages = setup.messages.clone();
    let is_prompt = |message: &Message| {
        message.role == Role::User
            && !message
                .content
                .iter()
                .any(|block| matches!(block, Block::ToolResult { .. }))
    };
    let prompt = messages
        .pop_if(|last| is_prompt(last))
        .map(|message| message.content)
        .unwrap_or_default();
    let options = RunOptions {
        messages,
        ..RunOptions::default()
    };
    (config, options, prompt)
}

pub enum Wait {
    Request(EffectId),
    Tool(ToolInvocation),
}

pub struct World {
    pub run: Run,
    pub seed: u64,
    pub bodies: Vec<Vec<u8>>,
    /// All inputs, each the JSON of its record.
    pub records: Vec<String>,
    pub performed: u32,
    pub events: Vec<Event>,
    /// What the run has asked for and not been given.
    pub waiting: VecDeque<Wait>,
}

impl World {
    fn go_on(&mut self, input: Input<'_>) {
        let random = self.seed;
        let moment = Moment { now_ms: 1000, random };
        let record = Record::new(Recorded::from(&input), moment, self.performed);
        self.records.push(json::write(&record));
        self.run.handle_input(input, moment);
    }

    /// Answers the open request with a recorded answer, and every call in it with this result.
    pub fn play(&mut self, step: &Step, result: Vec<Block>) -> Result<(), String> {
        let Some(Wait::Request(request)) = self.waiting.pop_front() else {
            return Err("no request is open".to_owned());
        };
        self.answer(request, step)?;
        while let Some(Wait::Tool(call)) = self.waiting.pop_front_if(|wait| matches!(wait, Wait::Tool(_))) {
            let result = ToolReturn::Content(result.clone());
            self.input(Input::ToolFinished {
                call: call.call,
                result,
            })?;
        }
        Ok(())
    }

    pub fn messages(&self) -> Vec<Message> {
        self.run.history().messages.into_owned()
    }

    pub fn input(&mut self, input: Input<'_>) -> Result<(), String> {
        self.seed += 1;
        self.go_on(input);
        while let Some(output) = self.run.poll_output() {
            self.performed += u32::from(!matches!(output, Output::Emit(_)));
            match output {
                Output::Emit(event) => self.events.push(event),
                Output::Send { request, .. } => {
                    let body = self
                        .run
                        .request_body(request)
                        .ok_or("a request without a body")?
                        .to_vec();
                    self.bodies.push(body);
                    self.waiting.push_back(Wait::Request(request));
                }
                Output::CallTool(call) => self.waiting.push_back(Wait::Tool(call)),
                Output::Save { save, .. } => self.go_on(Input::Saved { save, ok: true }),
                Output::Redact { request, failure } => {
                    self.go_on(Input::RequestFailed { request, failure });
                }
                Output::HandOver { handover } => self.go_on(Input::HandedOver { handover }),
                _ => {}
            }
        }
        Ok(())
    }

    fn answer(&mut self, request: EffectId, step: &Step) -> Result<(), String> {
        self.input(Input::Head {
            request,
            status: if step.failed { 400 } else { 200 },
            headers: Vec::new(),
        })?;
        for bytes in feed::cuts(&step.body, 3) {
            self.input(Input::Chunk { request, bytes })?;
        }
        self.input(Input::End { request })
    }

    /// Gives each running call its recorded result, until nothing runs any more.
    fn return_results(&mut self, step: &Step) -> Result<(), String> {
        let mut nth = 0;
        while let Some(Wait::Tool(call)) = self.waiting.pop_front_if(|wait| matches!(wait, Wait::Tool(_))) {
            if step.results.is_empty() {
                return Ok(());
            }
            let result = step.results.iter().find_map(|result| match result {
                Block::ToolResult { call_id, content, .. }
                    if *call_id == call.tool_call_id || *call_id == convert_gemini::nth_id(nth) =>
                {
                    Some(content.clone())
                }
                _ => None,
            });
            nth += 1;
            let content = result.ok_or_else(|| format!("no recorded result for {}", call.tool_call_id))?;
            self.input(Input::ToolFinished {
                call: call.call,
                result: ToolReturn::Content(content),
            })?;
        }
        Ok(())
    }
}
