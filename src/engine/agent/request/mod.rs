//! Requests to the model: the first attempt, retries, and requests to fallback models.
//!
//! [`Requests::send`] opens a request with a body that can be encoded. [`reading`] receives the response.
//! [`Requests::failed`] decides what follows a failure. Nothing here waits: a delay is a timer of the ledger.

pub mod background;
pub mod cut_off;
pub mod handoff;
pub mod model_call;
pub(crate) mod reading;
pub(crate) mod reasoning;
pub mod shared;
pub(crate) mod thread;

use crate::engine::agent::answer::Answers;
use crate::engine::agent::answer_events::{emit_changes, take_back_blocks};
use crate::engine::agent::calls::Calls;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::history::History;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::identity::AgentIdentity;
use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::agent::identity::model_name::name_of;
use crate::engine::agent::identity::tuning::{compare, encode, offered_tools, to_send};
use crate::engine::agent::next::Next;
use crate::engine::agent::request::background::{is_forgotten, is_segment};
use crate::engine::agent::request::cut_off::StartedAnswer;
use crate::engine::agent::request::model_call::ModelCall;
use crate::engine::agent::request::reasoning::{recover_from, warn_of_left_out};
use crate::engine::agent::request::shared::LastRequest;
use crate::engine::agent::request::thread::{Threads, thread_of};
use crate::engine::agent::setup::Setup;
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::config::{ModelConfig, OnUnknownTool};
use crate::engine::model::error::{ConfigError, Failure, FailureCode};
use crate::engine::model::event::EventKind;
use crate::engine::model::event::prefix::{PrefixCause, SharedPrefix};
use crate::engine::model::journal::head::HeadChange;
use crate::engine::model::journal::{RequestsState, StreamedText, Tries};
use crate::engine::model::output::{EffectKind, HttpRequest, Output};
use crate::engine::protocol::request::media::refused;
use crate::engine::protocol::request::tool_schema::left_out;
use crate::engine::protocol::request::vendor_tools::{add_headers, not_sent};

/// The requests of an agent.
#[derive(Clone, Default)]
pub struct Requests {
    kept: RequestsState,
    /// The configuration of `kept.next_model`, which may contain secrets.
    next_model: Option<Box<ModelConfig>>,
    /// The received part of an interrupted answer, for the next request.
    begun: Option<StartedAnswer>,
    /// What the last request began with, if requests are compared.
    last: LastRequest,
    threads: Threads,
}

impl Requests {
    /// The requests of a checkpoint, without their next model. `asks` means that a model call was in progress, and
    /// `streamed` is the received part of its answer.
    pub fn restored(mut kept: RequestsState, streamed: &[StreamedText], asks: bool) -> Requests {
        kept.next_model = None;
        kept.background = kept.background.filter(|id| asks && is_segment(id));
        Requests {
            kept,
            next_model: None,
            begun: StartedAnswer::of_journal(streamed).filter(|_| asks),
            last: LastRequest::default(),
            threads: Threads::default(),
        }
    }

    /// The state for the journal. `reading` is the model call that is being received.
    pub fn kept(&self, reading: Option<&ModelCall>, identity: &AgentIdentity) -> RequestsState {
        RequestsState {
            background: self.background_id(reading, identity).map(str::to_owned),
            ..self.kept.clone()
        }
    }

    /// Returns true if the next request may continue the text of a failed attempt.
    pub fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Sets the model that the next request asks.
    pub fn set_next_model(&mut self, model: Box<ModelConfig>, setup: &Setup) {
        self.kept.next_model = Some(name_of(&model, setup));
        self.next_model = Some(model);
    }

    /// A server has answered the agent.
    pub fn note_answered(&mut self) {
        self.kept.is_answered = true;
    }

    /// Resets the count of tries, after this number of attempts in the iteration.
    pub fn count_tries_after(&mut self, attempts: u32) {
        self.kept.tries = Tries::after(attempts);
    }

    /// Sends the first attempt of a request, or a retry. `before` is a call with a lost connection.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub fn send(
        &mut self,
        ctx: &mut AgentContext<'_>,
        before: Option<Box<ModelCall>>,
        calls: &mut Calls,
        history: &mut History,
    ) -> Result<ModelCall, ConfigError> {
        ctx.identity.kept.attempt += 1;
        if let Some(mut call) = self.attach(ctx, before, calls) {
            history.transcript.lend_call_ids(&mut call.answer);
            return Ok(call);
        }
        self.take_next_model(ctx, &mut history.transcript);
        history.unfold(ctx);
        history.emit_new_messages(ctx);
        warn_of_raw_results(ctx, &history.transcript);
        warn_of_media(ctx, &history.transcript);
        let begun = self.begun(ctx, &history.transcript);
        let mut prefix = None;
        let mut continued = None;
        if begun.is_none() {
            ctx.identity.model.allow_clearing(ctx.config);
            self.last.recall(&history.transcript);
            encode(&mut history.transcript, ctx.identity, ctx.config)?;
            let heads = &to_send(&history.transcript, ctx.identity).heads;
            let has_entries = heads.has_entries();
            let (has_tools, has_effort) = (
                heads.changes(HeadChange::changes_tools),
                heads.changes(HeadChange::changes_settings),
            );
            ctx.identity.model.allow_changes(has_tools, has_effort);
            let sent = to_send(&history.transcript, ctx.identity);
            let model = &ctx.identity.model;
            if let Some(form) = sent.signed_summary(model.protocol, &model.config) {
                ctx.identity.model.allow_summary(form);
            }
            // The prefix may have tools that this request does not offer.
            if has_entries {
                let ActiveModel {
                    protocol, headers, ..
                } = &mut ctx.identity.model;
                add_headers(protocol, &ctx.config.tools, headers);
            }
            if ctx.config.events.prefix {
                prefix = compare(&mut history.transcript, ctx.identity, ctx.config, &mut self.last);
            }
            continued = self.threads.continued(ctx, &history.transcript);
        }
        let mut call = open_request(ctx, prefix);
        history.transcript.lend_call_ids(&mut call.answer);
        if begun.is_none() {
            let sent = to_send(&history.transcript, ctx.identity);
            call.answer.prefix = sent.prefix();
            call.answer.thread = thread_of(ctx, sent);
            call.own_body = continued;
            warn_of_left_out(ctx, sent.reasoning_left_out());
        }
        if let Some((text, body)) = begun {
            call.continue_from(&text, body);
            emit_changes(&mut call.answer, ctx, false);
        }
        Ok(call)
    }

    /// Switches to the model that was asked for since the last request.
    fn take_next_model(&mut self, ctx: &mut AgentContext<'_>, transcript: &mut Transcript) {
        self.kept.next_model = None;
        let Some(model) = self.next_model.take() else {
            return;
        };
        if let Err(error) = switch_model(ctx, transcript, *model, None) {
            ctx.warn("model_refused", error.to_text());
        }
    }

    /// Answers a failed attempt with a shorter history, another attempt, another model, or the end.
    pub fn failed(
        &mut self,
        ctx: &mut AgentContext<'_>,
        call: &mut ModelCall,
        mut failure: Failure,
        answers: &mut Answers,
        calls: &mut Calls,
        history: &mut History,
    ) -> Next {
        if self.wait_for_rest(ctx, call, &failure) {
            return Next::Wait;
        }
        close_request(call, ctx, true);
        answers.count(ctx, &mut call.answer);
        if is_forgotten(call, &failure) {
            take_back_answer(ctx, calls, call);
            let what = "The answer that the provider was continuing is requested again: ";
            ctx.warn("not_continued", format!("{what}{}", failure.message));
            return Next::Send;
        }
        if self.begin_again(ctx, call, &failure) {
            take_back_answer(ctx, calls, call);
            return Next::Send;
        }
        if self.threads.recover_from(ctx, &failure, history) || recover_from(ctx, &failure, history) {
            // The request that follows is another one, and has all its tries.
            self.count_tries_after(ctx.identity.kept.attempt);
            take_back_answer(ctx, calls, call);
            return Next::Send;
        }
        if history.may_summarize(ctx, &mut failure) {
            take_back_answer(ctx, calls, call);
            return Next::Shorten(failure);
        }
        let Some(mut delay_ms) = self.delay_ms(ctx, &failure) else {
            return self.fall_back(ctx, call, failure, calls, &mut history.transcript);
        };
        if ctx.identity.agent == 0 && !self.kept.is_answered && failure.code == FailureCode::Network {
            let models = ctx.config.fallback_models.len() + 1;
            delay_ms = ctx.config.retry.hurried_ms(delay_ms, models);
        }
        self.keep_begun(ctx, call);
        take_back_answer(ctx, calls, call);
        answers.note_response(&mut call.answer);
        retry_after(ctx, delay_ms, failure);
        Next::SendLater
    }

    /// The delay before the next attempt; `None` after the last one.
    fn delay_ms(&mut self, ctx: &AgentContext<'_>, failure: &Failure) -> Option<u64> {
        let (policy, seed) = (&ctx.config.retry, ctx.ledger.seed);
        let attempt = ctx.identity.kept.attempt;
        self.kept.tries.delay_ms(policy, attempt, failure, seed)
    }

    /// Switches to the next fallback model immediately. It has its own retries. The agent ends if there is no such
    /// model, or if another model would fail in the same way.
    fn fall_back(
        &mut self,
        ctx: &mut AgentContext<'_>,
        call: &mut ModelCall,
        failure: Failure,
        calls: &mut Calls,
        transcript: &mut Transcript,
    ) -> Next {
        let used = self.kept.fallbacks_used as usize;
        let next = ctx.config.fallback_models.get(used);
        let Some(next) = next.filter(|_| failure.retryable).cloned() else {
            return Next::Fail(failure);
        };
        self.kept.fallbacks_used += 1;
        take_back_answer(ctx, calls, call);
        self.count_tries_after(ctx.identity.kept.attempt);
        match switch_model(ctx, transcript, next, Some(failure)) {
            Ok(()) => Next::Send,
            Err(error) => Next::Fail(error.into()),
        }
    }
}

/// Uses this model from now on and encodes the transcript again for it. No request may be open.
///
/// # Errors
/// An unknown vendor or protocol, a missing URL, an option that the protocol cannot express. The agent then keeps its
/// model.
fn switch_model(
    ctx: &mut AgentContext<'_>,
    transcript: &mut Transcript,
    model: ModelConfig,
    error: Option<Failure>,
) -> Result<(), ConfigError> {
    ctx.identity.model = ActiveModel::checked(model, ctx.config)?;
    transcript.forget_body();
    transcript.causes.add(PrefixCause::Model);
    if let Some(tuning) = &mut ctx.identity.tuning {
        tuning.keep_model();
    }
    ctx.identity.keep_model(ctx.setup);
    let kind = EventKind::ModelChange {
        model: ctx.identity.model.config.model.clone(),
        vendor: ctx.identity.model.config.vendor.clone(),
        error,
    };
    ctx.emit(kind);
    Ok(())
}

/// Opens a request. The agent gives its body when it is asked for.
pub(super) fn open_request(ctx: &mut AgentContext<'_>, prefix: Option<SharedPrefix>) -> ModelCall {
    let url = ctx.identity.model.url.clone();
    open_request_at(ctx, "POST", url, prefix)
}

pub(super) fn open_request_at(
    ctx: &mut AgentContext<'_>,
    method: &str,
    url: String,
    prefix: Option<SharedPrefix>,
) -> ModelCall {
    if let Some(message) = ctx.identity.model.effort_warning() {
        ctx.warn_once("effort_not_sent", message);
    }
    if let Some(message) = ctx.identity.model.options_warning() {
        ctx.warn_once("option_not_sent", message);
    }
    if let Some(message) = ctx.identity.model.end_warning(ctx.ledger.now_ms) {
        ctx.warn_once("model_ends", message);
    }
    if let Some(message) = schema_warning(ctx) {
        ctx.warn_once("schema_not_sent", message);
    }
    let tools = offered_tools(ctx.identity, ctx.config);
    let (protocol, mut headers) = (ctx.identity.model.protocol, ctx.identity.model.headers.clone());
    add_headers(protocol, tools, &mut headers);
    let left_out = not_sent(protocol, tools);
    if !left_out.is_empty() {
        let message = format!(
            "The protocol {} has no place for the entries of these vendor tools, so the model does not have them: {}.",
            protocol.name,
            left_out.join(", ")
        );
        ctx.warn_once("vendor_tool_not_sent", message);
    }
    let AgentContext { config, ledger, .. } = ctx;
    let ActiveModel {
        config: model,
        protocol,
        vendor,
        ..
    } = &ctx.identity.model;
    let request = ledger.open(ctx.identity.agent, EffectKind::Request);
    let http = HttpRequest {
        method: method.into(),
        url,
        headers,
        auth: vendor.auth_slot(),
        model: model.slot,
    };
    let mut call = ModelCall::new(request, protocol, model.stream, config.events.join_deltas);
    call.max_error_bytes = config.answers.max_error_body_bytes as usize;
    call.limit_events(config.answers.max_event_bytes as usize);
    call.answer.price = model.price;
    call.answer.other_prices.clone_from(&model.other_prices);
    call.answer.max_parts = config.answers.max_blocks as usize;
    call.answer.max_text_bytes = config.answers.max_text_bytes as usize;
    call.answer.max_argument_bytes = config.answers.max_argument_bytes as usize;
    call.answer.id_seed = ledger.random.next_u64() >> 11;
    call.answer.holds_text = config.events.hold_text;
    for tool in &config.tools {
        let vendor = tool.vendor.as_ref().filter(|vendor| vendor.is_of(protocol.name));
        if let Some(item) = vendor.and_then(|vendor| vendor.item.as_ref()) {
            call.answer.items.push((item.clone(), tool.name.clone()));
        }
    }
    if let Some(accepts) = ctx.identity.model.protocol.accepts {
        for tool in config.tools.iter().filter(|tool| tool.vendor.is_none()) {
            let wire = accepts.tool_name(&tool.name);
            if wire != tool.name {
                call.answer
                    .tool_names
                    .push((wire.into_owned(), tool.name.clone()));
            }
            let names = accepts.renamed(std::slice::from_ref(tool), &tool.name);
            if !names.is_empty() {
                call.answer.renamed.push((tool.name.clone(), names));
            }
        }
    }
    call.answer.answer_tool = config.answer_tool().map(|tool| tool.name.clone());
    if config.tool_calls.on_unknown_tool != OnUnknownTool::Host {
        let aliases = ctx.setup.root.config.tool_calls.aliases.iter();
        let called = config.tools.iter().filter(|tool| !tool.is_hosted());
        let names = called.map(|tool| &tool.name);
        let names = names.chain(aliases.map(|(alias, _)| alias));
        call.answer.tools = Some(names.cloned().collect());
    }
    let prefix = prefix.map(Box::new);
    ledger.emit(ctx.identity.place(), EventKind::AttemptStart { prefix });
    ledger.output(Output::Send { request, http });
    ledger.set_timer(TimerReason::Effect(request), config.timeouts.first_chunk_ms);
    call
}

/// Names the tools with a keyword at the top of their schema that the protocol's vendors refuse.
fn schema_warning(ctx: &AgentContext<'_>) -> Option<String> {
    let protocol = ctx.identity.model.protocol;
    let accepts = protocol.accepts?;
    let mut faults = Vec::new();
    for tool in ctx.config.tools.iter().filter(|tool| tool.vendor.is_none()) {
        if let Some(keyword) = left_out(tool.input_schema.as_str(), accepts) {
            faults.push(format!("{} ({keyword})", tool.name));
        }
    }
    (!faults.is_empty()).then(|| {
        format!(
            "{} rejects a schema with a combinator next to its type. The model sees these tools without it, and looplet checks their calls against the complete schema: {}.",
            protocol.title,
            faults.join(", ")
        )
    })
}

/// Warns of blocks in results that the protocol cannot send, once for each request that would send them first.
fn warn_of_raw_results(ctx: &mut AgentContext<'_>, transcript: &Transcript) {
    if ctx.identity.model.protocol.raw_in_results || !transcript.has_new_raw_result() {
        return;
    }
    let name = ctx.identity.model.protocol.name;
    let message = format!(
        "A tool's result has a raw block. The protocol {name} has no place for it in a result, so the model does not see it: return text or media."
    );
    ctx.warn("raw_result", message);
}

/// Warns of files in new messages that the protocol's vendors refuse.
fn warn_of_media(ctx: &mut AgentContext<'_>, transcript: &Transcript) {
    let Some(accepts) = ctx.identity.model.protocol.accepts else {
        return;
    };
    let mut types = Vec::new();
    for block in transcript.new_blocks() {
        refused(block, accepts, &mut types);
    }
    if !types.is_empty() {
        let message = format!(
            "{} does not take files of the type {}: the model sees a text instead. Convert them before they go into a prompt or a result.",
            accepts.who,
            types.join(", ")
        );
        ctx.warn("media_not_sent", message);
    }
}

/// Sends the request again after a delay.
pub(super) fn retry_after(ctx: &mut AgentContext<'_>, delay_ms: u64, error: Failure) {
    let next_attempt = ctx.identity.kept.attempt + 1;
    let kind = EventKind::Retry {
        next_attempt,
        max_attempts: ctx.config.retry.most_attempts().max(next_attempt),
        delay_ms,
        error,
    };
    ctx.emit(kind);
    let timer = TimerReason::Backoff {
        agent: ctx.identity.agent,
    };
    ctx.ledger.set_timer(timer, Some(delay_ms));
}

/// Retracts the text and the early calls of a failed attempt.
fn take_back_answer(ctx: &mut AgentContext<'_>, calls: &mut Calls, call: &mut ModelCall) {
    let parts = std::mem::take(&mut call.answer.parts);
    take_back(ctx, calls, parts.len());
}

/// Retracts this number of parts of an answer, and the calls that have started early.
fn take_back(ctx: &mut AgentContext<'_>, calls: &mut Calls, shown: usize) {
    calls.drop_early(ctx);
    if shown > 0 {
        take_back_blocks(ctx, shown as u32);
    }
}

/// Closes the open request, so that its late answers are ignored. `abort` stops a request that may still be running.
pub(super) fn close_request(call: &mut ModelCall, ctx: &mut AgentContext<'_>, abort: bool) {
    let Some(request) = call.request.take() else {
        return;
    };
    if ctx.ledger.close(request) && abort {
        ctx.ledger.output(Output::Abort { request });
    }
}
