//! Questions about tool calls, and what their answers do.
//!
//! [`Approvals::judge`] checks each call against the hooks, rules and mode of the run: the call is admitted, refused,
//! or contested (`person.rs`). If its input changes after that, the deny rules are checked again. The other files
//! have one kind of question each. Each takes the batch, asks through the context, and lets the call wait. The answer
//! changes the call and returns `Next::Advance` if calls may continue.
//!
//! [`Approvals`] owns what answers leave for later: text of hooks for the model and the classifier, and the
//! platform's readings for the rules. The data of one call are with the call. Nothing here starts a call.

mod elicitation;
mod hooks;
mod person;
mod preparation;
mod reconciliation;
mod round;

pub use reconciliation::version_of;

use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::calls::call::Wait;
use crate::engine::agent::calls::check::misfit;
use crate::engine::agent::calls::{fault, rules};
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::model::config::permission::Reading;
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::journal::{ApprovalsState, CallStatus};
use crate::engine::model::message::{Block, Json};
use crate::engine::model::question::{CallFacts, Facts, Point};
use crate::engine::policy::permission::Verdict;

/// What the answers about calls have left.
#[derive(Clone, Default)]
pub struct Approvals {
    kept: ApprovalsState,
    /// Texts of the batch's calls, as the platform reads them for the rules.
    readings: Vec<Reading>,
}

impl Approvals {
    pub fn restored(kept: ApprovalsState) -> Approvals {
        Approvals {
            kept,
            readings: Vec::new(),
        }
    }

    pub fn kept(&self) -> &ApprovalsState {
        &self.kept
    }

    /// Adds what the platform has read for the rules.
    pub fn note_readings(&mut self, readings: Vec<Reading>) {
        self.readings.extend(readings);
    }

    /// Drops what was read of a batch that is done.
    pub fn forget_readings(&mut self) {
        self.readings.clear();
    }

    /// Adds text of hooks for the model. `blocks` says whether the reason of a denial is also such text.
    pub fn note(&mut self, verdict: &mut HookAnswer, blocks: bool) {
        if blocks && verdict.denies() {
            self.kept.notes.extend(verdict.reason.take().map(Block::notice));
        }
        let context = verdict.context.drain(..);
        self.kept.notes.extend(context.map(Block::notice));
    }

    /// Takes out the text of hooks that is sent with the next content.
    pub fn take_notes(&mut self) -> Vec<Block> {
        std::mem::take(&mut self.kept.notes)
    }

    /// Judges every checked call: it may run, is denied, or waits for an answer. Calls that do not depend on it go
    /// on.
    pub fn judge(&mut self, batch: &mut Batch, ctx: &mut AgentContext<'_>) {
        let is_streaming = !batch.is_whole;
        for index in batch.to_judge() {
            let Some(call) = batch.get(index) else {
                continue;
            };
            if !call.is_to_judge() {
                continue;
            }
            if !ctx.identity.is_offered(call.name()) {
                let reason = "the tool is not available for this answer";
                batch.deny(ctx, index, None, reason, false);
                continue;
            }
            let is_hooked = |point| ctx.has_hooks(point, call.name());
            if is_streaming && (is_hooked(Point::PreToolUse) || is_hooked(Point::ToolGuardrail)) {
                continue;
            }
            let is_unasked = call.kept.gate.is_unasked();
            if is_unasked && self.ask_about(batch, ctx, Point::PreToolUse, index) {
                continue;
            }
            let Some(call) = batch.get(index) else {
                continue;
            };
            match rules::verdict(call, &self.readings, ctx) {
                Verdict::Allow => self.admit(batch, ctx, index),
                // A failed answer would take the call back, so no question is asked while it streams.
                _ if is_streaming => {}
                Verdict::Deny { reason } => self.refuse(batch, ctx, index, None, reason),
                Verdict::Ask { reason, classify } => self.contest(batch, ctx, index, reason, classify),
            }
        }
        batch.note_judged();
    }

    /// Lets the call run, unless a deny rule or a guardrail denies it.
    pub fn admit(&mut self, batch: &mut Batch, ctx: &mut AgentContext<'_>, index: usize) {
        if !self.deny_by_rule(batch, ctx, index) && !self.ask_about(batch, ctx, Point::ToolGuardrail, index) {
            batch.set(index, CallStatus::Cleared, None);
        }
    }

    /// Applies the deny rules again, because the input may have changed after the call was judged.
    pub fn deny_by_rule(&mut self, batch: &mut Batch, ctx: &mut AgentContext<'_>, index: usize) -> bool {
        let denial = |call| rules::denial(call, &self.readings, ctx);
        let Some(reason) = batch.get(index).and_then(denial) else {
            return false;
        };
        self.refuse(batch, ctx, index, None, reason);
        true
    }

    /// Denies a call, after its hooks have answered.
    pub fn refuse(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        index: usize,
        message: Option<String>,
        reason: String,
    ) {
        let point = Point::PermissionDenied;
        let Some(call) = batch.get_mut(index) else {
            return;
        };
        if !ctx.has_hooks(point, call.name()) {
            return batch.deny(ctx, index, message.as_deref(), &reason, false);
        }
        let facts = Facts::call(CallFacts {
            reason: Some(message.as_deref().unwrap_or(&reason)),
            ..call.facts()
        });
        ctx.ask(Ask::new(point, About::Call(index), &facts).named(call.name()));
        batch.set(index, CallStatus::Refused { message, reason }, Some(Wait::Hooks));
    }

    /// Denies the call whose hooks have answered.
    pub fn after_denial(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        index: usize,
        may_retry: bool,
    ) {
        let status = batch.get(index).map(|call| call.kept.status.clone());
        if let Some(CallStatus::Refused { message, reason }) = status {
            batch.deny(ctx, index, message.as_deref(), &reason, may_retry);
        }
    }
}

/// Replaces the input of a call with one from your code. If it does not match the tool's schema, the call gets an
/// error, there is a warning, and the function returns false.
pub fn change_input(
    batch: &mut Batch,
    ctx: &mut AgentContext<'_>,
    index: usize,
    input: Option<Json>,
) -> bool {
    let (Some(input), Some(call)) = (input, batch.get_mut(index)) else {
        return true;
    };
    let Some(problem) = misfit(ctx, call.tool, &input) else {
        let before = call.input().clone();
        call.kept.unchanged.get_or_insert(before);
        call.set_input(input);
        return true;
    };
    let message = format!(
        "The application changed the input of {}, and the new input does not match the tool's schema: {problem}",
        call.name()
    );
    ctx.warn("invalid_updated_input", message.clone());
    let hint = "Do not repeat the same call. Continue without it, or ask the user.";
    batch.fail(ctx, index, fault("invalid_input", message, hint));
    false
}
