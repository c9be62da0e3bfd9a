//! An iteration as the host prepares it: another model, fewer tools, other messages, for this one only; and its end.

use serde::{Deserialize, Serialize};

use crate::engine::agent::asks::Wait;
use crate::engine::agent::request::active_model::ActiveModel;
use crate::engine::agent::transcript::Transcript;
use crate::engine::agent::{Agent, Desk};
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::config::{Config, ModelConfig, ToolConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::model::event::EventKind;
use crate::engine::model::message::Message;
use crate::engine::model::question::{Facts, Point};
use crate::engine::policy::hook::{HookAnswer, Prepared};

/// What differs in the requests of this iteration.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Tuning {
    /// The model to go back to.
    before: Option<ActiveModel>,
    tools: Option<Vec<ToolConfig>>,
    system: Option<String>,
}

impl Agent {
    /// The body of the next request.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub(super) fn encode(&mut self, config: &Config) -> Result<&[u8], ConfigError> {
        let mut spec = self.asked.spec(config);
        if let Some(tuning) = &self.tuning {
            if let Some(system) = &tuning.system {
                spec.system = Some(system.as_str()).filter(|text| !text.is_empty());
            }
            spec.tools = tuning.tools.as_deref().unwrap_or(spec.tools);
        }
        let transcript = self.tuned.as_deref_mut().unwrap_or(&mut self.transcript);
        transcript.body(self.asked.protocol, &spec)
    }

    /// Asks how the next iteration is to be, if anybody wants to say.
    pub(super) fn prepare_iteration(&mut self, desk: &mut Desk<'_>) {
        self.end_tuning(desk);
        desk.ledger.set_timer(
            TimerReason::Iteration { agent: self.index },
            desk.config.timeouts.iteration_ms,
        );
        let point = Point::PrepareIteration;
        if !desk.has_hooks(point, "") {
            return self.guard_input(desk);
        }
        let facts = Facts::Iteration {
            model: &self.asked.config.model,
            messages: self.transcript.messages(),
        };
        let data = facts.to_json();
        self.ask(desk, point, "", data, Wait::Point);
    }

    pub(super) fn after_prepare(&mut self, desk: &mut Desk<'_>, verdict: HookAnswer) {
        let prepared = verdict.prepared.map(|prepared| *prepared).unwrap_or_default();
        if (prepared != Prepared::default() || verdict.messages.is_some())
            && let Err(error) = self.tune(desk, prepared, verdict.messages)
        {
            self.warn(desk, "not_prepared", error.to_text());
        }
        self.guard_input(desk);
    }

    /// # Errors
    /// A tool that there is not, a model that cannot be asked, messages that are no history. Nothing has changed then.
    fn tune(
        &mut self,
        desk: &mut Desk<'_>,
        prepared: Prepared,
        messages: Option<Vec<Message>>,
    ) -> Result<(), ConfigError> {
        let all = &desk.config.tools;
        let names = prepared.tools.as_deref();
        let is_known = |name: &&String| all.iter().any(|tool| tool.name == **name);
        if let Some(unknown) = names.unwrap_or_default().iter().find(|name| !is_known(name)) {
            return Err(ConfigError::new("tools", ["there is no tool ", unknown].concat()));
        }
        let tools = names.map(|names| {
            let is_offered = |tool: &&ToolConfig| tool.answers || names.contains(&tool.name);
            all.iter().filter(is_offered).cloned().collect()
        });
        let tuned = messages.map(Transcript::to_send).transpose()?;
        let mut before = None;
        if prepared.model.is_some() || prepared.tool_choice.is_some() {
            let mut model = prepared.model.unwrap_or_else(|| self.asked.config.clone());
            model.tool_choice = prepared.tool_choice.or(model.tool_choice);
            let asked = ActiveModel::checked(model, desk.config)?;
            before = Some(std::mem::replace(&mut self.asked, asked));
            self.tell_model(desk, before.as_ref());
        }
        self.tuning = Some(Box::new(Tuning {
            before,
            tools,
            system: prepared.system,
        }));
        self.tuned = tuned.map(Box::new);
        self.transcript.forget_body();
        if self.tuned.is_some() {
            self.transcript.mark_sent();
        }
        Ok(())
    }

    /// The iteration that was prepared is over: everything is as before.
    fn end_tuning(&mut self, desk: &mut Desk<'_>) {
        let Some(tuning) = self.tuning.take() else { return };
        self.tuned = None;
        self.transcript.forget_body();
        if let Some(before) = tuning.before {
            let tuned = std::mem::replace(&mut self.asked, before);
            self.tell_model(desk, Some(&tuned));
        }
    }

    fn tell_model(&self, desk: &mut Desk<'_>, before: Option<&ActiveModel>) {
        let ModelConfig { model, vendor, .. } = &self.asked.config;
        let is_same = |before: &ActiveModel| before.config.model == *model && before.config.vendor == *vendor;
        if !before.is_some_and(is_same) {
            let kind = EventKind::ModelChange {
                model: model.clone(),
                vendor: vendor.clone(),
                error: None,
            };
            desk.ledger.emit(self.place(), kind);
        }
    }

    /// Another model was switched to for good meanwhile.
    pub(super) fn keep_tuned_model(&mut self) {
        if let Some(tuning) = &mut self.tuning {
            tuning.before = None;
        }
        if let Some(tuned) = &mut self.tuned {
            tuned.forget_body();
        }
    }

    /// Whether the model was told of this tool.
    pub(super) fn is_offered(&self, name: &str) -> bool {
        let tools = self.tuning.as_ref().and_then(|tuning| tuning.tools.as_ref());
        tools.is_none_or(|tools| tools.iter().any(|tool| tool.name == name))
    }

    /// Whether somebody is told first that an iteration has ended.
    pub(super) fn tell_end(&mut self, desk: &mut Desk<'_>, owes_answer: bool) -> bool {
        let point = Point::IterationEnd;
        if !std::mem::take(&mut self.owes_end) || !desk.has_hooks(point, "") {
            return false;
        }
        let is_of_this = self.round_iteration == self.iteration;
        let facts = Facts::IterationEnd {
            text: &self.text,
            finish_reason: self.finish_reason,
            usage: &self.call_usage,
            tool_calls: if is_of_this { self.last_round() } else { &[] },
        };
        let data = facts.to_json();
        self.ask(desk, point, "", data, Wait::IterationEnd { owes_answer });
        true
    }
}
