//! A reading position in JSON text, and the strings that it finds.
//!
//! The lane and the check walk bytes with a [`Cursor`]. The general [`super::reader`] cuts checked text apart with
//! it, and so do the engine's permission rules. It builds nothing, and only unescaping a string allocates. It uses
//! nothing but `core`, `Cow` and `String`. Every method returns `None` for text that it does not expect, and the
//! caller then takes the general way.

use std::borrow::Cow;

/// The content of a JSON string, checked: valid UTF-8, no control characters, well-formed escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawString<'a> {
    text: &'a str,
    escaped: bool,
}

impl<'a> RawString<'a> {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// True when the string is `name`, written without escapes.
    pub fn is(&self, name: &str) -> bool {
        self.text == name
    }

    /// The content of a string with escapes. The string, or the text that contains it, must have been checked.
    pub(crate) fn escaped(text: &'a str) -> RawString<'a> {
        RawString { text, escaped: true }
    }

    /// The string as it is written.
    pub(crate) fn raw(&self) -> &'a str {
        self.text
    }

    /// The string itself, if it has no escapes.
    pub fn plain(&self) -> Option<&'a str> {
        if self.escaped { None } else { Some(self.text) }
    }

    /// The string, unescaped.
    pub fn to_text(self) -> Cow<'a, str> {
        match self.plain() {
            Some(text) => Cow::Borrowed(text),
            None => {
                let mut text = String::new();
                self.unescape_into(&mut text);
                Cow::Owned(text)
            }
        }
    }

    /// Appends the string, unescaped. A surrogate without its partner becomes U+FFFD.
    pub fn unescape_into(&self, into: &mut String) {
        if !self.escaped {
            into.push_str(self.text);
            return;
        }
        into.reserve(self.text.len());
        let mut rest = self.text;
        // A checked string has no bare quote and no control character, so a byte that is not plain is a backslash.
        while let Some((before, after)) = rest.split_at_checked(plain_length(rest.as_bytes())) {
            into.push_str(before);
            match after.get(1..) {
                Some(after) => rest = unescape_one(after, into),
                None => return,
            }
        }
    }

    /// The bytes before and after the string in the event that contains it, without the quotes.
    pub fn frame_in<'b>(&self, data: &'b [u8]) -> Option<(&'b [u8], &'b [u8])> {
        let at = (self.text.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        let before = data.get(..at.checked_sub(1)?)?;
        let after = data.get(at + self.text.len() + 1..)?;
        Some((before, after))
    }
}

/// Reads one escape after its backslash and returns the text after the escape.
fn unescape_one<'a>(after: &'a str, into: &mut String) -> &'a str {
    let mut chars = after.chars();
    let plain = match chars.next() {
        Some('n') => '\n',
        Some('t') => '\t',
        Some('r') => '\r',
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('u') => return unescape_unicode(chars.as_str(), into),
        Some(other) => other,
        None => return "",
    };
    into.push(plain);
    chars.as_str()
}

/// Reads the digits after `\u`, together with the second half of a pair, and returns the text after them.
fn unescape_unicode<'a>(digits: &'a str, into: &mut String) -> &'a str {
    let Some((first, rest)) = hex4(digits) else {
        return digits;
    };
    if (0xD800..0xDC00).contains(&first)
        && let Some((second, rest)) = rest.strip_prefix("\\u").and_then(hex4)
        && (0xDC00..0xE000).contains(&second)
    {
        let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        into.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return rest;
    }
    into.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    rest
}

fn hex4(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    let mut value = 0;
    for digit in digits.bytes() {
        value = value << 4 | char::from(digit).to_digit(16)?;
    }
    Some((value, rest))
}

/// The number of bytes before the first quote, backslash or control character. It reads eight bytes at a time,
/// because WebAssembly has no faster scan without SIMD.
pub fn plain_length(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut length = 0;
    for word in words {
        let hits = not_plain(u64::from_le_bytes(*word));
        if hits != 0 {
            return length + (hits.trailing_zeros() / 8) as usize;
        }
        length += 8;
    }
    for byte in tail {
        if matches!(byte, b'"' | b'\\' | 0..=0x1f) {
            break;
        }
        length += 1;
    }
    length
}

/// Marks the quotes, backslashes and control characters among eight bytes. The lowest mark is exact. A higher mark
/// may be a borrow.
pub fn not_plain(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let any_below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & (ONES << 7);
    let quote = any_below(word ^ (ONES * u64::from(b'"')), 1);
    let backslash = any_below(word ^ (ONES * u64::from(b'\\')), 1);
    quote | backslash | any_below(word, 0x20)
}

/// The bytes after `prefix`, or `None` if `bytes` do not begin with it. It compares eight bytes at a time, because
/// the standard library compares byte by byte here.
pub fn after_prefix<'a>(bytes: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = bytes.split_at_checked(prefix.len())?;
    let (words, tail) = start.as_chunks::<8>();
    let (wanted_words, wanted_tail) = prefix.as_chunks::<8>();
    // Iterator adapters are calls at opt-level z, so the words are not zipped.
    let mut wanted = wanted_words.iter();
    for word in words {
        if u64::from_le_bytes(*word) != u64::from_le_bytes(*wanted.next()?) {
            return None;
        }
    }
    let mut wanted = wanted_tail.iter();
    for byte in tail {
        if byte != wanted.next()? {
            return None;
        }
    }
    Some(rest)
}

/// A reading position in JSON text.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    pub fn position(&self) -> usize {
        self.at
    }

    /// The bytes that have not been passed.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// The next byte that is not a blank, without passing it.
    pub fn peek(&mut self) -> Option<u8> {
        self.skip_blanks();
        self.bytes.get(self.at).copied()
    }

    /// Passes `byte` if it is the next byte that is not a blank.
    pub fn eat(&mut self, byte: u8) -> Option<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Some(())
        } else {
            None
        }
    }

    /// True when only blanks are left.
    pub fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Reads a string. `None` if the next value is not a well-formed string.
    pub fn string(&mut self) -> Option<RawString<'a>> {
        self.eat(b'"')?;
        let from = self.at;
        let mut escaped = false;
        loop {
            self.skip_plain();
            match *self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    self.escape()?;
                }
                0..=0x1f => return None,
                _ => self.at += 1,
            }
        }
        let text = core::str::from_utf8(self.bytes.get(from..self.at)?).ok()?;
        self.at += 1;
        Some(RawString { text, escaped })
    }

    /// The next byte, even a blank, without passing it.
    pub fn here(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips `count` bytes, at most up to the end.
    pub fn step(&mut self, count: usize) {
        self.at = self.bytes.len().min(self.at + count);
    }

    /// Passes bytes up to a quote, backslash or control character.
    pub fn skip_plain(&mut self) {
        self.at += plain_length(self.bytes.get(self.at..).unwrap_or_default());
    }

    /// Passes one escape, its backslash included.
    fn escape(&mut self) -> Option<()> {
        match *self.bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let digits = self.bytes.get(self.at + 2..self.at + 6)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                self.at += 6;
            }
            _ => return None,
        }
        Some(())
    }

    /// Reads a key and its colon. `None` if the key has escapes.
    pub fn key(&mut self) -> Option<&'a [u8]> {
        let key = self.string()?.plain()?;
        self.eat(b':')?;
        Some(key.as_bytes())
    }

    /// Reads a non-negative integer below 2^32.
    pub fn index(&mut self) -> Option<u32> {
        let first = self.peek()?;
        let mut value = 0u32;
        let from = self.at;
        while let Some(digit @ b'0'..=b'9') = self.bytes.get(self.at) {
            value = value.checked_mul(10)?.checked_add(u32::from(digit - b'0'))?;
            self.at += 1;
        }
        let digits = self.at - from;
        let more = matches!(self.bytes.get(self.at), Some(b'.' | b'e' | b'E'));
        if digits == 0 || (first == b'0' && digits > 1) || more {
            None
        } else {
            Some(value)
        }
    }

    pub fn null(&mut self) -> Option<()> {
        self.word(b"null")
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.skip_blanks();
        let end = self.at + word.len();
        if self.bytes.get(self.at..end)? != word {
            return None;
        }
        self.at = end;
        Some(())
    }

    /// Passes any value that nests at most `depth` levels deep. `None` if it nests deeper or is not valid JSON.
    pub fn value(&mut self, depth: u8) -> Option<()> {
        match self.peek()? {
            b'{' => {
                let below = depth.checked_sub(1)?;
                self.object(|_, cursor| cursor.value(below))
            }
            b'[' => {
                let below = depth.checked_sub(1)?;
                self.array(|cursor| cursor.value(below))
            }
            b'"' => self.string().map(|_| ()),
            b'n' => self.null(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            _ => self.number(),
        }
    }

    fn number(&mut self) -> Option<()> {
        self.pass(|byte| byte == b'-', 0..2)?;
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.pass(|byte| byte.is_ascii_digit(), 1..usize::MAX)?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.pass(|byte| byte.is_ascii_digit(), 1..usize::MAX)?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            self.pass(|byte| matches!(byte, b'+' | b'-'), 0..2)?;
            self.pass(|byte| byte.is_ascii_digit(), 1..usize::MAX)?;
        }
        Some(())
    }

    /// Skips bytes of a kind. `None` if their number is not in `count`.
    fn pass(&mut self, kind: impl Fn(u8) -> bool, count: core::ops::Range<usize>) -> Option<()> {
        let from = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| kind(*byte)) {
            self.at += 1;
        }
        if count.contains(&(self.at - from)) {
            Some(())
        } else {
            None
        }
    }

    /// Passes a null, an empty string or an empty list, the values that servers send for an absent one.
    pub fn nothing(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().filter(|text| text.text.is_empty()).map(|_| ()),
            b'[' => self.array(|_| None),
            _ => self.null(),
        }
    }

    /// Passes any value of text that is known to be JSON. It looks only at strings and brackets.
    pub fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.skip_string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' => {
                    if depth == 0 {
                        return None;
                    }
                    self.at += 1;
                    continue;
                }
                _ => {
                    while !matches!(
                        self.bytes.get(self.at),
                        None | Some(b',' | b':' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')
                    ) {
                        self.at += 1;
                    }
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            self.skip_plain();
            match *self.bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    /// Reads an object: `field` gets the cursor after each key and its colon, and must skip the value.
    pub fn object(&mut self, mut field: impl FnMut(&[u8], &mut Cursor<'a>) -> Option<()>) -> Option<()> {
        self.eat(b'{')?;
        if self.eat(b'}').is_some() {
            return Some(());
        }
        loop {
            let key = self.key()?;
            field(key, self)?;
            if self.eat(b',').is_none() {
                return self.eat(b'}');
            }
        }
    }

    /// Walks an array: `item` must pass each element.
    pub fn array(&mut self, mut item: impl FnMut(&mut Cursor<'a>) -> Option<()>) -> Option<()> {
        self.eat(b'[')?;
        if self.eat(b']').is_some() {
            return Some(());
        }
        loop {
            item(self)?;
            if self.eat(b',').is_none() {
                return self.eat(b']');
            }
        }
    }
}
