//! Whether the calls of an answer may run: judged by rules, or asked of the host.

use std::borrow::Cow;

use crate::engine::agent::asks::Wait;
use crate::engine::agent::calls::batch::{Call, CallPhase};
use crate::engine::agent::calls::course::fault;
use crate::engine::agent::profile::Profile;
use crate::engine::agent::{Agent, Desk};
use crate::engine::model::config::ToolConfig;
use crate::engine::model::event::ToolFault;
use crate::engine::model::input::{Behavior, PermissionAnswer, PermissionUpdate, ToolReturn, UpdateType};
use crate::engine::model::json::word;
use crate::engine::model::message::Json;
use crate::engine::model::question::{CallFacts, Facts, Point};
use crate::engine::policy::hook::{Decision, Gate, HookAnswer};
use crate::engine::policy::permission::{IGNORED_RULES, Permissions, RuleKind, Verdict};
use crate::engine::text::join_owned;

impl Agent {
    /// Every call whose input is checked may run, is denied, or waits for the host; calls that do not depend on it go on.
    #[inline(never)]
    pub(crate) fn judge_calls(&mut self, desk: &mut Desk<'_>) {
        let is_streaming = self.is_streaming();
        for index in self.tools.to_judge() {
            let Some(call) = self.tools.calls.get(index) else {
                continue;
            };
            if call.phase != CallPhase::Checked {
                continue;
            }
            if !self.is_offered(&call.name) {
                self.deny(
                    desk,
                    index,
                    None,
                    "the tool is not available for this answer",
                    false,
                );
                continue;
            }
            let is_hooked = |point| desk.has_hooks(point, &call.name);
            if is_streaming && (is_hooked(Point::PreToolUse) || is_hooked(Point::ToolGuardrail)) {
                continue;
            }
            let is_unasked = call.gate == Gate::Unasked;
            if is_unasked && self.ask_about_call(desk, Point::PreToolUse, index) {
                continue;
            }
            let Some(call) = self.tools.calls.get(index) else {
                continue;
            };
            match verdict(call, desk) {
                Verdict::Allow => self.admit(desk, index),
                // Nobody is asked about what a failure of the answer would take back.
                _ if is_streaming => {}
                Verdict::Deny { reason } => self.refuse(desk, index, None, reason),
                Verdict::Ask { reason, classify } => self.ask_permission(desk, index, reason, classify),
            }
        }
        self.tools.note_judged();
    }

    /// The call may run, unless a guardrail denies it.
    fn admit(&mut self, desk: &mut Desk<'_>, index: usize) {
        if !self.deny_by_rule(desk, index) && !self.ask_about_call(desk, Point::ToolGuardrail, index) {
            self.tools.set_phase(index, CallPhase::Queued);
        }
    }

    /// Whoever has changed the input after the call was judged: what the rules deny does not run.
    pub(crate) fn deny_by_rule(&mut self, desk: &mut Desk<'_>, index: usize) -> bool {
        let denial = |call: &Call| {
            let permissions = desk.permissions.as_ref()?;
            permissions.denial(&tool_of(call, desk), call.input.as_str())
        };
        let Some(reason) = self.tools.calls.get(index).and_then(denial) else {
            return false;
        };
        self.refuse(desk, index, None, reason);
        true
    }

    /// Hooks may answer in the host's place.
    fn ask_permission(&mut self, desk: &mut Desk<'_>, index: usize, reason: String, classify: bool) {
        let point = Point::PermissionRequest;
        let name = self.tools.calls.get(index).map(|call| call.name.clone());
        let name = name.unwrap_or_default();
        let is_deferred = |call: &Call| call.gate.said(Decision::Defer);
        let is_deferred = self.tools.calls.get(index).is_some_and(is_deferred);
        if classify || is_deferred || !desk.has_hooks(point, &name) {
            return self.ask_host(desk, index, reason, classify);
        }
        self.set_hooking(index);
        let data = Facts::Call(self.ruled_facts(desk, index, &reason)).to_json();
        self.ask(desk, point, &name, data, Wait::Permission { index, reason });
    }

    pub(crate) fn after_permission_hooks(
        &mut self,
        desk: &mut Desk<'_>,
        index: usize,
        reason: String,
        verdict: HookAnswer,
    ) {
        let behavior = match verdict.decision {
            Some(Decision::Allow) => Behavior::Allow,
            Some(Decision::Deny) => Behavior::Deny,
            _ => return self.ask_host(desk, index, reason, false),
        };
        let answer = PermissionAnswer {
            behavior,
            updated_input: verdict.updated_input,
            message: verdict.reason,
            interrupt: verdict.interrupt,
            updated_permissions: verdict.updated_permissions,
        };
        self.take_permission(desk, index, answer);
    }

    fn set_hooking(&mut self, index: usize) {
        if let Some(call) = self.tools.calls.get_mut(index) {
            call.phase = CallPhase::Hooking;
        }
    }

    fn ask_host(&mut self, desk: &mut Desk<'_>, index: usize, reason: String, classify: bool) {
        let path = self.parent.as_ref().map(|_| self.path.as_str());
        let facts = if classify {
            let call = self.tools.calls.get(index).map(Call::facts);
            CallFacts {
                reason: Some(&reason),
                classifier_context: Some(&self.classifier_context),
                ..call.unwrap_or_default()
            }
        } else {
            self.ruled_facts(desk, index, &reason)
        };
        let facts = CallFacts {
            agent_path: path,
            ..facts
        };
        let data = Facts::Call(facts).to_json();
        if let Some(call) = self.tools.calls.get_mut(index) {
            call.phase = CallPhase::AwaitingAnswer;
        }
        let point = if classify {
            Point::Classify
        } else {
            Point::Permission
        };
        let question = self.ask(desk, point, "", data, Wait::Call { index });
        if !classify {
            self.notify(desk, index, question, &reason);
        }
    }

    /// Whether nobody is told of this question: a hook has put the call off.
    pub(crate) fn is_put_off(&self, point: Point, wait: &Wait) -> bool {
        let Wait::Call { index } = wait else { return false };
        let call = self.tools.calls.get(*index);
        let is_deferred = call.is_some_and(|call| call.gate.said(Decision::Defer));
        is_deferred && matches!(point, Point::Permission | Point::Classify)
    }

    pub(crate) fn handle_permission(&mut self, desk: &mut Desk<'_>, index: usize, answer: PermissionAnswer) {
        self.take_permission(desk, index, answer);
        if self.ended.is_none() {
            self.advance_tools(desk);
        }
    }

    fn take_permission(&mut self, desk: &mut Desk<'_>, index: usize, answer: PermissionAnswer) {
        let mut is_changed = false;
        for update in answer.updated_permissions {
            if let Some(message) = unkept(&update) {
                self.warn(desk, "permission_update", message);
            }
            if !update.is_of_directories() {
                apply(update, desk.permissions.get_or_insert_with(Permissions::open));
                is_changed = true;
            }
        }
        if is_changed {
            self.warn_of_rules(desk);
        }
        if answer.behavior == Behavior::Allow {
            if self.change_input(desk, index, answer.updated_input) {
                self.admit(desk, index);
            }
            return;
        }
        let reason = "it was not approved";
        if answer.interrupt {
            self.deny(desk, index, answer.message.as_deref(), reason, false);
            let why = answer.message.unwrap_or_else(|| "a tool call was denied".into());
            return self.cancel(desk, why);
        }
        self.refuse(desk, index, answer.message, reason.into());
    }

    /// Rules that are wrong when a run starts keep it from starting; those that an answer adds count as far as they can.
    fn warn_of_rules(&self, desk: &mut Desk<'_>) {
        let Some(permissions) = desk.permissions.as_ref() else {
            return;
        };
        let check = |profile: &Profile| permissions.check(&profile.config.tools).err();
        let wrong = desk.profiles.iter().find_map(check);
        let ignored = permissions.ignored_rules();
        if let Some(error) = wrong {
            let message = [&error.field, ": ", &error.problem].concat();
            self.warn(desk, "invalid_rule", message);
        }
        if !ignored.is_empty() {
            let message = [IGNORED_RULES, &join_owned(&ignored, ", ")].concat();
            self.warn(desk, "rules_ignored", message);
        }
    }

    /// Denies a call, and has hooks hear of it first.
    fn refuse(&mut self, desk: &mut Desk<'_>, index: usize, message: Option<String>, reason: String) {
        let point = Point::PermissionDenied;
        let name = self.tools.calls.get(index).map(|call| call.name.clone());
        let name = name.unwrap_or_default();
        if !desk.has_hooks(point, &name) {
            return self.deny(desk, index, message.as_deref(), &reason, false);
        }
        self.set_hooking(index);
        let call = self.tools.calls.get(index).map(Call::facts);
        let facts = CallFacts {
            reason: Some(message.as_deref().unwrap_or(&reason)),
            ..call.unwrap_or_default()
        };
        let data = Facts::Call(facts).to_json();
        let wait = Wait::Denied {
            index,
            message,
            reason,
        };
        self.ask(desk, point, &name, data, wait);
    }

    /// The model is told, in the host's words if there are any.
    pub(crate) fn deny(
        &mut self,
        desk: &mut Desk<'_>,
        index: usize,
        message: Option<&str>,
        reason: &str,
        may_retry: bool,
    ) {
        let hint = if may_retry {
            "You may make the call again."
        } else {
            "Do not repeat the call as it is; go on without it or ask the user."
        };
        let fault = ToolFault {
            message: message.map_or_else(|| ["The call was denied: ", reason].concat(), str::to_owned),
            ..fault("denied", String::new(), hint)
        };
        self.finish_call(desk, index, ToolReturn::Fault(fault));
    }
}

pub(crate) fn tool_of<'a>(call: &Call, desk: &Desk<'a>) -> Cow<'a, ToolConfig> {
    match desk.config.tools.iter().find(|tool| tool.name == call.name) {
        Some(tool) => Cow::Borrowed(tool),
        None => Cow::Owned(ToolConfig::new(call.name.clone(), Json::empty_object())),
    }
}

fn verdict(call: &Call, desk: &Desk<'_>) -> Verdict {
    let is_deferred = call.gate.said(Decision::Defer);
    let needs_approval = call.needs_approval || is_deferred || call.gate.said(Decision::Ask);
    let is_allowed = call.gate.said(Decision::Allow);
    let mut verdict = match desk.permissions.as_ref() {
        Some(permissions) => {
            let tool = tool_of(call, desk);
            permissions.judge(&tool, call.input.as_str(), needs_approval, is_allowed)
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
    ) = (&mut verdict, &call.gate)
    {
        reason.clone_from(said);
    }
    verdict
}

/// What of an update cannot be done.
fn unkept(update: &PermissionUpdate) -> Option<String> {
    if update.is_of_directories() {
        return Some([&word(update.r#type), " does nothing: a run has no folders"].concat());
    }
    let destination = update.destination.as_deref();
    let destination = destination.filter(|destination| *destination != "session")?;
    Some(
        [
            "An update for ",
            destination,
            " is stored nowhere: it counts for this run",
        ]
        .concat(),
    )
}

fn apply(update: PermissionUpdate, permissions: &mut Permissions) {
    let kind = update.behavior.unwrap_or(RuleKind::Deny);
    match update.r#type {
        UpdateType::SetMode => permissions.mode = update.mode.unwrap_or(permissions.mode),
        UpdateType::AddRules => permissions.rules(kind).extend(update.rules),
        UpdateType::ReplaceRules => *permissions.rules(kind) = update.rules,
        UpdateType::RemoveRules => permissions
            .rules(kind)
            .retain(|rule| !update.rules.contains(rule)),
        UpdateType::AddDirectories | UpdateType::RemoveDirectories => {}
    }
}
