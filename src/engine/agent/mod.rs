//! One agent of a run: its transcript, its requests and its tool calls, from iteration to iteration.
//!
//! An [`Agent`] consists of parts, and each part owns its state: the calls ([`calls`]), the messages and their length
//! ([`history`]), the requests ([`request`]), the last answer ([`answer`]), the iteration ([`iteration_state`]). A
//! method of a part takes the [`AgentContext`] and what it needs of the others, and returns what happens next
//! ([`next`]). This file has the inputs and the results of an agent, and [`machine`] has its steps.
//!
//! The parts depend downward only: `machine`, then `summary`, `request`, `answer`, `calls`, `history`, then the
//! context. There is one exception: a call that is aborted cancels the subagent below it
//! ([`AgentContext::on_child`]).
//!
//! The run calls an agent within one `handle_input`, with an [`AgentContext`] that it borrows for this input. The
//! agent opens and closes its effects in the ledger and adds its outputs there. It never performs an effect and never
//! waits. After its end, [`Agent::ended`] returns its outcome, including failures.

pub mod answer;
pub(crate) mod answer_events;
pub mod calls;
pub mod context;
pub mod durable;
pub mod history;
pub mod identity;
pub mod inbox;
mod iteration_state;
pub mod limits;
pub mod machine;
pub mod next;
pub mod questions;
mod report;
pub mod request;
pub(crate) mod summary;

pub mod catalog;
pub mod profile;
pub mod setup;

pub use answer_events::{delta, kind_of_delta};
pub use identity::active_model::inherited;
pub use report::failed;

use std::borrow::Cow;

use crate::engine::agent::answer::Answers;
use crate::engine::agent::calls::Calls;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::history::History;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::identity::AgentIdentity;
use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::agent::identity::tuning::{encode, tune};
use crate::engine::agent::iteration_state::IterationState;
use crate::engine::agent::machine::Machine;
use crate::engine::agent::machine::step::{Now, Phase};
use crate::engine::agent::next::Next;
use crate::engine::agent::questions::{About, Settled};
use crate::engine::agent::request::Requests;
use crate::engine::agent::request::handoff::accept_handoff;
use crate::engine::agent::request::reading::Reading;
use crate::engine::agent::summary::Summary;
use crate::engine::ledger::Grown;
use crate::engine::ledger::spawn::Successor;
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::config::ModelConfig;
use crate::engine::model::error::Failure;
use crate::engine::model::hook::{HookAnswer, Raise};
use crate::engine::model::input::ToolReturn;
use crate::engine::model::journal::{Inbox, Length, Step};
use crate::engine::model::message::Message;
use crate::engine::model::outcome::{Outcome, StoppedBy, StreamedBlock, ToolCallRecord};
use crate::engine::model::output::EffectId;
use crate::engine::model::question::{Answer, Point};

/// An agent and its place in the tree of a run.
#[derive(Clone)]
pub struct Node {
    pub identity: AgentIdentity,
    pub agent: Agent,
}

/// An agent's state. Its parts have what the journal saves of it (`state.rs`).
#[derive(Clone)]
pub struct Agent {
    machine: Machine,
    iteration: IterationState,
    pub history: History,
    pub inbox: Inbox,
    pub calls: Calls,
    requests: Requests,
    pub answers: Answers,
    /// Whether the transcript is saved for the next call of the agent's tool.
    pub is_kept: bool,
}

impl Agent {
    pub fn new(transcript: Transcript) -> Agent {
        Agent {
            machine: Machine::default(),
            iteration: IterationState::default(),
            history: History::new(transcript, Length::default()),
            inbox: Inbox::default(),
            calls: Calls::default(),
            requests: Requests::default(),
            answers: Answers::default(),
            is_kept: false,
        }
    }

    /// A request's body. A restored agent encodes it again: the same state gives the same bytes.
    pub fn request_body<'a>(&'a mut self, ctx: AgentContext<'a>, request: EffectId) -> Option<&'a [u8]> {
        let transcript = &mut self.history.transcript;
        match &mut self.machine.now {
            Now::Summarizing(summary) if summary.is_asked_by(request) => summary.body(&ctx, transcript).ok(),
            Now::Reading(call) if call.request == Some(request) => match call.own_body() {
                Some(body) => Some(body),
                None => encode(transcript, ctx.identity, ctx.config).ok(),
            },
            _ => None,
        }
    }

    /// Summarises the root's history before its next request, which is not sent if `only` is set.
    pub fn ask_to_summarize(&mut self, instructions: Option<String>, only: bool) {
        self.history.want_summary(instructions, only);
    }

    /// Sets the model that the next request asks.
    pub fn set_next_model(&mut self, ctx: &AgentContext<'_>, model: Box<ModelConfig>) {
        self.requests.set_next_model(model, ctx.setup);
    }

    /// Hands the conversation off to the agent with this agent's new profile.
    pub fn accept_handoff(&mut self, ctx: &mut AgentContext<'_>, successor: Successor) {
        accept_handoff(ctx, &mut self.history.transcript, successor);
    }

    /// The model call whose response is being received.
    fn reading(&mut self) -> Option<Reading<'_>> {
        let is_summary = self.machine.is(Phase::Summarizing);
        Some(Reading {
            call: self.machine.call_mut()?,
            is_summary,
            requests: &mut self.requests,
            calls: &mut self.calls,
        })
    }

    pub fn handle_head(
        &mut self,
        ctx: &mut AgentContext<'_>,
        request: EffectId,
        status: u16,
        headers: Vec<(String, String)>,
    ) {
        if let Some(reading) = self.reading() {
            let next = reading.handle_head(ctx, request, status, headers);
            self.follow(ctx, next);
        }
    }

    pub fn handle_chunk(&mut self, ctx: &mut AgentContext<'_>, request: EffectId, bytes: &[u8]) {
        if let Some(reading) = self.reading() {
            let next = reading.handle_chunk(ctx, request, bytes);
            self.follow(ctx, next);
        }
    }

    pub fn handle_end(&mut self, ctx: &mut AgentContext<'_>) {
        if let Some(reading) = self.reading() {
            let next = reading.end(ctx, false);
            self.follow(ctx, next);
        }
    }

    pub fn handle_request_failed(&mut self, ctx: &mut AgentContext<'_>, failure: Failure) {
        if let Some(reading) = self.reading() {
            let next = reading.handle_failure(ctx, failure);
            self.follow(ctx, next);
        }
    }

    pub fn tool_finished(&mut self, ctx: &mut AgentContext<'_>, call: EffectId, result: ToolReturn) {
        let next = self.calls.finished(ctx, call, result);
        self.follow(ctx, next);
    }

    pub fn tool_timed_out(&mut self, ctx: &mut AgentContext<'_>, call: EffectId) {
        let next = self.calls.time_is_up(ctx, call);
        self.follow(ctx, next);
    }

    pub fn saved(&mut self, ctx: &mut AgentContext<'_>, save: EffectId, ok: bool) {
        let next = self.calls.saved(ctx, save, ok);
        self.follow(ctx, next);
    }

    /// Takes the step that follows.
    pub(crate) fn follow(&mut self, ctx: &mut AgentContext<'_>, next: Next) {
        match next {
            Next::Wait => {}
            Next::Advance => {
                let next = self.calls.advance(ctx);
                self.follow(ctx, next);
            }
            Next::Send => {
                self.machine.enter(Step::Ask, Now::Sending);
                self.send(ctx);
            }
            Next::SendLater => self.machine.enter(Step::Ask, Now::Sending),
            Next::Shorten(failure) => {
                if let Some(summary) = Summary::of_overflow(ctx, &self.history, failure) {
                    self.summarize(ctx, summary);
                }
            }
            Next::GuardInput => self.guard_input(ctx),
            Next::ResponseOver => self.finish_response(ctx),
            Next::RoundOver => self.close_round(ctx),
            Next::HandOver { owes_answer } => self.hand_over(ctx, owes_answer),
            Next::Stop(stopped_by) => self.stop(ctx, stopped_by),
            Next::StopBecause(stopped_by, why) => self.stop_because(ctx, stopped_by, why),
            Next::Cancel(why) => self.cancel(ctx, why),
            Next::Fail(failure) => self.end_failed(ctx, failure),
        }
    }

    /// Asks for more of a limit, or stops.
    fn reach_limit(&mut self, ctx: &mut AgentContext<'_>, stopped_by: StoppedBy) {
        let next = ctx.reach_limit(stopped_by, self.calls.rounds.count());
        self.follow(ctx, next);
    }

    /// Asks for more time, or stops. Everything continues until the answer arrives.
    pub fn time_is_up(&mut self, ctx: &mut AgentContext<'_>, timer: TimerReason) {
        let next = ctx.time_is_up(timer, self.calls.rounds.count());
        self.follow(ctx, next);
    }

    /// Applies your code's answer at a limit, and continues the blocked step unless the limit is still reached.
    fn after_limit(&mut self, ctx: &mut AgentContext<'_>, about: &About, raise: Option<Raise>) {
        let stopped_by = match *about {
            About::Limit(stopped_by) => stopped_by,
            About::Time(timer) => {
                let next = ctx.raise_time(timer, &raise.unwrap_or_default());
                return self.follow(ctx, next);
            }
            About::Phase | About::Call(_) | About::Elicitation(..) | About::Calls(_) | About::Nothing => {
                return;
            }
        };
        if let Some(raise) = raise {
            ctx.raise(&raise);
        }
        // Your code may also have raised the limit unasked in the meantime.
        let phase = self.machine.phase();
        let limit = match phase {
            Phase::Preparing => {
                self.history.reserve(ctx);
                ctx.limit_on_iteration()
            }
            Phase::Running => self.calls.limit(ctx, 0),
            _ => ctx.overrun(),
        };
        match (limit, phase) {
            (Some(same), _) if same == stopped_by => self.stop(ctx, same),
            (Some(other), _) => self.reach_limit(ctx, other),
            (None, Phase::Preparing) => self.prepare(ctx),
            (None, Phase::Running) => {
                let next = self.calls.set_out(ctx);
                self.follow(ctx, next);
            }
            (None, _) => self.send_again(ctx),
        }
    }

    pub fn answered(&mut self, ctx: &mut AgentContext<'_>, question: EffectId, mut answer: Answer) {
        while let Answer::Read {
            readings,
            answer: read,
        } = answer
        {
            self.calls.approvals.note_readings(readings);
            answer = *read;
        }
        if let Some(settled) = ctx.answered(question, answer) {
            self.continue_step(ctx, settled);
        }
    }

    pub fn question_timed_out(&mut self, ctx: &mut AgentContext<'_>, question: EffectId, point: Point) {
        let answer = ctx.late_answer(question, point);
        self.answered(ctx, question, answer);
    }

    /// Takes the step that waited for a point, when all functions that were asked there have answered.
    fn continue_step(&mut self, ctx: &mut AgentContext<'_>, settled: Settled) {
        let Settled { point, about, answer } = settled;
        let Calls { batch, approvals, .. } = &mut self.calls;
        let next = match answer {
            Answer::Hook(verdict) => return self.after_hooks(ctx, point, &about, *verdict),
            Answer::Stop(stops) => return self.after_stop_question(ctx, point, stops),
            Answer::Summary(summary) => return self.take_summary(ctx, &summary),
            Answer::Filtered(messages) => return self.after_filter(ctx, Ok(messages)),
            Answer::Failed { why } if point == Point::FilterHandoff => {
                return self.after_filter(ctx, Err(why));
            }
            Answer::Checked(checked) => return self.after_check(ctx, checked),
            Answer::Permission(answer) | Answer::Classified(answer) => {
                approvals.take_permission(batch, ctx, &about, answer)
            }
            Answer::Elicited(answer) => approvals.take_elicited(batch, ctx, &about, answer),
            Answer::Reconciled(answer) => approvals.take_reconciled(batch, ctx, &about, answer),
            Answer::Prepared(prepared) => approvals.take_prepared(batch, ctx, &about, Ok(prepared)),
            Answer::Failed { why } => approvals.take_prepared(batch, ctx, &about, Err(why)),
            Answer::Worded(texts) => batch.take_words(texts),
            // `answered` stores the readings and passes on the answer that they came with.
            Answer::Read { .. } => Next::Wait,
        };
        self.follow(ctx, next);
    }

    /// Takes the step that waited for hooks, guardrails or functions around an iteration.
    fn after_hooks(&mut self, ctx: &mut AgentContext<'_>, point: Point, about: &About, verdict: HookAnswer) {
        match point {
            Point::SessionStart | Point::UserPromptSubmit | Point::SubagentStart => {
                self.after_prompt_hooks(ctx, verdict);
            }
            Point::PrepareIteration => {
                tune(ctx, &mut self.history.transcript, verdict);
                self.guard_input(ctx);
            }
            Point::InputGuardrail => self.after_input(ctx, verdict),
            Point::Limit => self.after_limit(ctx, about, verdict.limits),
            Point::PreCompact => self.after_precompact(ctx, verdict),
            Point::PostCompact => self.guard_input(ctx),
            Point::OutputGuardrail => self.after_output(ctx, verdict),
            Point::PreToolUse
            | Point::ToolGuardrail
            | Point::PermissionRequest
            | Point::PermissionDenied
            | Point::Notification
            | Point::PostToolUse
            | Point::PostToolUseFailure
            | Point::PostToolBatch => {
                let Calls { batch, approvals, .. } = &mut self.calls;
                let next = approvals.after_hooks(batch, ctx, point, about, verdict);
                self.follow(ctx, next);
            }
            Point::IterationEnd => self.after_iteration_end(ctx),
            Point::Stop | Point::SubagentStop => self.after_stop_hooks(ctx, verdict),
            // Points with one function and another kind of answer.
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

    pub fn ended(&self) -> Option<&Outcome> {
        self.machine.ended()
    }

    /// Returns true if no step is left to take.
    pub fn is_over(&self) -> bool {
        self.machine.is_over()
    }

    /// The transcript in a form that can be sent. Open calls get a result that says that they were not run.
    pub fn messages(&self) -> Cow<'_, [Message]> {
        self.history.transcript.closed(self.calls.batch.results())
    }

    /// The transcript like [`Agent::messages`]. While the agent is running, its open calls have their progress.
    pub fn messages_so_far(&self, asking: &[EffectId]) -> Cow<'_, [Message]> {
        if self.is_over() {
            return self.messages();
        }
        let results = self.calls.batch.results_so_far(asking);
        self.history.transcript.closed(results)
    }

    /// Every tool call so far, in the order of the requests.
    pub fn tool_calls(&self) -> Cow<'_, [ToolCallRecord]> {
        let mut records = Cow::Borrowed(self.calls.rounds.records());
        let is_over = self.ended().is_some();
        if !self.calls.batch.calls().is_empty() {
            let open = self.calls.batch.told().map(|call| call.record(is_over));
            records.to_mut().extend(open);
        }
        records
    }

    /// The text of the streaming answer, or else of the last answer that brought any.
    pub fn text(&self) -> String {
        let reading = self.machine.reading();
        self.answers.text_with(reading.map(|call| &call.answer))
    }

    /// The blocks of the streaming answer, as far as events have reported them.
    pub fn streaming(&self) -> Vec<StreamedBlock<'_>> {
        let Some(reading) = self.machine.reading() else {
            return Vec::new();
        };
        let input_of = |id: &str| {
            let mut told = self.calls.batch.told();
            let call = told.find(|call| call.id() == id)?;
            Some(call.record(false).input)
        };
        answer_events::emitted_blocks(&reading.answer, input_of)
    }

    /// The text of a delta that has not been polled.
    pub fn grown_text(&self, grown: &Grown) -> &str {
        self.machine.grown_text(grown)
    }
}

/// Makes the first agent of a run.
pub fn root(model: ActiveModel, transcript: Transcript) -> Node {
    Node {
        identity: AgentIdentity::new(0, "root", model),
        agent: Agent::new(transcript),
    }
}
