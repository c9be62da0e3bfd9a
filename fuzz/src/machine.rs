//! The run machine: the input's bytes decide what happens next; a small model watches what it asks for.
//!
//! Watched: I-01 (each call has its result, next to it), I-02 (requests only grow), I-03 (nothing empty), I-04
//! (results in order), I-05 (no more model calls than allowed), I-06 (usage adds up, `finish` once and last), I-07
//! (the same again is the same); that the state survives being saved after every output ([`World`] does so); that an
//! answer to what is not open changes nothing.

use looplet::engine::model::event::{EventKind, ToolFault};
use looplet::engine::model::input::{Input, ToolReturn};
use looplet::engine::model::message::{Block, Json};
use serde_json::{Value, json};

use super::ended::check_messages;
use super::machine_answers::{answer, raise};
use super::machine_checks::{check_events, check_late_answers, check_overlaps};
use super::speak::{self, End, Say};
use super::told::HOOK_EVENTS;
use super::wire::{check_items, items};
use super::world::{Settings, World, config, tool};

const PROTOCOLS: &[&str] = &[
    "anthropic",
    "openai_chat",
    "openai_responses",
    "gemini",
    "bedrock_converse",
    "ndjson",
];
/// More outputs than this for one input byte is a loop that feeds itself.
const MAX_EVENTS_PER_STEP: usize = 2000;

pub fn check(data: &[u8]) {
    if data.len() < 2 {
        return;
    }
    // Saving after every output costs more than all else.
    let is_careful = data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) % 8 == 0;
    let played = play(data, is_careful);
    let world = &played.world;
    for pair in world.requests_by_agent().windows(2) {
        let [(agent, first), (other, next)] = pair else {
            continue;
        };
        assert!(
            agent != other || next.starts_with(shared_prefix(first)),
            "I-02: {next}\ndoes not extend\n{first}"
        );
    }
    for body in &world.requests {
        check_items(&items(played.protocol, body));
    }
    let result = world.result();
    check_messages(&result["messages"]);
    let starts = world
        .events
        .iter()
        .filter(|event| event.agent == 0 && event.kind == EventKind::IterationStart)
        .count();
    assert!(starts as u32 <= played.max_iterations, "I-05");
    check_events(world, &result);
    let again = play(data, false);
    assert_eq!(
        again.world.events, world.events,
        "I-07: the events differ the second time"
    );
    assert_eq!(
        again.world.requests, world.requests,
        "I-07: the requests differ the second time"
    );
}

/// The body up to the end of its messages.
fn shared_prefix(body: &str) -> &str {
    &body[..body.rfind(']').unwrap()]
}

struct Played {
    world: World,
    protocol: &'static str,
    max_iterations: u32,
}

/// The input as a source of choices; zeros when it is used up.
pub struct Choices<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Choices<'a> {
    pub fn byte(&mut self) -> u8 {
        let byte = self.data.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    pub fn below(&mut self, end: u8) -> u8 {
        self.byte() % end
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let taken = &rest[..length.min(rest.len())];
        self.at += taken.len();
        taken
    }

    fn is_over(&self) -> bool {
        self.at >= self.data.len()
    }
}

fn play(data: &[u8], is_careful: bool) -> Played {
    let mut choices = Choices { data, at: 0 };
    let protocol = PROTOCOLS[choices.below(PROTOCOLS.len() as u8) as usize];
    let max_iterations = 1 + u32::from(choices.below(6));
    let mut world = World::new(settings(protocol, max_iterations, &mut choices));
    world.confirm_saves = false;
    world.prompt("Go.");
    let mut step = Step {
        protocol,
        index: 0,
        ids: 0,
        under_way: Vec::new(),
        has_head: false,
        request: None,
    };
    while world.done.is_none() && !choices.is_over() {
        let before = world.events.len();
        check_overlaps(&world);
        step.act(&mut world, &mut choices);
        assert!(
            world.events.len() - before < MAX_EVENTS_PER_STEP,
            "the run feeds itself"
        );
        if world.done.is_none() {
            check_late_answers(&mut world, is_careful);
        }
    }
    if world.done.is_none() {
        world.cancel();
    }
    assert!(world.done.is_some(), "a cancelled run has ended");
    check_late_answers(&mut world, is_careful);
    Played {
        world,
        protocol,
        max_iterations,
    }
}

fn settings(protocol: &str, max_iterations: u32, choices: &mut Choices<'_>) -> Settings {
    let tools = json!([
        tool("read", json!({"readOnly": true})),
        tool("write", json!({"timeoutMs": 50})),
        tool("key", json!({"prepare": true})),
        tool("once", json!({"replay": "once"})),
        tool("helper", json!({"agent": {"profile": 1}})),
    ]);
    let flags = choices.byte();
    let modes = ["read-only-parallel", "parallel", "sequential"];
    let mut fields = json!({
        "model": {"vendor": "compatible", "model": "m", "baseUrl": "http://h/v1", "protocol": protocol,
            "stream": flags & 32 == 0},
        "limits": {"maxIterations": max_iterations, "maxSubagentDepth": 2},
        "agents": [{
            "model": {"vendor": "compatible", "model": "below", "baseUrl": "http://h/v1", "protocol": protocol},
            "tools": tools,
            "limits": {"maxIterations": 2},
        }],
        "toolCalls": {
            "execution": modes[flags as usize % 3],
            "maxConcurrency": 1 + flags % 5,
            "eager": flags & 4 != 0,
            "wordErrors": flags % 3 == 2,
            "onUnknownTool": (["tool_result", "host"][flags as usize / 8 % 2]),
        },
        "events": {"joinDeltas": flags & 64 != 0},
        "retry": {"maxRetries": choices.below(3), "baseMs": 10},
        "timeouts": {"firstChunkMs": 200, "chunkMs": 100},
    });
    let permissions = choices.byte();
    if permissions & 3 == 3 {
        let modes = ["default", "plan", "dontAsk", "auto", "bypassPermissions"];
        fields["permissions"] = json!({
            "mode": modes[permissions as usize / 4 % 5],
            "canUseTool": permissions & 32 == 0,
            "allow": ["read"],
            "ask": if permissions & 64 == 0 { json!([]) } else { json!(["key"]) },
        });
        fields["timeouts"]["permissionMs"] = json!(150);
    }
    if permissions & 5 == 5 {
        fields["fallbackModels"] = json!([fields["model"]]);
    }
    if permissions & 24 == 24 {
        let events: Vec<Value> = HOOK_EVENTS
            .iter()
            .enumerate()
            .filter(|(index, _)| permissions & 64 == 0 || index % 2 == permissions as usize / 128)
            .map(|(index, name)| json!({"event": name, "timeoutMs": 60, "blocks": index % 3 == 0}))
            .collect();
        fields["hooks"] = json!(events);
    }
    if permissions & 12 == 12 {
        fields["limits"]["maxToolRounds"] = json!(permissions & 3);
        fields["repeat"] = json!({"nudgeAfter": 1, "askAfter": 2, "stopAfter": 3});
        fields["askRepeat"] = json!(true);
    }
    if permissions & 3 == 1 {
        let modes = ["auto", "native", "tool"];
        fields["output"] = json!({
            "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            "mode": modes[permissions as usize / 4 % 3],
            "ask": permissions & 64 == 0,
            "maxRetries": permissions / 16 % 3,
        });
    }
    if permissions & 3 == 2 {
        fields["context"] = json!({
            "window": 40 + u64::from(permissions),
            "keepLast": permissions / 4 % 3,
            "ask": permissions & 64 != 0,
            "maxChars": if permissions & 128 == 0 { json!(null) } else { json!(300) },
            "pruning": if permissions & 32 == 0 { json!(null) } else { json!({"afterResponses": 1, "prefixChars": 3}) },
        });
    }
    if flags & 128 != 0 {
        fields["limits"]["maxTotalTokens"] = json!(choices.below(120));
        fields["timeouts"]["totalMs"] = json!(300);
        fields["timeouts"]["iterationMs"] = json!(if permissions & 2 == 0 { 150 } else { 5000 });
        fields["limits"]["estimateUsage"] = json!(permissions & 1 == 0);
    }
    config(tools, fields)
}

struct Step {
    protocol: &'static str,
    /// Of the next block.
    index: usize,
    ids: u32,
    /// What the server will send, in front of what the input adds.
    under_way: Vec<u8>,
    has_head: bool,
    request: Option<u32>,
}

impl Step {
    fn act(&mut self, world: &mut World, choices: &mut Choices<'_>) {
        match choices.below(24) {
            0 => world.input(Input::Steer {
                id: u32::from(choices.byte()),
                content: content(choices),
            }),
            1 => world.input(Input::FollowUp {
                id: u32::from(choices.byte()),
                content: content(choices),
            }),
            2 => world.input(Input::Withdraw {
                id: u32::from(choices.byte()),
            }),
            3 if choices.below(4) == 0 => world.cancel(),
            3 => match choices.below(3) {
                0 => world.input(Input::Compact {
                    instructions: None,
                    only: false,
                }),
                path => world.input(Input::AddBudget {
                    agent_path: (if path == 1 { "root" } else { "root/helper" }).into(),
                    more: raise(choices.byte()),
                }),
            },
            4 => world.pass(u64::from(choices.byte())),
            5..=9 => act_on_tools(world, choices),
            _ => self.act_on_request(world, choices),
        }
        if world.open_request != self.request {
            self.request = world.open_request;
            self.has_head = false;
            self.index = 0;
            self.under_way.clear();
        }
    }

    fn act_on_request(&mut self, world: &mut World, choices: &mut Choices<'_>) {
        let Some(request) = world.open_request else {
            return world.pass(u64::from(choices.below(64)));
        };
        if !self.has_head {
            self.has_head = true;
            let status = [200, 200, 200, 200, 200, 200, 201, 429, 500, 400][choices.below(10) as usize];
            self.under_way = speak::begin(self.protocol);
            return world.head(status, &[("request-id", "req_1")]);
        }
        match choices.below(12) {
            0 => {
                let length = choices.byte() as usize;
                self.under_way.extend_from_slice(choices.take(length));
            }
            1..=6 => {
                let block = self.block(choices);
                self.under_way.extend(block);
                self.index += 1;
            }
            7..=8 => {
                let end = [End::Stop, End::Calls, End::Length, End::Pause][choices.below(4) as usize];
                self.under_way.extend(speak::finish(self.protocol, end));
            }
            9 => {
                let size = (choices.byte() as usize).min(self.under_way.len());
                self.under_way.truncate(size);
            }
            10 if choices.below(2) == 0 => return world.network_failed(),
            _ => {
                self.send(world, request, usize::MAX);
                if world.open_request == Some(request) {
                    world.end();
                }
                return;
            }
        }
        let most = choices.byte() as usize;
        self.send(world, request, most);
    }

    fn send(&mut self, world: &mut World, request: u32, most: usize) {
        let size = most.min(self.under_way.len());
        let rest = self.under_way.split_off(size);
        let bytes = std::mem::replace(&mut self.under_way, rest);
        if !bytes.is_empty() {
            world.input(Input::Chunk {
                request,
                bytes: &bytes,
            });
        }
    }

    fn block(&mut self, choices: &mut Choices<'_>) -> Vec<u8> {
        let id = match choices.below(10) {
            0 => "same".to_owned(),
            1 => String::new(),
            _ => {
                self.ids += 1;
                format!("t{}", self.ids)
            }
        };
        let name =
            ["read", "write", "key", "once", "none", "", "answer", "helper"][choices.below(8) as usize];
        let block = match choices.below(10) {
            0 => Say::Text("Some text with ümläuts 🦀."),
            1 => Say::Text(" \n"),
            8 if name == "answer" => Say::Text("{\"n\": 1}"),
            2 => Say::Thinking("Hm."),
            3 => Say::Call {
                id: &id,
                name,
                arguments: "",
            },
            4 => Say::Call {
                id: &id,
                name,
                arguments: "{\"n\": ",
            },
            5 => Say::Call {
                id: &id,
                name,
                arguments: "```json\n{\"n\": 2,}\n```",
            },
            6 => Say::Call {
                id: &id,
                name,
                arguments: "{\"n\": \"no number\"}",
            },
            kind => {
                let arguments = match kind {
                    _ if name == "helper" => "{\"prompt\":\"Do.\"}",
                    7 => "{\"n\":1}",
                    _ => "{\"n\":2}",
                };
                Say::Call {
                    id: &id,
                    name,
                    arguments,
                }
            }
        };
        speak::say(self.protocol, self.index, &block)
    }
}

fn content(choices: &mut Choices<'_>) -> Vec<Block> {
    match choices.below(4) {
        0 => Vec::new(),
        1 => vec![Block::text("  ")],
        _ => vec![Block::text("Steer.")],
    }
}

fn act_on_tools(world: &mut World, choices: &mut Choices<'_>) {
    if !world.saves.is_empty() && choices.below(2) == 0 {
        let (save, _) = world.saves.remove(0);
        let ok = choices.below(10) > 0;
        return world.input(Input::Saved { save, ok });
    }
    if !world.questions.is_empty() {
        let at = choices.below(world.questions.len().min(255) as u8) as usize;
        let (question, ask) = world.questions.remove(at);
        let answer = answer(&ask, choices);
        return world.input(Input::Answered { question, answer });
    }
    let ids: Vec<String> = world.running.keys().cloned().collect();
    if ids.is_empty() {
        return;
    }
    let id = &ids[choices.below(ids.len().min(255) as u8) as usize];
    let fault = |recoverable| {
        ToolReturn::Fault(ToolFault {
            code: "x".into(),
            message: "y".into(),
            hint: "z".into(),
            recoverable,
        })
    };
    match choices.below(16) {
        0 => world.finish_tool(id, fault(true)),
        1 => world.finish_tool(id, fault(false)),
        2 => {
            let call = world.running[id].call;
            let data = Json::parse("1").unwrap();
            world.input(Input::ToolProgress { call, data });
        }
        5 => {
            let call = world.running[id].call;
            let number = choices.below(3).into();
            let request = Json::parse("{}").unwrap();
            world.input(Input::ToolAsks {
                call,
                number,
                request,
            });
        }
        6 => {
            let call = world.running[id].call;
            let state = (choices.below(4) > 0).then(|| Json::parse("1").unwrap());
            let asked = choices.below(3).into();
            world.input(Input::ToolCheckpoint { call, state, asked });
        }
        3 => world.finish_tool(id, ToolReturn::Content(Vec::new())),
        4 => world.finish_tool(id, ToolReturn::Content(vec![Block::text("")])),
        _ => world.return_value(id, json!({"id": id})),
    }
}
