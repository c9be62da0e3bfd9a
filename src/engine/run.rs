//! A run: the state machine that the driver feeds. Inputs go to the agent whose effect they answer.

use serde::{Deserialize, Serialize};

use super::agent::{Agent, Desk, Queued, delta, kind_of_delta};
use super::catalog::Catalog;
use super::config::{Config, ToolConfig};
use super::error::{ConfigError, Failure, FailureCode};
use super::event::{Delta, Event, EventKind};
use super::input::Input;
use super::ledger::{Ledger, Place};
use super::message::Block;
use super::moment::Moment;
use super::outcome::{Outcome, OutcomeKind, RunResult, StoppedBy};
use super::output::{EffectId, Output};
use super::policy::permission::Permissions;
use super::text::join;
use super::timers::{Deadline, TimerReason};
use super::transcript::Transcript;

/// The whole state of a run; serialisable between any two outputs.
#[derive(Serialize, Deserialize)]
pub struct Run {
    config: Config,
    ledger: Ledger,
    /// The tree of agents; the first is its root.
    agents: Vec<Agent>,
    /// As configured, and as answers of the host have changed them since.
    permissions: Option<Permissions>,
    started: bool,
    outcome: Option<Outcome>,
    /// Made again when a restored run gets its first input.
    #[serde(skip)]
    catalog: Option<Catalog>,
}

impl Run {
    /// # Errors
    /// A configuration that cannot run: an unknown vendor, a missing URL, tools of one name, a schema that is none, an
    /// illegal history, an option that the protocol cannot express.
    pub fn new(mut config: Config) -> Result<Run, ConfigError> {
        if let Some(permissions) = &config.permissions {
            permissions.check(&config.tools)?;
            config.tools.retain(|tool| !permissions.removes(tool));
        }
        let catalog = Catalog::new(&config)?;
        (catalog.protocol.encode_head)(&super::agent::spec_of(&config), &mut Vec::new())?;
        let transcript = Transcript::from_history(std::mem::take(&mut config.messages))?;
        Ok(Run {
            permissions: config.permissions.clone(),
            config,
            ledger: Ledger::default(),
            agents: vec![Agent::new(0, "root", transcript)],
            started: false,
            outcome: None,
            catalog: Some(catalog),
        })
    }

    /// Mutates the state; then poll the outputs until there are none.
    #[cfg_attr(looplet_speed, optimize(speed))]
    pub fn handle_input(&mut self, mut input: Input<'_>, moment: Moment) {
        if let Input::Chunk { request, bytes } = &mut input {
            match self.take_repeats(*request, bytes, moment) {
                Some(rest) => *bytes = rest,
                None => return,
            }
        }
        self.handle_any(input, moment);
    }

    /// What is left of a chunk when that is taken which repeats what came before, if anything is left to be done.
    #[cfg_attr(looplet_speed, optimize(speed))]
    fn take_repeats<'a>(&mut self, request: EffectId, bytes: &'a [u8], moment: Moment) -> Option<&'a [u8]> {
        let Some(open) = self.ledger.find(request) else {
            return Some(bytes);
        };
        if self.outcome.is_some() || !self.ledger.is_quiet() {
            return Some(bytes);
        }
        self.ledger.begin(moment);
        match self.desk(open.agent) {
            Some((agent, mut desk)) => agent.take_repeats(&mut desk, request, bytes),
            None => Some(bytes),
        }
    }

    // Out of the way of what comes by the thousand.
    #[inline(never)]
    fn handle_any(&mut self, input: Input<'_>, moment: Moment) {
        if self.outcome.is_some() {
            return;
        }
        self.restore_catalog();
        self.keep_grown();
        self.ledger.begin(moment);
        match input {
            Input::Prompt { content } => self.start(content),
            Input::Cancel { why } => self.on_root(|agent, desk| agent.cancel(desk, why)),
            Input::Due => self.handle_due(),
            Input::SetMode { mode } => self.permissions.get_or_insert_default().mode = mode,
            Input::Steer { id, content } => {
                self.on_root(|agent, _| agent.steers.push(Queued { id, content }))
            }
            Input::FollowUp { id, content } => {
                self.on_root(|agent, _| agent.follow_ups.push(Queued { id, content }))
            }
            Input::Withdraw { id } => self.on_root(|agent, _| {
                agent.steers.retain(|steer| steer.id != id);
                agent.follow_ups.retain(|follow_up| follow_up.id != id);
            }),
            Input::Head {
                request,
                status,
                headers,
            } => {
                self.on_effect(request, |agent, _| agent.handle_head(status, headers));
            }
            Input::Chunk { request, bytes } => {
                self.on_effect(request, |agent, desk| agent.handle_chunk(desk, request, bytes));
            }
            Input::End { request } => self.on_effect(request, |agent, desk| agent.handle_end(desk)),
            Input::NetworkFailed { request, why } => {
                let failure = Failure::new(FailureCode::Network, why);
                self.on_effect(request, |agent, desk| agent.handle_request_failed(desk, failure));
            }
            Input::NotSent { request, why } => {
                let failure = Failure::new(FailureCode::ConfigInvalid, why);
                self.on_effect(request, |agent, desk| agent.handle_request_failed(desk, failure));
            }
            Input::ToolFinished { call, result } => {
                self.on_effect(call, |agent, desk| agent.handle_tool_finished(desk, call, result));
            }
            Input::ToolProgress { call, data } => {
                self.on_effect(call, |agent, desk| agent.handle_tool_progress(desk, call, data));
            }
            Input::Answered { question, answer } => self.on_effect(question, |agent, desk| {
                desk.ledger.close(question);
                agent.handle_answered(desk, question, answer);
            }),
            Input::HandedOver { handover } => {
                self.on_effect(handover, |agent, desk| agent.handle_handed_over(desk));
            }
            Input::Saved { save, ok } => {
                if self.ledger.close(save) {
                    self.on_root(|agent, desk| agent.handle_saved(desk, save, ok));
                }
            }
        }
        self.settle();
    }

    #[cfg_attr(looplet_speed, optimize(speed))]
    pub fn poll_output(&mut self) -> Option<Output> {
        match self.poll_grown() {
            Some(output) => Some(output),
            None => self.ledger.poll_output(),
        }
    }

    /// Whether there is no output.
    #[cfg_attr(looplet_speed, optimize(speed))]
    pub fn is_quiet(&self) -> bool {
        self.ledger.is_quiet()
    }

    /// Whether nothing waits behind the delta that [`Run::poll_delta`] gives.
    #[cfg_attr(looplet_speed, optimize(speed))]
    pub fn has_one_output(&self) -> bool {
        self.ledger.has_one_output()
    }

    /// The next output, if that is a delta whose text can be lent. [`Run::poll_output`] gives it as an event.
    #[cfg_attr(looplet_speed, optimize(speed))]
    pub fn poll_delta(&mut self) -> Option<Delta<'_>> {
        let grown = self.ledger.take_grown()?;
        Some(Delta {
            seq: grown.seq,
            agent: grown.place.agent,
            iteration: grown.place.iteration,
            attempt: grown.place.attempt,
            block: grown.part as u32,
            kind: kind_of_delta(grown.kind)?,
            text: self.agents.get(grown.place.agent as usize)?.grown_text(&grown),
        })
    }

    fn poll_grown(&mut self) -> Option<Output> {
        let grown = self.ledger.take_grown()?;
        let agent = self.agents.get(grown.place.agent as usize)?;
        let kind = delta(grown.kind, grown.part as u32, agent.grown_text(&grown))?;
        let Place {
            agent,
            iteration,
            attempt,
        } = grown.place;
        Some(Output::Emit(Event {
            seq: grown.seq,
            agent,
            iteration,
            attempt,
            kind,
        }))
    }

    /// The text of a delta that nobody has polled is kept before the answer changes.
    fn keep_grown(&mut self) {
        if let Some(output) = self.poll_grown() {
            self.ledger.output_first(output);
        }
    }

    /// When to come back with [`Input::Due`] at the latest.
    #[cfg_attr(looplet_speed, optimize(speed))]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        self.ledger.timers.next()
    }

    /// Whether anything still waits for this effect; ask before performing it.
    pub fn is_live(&self, effect: EffectId) -> bool {
        self.ledger.is_open(effect)
    }

    /// The body of an open request.
    pub fn request_body(&mut self, request: EffectId) -> Option<&[u8]> {
        let open = self.ledger.find(request)?;
        let (agent, mut desk) = self.desk(open.agent)?;
        agent.request_body(&mut desk, request)
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    #[cfg_attr(looplet_speed, optimize(speed))]
    pub fn agent_path(&self, agent: u32) -> &str {
        self.agents
            .get(agent as usize)
            .map(|agent| agent.path.as_str())
            .unwrap_or_default()
    }

    /// What there is to show, during the run or after it.
    pub fn result(&self) -> RunResult<'_> {
        let outcome = self.outcome.as_ref();
        let root = self.agents.first();
        let mut usage = self.ledger.usage;
        if let Some(root) = root {
            usage.add(&root.open_usage());
        }
        let queued = root.map(|root| {
            root.steers
                .iter()
                .chain(&root.follow_ups)
                .map(|queued| queued.id)
                .collect()
        });
        RunResult {
            outcome: outcome.map(|outcome| outcome.outcome),
            stopped_by: outcome.and_then(|outcome| outcome.stopped_by),
            abort_reason: outcome.and_then(|outcome| outcome.abort_reason.as_deref()),
            error: outcome.and_then(|outcome| outcome.error.as_ref()),
            text: root.map(Agent::text).unwrap_or_default(),
            tool_calls: root.map(Agent::tool_calls).unwrap_or_default(),
            messages: root.map(Agent::messages).unwrap_or_default(),
            usage,
            cost_nano_usd: match (usage.cost_nano_usd, &self.config.model.price) {
                (None, Some(_)) if usage.total_tokens() == 0 => Some(0),
                (cost, _) => cost,
            },
            iterations: root.map(|root| root.iteration).unwrap_or_default(),
            finish_reason: root.and_then(|root| root.finish_reason),
            raw_finish_reason: root.and_then(|root| root.raw_finish_reason.as_deref()),
            undelivered: queued.unwrap_or_default(),
        }
    }

    /// Ends the run after a panic was caught: touches as little of the state as it can.
    pub fn fail_as_bug(&mut self, message: &str) {
        if self.outcome.is_some() {
            return;
        }
        self.keep_grown();
        let error = Failure::new(FailureCode::Bug, message);
        let outcome = Outcome {
            outcome: OutcomeKind::Failed,
            stopped_by: None,
            abort_reason: None,
            error: Some(error.clone()),
        };
        self.ledger.emit(Place::default(), EventKind::Error { error });
        self.conclude(outcome);
    }

    fn start(&mut self, prompt: Vec<Block>) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let model = self.config.model.model.clone();
        let tools = self.config.tools.iter().map(|tool| tool.name.clone()).collect();
        self.ledger
            .emit(Place::default(), EventKind::RunStart { model, tools });
        self.ledger
            .set_timer(TimerReason::Total, self.config.timeouts.total_ms);
        let warnings = self
            .catalog
            .as_mut()
            .map(|catalog| std::mem::take(&mut catalog.schema_warnings));
        for message in warnings.unwrap_or_default() {
            let code = "schema_keyword".into();
            self.ledger
                .emit(Place::default(), EventKind::Warning { code, message });
        }
        self.warn_of_permissions();
        self.on_root(|agent, desk| agent.start(desk, prompt));
    }

    /// Says at once which tools cannot run, and which rules do nothing.
    fn warn_of_permissions(&mut self) {
        let Some(permissions) = &self.permissions else {
            return;
        };
        let cannot_run = |tool: &&ToolConfig| permissions.forbids(tool);
        let denied = self
            .config
            .tools
            .iter()
            .filter(cannot_run)
            .map(|tool| tool.name.clone());
        let denied: Vec<String> = denied.collect();
        let ignored = permissions.ignored_rules();
        for (code, names, what) in [
            (
                "tools_denied",
                denied,
                "These tools are denied, because no rule allows them: ",
            ),
            (
                "rules_ignored",
                ignored,
                "These allow rules are ignored, because their names are patterns: ",
            ),
        ] {
            if !names.is_empty() {
                let message = [what, &join(&mut names.iter().map(String::as_str), ", ")].concat();
                let code = code.into();
                self.ledger
                    .emit(Place::default(), EventKind::Warning { code, message });
            }
        }
    }

    fn handle_due(&mut self) {
        while let Some(reason) = self.ledger.timers.take_due(self.ledger.now_ms) {
            match reason {
                TimerReason::Total => self.on_root(|agent, desk| agent.stop(desk, StoppedBy::Time)),
                TimerReason::Iteration { agent } => {
                    self.on_agent(agent, |agent, desk| agent.stop(desk, StoppedBy::Time));
                }
                TimerReason::Backoff { agent } => {
                    self.on_agent(agent, |agent, desk| agent.handle_backoff_over(desk))
                }
                TimerReason::Chunk { request } => {
                    let failure =
                        Failure::new(FailureCode::Timeout, "The provider sent nothing for too long.");
                    self.on_effect(request, |agent, desk| agent.handle_request_failed(desk, failure));
                }
                TimerReason::Question { question } => {
                    self.on_effect(question, |agent, desk| {
                        agent.handle_question_timeout(desk, question)
                    });
                }
                TimerReason::Tool { call } => {
                    self.on_effect(call, |agent, desk| agent.handle_tool_timeout(desk, call));
                }
            }
        }
    }

    fn on_root(&mut self, act: impl FnOnce(&mut Agent, &mut Desk<'_>)) {
        self.on_agent(0, act);
    }

    /// Lets the agent act that an open effect belongs to. An effect that is not open has nothing to say any more.
    fn on_effect(&mut self, effect: EffectId, act: impl FnOnce(&mut Agent, &mut Desk<'_>)) {
        if let Some(open) = self.ledger.find(effect) {
            self.on_agent(open.agent, act);
        }
    }

    fn on_agent(&mut self, index: u32, act: impl FnOnce(&mut Agent, &mut Desk<'_>)) {
        if let Some((agent, mut desk)) = self.desk(index) {
            act(agent, &mut desk);
        }
    }

    /// A restored run comes without what derives from its configuration.
    fn restore_catalog(&mut self) {
        if self.catalog.is_none() {
            self.catalog = Catalog::new(&self.config).ok();
        }
    }

    /// An agent that has not ended, with what it works with.
    #[cfg_attr(looplet_speed, optimize(speed))]
    fn desk(&mut self, index: u32) -> Option<(&mut Agent, Desk<'_>)> {
        self.restore_catalog();
        let Run {
            config,
            ledger,
            agents,
            catalog,
            permissions,
            ..
        } = self;
        let agent = agents
            .get_mut(index as usize)
            .filter(|agent| agent.ended().is_none())?;
        Some((
            agent,
            Desk {
                config,
                catalog: catalog.as_ref()?,
                ledger,
                permissions,
            },
        ))
    }

    /// Ends the run with its root, and hands out what the journal has to say about this input.
    fn settle(&mut self) {
        if let Some(outcome) = self.agents.first().and_then(Agent::ended).cloned() {
            return self.conclude(outcome);
        }
        if let Some(save) = self.ledger.flush_journal() {
            for agent in &mut self.agents {
                agent.note_save(save);
            }
        }
    }

    fn conclude(&mut self, outcome: Outcome) {
        let place = Place {
            agent: 0,
            ..Place::default()
        };
        let root = self.agents.first();
        let (iteration, attempt) = root
            .map(|root| (root.iteration, root.attempt))
            .unwrap_or_default();
        self.ledger.close_all();
        self.ledger.flush_journal();
        self.ledger.emit(
            Place {
                iteration,
                attempt,
                ..place
            },
            EventKind::Finish {
                outcome: outcome.clone(),
            },
        );
        self.ledger.output(Output::Done(outcome.clone()));
        self.ledger.close_all();
        self.outcome = Some(outcome);
    }
}
