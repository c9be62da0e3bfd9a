//! Rules for the user who decides about a call: the rule that requires the question, and a rule that would allow such
//! calls.
//!
//! The agent adds both to a permission question. A suggestion is tested first: if the rule would not allow this call,
//! it is not suggested. Nothing is changed here. Only your answer adds a rule.

use crate::engine::model::config::ToolConfig;
use crate::engine::model::config::permission::Rule;
use crate::engine::model::config::permission::{PermissionMode, Permissions};
use crate::engine::policy::permission::Verdict;
use crate::engine::policy::rule::subject::{RuledCall, Subject, Text};
use crate::engine::policy::rule::{address, command, is_glob};

impl Permissions {
    /// The rule that requires a question about this call, in any mode.
    pub fn asking(&self, call: &RuledCall<'_>) -> Option<&Rule> {
        let subject = Subject::of(call, self.cwd.as_deref());
        self.ask.iter().find(|rule| rule.touches(call.tool, &subject))
    }

    /// True if your code has a function to ask, but an allow rule allows every call of this tool. The mode
    /// `bypassPermissions` applies to all tools, so it is not reported.
    pub fn shadows(&self, tool: &ToolConfig) -> bool {
        let covers = |rule: &Rule| rule.is_bare() && rule.names_to_allow(tool);
        let is_bypassed = self.mode == PermissionMode::BypassPermissions;
        let is_open = !is_bypassed && self.allow.iter().any(covers);
        let may_ask = tool.needs_approval
            || tool.may_need_approval
            || self.mode == PermissionMode::Plan
            || self.ask.iter().any(|rule| rule.names(tool))
            || self.may_doubt(tool);
        self.can_use_tool && is_open && !may_ask
    }

    /// The narrowest rule that would allow this call, if any could.
    pub fn suggestion(&self, call: &RuledCall<'_>) -> Option<Rule> {
        let rule = rule_for(call, self.cwd.as_deref())?;
        let mut permissions = self.clone();
        permissions.allow.push(rule.clone());
        let is_read_back = Rule::parse(&rule.to_text()).as_ref() == Some(&rule);
        let is_allowed = permissions.judge(call, false, false) == Verdict::Allow;
        (is_allowed && is_read_back).then_some(rule)
    }
}

fn rule_for(call: &RuledCall<'_>, cwd: Option<&str>) -> Option<Rule> {
    let specifier = if Subject::has_one(call.tool) {
        let subject = Subject::of(call, cwd);
        let [text] = subject.texts() else {
            return None;
        };
        Some(specifier_for(text).filter(|specifier| !is_glob(specifier))?)
    } else {
        None
    };
    Some(Rule {
        tool: call.tool.name.clone(),
        specifier,
    })
}

/// A specifier for this text and, except for addresses, for nothing else.
fn specifier_for(text: &Text) -> Option<String> {
    Some(match text {
        Text::Address { address, .. } => {
            let host = address.as_ref().map(|address| &address.host);
            format!("domain:{}", host.filter(|host| address::is_domain(host))?)
        }
        Text::Path { path, .. } if path.starts_with(['~', '.']) => path.clone(),
        // A single slash in a rule means the working folder.
        Text::Path { path, .. } => format!("{}{path}", if path.starts_with('/') { "/" } else { "./" }),
        Text::Command(line) => command::squeezed(line),
        Text::Other(text) => text.clone(),
        Text::Hidden => return None,
    })
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
