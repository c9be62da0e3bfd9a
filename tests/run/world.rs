//! The outside world of a run, in virtual time: keeps what the run asks for, answers when the test says so.

#[path = "looks.rs"]
mod looks;

use std::collections::BTreeMap;

use looplet::engine::ledger::timers::TimerReason;
use looplet::engine::model::error::{Failure, FailureCode};
use looplet::engine::model::event::Event;
use looplet::engine::model::input::{ElicitationAnswer, Input, Moment, ToolReturn};
use looplet::engine::model::journal::{CallStatus, Checkpoint, Entry, Fact, Record, Recorded, Step};
use looplet::engine::model::message::{Block, Json};
use looplet::engine::model::outcome::Outcome;
use looplet::engine::model::output::{EffectId, HttpRequest, Output, ToolInvocation};
use looplet::engine::model::question::Question;
use looplet::engine::run::Run;
use serde_json::Value;

pub use super::settings::{Settings, config, tool};

pub struct World {
    pub run: Run,
    pub now_ms: u64,
    pub seed: u64,
    pub events: Vec<Event>,
    /// Bodies of all requests, in order.
    pub requests: Vec<String>,
    /// How often the history had been made shorter, or begun to be, at each request.
    pub epochs: Vec<usize>,
    /// What each request says besides its body, and the id of each.
    pub sent: Vec<HttpRequest>,
    ids: Vec<EffectId>,
    /// The agent of each request, and its iteration.
    pub agents: Vec<u32>,
    iterations: Vec<u32>,
    /// The request that waits for an answer; of several the one that the test has turned to, or the first.
    pub open_request: Option<EffectId>,
    /// All requests that wait for an answer, with their agents.
    pub open_requests: Vec<(EffectId, u32)>,
    pub aborted_requests: Vec<EffectId>,
    /// Calls that run, by the provider's id.
    pub running: BTreeMap<String, ToolInvocation>,
    /// Starts and ends of tools, in order: `start a`, `end a`, `abort a`.
    pub tool_log: Vec<String>,
    /// Every call that was started: its id and the name of its tool.
    pub started: Vec<(String, String)>,
    pub questions: Vec<(EffectId, Question)>,
    /// What running tools were told: the call's id, the number of its question, the answer.
    pub told_tools: Vec<(String, u32, ElicitationAnswer)>,
    /// Questions whose askers were told that the answer matters no more.
    pub withdrawn: Vec<EffectId>,
    /// Saves that wait for their confirmation, if the world does not confirm them by itself.
    pub saves: Vec<(EffectId, bool)>,
    /// The calls that each save says to have started.
    pub saved_starts: Vec<(EffectId, String)>,
    /// The journal.
    pub entries: Vec<Entry>,
    /// What the journal's entries come to.
    pub checkpoint: Checkpoint,
    pub is_recorded: bool,
    /// All inputs, if they are recorded.
    pub records: Vec<Record>,
    /// The number of outputs that were performed, events apart.
    performed: u32,
    pub confirm_saves: bool,
    handovers: Vec<EffectId>,
    /// Failures that wait to be handed back.
    failures: Vec<(EffectId, Failure)>,
    pub done: Option<Outcome>,
    /// The outputs of inputs wait.
    pub holds_outputs: bool,
    /// See [`Run::set_observed`].
    is_observed: bool,
    has_journal: bool,
    /// The journal begins with other runs, whose events have their own numbers.
    pub follows: bool,
    /// The number of outputs that are still performed. The process is dead after the last.
    pub lives_for: usize,
}

impl World {
    pub fn new(config: Settings) -> World {
        let has_journal = config.journal;
        World {
            has_journal,
            follows: false,
            run: config.open().unwrap(),
            now_ms: 1_000_000,
            seed: 0,
            events: Vec::new(),
            requests: Vec::new(),
            epochs: Vec::new(),
            sent: Vec::new(),
            ids: Vec::new(),
            agents: Vec::new(),
            iterations: Vec::new(),
            open_request: None,
            open_requests: Vec::new(),
            aborted_requests: Vec::new(),
            running: BTreeMap::new(),
            tool_log: Vec::new(),
            started: Vec::new(),
            questions: Vec::new(),
            told_tools: Vec::new(),
            withdrawn: Vec::new(),
            saves: Vec::new(),
            saved_starts: Vec::new(),
            entries: Vec::new(),
            checkpoint: Checkpoint::default(),
            is_recorded: false,
            records: Vec::new(),
            performed: 0,
            confirm_saves: true,
            handovers: Vec::new(),
            failures: Vec::new(),
            done: None,
            holds_outputs: false,
            is_observed: true,
            lives_for: usize::MAX,
        }
    }

    /// Nobody listens to what is told of tool calls.
    pub fn unobserved(config: Settings) -> World {
        let mut world = World::new(config);
        world.run.set_observed(false);
        world.is_observed = false;
        world
    }

    /// A run that has been asked `Go.`.
    pub fn started(config: Settings) -> World {
        let mut world = World::new(config);
        world.prompt("Go.");
        world
    }

    pub fn prompt(&mut self, text: &str) {
        self.input(Input::Prompt {
            content: vec![Block::text(text)],
        });
    }

    /// Hands an input over at a moment and performs every output. Inputs that follow by themselves do not follow.
    pub fn take(&mut self, input: Input<'_>, moment: Moment) -> bool {
        if self.is_recorded {
            self.records
                .push(Record::new(Recorded::from(&input), moment, self.performed));
        }
        let is_taken = self.run.handle_input(input, moment);
        if self.holds_outputs {
            return is_taken;
        }
        while self.lives_for > 0
            && let Some(output) = self.run.poll_output()
        {
            self.lives_for -= 1;
            self.perform(output);
        }
        let _ = self.run.poll_timer();
        is_taken
    }

    /// Feeds one input and performs every output.
    pub fn input(&mut self, input: Input<'_>) {
        self.offer(input);
    }

    /// Feeds one input and performs every output. Returns what [`Run::handle_input`] does.
    pub fn offer(&mut self, input: Input<'_>) -> bool {
        self.seed = self.seed.wrapping_add(0x9e37_79b9);
        let moment = Moment {
            now_ms: self.now_ms,
            random: self.seed,
        };
        let is_taken = self.take(input, moment);
        if self.holds_outputs || self.is_dead() {
            return is_taken;
        }
        self.check_deadline();
        for (request, failure) in std::mem::take(&mut self.failures) {
            self.input(Input::RequestFailed { request, failure });
        }
        for handover in std::mem::take(&mut self.handovers) {
            self.input(Input::HandedOver { handover });
        }
        if self.confirm_saves {
            for (save, _) in std::mem::take(&mut self.saves) {
                self.input(Input::Saved { save, ok: true });
            }
        }
        is_taken
    }

    pub fn is_dead(&self) -> bool {
        self.lives_for == 0
    }

    /// The process dies, and another one goes on with the run from its journal.
    pub fn crash(&mut self, config: Settings) {
        self.die(config);
        self.input(Input::Resume);
    }

    /// The process dies, and another one opens the journal.
    pub fn die(&mut self, config: Settings) {
        self.run = config.restore(self.checkpoint.clone()).unwrap();
        self.follows = false;
        self.run.set_observed(self.is_observed);
        (self.open_request, self.holds_outputs) = (None, false);
        self.open_requests.clear();
        self.running.clear();
        self.questions.clear();
        self.saves.clear();
        self.handovers.clear();
        self.failures.clear();
        let next_event = self.checkpoint.run.next_event;
        self.events.retain(|event| event.seq < next_event);
        self.done = None;
    }

    fn check_deadline(&self) {
        let reason = self.run.poll_timeout().map(|deadline| deadline.reason);
        let waited_for = match reason {
            Some(TimerReason::Effect(effect)) => Some(effect),
            _ => None,
        };
        assert!(
            waited_for.is_none_or(|effect| self.run.is_live(effect)),
            "{reason:?} waits for what has closed"
        );
    }

    fn perform(&mut self, output: Output) {
        assert!(self.done.is_none(), "{output:?} after the end");
        self.performed += u32::from(!matches!(output, Output::Emit(_)));
        match output {
            Output::Send { request, http } => {
                assert!(self.run.is_live(request));
                let last = self.events.last().unwrap();
                let (agent, iteration) = (last.agent, last.iteration);
                assert!(
                    self.open_requests.iter().all(|(_, other)| *other != agent),
                    "two requests of one agent at once"
                );
                self.agents.push(agent);
                self.iterations.push(iteration);
                self.open_requests.push((request, agent));
                let body = self.run.request_body(request).unwrap().to_vec();
                self.requests.push(String::from_utf8(body).unwrap());
                self.epochs.push(self.compactions(agent));
                self.sent.push(http);
                self.ids.push(request);
                self.open_request.get_or_insert(request);
            }
            Output::Abort { request } => {
                self.aborted_requests.push(request);
                self.close(request);
            }
            Output::Redact { request, failure } => self.failures.push((request, failure)),
            Output::CallTool(invocation) => {
                self.tool_log.push(format!("start {}", invocation.tool_call_id));
                self.started
                    .push((invocation.tool_call_id.clone(), invocation.tool_name.clone()));
                let twice = self.running.insert(invocation.tool_call_id.clone(), invocation);
                assert!(twice.is_none(), "a call was started twice");
            }
            Output::AbortTool { call, .. } => {
                let found = self.running.values().find(|running| running.call == call);
                let id = found.expect("it runs").tool_call_id.clone();
                self.running.remove(&id);
                self.tool_log.push(format!("abort {id}"));
            }
            Output::AnswerTool { call, number, answer } => {
                let found = self.running.values().find(|running| running.call == call);
                let id = found.expect("it runs").tool_call_id.clone();
                self.told_tools.push((id, number, answer));
            }
            Output::Ask { question, ask } => self.questions.push((question, ask)),
            Output::Withdraw { question, .. } => self.withdrawn.push(question),
            Output::Save {
                save,
                entries,
                awaited,
            } => {
                for entry in entries {
                    if let Fact::Call(call) = &entry.fact
                        && matches!(call.status, CallStatus::Started { .. })
                    {
                        self.saved_starts.push((save, call.tool_call_id.clone()));
                    }
                    self.entries.push(entry.clone());
                    self.checkpoint.fold(entry).expect("the journal's next fact");
                }
                self.saves.push((save, awaited));
            }
            Output::HandOver { handover } => self.handovers.push(handover),
            Output::Emit(event) => {
                let next = match self.follows {
                    true => 1,
                    false => self.checkpoint.run.next_event,
                };
                let last = self.events.last().map_or(next.max(1) - 1, |event| event.seq);
                assert!(
                    event.seq == last + 1 || (!self.is_observed && event.seq > last),
                    "the sequence has a gap"
                );
                self.events.push(event);
            }
            Output::Done(outcome) => {
                let root = self.checkpoint.agents.first();
                let step = root.map(|root| &root.state.step.step);
                let is_refused =
                    outcome.error.as_ref().map(|error| error.code) == Some(FailureCode::RunExists);
                let is_left = self.checkpoint.is_suspended || is_refused;
                assert!(
                    !self.has_journal || is_left || step == Some(&Step::Ended(outcome.clone())),
                    "the journal does not know the end: {step:?}"
                );
                self.done = Some(outcome);
            }
        }
    }

    /// Lets time pass, waking the run at each of its deadlines.
    pub fn pass(&mut self, ms: u64) {
        let end = self.now_ms + ms;
        while let Some(deadline) = self.run.poll_timeout().filter(|deadline| deadline.at_ms <= end) {
            self.now_ms = self.now_ms.max(deadline.at_ms);
            self.input(Input::Due);
        }
        self.now_ms = end;
    }

    pub fn request(&self) -> EffectId {
        self.open_request.expect("no request is open")
    }

    pub fn head(&mut self, status: u16, headers: &[(&str, &str)]) {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        self.input(Input::Head {
            request: self.request(),
            status,
            headers,
        });
    }

    pub fn chunk(&mut self, bytes: &str) {
        self.input(Input::Chunk {
            request: self.request(),
            bytes: bytes.as_bytes(),
        });
    }

    /// From now on the request of this agent is the one that is answered.
    pub fn turn_to(&mut self, path: &str) {
        let found = self
            .open_requests
            .iter()
            .find(|(_, agent)| self.run.agent_path(*agent) == path);
        self.open_request = Some(found.unwrap_or_else(|| panic!("no request of {path}")).0);
    }

    fn close(&mut self, request: EffectId) {
        self.open_requests.retain(|(open, _)| *open != request);
        if self.open_request == Some(request) {
            self.open_request = self.open_requests.first().map(|(open, _)| *open);
        }
    }

    pub fn end(&mut self) {
        let request = self.request();
        self.close(request);
        self.input(Input::End { request });
    }

    pub fn network_failed(&mut self) {
        let request = self.request();
        self.close(request);
        self.input(Input::NetworkFailed {
            request,
            why: "connection reset".into(),
        });
    }

    /// A whole successful streaming response to this agent's request.
    pub fn respond_to(&mut self, path: &str, body: &str) {
        self.turn_to(path);
        self.respond(body);
    }

    /// A whole successful streaming response.
    pub fn respond(&mut self, body: &str) {
        self.head(
            200,
            &[("content-type", "text/event-stream"), ("request-id", "req_1")],
        );
        self.chunk(body);
        self.end();
    }

    /// A whole error response.
    pub fn refuse(&mut self, status: u16, headers: &[(&str, &str)], body: &str) {
        self.head(status, headers);
        self.chunk(body);
        self.end();
    }

    pub fn finish_tool(&mut self, id: &str, result: ToolReturn) {
        let invocation = self
            .running
            .remove(id)
            .unwrap_or_else(|| panic!("{id} does not run"));
        self.tool_log.push(format!("end {id}"));
        self.input(Input::ToolFinished {
            call: invocation.call,
            result,
        });
    }

    pub fn return_value(&mut self, id: &str, value: Value) {
        self.finish_tool(id, ToolReturn::Value(Json::parse(&value.to_string()).unwrap()));
    }

    /// A running tool asks a person.
    pub fn tool_asks(&mut self, id: &str, number: u32, request: Value) {
        let call = self.running[id].call;
        self.input(Input::ToolAsks {
            call,
            number,
            request: Json::parse(&request.to_string()).unwrap(),
        });
    }

    /// A running tool leaves a state from which it can go on, after so many questions.
    pub fn tool_keeps(&mut self, id: &str, state: Value, asked: u32) {
        let call = self.running[id].call;
        let state = Some(Json::parse(&state.to_string()).unwrap());
        self.input(Input::ToolCheckpoint { call, state, asked });
    }

    pub fn cancel(&mut self) {
        let before = (self.requests.len(), self.tool_starts());
        self.input(Input::Cancel { why: "user".into() });
        assert_eq!(
            before,
            (self.requests.len(), self.tool_starts()),
            "I-05: something started after a cancel"
        );
    }

    fn tool_starts(&self) -> usize {
        self.tool_log
            .iter()
            .filter(|line| line.starts_with("start"))
            .count()
    }
}
