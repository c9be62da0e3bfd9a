//! The journal of a run: it saves the changes of each input, and a run resumes from it in another process.
//!
//! After each input, [`Run::note_changes`] compares the durable state of each agent with the state in the journal.
//! This is in one place, so no step can forget it. Streaming text is saved from time to time. [`Run::restore`]
//! creates a run from a checkpoint, and the input `Resume` lets each agent repeat its last step. The current options
//! override those of the journal, and a warning names the options that differ. An invalid history is rejected with
//! its path.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::agent::durable::state::renew;
use crate::engine::agent::durable::streamed::{ENOUGH_BYTES, Streamed};
use crate::engine::agent::setup::Setup;
use crate::engine::agent::{Agent, Node};
use crate::engine::json::digest;
use crate::engine::ledger::timers::TimerReason;
use crate::engine::ledger::{Ledger, Place};
use crate::engine::model::config::RunOptions;
use crate::engine::model::error::{ConfigError, Failure, FailureCode};
use crate::engine::model::event::EventKind;
use crate::engine::model::journal::{
    AgentState, CallState, Checkpoint, CrashCounts, Deliveries, FORMAT, Fact, ProcessStart, RunState,
    UsageState, leave_out_of_messages, leave_out_of_records, note_call,
};
use crate::engine::model::message::{Block, Json};
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::output::{EffectId, Output};
use crate::engine::model::usage::Usage;
use crate::engine::run::Run;

/// The durable state that the journal has.
#[derive(Default)]
pub struct LastJournaled {
    has_begun: bool,
    /// The run follows another one of its chat, and the journal has this number of its messages.
    pub follows: Option<(u64, usize)>,
    /// The number of messages that the run was given.
    pub given: usize,
    agents: Vec<NotedAgent>,
    model_usage: BTreeMap<String, Option<Usage>>,
    /// Facts of the run that the journal does not have.
    pub facts: Vec<Fact>,
    /// The digest of the prompt with which the run started.
    prompt: Option<String>,
    /// The requests of your code that the run has taken.
    pub requests: Deliveries,
    /// The bytes of answers that were received since their text was last compared.
    streamed_bytes: usize,
    /// The checkpoint, until the run resumes from it.
    restored: Option<Restored>,
    /// The number of invalid entries of the journal, until the run has reported them.
    pub left_out: usize,
    /// The number of invalid entries of earlier runs of the chat.
    pub lost: usize,
}

impl LastJournaled {
    pub fn of_given(messages: usize) -> LastJournaled {
        LastJournaled {
            given: messages,
            ..LastJournaled::default()
        }
    }

    /// The number of the last valid entry, until the run resumes from its checkpoint.
    pub fn whole(&self) -> Option<u64> {
        self.restored.as_ref().map(|restored| restored.seq)
    }

    /// How many times the run was stopped by crashes, until it resumes from its checkpoint.
    pub fn stops(&self) -> u32 {
        self.restored
            .as_ref()
            .map_or(0, |restored| restored.crash_counts.stops)
    }

    /// The journal has the root's place already.
    pub fn has_root(&mut self) {
        self.agents = vec![NotedAgent::default()];
    }

    /// Counts received bytes of an answer. Returns true if there are enough to compare its text.
    pub fn has_streamed(&mut self, bytes: usize) -> bool {
        self.streamed_bytes += bytes;
        let is_enough = self.streamed_bytes >= ENOUGH_BYTES;
        if is_enough {
            self.streamed_bytes = 0;
        }
        is_enough
    }
}

#[derive(Default)]
struct NotedAgent {
    state: AgentState,
    usage: UsageState,
    /// The calls of the open round.
    calls: Vec<CallState>,
    records: usize,
    streamed: Streamed,
}

/// The facts of an earlier process.
struct Restored {
    seq: u64,
    crash_counts: CrashCounts,
    /// The counts if the process is still running and has lost its instance.
    counts_after_loss: CrashCounts,
    /// The tool that was running when the previous process ended.
    running_tool: Option<String>,
    elapsed_ms: u64,
    options: Vec<(String, String)>,
    /// Models that the options do not have.
    lost_models: Vec<String>,
    /// The text and the reasoning of answers that were interrupted by the end of another process.
    cut_off: Vec<(Place, String, String)>,
}

impl Run {
    /// Creates a run from a journal that was read, with `left_out` invalid entries, which the run reports when it
    /// resumes. `last` is the number of the store's last entry, or 0 if only the entries tell it.
    ///
    /// # Errors
    /// Like [`Run::restore`].
    pub fn restore_journal(
        setup: Arc<Setup>,
        (mut checkpoint, left_out): (Checkpoint, usize),
        last: u64,
    ) -> Result<Run, ConfigError> {
        if last > 0 {
            checkpoint.end = last;
        }
        let lost = checkpoint.lost;
        let mut run = Run::restore(setup, checkpoint)?;
        run.noted.left_out = left_out;
        run.noted.lost = lost;
        run.ledger.is_torn |= left_out > 0;
        Ok(run)
    }

    /// Makes a run that waits for the input `Resume`. It has the messages, the inputs and the session of the
    /// checkpoint.
    ///
    /// # Errors
    /// A history that is not legal, or an agent that these options do not have.
    pub fn restore(setup: Arc<Setup>, mut checkpoint: Checkpoint) -> Result<Run, ConfigError> {
        checkpoint.rename_profiles(&setup.names);
        let [crash_counts, counts_after_loss] =
            [false, true].map(|is_lost| checkpoint.crash_counts_now(is_lost));
        let running_tool = checkpoint.running_tool().map(str::to_owned);
        let Checkpoint {
            seq,
            end,
            begun,
            is_torn,
            run,
            model_usage,
            agents,
            memories,
            prompt,
            requests,
            ..
        } = checkpoint;
        let options = RunOptions {
            inputs: begun.inputs,
            session: begun.session,
            chat_usage: begun.chat_usage,
            subagents: memories,
            ..RunOptions::default()
        };
        let mut restored = Run::new(setup, options)?;
        let Run {
            setup, ledger, noted, ..
        } = &mut restored;
        let mut nodes = Vec::with_capacity(agents.len());
        let mut lost_models = Vec::new();
        let mut cut_off = Vec::new();
        for (index, checkpoint) in (0..).zip(agents) {
            let profile = setup.profile(checkpoint.state.who.profile);
            let profile = profile.ok_or_else(|| ConfigError::new("agent", NO_AGENT))?;
            if let Some(parent) = &checkpoint.place.parent {
                ledger.accounts.add(Some(parent.agent), &profile.config.limits);
                ledger.paths.push(checkpoint.place.path.clone());
            }
            let AgentState {
                who: identity,
                limits,
                ..
            } = &checkpoint.state;
            ledger.accounts.restore(index, &checkpoint.usage);
            if let Some(limits) = &limits.limits {
                ledger.accounts.limit(index, limits);
            }
            if !checkpoint.streamed.is_empty() {
                let (agent, iteration, attempt) = (index, identity.iteration, identity.attempt);
                let place = Place {
                    agent,
                    iteration,
                    attempt,
                };
                let of = |is_reasoning: bool| {
                    let texts = checkpoint.streamed.iter();
                    let texts = texts.filter(|text| text.is_reasoning == is_reasoning);
                    texts.map(|text| text.text.as_str()).collect()
                };
                cut_off.push((place, of(false), of(true)));
            }
            let mut state = checkpoint.state.clone();
            let usage = checkpoint.usage.clone();
            let records = checkpoint.records.len();
            let calls = checkpoint.calls.clone();
            let node = Node::restored(index, checkpoint, setup, profile, &mut lost_models)?;
            // The entry of a state leaves out a text that the messages show.
            state
                .answers
                .reply
                .text
                .clone_from(&node.agent.answers.reply().text);
            noted.agents.push(NotedAgent {
                state,
                usage,
                calls,
                records,
                streamed: Streamed::default(),
            });
            nodes.push(node);
        }
        if nodes.is_empty() {
            return Err(ConfigError::new("entries", "hold no run"));
        }
        ledger.restore(end, &run);
        ledger.accounts.restore_models(&model_usage);
        noted.model_usage = model_usage;
        ledger.is_torn = is_torn;
        restored.permissions = run.permissions;
        restored.id = begun.run;
        restored.agents = nodes;
        restored.noted.has_begun = true;
        restored.noted.prompt = prompt;
        restored.noted.requests = requests;
        restored.noted.restored = Some(Restored {
            seq,
            crash_counts,
            counts_after_loss,
            running_tool,
            elapsed_ms: run.elapsed_ms,
            options: begun.options,
            lost_models,
            cut_off,
        });
        Ok(restored)
    }

    /// Resumes in the process that started the run, after its instance was lost. Calls with running functions are not
    /// made again, and the numbering of events continues.
    pub(super) fn recover(&mut self, running: Vec<EffectId>, next_event: u32, shown_blocks: u32) {
        self.ledger.recover(running, next_event);
        self.resume(Some(shown_blocks), true);
        // An incomplete answer is requested again, and so are its calls.
        for call in self.ledger.running.take().unwrap_or_default() {
            let why = INSTANCE_LOST.into();
            self.ledger.output(Output::AbortTool { call, why });
        }
    }

    /// Reports a lost instance, and retracts the blocks of the answer that was lost with it.
    fn emit_lost_instance(&mut self, elapsed_ms: u64, shown_blocks: u32) {
        self.started = true;
        self.ledger.start_clock(elapsed_ms);
        let kind = EventKind::warning("instance_lost", INSTANCE_LOST.into());
        self.ledger.emit(Place::default(), kind);
        if shown_blocks > 0 {
            self.on_root(|agent, ctx| agent.take_back_lost(ctx, shown_blocks));
        }
    }

    /// Resumes the run of a checkpoint that started with this prompt. A run that started with another prompt fails,
    /// without an entry in its journal.
    pub(super) fn pick_up(&mut self, prompt: &[Block]) {
        let digest = digest_of(prompt);
        match &self.noted.prompt {
            Some(other) if *other != digest => self.fail(Failure::new(FailureCode::RunExists, RUN_EXISTS)),
            _ => self.resume(None, false),
        }
    }

    /// Records the prompt with which the run starts.
    pub(super) fn note_prompt(&mut self, prompt: &[Block]) {
        if self.ledger.has_journal {
            let digest = digest_of(prompt);
            self.noted.prompt = Some(digest.clone());
            self.noted.facts.push(Fact::Prompted(digest));
        }
    }

    pub(super) fn is_restored(&self) -> bool {
        self.noted.restored.is_some()
    }

    /// Takes note of a request of your code. Returns false for its second delivery.
    pub(super) fn receive(&mut self, request: String) -> bool {
        let is_new = self.noted.requests.add(request.clone());
        if is_new && self.ledger.has_journal {
            self.noted.facts.push(Fact::Received(request));
        }
        is_new
    }

    /// Lets each agent repeat its last step. If the process is the previous one, `recovers` is the number of blocks
    /// of a lost answer that were emitted. `reopens` means that a stopped run is resumed.
    pub(super) fn resume(&mut self, recovers: Option<u32>, reopens: bool) {
        let Some(Restored {
            seq,
            crash_counts,
            counts_after_loss,
            running_tool,
            elapsed_ms,
            options,
            lost_models,
            cut_off,
        }) = self.noted.restored.take()
        else {
            return;
        };
        self.note_begun(seq, recovers.is_some());
        let crash_counts = if recovers.is_some() {
            counts_after_loss
        } else {
            crash_counts
        };
        match recovers {
            Some(shown_blocks) => self.emit_lost_instance(elapsed_ms, shown_blocks),
            None => self.emit_start(elapsed_ms),
        }
        if let Some(total_ms) = self.setup.root.config.timeouts.total_ms {
            let left_ms = total_ms.saturating_sub(elapsed_ms);
            self.ledger.set_timer(TimerReason::Total, Some(left_ms));
        }
        self.warn_of_options(&options);
        if !lost_models.is_empty() {
            let message = format!("{MODEL_LOST}{}", lost_models.join(", "));
            let kind = EventKind::warning("model_not_kept", message);
            self.ledger.emit(Place::default(), kind);
        }
        self.warn_of_tear();
        for (place, text, reasoning) in cut_off {
            let kind = EventKind::AnswerCutOff { text, reasoning };
            self.ledger.emit(place, kind);
        }
        if crash_counts.exhaust(&self.setup.root.config.durable) {
            let kind = EventKind::warning("recovery_exhausted", crash_counts.reason(running_tool));
            self.ledger.emit(Place::default(), kind);
            return self.on_root(|agent, ctx| {
                agent.recall_calls(ctx, false);
                agent.stop(ctx, StoppedBy::RecoveryExhausted);
            });
        }
        // A caller reopens the effects of its subagents before they continue.
        for index in 0..self.agents.len() as u32 {
            let parent = self
                .agents
                .get(index as usize)
                .and_then(|node| node.identity.parent.as_ref());
            if parent.is_none_or(|parent| self.ledger.is_open(parent.call)) {
                self.on_agent(index, |agent, ctx| {
                    agent.continue_from_checkpoint(ctx, reopens);
                });
            }
        }
    }

    pub(super) fn note_begun(&mut self, after: u64, recovers: bool) {
        let begun = ProcessStart {
            format: FORMAT,
            options: self.setup.digests.clone(),
            profiles: self.setup.names.clone(),
            inputs: self.inputs.clone(),
            session: self.session.clone(),
            chat_usage: self.chat_usage,
            after,
            run: self.id.clone(),
            recovers,
            is_torn: self.ledger.is_torn,
        };
        self.ledger.note(0, Fact::ProcessStarted(Box::new(begun)));
    }

    /// Writes the changes of this input into the journal. The entries of one input belong together: the last of them
    /// is the state of the run.
    pub(super) fn note_changes(&mut self) {
        if !self.ledger.has_journal || self.noted.restored.is_some() {
            return;
        }
        if !std::mem::replace(&mut self.noted.has_begun, true) {
            self.note_first();
        }
        for fact in std::mem::take(&mut self.noted.facts) {
            self.ledger.note(0, fact);
        }
        let Run {
            ledger,
            noted,
            agents,
            ..
        } = self;
        for (index, node) in agents.iter_mut().enumerate() {
            note_agent(index, node, noted, ledger);
        }
        let by_model = ledger.accounts.by_model().iter();
        let changed = by_model.filter(|(model, usage)| noted.model_usage.get(*model) != Some(*usage));
        let changed: Vec<_> = changed.map(|(model, usage)| (model.clone(), *usage)).collect();
        for (model, usage) in changed {
            noted.model_usage.insert(model.clone(), usage);
            ledger.note(0, Fact::ModelUsage { model, usage });
        }
        if ledger.noted() > 0 {
            let run = RunState {
                permissions: self.permissions.clone(),
                is_over: agents.first().is_none_or(|root| !has_more(&root.agent)),
                ..ledger.counters()
            };
            ledger.note(0, Fact::Run(Json::of(&run)));
        }
    }
}

/// Whether a process that resumes the run of this root has something to do.
fn has_more(root: &Agent) -> bool {
    let outcome = root.ended();
    !root.is_over() || outcome.is_some_and(|outcome| outcome.stopped_by == Some(StoppedBy::RecoveryExhausted))
}

fn note_agent(index: usize, node: &mut Node, noted: &mut LastJournaled, ledger: &mut Ledger) {
    let agent = index as u32;
    if index == noted.agents.len() {
        noted.agents.push(NotedAgent::default());
        ledger.note(agent, Fact::Agent(Box::new(node.place())));
    }
    let Some(noted) = noted.agents.get_mut(index) else {
        return;
    };
    // A subagent that has reported gives its messages up and never acts again.
    if noted.state.course.has_reported {
        return;
    }
    let is_new = node.note_state(&mut noted.state);
    let calls = &node.agent.calls;
    let all = calls.rounds.records();
    if all.len() > noted.records {
        let mut records = all.get(noted.records..).unwrap_or_default().to_vec();
        noted.records = all.len();
        leave_out_of_records(&mut records, &std::mem::take(&mut noted.calls));
        ledger.note(agent, Fact::Round { records });
    }
    if !noted.state.course.has_reported {
        for mut fact in node.agent.history.transcript.take_unsaved() {
            if let Fact::Messages {
                messages, left_out, ..
            } = &mut fact
            {
                *left_out = leave_out_of_messages(messages, all);
            }
            ledger.note(agent, fact);
        }
    }
    for call in calls.batch.to_note() {
        if note_call(&mut noted.calls, call) {
            ledger.note(agent, Fact::Call(Box::new(call.clone())));
        }
    }
    if is_new {
        ledger.note(agent, Fact::State(node.entry_of(&mut noted.state)));
    }
    let usage = ledger.accounts.kept(agent);
    if renew(&mut noted.usage, &usage) {
        ledger.note(agent, Fact::Usage(usage));
    }
    let attempt = (node.identity.kept.iteration, node.identity.kept.attempt);
    let is_saved = ledger.noted() > 0;
    if let Some(fact) = noted.streamed.note(&node.agent, attempt, is_saved) {
        ledger.note(agent, fact);
    }
}

fn digest_of(prompt: &[Block]) -> String {
    digest::short(Json::of(&prompt).as_str())
}

const RUN_EXISTS: &str = "The store has a run with this id that started with another prompt. Choose another id, or resume it with agent.resume(id).";
const INSTANCE_LOST: &str =
    "The WebAssembly instance was lost, and the run resumes from its journal in a new one.";
const NO_AGENT: &str = "the journal names an agent that these options do not have";
const MODEL_LOST: &str = "These models are not in the options, and no model of the options has their vendor and URL. The agents use their own models instead of: ";
