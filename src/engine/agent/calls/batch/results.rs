//! The results of calls: each call of a batch gets exactly one.
//!
//! [`Batch::finish`] is the only place that gives a call its result and emits it. [`Batch::results`] are the results
//! for the model in request order, also of calls that were aborted or not run.

use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::calls::call::{Call, Wait};
use crate::engine::agent::calls::fault;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::next::Next;
use crate::engine::json::digest;
use crate::engine::model::event::{EventKind, ToolFault};
use crate::engine::model::input::ToolReturn;
use crate::engine::model::journal::CallStatus;
use crate::engine::model::message::{Block, Json};
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::output::{EffectId, Output};

impl Batch {
    /// Makes a call with an open effect wait for its result.
    pub fn wait_for_result(&mut self, ctx: &AgentContext<'_>, index: usize, effect: EffectId) {
        let started_ms = ctx.ledger.now_ms;
        let waits = Wait::Result { started_ms };
        self.set(index, CallStatus::Started { effect }, Some(waits));
    }

    /// Gives the call its final result. An unrecoverable fault stops the agent.
    pub fn count_in(&mut self, ctx: &mut AgentContext<'_>, index: usize, result: ToolReturn) -> Next {
        let is_fatal = matches!(&result, ToolReturn::Fault(fault) if !fault.recoverable);
        self.finish(ctx, index, result);
        if is_fatal {
            Next::Stop(StoppedBy::FatalTool)
        } else {
            Next::Advance
        }
    }

    /// Gives the call a fault as its result.
    pub fn fail(&mut self, ctx: &mut AgentContext<'_>, index: usize, fault: ToolFault) {
        self.finish(ctx, index, ToolReturn::Fault(fault));
    }

    /// Gives the call its result.
    pub fn finish(&mut self, ctx: &mut AgentContext<'_>, index: usize, result: ToolReturn) {
        self.forget_elicitations(ctx, index);
        let Some(call) = self.calls.get_mut(index) else {
            return;
        };
        let duration_ms = call.duration_ms(ctx.ledger.now_ms);
        if !ctx.ledger.skip_unobserved() && !call.is_answer {
            let (tool_call_id, tool_name) = (call.id().to_owned(), call.name().to_owned());
            let updated_input = call.updated_input.clone();
            let hash = |input: &Json| digest::input_hash(input.as_str());
            let updated_input_hash = updated_input.as_ref().filter(|_| ctx.config.trace).map(hash);
            let kind = match &result {
                ToolReturn::Fault(fault) => EventKind::ToolError {
                    tool_call_id,
                    tool_name,
                    updated_input,
                    updated_input_hash,
                    error: fault.clone(),
                    duration_ms,
                },
                _ => EventKind::ToolResult {
                    tool_call_id,
                    tool_name,
                    updated_input,
                    updated_input_hash,
                    output: result.output(),
                    duration_ms,
                },
            };
            ctx.emit(kind);
        }
        let is_cut = call.is_cut(&result);
        if is_cut {
            let message = format!("The model sees only the beginning of a result of {}", call.name());
            ctx.warn("result_cut", message);
        }
        call.kept.checkpoint = None;
        if call.updated_input.is_none() {
            // The input of a call that never ran was not changed for anybody.
            call.kept.unchanged = None;
        }
        let terminates = call.terminates;
        let status = CallStatus::Done {
            result,
            duration_ms,
            terminates,
        };
        self.set(index, status, None);
    }

    /// Gives the call a fault, in the words of its denier if there are any.
    pub fn deny(
        &mut self,
        ctx: &mut AgentContext<'_>,
        index: usize,
        message: Option<&str>,
        reason: &str,
        may_retry: bool,
    ) {
        let hint = if may_retry {
            "You may make the call again."
        } else {
            "Do not repeat the same call. Continue without it, or ask the user."
        };
        let fault = ToolFault {
            message: message.map_or_else(|| format!("The call was denied: {reason}"), str::to_owned),
            ..fault("denied", String::new(), hint)
        };
        self.fail(ctx, index, fault);
    }

    /// Withdraws the questions of a call that has ended.
    pub fn forget_elicitations(&mut self, ctx: &mut AgentContext<'_>, index: usize) {
        let call = self.calls.get_mut(index);
        if let Some(call) = call.filter(|call| !call.kept.elicitations.is_empty()) {
            call.kept.elicitations.clear();
            ctx.withdraw_elicitations(index);
        }
    }

    pub fn progress(&self, ctx: &mut AgentContext<'_>, effect: EffectId, data: Json) {
        let index = self.index_of(effect);
        let Some(call) = index.and_then(|index| self.calls.get(index)) else {
            return;
        };
        let kind = EventKind::ToolProgress {
            tool_call_id: call.id().to_owned(),
            tool_name: call.name().to_owned(),
            data,
        };
        ctx.emit(kind);
    }

    /// The result of a call that hooks are looking at.
    pub fn returned(&self, index: usize) -> Option<ToolReturn> {
        match self.calls.get(index).map(|call| &call.kept.status) {
            Some(CallStatus::Returned { result, .. }) => Some(result.clone()),
            _ => None,
        }
    }

    /// Aborts the running calls. A result that hooks are still checking is used unchanged.
    pub fn abort(&mut self, ctx: &mut AgentContext<'_>, why: &str) {
        for index in 0..self.calls.len() {
            if let Some(result) = self.returned(index) {
                self.finish(ctx, index, result);
                continue;
            }
            let Some(effect) = self.calls.get(index).and_then(Call::running) else {
                continue;
            };
            let written = abort_call(ctx, effect, why);
            ctx.ledger.close(effect);
            let so_far = if written.is_empty() {
                ""
            } else {
                "; written so far: "
            };
            let message = format!("{why}{so_far}{written}");
            let hint = "Call the tool again if its result is still needed.";
            let fault = fault("cancelled", message, hint);
            self.fail(ctx, index, fault);
        }
    }

    /// Ends the calls that were emitted and never ran.
    pub fn leave_all(&mut self, ctx: &mut AgentContext<'_>) {
        for index in 0..self.calls.len() {
            if self.calls.get(index).is_some_and(|call| !call.is_done()) {
                self.fail(ctx, index, ToolFault::not_run());
            }
        }
    }

    /// Takes the result of a subagent for an agent that is about to be stopped.
    pub fn take_result(&mut self, ctx: &mut AgentContext<'_>, effect: EffectId, result: ToolReturn) {
        if let Some(index) = self.index_of(effect) {
            ctx.ledger.close(effect);
            self.finish(ctx, index, result);
        }
    }

    /// Takes the texts of the errors, in order. An error without a text stays as it is.
    pub fn take_words(&mut self, texts: Vec<String>) -> Next {
        let is_faulty = |call: &&mut Call| !call.is_answer && call.fault().is_some();
        let faulty = self.calls.iter_mut().filter(is_faulty);
        for (call, text) in faulty.zip(texts) {
            call.worded = Some(text);
        }
        Next::RoundOver
    }

    /// The result blocks in request order. A call that has not ended gets a result that says so.
    pub fn results(&self) -> Vec<Block> {
        self.calls.iter().map(Call::result_block).collect()
    }

    /// The blocks of a round that continues, in request order. See [`Call::block_so_far`].
    pub fn results_so_far(&self, asking: &[EffectId]) -> Vec<Block> {
        self.calls.iter().map(|call| call.block_so_far(asking)).collect()
    }
}

/// Stops the subagent or your function that works on a call. Returns the text that a subagent has written so far.
fn abort_call(ctx: &mut AgentContext<'_>, effect: EffectId, why: &str) -> String {
    let Some(child) = ctx.child_of(effect) else {
        if !ctx.ledger.is_delegated(effect) {
            ctx.ledger.output(Output::AbortTool {
                call: effect,
                why: why.to_owned(),
            });
        }
        return String::new();
    };
    let mut text = String::new();
    ctx.on_child(child, &mut |child, ctx| {
        child.cancel(ctx, why.to_owned());
        text = child.text();
    });
    text
}
