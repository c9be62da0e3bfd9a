//! Tool calls in the journal, and their restoration in another process.
//!
//! [`Calls::state`] shows how far the calls of an answer have come. [`Calls::take_restored`] lists the calls of a
//! restored answer again: a finished call keeps its result, and a call that had not begun is judged by the options of
//! today. A call that had begun runs again if that is safe, or from a checkpoint that its tool has left. Else your
//! code is asked what became of it (`Point::Reconcile`), because nobody else knows, and so it is about a call of
//! another version of its tool. The question stays open until it is answered.

use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::calls::call::{Call, CallPhase};
use crate::engine::agent::calls::check::texts_to_read;
use crate::engine::agent::calls::run::updated_input;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::calls::{Calls, Next, fault};
use crate::engine::agent::desk::Desk;
use crate::engine::json::repair::parse_arguments;
use crate::engine::model::input::{Reconciled, ToolReturn};
use crate::engine::model::journal::{CallState, CallStatus};
use crate::engine::model::message::{Block, Message, ToolInput};
use crate::engine::model::output::{EffectId, EffectKind};
use crate::engine::model::question::{CallFacts, Facts, Point};

/// The calls of an answer, read from its message. `cut_off` names the calls that the output limit has cut off.
pub fn calls_of(message: &Message, cut_off: &[String], desk: &Desk<'_>) -> Vec<WrittenCall> {
    let call = |block: &Block| match block {
        Block::ToolCall { id, name, input, .. } => {
            let (name, tool) = desk.called(name);
            Some(WrittenCall {
                id: id.clone(),
                name,
                tool,
                problem: match input {
                    ToolInput::Invalid(text) => parse_arguments(text).err().map(|error| error.describe()),
                    ToolInput::Json(_) => None,
                },
                input: input.clone(),
                repaired_by: None,
                is_cut_off: cut_off.contains(id),
            })
        }
        _ => None,
    };
    message.content.iter().filter_map(call).collect()
}

/// The calls of an answer that have marks when they are restored. An index in a journal may be any number, and asks
/// for no more memory than this many marks take, 1 MB. A call without a mark has its state written once more.
const MAX_MARKS: usize = 65_536;

/// A call's state in short: two states with equal marks are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// How far the call has come.
    rank: u8,
    question: Option<EffectId>,
    /// See [`Call::changes`].
    changes: u32,
}

impl Mark {
    fn of_call(call: &Call) -> Mark {
        let rank = match call.phase {
            CallPhase::Unprepared | CallPhase::Preparing | CallPhase::Hooking => 0,
            CallPhase::Checked | CallPhase::Contested { .. } => u8::from(!call.gate.is_unasked()),
            CallPhase::AwaitingAnswer => 2,
            CallPhase::Refused { .. } => 3,
            CallPhase::Guarding => 4,
            CallPhase::Queued | CallPhase::Reconciling { effect: None } => 5,
            CallPhase::AwaitingSave { .. }
            | CallPhase::Running { .. }
            | CallPhase::Reconciling { effect: Some(_) } => 6,
            CallPhase::Returned { .. } => 7,
            CallPhase::Done { .. } => 8,
        };
        Mark {
            rank,
            question: call.question,
            changes: call.changes,
        }
    }

    /// The marks of all calls up to the last one with a state. Calls behind [`MAX_MARKS`] have none.
    pub fn of_states(states: &[CallState]) -> Vec<Mark> {
        let mut marks = Vec::new();
        for state in states.iter().take_while(|state| state.index < MAX_MARKS) {
            marks.resize(state.index, Mark::default());
            marks.push(Mark::of_state(state));
        }
        marks
    }

    fn of_state(state: &CallState) -> Mark {
        let rank = match state.status {
            CallStatus::Passed => 1,
            CallStatus::Asked => 2,
            CallStatus::Refused { .. } => 3,
            CallStatus::Allowed => 4,
            CallStatus::Cleared => 5,
            CallStatus::Started { .. } => 6,
            CallStatus::Returned { .. } => 7,
            CallStatus::Done { .. } => 8,
        };
        Mark {
            rank,
            question: state.question,
            changes: 0,
        }
    }
}

impl Calls {
    /// A mark for each call. The calls of an answer that still streams have none: they can be taken back.
    pub fn marks(&self) -> Vec<Mark> {
        if !self.batch.is_whole {
            return Mark::of_states(&self.restored);
        }
        self.batch.calls.iter().map(Mark::of_call).collect()
    }

    /// The state of a call, if it has one that the journal has not.
    pub fn state(&self, index: usize) -> Option<CallState> {
        let call = self.batch.calls.get(index).filter(|call| call.kept.is_none())?;
        let status = match &call.phase {
            CallPhase::Unprepared | CallPhase::Preparing | CallPhase::Hooking => return None,
            CallPhase::Checked | CallPhase::Contested { .. } if call.gate.is_unasked() => return None,
            CallPhase::Checked | CallPhase::Contested { .. } => CallStatus::Passed,
            CallPhase::AwaitingAnswer => CallStatus::Asked,
            CallPhase::Refused { message, reason } => CallStatus::Refused {
                message: message.clone(),
                reason: reason.clone(),
            },
            CallPhase::Guarding => CallStatus::Allowed,
            CallPhase::Queued | CallPhase::Reconciling { effect: None } => CallStatus::Cleared,
            CallPhase::AwaitingSave { effect, .. }
            | CallPhase::Running { effect, .. }
            | CallPhase::Reconciling { effect: Some(effect) } => CallStatus::Started { effect: *effect },
            CallPhase::Returned { result, duration_ms } => CallStatus::Returned {
                result: result.clone(),
                duration_ms: *duration_ms,
                terminates: call.terminates,
            },
            CallPhase::Done { result, duration_ms } => CallStatus::Done {
                result: result.clone(),
                duration_ms: *duration_ms,
                terminates: call.terminates,
            },
        };
        let is_changed = |input: &ToolInput| !matches!(input, ToolInput::Json(json) if *json == call.input);
        Some(CallState {
            index,
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            status,
            version: call.version.clone(),
            input: is_changed(&call.written).then(|| call.input.clone()),
            // The input of a call that never ran was not changed for anybody.
            unchanged: (call.updated_input.is_some() || !call.is_done())
                .then(|| call.unchanged.clone())
                .flatten(),
            gate: call.gate.clone(),
            needs_approval: call.needs_approval,
            resource_key: call.resource_key.clone(),
            question: call.question,
            checkpoint: call.checkpoint.clone().filter(|_| !call.is_done()),
            elicitations: call.elicitations.clone(),
        })
    }

    /// Lists the calls of a restored answer. Calls without a state are listed as those of a new answer are.
    pub fn take_restored(&mut self, desk: &mut Desk<'_>, written: Vec<WrittenCall>) {
        let mut states = std::mem::take(&mut self.restored);
        self.batch.is_whole = true;
        for (index, call) in written.into_iter().enumerate() {
            let at = states.iter().position(|state| state.tool_call_id == call.id);
            let state = at.map(|at| states.remove(at));
            let is_other = |state: &CallState| state.version.as_ref() != version_of(call.tool, desk);
            // A call of another version is judged anew, if nobody has judged it.
            let state =
                state.filter(|state| call.tool.is_none() || !state.awaits_judgement() || !is_other(state));
            let is_done = matches!(&state, Some(state) if matches!(state.status, CallStatus::Done { .. }));
            let is_gone = call.tool.is_none() && state.as_ref().is_some_and(|_| !is_done);
            let problem = match state {
                None => self.problem_of(&call, desk),
                Some(_) => None,
            };
            self.list(desk, call);
            if let Some(problem) = problem {
                self.fail(desk, index, problem);
            }
            if let Some(state) = state {
                self.restore(desk, index, state, is_gone);
            }
        }
        if !states.is_empty() {
            let ids: Vec<&str> = states.iter().map(|state| state.tool_call_id.as_str()).collect();
            desk.warn("journal_torn", format!("{NO_SUCH_CALLS}{}", ids.join(", ")));
        }
    }

    /// Lists the calls of a restored answer and takes no step with them. If the run does not go on, the result of a
    /// call that had begun says that nobody knows its outcome. The journal keeps the calls as they were: whoever
    /// takes the run up again is asked about them.
    pub fn recall(&mut self, desk: &mut Desk<'_>, written: Vec<WrittenCall>, goes_on: bool) {
        let states = std::mem::take(&mut self.restored);
        self.batch.is_whole = true;
        for (index, call) in written.into_iter().enumerate() {
            let state = states.iter().find(|state| state.tool_call_id == call.id);
            self.list(desk, call);
            let (Some(state), Some(call)) = (state, self.batch.calls.get_mut(index)) else {
                continue;
            };
            if goes_on {
                call.question = state.question;
                call.elicitations.clone_from(&state.elicitations);
            }
            if !matches!(state.status, CallStatus::Done { .. }) {
                call.kept = Some(state.status.clone());
            }
            match &state.status {
                CallStatus::Done { result, .. } | CallStatus::Returned { result, .. } => {
                    self.finish(desk, index, result.clone());
                }
                CallStatus::Started { .. } if !goes_on => {
                    let hint = "Do not repeat the call as it is; ask the user.";
                    self.fail(desk, index, fault("interrupted", OUTCOME_UNKNOWN, hint));
                }
                _ => {}
            }
        }
    }

    fn restore(&mut self, desk: &mut Desk<'_>, index: usize, state: CallState, is_gone: bool) {
        let Some(call) = self.batch.calls.get_mut(index) else {
            return;
        };
        if let Some(input) = state.input {
            call.input = input;
        }
        call.unchanged = state.unchanged;
        call.gate = state.gate;
        call.needs_approval |= state.needs_approval;
        call.resource_key = state.resource_key.or(call.resource_key.take());
        call.question = state.question;
        call.checkpoint = state.checkpoint;
        call.elicitations = state.elicitations;
        call.version = state.version;
        let is_other = call.version.as_ref() != version_of(call.tool, desk);
        let can_go_on = call.checkpoint.is_some();
        let tool = desk.tool(call.tool);
        let has_started = matches!(
            state.status,
            CallStatus::Started { .. } | CallStatus::Returned { .. } | CallStatus::Done { .. }
        );
        if has_started {
            call.updated_input = updated_input(call, desk);
        }
        // Only another process can have begun a call that this one does not know, and that call has a question.
        let is_unasked = state.question.is_none();
        match state.status {
            CallStatus::Done {
                result,
                duration_ms,
                terminates,
            } => {
                call.terminates = terminates;
                self.batch
                    .set_phase(index, CallPhase::Done { result, duration_ms });
            }
            CallStatus::Returned {
                result,
                duration_ms,
                terminates,
            } => {
                call.terminates = terminates;
                call.phase = CallPhase::Returned {
                    result: result.clone(),
                    duration_ms,
                };
                if !self.hook_result(desk, index, &result) {
                    self.finish(desk, index, result);
                }
            }
            _ if is_gone => self.ask_to_reconcile(desk, index, None, TOOL_GONE),
            CallStatus::Started { effect } if is_other => {
                self.ask_to_reconcile(desk, index, Some(effect), OUTCOME_UNKNOWN);
            }
            CallStatus::Allowed | CallStatus::Cleared if is_other => {
                self.ask_to_reconcile(desk, index, None, OTHER_VERSION);
            }
            status if !has_started => {
                if texts_to_read(call, desk).is_empty() {
                    self.go_on_from(desk, index, status);
                } else {
                    // The rules need these texts, and only the platform of this process reads them.
                    call.kept = Some(status);
                }
            }
            CallStatus::Started { effect } => {
                let is_agent = tool.is_some_and(|tool| tool.agent.is_some_and(|agent| !agent.calls_host));
                let at_work = desk.below.iter().any(|node| {
                    node.who
                        .parent
                        .as_ref()
                        .is_some_and(|parent| parent.call == effect)
                });
                if is_agent && at_work {
                    desk.ledger.reopen(effect, desk.who.agent, EffectKind::Subagent);
                    let started_ms = desk.ledger.now_ms;
                    self.batch
                        .set_phase(index, CallPhase::Running { effect, started_ms });
                } else if !is_agent && desk.ledger.claim(effect) == Some(true) {
                    self.keep_running(desk, index, effect);
                } else if is_agent
                    || can_go_on
                    || tool.is_some_and(|tool| !tool.runs_once())
                    || (is_unasked && desk.ledger.running.is_some())
                {
                    self.batch.set_phase(index, CallPhase::Queued);
                } else {
                    self.ask_to_reconcile(desk, index, Some(effect), OUTCOME_UNKNOWN);
                }
            }
            _ => {}
        }
    }

    /// Takes the step again at which a call was that had not started.
    pub(super) fn go_on_from(&mut self, desk: &mut Desk<'_>, index: usize, status: CallStatus) {
        match status {
            CallStatus::Refused { message, reason } => self.refuse(desk, index, message, reason),
            CallStatus::Allowed => self.admit(desk, index),
            CallStatus::Cleared if self.deny_by_rule(desk, index) => {}
            CallStatus::Cleared => self.batch.set_phase(index, CallPhase::Queued),
            // It is judged by the rules of now, and asked about under its old id.
            _ => self.batch.set_phase(index, CallPhase::Checked),
        }
    }

    /// Waits for a call that an instance before has started.
    fn keep_running(&mut self, desk: &mut Desk<'_>, index: usize, effect: EffectId) {
        desk.ledger.reopen(effect, desk.who.agent, EffectKind::Tool);
        let started_ms = desk.ledger.now_ms;
        let phase = CallPhase::Running { effect, started_ms };
        self.batch.set_phase(index, phase);
        self.watch(desk, index, effect);
    }

    /// Asks your code about a call whose outcome nobody knows, whose tool is gone, or that may have been made before.
    pub(super) fn ask_to_reconcile(
        &mut self,
        desk: &mut Desk<'_>,
        index: usize,
        started: Option<EffectId>,
        reason: &str,
    ) {
        let Some(call) = self.batch.calls.get_mut(index) else {
            return;
        };
        call.phase = CallPhase::Reconciling { effect: started };
        let version = version_of(call.tool, desk);
        let facts = Facts::call(CallFacts {
            reason: Some(reason),
            other_version: (call.version.as_ref() != version)
                .then(|| call.version.as_deref().unwrap_or_default()),
            is_torn: desk.ledger.is_torn.then_some(true),
            ..call.facts()
        });
        let ask = Ask {
            id: call.question,
            ..Ask::new(Point::Reconcile, About::Call(index), &facts)
        };
        call.question = Some(desk.ask(ask));
    }

    /// Takes the answer to the question what became of a call.
    pub fn take_reconciled(&mut self, desk: &mut Desk<'_>, about: &About, answer: Reconciled) -> Next {
        let &About::Call(index) = about else {
            return Next::Wait;
        };
        if let Some(call) = self.batch.calls.get_mut(index) {
            call.question = None;
            call.is_vouched = true;
            call.version = version_of(call.tool, desk).cloned();
        }
        match answer {
            Reconciled::Run => self.batch.set_phase(index, CallPhase::Queued),
            Reconciled::Done { output } => {
                let result = ToolReturn::Value(output);
                if !self.hook_result(desk, index, &result) {
                    self.finish(desk, index, result);
                }
            }
            Reconciled::Fail { message } => {
                let hint = "Do not repeat the call as it is; go on without it or ask the user.";
                self.fail(desk, index, fault("interrupted", message, hint));
            }
        }
        self.advance(desk)
    }
}

/// The version of a tool in this process, if it has one.
fn version_of<'a>(tool: Option<usize>, desk: &Desk<'a>) -> Option<&'a String> {
    desk.tool(tool)?.version.as_ref()
}

const OUTCOME_UNKNOWN: &str = "it had begun when the run was cut off, and it may have been done";
const OTHER_VERSION: &str = "its tool has another version than when the call was let through";
const TOOL_GONE: &str = "its tool is not there any more";
const NO_SUCH_CALLS: &str =
    "The journal has states of calls that the last answer does not have, and they do not count: ";
