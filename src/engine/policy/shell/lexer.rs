//! The pass over a text that finds its commands: what is open is kept on a stack, so that nothing is read twice.

use std::iter::Peekable;
use std::mem::take;
use std::str::CharIndices;

use crate::engine::policy::rule::step;
use crate::engine::policy::shell::{
    BLANK, Command, KEYWORDS, Line, Mode, RUNNERS, has_word, is_assignment, is_name, is_pattern,
    is_separator, may_be_line, squeezed,
};
use crate::engine::text::{join_owned, parts};

/// How many brackets and quotes may be open.
const MAX_OPEN: usize = 100;

/// What is open, and the command that goes on behind it.
struct Frame {
    close: char,
    outer: Option<Draft>,
}

/// A command that is being read.
#[derive(Default)]
struct Draft {
    words: Vec<String>,
    word: Option<String>,
    from: Option<usize>,
    assigned: Option<usize>,
    target: Option<Target>,
    uses_file: bool,
    /// Where some shells begin another command: the `&` of `a &>b c`.
    fork: Option<usize>,
}

/// What the next word is for a redirection.
enum Target {
    File { is_copy: bool },
    Body { is_indented: bool },
}

/// The one pass over a text.
pub struct Lexer<'a> {
    text: &'a str,
    mode: Mode,
    signs: Peekable<CharIndices<'a>>,
    open: Vec<Frame>,
    draft: Draft,
    /// How the here-documents end that begin with the next line.
    bodies: Vec<(String, bool)>,
    /// Texts that its commands run in turn.
    pub inner: Vec<(String, Mode)>,
    is_in_backticks: bool,
    is_unclear: bool,
    has_backslash: bool,
    quotes_sign: bool,
    line: &'a mut Line,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str, mode: Mode, line: &'a mut Line) -> Lexer<'a> {
        Lexer {
            text,
            mode,
            signs: text.char_indices().peekable(),
            open: Vec::new(),
            draft: Draft::default(),
            bodies: Vec::new(),
            inner: Vec::new(),
            is_in_backticks: false,
            is_unclear: false,
            has_backslash: false,
            quotes_sign: false,
            line,
        }
    }

    pub fn read(&mut self) {
        if self.mode == Mode::Text {
            self.enter('\0', false);
        }
        while let Some((at, sign)) = self.signs.next() {
            step();
            self.read_sign(at, sign);
            if self.open.len() > MAX_OPEN {
                self.line.is_hidden = true;
                return;
            }
        }
        if self.mode == Mode::Text {
            return;
        }
        self.end_command(self.text.len());
        self.is_unclear |= !self.open.is_empty();
        if self.is_unclear || (self.has_backslash && self.quotes_sign) {
            self.line.is_plain = false;
        }
        if self.is_unclear && self.mode == Mode::Line {
            self.add_loose();
        }
    }

    fn read_sign(&mut self, at: usize, sign: char) {
        if sign.is_control() && !matches!(sign, '\t' | '\n') {
            self.line.is_plain = false;
        }
        let is_quoted = self
            .open
            .last()
            .is_some_and(|frame| matches!(frame.close, '"' | '\0'));
        let is_blank = !is_quoted && (sign.is_whitespace() || sign.is_control());
        if !is_blank && (is_quoted || !matches!(sign, ';' | '&' | '|' | '(' | ')')) {
            self.draft.from.get_or_insert(at);
        }
        match sign {
            '\\' => self.read_escape(is_quoted),
            '$' => self.read_dollar(is_quoted),
            '`' => self.read_backtick(at),
            '"' if self.open.last().is_some_and(|frame| frame.close == '"') => drop(self.open.pop()),
            _ if is_quoted => {
                self.quotes_sign |= is_separator(sign);
                self.push(sign);
            }
            '"' => {
                self.draft.word.get_or_insert_default();
                self.enter('"', false);
            }
            '\'' => self.read_single_quotes(),
            '\n' => {
                self.end_command(at);
                self.read_bodies();
            }
            ';' | '|' | '\r' => self.end_command(at),
            '&' if self.next_is('>') => {
                self.end_word(at);
                self.add_fork();
                self.draft.fork = Some(self.draft.words.len());
                self.read_redirection(at, '>');
            }
            '&' => self.end_command(at),
            '(' => {
                self.line.is_plain = false;
                self.end_command(at);
                self.enter(')', false);
            }
            ')' => self.close_bracket(at),
            '<' | '>' => self.read_redirection(at, sign),
            '#' if self.draft.word.is_none() && self.mode != Mode::Comment => self.skip_comment(at),
            _ if is_blank => {
                self.line.is_plain &= matches!(sign, ' ' | '\t');
                self.end_word(at);
            }
            _ => self.push(sign),
        }
    }

    fn push(&mut self, sign: char) {
        self.draft.word.get_or_insert_default().push(sign);
    }

    fn next_is(&mut self, wanted: char) -> bool {
        self.signs.next_if(|(_, sign)| *sign == wanted).is_some()
    }

    fn enter(&mut self, close: char, is_substitution: bool) {
        if is_substitution {
            self.line.is_plain = false;
            self.draft.word.get_or_insert_default();
        }
        let outer = is_substitution.then(|| take(&mut self.draft));
        self.open.push(Frame { close, outer });
    }

    fn read_escape(&mut self, is_quoted: bool) {
        self.has_backslash = true;
        let Some((_, sign)) = self.signs.next() else {
            self.line.is_plain = false;
            return;
        };
        self.quotes_sign |= is_separator(sign) && sign != '\n';
        self.is_unclear |= self.is_in_backticks && matches!(sign, '`' | '\\' | '$');
        if sign == '\n' {
            return;
        }
        if is_quoted && !matches!(sign, '$' | '`' | '"' | '\\') {
            self.push('\\');
        }
        self.push(sign);
    }

    fn read_dollar(&mut self, is_quoted: bool) {
        let next = self.signs.peek().map(|(_, sign)| *sign);
        match next {
            Some('(') => {
                self.signs.next();
                self.enter(')', true);
            }
            Some('\'') if !is_quoted => {
                self.signs.next();
                // A shell that does not know it ends such a quote elsewhere.
                self.line.is_plain = false;
                self.read_escaped_quotes();
            }
            Some('"') if !is_quoted => {}
            Some('{') => {
                self.signs.next();
                self.line.is_plain = false;
                let is_command = |(_, sign): &(usize, char)| sign.is_whitespace() || *sign == '|';
                self.is_unclear |= self.signs.peek().is_some_and(is_command);
                self.push('$');
                self.push('{');
            }
            _ => {
                self.line.is_plain &= next != Some('[');
                self.push('$');
            }
        }
    }

    /// The first one ends what the last one began, whatever is open in between.
    fn read_backtick(&mut self, at: usize) {
        if !self.is_in_backticks {
            self.is_in_backticks = true;
            return self.enter('`', true);
        }
        self.is_in_backticks = false;
        while let Some(frame) = self.open.pop() {
            if let Some(outer) = frame.outer {
                self.end_command(at);
                self.draft = outer;
            }
            if frame.close == '`' {
                return;
            }
            self.is_unclear = true;
        }
    }

    fn read_single_quotes(&mut self) {
        self.draft.word.get_or_insert_default();
        for (_, sign) in self.signs.by_ref() {
            step();
            match sign {
                '\'' => return,
                '\\' => self.has_backslash = true,
                '`' => self.is_unclear |= self.is_in_backticks,
                _ => {}
            }
            self.quotes_sign |= is_separator(sign);
            if let Some(word) = &mut self.draft.word {
                word.push(sign);
            }
        }
        self.is_unclear = true;
    }

    /// `$'…'`, with escapes as in C.
    fn read_escaped_quotes(&mut self) {
        self.draft.word.get_or_insert_default();
        while let Some((_, sign)) = self.signs.next() {
            step();
            let sign = match sign {
                '\'' => return,
                '\\' => match self.signs.next().map(|(_, sign)| sign) {
                    Some('x') => self.number(0, 16, 2),
                    Some('u') => self.number(0, 16, 4),
                    Some('U') => self.number(0, 16, 8),
                    Some(digit @ '0'..='7') => self.number(digit.to_digit(8).unwrap_or(0), 8, 2),
                    Some('a' | 'b' | 'e' | 'f' | 'n' | 'r' | 't' | 'v') => ' ',
                    Some(sign) => {
                        // For a shell that does not know such quotes they end here.
                        self.is_unclear |= sign == '\'';
                        sign
                    }
                    None => break,
                },
                sign => sign,
            };
            self.push(sign);
        }
        self.is_unclear = true;
    }

    fn number(&mut self, mut number: u32, radix: u32, digits: usize) -> char {
        for _ in 0..digits {
            let Some((_, digit)) = self.signs.next_if(|(_, sign)| sign.is_digit(radix)) else {
                break;
            };
            number = number.wrapping_mul(radix) + digit.to_digit(radix).unwrap_or(0);
        }
        char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn close_bracket(&mut self, at: usize) {
        self.line.is_plain = false;
        self.end_command(at);
        if self.open.last().is_none_or(|frame| frame.close != ')') {
            self.is_unclear = true;
        } else if let Some(frame) = self.open.pop() {
            self.draft = frame.outer.unwrap_or_default();
        }
    }

    fn read_redirection(&mut self, at: usize, sign: char) {
        self.draft.from.get_or_insert(at);
        let is_descriptor = |word: &mut String| {
            let name = word.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
            word.bytes().all(|byte| byte.is_ascii_digit()) || name.is_some_and(is_name)
        };
        if self.draft.word.take_if(is_descriptor).is_none() {
            self.end_word(at);
        }
        if self.next_is('(') {
            return self.enter(')', true);
        }
        let (mut count, mut is_copy) = (1, false);
        while let Some((_, next)) = self
            .signs
            .next_if(|(_, sign)| matches!(sign, '<' | '>' | '&' | '|'))
        {
            count += usize::from(next == sign);
            is_copy = next == '&';
        }
        self.draft.target = Some(if sign == '<' && count == 2 {
            self.line.is_plain = false;
            let is_indented = self.next_is('-');
            Target::Body { is_indented }
        } else {
            Target::File { is_copy }
        });
    }

    fn skip_comment(&mut self, at: usize) {
        self.line.is_plain = false;
        let is_in_backticks = self.is_in_backticks;
        let is_inside = |sign: char| sign != '\n' && !(sign == '`' && is_in_backticks);
        while self.signs.next_if(|(_, sign)| is_inside(*sign)).is_some() {
            step();
        }
        let end = self.position();
        let comment = self.text.get(at..end).unwrap_or_default();
        self.inner.push((["-", comment].concat(), Mode::Comment));
        self.draft.from = self.draft.from.filter(|from| *from != at);
    }

    fn position(&mut self) -> usize {
        self.signs.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    fn read_bodies(&mut self) {
        for (end, is_indented) in take(&mut self.bodies) {
            let from = self.position();
            let mut to = from;
            while self.signs.peek().is_some() {
                to = self.position();
                while self.signs.next_if(|(_, sign)| *sign != '\n').is_some() {
                    step();
                }
                let here = self.position();
                self.signs.next();
                let line = self.text.get(to..here).unwrap_or_default();
                let line = if is_indented {
                    line.trim_start_matches('\t')
                } else {
                    line
                };
                if line == end {
                    break;
                }
                to = here;
            }
            let body = self.text.get(from..to).unwrap_or_default();
            self.inner.push((body.to_owned(), Mode::Body));
            self.inner.push((body.to_owned(), Mode::Text));
        }
    }

    fn end_word(&mut self, at: usize) {
        let draft = &mut self.draft;
        let Some(word) = draft.word.take() else {
            return;
        };
        match draft.target.take() {
            Some(Target::Body { is_indented }) => self.bodies.push((word, is_indented)),
            Some(Target::File { is_copy }) => {
                let is_descriptor = word == "-" || word.bytes().all(|byte| byte.is_ascii_digit());
                draft.uses_file |= word != "/dev/null" && !(is_copy && is_descriptor);
            }
            None if draft.words.is_empty() && is_assignment(&word) => draft.assigned = Some(at),
            None if draft.words.is_empty() && has_word(KEYWORDS, &word) => {}
            None => draft.words.push(word),
        }
    }

    fn end_command(&mut self, at: usize) {
        self.end_word(at);
        self.add_fork();
        let draft = take(&mut self.draft);
        let Some(from) = draft.from else {
            return;
        };
        let command = Command {
            from,
            to: at,
            assigned: draft.assigned,
            uses_file: draft.uses_file,
            ..Command::default()
        };
        self.add(&draft.words, command);
    }

    /// What stands behind `&>` and its file, if `&` ends the command for a shell.
    fn add_fork(&mut self) {
        let words = take(&mut self.draft.words);
        let fork = self.draft.fork.and_then(|from| words.get(from..));
        if let Some(fork) = fork.filter(|words| !words.is_empty()) {
            self.line.is_plain = false;
            self.add(fork, Command::default());
        }
        self.draft.words = words;
    }

    fn add(&mut self, words: &[String], mut command: Command) {
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                command.words.push(' ');
            }
            let is_program = word
                .get(word.len().saturating_sub(4)..)
                .is_some_and(|end| end.eq_ignore_ascii_case(".exe"));
            let word = word.get(..word.len() - if is_program { 4 } else { 0 });
            for sign in word.unwrap_or_default().chars() {
                let is_blank = sign.is_whitespace() || sign.is_control();
                command
                    .words
                    .push(if is_blank { char::from(BLANK) } else { sign });
            }
            if index == 0 {
                let name = parts(&command.words, b"/").last().copied().unwrap_or_default();
                command.name = command.words.len() - name.len();
                let name = name.to_ascii_lowercase();
                // A shell expands it first.
                command.runs_others = name.is_empty() || name.starts_with('$') || has_word(RUNNERS, &name);
                self.line.is_hidden |= self.mode == Mode::Line && is_pattern(&name);
                self.is_unclear |= name == "case" && !self.open.is_empty();
            }
        }
        let rest = words.get(1..).unwrap_or_default();
        command.has_option = rest.first().is_some_and(|word| word.starts_with('-'));
        if command.runs_others && rest.iter().any(|word| may_be_line(word)) {
            let is_shell = |word: &String| word.ends_with("sh") || word == "eval";
            // For others it may be a text to search for.
            let mode = if words.iter().any(is_shell) {
                Mode::Line
            } else {
                Mode::Body
            };
            if rest.len() > 1 {
                self.inner.push((join_owned(rest, " "), mode));
            }
            for word in rest {
                let glued = match word.split_once('=') {
                    Some((_, value)) if word.starts_with("--") => value,
                    _ if word.starts_with('-') => word.get(2..).unwrap_or_default(),
                    _ => word,
                };
                if may_be_line(glued) {
                    self.inner.push((glued.to_owned(), mode));
                }
            }
        }
        self.line.commands.push(command);
    }

    /// All of the text as words of which any may begin a command.
    fn add_loose(&mut self) {
        let mut words = String::from("-");
        for sign in self.text.chars() {
            match sign {
                '"' | '\'' | '\\' => {}
                sign if is_separator(sign) || sign.is_whitespace() || matches!(sign, '{' | '}' | '`') => {
                    words.push(' ');
                }
                sign => words.push(sign),
            }
        }
        self.line.commands.push(Command {
            words: squeezed(&words),
            runs_others: true,
            ..Command::default()
        });
    }
}
