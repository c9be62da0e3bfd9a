//! The restoration of tool calls in another process.
//!
//! [`Calls::take_restored`] lists the calls of a restored answer again. A finished call has its result. A call that
//! had not started is checked with the options of this process. A call that had started runs again if that is safe,
//! or from a checkpoint that its tool has saved. Otherwise your code is asked what happened to it. It is also asked
//! about a call of another version of its tool.

use crate::engine::agent::calls::approvals::version_of;
use crate::engine::agent::calls::call::Wait;
use crate::engine::agent::calls::rules::texts_to_read;
use crate::engine::agent::calls::schedule::updated_input;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::calls::{Calls, fault};
use crate::engine::agent::context::AgentContext;
use crate::engine::json::repair::parse_arguments;
use crate::engine::ledger::spawn::Parent;
use crate::engine::model::journal::{CallState, CallStatus};
use crate::engine::model::message::{Block, Message, ToolInput};
use crate::engine::model::output::{EffectId, EffectKind};

/// The calls of an answer, read from its message. `cut_off` names the calls that the output limit has interrupted.
pub fn calls_of(message: &Message, cut_off: &[String], ctx: &AgentContext<'_>) -> Vec<WrittenCall> {
    let call = |block: &Block| match block {
        Block::ToolCall { id, name, input, .. } => {
            let (name, tool) = ctx.called(name);
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
            call.unpack(ctx);
            Some(call)
        }
        _ => None,
    };
    message.content.iter().filter_map(call).collect()
}

impl Calls {
    /// Lists the calls of a restored answer. Calls without a state are listed as those of a new answer are.
    pub fn take_restored(&mut self, ctx: &mut AgentContext<'_>, written: Vec<WrittenCall>) {
        let mut states = std::mem::take(&mut self.restored);
        self.batch.is_whole = true;
        for (index, call) in written.into_iter().enumerate() {
            let at = states.iter().position(|state| state.tool_call_id == call.id);
            let state = at.map(|at| states.remove(at));
            let is_other = |state: &CallState| state.version.as_ref() != version_of(call.tool, ctx);
            // A call of another version is judged again, if it has not been judged.
            let state =
                state.filter(|state| call.tool.is_none() || !state.awaits_judgement() || !is_other(state));
            let is_done = matches!(&state, Some(state) if matches!(state.status, CallStatus::Done { .. }));
            let is_gone = call.tool.is_none() && state.as_ref().is_some_and(|_| !is_done);
            let problem = match state {
                None => self.problem_of(&call, ctx),
                Some(_) => None,
            };
            self.batch.list(ctx, call, is_done);
            if let Some(problem) = problem {
                self.batch.fail(ctx, index, problem);
            }
            if let Some(state) = state {
                self.restore(ctx, index, state, is_gone);
            }
        }
        if !states.is_empty() {
            let ids: Vec<&str> = states.iter().map(|state| state.tool_call_id.as_str()).collect();
            ctx.warn("journal_torn", format!("{NO_SUCH_CALLS}{}", ids.join(", ")));
        }
    }

    /// Lists the calls of a restored answer without continuing them. If the run does not continue, the result of a
    /// call that had started says that its outcome is unknown. The calls in the journal do not change, so a process
    /// that resumes the run asks about them.
    pub fn recall(&mut self, ctx: &mut AgentContext<'_>, written: Vec<WrittenCall>, continues: bool) {
        let states = std::mem::take(&mut self.restored);
        self.batch.is_whole = true;
        for (index, call) in written.into_iter().enumerate() {
            let state = states.iter().find(|state| state.tool_call_id == call.id);
            let is_done = state.is_some_and(|state| matches!(state.status, CallStatus::Done { .. }));
            self.batch.list(ctx, call, is_done);
            let (Some(state), Some(call)) = (state, self.batch.get_mut(index)) else {
                continue;
            };
            call.kept = state.clone();
            match &state.status {
                CallStatus::Returned { result, .. } => self.batch.finish(ctx, index, result.clone()),
                CallStatus::Started { .. } if !continues => {
                    let hint = "Do not repeat the same call. Ask the user.";
                    self.batch
                        .fail(ctx, index, fault("interrupted", OUTCOME_UNKNOWN, hint));
                }
                _ => {}
            }
            if let Some(call) = self.batch.get_mut(index) {
                call.leave_at(state.clone());
            }
        }
    }

    fn restore(&mut self, ctx: &mut AgentContext<'_>, index: usize, state: CallState, is_gone: bool) {
        let (batch, approvals) = (&mut self.batch, &mut self.approvals);
        let Some(call) = batch.get_mut(index) else {
            return;
        };
        let is_other = state.version.as_ref() != version_of(call.tool, ctx);
        call.restore(state.clone());
        if call.has_started() {
            call.updated_input = updated_input(call, ctx);
        }
        match state.status {
            CallStatus::Done { terminates, .. } => call.terminates = terminates,
            CallStatus::Returned {
                result, terminates, ..
            } => {
                call.terminates = terminates;
                if !approvals.hook_result(batch, ctx, index, &result) {
                    batch.finish(ctx, index, result);
                }
            }
            _ if is_gone => approvals.ask_to_reconcile(batch, ctx, index, None, TOOL_GONE),
            CallStatus::Started { effect } if !is_other => self.restart(ctx, index, effect),
            CallStatus::Started { effect } => {
                approvals.ask_to_reconcile(batch, ctx, index, Some(effect), OUTCOME_UNKNOWN);
            }
            CallStatus::Allowed | CallStatus::Cleared if is_other => {
                approvals.ask_to_reconcile(batch, ctx, index, None, OTHER_VERSION);
            }
            // The rules need these texts, and only the platform of this process reads them.
            _ if !texts_to_read(call, ctx).is_empty() => {
                call.waits = Some(Wait::Preparation { is_asked: false });
            }
            status => approvals.continue_from(batch, ctx, index, status),
        }
    }

    /// Continues a call that had started: waits for it if it is still running, runs it again, or asks what happened
    /// to it.
    fn restart(&mut self, ctx: &mut AgentContext<'_>, index: usize, effect: EffectId) {
        let Some(call) = self.batch.get(index) else {
            return;
        };
        let tool = ctx.tool(call.tool);
        let is_agent = tool.is_some_and(|tool| tool.agent.is_some_and(|agent| !agent.calls_host));
        let is_parent = |parent: &Parent| parent.call == effect;
        let mut below = ctx.below.iter();
        let at_work = below.any(|node| node.identity.parent.as_ref().is_some_and(is_parent));
        // A call that `claim` does not know was not started by this process. If it has a question, another process
        // started it.
        let was_not_begun = call.kept.question.is_none() && ctx.ledger.running.is_some();
        if is_agent && at_work {
            ctx.ledger
                .reopen(effect, ctx.identity.agent, EffectKind::Subagent);
            self.batch.wait_for_result(ctx, index, effect);
        } else if !is_agent && ctx.ledger.claim(effect) == Some(true) {
            ctx.ledger.reopen(effect, ctx.identity.agent, EffectKind::Tool);
            self.batch.wait_for_result(ctx, index, effect);
            self.watch(ctx, index, effect);
        } else if is_agent
            || call.kept.checkpoint.is_some()
            || tool.is_some_and(|tool| !tool.runs_once())
            || was_not_begun
        {
            self.batch.set(index, CallStatus::Cleared, None);
        } else {
            let (batch, reason) = (&mut self.batch, OUTCOME_UNKNOWN);
            self.approvals
                .ask_to_reconcile(batch, ctx, index, Some(effect), reason);
        }
    }
}

const OUTCOME_UNKNOWN: &str = "it had started when the run was interrupted, and it may have been completed";
const OTHER_VERSION: &str = "its tool has a different version than when the call was approved";
const TOOL_GONE: &str = "its tool no longer exists";
const NO_SUCH_CALLS: &str =
    "The journal has states of calls that are not in the last answer. They are ignored: ";
