//! One tool call, from the text of the model to its result.
//!
//! [`CallPhase`] says how far it has come. A call shows its result in three forms: a block for the model, a record
//! for your code, facts for hooks.

use crate::engine::model::config::ToolExecution;
use crate::engine::model::event::ToolFault;
use crate::engine::model::hook::Gate;
use crate::engine::model::input::{ToolCheckpoint, ToolReturn};
use crate::engine::model::journal::{CallStatus, Elicitation};
use crate::engine::model::message::{Block, Json, PendingCall, ToolInput};
use crate::engine::model::outcome::ToolCallRecord;
use crate::engine::model::output::EffectId;
use crate::engine::model::question::CallFacts;
use crate::engine::policy::result_cap;
use crate::engine::policy::schedule::{self, Traits};

/// The state of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallPhase {
    /// Your code prepares the call before anything else happens to it.
    Unprepared,
    /// Your code was asked to prepare it.
    Preparing,
    /// Its input is valid, and nobody has judged yet whether it may run.
    Checked,
    /// Hooks were asked about it.
    Hooking,
    /// It may run, and its guardrail was asked.
    Guarding,
    /// Hooks were asked whether it may run, before a person is asked.
    Contested {
        reason: String,
    },
    /// The call was denied, with the message of the denier or with our reason. Hooks hear of it first.
    Refused {
        message: Option<String>,
        reason: String,
    },
    /// A person or the classifier was asked whether it may run.
    AwaitingAnswer,
    /// Your code was asked what became of the call in another process. `effect` is its start, if it had begun.
    Reconciling {
        effect: Option<EffectId>,
    },
    /// The call may run as soon as no call before it is in its way.
    Queued,
    /// The call starts when the save of its start is confirmed.
    AwaitingSave {
        effect: EffectId,
        save: Option<EffectId>,
    },
    Running {
        effect: EffectId,
        started_ms: u64,
    },
    /// Hooks were asked about its result.
    Returned {
        result: ToolReturn,
        duration_ms: u64,
    },
    Done {
        result: ToolReturn,
        duration_ms: u64,
    },
}

/// One tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The provider's id.
    pub id: String,
    pub name: String,
    /// The index of its tool in the configuration; `None` for an unknown tool.
    pub tool: Option<usize>,
    /// The version of its tool, that of its first process until your code has said what became of it.
    pub version: Option<String>,
    /// The arguments as the model wrote them. They go into the history.
    pub written: ToolInput,
    /// The input that the tool gets.
    pub input: Json,
    /// The input that the tool would get if your code had not changed it; `None` if it has not.
    pub unchanged: Option<Json>,
    /// The changed input with which the tool was called, without the fields that bindings fill.
    pub updated_input: Option<Json>,
    /// The model reads that input beside the result.
    pub tells_update: bool,
    pub read_only: bool,
    pub resource_key: Option<String>,
    /// The tool wants an approval, or your code asked for one when it prepared the call.
    pub needs_approval: bool,
    pub gate: Gate,
    /// The number of characters of the result that the model is shown.
    pub max_result_chars: u32,
    /// The tool wants the run to end after this round.
    pub terminates: bool,
    /// The error in your words.
    pub worded: Option<String>,
    /// The call gives the structured answer; no tool of yours is called.
    pub is_answer: bool,
    /// Your code has said that it may run, although the journal has lost a part of the run.
    pub is_vouched: bool,
    /// The question about it that waits for a person.
    pub question: Option<EffectId>,
    /// The state from which its function goes on in another process.
    pub checkpoint: Option<ToolCheckpoint>,
    /// The questions of its function to a person.
    pub elicitations: Vec<Elicitation>,
    /// The number of changes of the two that this process has made.
    pub changes: u32,
    /// The step at which it was in another process and is in the journal, until this process takes it up.
    pub kept: Option<CallStatus>,
    pub phase: CallPhase,
}

impl Call {
    pub fn traits(&self) -> Traits<'_> {
        Traits {
            read_only: self.read_only,
            resource_key: self.resource_key.as_deref(),
        }
    }

    pub fn facts(&self) -> CallFacts<'_> {
        CallFacts {
            tool_call_id: &self.id,
            tool_name: &self.name,
            input: Some(&self.input),
            ..CallFacts::default()
        }
    }

    /// Returns true if the call may start in a run that has lost a part of its journal.
    pub fn is_vouched_for(&self) -> bool {
        // A tool goes on from its checkpoint.
        self.is_vouched || self.checkpoint.is_some()
    }

    pub fn waits_for(&self, earlier: &Call, mode: ToolExecution) -> bool {
        !earlier.is_done()
            && (schedule::conflict(mode, earlier.traits(), self.traits())
                // The keys of the two may turn out to be equal.
                || (self.resource_key.is_some() && earlier.has_open_key()))
    }

    /// Returns true if your code has not said yet which resource the call works on.
    fn has_open_key(&self) -> bool {
        matches!(self.phase, CallPhase::Unprepared | CallPhase::Preparing)
    }

    /// The time that the call has taken so far, in milliseconds.
    pub fn duration_ms(&self, now_ms: u64) -> u64 {
        match self.phase {
            CallPhase::Running { started_ms, .. } => now_ms.saturating_sub(started_ms),
            CallPhase::Returned { duration_ms, .. } => duration_ms,
            _ => 0,
        }
    }

    /// The effect of a call whose function is at work.
    pub fn running(&self) -> Option<EffectId> {
        match self.phase {
            CallPhase::Running { effect, .. } => Some(effect),
            _ => None,
        }
    }

    pub fn is_done(&self) -> bool {
        matches!(self.phase, CallPhase::Done { .. })
    }

    /// The record of the call. `is_over` says that the run has ended, so that a call that is not done never ran.
    pub fn record(&self, is_over: bool) -> ToolCallRecord {
        let (output, is_error, duration_ms) = match &self.phase {
            CallPhase::Done { result, duration_ms } | CallPhase::Returned { result, duration_ms } => (
                Some(result.output()),
                matches!(result, ToolReturn::Fault(_)),
                *duration_ms,
            ),
            _ if is_over => (Some(ToolFault::not_run().to_json()), true, 0),
            _ => (None, false, 0),
        };
        ToolCallRecord {
            tool_call_id: self.id.clone(),
            tool_name: self.name.clone(),
            input: written_json(&self.written),
            updated_input: self.updated_input.clone(),
            output,
            is_error,
            duration_ms,
        }
    }

    /// The fault that is the call's result.
    pub fn fault(&self) -> Option<&ToolFault> {
        match self.brought() {
            Some(ToolReturn::Fault(fault)) => Some(fault),
            _ => None,
        }
    }

    fn brought(&self) -> Option<&ToolReturn> {
        match &self.phase {
            CallPhase::Done { result, .. } | CallPhase::Returned { result, .. } => Some(result),
            _ => None,
        }
    }

    /// Returns true if the result is longer than the model is shown.
    pub fn is_cut(&self, result: &ToolReturn) -> bool {
        let most = self.max_result_chars as usize;
        match result {
            ToolReturn::Content(content) => result_cap::cut_blocks(content, most).is_some(),
            // A text is never longer than its JSON.
            ToolReturn::Value(value) => {
                value.as_str().len() > most && result_cap::cut(&value.text(), most).is_some()
            }
            ToolReturn::Fault(fault) => result_cap::cut(&fault.message, most).is_some(),
            ToolReturn::Last(result) => self.is_cut(result),
        }
    }

    /// The fault, with as much of its message as the model is shown.
    pub fn shown_fault(&self) -> Option<ToolFault> {
        let fault = self.fault()?;
        let message = result_cap::cut(&fault.message, self.max_result_chars as usize);
        Some(ToolFault {
            message: message.unwrap_or_else(|| fault.message.clone()),
            ..fault.clone()
        })
    }

    pub fn result_block(&self) -> Block {
        let most = self.max_result_chars as usize;
        let mut is_error = false;
        let mut content = match self.brought() {
            Some(ToolReturn::Content(content)) => {
                result_cap::cut_blocks(content, most).unwrap_or_else(|| content.clone())
            }
            Some(ToolReturn::Value(value)) => {
                let text = value.text();
                vec![Block::text(
                    result_cap::cut(&text, most).unwrap_or_else(|| text.into_owned()),
                )]
            }
            _ => {
                is_error = true;
                let fault = self.shown_fault().unwrap_or_else(ToolFault::not_run);
                let worded = self.worded.clone();
                vec![Block::text(
                    worded.unwrap_or_else(|| fault.to_json().as_str().to_owned()),
                )]
            }
        };
        // A block of its own, so that programs can still read the result.
        if let Some(input) = self.updated_input.as_ref().filter(|_| self.tells_update) {
            let input = input.as_str();
            let shown = result_cap::cut(input, most).unwrap_or_else(|| input.to_owned());
            content.push(Block::text(format!("{INPUT_CHANGED}{shown}")));
        }
        Block::ToolResult {
            call_id: self.id.clone(),
            content,
            is_error,
            pending: None,
        }
    }

    /// The block of a call whose run goes on: its result, or one that says how far it has come. `asking` are the
    /// calls of agents below which a person is asked.
    pub fn block_so_far(&self, asking: &[EffectId]) -> Block {
        if self.brought().is_some() {
            return self.result_block();
        }
        let (pending, words) = match self.begun() {
            _ if self.awaits_person() => (PendingCall::Waiting, WAITS),
            Some(effect) if asking.contains(&effect) => (PendingCall::Waiting, WAITS),
            Some(_) => (PendingCall::Running, RUNS),
            None => (PendingCall::Queued, STANDS_BY),
        };
        Block::ToolResult {
            call_id: self.id.clone(),
            content: vec![Block::text(words)],
            is_error: false,
            pending: Some(pending),
        }
    }

    /// Returns true if a person is asked about the call, or by its tool.
    pub fn awaits_person(&self) -> bool {
        self.question.is_some() || self.elicitations.iter().any(Elicitation::is_open)
    }

    /// The effect of a call that has begun and has no result.
    pub fn begun(&self) -> Option<EffectId> {
        match (&self.phase, &self.kept) {
            (CallPhase::AwaitingSave { effect, .. } | CallPhase::Running { effect, .. }, _)
            | (CallPhase::Reconciling { effect: Some(effect) }, _)
            | (_, Some(CallStatus::Started { effect })) => Some(*effect),
            _ => None,
        }
    }
}

const WAITS: &str = "The call waits for the answer of a person.";
const RUNS: &str = "The call is under way.";
const STANDS_BY: &str = "The call has not begun.";

/// The words for the model before the input with which a tool was called in place of the model's own.
const INPUT_CHANGED: &str = "The input was changed before the tool ran: ";

/// The input as JSON. Arguments that are not a JSON object become a string.
pub fn written_json(input: &ToolInput) -> Json {
    match input {
        ToolInput::Json(json) => json.clone(),
        ToolInput::Invalid(text) => Json::string(text),
    }
}
