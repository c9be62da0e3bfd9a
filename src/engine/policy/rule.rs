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

    /// For rules that deny or ask: something of the call is, or may be, what the rule speaks of.
    pub fn touches(&self, tool: &ToolConfig, subject: &Subject) -> bool {
        self.names(tool) && self.meets(subject, false)
    }

    /// For rules that allow: everything of the call is what the rule speaks of.
    pub fn covers(&self, tool: &ToolConfig, subject: &Subject) -> bool {
        self.is_usable_to_allow() && self.names(tool) && self.meets(subject, true)
    }

    fn meets(&self, subject: &Subject, is_allowing: bool) -> bool {
        match (self.specifier.as_deref(), subject) {
            (None, _) => true,
            (Some(_), Subject::Unknown) => false,
            // A call that hides what it is about is held back.
            (Some(_), Subject::Of(texts)) if texts.is_empty() => !is_allowing,
            (Some(specifier), Subject::Of(texts)) => {
                let does_fit = |text| fits(specifier, text, is_allowing);
                texts.iter().any(|text| does_fit(text) != is_allowing) != is_allowing
            }
        }
    }
}

fn fits(specifier: &str, text: &Text, is_allowing: bool) -> bool {
    match text {
        Text::Hidden => !is_allowing,
        Text::Command(line) if is_allowing => command::covers(specifier, line),
        Text::Command(line) => command::touches(specifier, line),
        Text::Path(path) => path::fits(specifier, path, is_allowing),
        Text::Address(address) => match specifier.strip_prefix("domain:") {
            Some(domain) => match address::host(address) {
                Some(host) => address::fits(domain, &host),
                None => !is_allowing,
            },
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
        step();
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

/// Marks a turn of a loop over what a model has written. Tests count them: none may grow with the square of the text.
pub fn step() {
    #[cfg(all(test, not(target_arch = "wasm32")))]
    tests::STEPS.set(tests::STEPS.get() + 1);
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
