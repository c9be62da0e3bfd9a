//! A run: the state machine that the driver feeds.
//!
//! [`Run`] owns the tree of agents, the ledger with all open effects, the open questions and the permissions. The
//! driver calls [`Run::handle_input`], then [`Run::poll_output`] until it returns nothing, then [`Run::poll_timer`].
//! Each input goes to the agent that opened its effect. An input for an effect that is not open is dropped. A run
//! only decides which agent acts and when the run ends. The agent decides everything in an iteration. Every failure
//! becomes an outcome.

mod chat;
mod differences;
mod journal;
mod outputs;
mod saving;
mod starting;
mod tree;
mod waiting;

use std::sync::Arc;

use crate::engine::agent::calls::Calls;
use crate::engine::agent::calls::rules::withholds;
use crate::engine::agent::history::head::Heads;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::agent::profile::Profile;
use crate::engine::agent::questions::Questions;
use crate::engine::agent::questions::points::takes;
use crate::engine::agent::setup::Setup;
use crate::engine::agent::{Node, root};
use crate::engine::json::digest;
use crate::engine::ledger::timers::{Deadline, TimerReason};
use crate::engine::ledger::{Ledger, Place};
use crate::engine::model::config::permission::{Permissions, Reading};
use crate::engine::model::config::{Memory, RunOptions};
use crate::engine::model::error::{ConfigError, Failure, FailureCode};
use crate::engine::model::event::EventKind;
use crate::engine::model::input::{Input, Moment};
use crate::engine::model::journal::{Queued, message_name};
use crate::engine::model::message::Json;
use crate::engine::model::outcome::{Outcome, OutcomeKind};
use crate::engine::model::output::{EffectId, EffectKind, Output};
use crate::engine::model::question::Answer;
use crate::engine::model::usage::Usage;
use crate::engine::run::journal::LastJournaled;

/// The complete state of a run. The journal saves what another process needs to resume it.
pub struct Run {
    setup: Arc<Setup>,
    ledger: Ledger,
    questions: Questions,
    /// The tree of agents; the first is its root.
    agents: Vec<Node>,
    /// The saved conversations of persistent subagents.
    memories: Vec<Memory>,
    /// The permissions as configured, with the changes of later answers.
    permissions: Option<Permissions>,
    /// A JSON object with your code's values for the tools' bindings.
    inputs: Option<Json>,
    /// The source of the session, if this run starts it.
    session: Option<String>,
    /// The usage of the conversation before the run.
    chat_usage: Option<Usage>,
    /// The run's id, if its journal has another name.
    id: Option<String>,
    started: bool,
    /// The questions of the last [`EventKind::Waiting`], if the run has not continued since.
    waiting: Vec<EffectId>,
    outcome: Option<Outcome>,
    noted: LastJournaled,
}

impl Run {
    /// # Errors
    /// A history that is not legal, with the path to its problem.
    pub fn new(setup: Arc<Setup>, options: RunOptions) -> Result<Run, ConfigError> {
        let given = options.messages.len();
        let has_tool = |name: &str| setup.has_tool(name);
        let mut transcript = match options.messages {
            none if none.is_empty() => Transcript::default(),
            history => Transcript::from_history(history, has_tool)?,
        };
        let memory = |(index, memory): (usize, Memory)| {
            let Memory {
                agent_path,
                messages,
                head,
            } = memory;
            let given = messages.len();
            let transcript = Transcript::from_history(messages, has_tool).map_err(|problem| {
                let field = format!("subagents[{}].{}", index, problem.field);
                ConfigError::new(field, problem.problem)
            })?;
            let messages = transcript.into_messages();
            let head = head.filter(|_| messages.len() == given);
            Ok(Memory {
                agent_path,
                messages,
                head,
            })
        };
        let memories = options.subagents.into_iter().enumerate().map(memory);
        let memories = memories.collect::<Result<_, ConfigError>>()?;
        let Some(Profile { model, .. }) = setup.profile(options.profile) else {
            return Err(ConfigError::new("agent", "there is no such agent"));
        };
        if transcript.whole_len() == given {
            transcript.heads = Heads::restored(options.head.map(|head| *head));
        }
        let mut first = root(model.clone(), transcript);
        first.identity.kept.profile = options.profile;
        let config = &setup.root.config;
        let mut ledger = Ledger::default();
        ledger.is_traced = config.trace;
        ledger.has_journal = config.journal;
        ledger.paths.push("root".to_owned());
        ledger.accounts.add(None, &config.limits);
        Ok(Run {
            ledger,
            questions: Questions::default(),
            agents: vec![first],
            memories,
            permissions: config.permissions.clone(),
            inputs: options.inputs,
            session: options.session,
            chat_usage: options.chat_usage,
            id: None,
            started: false,
            waiting: Vec::new(),
            outcome: None,
            noted: LastJournaled::of_given(given),
            setup,
        })
    }

    /// Takes an input in. Poll the outputs afterwards until there are none.
    ///
    /// Returns false for an answer that no open question takes and none has taken, for the withdrawal of a steer or
    /// follow-up that was delivered, for a request that was taken before, and for a budget of an agent that is not at
    /// work. Every other input returns true.
    pub fn handle_input(&mut self, input: Input<'_>, moment: Moment) -> bool {
        let is_taken = self.takes(&input);
        if self.outcome.is_some() {
            return is_taken;
        }
        let (request, input) = match input {
            Input::Once { request, .. } if !self.receive(message_name(&request)) => return is_taken,
            Input::Once { request, input } => (Some(request), *input),
            input => (None, input),
        };
        self.keep_grown();
        self.ledger.begin(moment);
        let streams = match input {
            Input::Chunk { request, bytes } => Some((request, self.ledger.next_effect(), bytes.len())),
            _ => None,
        };
        // A busy platform fires no timers, so an input may arrive after a deadline. Its data still counts. But an
        // answer or a handover would start another step, so the deadline acts first.
        let is_due = matches!(input, Input::Due);
        let mut late = (!is_due).then(|| self.ledger.late()).flatten();
        if matches!(input, Input::HandedOver { .. } | Input::Answered { .. }) {
            self.stop_late(late.take());
        }
        match input {
            Input::Prompt { content } => self.start(content),
            Input::Resume => self.resume(None, true),
            Input::PickUp => self.resume(None, false),
            Input::Suspend { why } => self.suspend(why),
            Input::GiveUp { failure } => self.give_up(failure),
            Input::Recover {
                running,
                next_event,
                shown_blocks,
            } => self.recover(running, next_event, shown_blocks),
            Input::NumberFrom { event } => self.ledger.number_from(event),
            Input::Cancel { why } => self.on_root(|agent, ctx| agent.cancel(ctx, why)),
            Input::Compact { instructions, only } => {
                self.on_root(|agent, _| agent.ask_to_summarize(instructions, only));
            }
            Input::Due => {
                self.ledger.begin_due();
                self.handle_due();
            }
            Input::SetModel { model } => self.on_root(|agent, ctx| agent.set_next_model(ctx, model)),
            Input::AddBudget { agent_path, more } => {
                if let Some(index) = self.at_work(&agent_path) {
                    self.on_agent(index, |_, ctx| ctx.add_budget(&more));
                }
            }
            Input::SetMode { mode } => self.permissions.get_or_insert_default().mode = mode,
            Input::Steer { id, content } => {
                let queued = Queued { id, content, request };
                self.on_root(|agent, _| agent.inbox.steers.push(queued));
            }
            Input::FollowUp { id, content } => {
                let queued = Queued { id, content, request };
                self.on_root(|agent, _| agent.inbox.follow_ups.push(queued));
            }
            Input::Withdraw { id } => self.on_root(|agent, _| agent.inbox.withdraw(id)),
            Input::Head {
                request,
                status,
                headers,
            } => {
                self.on_effect(request, |agent, ctx| {
                    agent.handle_head(ctx, request, status, headers);
                });
            }
            Input::Chunk { request, bytes } => {
                self.on_effect(request, |agent, ctx| agent.handle_chunk(ctx, request, bytes));
            }
            Input::End { request } => self.on_effect(request, |agent, ctx| agent.handle_end(ctx)),
            Input::NetworkFailed { request, why } => {
                let failure = Failure::new(FailureCode::Network, why);
                self.on_effect(request, |agent, ctx| agent.handle_request_failed(ctx, failure));
            }
            Input::NotSent { request, code, why } => {
                let failure = Failure::new(code, why);
                self.on_effect(request, |agent, ctx| agent.handle_request_failed(ctx, failure));
            }
            Input::RequestFailed { request, failure } => {
                self.on_effect(request, |agent, ctx| agent.attempt_failed(ctx, failure));
            }
            Input::ToolFinished { call, result } if !self.ledger.is_delegated(call) => {
                self.on_effect(call, |agent, ctx| agent.tool_finished(ctx, call, result));
            }
            Input::ToolFinished { .. } => {}
            Input::ToolProgress { call, data } => {
                self.on_effect(call, |agent, ctx| agent.calls.batch.progress(ctx, call, data));
            }
            Input::ToolAsks {
                call,
                number,
                request,
            } => {
                self.on_effect(call, |agent, ctx| {
                    let Calls { batch, approvals, .. } = &mut agent.calls;
                    approvals.elicit(batch, ctx, call, number, request);
                });
            }
            Input::ToolCheckpoint { call, state, asked } => {
                self.on_effect(call, |agent, _| {
                    agent.calls.batch.keep_checkpoint(call, state, asked)
                });
            }
            Input::Answered { question, answer } if is_taken => {
                if let Some(request) = self.request_of(question, &answer) {
                    self.receive(request);
                }
                self.on_effect(question, |agent, ctx| agent.answered(ctx, question, answer));
            }
            Input::Answered { .. } | Input::Once { .. } => {}
            Input::HandedOver { handover } => {
                self.hand_off(handover);
                self.on_effect(handover, |agent, ctx| agent.handed_over(ctx));
            }
            Input::NotSaved { entries, since, why } => self.emit_not_saved(entries, since, why),
            Input::Saved { save, ok } => {
                if self.ledger.close(save) {
                    for index in 0..self.agents.len() as u32 {
                        self.on_agent(index, |agent, ctx| agent.saved(ctx, save, ok));
                    }
                }
            }
        }
        self.stop_late(late);
        // Most inputs are a part of an answer. Until the answer ends or calls a tool, only its text is durable.
        let has_news = std::mem::take(&mut self.ledger.has_news);
        let is_durable = has_news
            || streams.is_none_or(|(request, effect, bytes)| {
                let continues = self.ledger.is_open(request) && self.ledger.next_effect() == effect;
                !continues || self.noted.has_streamed(bytes)
            });
        self.settle(is_durable);
        is_taken
    }

    /// The time for all deadlines: the clock of your platform, but it never goes backward.
    pub fn now_ms(&self) -> u64 {
        self.ledger.now_ms
    }

    /// The delay of the timer to set instead of the current one, in milliseconds. `None` if the current timer is
    /// right. Pass [`Input::Due`] when it fires. A timer remains set when nothing waits for it, until the next
    /// deadline or the end.
    pub fn poll_timer(&mut self) -> Option<u64> {
        let now_ms = self.ledger.now_ms;
        self.ledger.timers.arm(now_ms)
    }

    /// The next deadline, for which [`Run::poll_timer`] requests a timer.
    pub fn poll_timeout(&self) -> Option<Deadline> {
        self.ledger.timers.next()
    }

    /// Returns true if anything still waits for this effect. Ask before you perform it.
    pub fn is_live(&self, effect: EffectId) -> bool {
        self.ledger.is_open(effect)
    }

    /// Checks an input before it is handed in.
    ///
    /// # Errors
    /// A model that the run cannot ask: an unknown vendor or protocol, a missing URL, an option that the protocol
    /// cannot express.
    pub fn check(&self, input: &Input<'_>) -> Result<(), ConfigError> {
        match input {
            Input::Once { input, .. } => self.check(input),
            Input::SetModel { model } => {
                ActiveModel::checked((**model).clone(), &self.setup.root.config).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Whether an input has an effect, which [`Run::handle_input`] returns.
    fn takes(&self, input: &Input<'_>) -> bool {
        match input {
            Input::Answered { question, answer } => {
                let open = self.ledger.find(*question).map(|open| open.kind);
                matches!(open, Some(EffectKind::Question(point)) if takes(point, answer))
                    || self.noted.requests.has(&answer_id(*question, answer))
            }
            Input::Once { request, input } => {
                !self.noted.requests.has(&message_name(request)) && self.takes(input)
            }
            Input::Withdraw { id } => {
                let root = self.agents.first();
                root.is_some_and(|root| root.agent.inbox.ids().contains(id))
            }
            Input::AddBudget { agent_path, .. } => self.at_work(agent_path).is_some(),
            _ => true,
        }
    }

    /// The identity of an answer to a question that the journal has, because such an answer may be delivered twice.
    fn request_of(&self, question: EffectId, answer: &Answer) -> Option<String> {
        let kind = self.ledger.find(question)?.kind;
        kind.awaits_person().then(|| answer_id(question, answer))
    }

    /// The body of an open request.
    pub fn request_body(&mut self, request: EffectId) -> Option<&[u8]> {
        let open = self.ledger.find(request)?;
        let (agent, ctx) = self.context(open.agent)?;
        agent.request_body(ctx, request)
    }

    /// Sets whether your code listens to events of tool calls. Default: true. The numbering of events does not depend
    /// on it.
    pub fn set_observed(&mut self, is_observed: bool) {
        self.ledger.is_observed = is_observed;
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// The agent of this path, if it has not ended.
    pub fn at_work(&self, path: &str) -> Option<u32> {
        let is_it = |node: &&Node| node.identity.path == path && node.agent.ended().is_none();
        let node = self.agents.iter().find(is_it);
        node.filter(|_| self.outcome.is_none())
            .map(|node| node.identity.agent)
    }

    /// The provider's id of the call that a subagent answers; empty for the root.
    pub fn agent_call(&self, agent: u32) -> &str {
        let node = self.agents.get(agent as usize);
        node.and_then(|node| node.identity.its_call()).unwrap_or_default()
    }

    /// True if a rule hides this path from a running call, which must not read it then.
    pub fn withholds(&mut self, call: EffectId, place: &Reading) -> bool {
        let index = self.ledger.find(call).map(|open| open.agent);
        let lent = index.and_then(|index| self.context(index));
        lent.is_none_or(|(agent, ctx)| withholds(agent.calls.batch.running(call), &ctx, place))
    }

    pub fn agent_path(&self, agent: u32) -> &str {
        self.agents
            .get(agent as usize)
            .map(|node| node.identity.path.as_str())
            .unwrap_or_default()
    }

    /// Ends the run as `failed` with code `bug`. It touches as little of the state as it can.
    pub fn fail_as_bug(&mut self, message: &str) {
        if self.outcome.is_some() {
            return;
        }
        self.keep_grown();
        self.fail(Failure::new(FailureCode::Bug, message));
    }

    /// Ends the run, without recording the end in the journal.
    fn fail(&mut self, error: Failure) {
        let outcome = Outcome {
            outcome: OutcomeKind::Failed,
            stopped_by: None,
            abort_reason: None,
            error: Some(error.clone()),
        };
        self.ledger.emit(Place::default(), EventKind::Error { error });
        self.conclude(outcome);
    }

    /// Handles the deadline that had expired when an input arrived, and those that have expired since.
    fn stop_late(&mut self, mut late: Option<TimerReason>) {
        while let Some(reason) = late.take().or_else(|| self.ledger.late()) {
            self.keep_grown();
            self.ledger.timers.clear(reason);
            self.time_is_up(reason);
        }
    }

    /// Handles an expired time limit of the run or of an iteration.
    fn time_is_up(&mut self, reason: TimerReason) {
        let index = match reason {
            TimerReason::Iteration { agent } => agent,
            _ => 0,
        };
        self.on_agent(index, |agent, ctx| agent.time_is_up(ctx, reason));
    }

    #[inline(never)]
    fn handle_due(&mut self) {
        while let Some(reason) = self.ledger.timers.take_due(self.ledger.now_ms) {
            match reason {
                TimerReason::Total | TimerReason::Iteration { .. } => self.time_is_up(reason),
                TimerReason::Backoff { agent } => self.on_agent(agent, |agent, ctx| agent.send_again(ctx)),
                TimerReason::Effect(effect) => self.effect_timed_out(effect),
            }
        }
    }

    fn effect_timed_out(&mut self, effect: EffectId) {
        let Some(open) = self.ledger.find(effect) else {
            return;
        };
        self.on_agent(open.agent, |agent, ctx| match open.kind {
            EffectKind::Request => {
                let why = "The provider sent nothing for too long.";
                agent.handle_request_failed(ctx, Failure::new(FailureCode::Timeout, why));
            }
            EffectKind::Question(point) => agent.question_timed_out(ctx, effect, point),
            EffectKind::Tool | EffectKind::Subagent => agent.tool_timed_out(ctx, effect),
            EffectKind::Save | EffectKind::Handover => {}
        });
    }

    /// Ends the run with its root, or hands out the journal's entries for this input. `is_durable` is false for an
    /// input that has changed nothing durable.
    fn settle(&mut self, is_durable: bool) {
        if self.outcome.is_some() {
            return;
        }
        self.settle_tree();
        if let Some(outcome) = self.agents.first().and_then(|root| root.agent.ended()).cloned() {
            debug_assert!(
                self.ledger.accounts.has_no_open_call(),
                "a call is reserved after the end"
            );
            return self.conclude(outcome);
        }
        if !is_durable {
            return;
        }
        self.emit_waiting();
        self.note_changes();
        if let Some(save) = self.ledger.flush_journal() {
            for node in &mut self.agents {
                node.agent.calls.batch.note_save(save);
            }
        }
    }

    fn conclude(&mut self, outcome: Outcome) {
        let place = self.root_place();
        self.forget_fleeting();
        self.ledger.close_all();
        self.note_changes();
        self.ledger.flush_journal();
        let finish = EventKind::Finish {
            outcome: outcome.clone(),
        };
        self.ledger.emit(place, finish);
        self.ledger.output(Output::Done(outcome.clone()));
        self.ledger.close_all();
        self.outcome = Some(outcome);
    }
}

fn answer_id(question: EffectId, answer: &Answer) -> String {
    format!("answer {} {}", question, digest::short(Json::of(answer).as_str()))
}
