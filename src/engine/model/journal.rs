//! The journal of a run: what a store keeps, and what a recording of a run is made of.
//!
//! After each input the run compares its durable state with the state that it wrote last, and hands out each difference
//! as an [`Entry`] in `Output::Save`, if it has a journal (`run/journal.rs`). A [`Checkpoint`] is folded entries, and a
//! run goes on from it in another process (`Run::restore`). It never holds the memory of a `Run`: text that streams, open
//! requests and questions to hooks are made again. A [`Record`] is one input with its moment: the records of a run
//! replay it byte for byte. Nothing here reads or writes a store.

mod record;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::permission::Permissions;
use crate::engine::model::config::{Limits, Memory, ModelConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::model::input::ToolReturn;
use crate::engine::model::json;
use crate::engine::model::message::{Block, Json, Message};
use crate::engine::model::outcome::{Outcome, ToolCallRecord};
use crate::engine::model::output::EffectId;
use crate::engine::model::usage::Usage;

pub use record::{Record, Recorded};

/// The number of this format. A journal with a higher one is refused.
pub const FORMAT: u32 = 1;

/// A difference of a run's durable state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// From 1 on, without a gap.
    pub seq: u64,
    /// The index of the agent in the run's tree; 0 for the facts of the run.
    pub agent: u32,
    pub fact: Fact,
}

/// Each fact replaces the value of its kind that stood before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Fact {
    /// A process has begun the run, or goes on with it.
    Begun(Box<Begun>),
    /// The run's counters and permissions.
    Run(Box<RunState>),
    /// An agent has begun.
    Agent(Box<Place>),
    /// These messages stand from this index on.
    Messages {
        from: usize,
        messages: Vec<Message>,
    },
    State(Box<AgentState>),
    /// The state of a tool call of the open round.
    Call(Box<CallState>),
    /// The open round is over, and its calls have become records.
    Round {
        records: Vec<ToolCallRecord>,
    },
    /// A kept agent has ended, and its conversation waits for the next call of its tool.
    Remembered(Memory),
}

/// The first entry of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Begun {
    pub format: u32,
    /// Digests of the options, by their names. They tell what another process has changed.
    pub options: Vec<(String, String)>,
    /// A JSON object with your code's values for the tools' bindings.
    pub inputs: Option<Json>,
    /// How the session began, if it began with this run.
    pub session: Option<String>,
    /// The number of the last entry before this process.
    pub after: u64,
}

/// The counters of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunState {
    /// The time that has passed since the run began, without the time between two processes, in milliseconds.
    pub elapsed_ms: u64,
    /// The sum of the times that requests to models have taken, in milliseconds.
    pub requests_ms: u64,
    /// The ids of the next effect and the next event.
    pub next_effect: EffectId,
    pub next_event: u32,
    /// The reported usage by the model's name.
    pub model_usage: BTreeMap<String, Option<Usage>>,
    /// The permissions as they stand.
    pub permissions: Option<Permissions>,
}

/// An agent's place in the tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Place {
    pub path: String,
    /// The path under which its conversation is remembered.
    pub home: String,
    pub depth: u32,
    /// The index of its profile before any handover.
    pub first_profile: u32,
    /// The call that it answers; absent for the root.
    pub parent: Option<Parent>,
    pub is_kept: bool,
}

/// The call that a subagent answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parent {
    pub agent: u32,
    pub call: EffectId,
    /// The provider's id of the call.
    pub tool_call_id: String,
    /// The tool's name.
    pub name: String,
}

/// An agent's state besides its messages and its calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentState {
    pub step: Step,
    /// The index of its profile.
    pub profile: u32,
    pub iteration: u32,
    /// The attempts of the open iteration.
    pub attempt: u32,
    /// The iteration has begun, and its end was not told.
    pub is_open: bool,
    pub tool_rounds: u32,
    /// The iteration of the last round.
    pub round_iteration: u32,
    /// The usage of all finished model calls, and the estimate of those whose vendor reported none.
    pub spent: Option<Usage>,
    pub unreported: Usage,
    pub tool_calls: usize,
    pub answer: AnswerState,
    /// The last structured answer that fitted, and the number of later ones in a row that did not.
    pub output: Option<Json>,
    pub misfits: u32,
    /// Messages for the agent that its model has not got.
    pub steers: Vec<Queued>,
    pub follow_ups: Vec<Queued>,
    /// Text of hooks for the model, to go beside the next content.
    pub notes: Vec<Block>,
    pub classifier_context: Vec<String>,
    /// The agent that takes the conversation over when the round is over.
    pub successor: Option<Successor>,
    /// The model, if it is not its profile's, and the one that the next request asks.
    pub model: Option<ModelName>,
    pub next_model: Option<ModelName>,
    /// The limits, if they were raised.
    pub limits: Option<Limits>,
    pub stop_hook_active: bool,
    /// The input guardrail has not seen the latest content.
    pub has_new_prompt: bool,
    /// The caller has its result.
    pub has_reported: bool,
    /// The number of messages that have been part of a request.
    pub sent: usize,
    /// The counters of the policies for retries, repeats and the length of the history. A version of looplet that cannot
    /// read them begins them anew.
    pub policies: Option<Json>,
}

/// One of the models in the options, without anything that may be secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelName {
    pub slot: u32,
    pub vendor: String,
    pub model: String,
}

impl From<&ModelConfig> for ModelName {
    fn from(config: &ModelConfig) -> ModelName {
        ModelName {
            slot: config.slot,
            vendor: config.vendor.clone(),
            model: config.model.clone(),
        }
    }
}

/// The facts of the last answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AnswerState {
    pub finish_reason: Option<FinishReason>,
    pub raw_finish_reason: Option<String>,
    pub response_id: Option<String>,
    pub response_model: Option<String>,
    pub usage: Option<Usage>,
    /// The text of the last answer that brought any, if it is not the text of the last message that has some.
    pub text: Option<String>,
    /// The text of the answer that the next one continues.
    pub text_before: String,
}

/// A message that waits for its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Queued {
    pub id: u32,
    pub content: Vec<Block>,
}

/// The agent that takes the conversation over when the round is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Successor {
    pub profile: u32,
    pub inherit_model: bool,
    /// The name of the tool.
    pub name: String,
    /// The input of the handoff, if your code is still to choose the messages that the agent begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfiltered: Option<Json>,
}

/// The step that an agent is at, as far as it can be taken again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Step {
    /// Nobody has said anything to the agent yet.
    #[default]
    Ready,
    /// New content waits for its hooks. `is_opening` says that the hooks of the session come first.
    Prompt {
        content: Vec<Block>,
        source: String,
        owes_answer: bool,
        is_opening: bool,
    },
    /// The model is asked next, or is being asked.
    Ask,
    /// The output guardrail judges this answer. `cut_off` names its calls that the output limit has cut off.
    Judge {
        message: Message,
        text: String,
        cut_off: Vec<String>,
    },
    /// The last message is an answer, and its calls or its structured output are under way.
    Act,
    /// The round is over, and the stop conditions are judged; `repeats` if your code is asked about repeated rounds.
    Close {
        repeats: Option<u32>,
    },
    /// The iteration is over.
    HandOver {
        owes_answer: bool,
    },
    /// The model has finished, unless a `Stop` hook makes it go on.
    Complete,
    Ended(Outcome),
}

/// The state of one tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallState {
    /// The call's place in its answer.
    pub index: usize,
    pub tool_call_id: String,
    pub tool_name: String,
    pub status: CallStatus,
    /// The input that the tool gets, if it is not the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_key: Option<String>,
    /// The question about it that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<EffectId>,
}

/// How far a call has come. A call without a status has not been judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CallStatus {
    /// A person was asked whether it may run.
    Asked,
    /// It may run.
    Allowed,
    /// Its function was called, or is about to be.
    Started { effect: EffectId },
    /// It has come back, and hooks look at its result.
    Returned { result: ToolReturn, duration_ms: u64 },
    Done {
        result: ToolReturn,
        duration_ms: u64,
        /// The tool wants the run to end after this round.
        terminates: bool,
    },
}

/// The state that the entries up to `seq` fold into.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Checkpoint {
    /// The number of the last entry; 0 before the first.
    pub seq: u64,
    pub begun: Begun,
    /// Processes in a row that have gone on with the run and brought it no further.
    pub crashes: u32,
    pub run: RunState,
    pub agents: Vec<AgentCheckpoint>,
    pub memories: Vec<Memory>,
}

/// One agent in a [`Checkpoint`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentCheckpoint {
    pub place: Place,
    pub messages: Vec<Message>,
    pub state: AgentState,
    /// The calls of the open round that have a status, by their index.
    pub calls: Vec<CallState>,
    /// The calls of all rounds before.
    pub records: Vec<ToolCallRecord>,
    /// The number of records of the last round.
    pub last_round: usize,
}

impl Checkpoint {
    /// Folds a journal, one JSON value for each entry, as far as it is whole. The entries of one input count together or
    /// not at all, and the last of them is the state of the run. An entry that was written twice counts once. Returns the
    /// number of values that do not count.
    ///
    /// # Errors
    /// A journal of a newer format, or one without a whole beginning.
    pub fn of(values: &[Json]) -> Result<(Checkpoint, usize), ConfigError> {
        let mut checkpoint = Checkpoint::default();
        let mut batch: Vec<Entry> = Vec::new();
        let mut counted = 0;
        for (index, value) in values.iter().enumerate() {
            let Ok(entry) = json::read::<Entry>("", value.as_str()) else {
                break;
            };
            let last = batch.last().map_or(checkpoint.seq, |entry| entry.seq);
            if entry.seq <= last {
                counted += usize::from(batch.is_empty());
                continue;
            }
            if entry.seq != last + 1 {
                break;
            }
            let is_last = matches!(entry.fact, Fact::Run(_));
            batch.push(entry);
            if is_last {
                for entry in batch.drain(..) {
                    checkpoint.fold(entry)?;
                }
                counted = index + 1;
            }
        }
        if checkpoint.agents.is_empty() {
            let problem = match values.is_empty() {
                true => "are empty: there is no such run",
                false => "have no whole beginning",
            };
            return Err(ConfigError::new("entries", problem));
        }
        Ok((checkpoint, values.len() - counted))
    }

    /// Takes the next entry.
    ///
    /// # Errors
    /// An entry out of sequence, of a newer format, or of an agent that has not begun. The checkpoint has not changed
    /// then.
    pub fn fold(&mut self, entry: Entry) -> Result<(), ConfigError> {
        let Entry { seq, agent, fact } = entry;
        if seq != self.seq + 1 {
            return Err(ConfigError::new("seq", "does not follow the entry before"));
        }
        if let Fact::Begun(begun) = &fact
            && begun.format > FORMAT
        {
            let problem = "was written by a newer version of looplet: update looplet";
            return Err(ConfigError::new("format", problem));
        }
        if matches!(fact, Fact::Agent(_)) {
            if agent as usize != self.agents.len() {
                return Err(ConfigError::new("agent", "is not the next one"));
            }
            self.agents.push(AgentCheckpoint::default());
        }
        let is_of_agent = !matches!(fact, Fact::Begun(_) | Fact::Run(_) | Fact::Remembered(_));
        match self.agents.get_mut(agent as usize) {
            Some(agent) if is_of_agent => {
                if agent.fold(fact)? {
                    self.crashes = 0;
                }
            }
            _ if is_of_agent => return Err(ConfigError::new("agent", "has not begun")),
            _ => self.fold_run(fact),
        }
        self.seq = seq;
        Ok(())
    }

    fn fold_run(&mut self, fact: Fact) {
        match fact {
            Fact::Begun(begun) => {
                // A run that waits for a person may see many processes.
                let waits = |agent: &AgentCheckpoint| agent.calls.iter().any(|call| call.question.is_some());
                if self.seq > 0 && !self.agents.iter().any(waits) {
                    self.crashes += 1;
                }
                self.begun = *begun;
            }
            Fact::Run(run) => self.run = *run,
            Fact::Remembered(memory) => {
                self.memories
                    .retain(|other| other.agent_path != memory.agent_path);
                self.memories.push(memory);
            }
            _ => {}
        }
    }
}

impl AgentCheckpoint {
    /// Takes a fact in. Returns true if it brings the run further.
    fn fold(&mut self, fact: Fact) -> Result<bool, ConfigError> {
        match fact {
            Fact::Agent(place) => self.place = *place,
            Fact::Messages { from, messages } => {
                if from > self.messages.len() {
                    return Err(ConfigError::new("messages.from", "leaves messages out"));
                }
                self.messages.truncate(from);
                self.messages.extend(messages);
                return Ok(true);
            }
            Fact::State(state) => self.state = *state,
            Fact::Call(call) => {
                let is_further = !matches!(call.status, CallStatus::Started { .. });
                match self.calls.binary_search_by_key(&call.index, |call| call.index) {
                    Ok(at) => {
                        if let Some(before) = self.calls.get_mut(at) {
                            *before = *call;
                        }
                    }
                    Err(at) => self.calls.insert(at, *call),
                }
                return Ok(is_further);
            }
            Fact::Round { records } => {
                self.calls.clear();
                self.last_round = records.len();
                self.records.extend(records);
                return Ok(true);
            }
            Fact::Begun(_) | Fact::Run(_) | Fact::Remembered(_) => {}
        }
        Ok(false)
    }
}
