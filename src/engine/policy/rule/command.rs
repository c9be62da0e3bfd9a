//! Compares command lines with patterns such as `npm *`.
//!
//! `*` stands for any run of characters, spaces included. A blank before a last `*` demands the end of a word, and so
//! does `:*` at the end. No shell syntax is parsed here. A line of plain characters is one command in every shell, so a
//! rule can allow it; any other line is only searched for words.

use crate::engine::policy::rule::path::stays_inside;
use crate::engine::policy::rule::{glob, step};

/// Commands that only move files about. `sed` is not among them, though the Agent SDK accepts it: GNU's `sed` runs
/// commands (`e`) and writes any file (`w`). <https://code.claude.com/docs/en/permission-modes> (2026-11-22)
const FILE_COMMANDS: &[&str] = &["mkdir", "touch", "rm", "rmdir", "mv", "cp"];

/// True for a line in which every shell finds one command and its words, and nothing else.
pub fn is_plain(line: &str) -> bool {
    let first = line.split_ascii_whitespace().next();
    line.bytes().all(is_plain_byte) && first.is_some_and(|word| !word.contains('='))
}

fn is_plain_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" _-./:@%+,=".contains(&byte)
}

/// For allow rules: true when the line is plain and fits as a whole.
pub fn covers(pattern: &str, line: &str) -> bool {
    let text = squeezed(line);
    let does_fit = || match open_start(pattern) {
        // `ls *` fits `ls` and `ls -la`, but not `lsof`.
        Some(start) => glob(start, &text, 0) || glob(&[start, " *"].concat(), &text, 0),
        None => glob(pattern, &text, 0),
    };
    is_plain(line) && does_fit()
}

/// True when a rule with this pattern can allow some line.
pub fn may_cover(pattern: &str) -> bool {
    is_plain(&pattern.replace('*', "x"))
}

/// For deny and ask rules: true when a sequence of words begins like the pattern. The first word is compared without
/// regard to case, folder and `.exe`.
pub fn touches(pattern: &str, line: &str) -> bool {
    let pattern = squeezed(open_start(pattern).unwrap_or(pattern));
    let is_other = |sign: char| !u8::try_from(sign).is_ok_and(is_plain_byte);
    if pattern.contains(|sign| is_other(sign) && sign != '*') {
        return has_sequence(&pattern, line);
    }
    line.split(is_other).any(|part| has_sequence(&pattern, part))
}

fn has_sequence(pattern: &str, part: &str) -> bool {
    let part = [" ", &squeezed(part)].concat();
    let (name, rest) = pattern.split_at(pattern.find(' ').unwrap_or(pattern.len()));
    let fits = |before: &str, program: &str, after: &str| {
        let wanted = [before, name, program, rest, after].concat();
        step();
        glob(&wanted, &part, before.len() + name.len() + program.len())
    };
    let ends = if pattern.ends_with('*') {
        &[""][..]
    } else {
        &["", " *"]
    };
    let mut forms = ["* ", "*/"]
        .iter()
        .flat_map(|before| ["", ".exe"].map(|program| (*before, program)));
    part.len() > 1 && forms.any(|(before, program)| ends.iter().any(|after| fits(before, program, after)))
}

/// The start of a pattern that may continue with any words.
fn open_start(pattern: &str) -> Option<&str> {
    pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *"))
}

/// True for a plain line that only moves files and names nothing outside the working folder.
pub fn only_moves_files(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    let is_here = |word: &str| word.bytes().all(|byte| matches!(byte, b'.' | b'/'));
    let is_option = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let may_take = |word: &str| match word.strip_prefix('-') {
        Some(option) => option.bytes().all(is_option),
        // `%` and `=` introduce text that some shells replace.
        None => !word.contains(['%', '=']) && stays_inside(word) && !(name == "rm" && is_here(word)),
    };
    is_plain(line) && FILE_COMMANDS.contains(&name) && words.all(may_take)
}

/// The text with one blank for every run of white space.
pub fn squeezed(text: &str) -> String {
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}
