//! The start of a call: it gets the options of its tool, is added to the batch, and is emitted.

use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::calls::call::{Call, Wait, written_json};
use crate::engine::agent::calls::rules::texts_to_read;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::context::AgentContext;
use crate::engine::json::digest;
use crate::engine::model::event::{EventKind, ToolFault, Transfer};
use crate::engine::model::input::ToolReturn;
use crate::engine::model::journal::{CallState, CallStatus};
use crate::engine::policy::binding::bound_input;

impl Batch {
    /// Adds a call to the batch and emits it. Returns its index. A call that `is_settled` was emitted with its result
    /// by the process before: a second event would open it again.
    pub fn list(&mut self, ctx: &mut AgentContext<'_>, written: WrittenCall, is_settled: bool) -> usize {
        let index = self.calls.len();
        let call = queued(index, written, ctx);
        let mut counts = self.counts.iter_mut();
        if let Some((_, count)) = counts.find(|(tool, _)| !call.is_answer && tool == call.name()) {
            *count += 1;
        }
        if !call.is_answer && !is_settled && !ctx.ledger.skip_unobserved() {
            let input = call.written_input.clone();
            ctx.emit(EventKind::ToolCall {
                tool_call_id: call.id().to_owned(),
                tool_name: call.name().to_owned(),
                input_hash: ctx.config.trace.then(|| digest::input_hash(input.as_str())),
                transfer: transfer(&call, ctx).filter(|_| ctx.config.trace),
                input,
            });
        }
        self.calls.push(call);
        index
    }

    /// Adds the calls of an answer that is not used, without emitting them. Their results say that they were not run.
    pub fn list_unrun(&mut self, ctx: &AgentContext<'_>, written: impl Iterator<Item = WrittenCall>) {
        for call in written {
            let mut call = listed(self.calls.len(), call, ctx);
            call.kept.status = CallStatus::Done {
                result: ToolReturn::Fault(ToolFault::not_run()),
                duration_ms: 0,
                terminates: false,
            };
            self.calls.push(call);
        }
    }
}

/// A call with the options of its tool.
fn queued(index: usize, written: WrittenCall, ctx: &AgentContext<'_>) -> Call {
    let mut call = listed(index, written, ctx);
    call.max_result_chars = ctx.config.tool_calls.max_result_chars;
    let mut is_unprepared = false;
    if let Some(tool) = ctx.tool(call.tool) {
        call.kept.version.clone_from(&tool.version);
        call.read_only = tool.read_only;
        call.kept.needs_approval = tool.needs_approval;
        call.set_input(bound_input(call.input(), &tool.bindings, ctx.inputs));
        if let Some(most) = tool.max_result_chars {
            call.max_result_chars = most.min(u32::MAX.into()) as u32;
        }
        if let Some(agent) = tool.agent {
            // Calls of different subagents run at the same time. A subagent with `keep` has one conversation, so its
            // calls share a key.
            let key = if agent.keep { call.name() } else { call.id() };
            call.kept.resource_key = Some(format!("agent {key}"));
        }
        is_unprepared = tool.prepare;
    }
    if is_unprepared || !texts_to_read(&call, ctx).is_empty() {
        call.waits = Some(Wait::Preparation { is_asked: false });
    }
    call
}

/// How a call reaches the agent that answers it; none where a function does.
fn transfer(call: &Call, ctx: &AgentContext<'_>) -> Option<Transfer> {
    let agent = ctx.tool(call.tool)?.agent?;
    Some(if agent.handoff {
        Transfer::PassControl
    } else {
        Transfer::ReturnToCaller
    })
}

fn listed(index: usize, written: WrittenCall, ctx: &AgentContext<'_>) -> Call {
    Call {
        is_answer: written.is_answer(ctx),
        kept: CallState {
            index,
            tool_call_id: written.id,
            tool_name: written.name,
            ..CallState::default()
        },
        waits: None,
        tool: written.tool,
        written_input: written_json(&written.input),
        written: written.input,
        updated_input: None,
        tells_update: ctx.setup.root.config.tool_calls.tell_updated_input,
        read_only: false,
        max_result_chars: u32::MAX,
        terminates: false,
        worded: None,
        is_vouched: false,
        shown: None,
    }
}
