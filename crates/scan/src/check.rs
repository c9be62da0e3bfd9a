//! Checks whether a text is one JSON value (RFC 8259), and finds the first error and its position.
//!
//! It reads the text once and builds nothing. A level of depth costs one byte and no stack. The readers call it
//! before they split a text, so they can assume that the text is valid. A [`Fault`] has the message and position that
//! `serde_json` reports. The tests compare the two.

use crate::cursor::Cursor;

/// The reason why a text is not a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub problem: &'static str,
    /// The number of bytes that were read, including the wrong one if there is one.
    pub end: usize,
}

impl Fault {
    /// True if the text ends before its value. An end within a number is an invalid number.
    pub fn is_end(&self) -> bool {
        self.problem.starts_with("EOF")
    }

    /// The fault with its line and column in `text`, in bytes from 1.
    pub fn describe(&self, text: &str) -> String {
        let read = text.as_bytes().get(..self.end).unwrap_or_default();
        let (mut line, mut column) = (1, 0);
        for byte in read {
            column += 1;
            if *byte == b'\n' {
                line += 1;
                column = 0;
            }
        }
        format!("{} at line {line} column {column}", self.problem)
    }

    /// The index of the wrong byte in `text`.
    pub fn place(&self, text: &str) -> usize {
        match text.as_bytes().get(..self.end) {
            Some([.., b'\n']) | None => self.end,
            Some(_) => self.end.saturating_sub(1),
        }
    }
}

const END_IN_VALUE: &str = "EOF while parsing a value";
const END_IN_STRING: &str = "EOF while parsing a string";
const END_IN_LIST: &str = "EOF while parsing a list";
const END_IN_OBJECT: &str = "EOF while parsing an object";
const NUMBER: &str = "invalid number";
const ESCAPE: &str = "invalid escape";

/// Checks `text`.
///
/// # Errors
/// The first fault.
pub fn check(text: &str) -> Result<(), Fault> {
    let mut check = Check(Cursor::new(text.as_bytes()));
    check.value()?;
    match check.0.peek() {
        Some(_) => check.fault_ahead("trailing characters"),
        None => Ok(()),
    }
}

struct Check<'a>(Cursor<'a>);

impl Check<'_> {
    fn value(&mut self) -> Result<(), Fault> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            let mut may_end = true;
            match self.0.peek() {
                Some(b'n') => self.word(b"null")?,
                Some(b't') => self.word(b"true")?,
                Some(b'f') => self.word(b"false")?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b'"') => self.string()?,
                Some(bracket @ (b'[' | b'{')) => {
                    open.push(bracket);
                    self.0.step(1);
                    may_end = false;
                }
                Some(_) => return self.fault_ahead("expected value"),
                None => return self.fault_ahead(END_IN_VALUE),
            }
            loop {
                let Some(bracket) = open.last() else { return Ok(()) };
                match (self.0.peek(), bracket) {
                    (Some(b','), _) if may_end => {
                        self.0.step(1);
                        break;
                    }
                    (Some(b']'), b'[') | (Some(b'}'), b'{') => {
                        self.0.step(1);
                        open.pop();
                        may_end = true;
                    }
                    (Some(_), _) if !may_end => break,
                    (Some(_), b'[') => return self.fault_ahead("expected `,` or `]`"),
                    (Some(_), _) => return self.fault_ahead("expected `,` or `}`"),
                    (None, b'[') => return self.fault_ahead(END_IN_LIST),
                    (None, _) => return self.fault_ahead(END_IN_OBJECT),
                }
            }
            if open.last() == Some(&b'{') {
                self.key()?;
            }
        }
    }

    fn key(&mut self) -> Result<(), Fault> {
        match self.0.peek() {
            Some(b'"') => self.string()?,
            Some(_) => return self.fault_ahead("key must be a string"),
            None => return self.fault_ahead(END_IN_OBJECT),
        }
        match self.0.peek() {
            Some(b':') => {
                self.0.step(1);
                Ok(())
            }
            Some(_) => self.fault_ahead("expected `:`"),
            None => self.fault_ahead(END_IN_OBJECT),
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Fault> {
        for expected in word {
            let Some(found) = self.0.here() else {
                return self.fault(END_IN_VALUE);
            };
            self.0.step(1);
            if found != *expected {
                return self.fault("expected ident");
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.0.here() == Some(b'-') {
            self.0.step(1);
        }
        let first = self.0.here();
        self.0.step(1);
        match first {
            Some(b'0') if matches!(self.0.here(), Some(b'0'..=b'9')) => return self.fault_ahead(NUMBER),
            Some(b'0') => {}
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.fault(NUMBER),
        }
        if self.0.here() == Some(b'.') {
            self.0.step(1);
            if !matches!(self.0.here(), Some(b'0'..=b'9')) {
                return self.fault_ahead(NUMBER);
            }
            self.digits();
        }
        if let Some(b'e' | b'E') = self.0.here() {
            self.0.step(1);
            if let Some(b'+' | b'-') = self.0.here() {
                self.0.step(1);
            }
            let first = self.0.here();
            self.0.step(1);
            if !matches!(first, Some(b'0'..=b'9')) {
                return self.fault(NUMBER);
            }
            self.digits();
        }
        Ok(())
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.0.here() {
            self.0.step(1);
        }
    }

    fn string(&mut self) -> Result<(), Fault> {
        self.0.step(1);
        loop {
            self.0.skip_plain();
            match self.0.here() {
                Some(b'"') => {
                    self.0.step(1);
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(0..=0x1f) => {
                    return self.fault("control character (\\u0000-\\u001F) found while parsing a string");
                }
                Some(_) => self.0.step(1),
                None => return self.fault(END_IN_STRING),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        self.0.step(1);
        let kind = self.0.here();
        self.0.step(1);
        match kind {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(()),
            Some(b'u') => {
                let digits = self.0.rest().get(..4);
                self.0.step(4);
                match digits {
                    Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(()),
                    Some(_) => self.fault(ESCAPE),
                    None => self.fault(END_IN_STRING),
                }
            }
            Some(_) => self.fault(ESCAPE),
            None => self.fault(END_IN_STRING),
        }
    }

    fn fault(&self, problem: &'static str) -> Result<(), Fault> {
        Err(Fault {
            problem,
            end: self.0.position(),
        })
    }

    /// Reports the next byte as wrong, or as missing.
    fn fault_ahead(&mut self, problem: &'static str) -> Result<(), Fault> {
        self.0.step(1);
        self.fault(problem)
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
