//! What the host may want to know of the rules when it is asked about a call: which one asks, and which one would let
//! such calls through.

use crate::engine::model::config::ToolConfig;
use crate::engine::policy::permission::{PermissionMode, Permissions, Verdict};
use crate::engine::policy::rule::subject::{Subject, Text};
use crate::engine::policy::rule::{Rule, is_glob};
use crate::engine::policy::shell::Command;
use crate::engine::text::parts;

impl Permissions {
    /// The rule that has the host asked about this call, whatever the mode.
    pub fn asking(&self, tool: &ToolConfig, input: &str) -> Option<&Rule> {
        let subject = Subject::of(tool, input);
        self.ask.iter().find(|rule| rule.touches(tool, &subject))
    }

    /// The host has a function to be asked, and it never is about this tool.
    pub fn shadows(&self, tool: &ToolConfig) -> bool {
        let covers = |rule: &Rule| rule.is_bare() && rule.is_usable_to_allow() && rule.names(tool);
        let is_open = self.mode == PermissionMode::BypassPermissions || self.allow.iter().any(covers);
        let may_ask = tool.needs_approval
            || tool.prepare
            || self.mode == PermissionMode::Plan
            || self.ask.iter().any(|rule| rule.names(tool));
        self.can_use_tool && is_open && !may_ask
    }

    /// The narrowest rules that would allow this call, if any could: tried out.
    pub fn suggestion(&self, tool: &ToolConfig, input: &str) -> Vec<Rule> {
        let rules = rules_for(tool, &Subject::of(tool, input)).unwrap_or_default();
        let mut permissions = self.clone();
        permissions.allow.extend(rules.iter().cloned());
        let is_read_back = |rule: &Rule| Rule::parse(&rule.to_text()).as_ref() == Some(rule);
        let is_allowed = permissions.judge(tool, input, false, false) == Verdict::Allow;
        if is_allowed && rules.iter().all(is_read_back) {
            rules
        } else {
            Vec::new()
        }
    }
}

fn rules_for(tool: &ToolConfig, subject: &Subject) -> Option<Vec<Rule>> {
    let rule = |specifier: Option<String>| Rule {
        tool: tool.name.clone(),
        specifier,
    };
    let text = match subject {
        _ if !Subject::has_one(tool) => return Some(vec![rule(None)]),
        Subject::Of(texts) => match texts.as_slice() {
            [text] => text,
            _ => return None,
        },
        Subject::Unknown => return None,
    };
    let specifiers = specifiers_for(text)?;
    let is_pattern = specifiers.iter().any(|specifier| is_glob(specifier));
    (!is_pattern).then(|| specifiers.into_iter().map(Some).map(rule).collect())
}

/// What speaks of this and, but for addresses, of nothing beside it.
fn specifiers_for(text: &Text) -> Option<Vec<String>> {
    let specifier = match text {
        Text::Address(address) => {
            let authority = parts(address.split_once("://")?.1, b"/\\?#").first().copied()?;
            let host = parts(authority, b"@").last().copied()?;
            ["domain:", parts(host, b":").first().copied()?].concat()
        }
        Text::Path(path) if path.starts_with(['~', '.']) => path.clone(),
        // A rule's single slash is where the run works.
        Text::Path(path) => [if path.starts_with('/') { "/" } else { "./" }, path].concat(),
        Text::Command(line) => {
            let own = line.commands.iter().take(line.own);
            let text =
                |command: &Command| Some(line.text.get(command.from..command.to)?.trim_end().to_owned());
            return own.map(text).collect();
        }
        Text::Other(text) => text.clone(),
        Text::Hidden => return None,
    };
    Some(vec![specifier])
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
        let rules = permissions.suggestion(&tool, &input);
        (!rules.is_empty()).then(|| rules.iter().map(Rule::to_text).collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn the_rule_that_is_suggested_allows_the_call_and_little_else() {
        for (tool, field, value, rule) in [
            ("act", "x", "1", Some("act")),
            ("Bash", "command", "npm test", Some("Bash(npm test)")),
            ("Bash", "command", "echo '(a)'", Some("Bash(echo '(a)')")),
            ("Bash", "command", "rm *", None),
            ("Bash", "command", "echo `id`", None),
            (
                "Bash",
                "command",
                "npm test && id",
                Some("Bash(npm test), Bash(id)"),
            ),
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
                "https://me@A.example:8080",
                Some("WebFetch(domain:A.example)"),
            ),
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
        assert_eq!(asked.suggestion(&tool, "{}"), []);
        assert_eq!(asked.asking(&tool, "{}"), Some(&rule("act")));
        let planning = Permissions {
            mode: PermissionMode::Plan,
            can_use_tool: true,
            ..Permissions::default()
        };
        assert_eq!(planning.suggestion(&tool, "{}"), []);
    }
}
