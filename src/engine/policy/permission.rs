//! Decides whether a tool call may run: by modes, and by rules such as `Bash(npm *)`.
//!
//! The order is that of the Agent SDK: deny rules, ask rules (and approvals that a tool itself requires), the mode,
//! allow rules, your code. Within a list the first matching rule wins, regardless of how specific it is.
//! <https://code.claude.com/docs/en/agent-sdk/permissions> (2026-11-21)
//!
//! `Setup::new` calls [`Permissions::check`], which rejects rules that cannot work. The agent calls
//! [`Permissions::judge`] for each call, after the hooks and before the tool. Nothing runs here, and a doubt never
//! results in "allow".

use crate::engine::model::config::permission::{PermissionMode, Permissions, Reading, Rule, RuleKind};
use crate::engine::model::config::{Access, ToolConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::policy::rule::path::Folders;
use crate::engine::policy::rule::protected::{self, Protection};
use crate::engine::policy::rule::subject::{RuledCall, Subject, Text};
use crate::engine::policy::rule::{cover, is_glob};

/// The warning before [`Permissions::ignored_rules`].
pub const IGNORED_RULES: &str = "These allow rules are ignored, because their names are patterns: ";

/// The verdict on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Deny {
        reason: String,
    },
    /// Your code is asked. With `classify`, its classifier is asked instead of a user.
    Ask {
        reason: String,
        classify: bool,
    },
}

impl Permissions {
    /// The permissions of a run that names none: every call runs that needs no approval.
    pub fn open() -> Permissions {
        Permissions {
            mode: PermissionMode::BypassPermissions,
            ..Permissions::default()
        }
    }

    pub fn rules(&mut self, kind: RuleKind) -> &mut Vec<Rule> {
        match kind {
            RuleKind::Allow => &mut self.allow,
            RuleKind::Ask => &mut self.ask,
            RuleKind::Deny => &mut self.deny,
        }
    }

    /// The verdict on a call. `needs_approval` means that the tool or a hook requires an approval. `is_allowed` means
    /// that a hook allows the call, which counts only if no rule denies it or requires a question.
    pub fn judge(&self, call: &RuledCall<'_>, needs_approval: bool, is_allowed: bool) -> Verdict {
        if call.leads_elsewhere && self.mode == PermissionMode::AcceptEdits {
            // The mode accepts the place that the input names, and no other.
            let permissions = Permissions {
                mode: PermissionMode::Default,
                ..self.clone()
            };
            return permissions.judge(call, needs_approval, is_allowed);
        }
        let mode_looks =
            self.mode == PermissionMode::AcceptEdits || self.cwd.is_some() || self.protect_settings;
        let subject = if mode_looks || self.compares(call.tool) {
            Subject::of(call, self.cwd.as_deref())
        } else {
            Subject::Unknown
        };
        let verdict = self.judge_subject(call.tool, &subject, needs_approval, is_allowed);
        match (&verdict, self.guard(call, &subject)) {
            (Verdict::Allow | Verdict::Ask { classify: true, .. }, Some(reason)) => match self.mode {
                PermissionMode::DontAsk => denied(&[reason, ", and no one may be asked"]),
                _ => self.ask_host(reason),
            },
            _ => verdict,
        }
    }

    /// Why neither rules nor the mode may allow this call, if so.
    fn guard(&self, call: &RuledCall<'_>, subject: &Subject) -> Option<&'static str> {
        if !self.protect_settings {
            return None;
        }
        let is_bypassed = self.mode == PermissionMode::BypassPermissions;
        match protected::of_call(call.tool, subject, &self.folders()) {
            Some(Protection::Settings) => Some("it would change settings"),
            Some(Protection::Rules) if !is_bypassed => Some("it would change settings"),
            _ if call.leads_elsewhere && !is_bypassed => Some("it leads elsewhere through a link"),
            _ => None,
        }
    }

    /// True when a rule compares parts of the tool's calls.
    fn compares(&self, tool: &ToolConfig) -> bool {
        let mut rules = [&self.deny, &self.ask, &self.allow].into_iter().flatten();
        rules.any(|rule| !rule.is_bare() && rule.names(tool))
    }

    /// The texts of the call that the platform has to read before the call is judged.
    pub fn texts_to_read(&self, call: &RuledCall<'_>) -> Vec<String> {
        if !matches!(call.tool.access(), None | Some(Access::Shell)) && self.compares(call.tool) {
            let subject = Subject::of(call, self.cwd.as_deref());
            let texts = subject.texts().iter().filter_map(Text::to_read);
            return texts.map(str::to_owned).collect();
        }
        Vec::new()
    }

    /// The reason why a deny rule forbids this input, whether the model or your code wrote it.
    pub fn denial(&self, call: &RuledCall<'_>) -> Option<String> {
        let is_about = self.deny.iter().any(|rule| rule.names(call.tool));
        let subject = || Subject::of(call, self.cwd.as_deref());
        is_about.then(|| self.denial_of(call.tool, &subject()))?
    }

    /// True if a deny or ask rule for the tool's calls matches this path. A search that begins above it leaves it
    /// out.
    pub fn withholds(&self, tool: &ToolConfig, place: &Reading) -> bool {
        let subject = Subject::Of(vec![Text::Path {
            path: place.text.clone(),
            composed: place.composed.clone(),
            cwd: self.cwd.clone(),
        }]);
        let mut rules = self.deny.iter().chain(&self.ask);
        rules.any(|rule| !rule.is_bare() && rule.touches(tool, &subject))
    }

    /// The folders where the run works.
    fn folders(&self) -> Folders<'_> {
        Folders {
            cwd: self.cwd.as_deref(),
            more: &self.additional_directories,
        }
    }

    fn denial_of(&self, tool: &ToolConfig, subject: &Subject) -> Option<String> {
        let rule = self.deny.iter().find(|rule| rule.touches(tool, subject))?;
        Some(format!("the rule {} denies it", rule.to_text()))
    }

    /// Why a call that may run needs a question, if so: a rule may apply to it, but the engine cannot decide.
    fn doubt(&self, tool: &ToolConfig, subject: &Subject) -> Option<String> {
        let mut unclear = subject.texts().iter().filter(|text| text.is_unclear()).peekable();
        let is_address = matches!(unclear.peek()?, Text::Address { .. });
        // Ask rules have already found everything that they search for in a command line.
        let asking = self.ask.iter().filter(|_| is_address);
        let mut rules = self.deny.iter().chain(asking);
        let rule = rules.find(|rule| !rule.is_bare() && rule.names(tool))?;
        Some(format!(
            "the rule {} may apply to it, and it cannot be read with certainty",
            rule.to_text()
        ))
    }

    pub fn may_doubt(&self, tool: &ToolConfig) -> bool {
        matches!(tool.access(), Some(Access::Shell | Access::Fetch))
            && self.deny.iter().any(|rule| !rule.is_bare() && rule.names(tool))
    }

    fn judge_subject(
        &self,
        tool: &ToolConfig,
        subject: &Subject,
        needs_approval: bool,
        is_allowed: bool,
    ) -> Verdict {
        if let Some(reason) = self.denial_of(tool, subject) {
            return Verdict::Deny { reason };
        }
        if self.is_put_off(tool) {
            return denied(&["plan mode changes nothing"]);
        }
        let asking = self.ask.iter().find(|rule| rule.touches(tool, subject));
        if asking.is_some() || needs_approval {
            if self.mode == PermissionMode::DontAsk {
                return denied(&["it needs an approval, and no one may be asked"]);
            }
            let reason = match asking {
                Some(rule) => format!("the rule {} asks for an approval", rule.to_text()),
                None => "the tool needs an approval".to_owned(),
            };
            return ask(reason, false);
        }
        if is_allowed {
            return Verdict::Allow;
        }
        let may_run = match self.mode {
            PermissionMode::BypassPermissions => true,
            PermissionMode::AcceptEdits if subject.is_file_work(tool, &self.folders()) => true,
            _ if subject.is_reading(tool, &self.folders()) => true,
            _ => cover(&self.allow, tool, subject),
        };
        let reason = if may_run {
            match self.doubt(tool, subject) {
                Some(reason) => reason,
                None => return Verdict::Allow,
            }
        } else {
            "no rule allows it".to_owned()
        };
        match self.mode {
            PermissionMode::Auto => ask(reason, true),
            PermissionMode::DontAsk => denied(&[&reason, ", and no one may be asked"]),
            _ => self.ask_host(&reason),
        }
    }

    fn ask_host(&self, reason: &str) -> Verdict {
        if self.can_use_tool {
            ask(reason.to_owned(), false)
        } else {
            denied(&[reason])
        }
    }

    /// True while the mode `plan` prevents calls of the tool.
    fn is_put_off(&self, tool: &ToolConfig) -> bool {
        self.mode == PermissionMode::Plan && !tool.is_harmless()
    }

    /// True when no call of the tool can run, for another reason than the mode `plan`.
    pub fn forbids(&self, tool: &ToolConfig) -> bool {
        if self.is_put_off(tool) {
            return false;
        }
        let verdict = self.judge_subject(tool, &Subject::Unknown, tool.needs_approval, false);
        let may_allow = |rule: &Rule| rule.names_to_allow(tool);
        matches!(verdict, Verdict::Deny { .. }) && !self.allow.iter().any(may_allow)
    }

    /// True when a bare deny rule takes the tool out of the requests.
    pub fn removes(&self, tool: &ToolConfig) -> bool {
        self.deny.iter().any(|rule| rule.is_bare() && rule.names(tool))
    }

    /// Rejects rules that cannot work with these tools.
    ///
    /// # Errors
    /// A scope on a tool with calls that have nothing to compare, or a scope of the wrong kind. Such a rule would
    /// have no effect.
    pub fn check(&self, tools: &[ToolConfig]) -> Result<(), ConfigError> {
        for (list, rules) in ["allow", "ask", "deny"]
            .iter()
            .zip([&self.allow, &self.ask, &self.deny])
        {
            for rule in rules {
                if let Some(flaw) = tools.iter().find_map(|tool| rule.flaw(list, tool)) {
                    return Err(ConfigError::new(
                        format!("permissions.{list}"),
                        format!("the scope of {}{flaw}", rule.to_text()),
                    ));
                }
            }
        }
        Ok(())
    }

    /// The allow rules that are ignored: a name with a star is valid only after a server's name.
    pub fn ignored_rules(&self) -> Vec<String> {
        let ignored = self.allow.iter().filter(|rule| !rule.is_usable_to_allow());
        ignored.map(Rule::to_text).collect()
    }
}

impl ToolConfig {
    /// True when the tool only reads. A handoff changes nothing: the calls of the next agent are judged by
    /// themselves.
    pub fn is_harmless(&self) -> bool {
        let is_handoff = self.agent.is_some_and(|agent| agent.handoff);
        self.read_only || is_handoff || matches!(self.access(), Some(Access::Read | Access::Fetch))
    }

    /// True for the tools of the Agent SDK that search below a path, which is optional in their calls.
    pub fn searches(&self) -> bool {
        matches!(self.name.as_str(), "Glob" | "Grep")
            && self.access() == Some(Access::Read)
            && self.rule_subject.is_none()
    }

    /// The kind of resource that the tool touches, by its own word or else by its well-known name.
    pub fn access(&self) -> Option<Access> {
        self.access.or(match self.name.as_str() {
            "Bash" => Some(Access::Shell),
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => Some(Access::Edit),
            "Read" | "Glob" | "Grep" => Some(Access::Read),
            "WebFetch" => Some(Access::Fetch),
            _ => None,
        })
    }
}

impl Rule {
    /// True if the rule may allow calls: a name with a star is valid only after `mcp__server`.
    pub fn is_usable_to_allow(&self) -> bool {
        let Some(rest) = self.tool.strip_prefix("mcp__") else {
            return !is_glob(&self.tool);
        };
        let server = rest.get(..rest.find("__").unwrap_or(rest.len()));
        !server.is_none_or(is_glob) || !is_glob(&self.tool)
    }
}

fn denied(reason: &[&str]) -> Verdict {
    Verdict::Deny {
        reason: reason.concat(),
    }
}

fn ask(reason: String, classify: bool) -> Verdict {
    Verdict::Ask { reason, classify }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
