//! Permission of calls: the rules and modes of the run judge each checked call.
//!
//! [`Calls::advance`] judges before it starts anything. Each call is admitted, refused, or contested in
//! `approval.rs`. The rules themselves stand in `policy::permission`. A call whose input changes after the judgement
//! meets the deny rules again.

use std::borrow::Cow;

use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::calls::Calls;
use crate::engine::agent::calls::call::{Call, Wait};
use crate::engine::agent::desk::Desk;
use crate::engine::model::config::ToolConfig;
use crate::engine::model::config::permission::Reading;
use crate::engine::model::hook::{Decision, Gate};
use crate::engine::model::journal::CallStatus;
use crate::engine::model::message::Json;
use crate::engine::model::output::EffectId;
use crate::engine::model::question::{CallFacts, Facts, Point};
use crate::engine::policy::permission::Verdict;
use crate::engine::policy::rule::subject::RuledCall;

impl Calls {
    /// Judges every checked call: it may run, is denied, or waits for an answer. Calls that do not depend on it go
    /// on.
    pub(super) fn judge(&mut self, desk: &mut Desk<'_>) {
        let is_streaming = !self.batch.is_whole;
        for index in self.batch.to_judge() {
            let Some(call) = self.batch.get(index) else {
                continue;
            };
            if !call.is_to_judge() {
                continue;
            }
            if !desk.who.is_offered(call.name()) {
                let reason = "the tool is not available for this answer";
                self.batch.deny(desk, index, None, reason, false);
                continue;
            }
            let is_hooked = |point| desk.has_hooks(point, call.name());
            if is_streaming && (is_hooked(Point::PreToolUse) || is_hooked(Point::ToolGuardrail)) {
                continue;
            }
            let is_unasked = call.kept.gate.is_unasked();
            if is_unasked && self.ask_about(desk, Point::PreToolUse, index) {
                continue;
            }
            let Some(call) = self.batch.get(index) else {
                continue;
            };
            match verdict(call, &self.readings, desk) {
                Verdict::Allow => self.admit(desk, index),
                // Nobody is asked about a call that a failed answer would take back.
                _ if is_streaming => {}
                Verdict::Deny { reason } => self.refuse(desk, index, None, reason),
                Verdict::Ask { reason, classify } => self.contest(desk, index, reason, classify),
            }
        }
        self.batch.note_judged();
    }

    /// Lets the call run, unless a deny rule or a guardrail is against it.
    pub(super) fn admit(&mut self, desk: &mut Desk<'_>, index: usize) {
        if !self.deny_by_rule(desk, index) && !self.ask_about(desk, Point::ToolGuardrail, index) {
            self.batch.set(index, CallStatus::Cleared, None);
        }
    }

    /// Applies the deny rules again, because the input may have changed after the call was judged.
    pub(super) fn deny_by_rule(&mut self, desk: &mut Desk<'_>, index: usize) -> bool {
        let denial = |call: &Call| {
            let permissions = desk.permissions.as_ref()?;
            permissions.denial(&ruled_call(call, &tool_of(call, desk), &self.readings))
        };
        let Some(reason) = self.batch.get(index).and_then(denial) else {
            return false;
        };
        self.refuse(desk, index, None, reason);
        true
    }

    /// Denies a call. Its hooks hear of it first.
    pub(super) fn refuse(
        &mut self,
        desk: &mut Desk<'_>,
        index: usize,
        message: Option<String>,
        reason: String,
    ) {
        let point = Point::PermissionDenied;
        let Some(call) = self.batch.get_mut(index) else {
            return;
        };
        if !desk.has_hooks(point, call.name()) {
            return self.batch.deny(desk, index, message.as_deref(), &reason, false);
        }
        let facts = Facts::call(CallFacts {
            reason: Some(message.as_deref().unwrap_or(&reason)),
            ..call.facts()
        });
        desk.ask(Ask::new(point, About::Call(index), &facts).named(call.name()));
        self.batch
            .set(index, CallStatus::Refused { message, reason }, Some(Wait::Hooks));
    }

    /// Denies the call after its hooks have heard of it.
    pub(super) fn after_denial(&mut self, desk: &mut Desk<'_>, index: usize, may_retry: bool) {
        let status = self.batch.get(index).map(|call| call.kept.status.clone());
        if let Some(CallStatus::Refused { message, reason }) = status {
            self.batch
                .deny(desk, index, message.as_deref(), &reason, may_retry);
        }
    }
}

impl Calls {
    /// True when a rule withholds this place from the running call. A call that is over may read nothing.
    pub fn withholds(&self, desk: &Desk<'_>, effect: EffectId, place: &Reading) -> bool {
        let call = self
            .batch
            .index_of(effect)
            .and_then(|index| self.batch.get(index));
        let Some(call) = call else {
            return true;
        };
        let permissions = desk.permissions.as_ref();
        permissions.is_some_and(|permissions| permissions.withholds(&tool_of(call, desk), place))
    }
}

pub(super) fn tool_of<'a>(call: &Call, desk: &Desk<'a>) -> Cow<'a, ToolConfig> {
    match desk.tool(call.tool) {
        Some(tool) => Cow::Borrowed(tool),
        None => Cow::Owned(ToolConfig::new(call.name().to_owned(), Json::empty_object())),
    }
}

pub(super) fn ruled_call<'a>(call: &'a Call, tool: &'a ToolConfig, readings: &'a [Reading]) -> RuledCall<'a> {
    RuledCall {
        tool,
        input: call.input().as_str(),
        readings,
        leads_elsewhere: call.kept.leads_elsewhere,
    }
}

fn verdict(call: &Call, readings: &[Reading], desk: &Desk<'_>) -> Verdict {
    let gate = &call.kept.gate;
    let is_deferred = gate.said(Decision::Defer);
    let needs_approval = call.kept.needs_approval || is_deferred || gate.said(Decision::Ask);
    let is_allowed = gate.said(Decision::Allow);
    let loads_tools = desk.tool(call.tool).is_some_and(|tool| tool.loader.is_some());
    let mut verdict = match desk.permissions.as_ref().filter(|_| !loads_tools) {
        Some(permissions) => {
            let tool = tool_of(call, desk);
            permissions.judge(&ruled_call(call, &tool, readings), needs_approval, is_allowed)
        }
        _ if needs_approval => Verdict::Ask {
            reason: "the tool needs an approval".into(),
            classify: false,
        },
        _ => Verdict::Allow,
    };
    if let (
        Verdict::Ask { reason, .. },
        Gate::Passed {
            reason: Some(said), ..
        },
    ) = (&mut verdict, gate)
    {
        reason.clone_from(said);
    }
    verdict
}
