//! A run that is killed after each of its outputs and goes on in a fresh engine, from the journal alone.
//!
//! The run has six iterations: read-only tools beside each other, a tool that may run once, a retry, an approval, a
//! subagent with a tool, a steer and a summary. [`Outside`] is the world around it, which outlives each process: the
//! tools' effects, the store, and the person who answers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use looplet::engine::agent::setup::Setup;
use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::{Behavior, Input, Moment, PermissionAnswer, Reconciled, ToolReturn};
use looplet::engine::model::journal::{Checkpoint, Entry, Fact};
use looplet::engine::model::json;
use looplet::engine::model::message::{Block, Json};
use looplet::engine::model::output::{EffectId, Output};
use looplet::engine::model::question::{Answer, Point};
use looplet::engine::run::Run;
use serde_json::{Value, json};

use crate::ended::check_messages;
use crate::told::data;
use crate::wire::{Piece, call, stream, stream_with_usage, text};
use crate::world::{Settings, config, tool};

fn setting() -> Settings {
    let tools = json!([
        tool("read", json!({"readOnly": true})),
        tool("note", json!({"replay": "safe"})),
        tool("pay", json!({})),
        tool("wipe", json!({"needsApproval": true})),
        tool("helper", json!({"agent": {"profile": 1}})),
    ]);
    let agents =
        json!([{"model": {"vendor": "anthropic", "model": "small"}, "tools": [tool("dig", json!({}))]}]);
    let context = json!({"auto": true, "contextWindow": 12_000, "keepLast": 2});
    config(
        tools,
        json!({"agents": agents, "context": context, "toolExecution": "read-only-parallel"}),
    )
}

/// An input that outlives the process that asked for it, or not.
enum News {
    Body(EffectId, u16, String),
    Tool(EffectId, Json),
    Answer(EffectId, Answer),
    HandedOver(EffectId),
    Saved(EffectId),
}

/// Everything that outlives a process.
#[derive(Default)]
struct Outside {
    store: Vec<Entry>,
    /// How often each call has had its effect.
    effects: BTreeMap<String, u32>,
    approvals: BTreeMap<EffectId, u32>,
    refused: bool,
    outputs: usize,
    processes: usize,
}

struct Process<'a> {
    run: Run,
    outside: &'a mut Outside,
    news: VecDeque<News>,
    now_ms: u64,
    /// The agent and the iteration of the last attempt.
    at: (String, u32),
}

impl Process<'_> {
    fn take(&mut self, input: Input<'_>) {
        self.outside.outputs += 1;
        let random = self.outside.outputs as u64;
        let moment = Moment {
            now_ms: self.now_ms,
            random,
        };
        self.run.handle_input(input, moment);
    }

    /// Performs outputs and answers until the run is over, or until so many outputs were performed.
    fn go_on(&mut self, mut left: usize) -> bool {
        loop {
            while let Some(output) = self.run.poll_output() {
                if left == 0 {
                    return false;
                }
                left -= 1;
                if matches!(output, Output::Done(_)) {
                    return true;
                }
                self.perform(output);
            }
            match self.news.pop_front() {
                Some(news) => self.hear(news),
                None => {
                    let deadline = self.run.poll_timeout().expect("the run waits for nothing");
                    self.now_ms = deadline.at_ms;
                    self.take(Input::Due);
                }
            }
        }
    }

    fn hear(&mut self, news: News) {
        match news {
            News::Body(request, status, body) => {
                let headers = Vec::new();
                self.take(Input::Head {
                    request,
                    status,
                    headers,
                });
                let bytes = body.as_bytes();
                self.take(Input::Chunk { request, bytes });
                self.take(Input::End { request });
            }
            News::Tool(call, output) => {
                let result = ToolReturn::Value(output);
                self.take(Input::ToolFinished { call, result });
            }
            News::Answer(question, answer) => self.take(Input::Answered { question, answer }),
            News::HandedOver(handover) => self.take(Input::HandedOver { handover }),
            News::Saved(save) => self.take(Input::Saved { save, ok: true }),
        }
    }

    fn perform(&mut self, output: Output) {
        let news = match output {
            Output::Emit(event) => {
                if matches!(event.kind, EventKind::AttemptStart) {
                    self.at = (event.agent_path, event.iteration);
                }
                return;
            }
            Output::Send { request, .. } => {
                if self.at == ("root".into(), 3) && !self.has_steer() {
                    let content = vec![Block::text("Hurry.")];
                    self.take(Input::Steer { id: 7, content });
                }
                let body = self.run.request_body(request).unwrap().to_vec();
                let (status, body) = self.reply(&String::from_utf8(body).unwrap());
                News::Body(request, status, body)
            }
            Output::CallTool(invocation) => {
                let id = invocation.tool_call_id;
                *self.outside.effects.entry(id.clone()).or_default() += 1;
                News::Tool(invocation.call, output_of(&id))
            }
            Output::Ask { question, ask } => {
                let id = data(&ask)["toolCallId"].as_str().unwrap_or_default().to_owned();
                News::Answer(question, self.answer(question, ask.point, &id))
            }
            Output::Save { save, entries, .. } => {
                // A store keeps text.
                let texts = entries.iter().map(json::write);
                let kept = texts.map(|text| json::read::<Entry>("entry", &text).unwrap());
                self.outside.store.extend(kept);
                News::Saved(save)
            }
            Output::HandOver { handover } => News::HandedOver(handover),
            Output::Redact { request, failure } => {
                self.take(Input::RequestFailed { request, failure });
                return;
            }
            Output::Abort { .. } | Output::AbortTool { .. } | Output::Withdraw { .. } | Output::Done(_) => {
                return;
            }
        };
        self.news.push_back(news);
    }

    /// Returns true if the store has the person's steer, so that the person does not send it again.
    fn has_steer(&self) -> bool {
        self.outside
            .store
            .iter()
            .any(|entry| json::write(entry).contains("Hurry."))
    }

    fn answer(&mut self, question: EffectId, point: Point, id: &str) -> Answer {
        match point {
            Point::Permission => {
                *self.outside.approvals.entry(question).or_default() += 1;
                Answer::Permission(PermissionAnswer {
                    behavior: Behavior::Allow,
                    ..PermissionAnswer::default()
                })
            }
            // The outside knows what it has done.
            Point::Reconcile if self.outside.effects.contains_key(id) => {
                let output = output_of(id);
                Answer::Reconciled(Reconciled::Done { output })
            }
            Point::Reconcile => Answer::Reconciled(Reconciled::Run),
            point => panic!("{point:?} is asked"),
        }
    }

    /// The model's answer, which depends on the agent and its iteration alone.
    fn reply(&mut self, body: &str) -> (u16, String) {
        let calls = |pieces: &[Piece]| (200, stream(pieces, "tool_use"));
        let done = |words: &str| (200, stream(&[text(words)], "end_turn"));
        if body.contains("write a summary of this conversation") {
            return done("They read, paid and wiped.");
        }
        match (self.at.0.as_str(), self.at.1) {
            ("root", 1) => calls(&[
                text("First."),
                call("r1", "read", json!({"n": 1})),
                call("r2", "read", json!({"n": 2})),
            ]),
            ("root", 2) if !std::mem::replace(&mut self.outside.refused, true) => (529, "{}".into()),
            ("root", 2) => calls(&[
                call("p", "pay", json!({"n": 3})),
                call("n", "note", json!({"n": 4})),
            ]),
            ("root", 3) => calls(&[call("w", "wipe", json!({})), call("r3", "read", json!({}))]),
            ("root", 4) => calls(&[
                call("h", "helper", json!({"prompt": "Dig."})),
                call("q", "pay", json!({})),
            ]),
            ("root", 5) => {
                let pieces = [text("Nearly."), call("r4", "read", json!({}))];
                (200, stream_with_usage(&pieces, "tool_use", 20_000, 9))
            }
            ("root", 6) => done("All done."),
            ("root/helper", 1) => calls(&[call("d", "dig", json!({}))]),
            ("root/helper", 2) => done("Gold."),
            at => panic!("{at:?} is asked: {body}"),
        }
    }
}

fn output_of(id: &str) -> Json {
    Json::parse(&format!("\"output of {id}\"")).unwrap()
}

/// The run, killed after each of these numbers of outputs in turn. Returns its end.
fn lives(outside: &mut Outside, cuts: &[usize]) -> Value {
    let mut cuts = cuts.iter().copied();
    loop {
        outside.processes += 1;
        let setup = Arc::new(Setup::new(setting().config).unwrap());
        let mut checkpoint = Checkpoint::default();
        for entry in &outside.store {
            checkpoint.fold(entry.clone()).unwrap();
        }
        let is_new = outside.store.is_empty();
        let run = if is_new {
            Run::new(setup, setting().options).unwrap()
        } else {
            Run::restore(setup, checkpoint).unwrap()
        };
        let mut process = Process {
            run,
            outside,
            news: VecDeque::new(),
            now_ms: 1_000_000,
            at: (String::new(), 0),
        };
        if is_new {
            let content = vec![Block::text("Go.")];
            process.take(Input::Prompt { content });
        } else {
            process.take(Input::Resume);
        }
        if process.go_on(cuts.next().unwrap_or(usize::MAX)) {
            return end_of(&process.run);
        }
    }
}

fn end_of(run: &Run) -> Value {
    let history = serde_json::to_value(run.history()).unwrap();
    check_messages(&history["messages"]);
    json!({
        "outcome": run.outcome().unwrap().outcome,
        "messages": history["messages"],
        "toolCalls": history["toolCalls"],
        "text": run.text(),
        "iterations": run.report().iterations,
    })
}

#[test]
fn i_01_a_run_that_is_killed_after_any_output_ends_as_if_nothing_had_happened() {
    let mut whole = Outside::default();
    let end = lives(&mut whole, &[]);
    assert_eq!(end["outcome"], "completed", "{end:#}");
    assert_eq!(end["iterations"], 6);
    assert!(
        end["messages"]
            .to_string()
            .contains("[Context summary: They read"),
        "{end:#}"
    );
    let is_steered = |entry: &Entry| match &entry.fact {
        Fact::Messages { messages, .. } => json::write(messages).contains("Hurry."),
        _ => false,
    };
    assert!(whole.store.iter().any(is_steered), "{:#?}", whole.store);
    let mut cut = 0;
    loop {
        let mut outside = Outside::default();
        // Some runs are killed a second time.
        let cuts = [
            cut,
            if cut % 3 == 0 {
                usize::MAX
            } else {
                3 + cut * 7 % 40
            },
        ];
        let again = lives(&mut outside, &cuts);
        assert_eq!(again, end, "killed after {cut} outputs");
        for (id, times) in &outside.effects {
            let may_repeat = ["r1", "r2", "r3", "r4", "n"].contains(&id.as_str());
            assert!(
                *times == 1 || may_repeat,
                "{id} was done {times} times, killed after {cut} outputs"
            );
        }
        assert_eq!(
            outside.effects.len(),
            whole.effects.len(),
            "a call is lost, killed after {cut} outputs"
        );
        if outside.processes == 1 {
            break;
        }

        cut += 1;
    }
    assert!(cut > 100, "{cut} outputs");
}
