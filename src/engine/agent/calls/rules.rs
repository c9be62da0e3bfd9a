//! What the permissions of the run say about a call. Pure functions over `policy::permission`: nothing here asks,
//! admits or denies.

use std::borrow::Cow;

use crate::engine::agent::calls::call::Call;
use crate::engine::agent::context::AgentContext;
use crate::engine::model::config::ToolConfig;
use crate::engine::model::config::permission::{Reading, Rule};
use crate::engine::model::hook::{Decision, Gate};
use crate::engine::model::message::Json;
use crate::engine::model::question::{CallFacts, RuleFacts, Suggestion};
use crate::engine::policy::permission::Verdict;
use crate::engine::policy::rule::subject::RuledCall;

pub fn tool_of<'a>(call: &Call, ctx: &AgentContext<'a>) -> Cow<'a, ToolConfig> {
    match ctx.tool(call.tool) {
        Some(tool) => Cow::Borrowed(tool),
        None => Cow::Owned(ToolConfig::new(call.name().to_owned(), Json::empty_object())),
    }
}

pub fn ruled_call<'a>(call: &'a Call, tool: &'a ToolConfig, readings: &'a [Reading]) -> RuledCall<'a> {
    RuledCall {
        tool,
        input: call.input().as_str(),
        readings,
        leads_elsewhere: call.kept.leads_elsewhere,
    }
}

pub fn verdict(call: &Call, readings: &[Reading], ctx: &AgentContext<'_>) -> Verdict {
    let gate = &call.kept.gate;
    let is_deferred = gate.said(Decision::Defer);
    let needs_approval = call.kept.needs_approval || is_deferred || gate.said(Decision::Ask);
    let is_allowed = gate.said(Decision::Allow);
    let loads_tools = ctx.tool(call.tool).is_some_and(|tool| tool.loader.is_some());
    let mut verdict = match ctx.permissions.as_ref().filter(|_| !loads_tools) {
        Some(permissions) => {
            let tool = tool_of(call, ctx);
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

/// The reason why a deny rule is against the call, if one is.
pub fn denial(call: &Call, readings: &[Reading], ctx: &AgentContext<'_>) -> Option<String> {
    let permissions = ctx.permissions.as_ref()?;
    permissions.denial(&ruled_call(call, &tool_of(call, ctx), readings))
}

/// True when a rule withholds this place from a running call. A call that is over may read nothing.
pub fn withholds(call: Option<&Call>, ctx: &AgentContext<'_>, place: &Reading) -> bool {
    let Some(call) = call else {
        return true;
    };
    let permissions = ctx.permissions.as_ref();
    permissions.is_some_and(|permissions| permissions.withholds(&tool_of(call, ctx), place))
}

/// The texts of the call that rules compare and only the platform can read.
pub fn texts_to_read(call: &Call, ctx: &AgentContext<'_>) -> Vec<String> {
    let Some(permissions) = ctx.permissions.as_ref() else {
        return Vec::new();
    };
    let tool = tool_of(call, ctx);
    permissions.texts_to_read(&RuledCall {
        tool: &tool,
        input: call.input().as_str(),
        readings: &[],
        leads_elsewhere: false,
    })
}

/// The data of a call, with the rule that requires a question, or with a rule that would allow such calls.
pub fn ruled<'a>(
    call: &'a Call,
    readings: &[Reading],
    ctx: &AgentContext<'_>,
    reason: &'a str,
) -> CallFacts<'a> {
    let mut facts = CallFacts {
        reason: Some(reason),
        ..call.facts()
    };
    let Some(permissions) = ctx.permissions.as_ref() else {
        return facts;
    };
    let tool = tool_of(call, ctx);
    let ruled = ruled_call(call, &tool, readings);
    if let Some(rule) = permissions.asking(&ruled) {
        facts.matched_ask_rule = Some(rule_facts(rule));
        return facts;
    }
    let Call { kept, .. } = call;
    if kept.needs_approval || kept.gate.said(Decision::Ask) || kept.gate.said(Decision::Defer) {
        return facts;
    }
    if let Some(rule) = permissions.suggestion(&ruled) {
        facts.suggestions = Some([Suggestion {
            kind: "addRules",
            behavior: "allow",
            rules: [rule_facts(&rule)],
            destination: "session",
        }]);
    }
    facts
}

fn rule_facts(rule: &Rule) -> RuleFacts {
    RuleFacts {
        tool_name: rule.tool.clone(),
        rule_content: rule.specifier.clone(),
    }
}
