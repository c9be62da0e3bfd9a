//! A permission rule: `Tool` or `Tool(specifier)`, and what its specifier is compared with.
//!
//! What is compared is written by a model that may want past the rule. Rules that deny or ask are hit by whatever can be
//! read as theirs, rules that allow cover only what cannot be read as anything else.
//! <https://code.claude.com/docs/en/settings> (2026-11-21)

use serde::{Deserialize, Serialize};

use super::super::config::{Access, ToolConfig};
use super::subject::{Subject, Text};
use super::{address, command, path};

/// A rule, read from its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
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

    /// Something of the call is, or may be, what the rule speaks of: for rules that deny or ask.
    pub fn touches(&self, tool: &ToolConfig, subject: &Subject) -> bool {
        if !self.names(tool) {
            return false;
        }
        match (self.specifier.as_deref(), subject) {
            (None, _) => true,
            (Some(_), Subject::Unknown) => false,
            // A call that hides what it is about is held back.
            (Some(specifier), Subject::Of(texts)) => {
                texts.is_empty() || texts.iter().any(|text| touches(specifier, text))
            }
        }
    }

    /// Everything of the call is what the rule speaks of: for rules that allow.
    pub fn covers(&self, tool: &ToolConfig, subject: &Subject) -> bool {
        if !self.is_usable_to_allow() || !self.names(tool) {
            return false;
        }
        match (self.specifier.as_deref(), subject) {
            (None, _) => true,
            (Some(_), Subject::Unknown) => false,
            (Some(specifier), Subject::Of(texts)) => {
                !texts.is_empty() && texts.iter().all(|text| covers(specifier, text))
            }
        }
    }
}

fn touches(specifier: &str, text: &Text) -> bool {
    match text {
        Text::Hidden => true,
        Text::Command(line) => command::touches(specifier, line),
        Text::Path(path) => path::touches(specifier, path),
        Text::Address(address) => match specifier.strip_prefix("domain:") {
            Some(domain) => address::host(address).is_none_or(|host| address::fits(domain, &host)),
            None => matches(specifier, address),
        },
        Text::Other(text) => matches(specifier, text),
    }
}

fn covers(specifier: &str, text: &Text) -> bool {
    match text {
        Text::Hidden => false,
        Text::Command(line) => command::covers(specifier, line),
        Text::Path(path) => path::covers(specifier, path),
        Text::Address(address) => match specifier.strip_prefix("domain:") {
            Some(domain) => address::host(address).is_some_and(|host| address::fits(domain, &host)),
            None => matches(specifier, address),
        },
        Text::Other(text) => matches(specifier, text),
    }
}

impl TryFrom<String> for Rule {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Rule, &'static str> {
        Rule::parse(&text).ok_or("no rule")
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
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut from) = (0, 0);
    // Where the last star stands, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match (pattern.get(at), star) {
            (Some(b'*'), _) => {
                star = Some((at, from));
                at += 1;
            }
            (Some(sign), _) if text.get(from) == Some(sign) => {
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

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
