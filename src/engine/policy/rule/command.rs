//! Commands against patterns such as `npm *`: `*` stands for any run of characters, spaces included; a blank before a last
//! `*` wants the end of a word there, and `:*` at the end is the same.

use crate::engine::policy::rule::glob;
use crate::engine::policy::rule::path::stays_inside;
use crate::engine::policy::shell::{BLANK, Command, Line, squeezed};
use crate::engine::text::{parts as split, replaced};

/// Commands that only move files about. Not `sed`, though the Agent SDK takes it: GNU's runs commands (`e`) and writes
/// any file (`w`). <https://code.claude.com/docs/en/permission-modes> (2026-11-22)
const FILE_COMMANDS: &[&str] = &["mkdir", "touch", "rm", "rmdir", "mv", "cp"];

/// For rules that allow: whether each command of the line fits one of the patterns, letter by letter, and nothing else
/// is in the line.
pub fn covers(patterns: &[&str], line: &Line) -> bool {
    let mut commands = line.commands.iter().take(line.own).peekable();
    let count = |text: &str| text.bytes().filter(|byte| matches!(byte, b'<' | b'>')).count();
    let does_fit = |command: &Command| {
        let text = |to: usize| line.text.get(command.from..to).unwrap_or_default().trim_end();
        let (whole, assigned) = (text(command.to), command.assigned.map(text).unwrap_or_default());
        let may_fit = |pattern: &&&str| {
            // What changes how a command runs, or a file that is written or read beside it, is for the pattern to name.
            pattern.starts_with(assigned)
                && (!command.uses_file || count(whole) <= count(pattern))
                && fits(pattern, whole, 0)
        };
        patterns.iter().any(|pattern| may_fit(&pattern))
    };
    line.is_plain && commands.peek().is_some() && commands.all(does_fit)
}

/// For rules that deny or ask: a command that the line may run fits, as it stands, behind its folder, or behind a command
/// that runs others. The name counts in upper and lower case.
pub fn touches(pattern: &str, line: &Line) -> bool {
    let raw = squeezed(pattern);
    if line.is_hidden || fits(&raw, &squeezed(&line.text), 0) {
        return true;
    }
    let pattern: String = raw
        .chars()
        .filter(|sign| !matches!(sign, '"' | '\'' | '\\'))
        .collect();
    let (name, rest) = pattern.split_once(' ').unwrap_or((&pattern, ""));
    let behind_options = (!rest.is_empty()).then(|| [name, " * ", rest].concat());
    let anywhere = |pattern: &str, text: &str| {
        ["* ", "*/"]
            .iter()
            .any(|before| fits(&[before, pattern].concat(), text, before.len() + name.len()))
    };
    line.commands.iter().any(|command| {
        let words = command.words.as_str();
        let plain = replaced(words, BLANK, b' ');
        let named = |text: &'_ str| text.get(command.name..).unwrap_or_default().to_owned();
        fits(&pattern, &plain, name.len())
            || fits(&pattern, &named(&plain), name.len())
            || (command.runs_others && anywhere(&pattern, words))
            || behind_options.as_deref().is_some_and(|pattern| {
                (command.has_option && fits(pattern, &named(words), name.len()))
                    || (command.runs_others && anywhere(pattern, words))
            })
    })
}

/// A command of plain words alone, which names nothing outside the place where the run works.
pub fn only_moves_files(line: &str) -> bool {
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b',' | b'+' | b'@')
    };
    let is_option = |word: &str| {
        word.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let parts = parts(line);
    let is_file_work = |part: &&str| {
        let mut words = part.split_ascii_whitespace();
        let name = words.next().unwrap_or_default();
        let is_here = |word: &str| word.bytes().all(|byte| matches!(byte, b'.' | b'/'));
        let may_take = |word: &str| {
            word.bytes().all(is_plain)
                && match word.strip_prefix('-') {
                    Some(option) => is_option(option),
                    None => stays_inside(word) && !(name == "rm" && is_here(word)),
                }
        };
        FILE_COMMANDS.contains(&name) && words.all(may_take)
    };
    !parts.is_empty() && parts.iter().all(is_file_work)
}

/// The line cut, whatever is quoted, at `&&`, `||`, `;`, `|`, `|&`, `&` and line breaks.
fn parts(line: &str) -> Vec<&str> {
    let mut parts = split(line, b"&|;\n\r");
    for part in &mut parts {
        *part = part.trim();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// `folded`: how many bytes of the pattern count in upper and lower case.
fn fits(pattern: &str, command: &str, folded: usize) -> bool {
    let open = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *"));
    match open {
        // `ls *` is `ls` and `ls -la`, but not `lsof`.
        Some(start) => glob(start, command, folded) || glob(&[start, " *"].concat(), command, folded),
        None => glob(pattern, command, folded),
    }
}
