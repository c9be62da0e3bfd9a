//! Requests to the model: the first attempt, the next one, and the one that another model gets.
//!
//! An agent calls [`Agent::open_request`] with a body that [`Agent::encode`] has accepted. [`reading`] takes the
//! response in. [`Agent::attempt_failed`] decides what follows a failure. Nothing here waits: a delay is a timer of
//! the ledger.

pub mod active_model;
pub mod background;
pub mod body;
pub mod cut_off;
pub mod handoff;
pub mod model_call;
pub(crate) mod reading;
pub mod tuning;

use crate::engine::agent::Agent;
use crate::engine::agent::answer::telling::take_back_blocks;
use crate::engine::agent::desk::Desk;
use crate::engine::agent::durable::models::name_of;
use crate::engine::agent::machine::step::{Now, Phase};
use crate::engine::agent::request::active_model::ActiveModel;
use crate::engine::agent::request::background::is_segment;
use crate::engine::agent::request::cut_off::Begun;
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::agent::setup::Setup;
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::config::{ModelConfig, OnUnknownTool};
use crate::engine::model::error::{ConfigError, Failure, FailureCode};
use crate::engine::model::event::{CompactTrigger, EventKind};
use crate::engine::model::journal::{RequestsState, Step, Tries};
use crate::engine::model::output::{EffectKind, HttpRequest, Output};

/// The state of an agent's requests.
#[derive(Clone, Default)]
pub struct Requests {
    pub kept: RequestsState,
    /// The configuration of `kept.next_model`, which may hold secrets.
    next_model: Option<Box<ModelConfig>>,
    /// The part of the answer that has come before it broke off, for the next request.
    pub begun: Option<Begun>,
}

impl Requests {
    /// The requests of a checkpoint. `asks` says that the model was being asked.
    pub fn restored(mut kept: RequestsState, asks: bool) -> Requests {
        kept.next_model = None;
        kept.background = kept.background.filter(|id| asks && is_segment(id));
        Requests {
            kept,
            ..Requests::default()
        }
    }

    /// Sets the model that the next request asks.
    pub fn set_next_model(&mut self, model: Box<ModelConfig>, setup: &Setup) {
        self.kept.next_model = Some(name_of(&model, setup));
        self.next_model = Some(model);
    }

    fn take_next_model(&mut self) -> Option<Box<ModelConfig>> {
        self.kept.next_model = None;
        self.next_model.take()
    }
}

impl Agent {
    /// Asks this model from now on and encodes the transcript again for it. No request may be open.
    ///
    /// # Errors
    /// An unknown vendor or protocol, a missing URL, an option that the protocol cannot express. The agent then keeps
    /// its model.
    pub(super) fn switch_model(
        &mut self,
        desk: &mut Desk<'_>,
        model: ModelConfig,
        error: Option<Failure>,
    ) -> Result<(), ConfigError> {
        desk.who.model = ActiveModel::checked(model, desk.config)?;
        self.history.transcript.forget_body();
        if let Some(tuning) = &mut desk.who.tuning {
            tuning.keep_model();
        }
        desk.who.keep_model(desk.setup);
        let kind = EventKind::ModelChange {
            model: desk.who.model.config.model.clone(),
            vendor: desk.who.model.config.vendor.clone(),
            error,
        };
        desk.emit(kind);
        Ok(())
    }

    /// Switches to the model that was asked for since the last request.
    pub(crate) fn take_next_model(&mut self, desk: &mut Desk<'_>) {
        let Some(model) = self.requests.take_next_model() else {
            return;
        };
        if let Err(error) = self.switch_model(desk, *model, None) {
            desk.warn("model_refused", error.to_text());
        }
    }

    /// Opens a request. Its body is [`Agent::request_body`].
    pub(super) fn open_request(&mut self, desk: &mut Desk<'_>) -> ModelCall {
        let url = desk.who.model.url.clone();
        self.open_request_at(desk, "POST", url)
    }

    fn open_request_at(&mut self, desk: &mut Desk<'_>, method: &str, url: String) -> ModelCall {
        if let Some(message) = desk.who.model.effort_warning() {
            desk.warn_once("effort_not_sent", message);
        }
        let Desk { config, ledger, .. } = desk;
        let ActiveModel {
            config: model,
            protocol,
            vendor,
            headers,
            ..
        } = &desk.who.model;
        let request = ledger.open(desk.who.agent, EffectKind::Request);
        let http = HttpRequest {
            method: method.into(),
            url,
            headers: headers.clone(),
            auth: vendor.auth_slot(),
            model: model.slot,
        };
        let mut call = ModelCall::new(request, protocol, model.stream, config.join_deltas);
        call.max_error_bytes = config.max_error_body_bytes as usize;
        call.limit_events(config.max_answer_event_bytes as usize);
        call.answer.price = model.price;
        call.answer.other_prices.clone_from(&model.other_prices);
        call.answer.max_parts = config.max_answer_blocks as usize;
        call.answer.max_text_bytes = config.max_answer_text_bytes as usize;
        call.answer.max_argument_bytes = config.max_answer_argument_bytes as usize;
        call.answer.id_seed = ledger.random.next_u64() >> 11;
        call.answer.holds_text = config.hold_text;
        call.answer.answer_tool = config.answer_tool().map(|tool| tool.name.clone());
        if config.on_unknown_tool != OnUnknownTool::Host {
            let aliases = desk.setup.root.config.tool_aliases.iter();
            let names = config.tools.iter().map(|tool| &tool.name);
            let names = names.chain(aliases.map(|(alias, _)| alias));
            call.answer.tools = Some(names.cloned().collect());
        }
        ledger.emit(desk.who.place(), EventKind::AttemptStart);
        ledger.output(Output::Send { request, http });
        ledger.set_timer(TimerReason::Effect(request), config.timeouts.first_chunk_ms);
        call
    }

    /// Warns of blocks in results that the protocol cannot send, once for each request that would send them first.
    pub(super) fn warn_of_raw_results(&self, desk: &mut Desk<'_>) {
        if desk.who.model.protocol.raw_in_results || !self.history.transcript.has_new_raw_result() {
            return;
        }
        let name = desk.who.model.protocol.name;
        let message = format!(
            "A tool's result has a raw block. The protocol {name} has no place for it in a result, so the model does not see it: return text or media."
        );
        desk.warn("raw_result", message);
    }

    /// Sends again after a wait, or after a limit was raised.
    pub fn send_again(&mut self, desk: &mut Desk<'_>) {
        match self.machine.phase() {
            Phase::Summarizing => self.send_summary(desk),
            _ => self.send(desk),
        }
    }

    /// Answers a failed attempt with a shorter history, another attempt, another model, or the end.
    pub(crate) fn attempt_failed(&mut self, desk: &mut Desk<'_>, mut failure: Failure) {
        failure.tell_facts();
        if self.wait_for_rest(desk, &failure) {
            return;
        }
        if let Some(call) = self.machine.call_mut() {
            close_request(call, desk, true);
            self.answers.count(desk, &mut call.answer);
        }
        if self.machine.is(Phase::Summarizing) {
            return self.summary_failed(desk, failure);
        }
        if self.ask_anew(desk, &failure) {
            return;
        }
        if self.begin_again(desk, &failure) {
            self.take_back(desk);
            return self.send(desk);
        }
        if self.may_summarize(desk, &mut failure) {
            self.take_back(desk);
            self.begin_summary(desk, CompactTrigger::Overflow, None, Some(failure));
            return;
        }
        let (policy, seed) = (&desk.config.retry, desk.ledger.seed);
        let delay_ms = self
            .requests
            .kept
            .tries
            .delay_ms(policy, desk.who.kept.attempt, &failure, seed);
        let Some(mut delay_ms) = delay_ms else {
            return self.fall_back(desk, failure);
        };
        if desk.who.agent == 0 && !self.requests.kept.is_answered && failure.code == FailureCode::Network {
            delay_ms = policy.hurried_ms(delay_ms, desk.config.fallback_models.len() + 1);
        }
        self.keep_begun(desk);
        self.take_back(desk);
        if let Now::Reading(mut call) = self.machine.leave() {
            self.answers.note_response(&mut call.answer);
        }
        self.machine.enter(Step::Ask, Now::Sending);
        self.retry_after(desk, delay_ms, failure);
    }

    pub(super) fn retry_after(&self, desk: &mut Desk<'_>, delay_ms: u64, error: Failure) {
        let next_attempt = desk.who.kept.attempt + 1;
        let kind = EventKind::Retry {
            next_attempt,
            max_attempts: desk.config.retry.most_attempts().max(next_attempt),
            delay_ms,
            error,
        };
        desk.emit(kind);
        let agent = desk.who.agent;
        desk.ledger
            .set_timer(TimerReason::Backoff { agent }, Some(delay_ms));
    }

    /// Asks the next fallback model at once and keeps it; it has retries of its own. The agent ends if there is no
    /// such model, or if another model would fail in the same way.
    fn fall_back(&mut self, desk: &mut Desk<'_>, failure: Failure) {
        let used = self.requests.kept.fallbacks_used as usize;
        let next = desk.config.fallback_models.get(used);
        let Some(next) = next.filter(|_| failure.retryable).cloned() else {
            return self.end_failed(desk, failure);
        };
        self.requests.kept.fallbacks_used += 1;
        self.take_back(desk);
        self.requests.kept.tries = Tries::after(desk.who.kept.attempt);
        match self.switch_model(desk, next, Some(failure)) {
            Ok(()) => self.send(desk),
            Err(error) => self.end_failed(desk, error.into()),
        }
    }

    /// Takes back the text and the early calls of an attempt that is given up.
    fn take_back(&mut self, desk: &mut Desk<'_>) {
        let answer = match &mut self.machine.now {
            Now::Reading(call) => std::mem::take(&mut call.answer.parts),
            _ => Vec::new(),
        };
        self.take_back_parts(desk, answer.len());
    }

    /// Takes back so many parts of an answer, and the calls that have started early.
    fn take_back_parts(&mut self, desk: &mut Desk<'_>, shown: usize) {
        self.calls.drop_early(desk);
        if shown > 0 {
            take_back_blocks(desk, shown as u32);
        }
    }
}

/// Closes the open request, so that its late answers are ignored. `abort` stops a request that may still be running.
pub(super) fn close_request(call: &mut ModelCall, desk: &mut Desk<'_>, abort: bool) {
    let Some(request) = call.request.take() else {
        return;
    };
    if desk.ledger.close(request) && abort {
        desk.ledger.output(Output::Abort { request });
    }
}
