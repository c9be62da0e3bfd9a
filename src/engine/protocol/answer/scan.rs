//! The hot scanner: recognises the events that come by the thousand in a stream.
//!
//! [`anthropic_delta`], [`chat_delta`], [`responses_delta`] and [`converse_delta`] each recognise one delta of text,
//! reasoning or tool arguments, in any order of keys and with any blanks. They return `None` for everything else. The
//! decoder then takes the general way ([`looplet_scan::reader`]) with an equal result. The scanner decides
//! nothing about an event's meaning, and it never fails.

use looplet_scan::cursor::{Cursor, RawString, behind};

/// Sets `slot` the first time. `None` when a key comes twice, which only the general reader judges.
fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    if slot.is_some() {
        return None;
    }
    *slot = Some(value);
    Some(())
}

/// The target of a recognised Anthropic delta.
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
            cursor.string().filter(|name| name.is("content_block_delta"))?,
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

/// The target of a recognised chat chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatDelta {
    Content,
    /// The field `reasoning_content`.
    ReasoningContent,
    /// The field `reasoning`.
    Reasoning,
    /// The arguments of the tool call with this index.
    Arguments(u32),
}

/// Recognises a chunk whose only news is a piece of content, of reasoning or of one tool call's arguments.
pub fn chat_delta(data: &[u8]) -> Option<(ChatDelta, RawString<'_>)> {
    let mut cursor = Cursor::new(data);
    let mut delta = None;
    cursor.object(|key, cursor| match key {
        b"choices" => once(&mut delta, chat_choice(cursor)?),
        b"object" => cursor
            .string()
            .filter(|name| name.is("chat.completion.chunk"))
            .map(|_| ()),
        b"usage" | b"x_groq" | b"error" | b"type" => cursor.null(),
        _ => cursor.value(MAX_DEPTH),
    })?;
    if cursor.at_end() { delta } else { None }
}

/// The deepest nesting of ignored values (content filters, timings).
const MAX_DEPTH: u8 = 6;

fn chat_choice<'a>(cursor: &mut Cursor<'a>) -> Option<(ChatDelta, RawString<'a>)> {
    cursor.eat(b'[')?;
    let mut delta = None;
    cursor.object(|key, cursor| match key {
        b"index" => match cursor.index()? {
            0 => Some(()),
            _ => None,
        },
        b"delta" => once(&mut delta, chat_delta_object(cursor)?),
        b"finish_reason" | b"usage" => cursor.nothing(),
        b"error" => cursor.null(),
        _ => cursor.value(MAX_DEPTH),
    })?;
    cursor.eat(b']')?;
    delta
}

fn chat_delta_object<'a>(cursor: &mut Cursor<'a>) -> Option<(ChatDelta, RawString<'a>)> {
    let (mut found, mut seen) = (None, [false; 4]);
    cursor.object(|key, cursor| {
        let (kind, at) = match key {
            b"content" => (ChatDelta::Content, 0),
            b"reasoning_content" => (ChatDelta::ReasoningContent, 1),
            b"reasoning" => (ChatDelta::Reasoning, 2),
            b"tool_calls" => (ChatDelta::Arguments(0), 3),
            b"refusal" | b"reasoning_details" | b"function_call" => return cursor.nothing(),
            _ => return cursor.value(MAX_DEPTH),
        };
        if core::mem::replace(seen.get_mut(at)?, true) {
            return None;
        }
        match (cursor.peek()?, kind) {
            (b'[', ChatDelta::Arguments(_)) => {
                let mut empty = cursor.clone();
                if empty.nothing().is_some() {
                    *cursor = empty;
                    return Some(());
                }
                once(&mut found, chat_arguments(cursor)?)
            }
            (b'"', ChatDelta::Content | ChatDelta::Reasoning | ChatDelta::ReasoningContent) => {
                let text = cursor.string()?;
                match (text.is_empty(), kind) {
                    (false, _) => once(&mut found, (kind, text)),
                    // The decoder has to know that this field came at all.
                    (true, ChatDelta::ReasoningContent) => None,
                    (true, _) => Some(()),
                }
            }
            _ => cursor.null(),
        }
    })?;
    found
}

/// Reads one element without id and name, which continues a call.
fn chat_arguments<'a>(cursor: &mut Cursor<'a>) -> Option<(ChatDelta, RawString<'a>)> {
    cursor.eat(b'[')?;
    let (mut index, mut arguments) = (None, None);
    cursor.object(|key, cursor| match key {
        b"index" => once(&mut index, cursor.index()?),
        b"type" => cursor.value(0),
        b"function" => cursor.object(|key, cursor| match key {
            b"arguments" => once(&mut arguments, cursor.string()?),
            b"name" => cursor.nothing(),
            _ => cursor.value(MAX_DEPTH),
        }),
        b"id" => cursor.nothing(),
        _ => cursor.null(),
    })?;
    cursor.eat(b']')?;
    Some((ChatDelta::Arguments(index?), arguments?))
}

/// The target of a delta of a Responses item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponsesDelta {
    Text,
    Refusal,
    /// A part of a reasoning item's `summary`.
    Summary,
    /// A part of a reasoning item's `content`.
    Reasoning,
    Arguments,
    CustomInput,
}

impl ResponsesDelta {
    /// The target that an event of this type names.
    pub fn named(name: &str) -> Option<ResponsesDelta> {
        Some(match name.strip_prefix("response.")?.strip_suffix(".delta")? {
            "output_text" => ResponsesDelta::Text,
            "refusal" => ResponsesDelta::Refusal,
            "reasoning_summary_text" => ResponsesDelta::Summary,
            "reasoning_text" => ResponsesDelta::Reasoning,
            "function_call_arguments" => ResponsesDelta::Arguments,
            "custom_tool_call_input" => ResponsesDelta::CustomInput,
            _ => return None,
        })
    }
}

/// Recognises a delta of a Responses item. Returns its `output_index`, its target, and its `content_index` or
/// `summary_index`.
pub fn responses_delta(data: &[u8]) -> Option<((u32, ResponsesDelta, u32), RawString<'_>)> {
    let mut cursor = Cursor::new(data);
    let (mut kind, mut index, mut at, mut delta) = (None, None, None, None);
    cursor.object(|key, cursor| match key {
        b"type" => once(&mut kind, ResponsesDelta::named(cursor.string()?.plain()?)?),
        b"output_index" => once(&mut index, cursor.index()?),
        b"content_index" | b"summary_index" => once(&mut at, cursor.index()?),
        b"delta" => once(&mut delta, cursor.string()?),
        b"error" => cursor.null(),
        _ => cursor.value(MAX_DEPTH),
    })?;
    if cursor.at_end() {
        Some(((index?, kind?, at.unwrap_or(0)), delta?))
    } else {
        None
    }
}

/// The target of a recognised Converse delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConverseDelta {
    Text,
    Reasoning,
    Input,
}

/// The bytes between a delta's index and its text, the bytes behind the text, and the target.
const CONVERSE_FRAMES: &[(&[u8], &[u8], ConverseDelta)] = &[
    (br#","delta":{"text":"#, b"}", ConverseDelta::Text),
    (br#","delta":{"toolUse":{"input":"#, b"}}", ConverseDelta::Input),
    (
        br#","delta":{"reasoningContent":{"text":"#,
        b"}}",
        ConverseDelta::Reasoning,
    ),
];

/// Recognises a `contentBlockDelta` with text, reasoning or tool arguments. Amazon writes it without blanks, with
/// sorted keys, sometimes with padding.
pub fn converse_delta(data: &[u8]) -> Option<((u32, ConverseDelta), RawString<'_>)> {
    let mut cursor = Cursor::new(behind(data, br#"{"contentBlockIndex":"#)?);
    let index = cursor.index()?;
    let (rest, close, kind) = CONVERSE_FRAMES
        .iter()
        .find_map(|(open, close, kind)| Some((behind(cursor.rest(), open)?, *close, *kind)))?;
    let mut cursor = Cursor::new(rest);
    let text = cursor.string()?;
    let mut rest = behind(cursor.rest(), close)?;
    if let Some(padding) = behind(rest, br#","p":"#) {
        let mut cursor = Cursor::new(padding);
        cursor.string()?;
        rest = cursor.rest();
    }
    if rest == b"}" {
        Some(((index, kind), text))
    } else {
        None
    }
}
