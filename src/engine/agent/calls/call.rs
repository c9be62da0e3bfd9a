//! One tool call, from the text of the model to its result.
//!
//! [`Call::kept`] is its progress, which is in the journal. [`Wait`] is what it waits for in this process. A call
//! shows its result in three forms: a block for the model, a record for your code, and data for hooks.

use crate::engine::model::config::ToolExecution;
use crate::engine::model::event::ToolFault;
use crate::engine::model::input::ToolReturn;
use crate::engine::model::journal::{CallState, CallStatus};
use crate::engine::model::message::{Block, Json, PendingCall, ToolInput};
use crate::engine::model::outcome::ToolCallRecord;
use crate::engine::model::output::EffectId;
use crate::engine::model::question::CallFacts;
use crate::engine::policy::result_cap;
use crate::engine::policy::schedule::{self, Traits};

/// The event for which a call waits.
#[derive(Clone, Debug, PartialEq)]
pub enum Wait {
    /// Your code prepares the call before anything else happens to it, and is asked about all calls of an answer at
    /// once.
    Preparation { is_asked: bool },
    /// Hooks or its guardrail look at the call or at its result.
    Hooks,
    /// Hooks may decide for the user. Otherwise the user is asked, for this reason.
    Contest { reason: String },
    /// The user or the classifier decides whether it may run.
    Permission,
    /// Your code reports what happened to the call in another process.
    Reconciliation,
    /// The save of its start; `None` until the save is made.
    Save(Option<EffectId>),
    /// Its function, or its agent.
    Result { started_ms: u64 },
}

/// One tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The state of the call in the journal.
    pub kept: CallState,
    /// The event after which it continues. Without one, the batch takes its next step.
    pub waits: Option<Wait>,
    /// The arguments as the model wrote them. They go into the history.
    pub written: ToolInput,
    /// These arguments as JSON. Arguments that are not a JSON object are a string here.
    pub written_input: Json,
    /// The index of its tool in the configuration; `None` for an unknown tool.
    pub tool: Option<usize>,
    /// The changed input with which the tool was called, without the fields that bindings fill.
    pub updated_input: Option<Json>,
    /// The model reads that input next to the result.
    pub tells_update: bool,
    pub read_only: bool,
    /// The number of characters of the result that the model is shown.
    pub max_result_chars: u32,
    /// The tool wants the run to end after this round.
    pub terminates: bool,
    /// The error in your words.
    pub worded: Option<String>,
    /// The call is the structured answer. No tool of yours is called.
    pub is_answer: bool,
    /// Your code has said that it may run, although a part of the journal is lost.
    pub is_vouched: bool,
    /// The result that is shown of a call that this process leaves as it is in the journal.
    pub shown: Option<ToolReturn>,
}

impl Call {
    /// The provider's id.
    pub fn id(&self) -> &str {
        &self.kept.tool_call_id
    }

    pub fn name(&self) -> &str {
        &self.kept.tool_name
    }

    /// The input that the tool gets.
    pub fn input(&self) -> &Json {
        self.kept.input.as_ref().unwrap_or(&self.written_input)
    }

    pub fn set_input(&mut self, input: Json) {
        self.kept.input = (input != self.written_input).then_some(input);
    }

    pub fn traits(&self) -> Traits<'_> {
        Traits {
            read_only: self.read_only,
            resource_key: self.kept.resource_key.as_deref(),
        }
    }

    pub fn facts(&self) -> CallFacts<'_> {
        CallFacts {
            tool_call_id: self.id(),
            tool_name: self.name(),
            input: Some(self.input()),
            ..CallFacts::default()
        }
    }

    /// Returns true if the call may start in a run that has lost a part of its journal.
    pub fn is_vouched_for(&self) -> bool {
        // A tool continues from its checkpoint.
        self.is_vouched || self.kept.checkpoint.is_some()
    }

    pub fn waits_for(&self, earlier: &Call, mode: ToolExecution) -> bool {
        !earlier.is_done()
            && (schedule::conflict(mode, earlier.traits(), self.traits())
                // The keys of the two may turn out to be equal.
                || (self.kept.resource_key.is_some() && earlier.has_open_key()))
    }

    /// Returns true if your code has not named the call's resource yet.
    fn has_open_key(&self) -> bool {
        matches!(self.waits, Some(Wait::Preparation { .. }))
    }

    /// How long the call has taken so far, in milliseconds.
    pub fn duration_ms(&self, now_ms: u64) -> u64 {
        match (&self.kept.status, &self.waits) {
            (CallStatus::Returned { duration_ms, .. } | CallStatus::Done { duration_ms, .. }, _) => {
                *duration_ms
            }
            (_, Some(Wait::Result { started_ms })) => now_ms.saturating_sub(*started_ms),
            _ => 0,
        }
    }

    /// The effect of a call with a running function.
    pub fn running(&self) -> Option<EffectId> {
        match (&self.kept.status, &self.waits) {
            (CallStatus::Started { effect }, Some(Wait::Result { .. })) => Some(*effect),
            _ => None,
        }
    }

    pub fn is_done(&self) -> bool {
        self.shown.is_some() || matches!(self.kept.status, CallStatus::Done { .. })
    }

    /// Returns true if it is not decided whether the call may run, and no question about it is open.
    pub fn is_to_judge(&self) -> bool {
        self.waits.is_none() && self.kept.awaits_judgement()
    }

    /// Returns true if the call may run as soon as no call before it is in its way.
    pub fn is_queued(&self) -> bool {
        self.waits.is_none() && self.kept.status == CallStatus::Cleared
    }

    /// The effect of a call that runs or waits for the save of its start.
    pub fn under_way(&self) -> Option<EffectId> {
        match (&self.kept.status, &self.waits) {
            (CallStatus::Started { effect }, Some(Wait::Save(_) | Wait::Result { .. })) => Some(*effect),
            _ => None,
        }
    }

    /// Returns true if the call has started in this process or another.
    pub fn has_started(&self) -> bool {
        use CallStatus::{Done, Returned, Started};
        matches!(self.kept.status, Started { .. } | Returned { .. } | Done { .. })
    }

    /// Takes the state that the call had in another process. The facts of this process are added.
    pub fn restore(&mut self, state: CallState) {
        let listed = std::mem::replace(&mut self.kept, state);
        let kept = &mut self.kept;
        (kept.index, kept.tool_name) = (listed.index, listed.tool_name);
        kept.input = kept.input.take().or(listed.input);
        kept.needs_approval |= listed.needs_approval;
        kept.leads_elsewhere |= listed.leads_elsewhere;
        kept.resource_key = kept.resource_key.take().or(listed.resource_key);
        self.waits = None;
    }

    /// Shows the result of the call, and leaves the call in the journal as it was.
    pub fn leave_at(&mut self, kept: CallState) {
        let before = std::mem::replace(&mut self.kept, kept);
        if let CallStatus::Done { result, .. } = before.status
            && !matches!(self.kept.status, CallStatus::Done { .. })
        {
            self.shown = Some(result);
        }
    }

    /// The record of the call. `is_over` means that the run has ended, so a call that has not ended never ran.
    pub fn record(&self, is_over: bool) -> ToolCallRecord {
        let (output, is_error, duration_ms) = match self.brought() {
            Some(result) => (
                Some(result.output()),
                matches!(result, ToolReturn::Fault(_)),
                self.duration_ms(0),
            ),
            None if is_over => (Some(ToolFault::not_run().to_json()), true, 0),
            None => (None, false, 0),
        };
        ToolCallRecord {
            tool_call_id: self.id().to_owned(),
            tool_name: self.name().to_owned(),
            input: self.written_input.clone(),
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
        match &self.kept.status {
            CallStatus::Done { result, .. } | CallStatus::Returned { result, .. } => Some(result),
            _ => self.shown.as_ref(),
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
        // A separate block, so that programs can still parse the result.
        if let Some(input) = self.updated_input.as_ref().filter(|_| self.tells_update) {
            let input = input.as_str();
            let shown = result_cap::cut(input, most).unwrap_or_else(|| input.to_owned());
            content.push(Block::text(format!("{INPUT_CHANGED}{shown}")));
        }
        Block::ToolResult {
            call_id: self.id().to_owned(),
            content,
            is_error,
            pending: None,
        }
    }

    /// The block of a call of a run that continues: its result, or its progress. `asking` are the calls of agents
    /// below which the user has been asked.
    pub fn block_so_far(&self, asking: &[EffectId]) -> Block {
        if self.brought().is_some() {
            return self.result_block();
        }
        let (pending, words) = match self.begun() {
            _ if self.kept.awaits_person() => (PendingCall::Waiting, WAITS),
            Some(effect) if asking.contains(&effect) => (PendingCall::Waiting, WAITS),
            Some(_) => (PendingCall::Running, RUNS),
            None => (PendingCall::Queued, STANDS_BY),
        };
        Block::ToolResult {
            call_id: self.id().to_owned(),
            content: vec![Block::text(words)],
            is_error: false,
            pending: Some(pending),
        }
    }

    /// The effect of a call that has started and has no result.
    pub fn begun(&self) -> Option<EffectId> {
        match self.kept.status {
            CallStatus::Started { effect } => Some(effect),
            _ => None,
        }
    }
}

const WAITS: &str = "The call waits for the user's answer.";
const RUNS: &str = "The call is running.";
const STANDS_BY: &str = "The call has not started.";

/// The text before a changed input, for the model.
const INPUT_CHANGED: &str = "The input was changed before the tool ran: ";

/// The input as JSON. Arguments that are not a JSON object become a string.
pub fn written_json(input: &ToolInput) -> Json {
    match input {
        ToolInput::Json(json) => json.clone(),
        ToolInput::Invalid(text) => Json::string(text),
    }
}
