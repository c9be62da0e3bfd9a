//! A permission rule: `Tool` or `Tool(specifier)`, and what its specifier is compared with.
//!
//! What is compared is written by a model that may want past the rule. Rules that deny or ask are hit by whatever can be
//! read as theirs, rules that allow cover only what cannot be read as anything else.
//! <https://code.claude.com/docs/en/settings> (2026-11-21)

use serde::{Deserialize, Serialize};

use crate::engine::model::config::{Access, ToolConfig};
use crate::engine::policy::subject::{Subject, Text};
use crate::engine::policy::{address, command, path};

/// A rule, read from its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RuleForm", into = "String")]
pub struct Rule {
    /// The tool's name, or a pattern of names.
    pub tool: String,
    pub specifier: Option<String>,
}

impl Rule {
    /// `None` for a text that is no rule: an empty name, a bracket that is not closed or holds nothing.
    pub fn parse(text: &str) -> Option<Rule> {
        let text = text.trim();
        let (tool, specifier) = match text.split_once('(') {
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')')?)),
            None => (text, None),
        };
        if tool.is_empty() || tool.contains([')', ' ']) {
            return None;
        }
        let specifier = specifier.map(str::trim);
        if specifier == Some("") {
            return None;
        }
        let specifier = specifier.filter(|specifier| *specifier != "*");
        Some(Rule {
            tool: tool.to_owned(),
            specifier: specifier.map(str::to_owned),
        })
    }

    pub fn to_text(&self) -> String {
        match &self.specifier {
            Some(specifier) => [&self.tool, "(", specifier, ")"].concat(),
            None => self.tool.clone(),
        }
    }

    /// Speaks of the tool as a whole.
    pub fn is_bare(&self) -> bool {
        self.specifier.is_none()
    }

    /// Speaks of this tool: by its name or a pattern, by its server (`mcp__server`), or as the `Edit` that stands for
    /// every tool that writes files.
    pub fn names(&self, tool: &ToolConfig) -> bool {
        let name = tool.name.as_str();
        let of_server = || {
            self.tool.starts_with("mcp__")
                && name
                    .strip_prefix(self.tool.as_str())
                    .is_some_and(|rest| rest.starts_with("__"))
        };
        self.tool == name
            || (is_glob(&self.tool) && matches(&self.tool, name))
            || of_server()
            || (self.tool == "Edit" && tool.access() == Some(Access::Edit))
    }

    /// For rules that deny or ask: something of the call is, or may be, what the rule speaks of.
    pub fn touches(&self, tool: &ToolConfig, subject: &Subject) -> bool {
        self.names(tool) && self.meets(subject)
    }

    fn meets(&self, subject: &Subject) -> bool {
        match (self.specifier.as_deref(), subject) {
            (None, _) => true,
            (Some(_), Subject::Unknown) => false,
            // A call that hides what it is about is held back.
            (Some(specifier), Subject::Of(texts)) => {
                texts.is_empty() || texts.iter().any(|text| fits(specifier, text, false))
            }
        }
    }
}

/// For rules that allow: everything of the call is what one or the other of the rules speaks of.
pub fn cover(rules: &[Rule], tool: &ToolConfig, subject: &Subject) -> bool {
    let mut specifiers = Vec::new();
    for rule in rules {
        if rule.is_usable_to_allow() && rule.names(tool) {
            match &rule.specifier {
                Some(specifier) => specifiers.push(specifier.as_str()),
                None => return true,
            }
        }
    }
    let does_fit = |text: &Text| match text {
        Text::Command(line) => command::covers(&specifiers, line),
        text => specifiers.iter().any(|specifier| fits(specifier, text, true)),
    };
    matches!(subject, Subject::Of(texts) if !texts.is_empty() && texts.iter().all(does_fit))
}

fn fits(specifier: &str, text: &Text, is_allowing: bool) -> bool {
    match text {
        Text::Hidden => !is_allowing,
        Text::Command(line) => command::touches(specifier, line),
        Text::Path(path) => path::fits(specifier, path, is_allowing),
        Text::Address(address) => address::fits(specifier, address, is_allowing),
        Text::Other(text) => matches(specifier, text),
    }
}

/// A rule in JSON: its text, or its two parts as the Agent SDK has them.
#[derive(Deserialize)]
#[serde(untagged)]
enum RuleForm {
    Text(String),
    #[serde(rename_all = "camelCase")]
    Parts {
        tool_name: String,
        rule_content: Option<String>,
    },
}

impl TryFrom<RuleForm> for Rule {
    type Error = String;

    fn try_from(form: RuleForm) -> Result<Rule, String> {
        let text = match form {
            RuleForm::Text(text) => text,
            RuleForm::Parts {
                tool_name,
                rule_content: Some(content),
            } => [&tool_name, "(", &content, ")"].concat(),
            RuleForm::Parts { tool_name, .. } => tool_name,
        };
        Rule::parse(&text).ok_or_else(|| ["must be Tool or Tool(specifier), got ", &text].concat())
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> String {
        rule.to_text()
    }
}

pub fn is_glob(text: &str) -> bool {
    text.contains('*')
}

/// The whole text fits the pattern, whose only sign is `*`.
pub fn matches(pattern: &str, text: &str) -> bool {
    glob(pattern, text, 0)
}

/// The same, with the first bytes of the pattern in upper or lower case.
pub fn glob(pattern: &str, text: &str, folded: usize) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut from) = (0, 0);
    // Where the last star stands, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        step();
        match (pattern.get(at), star) {
            (Some(b'*'), _) => {
                star = Some((at, from));
                at += 1;
            }
            (Some(sign), _)
                if text.get(from).is_some_and(|found| {
                    sign == found || (at < folded && sign.eq_ignore_ascii_case(found))
                }) =>
            {
                at += 1;
                from += 1;
            }
            (_, Some((place, taken))) => {
                at = place + 1;
                from = taken + 1;
                star = Some((place, from));
            }
            _ => return false,
        }
    }
    pattern
        .get(at..)
        .unwrap_or_default()
        .iter()
        .all(|sign| *sign == b'*')
}

/// Marks a turn of a loop over what a model has written. Tests count them: none may grow with the square of the text.
pub fn step() {
    #[cfg(all(test, not(target_arch = "wasm32")))]
    tests::STEPS.set(tests::STEPS.get() + 1);
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod spellings;
#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
