//! Compares command lines with patterns such as `npm *`.
//!
//! `*` matches any sequence of characters, including spaces. A blank before a last `*` requires the end of a word,
//! and so does `:*` at the end. No shell syntax is parsed here. A line of plain characters is one command in every
//! shell, so a rule can allow it. Any other line is only searched for words.

use crate::engine::policy::rule::path::stays_inside;
use crate::engine::policy::rule::{glob, step};

/// Commands that only move files about. `sed` is not among them, though the Agent SDK accepts it: GNU's `sed` runs
/// commands (`e`) and writes any file (`w`). <https://code.claude.com/docs/en/permission-modes> (2026-11-22)
const FILE_COMMANDS: &[&str] = &["mkdir", "touch", "rm", "rmdir", "mv", "cp"];

/// True for a line that every shell reads as one command and its words, and nothing else.
pub fn is_plain(line: &str) -> bool {
    let first = line.split_ascii_whitespace().next();
    line.bytes().all(is_plain_byte) && first.is_some_and(|word| !word.contains('='))
}

pub fn is_plain_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" _-./:@%+,=".contains(&byte)
}

/// For allow rules: true if the line is plain and matches completely.
pub fn covers(pattern: &str, line: &str) -> bool {
    let text = squeezed(line);
    let does_fit = || match open_start(pattern) {
        // `ls *` matches `ls` and `ls -la`, but not `lsof`.
        Some(start) => glob(start, &text, 0) || glob(&format!("{start} *"), &text, 0),
        None => glob(pattern, &text, 0),
    };
    is_plain(line) && does_fit()
}

/// True when a rule with this pattern can allow some line.
pub fn may_cover(pattern: &str) -> bool {
    is_plain(&pattern.replace('*', "x"))
}

/// For deny and ask rules: true if a sequence of words begins like the pattern. The comparison of the first word
/// ignores case, folder and `.exe`.
pub fn touches(pattern: &str, line: &str) -> bool {
    let pattern = squeezed(open_start(pattern).unwrap_or(pattern));
    let is_other = |sign: char| !u8::try_from(sign).is_ok_and(is_plain_byte);
    if pattern.contains(|sign| is_other(sign) && sign != '*') {
        return has_sequence(&pattern, line);
    }
    line.split(is_other).any(|part| has_sequence(&pattern, part))
}

fn has_sequence(pattern: &str, part: &str) -> bool {
    let part = format!(" {}", squeezed(part));
    let (name, rest) = pattern.split_at(pattern.find(' ').unwrap_or(pattern.len()));
    let fits = |before: &str, program: &str, after: &str| {
        let wanted = format!("{before}{name}{program}{rest}{after}");
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

/// True for a plain line that only moves files, names nothing outside the working folder, and never names the
/// contents of a folder (`dir/.`), which may be hidden.
pub fn only_moves_files(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    let is_copying = matches!(name, "cp" | "mv");
    let destination = line.split_ascii_whitespace().next_back().unwrap_or_default();
    let is_option = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let may_take = |word: &str| {
        if let Some(option) = word.strip_prefix('-') {
            // `-T` copies the contents of a folder, and after `-t` the last word is not the destination.
            let is_other = match option.strip_prefix('-') {
                Some(long) => long.starts_with("no-t") || long.starts_with('t'),
                None => option.contains(['t', 'T']),
            };
            return option.bytes().all(is_option) && !(is_copying && is_other);
        }
        let is_destination = is_copying && std::ptr::eq(word, destination);
        if is_destination && matches!(word, "." | "./") {
            return true;
        }
        let is_folder = is_copying && !is_destination && word.ends_with(['/', '\\']);
        // `%` and `=` introduce text that some shells replace.
        !word.contains(['%', '=']) && stays_inside(word) && names_itself(word) && !is_folder
    };
    is_plain(line) && FILE_COMMANDS.contains(&name) && words.all(may_take)
}

/// True for a line that moves the contents of a folder, which may be hidden, into one for which `is_place` is true.
/// The destination is the last word, or that of an option such as `-t`.
pub fn fills(line: &str, is_place: impl Fn(&str) -> bool) -> bool {
    let mut words = line.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    let is_contents = |word: &str| {
        let is_option = word.starts_with('-') && (word.contains('T') || word.starts_with("--no-t"));
        is_option || (!word.starts_with('-') && (word.ends_with('/') || !names_itself(word)))
    };
    let is_destination = |word: &str| {
        let glued = word
            .strip_prefix("-t")
            .into_iter()
            .chain(word.split_once('=').map(|pair| pair.1));
        is_place(word) || glued.filter(|path| !path.is_empty()).any(&is_place)
    };
    let words: Vec<&str> = words.collect();
    let contents = words.iter().filter(|word| is_contents(word)).count();
    // A word cannot be both the destination and the contents: `cp a .` moves no contents.
    let others = |word: &str| contents - usize::from(is_contents(word));
    matches!(name, "cp" | "mv" | "rsync") && words.iter().any(|word| is_destination(word) && others(word) > 0)
}

/// True for a path that names a file or a folder, and not the contents of a folder. It may begin with `./`.
fn names_itself(path: &str) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path);
    !path.trim_end_matches(['/', '\\']).is_empty() && path.split(['/', '\\']).all(|level| level != ".")
}

/// The text with one blank for every run of white space.
pub fn squeezed(text: &str) -> String {
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}
