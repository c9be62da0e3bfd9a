//! Questions about calls of another process whose outcome is unknown.
//!
//! [`Approvals::ask_to_reconcile`] asks your code what happened to a call (`Point::Reconcile`), because only your
//! code can know. The question remains open until it is answered.

use crate::engine::agent::calls::approvals::Approvals;
use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::calls::call::Wait;
use crate::engine::agent::calls::fault;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::next::Next;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::model::input::{Reconciled, ToolReturn};
use crate::engine::model::journal::CallStatus;
use crate::engine::model::output::EffectId;
use crate::engine::model::question::{CallFacts, Facts, Point};

impl Approvals {
    /// Asks your code about a call with an unknown outcome, without a tool, or that may have been made before.
    pub fn ask_to_reconcile(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        index: usize,
        started: Option<EffectId>,
        reason: &str,
    ) {
        let Some(call) = batch.get_mut(index) else {
            return;
        };
        let version = version_of(call.tool, ctx);
        let facts = Facts::call(CallFacts {
            reason: Some(reason),
            other_version: (call.kept.version.as_ref() != version)
                .then(|| call.kept.version.as_deref().unwrap_or_default()),
            is_torn: ctx.ledger.is_torn.then_some(true),
            ..call.facts()
        });
        let ask = Ask {
            id: call.kept.question,
            ..Ask::new(Point::Reconcile, About::Call(index), &facts)
        };
        call.kept.question = Some(ctx.ask(ask));
        let status = started.map_or(CallStatus::Cleared, |effect| CallStatus::Started { effect });
        batch.set(index, status, Some(Wait::Reconciliation));
    }

    /// Takes the answer to the question what became of a call.
    pub fn take_reconciled(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        about: &About,
        answer: Reconciled,
    ) -> Next {
        let &About::Call(index) = about else {
            return Next::Wait;
        };
        if let Some(call) = batch.get_mut(index) {
            call.kept.question = None;
            call.is_vouched = true;
            call.kept.version = version_of(call.tool, ctx).cloned();
        }
        match answer {
            Reconciled::Run => batch.set(index, CallStatus::Cleared, None),
            Reconciled::Done { output } => {
                let result = ToolReturn::Value(output);
                if !self.hook_result(batch, ctx, index, &result) {
                    batch.finish(ctx, index, result);
                }
            }
            Reconciled::Fail { message } => {
                let hint = "Do not repeat the same call. Continue without it, or ask the user.";
                batch.fail(ctx, index, fault("interrupted", message, hint));
            }
        }
        Next::Advance
    }
}

/// The version of a tool in this process, if it has one.
pub fn version_of<'a>(tool: Option<usize>, ctx: &AgentContext<'a>) -> Option<&'a String> {
    ctx.tool(tool)?.version.as_ref()
}
