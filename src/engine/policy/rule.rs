//! A permission rule: `Tool` or `Tool(specifier)`, and the comparison of its specifier with a call's texts.
//!
//! A model writes these texts and may try to bypass a rule. So allow rules cover only texts with a single reading.
//! Deny and ask rules search a text for their words. A text that they cannot search requires a question if it would
//! have run. <https://code.claude.com/docs/en/settings> (2026-11-21)
//!
//! [`crate::engine::policy::permission`] has the lists and calls [`Rule::touches`] and [`cover`]. A text that is not
//! a rule is rejected when it is read. Every comparison takes linear time in the length of the text.

mod address;
mod command;
pub mod path;
pub mod protected;
pub mod reading;
pub mod subject;
mod suggestion;

use crate::engine::model::config::permission::Rule;
use crate::engine::model::config::{Access, ToolConfig};
use subject::{Subject, Text};

impl Rule {
    /// True if the rule applies to the tool as a whole.
    pub fn is_bare(&self) -> bool {
        self.specifier.is_none()
    }

    /// True if the rule names this tool: by its name or a pattern, by its server (`mcp__server`), by `Edit`, which
    /// includes every tool that writes files, or by `Read` with a specifier, which includes every tool that reads
    /// files. A text after `mcp__` with a `__` in it may be a server or a tool, and counts as both here.
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
            || (self.tool == "Read" && !self.is_bare() && tool.access() == Some(Access::Read))
    }

    /// For allow rules: true if the rule names this tool and may allow calls. Here the server's name ends at the
    /// first `__`: `mcp__a__b` is the tool `b` of the server `a`, and covers none of its tools with names that begin
    /// with `b__`.
    pub fn names_to_allow(&self, tool: &ToolConfig) -> bool {
        let is_tool = |rest: &str| rest.contains("__");
        let is_whole = self.tool == tool.name || is_glob(&self.tool) || self.tool == "Edit";
        self.is_usable_to_allow()
            && self.names(tool)
            && (is_whole || !self.tool.strip_prefix("mcp__").is_some_and(is_tool))
    }

    /// For deny and ask rules: true if the rule applies, or may apply, to a part of the call.
    pub fn touches(&self, tool: &ToolConfig, subject: &Subject) -> bool {
        self.names(tool) && self.meets(subject)
    }

    fn meets(&self, subject: &Subject) -> bool {
        match (self.specifier.as_deref(), subject) {
            (None, _) => true,
            (Some(_), Subject::Unknown) => false,
            // A call that hides its subject is held back.
            (Some(specifier), Subject::Of(texts)) => {
                texts.is_empty() || texts.iter().any(|text| text.touches(specifier))
            }
        }
    }

    /// Why no call of this tool can ever match the specifier, as a rule of `list`, if so.
    pub fn flaw(&self, list: &str, tool: &ToolConfig) -> Option<&'static str> {
        let specifier = self.specifier.as_deref().filter(|_| self.names(tool))?;
        let is_blind = || !Subject::has_one(tool) || (self.tool == tool.name && Subject::is_undeclared(tool));
        let is_domain = |domain| address::is_domain(domain);
        match tool.access() {
            _ if is_blind() => Some(
                " cannot be checked: give the tool an access, or the ruleSubject that names one of its input's fields",
            ),
            Some(Access::Fetch) if !specifier.strip_prefix("domain:").is_none_or(is_domain) => Some(
                " never matches: domain: takes only a host (domain:localhost, domain:xn--bcher-kva.de); for a port or a path, write the address (http://localhost:3000/*)",
            ),
            Some(Access::Shell) if list == "allow" && !command::may_cover(specifier) => Some(
                " never matches: only lines of letters, digits, spaces and _-./:@%+,= are allowed by a rule (no = in the first word); allow the tool as a whole, or decide in permissions.canUseTool",
            ),
            _ => None,
        }
    }
}

/// For allow rules: true when each part of the call is covered by one of the rules.
pub fn cover(rules: &[Rule], tool: &ToolConfig, subject: &Subject) -> bool {
    let mut specifiers = Vec::new();
    for rule in rules {
        if rule.names_to_allow(tool) {
            match &rule.specifier {
                Some(specifier) => specifiers.push(specifier.as_str()),
                None => return true,
            }
        }
    }
    let is_covered = |text: &Text| specifiers.iter().any(|specifier| text.is_covered(specifier));
    !subject.texts().is_empty() && subject.texts().iter().all(is_covered)
}

impl Text {
    /// For allow rules: true when the text is covered.
    fn is_covered(&self, specifier: &str) -> bool {
        match self {
            Text::Command(line) => command::covers(specifier, line),
            Text::Path { path, cwd, .. } => path::covers(specifier, path, cwd.as_deref()),
            Text::Address { text, address } => {
                let covers = |address| address::covers(specifier, text, address);
                address.as_ref().is_some_and(covers)
            }
            Text::Other(text) => matches(specifier, text),
            Text::Hidden => false,
        }
    }

    /// For deny and ask rules: true when the text contains a match.
    fn touches(&self, specifier: &str) -> bool {
        match self {
            Text::Command(line) => command::touches(specifier, line),
            Text::Path { path, composed, cwd } => {
                path::touches(specifier, path, composed.as_deref(), cwd.as_deref())
            }
            Text::Address { text, address } => address::touches(specifier, text, address.as_ref()),
            Text::Other(text) => matches(specifier, text),
            Text::Hidden => true,
        }
    }

    /// True when a deny rule may fail to find its words in the text.
    pub fn is_unclear(&self) -> bool {
        match self {
            Text::Command(line) => !command::is_plain(line),
            Text::Address { text, address } => {
                let is_plain = |address| address::is_plain(text, address);
                !address.as_ref().is_some_and(is_plain)
            }
            _ => false,
        }
    }
}

pub fn is_glob(text: &str) -> bool {
    text.contains('*')
}

/// True if the whole text matches the pattern. Its only special character is `*`.
pub fn matches(pattern: &str, text: &str) -> bool {
    glob(pattern, text, 0)
}

/// Like [`matches()`], with the first `folded` bytes of the pattern in upper or lower case.
pub fn glob(pattern: &str, text: &str, folded: usize) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut from) = (0, 0);
    // The index after the last star, and the end of the text that the star has matched.
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

/// Counts a step of a loop over text that a model wrote. Tests check that no count grows quadratically.
pub fn step() {
    #[cfg(all(test, not(target_arch = "wasm32")))]
    tests::STEPS.set(tests::STEPS.get() + 1);
}

#[cfg(all(test, not(target_arch = "wasm32")))]
pub(super) mod tests;
