//! Lines for a shell of the POSIX family, cut into simple commands: words with their quotes resolved, without
//! redirections, assignments and keywords.
//!
//! One pass without recursion: what stands in `$(…)`, `` `…` ``, `<(…)` and brackets are commands of their own. Texts that
//! commands run in turn (`sh -c`, here-documents) are read again, to a bounded depth. Nothing is expanded: `$X` stays.
//! Where a shell may read otherwise than this file, the line is marked.

mod lexer;

use std::mem::take;

use crate::engine::text::parts;
use lexer::Lexer;

/// A line that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    /// Every command that the line may run; [`Line::own`] of them stand in the line itself, in its order.
    pub commands: Vec<Command>,
    pub own: usize,
    /// Words, quotes, separators and redirections alone: every shell of the family cuts it at the same places.
    pub is_plain: bool,
    /// It may run anything: its commands lie too deep, or the name of one is a pattern.
    pub is_hidden: bool,
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The words with blanks between them; those within words are [`BLANK`].
    pub words: String,
    /// Where in `words` the name begins, without its folder.
    pub name: usize,
    /// Its later words may be a command.
    pub runs_others: bool,
    /// An option stands before the other words.
    pub has_option: bool,
    /// Where it stands in the text.
    pub from: usize,
    pub to: usize,
    /// Where its assignments end.
    pub assigned: Option<usize>,
    /// It is redirected from or to a file that is not `/dev/null`.
    pub uses_file: bool,
}

/// A blank within a word.
pub const BLANK: u8 = 1;

/// How often texts that commands run are read in turn.
const MAX_DEPTH: usize = 5;

/// Words before a command that do not change which one it is.
const KEYWORDS: &str = " ! { } if then elif else fi while until do done esac ";

/// Commands that run what their words say.
const RUNNERS: &str = " - . ash bash builtin busybox call caffeinate case chroot chrt cmd command coproc csh dash doas \
    env eval exec find firejail fish flock for function gtimeout ionice ksh mksh nice nocorrect noglob nohup nsenter \
    parallel pkexec powershell prlimit pwsh rbash runuser script select setarch setsid sh source ssh start stdbuf \
    strace su sudo systemd-run taskset tcsh time timeout torsocks toybox trap unbuffer unshare watch winpty wsl xargs zsh ";

/// How a text is read.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// As commands; what is not understood may be any.
    Line,
    /// As commands, but it may as well be prose.
    Body,
    /// As one text, in which only substitutions are commands.
    Text,
    /// As commands in which `#` means nothing: some shells do not know comments.
    Comment,
}

impl Line {
    pub fn read(text: String) -> Line {
        let mut line = Line {
            is_plain: true,
            ..Line::default()
        };
        let mut texts = vec![(text.clone(), Mode::Line)];
        let mut is_plain = None;
        for _ in 0..=MAX_DEPTH {
            for (text, mode) in take(&mut texts) {
                let mut lexer = Lexer::new(&text, mode, &mut line);
                lexer.read();
                texts.append(&mut lexer.inner);
            }
            if is_plain.is_none() {
                is_plain = Some(line.is_plain);
                line.own = line.commands.len();
            }
        }
        line.is_plain = is_plain == Some(true);
        line.is_hidden |= !texts.is_empty();
        line.text = text;
        line
    }
}

/// One of the words in a list that has a blank around each.
fn has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

fn is_separator(sign: char) -> bool {
    matches!(sign, ';' | '&' | '|' | '\n' | '\r' | '<' | '>' | '(' | ')')
}

/// There is something in the word for a shell to read.
fn may_be_line(word: &str) -> bool {
    let is_sign = |sign: char| {
        is_separator(sign) || sign.is_whitespace() || matches!(sign, '`' | '$' | '\\' | '\'' | '"')
    };
    word.chars().any(is_sign)
}

fn is_assignment(word: &str) -> bool {
    let name = parts(word, b"=[+").first().copied().unwrap_or_default();
    let is_digit = |sign: char| sign.is_ascii_digit();
    word.contains('=') && !name.is_empty() && !name.starts_with(is_digit) && is_name(name)
}

/// Of a variable.
fn is_name(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A shell makes another name, or several words, of it. A variable alone is no more than unknown.
fn is_pattern(name: &str) -> bool {
    let inside = name.strip_prefix('$').unwrap_or("-");
    let inside = inside.strip_prefix('{').unwrap_or(inside);
    name.contains(['*', '?', '[', '{', '$'])
        && name != "["
        && name != "[["
        && !is_name(inside.strip_suffix('}').unwrap_or(inside))
}

/// With one blank for every run of white space.
pub fn squeezed(text: &str) -> String {
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
