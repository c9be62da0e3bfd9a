//! What is told of the rules and of earlier hooks to whoever is asked about a call.

use crate::engine::agent::asks::Wait;
use crate::engine::agent::calls::permission::tool_of;
use crate::engine::agent::{Agent, Desk};
use crate::engine::model::output::EffectId;
use crate::engine::model::question::{CallFacts, Facts, Point, RuleFacts, Suggestion};
use crate::engine::policy::hook::Decision;
use crate::engine::policy::rule::Rule;

impl Agent {
    /// With the rule that asks, or those that would let such calls through.
    pub(crate) fn ruled_facts<'a>(&'a self, desk: &Desk<'_>, index: usize, reason: &'a str) -> CallFacts<'a> {
        let Some(call) = self.tools.calls.get(index) else {
            return CallFacts::default();
        };
        let mut facts = CallFacts {
            reason: Some(reason),
            ..call.facts()
        };
        let Some(permissions) = desk.permissions.as_ref() else {
            return facts;
        };
        let (tool, input) = (tool_of(call, desk), call.input.as_str());
        if let Some(rule) = permissions.asking(&tool, input) {
            facts.matched_ask_rule = Some(rule_facts(rule));
            return facts;
        }
        let is_asked_about =
            call.needs_approval || call.gate.said(Decision::Ask) || call.gate.said(Decision::Defer);
        if is_asked_about {
            return facts;
        }
        let rules = permissions.suggestion(&tool, input);
        if !rules.is_empty() {
            facts.suggestions = Some([Suggestion {
                kind: "addRules",
                behavior: "allow",
                rules: rules.iter().map(rule_facts).collect(),
                destination: "session",
            }]);
        }
        facts
    }

    /// Tells hooks that a person is waited for.
    pub(crate) fn notify(&mut self, desk: &mut Desk<'_>, index: usize, question_id: EffectId, reason: &str) {
        const PROMPT: &str = "permission_prompt";
        let point = Point::Notification;
        let call = self.tools.calls.get(index);
        let Some(call) = call.filter(|_| desk.has_hooks(point, PROMPT)) else {
            return;
        };
        let facts = Facts::Notification {
            notification_type: PROMPT,
            message: [&call.name, " needs your approval: ", reason].concat(),
            question_id,
            tool_name: &call.name,
        };
        let data = facts.to_json();
        self.ask(desk, point, PROMPT, data, Wait::Point);
    }
}

fn rule_facts(rule: &Rule) -> RuleFacts {
    RuleFacts {
        tool_name: rule.tool.clone(),
        rule_content: rule.specifier.clone(),
    }
}
