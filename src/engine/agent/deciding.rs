//! Whether the calls of an answer may run: judged by rules, or asked of the host.

use std::borrow::Cow;

use crate::engine::agent::calling::fault;
use crate::engine::agent::hooking::HookPoint;
use crate::engine::agent::profile::Profile;
use crate::engine::agent::tool_batch::{Call, CallPhase};
use crate::engine::agent::{Agent, Desk};
use crate::engine::json::writer::{push_raw, push_text, push_text_if};
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::config::ToolConfig;
use crate::engine::model::event::{EventKind, ToolFault};
use crate::engine::model::input::{
    Behavior, PermissionAnswer, PermissionUpdate, QuestionAnswer, ToolReturn, UpdateType,
};
use crate::engine::model::json::word;
use crate::engine::model::message::Json;
use crate::engine::model::output::{EffectKind, Output, Question};
use crate::engine::policy::hook::{Decision, Gate, HookAnswer, HookEvent};
use crate::engine::policy::permission::{IGNORED_RULES, Permissions, RuleKind, Verdict};
use crate::engine::policy::rule::reading::Reading;
use crate::engine::policy::rule::subject::Asked;

impl Agent {
    /// Every call whose input is checked may run, is denied, or waits for the host; calls that do not depend on it go on.
    #[inline(never)]
    pub(super) fn judge_calls(&mut self, desk: &mut Desk<'_>) {
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
            let is_hooked = |event| desk.has_hooks(event, &call.name);
            if is_streaming && (is_hooked(HookEvent::PreToolUse) || is_hooked(HookEvent::ToolGuardrail)) {
                continue;
            }
            let is_unasked = call.gate == Gate::Unasked;
            if is_unasked && self.ask_about_call(desk, HookEvent::PreToolUse, index) {
                continue;
            }
            let Some(call) = self.tools.calls.get(index) else {
                continue;
            };
            match verdict(call, &self.tools.readings, desk) {
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
        if !self.deny_by_rule(desk, index) && !self.ask_about_call(desk, HookEvent::ToolGuardrail, index) {
            self.tools.set_phase(index, CallPhase::Queued);
        }
    }

    /// Whoever has changed the input after the call was judged: what the rules deny does not run.
    pub(super) fn deny_by_rule(&mut self, desk: &mut Desk<'_>, index: usize) -> bool {
        let denial = |call: &Call| {
            let permissions = desk.permissions.as_ref()?;
            permissions.denial(&asked(call, &tool_of(call, desk), &self.tools.readings))
        };
        let Some(reason) = self.tools.calls.get(index).and_then(denial) else {
            return false;
        };
        self.refuse(desk, index, None, reason);
        true
    }

    /// Hooks may answer in the host's place.
    fn ask_permission(&mut self, desk: &mut Desk<'_>, index: usize, reason: String, classify: bool) {
        let event = HookEvent::PermissionRequest;
        let name = self.tools.calls.get(index).map(|call| call.name.clone());
        let name = name.unwrap_or_default();
        let is_deferred = |call: &Call| call.gate.said(Decision::Defer);
        let is_deferred = self.tools.calls.get(index).is_some_and(is_deferred);
        if classify || is_deferred || !desk.has_hooks(event, &name) {
            return self.ask_host(desk, index, reason, classify);
        }
        self.set_hooking(index);
        let mut input = self.call_input(event, index);
        push_text(&mut input, "reason", &reason);
        self.push_rules(desk, index, &mut input);
        self.ask_hooks(desk, event, &name, HookPoint::Permission { index, reason }, input);
    }

    pub(super) fn after_permission_hooks(
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
        let place = self.place();
        let call = self.described(desk, index, &reason, classify);
        let Some(waiting) = self.tools.calls.get_mut(index) else {
            return;
        };
        let is_deferred = waiting.gate.said(Decision::Defer);
        let question = desk.ledger.open(self.index, EffectKind::Question);
        if !classify {
            desk.ledger.await_person(question, self.index);
        }
        waiting.phase = CallPhase::AwaitingAnswer { question };
        let kind = EventKind::Question {
            question_id: question,
            question: "permission".into(),
            data: Some(call.clone()),
        };
        desk.ledger.emit(place, kind);
        let timeout_ms = desk
            .permissions
            .as_ref()
            .and_then(|permissions| permissions.timeout_ms);
        desk.ledger
            .set_timer(TimerReason::Question { question }, timeout_ms);
        // Nobody is asked about a call that a hook has put off: its question stays open until it is answered.
        if !is_deferred {
            let ask = Question::Permission { call, classify };
            desk.ledger.output(Output::Ask { question, ask });
        }
        if !classify {
            self.notify(desk, index, question, &reason);
        }
    }

    fn described(&self, desk: &Desk<'_>, index: usize, reason: &str, classify: bool) -> Json {
        let mut json = b"{".to_vec();
        if let Some(call) = self.tools.calls.get(index) {
            push_text(&mut json, "toolCallId", &call.id);
            push_text(&mut json, "toolName", &call.name);
            push_raw(&mut json, "input", call.input.as_str());
        }
        push_text(&mut json, "reason", reason);
        let path = self.parent.as_ref().map(|_| self.path.as_str());
        push_text_if(&mut json, "agentPath", path);
        if classify {
            self.push_classifier_context(&mut json);
        } else {
            self.push_rules(desk, index, &mut json);
        }
        json.push(b'}');
        Json::from_valid(&String::from_utf8(json).unwrap_or_default())
    }

    /// Whatever is no answer to it denies the call.
    pub(super) fn handle_permission(&mut self, desk: &mut Desk<'_>, index: usize, answer: QuestionAnswer) {
        let answer = match answer {
            QuestionAnswer::Permission(answer) => answer,
            QuestionAnswer::Failed { why } => PermissionAnswer {
                message: Some(why),
                ..PermissionAnswer::default()
            },
            _ => PermissionAnswer::default(),
        };
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
            let message = [IGNORED_RULES, &ignored.join(", ")].concat();
            self.warn(desk, "rules_ignored", message);
        }
    }

    /// Denies a call, and has hooks hear of it first.
    fn refuse(&mut self, desk: &mut Desk<'_>, index: usize, message: Option<String>, reason: String) {
        let event = HookEvent::PermissionDenied;
        let name = self.tools.calls.get(index).map(|call| call.name.clone());
        let name = name.unwrap_or_default();
        if !desk.has_hooks(event, &name) {
            return self.deny(desk, index, message.as_deref(), &reason, false);
        }
        self.set_hooking(index);
        let mut input = self.call_input(event, index);
        push_text(&mut input, "reason", message.as_deref().unwrap_or(&reason));
        let point = HookPoint::Denied {
            index,
            message,
            reason,
        };
        self.ask_hooks(desk, event, &name, point, input);
    }

    /// The model is told, in the host's words if there are any.
    pub(super) fn deny(
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

pub(super) fn tool_of<'a>(call: &Call, desk: &Desk<'a>) -> Cow<'a, ToolConfig> {
    match desk.config.tools.iter().find(|tool| tool.name == call.name) {
        Some(tool) => Cow::Borrowed(tool),
        None => Cow::Owned(ToolConfig::new(call.name.clone(), Json::empty_object())),
    }
}

pub(super) fn asked<'a>(call: &'a Call, tool: &'a ToolConfig, readings: &'a [Reading]) -> Asked<'a> {
    Asked {
        tool,
        input: call.input.as_str(),
        readings,
    }
}

fn verdict(call: &Call, readings: &[Reading], desk: &Desk<'_>) -> Verdict {
    let is_deferred = call.gate.said(Decision::Defer);
    let needs_approval = call.needs_approval || is_deferred || call.gate.said(Decision::Ask);
    let is_allowed = call.gate.said(Decision::Allow);
    let mut verdict = match desk.permissions.as_ref() {
        Some(permissions) => {
            let tool = tool_of(call, desk);
            permissions.judge(&asked(call, &tool, readings), needs_approval, is_allowed)
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
