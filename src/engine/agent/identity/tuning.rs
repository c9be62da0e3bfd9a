//! An iteration that your code has prepared, with another model, fewer tools or other messages for this iteration
//! only.
//!
//! [`tune`] applies the answer of `prepareIteration`, and [`end_tuning`] reverts it after the iteration. Between
//! them, [`to_send`] and [`encode`] use it.

use crate::engine::agent::context::AgentContext;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::identity::AgentIdentity;
use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::agent::request::shared::LastRequest;
use crate::engine::model::config::{Config, ModelConfig, ToolConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::model::event::EventKind;
use crate::engine::model::event::prefix::{PrefixCause, SharedPrefix};
use crate::engine::model::hook::{HookAnswer, Prepared};
use crate::engine::model::message::Message;
use crate::engine::protocol::{Prefill, RequestSpec};

/// The differences between this iteration's requests and the agent's own.
#[derive(Clone)]
pub struct Tuning {
    /// The model that returns after the iteration.
    before: Option<ActiveModel>,
    tools: Option<Vec<ToolConfig>>,
    system: Option<String>,
    /// The messages that replace the transcript's.
    messages: Option<Transcript>,
}

impl Tuning {
    /// The model that returns after the iteration.
    pub fn before(&self) -> Option<&ActiveModel> {
        self.before.as_ref()
    }

    pub fn offers(&self, tool: &str) -> bool {
        let tools = self.tools.as_ref();
        tools.is_none_or(|tools| tools.iter().any(|other| other.name == tool))
    }

    /// Makes a model permanent that the agent has switched to during the iteration.
    pub fn keep_model(&mut self) {
        self.before = None;
        if let Some(messages) = &mut self.messages {
            messages.forget_body();
        }
    }
}

/// The tools of these names in their order, then the tool that gives the answer.
///
/// # Errors
/// A name that no tool has.
fn offered(all: &[ToolConfig], names: &[String]) -> Result<Vec<ToolConfig>, ConfigError> {
    let mut tools: Vec<ToolConfig> = Vec::with_capacity(names.len());
    for name in names {
        let Some(tool) = all.iter().find(|tool| tool.name == *name) else {
            return Err(ConfigError::new("tools", format!("there is no tool {name}")));
        };
        if !tool.answers && !tools.iter().any(|other| other.name == *name) {
            tools.push(tool.clone());
        }
    }
    tools.extend(all.iter().filter(|tool| tool.answers).cloned());
    Ok(tools)
}

/// The ingredients of a request with another system prompt and other tools, if there are any.
fn tuned<'a>(
    spec: RequestSpec<'a>,
    system: Option<&'a str>,
    tools: Option<&'a [ToolConfig]>,
) -> RequestSpec<'a> {
    RequestSpec {
        system: system.map_or(spec.system, |text| Some(text).filter(|text| !text.is_empty())),
        tools: tools.unwrap_or(spec.tools),
        ..spec
    }
}

/// The tools of the next request.
pub fn offered_tools<'a>(identity: &'a AgentIdentity, config: &'a Config) -> &'a [ToolConfig] {
    let tuned = identity
        .tuning
        .as_ref()
        .and_then(|tuning| tuning.tools.as_deref());
    tuned.unwrap_or(&config.tools)
}

/// The messages of the next request.
pub fn to_send<'a>(transcript: &'a Transcript, identity: &'a AgentIdentity) -> &'a Transcript {
    let tuning = identity.tuning.as_ref();
    let tuned = tuning.and_then(|tuning| tuning.messages.as_ref());
    tuned.unwrap_or(transcript)
}

/// The body of the next request.
///
/// # Errors
/// An option that the protocol cannot express.
pub fn encode<'a>(
    mut transcript: &'a mut Transcript,
    identity: &'a mut AgentIdentity,
    config: &Config,
) -> Result<&'a [u8], ConfigError> {
    let AgentIdentity { model, tuning, .. } = identity;
    let mut spec = model.spec(config);
    if let Some(tuning) = tuning {
        spec = tuned(spec, tuning.system.as_deref(), tuning.tools.as_deref());
        transcript = tuning.messages.as_mut().unwrap_or(transcript);
    }
    transcript.is_compared = config.events.prefix || model.has_threads();
    transcript.settle_head(model.protocol, &spec, &config.tools)?;
    transcript.body(model.protocol, &spec)
}

/// Compares the request that [`encode`] has made with the one before it.
pub fn compare(
    transcript: &mut Transcript,
    identity: &mut AgentIdentity,
    config: &Config,
    last: &mut LastRequest,
) -> Option<SharedPrefix> {
    let AgentIdentity { model, tuning, .. } = identity;
    let mut spec = model.spec(config);
    let mut causes = std::mem::take(&mut transcript.causes);
    let mut sent = &mut *transcript;
    if let Some(tuning) = tuning {
        spec = tuned(spec, tuning.system.as_deref(), tuning.tools.as_deref());
        if let Some(messages) = &mut tuning.messages {
            causes.join(std::mem::take(&mut messages.causes));
            sent = messages;
        }
    }
    let shared = last.compare(model.protocol, &spec, sent, causes);
    transcript.heads.note_sent(last.to_text());
    shared
}

/// The body of the next request, which ends with the beginning of its answer.
///
/// # Errors
/// An option that the protocol cannot express.
pub fn encode_prefilled(
    transcript: &Transcript,
    identity: &AgentIdentity,
    config: &Config,
    begun: (&str, &Prefill<'_>),
) -> Result<Vec<u8>, ConfigError> {
    let AgentIdentity { model, tuning, .. } = identity;
    let mut spec = model.spec(config);
    if let Some(tuning) = tuning {
        spec = tuned(spec, tuning.system.as_deref(), tuning.tools.as_deref());
    }
    to_send(transcript, identity).prefilled(model.protocol, &spec, begun)
}

/// Applies the preparation. An illegal one leaves the iteration as it is, with a warning.
pub fn tune(ctx: &mut AgentContext<'_>, transcript: &mut Transcript, verdict: HookAnswer) {
    let prepared = verdict.prepared.map(|prepared| *prepared).unwrap_or_default();
    if prepared == Prepared::default() && verdict.messages.is_none() {
        return;
    }
    if let Err(error) = apply(ctx, transcript, prepared, verdict.messages) {
        ctx.warn("not_prepared", error.to_text());
    }
}

/// # Errors
/// An unknown tool, a model that cannot be asked, messages that are not a legal history. Nothing has changed then.
fn apply(
    ctx: &mut AgentContext<'_>,
    transcript: &mut Transcript,
    prepared: Prepared,
    messages: Option<Vec<Message>>,
) -> Result<(), ConfigError> {
    let tools = prepared.tools.as_deref();
    let tools = tools.map(|names| offered(&ctx.config.tools, names)).transpose()?;
    let tuned = messages
        .map(|messages| transcript.replaced(messages, |name| ctx.setup.has_tool(name)))
        .transpose()?;
    let mut before = None;
    if prepared.model.is_some() || prepared.tool_choice.is_some() {
        let mut model = prepared
            .model
            .unwrap_or_else(|| ctx.identity.model.config.clone());
        model.tool_choice = prepared.tool_choice.or(model.tool_choice);
        let asked = ActiveModel::checked(model, ctx.config)?;
        let own = std::mem::replace(&mut ctx.identity.model, asked);
        emit_model_change(ctx, &own);
        before = Some(own);
    }
    transcript.forget_body();
    transcript.causes.add(PrefixCause::Prepare);
    if tuned.is_some() {
        transcript.mark_sent();
    }
    ctx.identity.tuning = Some(Box::new(Tuning {
        before,
        tools,
        system: prepared.system,
        messages: tuned,
    }));
    Ok(())
}

/// Takes the preparation back after its iteration.
pub fn end_tuning(ctx: &mut AgentContext<'_>, transcript: &mut Transcript) {
    let Some(tuning) = ctx.identity.tuning.take() else {
        return;
    };
    transcript.forget_body();
    transcript.causes.add(PrefixCause::Prepare);
    if let Some(before) = tuning.before {
        let tuned = std::mem::replace(&mut ctx.identity.model, before);
        emit_model_change(ctx, &tuned);
    }
}

/// Emits a model change if the model is not `before`.
fn emit_model_change(ctx: &mut AgentContext<'_>, before: &ActiveModel) {
    let ModelConfig { model, vendor, .. } = &ctx.identity.model.config;
    if before.config.model != *model || before.config.vendor != *vendor {
        let kind = EventKind::ModelChange {
            model: model.clone(),
            vendor: vendor.clone(),
            error: None,
        };
        ctx.emit(kind);
    }
}
