//! The tool calls of one answer, from what the model wrote to the results in request order.
//!
//! Owns the calls and their phases; never talks to the outside: the agent opens effects and tells what came of them.

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

/// Where a call stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CallPhase {
    /// The host wants to see it before anything else.
    Unprepared,
    /// The host was asked to prepare it.
    Preparing,
    /// Nothing is wrong with its input; whether it may run has not been judged.
    Checked,
    /// Hooks or a guardrail were asked about it.
    Hooking,
    /// Hooks were asked whether it may run, before a person is.
    Contested {
        reason: String,
    },
    /// It was denied, in the words of who did or for a reason of ours: hooks hear of it.
    Refused {
        message: Option<String>,
        reason: String,
    },
    /// A person or a function was asked whether it may run.
    AwaitingAnswer,
    /// May run as soon as nothing before it is in its way.
    Queued,
    /// Starts when the save of its start is confirmed.
    AwaitingSave {
        effect: EffectId,
        save: Option<EffectId>,
    },
    Running {
        effect: EffectId,
        started_ms: u64,
    },
    /// Hooks were asked about what it came back with.
    Returned {
        result: ToolReturn,
        duration_ms: u64,
    },
    Done {
        result: ToolReturn,
        duration_ms: u64,
    },
}

/// One call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id.
    pub id: String,
    pub name: String,
    /// What the model wrote; what goes into the history.
    pub written: ToolInput,
    /// What the tool gets.
    pub input: Json,
    pub read_only: bool,
    pub replay_once: bool,
    pub resource_key: Option<String>,
    pub timeout_ms: Option<u64>,
    /// The tool, or what the host said when it prepared the call, wants an approval.
    pub needs_approval: bool,
    pub gate: Gate,
    /// Characters of the result that the model is shown.
    pub max_result_chars: u32,
    /// Its tool wants the run to end after this round.
    pub terminates: bool,
    /// The error in the host's words.
    pub worded: Option<String>,
    /// It gives the answer that is owed: no call of the host's.
    pub is_answer: bool,
    pub phase: CallPhase,
}

/// All calls of one answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolBatch {
    pub calls: Vec<Call>,
    /// While the answer streams: how many of its parts have been looked at, to start their calls early.
    pub parts_seen: usize,
    /// No further call of the answer starts early.
    pub is_closed: bool,
    /// The answer has come to its end.
    pub is_whole: bool,
    /// Of the calls that have been read.
    pub ids: CallIds,
    /// How often each limited tool was called in the run, this batch included.
    pub counts: Vec<(String, u64)>,
    // An answer may have thousands of calls: what is looked for behind each input lies between these.
    /// All calls before it are done.
    first_open: usize,
    /// No call before it is to be judged.
    unjudged: usize,
    /// No call before it waits to be started.
    queued: usize,
    /// No call from here on has been started.
    started: usize,
    /// Texts of the calls, as the platform reads them.
    pub readings: Vec<Reading>,
}

/// The ids of an answer's calls: there are answers with thousands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallIds {
    /// Sorted.
    hashes: Vec<u64>,
}

impl CallIds {
    /// False for an id that is there already.
    pub fn admit(&mut self, id: &str) -> bool {
        // FNV-1a. Should two different ids ever have one hash, the later call gets a new id, which is as good.
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

    /// The calls that the host is told of.
    pub fn told(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| !call.is_answer)
    }

    /// How often a tool was called, now that the calls of earlier rounds are known.
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

    /// A call that counts has been taken into the batch.
    pub fn note_call(&mut self, name: &str) {
        if let Some((_, count)) = self.counts.iter_mut().find(|(tool, _)| tool == name) {
            *count += 1;
        }
    }

    /// Every change to a phase in which something is to be done with the call goes through here.
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

    /// The calls among which those are that have to be judged.
    pub fn to_judge(&self) -> Range<usize> {
        self.unjudged..self.calls.len()
    }

    /// They have been judged, but those that still wait for it.
    pub fn note_judged(&mut self) {
        let is_left = |call: &Call| call.phase == CallPhase::Checked;
        let rest = self.calls.iter().skip(self.unjudged);
        self.unjudged += rest.take_while(|call| !is_left(call)).count();
    }

    /// The calls among which those are that run or wait for their save.
    pub fn under_way(&self) -> Range<usize> {
        self.first_open..self.started
    }

    /// Index of the first queued call that may start, given the mode and how many may run at once.
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
            // Everything behind it waits too.
            if schedule::is_barrier(mode, blocker.traits()) || schedule::is_barrier(mode, call.traits()) {
                return None;
            }
        }
        None
    }

    /// The running call of this effect.
    pub fn index_of(&self, wanted: EffectId) -> Option<usize> {
        let is_it = |call: &Call| matches!(call.phase, CallPhase::Running { effect, .. } if effect == wanted);
        let under_way = self.under_way();
        let at = self.calls.get(under_way.clone())?.iter().position(is_it)?;
        Some(under_way.start + at)
    }

    /// Result blocks in request order; calls that are not done get a result that says so.
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
                // Its key may turn out to be the same.
                || (self.resource_key.is_some() && earlier.has_open_key()))
    }

    /// The host has not said yet which resource it works on.
    fn has_open_key(&self) -> bool {
        matches!(self.phase, CallPhase::Unprepared | CallPhase::Preparing)
    }

    pub fn is_done(&self) -> bool {
        matches!(self.phase, CallPhase::Done { .. })
    }

    /// `is_over`: the run has ended, so a call that is not done never ran.
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

    /// The fault that the call came to.
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

    /// More than the model is shown of it.
    pub fn is_cut(&self, result: &ToolReturn) -> bool {
        let most = self.max_result_chars as usize;
        match result {
            ToolReturn::Content(content) => result_cap::cut_blocks(content, most).is_some(),
            // No text is longer than its JSON.
            ToolReturn::Value(value) => {
                value.as_str().len() > most && result_cap::cut(&shown(value), most).is_some()
            }
            ToolReturn::Fault(fault) => result_cap::cut(&fault.message, most).is_some(),
            ToolReturn::Last(result) => self.is_cut(result),
        }
    }

    /// The fault with as much of its message as the model may see.
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

/// What the result and the events say that a tool returned.
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

/// The input as JSON: a string where the model wrote no object.
pub fn written_json(input: &ToolInput) -> Json {
    match input {
        ToolInput::Json(json) => json.clone(),
        ToolInput::Invalid(text) => Json::string(text),
    }
}

/// A string is shown to the model as it is, anything else as its JSON text.
fn shown(value: &Json) -> String {
    string(value.as_str()).map_or_else(|| value.as_str().to_owned(), |text| text.into_owned())
}
