//! Your code's preparation of calls: validated inputs, resource keys, and whether a call needs an approval.
//!
//! [`Approvals::prepare`] asks once for all calls of an answer, before anything else happens to them. A call that
//! cannot be prepared fails.

use crate::engine::agent::calls::approvals::Approvals;
use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::calls::call::Wait;
use crate::engine::agent::calls::fault;
use crate::engine::agent::calls::rules::texts_to_read;
use crate::engine::agent::calls::schedule::{invocation, wait_ms};
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::next::Next;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::model::input::PreparedCall;
use crate::engine::model::journal::CallStatus;
use crate::engine::model::question::{Facts, Point};

impl Approvals {
    /// Asks your code to prepare the calls, in one question for the batch, before anything else happens to them.
    pub fn prepare(&mut self, batch: &mut Batch, ctx: &mut AgentContext<'_>) {
        let mut tool_ms = None;
        let (mut indexes, mut calls, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for (index, call) in batch.get_all_mut().iter_mut().enumerate() {
            if let Some(Wait::Preparation {
                is_asked: is_asked @ false,
            }) = &mut call.waits
            {
                *is_asked = true;
                // The check of an input counts against the tool's time.
                tool_ms = tool_ms.max(wait_ms(call, ctx));
                texts.extend(texts_to_read(call, ctx));
                calls.push(invocation(call, 0, ctx.identity, false));
                indexes.push(index);
            }
        }
        if calls.is_empty() {
            return;
        }
        let facts = Facts::Calls { calls, texts };
        let ask = Ask {
            tool_ms,
            ..Ask::new(Point::PrepareCalls, About::Calls(indexes), &facts)
        };
        ctx.ask(ask);
    }

    fn take_one(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        index: usize,
        prepared: PreparedCall,
    ) {
        let status = batch.get(index).map(|call| call.kept.status.clone());
        if let Some(status) = status.filter(|status| *status != CallStatus::Open) {
            // It has advanced further in another process.
            return self.continue_from(batch, ctx, index, status);
        }
        if let Some(problem) = prepared.problem {
            let fault = fault(
                "invalid_input",
                problem,
                "Call the tool again with input that matches its schema.",
            );
            return batch.fail(ctx, index, fault);
        }
        if let Some(call) = batch.get_mut(index) {
            call.kept.resource_key = prepared.resource_key.or(call.kept.resource_key.take());
            if let Some(input) = prepared.input {
                call.set_input(input);
            }
            call.kept.needs_approval |= prepared.needs_approval;
            call.kept.leads_elsewhere |= prepared.leads_elsewhere;
        }
        batch.set_to_judge(index);
    }

    /// Takes one answer for each call of the question, in order. A call without an answer fails with the reason.
    pub fn take_prepared(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        about: &About,
        prepared: Result<Vec<PreparedCall>, String>,
    ) -> Next {
        let About::Calls(indexes) = about else {
            return Next::Wait;
        };
        let missing = "your code did not prepare this call".to_owned();
        let (prepared, why) = match prepared {
            Ok(prepared) => (prepared, missing),
            Err(why) => (Vec::new(), why),
        };
        let mut prepared = prepared.into_iter();
        for index in indexes {
            if let Some(prepared) = prepared.next() {
                self.take_one(batch, ctx, *index, prepared);
                continue;
            }
            let hint = "Call the tool again, or continue without it.";
            let fault = fault("tool_failed", why.clone(), hint);
            batch.fail(ctx, *index, fault);
        }
        Next::Advance
    }

    /// Repeats the last step of a call that had not started.
    pub fn continue_from(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        index: usize,
        status: CallStatus,
    ) {
        match status {
            CallStatus::Refused { message, reason } => self.refuse(batch, ctx, index, message, reason),
            CallStatus::Allowed => self.admit(batch, ctx, index),
            CallStatus::Cleared if self.deny_by_rule(batch, ctx, index) => {}
            CallStatus::Cleared => batch.set(index, CallStatus::Cleared, None),
            // It is judged by the rules of now, and asked about under its old id.
            _ => batch.set_to_judge(index),
        }
    }
}
