//! The journal of a run, which a store saves, and the records of a recording.
//!
//! If the run has a journal, it compares its durable state with the last written state after each input. It emits
//! each difference as an [`Entry`] in `Output::Save` (`run/journal.rs`). A [`Checkpoint`] is folded entries, and a
//! run resumes from it in another process (`Run::restore`). It never holds the memory of a `Run`: open requests and
//! questions to hooks are made again. The runs of a chat follow each other in one journal ([`Fact::Next`]). A
//! [`Record`] is one input with its moment. The records of a run replay it byte for byte. Nothing here reads or
//! writes a store.

mod agent;
mod call;
mod crash_counts;
mod deliveries;
mod fold;
mod gap;
pub mod head;
mod line;
mod outputs;
mod read;
mod record;
mod transcripts;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::model::config::Memory;
use crate::engine::model::config::permission::Permissions;
use crate::engine::model::error::ConfigError;
use crate::engine::model::journal::agent::is_default;
use crate::engine::model::journal::head::Head;
use crate::engine::model::message::{Json, Message};
use crate::engine::model::outcome::ToolCallRecord;
use crate::engine::model::output::EffectId;
use crate::engine::model::usage::{Usage, sparse};

use transcripts::EarlierTranscript;

pub use agent::{
    AgentState, AnswersState, ApprovalsState, DelegationsState, HistoryState, IdentityState, Inbox, Length,
    LimitsState, MAX_PERIOD, ModelName, OwnModel, ProgressState, Queued, Repeats, RepeatsState, Reply,
    RequestsState, RoundsState, Step, StepState, StreamedText, Successor, Summarized, Tries, UsageState,
    Wanted,
};
pub use call::{CallState, CallStatus, Elicitation, note_call};
pub use crash_counts::CrashCounts;
pub use deliveries::{Deliveries, MAX_REQUESTS, message_name};
pub use outputs::{leave_out_of_messages, leave_out_of_records};
pub use read::JournalReader;
pub use record::{Record, Recorded};
pub use transcripts::AgentTranscript;

/// The number of this format. A journal with a higher one is refused, and one with a lower one is read.
pub const FORMAT: u32 = 7;

/// The first format in which usage is a separate fact. Before, it was a part of the states.
const USAGE_FACTS: u32 = 7;

/// The index of a profile that the options do not have.
const NO_PROFILE: u32 = u32::MAX;

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

/// A change of the state. Each variant says whether it replaces an earlier one or adds to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Fact {
    /// A process has started or resumed the run.
    #[serde(rename = "begun")]
    ProcessStarted(Box<ProcessStart>),
    /// The run's counters and permissions, which replace the previous ones: a [`RunState`] in JSON, because only the
    /// last one is read.
    Run(Json),
    /// An agent has started.
    Agent(Box<Place>),
    /// These messages replace those from index `from` on, or only those up to `upto`.
    Messages {
        from: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upto: Option<usize>,
        messages: Vec<Message>,
        /// The ids of calls with results that are left out here, because their records have the same text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
    },
    /// The system prompt and the tools of the agent's requests, which replace the previous ones. They also apply to
    /// the next run of a chat. Absent if the next request uses those of its options.
    Head(Option<Box<Head>>),
    /// An [`AgentState`], which replaces the previous one. It is JSON, because only the last one is usually read.
    State(Json),
    /// The figures of the agent's account, which replace the previous ones.
    Usage(UsageState),
    /// The reported usage of the run's calls of this model, which replaces the previous one.
    ModelUsage {
        model: String,
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            serialize_with = "sparse::option"
        )]
        usage: Option<Usage>,
    },
    /// The state of a tool call of the open round, which replaces that call's previous state.
    Call(Box<CallState>),
    /// Further texts of an answer that is streaming. A model gets them back only with `onCutOff: "continue"`.
    Streamed {
        /// They are the first of the answer.
        is_first: bool,
        texts: Vec<StreamedText>,
    },
    /// The open round has ended, and its calls have become records. A record without an output has the output of its
    /// call's state.
    Round { records: Vec<ToolCallRecord> },
    /// A persistent subagent has ended. Its conversation is saved for the next call of its tool.
    Remembered(Memory),
    /// The run has ended, and the next one of its chat begins.
    Next(Box<Next>),
    /// The digest of the prompt with which the run began.
    Prompted(String),
    /// The run has received this request of your code. A second delivery of it has no effect.
    Received(String),
    /// The process has suspended the run, so its end does not count as a crash.
    Suspended,
}

/// The beginning of a chat's next run. The root's messages and the conversations of persistent subagents remain.
/// Everything else starts from scratch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Next {
    /// The root of the next run.
    pub place: Place,
    /// The number of messages that stay.
    pub messages: usize,
    /// The paths of the conversations that stay.
    pub remembered: Vec<String>,
}

/// The end of a journal, where the next run of a chat continues.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct JournalTail {
    /// The number of the last entry; 0 before the first.
    pub seq: u64,
    /// The number of the last valid entry.
    pub whole: u64,
    /// The number of messages that the journal has, of those of the result.
    pub messages: usize,
    /// The id of the run, if the journal's name is another one.
    pub run: Option<String>,
    /// Whether the run has ended, or has received no prompt.
    pub is_over: bool,
    /// How many times the run was stopped by crashes, if that is how it ended. Otherwise 0.
    pub stops: u32,
    /// The number of invalid entries.
    pub left_out: usize,
    /// The requests of your code that the runs of the chat have received: their ids, and the ids of messages that
    /// were joined to them. A message that a run has not delivered by its end may be sent again.
    pub requests: Vec<String>,
}

/// The first entry of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProcessStart {
    pub format: u32,
    /// Digests of the options, by name. They show what another process has changed.
    pub options: Vec<(String, String)>,
    /// The names of the profiles, by their indexes in this process. Other options may have another order.
    pub profiles: Vec<String>,
    /// A JSON object with your code's values for the tools' bindings.
    pub inputs: Option<Json>,
    /// How the session began, if it began with this run.
    pub session: Option<String>,
    /// The usage of the conversation before the run.
    #[serde(skip_serializing_if = "is_default")]
    pub chat_usage: Option<Usage>,
    /// The number of the last valid entry before this process. The entries between the two are invalid.
    pub after: u64,
    /// The id of the run, if the journal's name is another one: that of a chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// True if the process is the previous one, which has lost its instance.
    #[serde(skip_serializing_if = "is_default")]
    pub recovers: bool,
    /// A part of the run before this process is lost, in whichever process it was found.
    #[serde(skip_serializing_if = "is_default")]
    pub is_torn: bool,
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
    /// The current permissions.
    #[serde(skip_serializing_if = "is_default")]
    pub permissions: Option<Permissions>,
    /// True if the run has ended and nothing resumes it. It must be the last field, because a store looks for it at
    /// the end of the entry (`isRunEnd` in `core/host/entries.ts`).
    #[serde(skip_serializing_if = "is_default")]
    pub is_over: bool,
}

/// The usage in the [`RunState`] of a format before [`USAGE_FACTS`].
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RunUsage {
    model_usage: BTreeMap<String, Option<Usage>>,
}

/// An agent's place in the tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Place {
    pub path: String,
    /// The path under which its conversation is saved.
    pub home: String,
    pub depth: u32,
    /// The index of its profile before any handoff.
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

/// The state that the entries up to `seq` fold into.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Checkpoint {
    /// The number of the last valid entry. 0 before the first.
    pub seq: u64,
    /// The number of the journal's last entry. It is higher than `seq` if the journal ends with invalid entries.
    pub end: u64,
    pub begun: ProcessStart,
    /// The crashes and interruptions before the last process.
    #[serde(rename = "deaths")]
    pub crash_counts: CrashCounts,
    /// The last process has suspended the run.
    pub is_suspended: bool,
    /// A part of the run is lost, and a process has continued without it.
    pub is_torn: bool,
    /// The digest of the first prompt. Journals of earlier formats have none.
    pub prompt: Option<String>,
    /// The requests of your code that were taken.
    pub requests: Deliveries,
    pub run: RunState,
    /// The reported usage by the model's name.
    pub model_usage: BTreeMap<String, Option<Usage>>,
    pub agents: Vec<AgentCheckpoint>,
    pub memories: Vec<Memory>,
    /// The number of invalid entries before these, of earlier runs of the chat.
    #[serde(skip)]
    pub lost: usize,
    /// The run's last state, if it was not read yet.
    #[serde(skip)]
    unread: Option<Json>,
    /// The subagents of earlier runs, if the reader wants the transcripts of all agents.
    #[serde(skip)]
    past: Option<Vec<AgentTranscript>>,
}

/// One agent in a [`Checkpoint`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentCheckpoint {
    pub place: Place,
    /// The messages that the summary at the beginning of `messages` replaces.
    pub earlier: Vec<Message>,
    pub messages: Vec<Message>,
    pub head: Option<Box<Head>>,
    pub state: AgentState,
    pub usage: UsageState,
    /// The calls of the open round that have a status, by their index.
    pub calls: Vec<CallState>,
    /// The calls of all rounds before.
    pub records: Vec<ToolCallRecord>,
    /// The number of records of the last round.
    pub last_round: usize,
    /// The texts of the answer that streamed last, if its end is not known.
    pub streamed: Vec<StreamedText>,
    /// The agent's last state, if it was not read yet.
    #[serde(skip)]
    unread: Option<Json>,
    /// Present if the reader wants the transcripts of all agents.
    #[serde(skip)]
    earlier_transcript: Option<Box<EarlierTranscript>>,
    /// The ids of the messages that have waited in the inbox, if the reader wants the transcripts.
    #[serde(skip)]
    queued: Vec<u32>,
}

impl Checkpoint {
    /// Folds the next entry.
    ///
    /// # Errors
    /// An entry out of sequence, of a newer format, of an agent that has not started, or with a state that cannot be
    /// read.
    pub fn fold(&mut self, entry: Entry) -> Result<(), ConfigError> {
        self.take(entry)?;
        self.read_states()
    }

    /// Reads the states that were not read yet.
    fn read_states(&mut self) -> Result<(), ConfigError> {
        let has_usage = self.begun.format < USAGE_FACTS;
        if let Some(run) = self.unread.take() {
            self.run = run.read()?;
            if has_usage {
                self.model_usage = run.read::<RunUsage>()?.model_usage;
            }
        }
        self.agents
            .iter_mut()
            .try_for_each(|agent| agent.read_state(has_usage))
    }

    /// Takes the next entry without reading its state.
    fn take(&mut self, entry: Entry) -> Result<(), ConfigError> {
        let Entry { seq, agent, fact } = entry;
        if seq != self.seq + 1 {
            return Err(ConfigError::new("seq", "does not follow the previous entry"));
        }
        if let Fact::ProcessStarted(begun) = &fact {
            begun.check_format()?;
        }
        if let Fact::Agent(place) = &fact {
            if agent as usize != self.agents.len() {
                return Err(ConfigError::new("agent", "is not the next one"));
            }
            self.agents.push(AgentCheckpoint {
                earlier_transcript: self.earlier_transcript(place),
                ..AgentCheckpoint::default()
            });
        }
        if let Fact::Next(next) = &fact {
            let root = self.agents.first();
            if root.is_none_or(|root| root.messages.len() < next.messages) {
                return Err(ConfigError::new(
                    "next.messages",
                    "names messages that do not exist",
                ));
            }
        }
        let is_of_agent = fact.is_of_agent();
        match self.agents.get_mut(agent as usize) {
            Some(agent) if is_of_agent => {
                if agent.fold(fact, self.begun.format < USAGE_FACTS)? {
                    self.crash_counts.forget();
                }
            }
            _ if is_of_agent => return Err(ConfigError::new("agent", "has not begun")),
            _ => self.fold_run(fact)?,
        }
        self.seq = seq;
        self.end = self.end.max(seq);
        Ok(())
    }

    /// Gives the profiles the indexes that they have in this list. A profile that is not there gets an index that no
    /// profile has. A journal of format 1 has no names, and its indexes stay.
    pub fn rename_profiles(&mut self, names: &[String]) {
        let before = &self.begun.profiles;
        if before.is_empty() || before == names {
            return;
        }
        let rename = |profile: &mut u32| {
            let name = before.get(*profile as usize);
            let at = name.and_then(|name| (0..).zip(names).find(|(_, other)| *other == name));
            *profile = at.map_or(NO_PROFILE, |(at, _)| at);
        };
        for agent in &mut self.agents {
            rename(&mut agent.state.who.profile);
            rename(&mut agent.place.first_profile);
            if let Some(successor) = &mut agent.state.delegations.successor {
                rename(&mut successor.profile);
            }
        }
    }

    /// The root has ended.
    pub fn is_over(&self) -> bool {
        self.agents.first().is_some_and(AgentCheckpoint::has_ended)
    }

    fn fold_run(&mut self, fact: Fact) -> Result<(), ConfigError> {
        match fact {
            Fact::ProcessStarted(begun) => {
                self.read_states()?;
                if let Some(run) = &begun.run {
                    self.requests.add(message_name(run));
                }
                self.crash_counts = self.crash_counts_now(begun.recovers);
                self.is_suspended = false;
                self.rename_profiles(&begun.profiles);
                self.is_torn |= begun.is_torn;
                self.begun = *begun;
            }
            Fact::Run(run) => self.unread = Some(run),
            Fact::Remembered(memory) => {
                self.memories
                    .retain(|other| other.agent_path != memory.agent_path);
                self.memories.push(memory);
            }
            Fact::Next(next) => self.begin_next(*next),
            Fact::Prompted(digest) => self.prompt = Some(digest),
            Fact::Received(request) => {
                self.requests.add(request);
            }
            Fact::ModelUsage { model, usage } => drop(self.model_usage.insert(model, usage)),
            Fact::Suspended => self.is_suspended = true,
            _ => {}
        }
        Ok(())
    }

    fn begin_next(&mut self, next: Next) {
        self.crash_counts = CrashCounts::default();
        // A new prompt asks for new calls.
        self.is_torn = false;
        self.prompt = None;
        self.model_usage.clear();
        self.memories
            .retain(|memory| next.remembered.contains(&memory.agent_path));
        let root = self.agents.first();
        let undelivered = root.map(|root| root.state.inbox.requests()).unwrap_or_default();
        self.requests.end_run(&undelivered);
        if let Some(run) = &self.begun.run {
            self.requests.add(message_name(run));
        }
        self.keep_transcripts(false);
        self.agents.truncate(1);
        if let Some(root) = self.agents.first_mut() {
            let mut messages = std::mem::take(&mut root.messages);
            messages.truncate(next.messages);
            let mut earlier = std::mem::take(&mut root.earlier);
            if messages.is_empty() {
                earlier.clear();
            }
            *root = AgentCheckpoint {
                place: next.place,
                earlier,
                messages,
                head: root.head.take(),
                earlier_transcript: root.earlier_transcript.take(),
                ..AgentCheckpoint::default()
            };
        }
    }
}

impl Fact {
    fn is_of_agent(&self) -> bool {
        !matches!(
            self,
            Fact::ProcessStarted(_)
                | Fact::Run(_)
                | Fact::ModelUsage { .. }
                | Fact::Remembered(_)
                | Fact::Next(_)
                | Fact::Prompted(_)
                | Fact::Received(_)
                | Fact::Suspended
        )
    }
}
