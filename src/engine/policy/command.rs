//! Lines for a shell against patterns such as `npm *`: `*` stands for any run of characters, spaces included; a blank
//! before a last `*` wants the end of a word there, and `:*` at the end is the same.
//!
//! No shell is parsed here. Quotes are not looked at when a line is cut into commands: that makes rules that allow
//! stricter, and rules that deny broader.

use super::super::text::{find, parts as split};
use super::path::stays_inside;
use super::rule::matches;

/// Commands that only move files about. Not `sed`, though the Agent SDK takes it: GNU's runs commands (`e`) and writes
/// any file (`w`). <https://code.claude.com/docs/en/permission-modes> (2026-11-22)
const FILE_COMMANDS: &[&str] = &["mkdir", "touch", "rm", "rmdir", "mv", "cp"];

/// Words before a command that do not change which one it is.
const PRECEDING: &[&str] = &[
    "!", "builtin", "command", "do", "doas", "elif", "else", "env", "eval", "exec", "if", "nice", "nohup",
    "sudo", "then", "time", "timeout", "until", "while", "xargs",
];

/// Every command of the line fits, and nothing else is in it.
pub fn covers(pattern: &str, line: &str) -> bool {
    // What a shell would run or define within the line.
    let is_hidden = ["`", "${", "$["].iter().any(|sign| find(line, sign).is_some());
    let count = |text: &str, signs: &[u8]| text.bytes().filter(|byte| signs.contains(byte)).count();
    let parts = parts(line);
    !is_hidden
        // A file that is written or read beside the command, or a bracket, is for the pattern to name.
        && count(line, b"<>") <= count(pattern, b"<>")
        && count(line, b"(") <= count(pattern, b"(")
        && !parts.is_empty()
        && parts.iter().all(|part| fits(pattern, part))
}

/// A command of the line fits, as it stands or without what does not change it.
pub fn touches(pattern: &str, line: &str) -> bool {
    let pattern = squeezed(pattern);
    let is_hit = |part: &str| fits(&pattern, &squeezed(part));
    if is_hit(line) || parts(line).into_iter().any(is_hit) {
        return true;
    }
    let mut plain = String::new();
    let mut signs = line.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => drop(signs.next_if_eq(&'\n')),
            '"' | '\'' => {}
            sign => plain.push(sign),
        }
    }
    let parts = split(&plain, b"&|;\n\r`(){}");
    parts.iter().any(|part| is_hit(part) || is_hit(&bare(part)))
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

/// The commands of a line, cut at `&&`, `||`, `;`, `|`, `|&`, `&` and line breaks.
fn parts(line: &str) -> Vec<&str> {
    let mut parts = split(line, b"&|;\n\r");
    for part in &mut parts {
        *part = part.trim();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Without what stands before the command (redirections, variables, [`PRECEDING`] and their options), and without the
/// folder that it is in.
fn bare(part: &str) -> String {
    let mut words = part.split_whitespace().peekable();
    let mut is_preceded = false;
    while let Some(word) = words.peek().copied() {
        let behind = word.trim_start_matches(|sign: char| sign.is_ascii_digit());
        if behind.starts_with(['<', '>']) {
            let is_apart = behind.bytes().all(|byte| matches!(byte, b'<' | b'>'));
            words.next_if(|_| is_apart);
        } else if PRECEDING.contains(&word) {
            is_preceded = true;
        } else if !(word.contains('=') || (is_preceded && (behind.is_empty() || word.starts_with('-')))) {
            break;
        }
        words.next();
    }
    let name = words.next().unwrap_or_default();
    let mut bare = split(name, b"/").last().copied().unwrap_or_default().to_owned();
    for word in words {
        bare.push(' ');
        bare.push_str(word);
    }
    bare
}

/// With one blank for every run of white space.
fn squeezed(text: &str) -> String {
    let mut squeezed = String::new();
    for sign in text.chars() {
        if !sign.is_whitespace() && !sign.is_control() {
            squeezed.push(sign);
        } else if !squeezed.is_empty() && !squeezed.ends_with(' ') {
            squeezed.push(' ');
        }
    }
    squeezed.truncate(squeezed.trim_end().len());
    squeezed
}

fn fits(pattern: &str, command: &str) -> bool {
    let open = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *"));
    match open {
        // `ls *` is `ls` and `ls -la`, but not `lsof`.
        Some(start) => matches(start, command) || matches(&[start, " *"].concat(), command),
        None => matches(pattern, command),
    }
}
