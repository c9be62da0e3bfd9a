//! Tool calls in the journal, and their restoration in another process.
//!
//! [`Calls::to_note`] shows how far the calls of an answer have come. [`Calls::take_restored`] lists the calls of a
//! restored answer again: a finished call keeps its result, and a call that had not begun is judged by the options of
//! today. A call that had begun runs again if that is safe, or from a checkpoint that its tool has left. Else your
//! code is asked what became of it (`Point::Reconcile`), because nobody else knows, and so it is about a call of
//! another version of its tool. The question stays open until it is answered.

use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::calls::call::Wait;
use crate::engine::agent::calls::check::texts_to_read;
use crate::engine::agent::calls::run::updated_input;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::calls::{Calls, fault};
use crate::engine::agent::desk::Desk;
use crate::engine::agent::next::Next;
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
            let mut call = WrittenCall {
                id: id.clone(),
                name,
                tool,
                problem: match input {
                    ToolInput::Invalid(text) => parse_arguments(text).err().map(|error| error.describe()),
                    ToolInput::Json(_) => None,
                },
                input: input.clone(),
                wrapped: None,
                repaired_by: None,
                is_cut_off: cut_off.contains(id),
            };
            call.unwrap(desk);
            Some(call)
        }
        _ => None,
    };
    message.content.iter().filter_map(call).collect()
}

impl Calls {
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
            self.batch.list(desk, call, is_done);
            if let Some(problem) = problem {
                self.batch.fail(desk, index, problem);
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
            let is_done = state.is_some_and(|state| matches!(state.status, CallStatus::Done { .. }));
            self.batch.list(desk, call, is_done);
            let (Some(state), Some(call)) = (state, self.batch.get_mut(index)) else {
                continue;
            };
            call.kept = state.clone();
            match &state.status {
                CallStatus::Returned { result, .. } => self.batch.finish(desk, index, result.clone()),
                CallStatus::Started { .. } if !goes_on => {
                    let hint = "Do not repeat the call as it is; ask the user.";
                    self.batch
                        .fail(desk, index, fault("interrupted", OUTCOME_UNKNOWN, hint));
                }
                _ => {}
            }
            if let Some(call) = self.batch.get_mut(index) {
                call.leave_at(state.clone());
            }
        }
    }

    fn restore(&mut self, desk: &mut Desk<'_>, index: usize, state: CallState, is_gone: bool) {
        let Some(call) = self.batch.get_mut(index) else {
            return;
        };
        let listed = std::mem::replace(&mut call.kept, state.clone());
        call.kept.index = index;
        call.kept.tool_name = listed.tool_name;
        call.kept.input = call.kept.input.take().or(listed.input);
        call.kept.needs_approval |= listed.needs_approval;
        call.kept.leads_elsewhere |= listed.leads_elsewhere;
        call.kept.resource_key = call.kept.resource_key.take().or(listed.resource_key);
        call.waits = None;
        let is_other = state.version.as_ref() != version_of(call.tool, desk);
        let can_go_on = state.checkpoint.is_some();
        let tool = desk.tool(call.tool);
        let has_started = matches!(
            state.status,
            CallStatus::Started { .. } | CallStatus::Returned { .. } | CallStatus::Done { .. }
        );
        if has_started {
            call.updated_input = updated_input(call, desk);
        }
        let is_unasked = state.question.is_none();
        match state.status {
            CallStatus::Done { terminates, .. } => call.terminates = terminates,
            CallStatus::Returned {
                result, terminates, ..
            } => {
                call.terminates = terminates;
                if !self.hook_result(desk, index, &result) {
                    self.batch.finish(desk, index, result);
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
                    call.waits = Some(Wait::Preparation { is_asked: false });
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
                    self.batch.wait_for_result(desk, index, effect);
                } else if !is_agent && desk.ledger.claim(effect) == Some(true) {
                    self.keep_running(desk, index, effect);
                // This process has begun no call that `claim` does not know: another one has, if there is a question.
                } else if is_agent
                    || can_go_on
                    || tool.is_some_and(|tool| !tool.runs_once())
                    || (is_unasked && desk.ledger.running.is_some())
                {
                    self.batch.set(index, CallStatus::Cleared, None);
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
            CallStatus::Cleared => self.batch.set(index, CallStatus::Cleared, None),
            // It is judged by the rules of now, and asked about under its old id.
            _ => self.batch.set_to_judge(index),
        }
    }

    /// Waits for a call that an instance before has started.
    fn keep_running(&mut self, desk: &mut Desk<'_>, index: usize, effect: EffectId) {
        desk.ledger.reopen(effect, desk.who.agent, EffectKind::Tool);
        self.batch.wait_for_result(desk, index, effect);
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
        let Some(call) = self.batch.get_mut(index) else {
            return;
        };
        let version = version_of(call.tool, desk);
        let facts = Facts::call(CallFacts {
            reason: Some(reason),
            other_version: (call.kept.version.as_ref() != version)
                .then(|| call.kept.version.as_deref().unwrap_or_default()),
            is_torn: desk.ledger.is_torn.then_some(true),
            ..call.facts()
        });
        let ask = Ask {
            id: call.kept.question,
            ..Ask::new(Point::Reconcile, About::Call(index), &facts)
        };
        call.kept.question = Some(desk.ask(ask));
        let status = started.map_or(CallStatus::Cleared, |effect| CallStatus::Started { effect });
        self.batch.set(index, status, Some(Wait::Reconciliation));
    }

    /// Takes the answer to the question what became of a call.
    pub fn take_reconciled(&mut self, desk: &mut Desk<'_>, about: &About, answer: Reconciled) -> Next {
        let &About::Call(index) = about else {
            return Next::Wait;
        };
        if let Some(call) = self.batch.get_mut(index) {
            call.kept.question = None;
            call.is_vouched = true;
            call.kept.version = version_of(call.tool, desk).cloned();
        }
        match answer {
            Reconciled::Run => self.batch.set(index, CallStatus::Cleared, None),
            Reconciled::Done { output } => {
                let result = ToolReturn::Value(output);
                if !self.hook_result(desk, index, &result) {
                    self.batch.finish(desk, index, result);
                }
            }
            Reconciled::Fail { message } => {
                let hint = "Do not repeat the call as it is; go on without it or ask the user.";
                self.batch.fail(desk, index, fault("interrupted", message, hint));
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
