//! One agent of a run: its transcript, its model call, its tool calls, from iteration to iteration.
//!
//! Everything here happens inside one `handle_input` of the run. The agent opens and closes its effects in the
//! [`Ledger`] and leaves its outputs there; when it has ended, [`Agent::ended`] says how.

pub mod answer;
mod asks;
pub mod calls;
mod context;
mod end;
mod finish;
mod inbox;
mod limits;
mod prompt;
pub mod request;
mod result;
mod round;
mod tuning;

pub mod catalog;
pub mod profile;
pub mod transcript;

pub use answer::message::{delta, kind_of_delta};
pub use calls::delegation::{failed, inherited};

use serde::{Deserialize, Serialize};

use crate::engine::agent::asks::{Asks, Step};
use crate::engine::agent::calls::batch::ToolBatch;
use crate::engine::agent::calls::spawn::Parent;
use crate::engine::agent::catalog::Catalog;
use crate::engine::agent::profile::Profile;
use crate::engine::agent::request::active_model::ActiveModel;
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::agent::transcript::{Steady, Transcript};
use crate::engine::ledger::timers::TimerReason;
use crate::engine::ledger::{Ledger, Place};
use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::{Config, Limits, ModelConfig};
use crate::engine::model::event::EventKind;
use crate::engine::model::message::Block;
use crate::engine::model::outcome::{Outcome, StoppedBy, ToolCallRecord};
use crate::engine::model::output::{EffectId, EffectKind, HttpRequest, Output};
use crate::engine::model::usage::Usage;
use crate::engine::policy::permission::Permissions;
use crate::engine::policy::repeat::Repeats;
use crate::engine::policy::retry::Tries;
use answer::structured::Structured;
use context::summary::Context;
use tuning::Tuning;

/// Something to tell the model between its turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Queued {
    pub id: u32,
    pub content: Vec<Block>,
}

/// The next step, which waits until the host has heard everything before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Handover {
    handover: EffectId,
    owes_answer: bool,
}

/// Who goes on with the conversation when the round is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Successor {
    pub profile: u32,
    pub inherit_model: bool,
    /// Of the tool.
    pub name: String,
}

/// An agent's state.
#[derive(Clone, Serialize, Deserialize)]
pub struct Agent {
    pub index: u32,
    /// Index of what it is configured with.
    pub profile: u32,
    /// That before any handover.
    first_profile: u32,
    /// Whose call it answers; none for the root.
    pub parent: Option<Parent>,
    /// Levels above it.
    pub depth: u32,
    /// Its transcript is kept for the next call of its tool.
    pub is_kept: bool,
    has_reported: bool,
    pub successor: Option<Successor>,
    /// The model in use.
    pub asked: ActiveModel,
    /// The one to be used from the next request on.
    pub next_model: Option<Box<ModelConfig>>,
    /// `root`, or `root/…` below it.
    pub path: String,
    /// The same, but that of the first call for an agent that is kept: whose conversation it goes on with.
    pub home: String,
    pub iteration: u32,
    pub attempt: u32,
    tries: Tries,
    /// Of the configuration's fallback models.
    fallbacks_used: u32,
    pub finish_reason: Option<FinishReason>,
    pub raw_finish_reason: Option<String>,
    /// The vendor's id of the last answer, and the model that it says has answered.
    response: (Option<String>, Option<String>),
    /// Of this iteration's attempts.
    call_usage: Usage,
    iteration_open: bool,
    pub steers: Vec<Queued>,
    pub follow_ups: Vec<Queued>,
    pub transcript: Transcript,
    model: Option<ModelCall>,
    tools: ToolBatch,
    asks: Asks,
    /// What hooks have the model told beside the results of this round.
    notes: Vec<Block>,
    /// What hooks have the host's classifier told.
    classifier_context: Vec<String>,
    /// A `Stop` hook has made the model go on.
    stop_hook_active: bool,
    handover: Option<Handover>,
    structured: Structured,
    context: Context,
    /// How the requests of this iteration differ.
    tuning: Option<Box<Tuning>>,
    /// The messages of this iteration, in place of the transcript's.
    tuned: Option<Box<Transcript>>,
    /// As the host has raised them.
    limits: Option<Limits>,
    /// The host has not been told of the end of the last iteration.
    owes_end: bool,
    repeats: Repeats,
    tool_rounds: u32,
    /// The iteration of the last round.
    round_iteration: u32,
    /// Index of the first record of the last round.
    round_start: usize,
    records: Vec<ToolCallRecord>,
    /// Of the last answer.
    text: String,
    /// Of the answer that the next one continues.
    text_before: String,
    ended: Option<Outcome>,
}

/// What an agent works with, borrowed from the run for one input.
pub struct Desk<'a> {
    pub config: &'a Config,
    pub catalog: &'a Catalog,
    pub ledger: &'a mut Ledger,
    /// What the run may do, as it stands.
    pub permissions: &'a mut Option<Permissions>,
    pub profiles: &'a [Profile],
    /// The agents behind this one, those below it in the tree among them.
    pub below: &'a mut [Agent],
    /// Index of the first of them.
    pub first_below: u32,
}

impl Agent {
    pub fn new(index: u32, path: &str, asked: ActiveModel, transcript: Transcript) -> Agent {
        Agent {
            index,
            profile: 0,
            first_profile: 0,
            parent: None,
            depth: 0,
            is_kept: false,
            has_reported: false,
            successor: None,
            asked,
            next_model: None,
            path: path.to_owned(),
            home: path.to_owned(),
            iteration: 0,
            attempt: 0,
            tries: Tries::default(),
            fallbacks_used: 0,
            finish_reason: None,
            raw_finish_reason: None,
            response: (None, None),
            call_usage: Usage::default(),
            iteration_open: false,
            steers: Vec::new(),
            follow_ups: Vec::new(),
            transcript,
            model: None,
            tools: ToolBatch::default(),
            asks: Asks::default(),
            notes: Vec::new(),
            classifier_context: Vec::new(),
            stop_hook_active: false,
            handover: None,
            structured: Structured::default(),
            context: Context::default(),
            tuning: None,
            tuned: None,
            limits: None,
            owes_end: false,
            repeats: Repeats::default(),
            tool_rounds: 0,
            round_iteration: 0,
            round_start: 0,
            records: Vec::new(),
            text: String::new(),
            text_before: String::new(),
            ended: None,
        }
    }

    pub fn start(&mut self, desk: &mut Desk<'_>, prompt: Vec<Block>) {
        let ModelConfig { model, vendor, .. } = &self.asked.config;
        let kind = EventKind::AgentStart {
            model: model.clone(),
            vendor: vendor.clone(),
        };
        desk.ledger.emit(self.place(), kind);
        self.open_with(desk, prompt);
    }

    /// A request's body. A restored agent encodes it again: the same state gives the same bytes.
    pub fn request_body(&mut self, desk: &mut Desk<'_>, request: EffectId) -> Option<&[u8]> {
        if self.model.as_ref()?.request != Some(request) {
            return None;
        }
        if self.context.is_compacting() {
            return self.compaction_body(desk).ok();
        }
        self.encode(desk.config).ok()
    }

    /// What the body of an open request has in common with later ones.
    pub fn steady(&mut self, request: EffectId) -> Steady {
        if self.context.is_compacting() {
            return Steady::default();
        }
        let transcript = self.tuned.as_deref_mut().unwrap_or(&mut self.transcript);
        transcript.steady(request)
    }

    pub fn handle_end(&mut self, desk: &mut Desk<'_>) {
        let Some(model) = &mut self.model else { return };
        let finished = model.handle_end(desk.ledger.now_ms);
        self.tell_changes(desk);
        match finished {
            Ok(()) => self.finish_answer(desk),
            Err(failure) => self.attempt_failed(desk, failure),
        }
    }

    pub(super) fn begin_iteration(&mut self, desk: &mut Desk<'_>) {
        self.reserve(desk);
        match self.limit_on_iteration(desk) {
            Some(stopped_by) => self.reach_limit(desk, stopped_by, Step::Iteration),
            None => self.prepare_iteration(desk),
        }
    }

    pub(super) fn start_iteration(&mut self, desk: &mut Desk<'_>) {
        self.iteration += 1;
        self.attempt = 0;
        self.tries = Tries::default();
        self.iteration_open = true;
        // An answer without calls has left what it looked at.
        self.tools = ToolBatch::default();
        self.call_usage = Usage::default();
        self.finish_reason = None;
        self.raw_finish_reason = None;
        self.response = (None, None);
        desk.ledger.emit(self.place(), EventKind::IterationStart);
        self.send_what_fits(desk);
    }

    fn send(&mut self, desk: &mut Desk<'_>) {
        if self.lacks_budget(desk) {
            return;
        }
        self.attempt += 1;
        self.take_next_model(desk);
        if let Err(error) = self.encode(desk.config) {
            return self.end_failed(desk, error.into());
        }
        self.open_request(desk);
    }

    /// Sends what [`Agent::request_body`] gives.
    fn open_request(&mut self, desk: &mut Desk<'_>) {
        let asked = &self.asked;
        let Desk { config, ledger, .. } = desk;
        let model = &asked.config;
        let request = ledger.open(self.index, EffectKind::Request);
        let http = HttpRequest {
            method: "POST".into(),
            url: asked.url.clone(),
            headers: asked.headers.clone(),
            auth: asked.vendor.auth_slot(),
            model: model.slot,
        };
        let mut call = ModelCall::new(
            request,
            &model.vendor,
            asked.protocol,
            model.stream,
            config.join_deltas,
        );
        call.answer.price = model.price;
        call.answer.answer_tool = config.answer_tool().map(|tool| tool.name.clone());
        self.model = Some(call);
        ledger.emit(self.place(), EventKind::AttemptStart);
        ledger.output(Output::Send { request, http });
        ledger.set_timer(TimerReason::Effect(request), config.timeouts.first_chunk_ms);
    }

    /// Nothing more of the open request counts. `abort`: it may still be running.
    fn close_request(&mut self, desk: &mut Desk<'_>, abort: bool) {
        let Some(request) = self.model.as_mut().and_then(|model| model.request.take()) else {
            return;
        };
        if desk.ledger.close(request) && abort {
            desk.ledger.output(Output::Abort { request });
        }
    }

    /// What a model call used counts when it is over, however it went.
    fn count_usage(&mut self, desk: &mut Desk<'_>) {
        if let Some(model) = &mut self.model {
            let usage = std::mem::take(&mut model.answer.usage);
            desk.ledger.accounts.count(self.index, &usage);
            self.call_usage.add(&usage);
        }
    }

    /// Also when it is an agent above that has used more than it may: that one is stopped next. A time that is over may
    /// not have been told yet.
    fn over_limit(&self, desk: &Desk<'_>) -> Option<StoppedBy> {
        if desk.ledger.is_late(self.index) && !self.may_raise(desk) {
            return Some(StoppedBy::Time);
        }
        desk.ledger.accounts.overrun(self.index).map(|(_, by)| by)
    }

    fn place(&self) -> Place {
        Place {
            agent: self.index,
            iteration: self.iteration,
            attempt: self.attempt,
        }
    }
}
