//! Rules for the person who is asked about a call: the rule that asks, and a rule that would allow such calls.
//!
//! The agent puts both into the question of a permission. A suggestion is tried before it is made: if the rule would
//! not allow this very call, none is suggested. Nothing is changed here; only your answer adds a rule.

use crate::engine::model::config::ToolConfig;
use crate::engine::model::config::permission::Rule;
use crate::engine::model::config::permission::{PermissionMode, Permissions};
use crate::engine::policy::permission::Verdict;
use crate::engine::policy::rule::subject::{Asked, Subject, Text};
use crate::engine::policy::rule::{address, command, is_glob};

impl Permissions {
    /// The rule because of which your code is asked about this call, whatever the mode.
    pub fn asking(&self, asked: &Asked<'_>) -> Option<&Rule> {
        let subject = Subject::of(asked);
        self.ask.iter().find(|rule| rule.touches(asked.tool, &subject))
    }

    /// True when your code has a function to ask, but is never asked about this tool.
    pub fn shadows(&self, tool: &ToolConfig) -> bool {
        let covers = |rule: &Rule| rule.is_bare() && rule.is_usable_to_allow() && rule.names(tool);
        let is_open = self.mode == PermissionMode::BypassPermissions || self.allow.iter().any(covers);
        let may_ask = tool.needs_approval
            || tool.prepare
            || self.mode == PermissionMode::Plan
            || self.ask.iter().any(|rule| rule.names(tool))
            || self.may_doubt(tool);
        self.can_use_tool && is_open && !may_ask
    }

    /// The narrowest rule that would allow this call, if any could.
    pub fn suggestion(&self, asked: &Asked<'_>) -> Option<Rule> {
        let rule = rule_for(asked)?;
        let mut permissions = self.clone();
        permissions.allow.push(rule.clone());
        let is_read_back = Rule::parse(&rule.to_text()).as_ref() == Some(&rule);
        let is_allowed = permissions.judge(asked, false, false) == Verdict::Allow;
        (is_allowed && is_read_back).then_some(rule)
    }
}

fn rule_for(asked: &Asked<'_>) -> Option<Rule> {
    let specifier = if Subject::has_one(asked.tool) {
        let subject = Subject::of(asked);
        let [text] = subject.texts() else {
            return None;
        };
        Some(specifier_for(text).filter(|specifier| !is_glob(specifier))?)
    } else {
        None
    };
    Some(Rule {
        tool: asked.tool.name.clone(),
        specifier,
    })
}

/// A specifier that speaks of this text and, except for addresses, of nothing beside it.
fn specifier_for(text: &Text) -> Option<String> {
    Some(match text {
        Text::Address { address, .. } => {
            let host = address.as_ref().map(|address| &address.host);
            ["domain:", host.filter(|host| address::is_domain(host))?].concat()
        }
        Text::Path { path, .. } if path.starts_with(['~', '.']) => path.clone(),
        // A single slash in a rule means the working folder.
        Text::Path { path, .. } => [if path.starts_with('/') { "/" } else { "./" }, path].concat(),
        Text::Command(line) => command::squeezed(line),
        Text::Other(text) => text.clone(),
        Text::Hidden => return None,
    })
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::model::message::Json;

    fn suggested(tool: &str, field: &str, value: &str) -> Option<String> {
        let schema = json!({"type": "object", "properties": {field: {"type": "string"}}}).to_string();
        let tool = ToolConfig::new(tool.into(), Json::parse(&schema).unwrap());
        let input = json!({ field: value }).to_string();
        let permissions = Permissions {
            can_use_tool: true,
            ..Permissions::default()
        };
        let asked = Asked {
            tool: &tool,
            input: &input,
            readings: crate::engine::policy::rule::tests::readings(),
        };
        permissions.suggestion(&asked).as_ref().map(Rule::to_text)
    }

    #[test]
    fn the_rule_that_is_suggested_allows_the_call_and_little_else() {
        for (tool, field, value, rule) in [
            ("act", "x", "1", Some("act")),
            ("Bash", "command", "npm test", Some("Bash(npm test)")),
            ("Bash", "command", " npm  test ", Some("Bash(npm test)")),
            ("Bash", "command", "echo '(a)'", None),
            ("Bash", "command", "CI=1 npm test", None),
            ("Bash", "command", "rm *", None),
            ("Bash", "command", "echo `id`", None),
            ("Bash", "command", "npm test && id", None),
            ("Bash", "command", "echo (a", None),
            ("Bash", "other", "ls", None),
            ("Read", "path", "a.txt", Some("Read(./a.txt)")),
            ("Read", "path", "/etc/hosts", Some("Read(//etc/hosts)")),
            ("Read", "path", "~/a", Some("Read(~/a)")),
            ("Read", "path", "src/../b", None),
            (
                "WebFetch",
                "url",
                "https://a.example/x?y",
                Some("WebFetch(domain:a.example)"),
            ),
            (
                "WebFetch",
                "url",
                "https://A.example:8080",
                Some("WebFetch(domain:a.example)"),
            ),
            ("WebFetch", "url", "https://me@a.example/", None),
            ("WebFetch", "url", "//a.example", None),
            ("WebFetch", "url", "https://[::1]/", None),
        ] {
            assert_eq!(suggested(tool, field, value).as_deref(), rule, "{value}");
        }
    }

    #[test]
    fn nothing_is_suggested_where_no_rule_helps() {
        let tool = ToolConfig::new("act".into(), Json::empty_object());
        let rule = |text| Rule::parse(text).unwrap();
        let asked = Permissions {
            ask: vec![rule("act")],
            ..Permissions::default()
        };
        let call = Asked {
            tool: &tool,
            input: "{}",
            readings: &[],
        };
        assert_eq!(asked.suggestion(&call), None);
        assert_eq!(asked.asking(&call), Some(&rule("act")));
        let planning = Permissions {
            mode: PermissionMode::Plan,
            can_use_tool: true,
            ..Permissions::default()
        };
        assert_eq!(planning.suggestion(&call), None);
    }
}
