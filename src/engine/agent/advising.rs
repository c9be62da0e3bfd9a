//! What the host is told of the rules and of earlier hooks when it is asked about a call.

use crate::engine::agent::deciding::{asked, tool_of};
use crate::engine::agent::hooking::HookPoint;
use crate::engine::agent::{Agent, Desk};
use crate::engine::json::writer::{push_comma, push_count, push_key, push_string, push_text, push_text_if};
use crate::engine::model::output::EffectId;
use crate::engine::policy::hook::{Decision, HookEvent};
use crate::engine::policy::rule::Rule;

impl Agent {
    /// The rule that asks, or the one that would let such calls through.
    pub(super) fn push_rules(&self, desk: &Desk<'_>, index: usize, into: &mut Vec<u8>) {
        let (Some(call), Some(permissions)) = (self.tools.calls.get(index), desk.permissions.as_ref()) else {
            return;
        };
        let tool = tool_of(call, desk);
        let asked = asked(call, &tool, &self.tools.readings);
        if let Some(rule) = permissions.asking(&asked) {
            push_key(into, "matchedAskRule");
            return push_rule(into, rule);
        }
        let is_asked_about =
            call.needs_approval || call.gate.said(Decision::Ask) || call.gate.said(Decision::Defer);
        if is_asked_about {
            return;
        }
        if let Some(rule) = permissions.suggestion(&asked) {
            push_key(into, "suggestions");
            into.extend_from_slice(b"[{");
            push_text(into, "type", "addRules");
            push_text(into, "behavior", "allow");
            push_key(into, "rules");
            into.push(b'[');
            push_rule(into, &rule);
            into.push(b']');
            push_text(into, "destination", "session");
            into.extend_from_slice(b"}]");
        }
    }

    /// Tells hooks that the host is waited for.
    pub(super) fn notify(&mut self, desk: &mut Desk<'_>, index: usize, question: EffectId, reason: &str) {
        const PROMPT: &str = "permission_prompt";
        let event = HookEvent::Notification;
        let Some(call) = self
            .tools
            .calls
            .get(index)
            .filter(|_| desk.has_hooks(event, PROMPT))
        else {
            return;
        };
        let mut input = self.hook_input(event);
        push_text(&mut input, "notificationType", PROMPT);
        let message = [&call.name, " needs your approval: ", reason].concat();
        push_text(&mut input, "message", &message);
        push_count(&mut input, "questionId", question.into());
        push_text(&mut input, "toolName", &call.name);
        self.ask_hooks(desk, event, PROMPT, HookPoint::Notified, input);
    }

    /// What hooks have the classifier told.
    pub(super) fn push_classifier_context(&self, into: &mut Vec<u8>) {
        push_key(into, "classifierContext");
        into.push(b'[');
        for text in &self.classifier_context {
            push_comma(into);
            push_string(into, text);
        }
        into.push(b']');
    }
}

fn push_rule(into: &mut Vec<u8>, rule: &Rule) {
    into.push(b'{');
    push_text(into, "toolName", &rule.tool);
    push_text_if(into, "ruleContent", rule.specifier.as_deref());
    into.push(b'}');
}
