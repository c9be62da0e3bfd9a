//! Paths that no call changes because of a mode, as programs, shells and later runs obey the files there.
//!
//! `NAMES` is the one list. `acceptEdits` accepts no edit of such a path, nor of any hidden one. With
//! `permissions.protectSettings` rules do not allow it either. <https://code.claude.com/docs/en/permission-modes>
//! (2026-11-28)

use crate::engine::model::config::{Access, ToolConfig};
use crate::engine::policy::rule::command::{self, is_plain_byte};
use crate::engine::policy::rule::path::{Folders, clean, folded, placed, settled, settled_name};
use crate::engine::policy::rule::subject::{Subject, Text};

/// What a protected name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    /// Only `acceptEdits` asks about it: editing it is everyday work, and it names commands that other programs run.
    Mode,
    /// Files of shells, repositories and editors, which name commands too. No rule allows it.
    Rules,
    /// What the next run of an agent obeys. No rule allows it, and `bypassPermissions` does not either.
    Settings,
}

const NAMES: &[(&str, Protection)] = &[
    (".claude", Protection::Settings),
    (".claude.json", Protection::Settings),
    (".mcp.json", Protection::Settings),
    ("claude.md", Protection::Settings),
    ("claude.local.md", Protection::Settings),
    (".bash_login", Protection::Rules),
    (".bash_logout", Protection::Rules),
    (".bash_profile", Protection::Rules),
    (".bashrc", Protection::Rules),
    (".devcontainer", Protection::Rules),
    (".envrc", Protection::Rules),
    (".git", Protection::Rules),
    (".gitconfig", Protection::Rules),
    (".gitmodules", Protection::Rules),
    (".husky", Protection::Rules),
    (".idea", Protection::Rules),
    (".npmrc", Protection::Rules),
    (".profile", Protection::Rules),
    (".ripgreprc", Protection::Rules),
    (".ssh", Protection::Rules),
    (".vscode", Protection::Rules),
    (".yarnrc", Protection::Rules),
    (".yarnrc.yml", Protection::Rules),
    (".zlogin", Protection::Rules),
    (".zprofile", Protection::Rules),
    (".zshenv", Protection::Rules),
    (".zshrc", Protection::Rules),
    ("agents.md", Protection::Mode),
    ("composer.json", Protection::Mode),
    ("gemini.md", Protection::Mode),
    ("package.json", Protection::Mode),
];

/// Programs that change nothing, whatever their words are. `tree -o`, `less -o` and `file -C` write files.
const READERS: &[&str] = &[
    "cat",
    "cmp",
    "cut",
    "diff",
    "du",
    "echo",
    "egrep",
    "fgrep",
    "grep",
    "head",
    "jq",
    "ls",
    "md5sum",
    "more",
    "nl",
    "printf",
    "pwd",
    "readlink",
    "realpath",
    "rg",
    "sha256sum",
    "stat",
    "tail",
    "test",
    "wc",
];

/// Programs that run the file in their first word, as a skill asks for.
const RUNNERS: &[&str] = &[
    "bash", "bun", "deno", "node", "perl", "python", "python3", "ruby", "sh", "tsx", "zsh",
];

/// The strongest protection of a level of the path.
pub fn of_level(level: &str) -> Option<Protection> {
    let name = folded(settled_name(level));
    NAMES.iter().find(|(other, _)| *other == name).map(|row| row.1)
}

/// The strongest protection that speaks of this call, if it changes something.
pub fn of_call(tool: &ToolConfig, subject: &Subject, folders: &Folders<'_>) -> Option<Protection> {
    if tool.is_harmless() {
        return None;
    }
    let of = |text: &Text| match text {
        Text::Path { path, .. } if tool.access() == Some(Access::Edit) => of_path(path, folders),
        Text::Command(line) => of_line(line, folders),
        _ => None,
    };
    subject.texts().iter().filter_map(of).max()
}

/// The levels of the working folder do not count.
fn of_path(path: &str, folders: &Folders<'_>) -> Option<Protection> {
    let path = settled(path);
    let whole = folders.cwd.map(|cwd| placed(&path, cwd));
    let named = folders.inside(&path).or(whole).unwrap_or(path);
    clean(&named).into_iter().filter_map(of_level).max()
}

/// A line is read part by part, each up to a character that has a meaning in some shell.
fn of_line(line: &str, folders: &Folders<'_>) -> Option<Protection> {
    let is_other = |sign: char| !u8::try_from(sign).is_ok_and(is_plain_byte);
    let mut found = None;
    let mut before = None;
    let mut rest = line;
    loop {
        let end = rest.find(is_other).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        let begins = before.is_none_or(|sign: char| matches!(sign, '\n' | ';' | '&' | '|' | '('));
        found = found.max(of_part(part, begins, before == Some('<'), folders));
        let mut signs = behind.chars();
        let Some(sign) = signs.next() else {
            return found;
        };
        before = Some(sign);
        rest = signs.as_str();
    }
}

/// `begins` means that the first word is a program, and `is_read` that it is a file to be read.
fn of_part(part: &str, begins: bool, is_read: bool, folders: &Folders<'_>) -> Option<Protection> {
    let word_of = |word: &str| {
        let paths = word.split(['=', ':', ',', '@']);
        let of_paths = paths.filter_map(|path| of_path(path, folders)).max();
        of_paths.max(of_path(word, folders)).max(of_glued(word))
    };
    let mut words = part.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    let program = first.rsplit(['/', '\\']).next().unwrap_or_default();
    if begins && READERS.contains(&program) {
        return None;
    }
    let mut rest = words;
    if begins && RUNNERS.contains(&program) {
        rest.next();
    }
    let of_rest = rest.filter_map(word_of).max();
    let fills = begins
        && command::fills(part, |path| {
            folders.inside(&settled(path)).is_some_and(|path| path.is_empty())
        });
    let of_contents = fills.then_some(Protection::Settings);
    let of_first = if begins || is_read { None } else { word_of(first) };
    of_rest.max(of_first).max(of_contents)
}

/// A path directly after the letters of an option, such as `cp a -t.claude` or `curl -sLoCLAUDE.md`.
fn of_glued(word: &str) -> Option<Protection> {
    let option = word.strip_prefix('-')?;
    let level = folded(option.split(['/', '\\']).next().map_or("", settled_name));
    let found = NAMES.iter().filter(|(name, _)| level.ends_with(name));
    found.map(|row| row.1).max()
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
