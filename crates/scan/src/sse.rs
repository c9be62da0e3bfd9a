//! The decoder of `text/event-stream`: bytes in, events out, over the whole grammar of
//! <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>.
//!
//! It owns only the bytes of the unfinished event. The protocol knows the meaning of an event. The decoder does not
//! even check that its bytes are valid UTF-8. Chunks may be split anywhere, within a character or between CR and LF.
//! Each byte is read once and copied at most once. An event that is completely within one chunk is borrowed from it.
//!
//! The caller calls [`SseDecoder::feed`] for each chunk, then [`SseDecoder::finish`]. Only an event that is too long
//! fails.

use crate::reader::whole;

/// One event. Its name and its data are the bytes as they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The value of the last `event` line; empty if there was none, which means `message`.
    pub event: &'a [u8],
    /// The values of the `data` lines, joined by LF.
    pub data: &'a [u8],
    /// The bytes of the chunk after the event.
    pub rest: &'a [u8],
}

/// Why a stream cannot be decoded any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SseError {
    /// The joined data, the name or the id of one event has more bytes than
    /// [`max_event_bytes`](SseDecoder::max_event_bytes). The events before it were delivered.
    EventTooLong {
        /// The limit in bytes.
        limit: usize,
    },
}

/// Decodes one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseDecoder {
    /// The maximum number of bytes in the joined data of one event, and also in its name and its id. Default 64 MiB:
    /// above any model's answer, below the memory of an edge worker.
    pub max_event_bytes: usize,
    start: Start,
    after_cr: bool,
    line: Line,
    line_value: Vec<u8>,
    has_data: bool,
    data: Vec<u8>,
    event: Vec<u8>,
    last_event_id: Vec<u8>,
    retry_ms: Option<u64>,
    saw_field: bool,
    failed: bool,
}

impl Default for SseDecoder {
    fn default() -> Self {
        SseDecoder {
            max_event_bytes: 64 << 20,
            start: Start::Bom(0),
            after_cr: false,
            line: Line::Name,
            line_value: Vec::new(),
            has_data: false,
            data: Vec::new(),
            event: Vec::new(),
            last_event_id: Vec::new(),
            retry_ms: None,
            saw_field: false,
            failed: false,
        }
    }
}

/// The number of received bytes of the byte order mark, while it may still be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Bom(usize),
    Over,
}

/// The state of the unfinished line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// The line's name is not complete. `line_value` has all of it.
    Name,
    /// The rest is the value of this field. A value of `data` goes to `data`, any other value to `line_value`.
    Value(Field),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Data,
    /// A line `error: {…}`, with which GPUStack reports an error. It becomes the data of an event `error`.
    Error,
    Event,
    Id,
    Retry,
    Comment,
    Unknown,
}

/// The fields of the current event that are completely within the current chunk.
#[derive(Default)]
struct Borrowed<'a> {
    data: Option<&'a [u8]>,
    event: Option<&'a [u8]>,
}

impl SseDecoder {
    /// Decodes one chunk and calls `on_event` with every event that ends in it. `on_event` returns how many bytes
    /// after the event it has read itself. They must be complete events.
    ///
    /// # Errors
    /// [`SseError::EventTooLong`], and then for every later call as well.
    // Inlined into the engine, it would be built for size.
    #[inline(never)]
    pub fn feed(
        &mut self,
        chunk: &[u8],
        on_event: &mut dyn FnMut(SseEvent<'_>) -> usize,
    ) -> Result<(), SseError> {
        if self.failed {
            return Err(self.too_long());
        }
        let mut rest = self.skip_bom(chunk);
        let mut here = Borrowed::default();
        while !rest.is_empty() {
            if self.after_cr {
                self.after_cr = false;
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
                continue;
            }
            let Some((line, ending)) = line_end(rest).and_then(|end| rest.split_at_checked(end)) else {
                here.spill_into(self);
                return self.open_line(rest);
            };
            rest = match ending {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, rest @ ..] => rest,
                [] => &[],
            };
            if self.is_within_a_line() {
                self.open_line(line)?;
                self.close_line()?;
            } else if line.is_empty() {
                let read = self.dispatch(&mut here, rest, on_event);
                rest = rest.get(read..).unwrap_or_default();
            } else {
                self.take_line(line, &mut here)?;
            }
        }
        here.spill_into(self);
        Ok(())
    }

    /// Ends the stream. An unfinished last line counts as finished, and an event without its blank line is delivered.
    /// Only the decoder of its data can detect whether that event is complete.
    ///
    /// # Errors
    /// [`SseError::EventTooLong`].
    pub fn finish(&mut self, on_event: &mut dyn FnMut(SseEvent<'_>) -> usize) -> Result<(), SseError> {
        if self.failed {
            return Err(self.too_long());
        }
        if self.is_within_a_line() {
            self.close_line()?;
        }
        self.dispatch(&mut Borrowed::default(), &[], on_event);
        Ok(())
    }

    /// True if there is no unfinished event, so the next byte begins one.
    pub fn is_between_events(&self) -> bool {
        !self.after_cr
            && !self.has_data
            && !self.failed
            && self.start == Start::Over
            && self.event.is_empty()
            && !self.is_within_a_line()
    }

    /// True if there was a comment or a line with a known field name. `false` after a complete body means that it was
    /// not an event stream but HTML, JSON or something else.
    pub fn saw_field(&self) -> bool {
        self.saw_field
    }

    /// The value of the last complete `id` line; empty if there was none.
    pub fn last_event_id(&self) -> &[u8] {
        &self.last_event_id
    }

    /// The value of the last complete and valid `retry` line, in milliseconds.
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    fn skip_bom<'a>(&mut self, chunk: &'a [u8]) -> &'a [u8] {
        let mut rest = chunk;
        while let Start::Bom(seen) = self.start {
            match (BOM.get(seen), rest.split_first()) {
                (Some(expected), Some((first, after))) if expected == first => {
                    self.start = Start::Bom(seen + 1);
                    rest = after;
                }
                (Some(_), None) => break,
                (found, _) => {
                    self.start = Start::Over;
                    if found.is_some() && seen > 0 {
                        // Half a byte order mark is the start of a line with an unknown name.
                        self.line = Line::Value(Field::Unknown);
                    }
                }
            }
        }
        rest
    }

    fn is_within_a_line(&self) -> bool {
        self.line != Line::Name || !self.line_value.is_empty()
    }

    /// Reads a line that is completely within one chunk.
    fn take_line<'a>(&mut self, line: &'a [u8], here: &mut Borrowed<'a>) -> Result<(), SseError> {
        let (field, value) = match split_name(line) {
            Some((field, value_start)) => (field, line.get(value_start..).unwrap_or_default()),
            None => (field_without_value(line), &[][..]),
        };
        match field {
            Field::Data if !self.has_data && here.data.is_none() => {
                self.saw_field = true;
                self.check_length(value.len())?;
                here.data = Some(value);
                Ok(())
            }
            Field::Data | Field::Error => {
                here.spill_into(self);
                self.open_value(field)?;
                self.push_data(value)
            }
            Field::Event => {
                self.saw_field = true;
                self.check_length(value.len())?;
                here.event = Some(value);
                Ok(())
            }
            _ => {
                self.open_value(field)?;
                self.push_value(field, value)?;
                self.close_value(field)
            }
        }
    }

    /// Reads the beginning or a further piece of a line that is not completely within one chunk.
    fn open_line(&mut self, piece: &[u8]) -> Result<(), SseError> {
        let mut rest = piece;
        while self.line == Line::Name {
            if let Some((field, value_start)) = split_name(&self.line_value) {
                // The line is looked at after each byte, so at most one byte of the value is here.
                let value = self.line_value.get(value_start).copied();
                self.line_value.clear();
                self.line = Line::Value(field);
                self.open_value(field)?;
                self.push_value(field, value.as_slice())?;
            } else if let Some((first, after)) = rest.split_first() {
                self.line_value.push(*first);
                rest = after;
            } else {
                return Ok(());
            }
        }
        match self.line {
            Line::Value(field) => self.push_value(field, rest),
            Line::Name => Ok(()),
        }
    }

    fn close_line(&mut self) -> Result<(), SseError> {
        let field = match self.line {
            Line::Value(field) => field,
            Line::Name => {
                let field = field_without_value(&self.line_value);
                self.line_value.clear();
                self.open_value(field)?;
                field
            }
        };
        self.line = Line::Name;
        self.close_value(field)
    }

    fn open_value(&mut self, field: Field) -> Result<(), SseError> {
        self.saw_field |= field != Field::Unknown;
        if field == Field::Error {
            self.event = b"error".to_vec();
        }
        if matches!(field, Field::Data | Field::Error) {
            if self.has_data {
                self.push_data(b"\n")?;
            }
            self.has_data = true;
        }
        Ok(())
    }

    fn push_value(&mut self, field: Field, piece: &[u8]) -> Result<(), SseError> {
        match field {
            Field::Data | Field::Error => self.push_data(piece),
            Field::Event | Field::Id | Field::Retry => {
                self.check_length(self.line_value.len() + piece.len())?;
                self.line_value.extend_from_slice(piece);
                Ok(())
            }
            Field::Comment | Field::Unknown => Ok(()),
        }
    }

    fn push_data(&mut self, piece: &[u8]) -> Result<(), SseError> {
        self.check_length(self.data.len() + piece.len())?;
        self.data.extend_from_slice(piece);
        Ok(())
    }

    fn close_value(&mut self, field: Field) -> Result<(), SseError> {
        match field {
            Field::Event => std::mem::swap(&mut self.event, &mut self.line_value),
            Field::Id if !self.line_value.contains(&0) => {
                std::mem::swap(&mut self.last_event_id, &mut self.line_value)
            }
            Field::Retry => self.retry_ms = whole_number(&self.line_value).or(self.retry_ms),
            _ => {}
        }
        self.line_value.clear();
        Ok(())
    }

    fn dispatch(
        &mut self,
        here: &mut Borrowed<'_>,
        rest: &[u8],
        on_event: &mut dyn FnMut(SseEvent<'_>) -> usize,
    ) -> usize {
        let borrowed = std::mem::take(here);
        let mut read = 0;
        if borrowed.data.is_some() || self.has_data {
            read = on_event(SseEvent {
                event: borrowed.event.unwrap_or(&self.event),
                data: borrowed.data.unwrap_or(&self.data),
                rest,
            });
        }
        self.has_data = false;
        reset(&mut self.data);
        reset(&mut self.event);
        read
    }

    fn check_length(&mut self, bytes: usize) -> Result<(), SseError> {
        if bytes <= self.max_event_bytes {
            return Ok(());
        }
        self.failed = true;
        reset(&mut self.data);
        reset(&mut self.line_value);
        Err(self.too_long())
    }

    fn too_long(&self) -> SseError {
        SseError::EventTooLong {
            limit: self.max_event_bytes,
        }
    }
}

impl Borrowed<'_> {
    /// Copies the current event's fields, because its chunk ends or more data follows.
    fn spill_into(&mut self, decoder: &mut SseDecoder) {
        if let Some(data) = self.data.take() {
            decoder.data.clear();
            decoder.data.extend_from_slice(data);
            decoder.has_data = true;
        }
        if let Some(event) = self.event.take() {
            decoder.event.clear();
            decoder.event.extend_from_slice(event);
        }
    }
}

const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];

/// A buffer beyond this many bytes is freed after its event.
const KEPT_CAPACITY: usize = 1 << 20;

fn reset(buffer: &mut Vec<u8>) {
    if buffer.capacity() > KEPT_CAPACITY {
        *buffer = Vec::new();
    } else {
        buffer.clear();
    }
}

/// The field of a line that begins with `line`, and where its value starts. `None` while more bytes could change
/// either.
fn split_name(line: &[u8]) -> Option<(Field, usize)> {
    let name: &[u8] = match line.first()? {
        b'd' => b"data:",
        b'e' if line.get(1) == Some(&b'r') => b"error:",
        b'e' => b"event:",
        b'i' => b"id:",
        b'r' => b"retry:",
        b':' => return Some((Field::Comment, 1)),
        _ => return Some((Field::Unknown, line.len())),
    };
    match line.get(..name.len()) {
        Some(start) if start == name => {
            let space = usize::from(*line.get(name.len())? == b' ');
            Some((known_field(name), name.len() + space))
        }
        None if name.starts_with(line) => None,
        _ => Some((Field::Unknown, line.len())),
    }
}

/// The field of a complete line that is only a name, with or without its colon.
fn field_without_value(line: &[u8]) -> Field {
    match line {
        b"data" | b"event" | b"id" | b"retry" | b"data:" | b"event:" | b"id:" | b"retry:" => {
            known_field(line)
        }
        _ => Field::Unknown,
    }
}

fn known_field(name: &[u8]) -> Field {
    match name.first() {
        Some(b'd') => Field::Data,
        Some(b'e') if name.get(1) == Some(&b'r') => Field::Error,
        Some(b'e') => Field::Event,
        Some(b'i') => Field::Id,
        _ => Field::Retry,
    }
}

fn whole_number(digits: &[u8]) -> Option<u64> {
    whole(std::str::from_utf8(digits).ok()?)
}

/// The index of the first CR or LF. It reads eight bytes at a time, because WebAssembly has no faster scan without
/// SIMD.
pub fn line_end(bytes: &[u8]) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut position = 0;
    for word in words {
        let control = bytes_below_14(u64::from_le_bytes(*word));
        if control != 0 {
            let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
            if let Some(within) = word.iter().position(is_end) {
                return Some(position + within);
            }
        }
        position += 8;
    }
    tail.iter()
        .position(|byte| matches!(byte, b'\n' | b'\r'))
        .map(|within| position + within)
}

/// Not 0 if any byte is below 14. Within a line of JSON only blanks are such bytes.
fn bytes_below_14(word: u64) -> u64 {
    const EACH: u64 = u64::MAX / 255;
    word.wrapping_sub(EACH * 14) & !word & (EACH * 128)
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
