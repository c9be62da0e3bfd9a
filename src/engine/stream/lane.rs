//! The fast lane: it takes events that repeat the event before them, byte for byte, around another string.
//!
//! A stream repeats its frame thousands of times: `event: content_block_delta\ndata: {"type":…,"text":"`, then a few
//! letters, then `"}}` and a blank line. The decoder reports a [`Repeat`] for an event that only appended one string to
//! one block. Every following event with equal bytes before and behind its string appends to that block, too. Two
//! comparisons then replace framing and decoding.
//!
//! The model call offers each chunk to [`Lane::take`]. Any other event takes the general way, and [`Lane::learn`]
//! learns its frame. The decoded answer does not depend on the lane, so a saved run does not contain it. Nothing fails
//! here: the general way reports the fault.

use looplet_scan::cursor::{Cursor, behind, not_plain, plain_length};
use looplet_scan::sse::line_end;

use crate::engine::model::answer::Answer;
use crate::engine::protocol::Repeat;

/// The longest frame that is kept, in bytes.
const MAX_FRAME_BYTES: usize = 2048;
/// The number of frames in a row that no event repeated, after which the lane stops learning.
const MAX_VAIN_FRAMES: u8 = 16;
/// The longest text that is collected before it joins the answer, in bytes. An event with a longer string takes the
/// general way.
const MAX_TEXT_BYTES: usize = 4096;
/// The key of a string without meaning, OpenAI's padding. The content of that string is ignored.
const PADDING: &[u8] = b"\"obfuscation\":\"";

/// The frame of the last event, if it may repeat.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// The block to which the events append.
    part: Option<usize>,
    /// The frame up to the string, with its opening quote.
    before: Vec<u8>,
    /// The frame from the string's closing quote to the event's end, or to the padding's opening quote.
    behind: Vec<u8>,
    /// The frame behind the padding, if there is one.
    behind_padding: Option<Vec<u8>>,
    vain: u8,
    /// The strings of the current events.
    text: Vec<u8>,
}

impl Lane {
    /// True while the lane still learns frames.
    pub fn is_open(&self) -> bool {
        self.vain < MAX_VAIN_FRAMES
    }

    /// True when there is a frame that an event could repeat.
    pub fn is_known(&self) -> bool {
        self.part.is_some()
    }

    /// Takes the whole events at the start of `bytes` that repeat the frame, and appends their strings to the answer.
    /// Returns the bytes behind them.
    pub fn take<'a>(&mut self, bytes: &'a [u8], answer: &mut Answer) -> &'a [u8] {
        let Some(part) = self.part else { return bytes };
        if self.text.is_empty() {
            self.text = vec![0; MAX_TEXT_BYTES];
        }
        let mut rest = bytes;
        loop {
            let (mut after, mut length) = (rest, 0);
            while let Some((next, end)) = self.read_one(after, length) {
                (after, length) = (next, end);
                if answer.keeps_deltas() {
                    break;
                }
            }
            if after.len() == rest.len() {
                break;
            }
            // One check covers all strings. A text that is not valid UTF-8 takes the general way from its start.
            let text = self.text.get(..length).unwrap_or_default();
            let Ok(text) = str::from_utf8(text) else { break };
            answer.push(part, text);
            self.vain = 0;
            rest = after;
        }
        rest
    }

    /// Reads the event at the start of `bytes` and writes its string into `text` at `at`. Returns the bytes behind the
    /// event and the end of the string.
    fn read_one<'a>(&mut self, bytes: &'a [u8], at: usize) -> Option<(&'a [u8], usize)> {
        let (rest, end) = copy_string(behind(bytes, &self.before)?, &mut self.text, at)?;
        let mut rest = behind_end(rest, &self.behind)?;
        if let Some(end) = &self.behind_padding {
            let mut cursor = Cursor::new(rest);
            cursor.string()?;
            rest = behind_end(cursor.rest(), end)?;
        }
        Some((rest, end))
    }

    /// Forgets the frame, before an event takes the general way.
    pub fn forget(&mut self) {
        self.part = None;
    }

    /// Remembers the frame of `event`, whose data is `data`, unless the data was joined from several lines.
    pub fn learn(&mut self, event: &[u8], data: &[u8], repeat: Repeat) {
        self.vain = self.vain.saturating_add(1);
        let Some(at) = (data.as_ptr() as usize).checked_sub(event.as_ptr() as usize) else {
            return;
        };
        let end = at.saturating_add(data.len());
        let string = at.saturating_add(repeat.before)..end.saturating_sub(repeat.behind);
        let (Some(before), Some(behind)) = (event.get(..string.start), event.get(string.end..)) else {
            return;
        };
        if event.len() > MAX_FRAME_BYTES || !behind.ends_with(b"\n") {
            return;
        }
        let padding = behind.windows(PADDING.len()).position(|window| window == PADDING);
        let split = padding.and_then(|at| behind.split_at_checked(at + PADDING.len() - 1));
        let padded = split.and_then(|(head, padding)| {
            let mut cursor = Cursor::new(padding);
            cursor.string()?;
            Some((head, cursor.rest()))
        });
        self.before.clear();
        self.before.extend_from_slice(before);
        self.before.push(b'"');
        self.behind.clear();
        self.behind
            .extend_from_slice(padded.map_or(behind, |(head, _)| head));
        self.behind_padding = padded.map(|(_, end)| end.to_vec());
        self.part = Some(repeat.part);
    }
}

/// Writes the string at the start of `bytes`, unescaped, to `into` from `at` on. `bytes` begin behind the opening
/// quote, and `into` is longer than `bytes`. Returns the bytes behind the string and the string's end in `into`. `None`
/// if the string has no end or is ill-formed; UTF-8 is not checked here.
fn copy_string<'a>(bytes: &'a [u8], into: &mut [u8], mut at: usize) -> Option<(&'a [u8], usize)> {
    let mut rest = bytes;
    loop {
        let length = copy_plain(rest, into.get_mut(at..)?)?;
        at += length;
        match rest.get(length..)? {
            [b'"', after @ ..] => return Some((after, at)),
            [b'\\', after @ ..] => (rest, at) = copy_escape(after, into, at)?,
            _ => return None,
        }
    }
}

/// Copies the bytes before the first quote, backslash or control character and returns their number. It copies eight
/// bytes at a time, also the last of them.
fn copy_plain(bytes: &[u8], into: &mut [u8]) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    let (slots, _) = into.as_chunks_mut::<8>();
    let mut slots = slots.iter_mut();
    let mut length = 0;
    for word in words {
        *slots.next()? = *word;
        let hits = not_plain(u64::from_le_bytes(*word));
        if hits != 0 {
            return Some(length + (hits.trailing_zeros() / 8) as usize);
        }
        length += 8;
    }
    let plain = plain_length(tail);
    into.get_mut(length..length + plain)?
        .copy_from_slice(tail.get(..plain)?);
    Some(length + plain)
}

/// Writes the character of the escape behind a backslash and returns the bytes behind it.
fn copy_escape<'a>(after: &'a [u8], into: &mut [u8], at: usize) -> Option<(&'a [u8], usize)> {
    let (first, rest) = after.split_first()?;
    *into.get_mut(at)? = match first {
        b'"' | b'\\' | b'/' => *first,
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        b'u' => return copy_unicode(rest, into, at),
        _ => return None,
    };
    Some((rest, at + 1))
}

/// Writes the character of the digits behind `\u`, with the second half of a pair. A lone half becomes U+FFFD.
fn copy_unicode<'a>(digits: &'a [u8], into: &mut [u8], at: usize) -> Option<(&'a [u8], usize)> {
    let (first, mut rest) = hex4(digits)?;
    let mut code = first;
    if (0xD800..0xDC00).contains(&first)
        && let Some((second, behind)) = rest.strip_prefix(b"\\u").and_then(hex4)
        && (0xDC00..0xE000).contains(&second)
    {
        code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        rest = behind;
    }
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    let end = at + character.len_utf8();
    character.encode_utf8(into.get_mut(at..end)?);
    Some((rest, end))
}

fn hex4(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = bytes.split_at_checked(4)?;
    let mut value = 0;
    for digit in digits {
        value = value << 4 | char::from(*digit).to_digit(16)?;
    }
    Some((value, rest))
}

/// The bytes behind `end`. Blanks among closing brackets are ignored, because Anthropic pads there.
fn behind_end<'a>(bytes: &'a [u8], end: &[u8]) -> Option<&'a [u8]> {
    behind(bytes, end).or_else(|| behind_padded(bytes, end))
}

fn behind_padded<'a>(mut bytes: &'a [u8], mut end: &[u8]) -> Option<&'a [u8]> {
    loop {
        match (bytes, end) {
            ([b' ', rest @ ..], _) => bytes = rest,
            (_, [b' ', rest @ ..]) => end = rest,
            ([one @ (b'}' | b']'), rest @ ..], [other, rest_of_end @ ..]) if one == other => {
                (bytes, end) = (rest, rest_of_end);
            }
            _ => return behind(bytes, end),
        }
    }
}

/// Splits `bytes` behind the first blank line.
pub fn split_event(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    loop {
        at += line_end(bytes.get(at..)?)?;
        let length = match bytes.get(at..)? {
            [b'\n' | b'\r', b'\r', b'\n', ..] => 3,
            [b'\n', b'\n' | b'\r', ..] | [b'\r', b'\r', ..] => 2,
            _ => {
                at += 1;
                continue;
            }
        };
        return bytes.split_at_checked(at + length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::agent::request::model_call::ModelCall;
    use crate::engine::protocol::protocol;

    /// The text of the first block, and the number of events that took the general way.
    fn texts(wire: &str, body: &[u8], cuts: &[usize]) -> (Vec<String>, String) {
        let row = protocol(wire).unwrap();
        let mut call = ModelCall::new(1, "vendor", row, true, true);
        call.handle_head(200, Vec::new());
        let mut deltas = Vec::new();
        let (mut from, mut seen) = (0, 0);
        for to in cuts.iter().copied().chain([body.len()]) {
            let (is_all, rest) = call.take_repeats(&body[from..to]);
            if !is_all {
                call.handle_chunk(rest).unwrap();
            }
            let text = call.answer.parts.first().map_or("", |part| &part.text).to_owned();
            if text.len() > seen {
                deltas.push(text[seen..].to_owned());
                seen = text.len();
            }
            from = to;
        }
        call.handle_end(0).unwrap();
        let json = serde_json::to_string(&call.answer.parts).unwrap();
        (deltas, json)
    }

    fn anthropic(deltas: &[&str]) -> Vec<u8> {
        let mut body =
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n\
            event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
            \"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
                .to_owned();
        for (at, delta) in deltas.iter().enumerate() {
            let pad = " ".repeat(at % 3);
            body += &format!(
                "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\
                \"delta\":{{\"type\":\"text_delta\",\"text\":{delta}}}{pad}}}\n\n"
            );
        }
        body += "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
            event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n\
            event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
        body.into_bytes()
    }

    const LITERALS: [&str; 9] = [
        r#""plain""#,
        r#""with \"quotes\" and \\ and \/ ""#,
        r#""\u00e9\n\t\r\b\f""#,
        r#""\ud83d\ude00 \ud83d alone \ude00""#,
        r#""\ud83d\u0041""#,
        "\"漢字 é 😀\"",
        r#""""#,
        r#""a longer piece of text that takes several words""#,
        r#""}}""#,
    ];

    #[test]
    fn what_repeats_is_read_as_if_it_had_gone_the_long_way_wherever_it_is_cut() {
        let body = anthropic(&LITERALS);
        let wanted: String = LITERALS
            .iter()
            .map(|literal| {
                let bytes = literal.as_bytes();
                Cursor::new(bytes).string().unwrap().to_text().into_owned()
            })
            .collect();
        let (whole, parts) = texts("anthropic", &body, &[]);
        assert_eq!(whole.concat(), wanted);
        for cut in 0..body.len() {
            let (_, cut_once) = texts("anthropic", &body, &[cut]);
            assert_eq!(cut_once, parts, "cut at {cut}");
        }
        let every_byte: Vec<usize> = (0..body.len()).collect();
        assert_eq!(texts("anthropic", &body, &every_byte).1, parts);
    }

    #[test]
    fn padding_and_other_frames_change_nothing() {
        let chunk = |delta: &str, padding: &str| {
            format!(
                "data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{delta}}}],\"obfuscation\":\"{padding}\"}}\r\n\r\n"
            )
        };
        let mut body = chunk(r#"{"role":"assistant","content":"a"}"#, "x");
        for at in 0..40 {
            body += &chunk(&format!("{{\"content\":\"<{at}>\"}}"), &"y".repeat(at % 5));
            if at % 7 == 0 {
                body += ": ping\r\n\r\n";
            }
        }
        body += "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\n\
            data: [DONE]\r\n\r\n";
        let body = body.into_bytes();
        let (whole, parts) = texts("openai_chat", &body, &[]);
        let counted: String = (0..40).map(|at| format!("<{at}>")).collect();
        assert_eq!(whole.concat(), format!("a{counted}"));
        for cut in (0..body.len()).step_by(3) {
            assert_eq!(texts("openai_chat", &body, &[cut]).1, parts, "cut at {cut}");
        }
    }

    #[test]
    fn a_string_that_is_no_utf_8_goes_the_long_way() {
        let mut body = anthropic(&["\"one\"", "\"two\"", "\"bad?\"", "\"four\""]);
        let at = body.windows(4).position(|window| window == b"bad?").unwrap();
        body[at + 3] = 0xFF;
        let (whole, parts) = texts("anthropic", &body, &[]);
        let every_byte: Vec<usize> = (0..body.len()).collect();
        assert_eq!(texts("anthropic", &body, &every_byte).1, parts);
        assert_eq!(whole.concat(), "onetwobad\u{fffd}four");
    }

    #[test]
    fn an_event_that_repeats_is_taken_without_the_decoder() {
        let row = protocol("anthropic").unwrap();
        let body = anthropic(&["\"one\"", "\"two\""]);
        let first = body.windows(3).position(|window| window == b"two").unwrap();
        let start = body[..first]
            .windows(2)
            .rposition(|window| window == b"\n\n")
            .unwrap()
            + 2;
        let mut call = ModelCall::new(1, "vendor", row, true, true);
        call.handle_head(200, Vec::new());
        assert_eq!(call.take_repeats(&body[..start]), (false, &body[..start]));
        call.handle_chunk(&body[..start]).unwrap();
        let event = &body[start..];
        let end = event.windows(2).position(|window| window == b"\n\n").unwrap() + 2;
        assert_eq!(call.take_repeats(&event[..end - 1]), (true, &[][..]));
        assert_eq!(call.answer.parts[0].text, "one");
        assert_eq!(call.take_repeats(&event[end - 1..end]), (true, &[][..]));
        assert_eq!(call.answer.parts[0].text, "onetwo");
    }
}
