//! The tool calls of one answer, from the text of the model to the results in request order.
//!
//! [`ToolBatch`] owns the calls and their phases. It opens no effects and asks nobody: the other files of this folder
//! do, and set the phase of each call through [`ToolBatch::set_phase`].

use std::ops::Range;

use looplet_scan::reader::string;
use serde::{Deserialize, Serialize};

use crate::engine::json::writer::push_value;
use crate::engine::model::config::ToolExecution;
use crate::engine::model::config::permission::Reading;
use crate::engine::model::event::ToolFault;
use crate::engine::model::hook::Gate;
use crate::engine::model::input::ToolReturn;
use crate::engine::model::message::{Block, Json, ToolInput};
use crate::engine::model::outcome::ToolCallRecord;
use crate::engine::model::output::EffectId;
use crate::engine::model::question::CallFacts;
use crate::engine::policy::result_cap;
use crate::engine::policy::schedule::{self, Traits};

/// The state of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CallPhase {
    /// Your code prepares the call before anything else happens to it.
    Unprepared,
    /// Your code was asked to prepare it.
    Preparing,
    /// Its input is valid, and nobody has judged yet whether it may run.
    Checked,
    /// Hooks or a guardrail were asked about it.
    Hooking,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id.
    pub id: String,
    pub name: String,
    /// The index of its tool in the configuration; `None` for an unknown tool.
    pub tool: Option<usize>,
    /// The arguments as the model wrote them. They go into the history.
    pub written: ToolInput,
    /// The input that the tool gets.
    pub input: Json,
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
    pub phase: CallPhase,
}

/// All calls of one answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolBatch {
    pub calls: Vec<Call>,
    /// The number of parts of a streaming answer that have been looked at, to start their calls early.
    pub parts_seen: usize,
    /// No further call of the answer starts early.
    pub is_closed: bool,
    /// The answer has come to its end.
    pub is_whole: bool,
    /// The ids of the calls that have been read.
    pub ids: CallIds,
    /// The number of calls of each limited tool in the run, this batch included.
    pub counts: Vec<(String, u64)>,
    // An answer may have thousands of calls, so each input searches only between these indexes.
    /// All calls before this index are done.
    first_open: usize,
    /// No call before this index is still to be judged.
    unjudged: usize,
    /// No call before this index waits to be started.
    queued: usize,
    /// No call from this index on has been started.
    started: usize,
    /// Texts of the calls, as the platform reads them.
    pub readings: Vec<Reading>,
}

/// The ids of an answer's calls, as hashes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallIds {
    /// Sorted, because an answer may have thousands of calls.
    hashes: Vec<u64>,
}

impl CallIds {
    /// Adds an id. Returns false if it is there already.
    pub fn admit(&mut self, id: &str) -> bool {
        // FNV-1a. If two different ids ever share a hash, the later call gets a new id, and nothing is lost.
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for byte in id.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        match self.hashes.binary_search(&hash) {
            Ok(_) => false,
            Err(at) => {
                self.hashes.insert(at, hash);
                true
            }
        }
    }
}

impl ToolBatch {
    pub fn is_done(&self) -> bool {
        self.calls.iter().skip(self.first_open).all(Call::is_done)
    }

    /// The calls that your code is told of.
    pub fn told(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| !call.is_answer)
    }

    /// The number of calls of a tool, with those of earlier rounds.
    pub fn count(&mut self, name: &str, earlier: &[ToolCallRecord]) -> u64 {
        if let Some((_, count)) = self.counts.iter().find(|(tool, _)| tool == name) {
            return *count;
        }
        let records = earlier.iter().filter(|record| record.tool_name == name).count();
        let here = self.calls.iter().filter(|call| call.name == name).count();
        let count = (records + here) as u64;
        self.counts.push((name.to_owned(), count));
        count
    }

    /// Counts a call that was added to the batch.
    pub fn note_call(&mut self, name: &str) {
        if let Some((_, count)) = self.counts.iter_mut().find(|(tool, _)| tool == name) {
            *count += 1;
        }
    }

    /// Changes the phase of a call. Changes that make a call ready for a next step must go through here.
    pub fn set_phase(&mut self, index: usize, phase: CallPhase) {
        match phase {
            CallPhase::Checked => self.unjudged = self.unjudged.min(index),
            CallPhase::Queued => self.queued = self.queued.min(index),
            CallPhase::AwaitingSave { .. } | CallPhase::Running { .. } => {
                self.started = self.started.max(index + 1);
            }
            _ => {}
        }
        if let Some(call) = self.calls.get_mut(index) {
            call.phase = phase;
        }
    }

    /// The range that holds all calls that are still to be judged.
    pub fn to_judge(&self) -> Range<usize> {
        self.unjudged..self.calls.len()
    }

    /// Notes that all calls were judged, except those that still wait for it.
    pub fn note_judged(&mut self) {
        let is_left = |call: &Call| call.phase == CallPhase::Checked;
        let rest = self.calls.iter().skip(self.unjudged);
        self.unjudged += rest.take_while(|call| !is_left(call)).count();
    }

    /// The range that holds all calls that run or wait for their save.
    pub fn under_way(&self) -> Range<usize> {
        self.first_open..self.started
    }

    /// The index of the first queued call that may start, by the mode and the number of calls that may run at once.
    pub fn next_to_start(&mut self, mode: ToolExecution, max_concurrency: u32) -> Option<usize> {
        let done = self.calls.iter().skip(self.first_open);
        self.first_open += done.take_while(|call| call.is_done()).count();
        let is_busy = |call: &&Call| {
            matches!(
                call.phase,
                CallPhase::Running { .. } | CallPhase::AwaitingSave { .. }
            )
        };
        let busy = self.calls.get(self.under_way()).unwrap_or_default();
        if busy.iter().filter(is_busy).count() >= max_concurrency as usize {
            return None;
        }
        let rest = self.calls.iter().skip(self.queued);
        self.queued += rest.take_while(|call| call.phase != CallPhase::Queued).count();
        for (index, call) in self.calls.iter().enumerate().skip(self.queued) {
            if call.phase != CallPhase::Queued {
                continue;
            }
            let before = self.calls.get(self.first_open..index).unwrap_or_default();
            let Some(blocker) = before.iter().find(|earlier| call.waits_for(earlier, mode)) else {
                return Some(index);
            };
            // Every later call waits too.
            if schedule::is_barrier(mode, blocker.traits()) || schedule::is_barrier(mode, call.traits()) {
                return None;
            }
        }
        None
    }

    /// The index of the running call of this effect.
    pub fn index_of(&self, wanted: EffectId) -> Option<usize> {
        let is_it = |call: &Call| matches!(call.phase, CallPhase::Running { effect, .. } if effect == wanted);
        let under_way = self.under_way();
        let at = self.calls.get(under_way.clone())?.iter().position(is_it)?;
        Some(under_way.start + at)
    }

    /// The result blocks in request order. A call that is not done gets a result that says so.
    pub fn results(&self) -> Vec<Block> {
        self.calls.iter().map(Call::result_block).collect()
    }
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

    fn waits_for(&self, earlier: &Call, mode: ToolExecution) -> bool {
        !earlier.is_done()
            && (schedule::conflict(mode, earlier.traits(), self.traits())
                // The keys of the two may turn out to be equal.
                || (self.resource_key.is_some() && earlier.has_open_key()))
    }

    /// Returns true if your code has not said yet which resource the call works on.
    fn has_open_key(&self) -> bool {
        matches!(self.phase, CallPhase::Unprepared | CallPhase::Preparing)
    }

    pub fn is_done(&self) -> bool {
        matches!(self.phase, CallPhase::Done { .. })
    }

    /// The record of the call. `is_over` says that the run has ended, so that a call that is not done never ran.
    pub fn record(&self, is_over: bool) -> ToolCallRecord {
        let (output, is_error, duration_ms) = match &self.phase {
            CallPhase::Done { result, duration_ms } | CallPhase::Returned { result, duration_ms } => (
                Some(output_of(result)),
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
                value.as_str().len() > most && result_cap::cut(&shown(value), most).is_some()
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

    fn result_block(&self) -> Block {
        let most = self.max_result_chars as usize;
        let mut is_error = false;
        let content = match self.brought() {
            Some(ToolReturn::Content(content)) => {
                result_cap::cut_blocks(content, most).unwrap_or_else(|| content.clone())
            }
            Some(ToolReturn::Value(value)) => {
                let text = shown(value);
                vec![Block::text(result_cap::cut(&text, most).unwrap_or(text))]
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
        Block::ToolResult {
            call_id: self.id.clone(),
            content,
            is_error,
        }
    }
}

/// The tool's return value, as the result and the events show it.
pub fn output_of(result: &ToolReturn) -> Json {
    match result {
        ToolReturn::Value(value) => value.clone(),
        ToolReturn::Content(content) => {
            let mut json = Vec::new();
            push_value(&mut json, content);
            Json::from_valid(&String::from_utf8(json).unwrap_or_default())
        }
        ToolReturn::Fault(fault) => fault.to_json(),
        ToolReturn::Last(result) => output_of(result),
    }
}

/// The input as JSON. Arguments that are not a JSON object become a string.
pub fn written_json(input: &ToolInput) -> Json {
    match input {
        ToolInput::Json(json) => json.clone(),
        ToolInput::Invalid(text) => Json::string(text),
    }
}

/// The text that the model is shown: a string as it is, any other value as JSON.
fn shown(value: &Json) -> String {
    string(value.as_str()).map_or_else(|| value.as_str().to_owned(), |text| text.into_owned())
}
