//! Plays a row: a run in virtual time whose first answer misbehaves, and what happened as a list of lines.
//!
//! - `run add {"n":1} as t1`: the tool was called (`minted1`: the first id that looplet made up)
//! - `warn code`, `reset`, `retry after code`
//! - `sent …`: what a further request has more than the one before it
//! - `completed "text"`, `failed code "text"`: the end
//!
//! Tools return 1. Every answer but the first is well-behaved and says `Done.`. Each request's history is legal.

use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::Input;
use serde_json::{Value, json};

use super::speak::{End, Say, answer};
use super::wire::{Item, check_items, items};
use super::world::{Settings, World, config, tool};
use super::{Ending, Row};

/// How the body's bytes arrive.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    Whole,
    /// In pieces of this size.
    Pieces(usize),
    /// In two, cut here.
    Cut(usize),
}

pub fn play(row: &Row, protocol: &'static str, body: &[u8], way: Way) -> Vec<String> {
    let mut world = World::new(settings(protocol));
    world.prompt("Go.");
    let mut log = Log {
        protocol,
        lines: Vec::new(),
        events: 0,
        requests: 0,
        minted: Vec::new(),
    };
    respond(&mut world, body, row.ending, way);
    log.read(&mut world);
    for _ in 0..20 {
        if world.done.is_some() {
            break;
        }
        let running: Vec<String> = world.running.keys().cloned().collect();
        for id in running {
            world.return_value(&id, json!(1));
            log.read(&mut world);
        }
        if world.open_request.is_some() && row.always {
            respond(&mut world, body, row.ending, way);
        } else if world.open_request.is_some() {
            respond(
                &mut world,
                &answer(protocol, &[Say::Text("Done.")], End::Stop),
                Ending::End,
                Way::Whole,
            );
        } else if world.running.is_empty() {
            pass_to_next(&mut world);
        }
        log.read(&mut world);
    }
    log.end(&world);
    log.lines
}

fn settings(protocol: &str) -> Settings {
    let tools = json!([tool("add", json!({})), tool("wipe", json!({}))]);
    let fields = json!({
        "model": {"vendor": "compatible", "protocol": protocol, "model": "m", "baseUrl": "http://h/v1"},
        "limits": {"maxIterations": 4},
        "retry": {"maxRetries": 2, "baseMs": 10},
        "timeouts": {"firstChunkMs": 5000, "chunkMs": 5000},
    });
    config(tools, fields)
}

fn respond(world: &mut World, body: &[u8], ending: Ending, way: Way) {
    world.head(200, &[("request-id", "req_1")]);
    let request = world.request();
    let chunks: Vec<&[u8]> = match way {
        Way::Whole => vec![body],
        Way::Pieces(size) => body.chunks(size).collect(),
        Way::Cut(at) => vec![&body[..at], &body[at..]],
    };
    for bytes in chunks.into_iter().filter(|bytes| !bytes.is_empty()) {
        if world.open_request != Some(request) {
            return;
        }
        world.input(Input::Chunk { request, bytes });
    }
    if world.open_request == Some(request) {
        match ending {
            Ending::End => world.end(),
            Ending::Drop => world.network_failed(),
            Ending::Stall => {
                while world.open_request == Some(request) {
                    pass_to_next(world);
                }
            }
        }
    }
}

/// Lets time pass until the run's next deadline.
fn pass_to_next(world: &mut World) {
    let deadline = world.run.poll_timeout().expect("the run waits for nothing");
    world.pass(deadline.at_ms.saturating_sub(world.now_ms));
}

struct Log {
    protocol: &'static str,
    lines: Vec<String>,
    /// How many of each were read.
    events: usize,
    requests: usize,
    minted: Vec<String>,
}

impl Log {
    fn read(&mut self, world: &mut World) {
        while self.events < world.events.len() {
            let kind = world.events[self.events].kind.clone();
            self.events += 1;
            match kind {
                EventKind::Warning { code, .. } => self.lines.push(format!("warn {code}")),
                EventKind::Reset { .. } => self.lines.push("reset".into()),
                EventKind::Retry { error, .. } => {
                    let code = serde_json::to_value(error.code).unwrap();
                    self.lines.push(format!("retry after {}", code.as_str().unwrap()));
                }
                _ => {}
            }
        }
        let mut started: Vec<_> = world.running.values().cloned().collect();
        started.sort_by_key(|call| call.call);
        for call in started {
            let line = format!(
                "run {} {} as {}",
                call.tool_name,
                call.input.as_str(),
                self.shown(&call.tool_call_id)
            );
            if !self.lines.contains(&line) {
                self.lines.push(line);
            }
        }
        while self.requests < world.requests.len() {
            let all = items(self.protocol, &world.requests[self.requests]);
            check_items(&all);
            let before = match self.requests.checked_sub(1) {
                Some(before) => items(self.protocol, &world.requests[before]),
                None => all.clone(),
            };
            assert_eq!(
                all[..before.len()],
                before,
                "a request does not begin with the one before"
            );
            let mut new: Vec<String> = Vec::new();
            for item in &all[before.len()..] {
                new.extend(self.item(item));
            }
            if !new.is_empty() {
                self.lines.push(format!("sent {}", new.join(", ")));
            }
            self.requests += 1;
        }
    }

    fn item(&mut self, item: &Item) -> Option<String> {
        Some(match item {
            Item::Assistant => return None,
            Item::User => "user".into(),
            Item::Text { text } => format!("{text:?}"),
            Item::Other { name } => name.clone(),
            Item::Call { id, .. } => format!("call {}", self.shown(id)),
            Item::Result { id, text } => {
                let fault: Value = serde_json::from_str(text).unwrap_or_default();
                let said = fault["code"].as_str().unwrap_or(text);
                format!("result {} {said}", self.shown(id))
            }
        })
    }

    fn shown(&mut self, id: &str) -> String {
        if !id.starts_with("call_") {
            return id.to_owned();
        }
        let at = self
            .minted
            .iter()
            .position(|known| known == id)
            .unwrap_or_else(|| {
                self.minted.push(id.to_owned());
                self.minted.len() - 1
            });
        format!("minted{}", at + 1)
    }

    fn end(&mut self, world: &World) {
        let result = world.result();
        let text = result["text"].as_str().unwrap();
        let text = if text.len() > 200 {
            format!("{} bytes", text.len())
        } else {
            format!("{text:?}")
        };
        let outcome = result["outcome"].as_str().unwrap_or("goes on");
        let code = result["error"]["code"].as_str().map(|code| format!(" {code}"));
        self.lines
            .push(format!("{outcome}{} {text}", code.unwrap_or_default()));
        if outcome == "completed" {
            assert!(world.delivered_text().ends_with(result["text"].as_str().unwrap()));
        }
    }
}
