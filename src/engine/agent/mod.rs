//! One agent of a run: its transcript, its requests and its tool calls, from iteration to iteration.
//!
//! [`Agent`] owns the state of one agent, and each part owns its own: the calls ([`calls`]), the messages and their
//! length ([`history`]), the requests ([`request`]), the last answer ([`answer`]). [`iteration`] holds the order of
//! the steps, [`machine`] the step that the agent is at.
//!
//! The run calls an agent within one `handle_input`, with a [`Desk`] that is lent for this input. The agent opens and
//! closes its effects in the ledger and leaves its outputs there. It never performs an effect and never waits. When
//! it has ended, [`Agent::ended`] returns its outcome, and a failure is one of these.

pub mod answer;
pub mod asks;
pub mod calls;
mod course;
pub mod desk;
pub mod durable;
mod end;
pub mod history;
pub mod inbox;
mod iteration;
pub mod limits;
pub mod machine;
pub mod next;
mod prompt;
mod report;
pub mod request;
mod result;
pub mod who;

pub mod catalog;
pub mod profile;
pub mod setup;

pub use answer::telling::{delta, kind_of_delta};
pub use report::failed;
pub use request::active_model::inherited;

use crate::engine::agent::answer::Answers;
use crate::engine::agent::asks::{About, Settled};
use crate::engine::agent::calls::Calls;
use crate::engine::agent::course::Course;
use crate::engine::agent::desk::Desk;
use crate::engine::agent::history::History;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::machine::Machine;
use crate::engine::agent::machine::step::Phase;
use crate::engine::agent::next::Next;
use crate::engine::agent::request::Requests;
use crate::engine::agent::request::active_model::ActiveModel;
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::agent::who::Who;
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::config::ModelConfig;
use crate::engine::model::event::EventKind;
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::hook::Raise;
use crate::engine::model::input::ToolReturn;
use crate::engine::model::journal::{Inbox, Length};
use crate::engine::model::message::{Block, Json};
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::output::EffectId;
use crate::engine::model::question::{Answer, Point};

/// An agent and its place in the tree of a run.
#[derive(Clone)]
pub struct Node {
    pub who: Who,
    pub agent: Agent,
}

/// An agent's state. Its parts keep what the journal has of it (`state.rs`).
#[derive(Clone)]
pub struct Agent {
    machine: Machine,
    course: Course,
    pub history: History,
    pub inbox: Inbox,
    pub calls: Calls,
    requests: Requests,
    pub answers: Answers,
    /// The transcript is kept for the next call of the agent's tool.
    pub is_kept: bool,
}

impl Agent {
    pub fn new(transcript: Transcript) -> Agent {
        Agent {
            machine: Machine::default(),
            course: Course::default(),
            history: History {
                transcript,
                length: Length::default(),
            },
            inbox: Inbox::default(),
            calls: Calls::default(),
            requests: Requests::default(),
            answers: Answers::default(),
            is_kept: false,
        }
    }

    pub fn start(&mut self, desk: &mut Desk<'_>, prompt: Vec<Block>) {
        let ModelConfig { model, vendor, .. } = &desk.who.model.config;
        let kind = EventKind::AgentStart {
            model: model.clone(),
            vendor: vendor.clone(),
        };
        desk.emit(kind);
        if self.history.length.wants_summary_alone() {
            if !self.begin_wanted_summary(desk) {
                self.end_completed(desk);
            }
            return;
        }
        self.open_with(desk, prompt);
    }

    /// A request's body. A restored agent encodes it again: the same state gives the same bytes.
    pub fn request_body<'a>(&'a mut self, desk: Desk<'a>, request: EffectId) -> Option<&'a [u8]> {
        if self.machine.call()?.request != Some(request) {
            return None;
        }
        if self.machine.is(Phase::Summarizing) {
            return self.summary_body(&desk).ok();
        }
        let has_own = self.machine.call().is_some_and(|call| call.own_body().is_some());
        if has_own {
            return self.machine.call().and_then(ModelCall::own_body);
        }
        self.encode(desk.who, desk.config).ok()
    }

    /// Summarises the root's history before its next request, which is not sent if `only` is set.
    pub fn ask_to_summarize(&mut self, instructions: Option<String>, only: bool) {
        self.history.length.want(instructions, only);
    }

    /// Sets the model that the next request asks.
    pub fn set_next_model(&mut self, desk: &Desk<'_>, model: Box<ModelConfig>) {
        self.requests.set_next_model(model, desk.setup);
    }

    pub fn tool_finished(&mut self, desk: &mut Desk<'_>, call: EffectId, result: ToolReturn) {
        let next = self.calls.finished(desk, call, result);
        self.follow(desk, next);
    }

    pub fn tool_progress(&self, desk: &mut Desk<'_>, call: EffectId, data: Json) {
        self.calls.progress(desk, call, data);
    }

    pub fn tool_asks(&mut self, desk: &mut Desk<'_>, call: EffectId, number: u32, request: Json) {
        self.calls.elicit(desk, call, number, request);
    }

    pub fn tool_timed_out(&mut self, desk: &mut Desk<'_>, call: EffectId) {
        let next = self.calls.time_is_up(desk, call);
        self.follow(desk, next);
    }

    pub fn saved(&mut self, desk: &mut Desk<'_>, save: EffectId, ok: bool) {
        let next = self.calls.saved(desk, save, ok);
        self.follow(desk, next);
    }

    /// Takes the step that follows.
    pub(crate) fn follow(&mut self, desk: &mut Desk<'_>, next: Next) {
        match next {
            Next::Wait => {}
            Next::RoundOver => self.close_round(desk),
            Next::HandOver { owes_answer } => self.hand_over(desk, owes_answer),
            Next::Stop(stopped_by) => self.stop(desk, stopped_by),
            Next::StopBecause(stopped_by, why) => self.stop_because(desk, stopped_by, why),
            Next::Cancel(why) => self.cancel(desk, why),
        }
    }

    /// Asks for more of a limit, or stops.
    fn reach_limit(&mut self, desk: &mut Desk<'_>, stopped_by: StoppedBy) {
        let next = desk.reach_limit(stopped_by, self.calls.kept.rounds);
        self.follow(desk, next);
    }

    /// Asks for more time, or stops. Everything goes on until the answer comes.
    pub fn time_is_up(&mut self, desk: &mut Desk<'_>, timer: TimerReason) {
        let next = desk.time_is_up(timer, self.calls.kept.rounds);
        self.follow(desk, next);
    }

    /// Takes the answer of your code at a limit.
    fn after_limit(&mut self, desk: &mut Desk<'_>, about: &About, raise: Option<Raise>) {
        match *about {
            About::Limit(stopped_by) => self.go_on_behind(desk, stopped_by, raise),
            About::Time(timer) => {
                let next = desk.raise_time(timer, &raise.unwrap_or_default());
                self.follow(desk, next);
            }
            About::Phase | About::Call(_) | About::Elicitation(..) | About::Calls(_) | About::Nothing => {}
        }
    }

    /// Takes the step that the limit has held up, unless a limit still holds it.
    fn go_on_behind(&mut self, desk: &mut Desk<'_>, stopped_by: StoppedBy, raise: Option<Raise>) {
        if let Some(raise) = raise {
            desk.raise(&raise);
        }
        // Your code may also have raised the limit unasked in the meantime.
        let phase = self.machine.phase();
        let limit = match phase {
            Phase::Preparing => {
                self.reserve(desk);
                desk.limit_on_iteration()
            }
            Phase::Running => self.calls.limit(desk, 0),
            _ => desk.overrun(),
        };
        match (limit, phase) {
            (Some(same), _) if same == stopped_by => self.stop(desk, same),
            (Some(other), _) => self.reach_limit(desk, other),
            (None, Phase::Preparing) => self.prepare(desk),
            (None, Phase::Running) => self.start_calls(desk),
            (None, _) => self.send_again(desk),
        }
    }

    /// Returns true if the next request must wait for more budget or never goes out. An earlier attempt, a summary or
    /// another agent may have used the budget up.
    fn lacks_budget(&mut self, desk: &mut Desk<'_>) -> bool {
        self.reserve(desk);
        let stopped_by = desk.overrun();
        if let Some(stopped_by) = stopped_by {
            self.reach_limit(desk, stopped_by);
        }
        stopped_by.is_some()
    }

    /// Sets the estimated input of the next request aside in the accounts of this agent and those above it.
    fn reserve(&self, desk: &mut Desk<'_>) {
        if desk.estimates_usage() {
            desk.reserve(self.history.tokens(desk), 0);
        }
    }

    pub fn answered(&mut self, desk: &mut Desk<'_>, question: EffectId, mut answer: Answer) {
        while let Answer::Read {
            readings,
            answer: read,
        } = answer
        {
            self.calls.batch.readings.extend(readings);
            answer = *read;
        }
        if let Some(settled) = desk.answered(question, answer) {
            self.go_on(desk, settled);
        }
    }

    pub fn question_timed_out(&mut self, desk: &mut Desk<'_>, question: EffectId, point: Point) {
        let answer = desk.late_answer(question, point);
        self.answered(desk, question, answer);
    }

    /// Takes the step that waited for a point, when all functions that were asked there have answered.
    fn go_on(&mut self, desk: &mut Desk<'_>, settled: Settled) {
        let Settled { point, about, answer } = settled;
        let next = match answer {
            Answer::Hook(verdict) => return self.after_hooks(desk, point, &about, *verdict),
            Answer::Stop(stops) => return self.after_stop_question(desk, point, stops),
            Answer::Summary(summary) => return self.apply_summary(desk, &summary),
            Answer::Filtered(messages) => return self.after_filter(desk, Ok(messages)),
            Answer::Failed { why } if point == Point::FilterHandoff => {
                return self.after_filter(desk, Err(why));
            }
            Answer::Checked(checked) => return self.after_check(desk, checked),
            Answer::Permission(answer) | Answer::Classified(answer) => {
                self.calls.take_permission(desk, &about, answer)
            }
            Answer::Elicited(answer) => self.calls.take_elicited(desk, &about, answer),
            Answer::Reconciled(answer) => self.calls.take_reconciled(desk, &about, answer),
            Answer::Prepared(prepared) => self.calls.take_prepared(desk, &about, Ok(prepared)),
            Answer::Failed { why } => self.calls.take_prepared(desk, &about, Err(why)),
            Answer::Worded(texts) => self.calls.take_words(texts),
            // `answered` keeps the readings and hands on the answer that they came with.
            Answer::Read { .. } => Next::Wait,
        };
        self.follow(desk, next);
    }

    /// Takes the step that waited for hooks, guardrails or functions around an iteration.
    fn after_hooks(&mut self, desk: &mut Desk<'_>, point: Point, about: &About, verdict: HookAnswer) {
        match point {
            Point::SessionStart | Point::UserPromptSubmit | Point::SubagentStart => {
                self.after_prompt_hooks(desk, verdict);
            }
            Point::PrepareIteration => self.after_prepare(desk, verdict),
            Point::InputGuardrail => self.after_input(desk, verdict),
            Point::Limit => self.after_limit(desk, about, verdict.limits),
            Point::PreCompact => self.after_precompact(desk, verdict),
            Point::PostCompact => self.guard_summary(desk),
            Point::OutputGuardrail => self.after_output(desk, verdict),
            Point::PreToolUse
            | Point::ToolGuardrail
            | Point::PermissionRequest
            | Point::PermissionDenied
            | Point::Notification
            | Point::PostToolUse
            | Point::PostToolUseFailure
            | Point::PostToolBatch => {
                let next = self.calls.after_hooks(desk, point, about, verdict);
                self.follow(desk, next);
            }
            Point::IterationEnd => self.after_iteration_end(desk),
            Point::Stop | Point::SubagentStop => self.after_stop_hooks(desk, verdict),
            // Points with one function, which gives another kind of answer.
            Point::PrepareCalls
            | Point::WordErrors
            | Point::Permission
            | Point::Classify
            | Point::Reconcile
            | Point::Elicitation
            | Point::Summarize
            | Point::CheckOutput
            | Point::StopCondition
            | Point::StopRepeat
            | Point::FilterHandoff => {}
        }
    }
}

/// Makes the first agent of a run.
pub fn root(model: ActiveModel, transcript: Transcript) -> Node {
    Node {
        who: Who::new(0, "root", model),
        agent: Agent::new(transcript),
    }
}
