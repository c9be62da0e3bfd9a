//! A permission rule: `Tool` or `Tool(specifier)`, and what its specifier is compared with.
//!
//! `*` stands for any run of characters, spaces included; a blank before a last `*` wants the end of a word there, and
//! `:*` at the end is the same. Of a command that joins several, every one must be allowed, and one that is denied is
//! enough. Paths take the patterns of a `.gitignore`, addresses `domain:host`.
//! <https://code.claude.com/docs/en/settings> (2026-11-21)

use serde::{Deserialize, Serialize};

use super::super::config::{Access, ToolConfig};
use super::super::json_reader::Object;
use super::super::text::parts as split;

/// A rule, read from its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rule {
    /// The tool's name, or a pattern of names.
    pub tool: String,
    pub specifier: Option<String>,
}

/// Commands that only move files about.
const FILE_COMMANDS: &[&str] = &["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];

impl Rule {
    /// `None` for a text that is no rule: an empty name, a bracket that is not closed.
    pub fn parse(text: &str) -> Option<Rule> {
        let text = text.trim();
        let (tool, specifier) = match text.split_once('(') {
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')')?)),
            None => (text, None),
        };
        if tool.is_empty() || tool.contains([')', ' ']) {
            return None;
        }
        let specifier = specifier.filter(|specifier| !["", "*"].contains(specifier));
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

    /// Something of the call is what the rule speaks of: for rules that deny or ask.
    pub fn touches(&self, tool: &ToolConfig, subject: &Subject) -> bool {
        self.names(tool) && self.fits(subject, false)
    }

    /// Everything of the call is what the rule speaks of: for rules that allow.
    pub fn covers(&self, tool: &ToolConfig, subject: &Subject) -> bool {
        self.is_usable_to_allow() && self.names(tool) && self.fits(subject, true)
    }

    fn fits(&self, subject: &Subject, all: bool) -> bool {
        let Some(specifier) = self.specifier.as_deref() else {
            return true;
        };
        match subject {
            Subject::Unknown => false,
            // A call that hides what it is about is held back, and never allowed.
            Subject::None => !all,
            Subject::Command(command) if all => {
                !hides_commands(command) && parts(command).iter().all(|part| command_fits(specifier, part))
            }
            Subject::Command(command) => {
                command_fits(specifier, command)
                    || parts(command).iter().any(|part| command_fits(specifier, part))
            }
            Subject::Path(path) => path_fits(specifier, path),
            Subject::Address(address) => match specifier.strip_prefix("domain:") {
                Some(domain) => host_fits(domain, host(address)),
                None => matches(specifier, address),
            },
            Subject::Text(text) => matches(specifier, text),
        }
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

/// The part of a call's input that specifiers are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Of no call in particular.
    Unknown,
    /// The input lacks the field, or it is no text.
    None,
    Command(String),
    Path(String),
    Address(String),
    Text(String),
}

impl Subject {
    pub fn of(tool: &ToolConfig, input: &str) -> Subject {
        let Some(object) = Object::parse(input) else {
            return Subject::None;
        };
        let fields: &[&str] = match (&tool.rule_subject, tool.access()) {
            (Some(field), _) => &[field],
            (None, Some(Access::Shell)) => &["command"],
            (None, Some(Access::Read | Access::Edit)) => &["file_path", "path", "notebook_path"],
            (None, Some(Access::Fetch)) => &["url"],
            (None, None) => &[],
        };
        let Some(text) = fields.iter().find_map(|field| object.string(field)) else {
            return Subject::None;
        };
        let text = text.into_owned();
        match tool.access() {
            Some(Access::Shell) => Subject::Command(text),
            Some(Access::Read | Access::Edit) => Subject::Path(text),
            Some(Access::Fetch) => Subject::Address(text),
            None => Subject::Text(text),
        }
    }

    /// Specifiers make sense for this tool.
    pub fn has_one(tool: &ToolConfig) -> bool {
        tool.rule_subject.is_some() || tool.access().is_some()
    }

    /// Only moves files about: an edit, or a command of nothing else.
    pub fn is_file_work(&self, tool: &ToolConfig) -> bool {
        match self {
            Subject::Command(command) => {
                let is_file_command =
                    |part: &&str| FILE_COMMANDS.contains(&part.split_whitespace().next().unwrap_or_default());
                !hides_commands(command) && parts(command).iter().all(is_file_command)
            }
            _ => tool.access() == Some(Access::Edit),
        }
    }
}

pub fn is_glob(text: &str) -> bool {
    text.contains('*')
}

/// A command inside a command escapes its pattern.
fn hides_commands(command: &str) -> bool {
    ["$(", "`", "<(", ">("].iter().any(|sign| contains(command, sign))
}

fn contains(text: &str, part: &str) -> bool {
    super::super::text::find(text, part).is_some()
}

/// The commands of a line, cut at `&&`, `||`, `;`, `|`, `|&`, `&` and line breaks; quotes are not looked at, which
/// can only make a rule that allows stricter.
fn parts(command: &str) -> Vec<&str> {
    let mut parts = split(command, b"&|;\n\r");
    for part in &mut parts {
        *part = part.trim();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn command_fits(pattern: &str, command: &str) -> bool {
    let open = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *"));
    match open {
        // `ls *` is `ls` and `ls -la`, but not `lsof`.
        Some(start) => matches(start, command) || matches(&[start, " *"].concat(), command),
        None => matches(pattern, command),
    }
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

/// The patterns of a `.gitignore`: `*` within a level, `**` over levels; a pattern without a slash inside fits at any
/// depth, one that names a folder fits what is in it. `//` starts at the root, `~/` at the home, `/` and `./` here.
fn path_fits(pattern: &str, path: &str) -> bool {
    let path = clean(path);
    let (pattern, anchored) = match pattern.strip_prefix("//") {
        Some(rest) => (["/", rest].concat(), true),
        None if pattern.starts_with("~/") => (pattern.to_owned(), true),
        None => {
            let rest = pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/'));
            let anchored = rest.is_some() || pattern.trim_end_matches('/').contains('/');
            (rest.unwrap_or(pattern).to_owned(), anchored)
        }
    };
    let wanted = split(pattern.trim_end_matches('/'), b"/");
    let levels = split(&path, b"/");
    if anchored {
        return levels_fit(&wanted, &levels);
    }
    (0..levels.len()).any(|from| levels_fit(&wanted, levels.get(from..).unwrap_or_default()))
}

/// Without `.`, with `..` applied: `a/../b` must not pass as something in `a`.
fn clean(path: &str) -> String {
    let mut levels: Vec<&str> = Vec::new();
    for level in split(path, b"/") {
        match level {
            "." => {}
            "" if !levels.is_empty() => {}
            ".." if levels.last().is_some_and(|last| !["..", ""].contains(last)) => drop(levels.pop()),
            level => levels.push(level),
        }
    }
    super::super::text::join(&levels, "/")
}

fn levels_fit(wanted: &[&str], levels: &[&str]) -> bool {
    match (wanted.split_first(), levels.split_first()) {
        (None, _) => true,
        (Some((&"**", rest)), Some((_, deeper))) => levels_fit(rest, levels) || levels_fit(wanted, deeper),
        (Some((want, rest)), Some((level, deeper))) => matches(want, level) && levels_fit(rest, deeper),
        (Some((want, rest)), None) => *want == "**" && rest.is_empty(),
    }
}

fn host(address: &str) -> &str {
    let behind = super::super::text::find(address, "://").map_or(0, |at| at + 3);
    let rest = address.get(behind..).unwrap_or_default();
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let authority = split(rest.get(..end).unwrap_or_default(), b"@");
    let named = split(authority.last().copied().unwrap_or_default(), b":");
    named.first().copied().unwrap_or_default()
}

fn host_fits(pattern: &str, host: &str) -> bool {
    let (pattern, host) = (pattern.to_ascii_lowercase(), host.to_ascii_lowercase());
    matches(&pattern, host.trim_end_matches('.'))
}
