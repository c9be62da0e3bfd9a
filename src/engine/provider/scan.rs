//! The hot scanner: reads the events that a stream consists of by the thousand without building anything.
//!
//! [`anthropic_delta`] and [`chat_delta`] recognise one delta of text, reasoning or tool arguments, whatever the order
//! of keys and the blanks, and answer `None` for everything else: then the general reader
//! ([`super::json_reader`]) decodes the event, with the same result. Nothing here decides what an event means.
//!
//! The file needs nothing but `core`, so that it can move to a package of its own and be compiled at opt-level 3
//! (profiles are per package).

/// The inside of a JSON string, checked: valid UTF-8, no control characters, every escape well-formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawString<'a> {
    text: &'a str,
    escaped: bool,
}

impl<'a> RawString<'a> {
    /// The string itself if it has no escapes.
    pub fn plain(&self) -> Option<&'a str> {
        if self.escaped { None } else { Some(self.text) }
    }

    /// Appends the string, unescaped. A surrogate without its partner becomes U+FFFD.
    pub fn unescape_into(&self, into: &mut String) {
        if !self.escaped {
            into.push_str(self.text);
            return;
        }
        into.reserve(self.text.len());
        let mut rest = self.text;
        while let Some((before, after)) = rest
            .bytes()
            .position(|byte| byte == b'\\')
            .and_then(|at| rest.split_at_checked(at))
        {
            into.push_str(before);
            rest = unescape_one(after.get(1..).unwrap_or_default(), into);
        }
        into.push_str(rest);
    }

    /// What stands before and behind the string in the event that it was found in, the quotes left to both.
    pub fn frame_in<'b>(&self, data: &'b [u8]) -> Option<(&'b [u8], &'b [u8])> {
        let at = (self.text.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        let before = data.get(..at.checked_sub(1)?)?;
        let behind = data.get(at + self.text.len() + 1..)?;
        Some((before, behind))
    }
}

/// Reads what follows a backslash and returns what is behind it.
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

/// Reads what follows `\u`, with the second half of a pair.
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

    /// What has not been passed.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// The next byte that is no blank, without passing it.
    pub fn peek(&mut self) -> Option<u8> {
        self.skip_blanks();
        self.bytes.get(self.at).copied()
    }

    /// Passes `byte` if it is the next one that is no blank.
    pub fn eat(&mut self, byte: u8) -> Option<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Some(())
        } else {
            None
        }
    }

    /// Nothing but blanks is left.
    pub fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Reads a string. `None` if the next value is no well-formed one.
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

    /// Passes bytes up to a quote, backslash or control character, as long as eight more are there.
    fn skip_plain(&mut self) {
        const ONES: u64 = 0x0101_0101_0101_0101;
        let any_below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & (ONES << 7);
        while let Some(group) = self
            .bytes
            .get(self.at..self.at + 8)
            .and_then(|group| group.try_into().ok())
        {
            let word = u64::from_le_bytes(group);
            let quote = any_below(word ^ (ONES * u64::from(b'"')), 1);
            let backslash = any_below(word ^ (ONES * u64::from(b'\\')), 1);
            let hits = quote | backslash | any_below(word, 0x20);
            if hits != 0 {
                // The lowest hit is exact; those above it may be borrows.
                self.at += (hits.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += 8;
        }
    }

    /// Passes a backslash and what belongs to it.
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

    /// Passes a string, a word or a plain number. `None` for anything else.
    fn scalar(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(|_| ()),
            b'n' => self.null(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'0'..=b'9' => {
                let mut first = true;
                let leading_zero = self.bytes.get(self.at) == Some(&b'0');
                while let Some(b'0'..=b'9') = self.bytes.get(self.at) {
                    if leading_zero && !first {
                        return None;
                    }
                    first = false;
                    self.at += 1;
                }
                if matches!(self.bytes.get(self.at), Some(b'.' | b'e' | b'E')) {
                    None
                } else {
                    Some(())
                }
            }
            _ => None,
        }
    }

    /// Passes any value of text that is known to be JSON: only strings and brackets are looked at.
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

    /// Walks an object: `field` gets the cursor behind each key and its colon, and must pass the value.
    fn object(&mut self, mut field: impl FnMut(&[u8], &mut Cursor<'a>) -> Option<()>) -> Option<()> {
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
}

/// Sets `slot` the first time; `None` when a key comes twice, which only the general reader judges.
fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    if slot.is_some() {
        return None;
    }
    *slot = Some(value);
    Some(())
}

/// What a recognised Anthropic delta adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnthropicDelta {
    Text,
    Thinking,
    InputJson,
}

/// Recognises a `content_block_delta` event with text, thinking or tool arguments.
pub fn anthropic_delta(data: &[u8]) -> Option<((u32, AnthropicDelta), RawString<'_>)> {
    let mut cursor = Cursor::new(data);
    let (mut kind, mut index, mut delta) = (None, None, None);
    cursor.object(|key, cursor| match key {
        b"type" => once(
            &mut kind,
            cursor
                .string()
                .filter(|name| name.text == "content_block_delta")?,
        ),
        b"index" => once(&mut index, cursor.index()?),
        b"delta" => once(&mut delta, anthropic_delta_object(cursor)?),
        _ => None,
    })?;
    if !cursor.at_end() {
        return None;
    }
    kind?;
    let (kind, text) = delta?;
    Some(((index?, kind), text))
}

fn anthropic_delta_object<'a>(cursor: &mut Cursor<'a>) -> Option<(AnthropicDelta, RawString<'a>)> {
    let (mut name, mut text, mut field) = (None, None, AnthropicDelta::Text);
    cursor.object(|key, cursor| {
        field = match key {
            b"type" => return once(&mut name, cursor.string()?.plain()?),
            b"text" => AnthropicDelta::Text,
            b"thinking" => AnthropicDelta::Thinking,
            b"partial_json" => AnthropicDelta::InputJson,
            _ => return None,
        };
        once(&mut text, cursor.string()?)
    })?;
    let named = match name? {
        "text_delta" => AnthropicDelta::Text,
        "thinking_delta" => AnthropicDelta::Thinking,
        "input_json_delta" => AnthropicDelta::InputJson,
        _ => return None,
    };
    if named == field {
        Some((field, text?))
    } else {
        None
    }
}

/// What a recognised chat chunk adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatDelta {
    Content,
    /// The field `reasoning_content`.
    ReasoningContent,
    /// The field `reasoning`.
    Reasoning,
    /// Arguments of the tool call with this index.
    Arguments(u32),
}

/// Recognises a chunk whose only news is a piece of content, of reasoning or of one tool call's arguments.
pub fn chat_delta(data: &[u8]) -> Option<(ChatDelta, RawString<'_>)> {
    let mut cursor = Cursor::new(data);
    let mut delta = None;
    cursor.object(|key, cursor| match key {
        b"choices" => once(&mut delta, chat_choices(cursor)?),
        b"id"
        | b"object"
        | b"created"
        | b"model"
        | b"system_fingerprint"
        | b"service_tier"
        | b"obfuscation"
        | b"provider" => cursor.scalar(),
        _ => cursor.null(),
    })?;
    if cursor.at_end() { delta } else { None }
}

fn chat_choices<'a>(cursor: &mut Cursor<'a>) -> Option<(ChatDelta, RawString<'a>)> {
    cursor.eat(b'[')?;
    let mut delta = None;
    cursor.object(|key, cursor| match key {
        b"index" => match cursor.index()? {
            0 => Some(()),
            _ => None,
        },
        b"delta" => once(&mut delta, chat_delta_object(cursor)?),
        _ => cursor.null(),
    })?;
    cursor.eat(b']')?;
    delta
}

fn chat_delta_object<'a>(cursor: &mut Cursor<'a>) -> Option<(ChatDelta, RawString<'a>)> {
    let mut found = None;
    cursor.object(|key, cursor| {
        let kind = match key {
            b"content" => ChatDelta::Content,
            b"reasoning_content" => ChatDelta::ReasoningContent,
            b"reasoning" => ChatDelta::Reasoning,
            b"tool_calls" if cursor.peek() == Some(b'[') => return once(&mut found, chat_arguments(cursor)?),
            b"role" => return cursor.scalar(),
            _ => return cursor.null(),
        };
        if cursor.peek() == Some(b'"') {
            once(&mut found, (kind, cursor.string()?))
        } else {
            cursor.null()
        }
    })?;
    found
}

/// One element whose id and name are absent or null: a continuation.
fn chat_arguments<'a>(cursor: &mut Cursor<'a>) -> Option<(ChatDelta, RawString<'a>)> {
    cursor.eat(b'[')?;
    let (mut index, mut arguments) = (None, None);
    cursor.object(|key, cursor| match key {
        b"index" => once(&mut index, cursor.index()?),
        b"type" => match cursor.peek()? {
            b'"' => cursor.string().filter(|name| name.text == "function").map(|_| ()),
            _ => cursor.null(),
        },
        b"function" => cursor.object(|key, cursor| match key {
            b"arguments" => once(&mut arguments, cursor.string()?),
            _ => cursor.null(),
        }),
        _ => cursor.null(),
    })?;
    cursor.eat(b']')?;
    Some((ChatDelta::Arguments(index?), arguments?))
}
