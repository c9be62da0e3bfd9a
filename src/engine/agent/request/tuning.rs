//! An iteration that your code has prepared: another model, fewer tools or other messages, for this iteration alone.
//!
//! [`Agent::tune`] applies the answer of `prepareIteration`, and [`Agent::end_tuning`] takes it back after the
//! iteration.

use crate::engine::agent::Agent;
use crate::engine::agent::desk::Desk;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::request::active_model::ActiveModel;
use crate::engine::agent::request::body::Body;
use crate::engine::agent::who::Who;
use crate::engine::model::config::{Config, ModelConfig, ToolConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::model::event::EventKind;
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
    /// The messages in place of the transcript's.
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

    /// Keeps a model that the agent has switched to for good during the iteration.
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

impl Agent {
    /// The messages of the next request.
    pub(crate) fn to_send<'a>(&'a self, who: &'a Who) -> &'a Transcript {
        let tuning = who.tuning.as_ref();
        let tuned = tuning.and_then(|tuning| tuning.messages.as_ref());
        tuned.unwrap_or(&self.history.transcript)
    }

    /// The body of the next request.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub(crate) fn encode<'a>(
        &'a mut self,
        who: &'a mut Who,
        config: &Config,
    ) -> Result<&'a [u8], ConfigError> {
        let Who { model, tuning, .. } = who;
        let mut spec = model.spec(config);
        let mut transcript = &mut self.history.transcript;
        if let Some(tuning) = tuning {
            spec = tuned(spec, tuning.system.as_deref(), tuning.tools.as_deref());
            transcript = tuning.messages.as_mut().unwrap_or(transcript);
        }
        transcript.body(model.protocol, &spec)
    }

    /// The body of the next request, which ends with the beginning of its answer.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub(crate) fn encode_prefilled(
        &self,
        who: &Who,
        config: &Config,
        begun: (&str, &Prefill<'_>),
    ) -> Result<Vec<u8>, ConfigError> {
        let Who { model, tuning, .. } = who;
        let mut spec = model.spec(config);
        if let Some(tuning) = tuning {
            spec = tuned(spec, tuning.system.as_deref(), tuning.tools.as_deref());
        }
        Body::prefilled(model.protocol, &spec, self.to_send(who).messages(), begun)
    }

    /// Applies the preparation. An illegal one leaves the iteration as it is, with a warning.
    pub(crate) fn tune(&mut self, desk: &mut Desk<'_>, verdict: HookAnswer) {
        let prepared = verdict.prepared.map(|prepared| *prepared).unwrap_or_default();
        if prepared == Prepared::default() && verdict.messages.is_none() {
            return;
        }
        if let Err(error) = self.tuned(desk, prepared, verdict.messages) {
            desk.warn("not_prepared", error.to_text());
        }
    }

    /// # Errors
    /// An unknown tool, a model that cannot be asked, messages that are not a legal history. Nothing has changed
    /// then.
    fn tuned(
        &mut self,
        desk: &mut Desk<'_>,
        prepared: Prepared,
        messages: Option<Vec<Message>>,
    ) -> Result<(), ConfigError> {
        let tools = prepared.tools.as_deref();
        let tools = tools
            .map(|names| offered(&desk.config.tools, names))
            .transpose()?;
        let tuned = messages
            .map(|messages| {
                self.history
                    .transcript
                    .replaced(messages, |name| desk.setup.has_tool(name))
            })
            .transpose()?;
        let mut before = None;
        if prepared.model.is_some() || prepared.tool_choice.is_some() {
            let mut model = prepared.model.unwrap_or_else(|| desk.who.model.config.clone());
            model.tool_choice = prepared.tool_choice.or(model.tool_choice);
            let asked = ActiveModel::checked(model, desk.config)?;
            before = Some(std::mem::replace(&mut desk.who.model, asked));
            self.tell_model(desk, before.as_ref());
        }
        self.history.transcript.forget_body();
        if tuned.is_some() {
            self.history.transcript.mark_sent();
        }
        desk.who.tuning = Some(Box::new(Tuning {
            before,
            tools,
            system: prepared.system,
            messages: tuned,
        }));
        Ok(())
    }

    /// Takes the preparation back after its iteration.
    pub(crate) fn end_tuning(&mut self, desk: &mut Desk<'_>) {
        let Some(tuning) = desk.who.tuning.take() else {
            return;
        };
        self.history.transcript.forget_body();
        if let Some(before) = tuning.before {
            let tuned = std::mem::replace(&mut desk.who.model, before);
            self.tell_model(desk, Some(&tuned));
        }
    }

    fn tell_model(&self, desk: &mut Desk<'_>, before: Option<&ActiveModel>) {
        let ModelConfig { model, vendor, .. } = &desk.who.model.config;
        let is_same = |before: &ActiveModel| before.config.model == *model && before.config.vendor == *vendor;
        if !before.is_some_and(is_same) {
            let kind = EventKind::ModelChange {
                model: model.clone(),
                vendor: vendor.clone(),
                error: None,
            };
            desk.emit(kind);
        }
    }
}
