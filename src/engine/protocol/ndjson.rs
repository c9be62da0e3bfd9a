//! looplet's own protocol: the request is one JSON object, the answer one JSON object per line.
//!
//! The TypeScript speaks it for `custom(async …)` models. [`PROTOCOL`] describes the request and [`NdjsonDecoder`]
//! the lines of an answer. The model call reaches the functions here through the table of protocols. A line that is
//! not valid JSON fails the call, and so does a body without `finish`.

use std::collections::BTreeMap;

use looplet_scan::reader::{Object, items, string, validate, whole};

use crate::engine::json::writer::push_value;
use crate::engine::json::writer::{
    push_comma, push_flag, push_key, push_raw, push_string, push_text, push_text_if,
};
use crate::engine::model::answer::{FinishReason, ModelAnswer, PartKind};
use crate::engine::model::config::{PromptCaching, ToolChoice};
use crate::engine::model::error::{ConfigError, Failure, FailureCode};
use crate::engine::model::json::named;
use crate::engine::model::message::{Json, Message};
use crate::engine::model::usage::{Usage, shifted};
use crate::engine::protocol::answer::finish_reason::note_reason;
use crate::engine::protocol::failure::malformed;
use crate::engine::protocol::request::body_fields::BodyFields;
use crate::engine::protocol::request::prefill;
use crate::engine::protocol::request::sampling::{OPTIONS, push_sampling};
use crate::engine::protocol::{Decoder, Framing, Protocol, RequestSpec, no_marker};

/// The row of this protocol.
///
/// The request has these fields and the fields of the configured `body`. Its messages have the neutral form of
/// [`crate::engine::model::message`].
///
/// ```text
/// { "model", "system"?, "tools"?: [{ "name", "description", "inputSchema", "strict"? }], "maxOutputTokens"?,
/// "temperature"?, "topP"?, "topK"?, "frequencyPenalty"?, "presencePenalty"?, "seed"?, "stopSequences"?, "thinking"?,
/// "effort"?, "toolChoice"?, "parallelToolCalls"?, "responseFormat"?: { "name", "schema", "strict" },
/// "promptCaching"?: { "enabled"?, "ttl"?, "key"? }, "metadata"?, "messages": [ … ] }
/// ```
pub const PROTOCOL: Protocol = Protocol {
    name: "ndjson",
    framing: Framing::Ndjson,
    path: |_| String::new(),
    base_path: "",
    before_endpoint: |_| None,
    title: "NDJSON",
    constructor: "",
    marks: &[],
    headers: &[],
    encode_head,
    accepts: None,
    bound: None,
    append: None,
    summary: None,
    raw_in_results: true,
    waits_for_results: |_, _| false,
    begins_with_user: false,
    encode_message,
    encode_tail,
    prefill: prefill::no_prefill,
    is_background: |_| false,
    marked_end: no_marker,
    decoder: || Decoder::Ndjson(NdjsonDecoder::default()),
    lane: None,
};

fn encode_head(spec: &RequestSpec<'_>, into: &mut Vec<u8>) -> Result<(), ConfigError> {
    let model = spec.model;
    let fields = BodyFields::new(model.body.as_ref(), "messages")?;
    into.push(b'{');
    fields.text(into, "model", &model.model);
    if let Some(system) = spec.system {
        fields.text(into, "system", system);
    }
    let mut tools = spec
        .declared("ndjson")
        .filter(|(_, entry)| entry.is_none())
        .peekable();
    if tools.peek().is_some() && fields.key(into, "tools") {
        into.push(b'[');
        for (tool, _) in tools {
            push_comma(into);
            into.push(b'{');
            push_text(into, "name", &tool.name);
            push_text(into, "description", &tool.description);
            push_raw(into, "inputSchema", tool.input_schema.as_str());
            if tool.strict {
                push_flag(into, "strict", true);
            }
            into.push(b'}');
        }
        into.push(b']');
    }
    if let Some(tokens) = model.max_output_tokens {
        fields.number(into, "maxOutputTokens", tokens);
    }
    push_sampling(&fields, model, &OPTIONS, into);
    fields.texts(into, "stopSequences", &model.stop_sequences);
    fields.json(into, "thinking", model.thinking.as_ref());
    if let Some(effort) = &model.effort {
        fields.text(into, "effort", effort);
    }
    if let Some(choice) = &model.tool_choice
        && fields.key(into, "toolChoice")
    {
        push_tool_choice(choice, into);
    }
    if let Some(parallel) = model.parallel_tool_calls {
        fields.raw(into, "parallelToolCalls", if parallel { "true" } else { "false" });
    }
    if let Some(format) = &model.response_format
        && fields.key(into, "responseFormat")
    {
        into.push(b'{');
        push_text(into, "name", &format.name);
        push_raw(into, "schema", format.schema.as_str());
        push_flag(into, "strict", format.strict);
        into.push(b'}');
    }
    push_caching(&model.prompt_caching, &fields, into);
    fields.json(into, "metadata", model.metadata.as_ref());
    fields.finish(into, &[]);
    push_key(into, "messages");
    into.push(b'[');
    Ok(())
}

fn push_caching(caching: &PromptCaching, fields: &BodyFields<'_>, into: &mut Vec<u8>) {
    if *caching == PromptCaching::default() || !fields.key(into, "promptCaching") {
        return;
    }
    into.push(b'{');
    if let Some(enabled) = caching.enabled {
        push_flag(into, "enabled", enabled);
    }
    push_text_if(into, "ttl", caching.ttl.as_deref());
    push_text_if(into, "key", caching.key.as_deref());
    into.push(b'}');
}

fn push_tool_choice(choice: &ToolChoice, into: &mut Vec<u8>) {
    match choice {
        ToolChoice::Auto => push_string(into, "auto"),
        ToolChoice::None => push_string(into, "none"),
        ToolChoice::Required => push_string(into, "required"),
        ToolChoice::Tool(name) => {
            into.push(b'{');
            push_text(into, "tool", name);
            into.push(b'}');
        }
    }
}

fn encode_message(_spec: &RequestSpec<'_>, message: &Message, into: &mut Vec<u8>) {
    into.push(b',');
    push_value(into, message);
}

fn encode_tail(_spec: &RequestSpec<'_>, into: &mut Vec<u8>) {
    into.extend_from_slice(b"]}");
}

/// The state between lines.
///
/// An answer has these lines:
/// - `{"type":"text","text"}` appends to the open text block, or begins one;
/// - `{"type":"reasoning","text","signature"?}` does so for reasoning;
/// - `{"type":"refusal","text"}` does so for a refusal;
/// - `{"type":"file","mediaType","data"}` is a file as base64;
/// - `{"type":"raw","json"}` is a block that has no neutral form;
/// - `{"type":"source","url","title"?}` names a page for the last text;
/// - `{"type":"tool_call","id"?,"name","input"}` is a whole call; `input` is an object, or a string of JSON text;
/// - `{"type":"tool_call_start","id"?,"name","index"?}`, `{"type":"tool_call_delta","text","id"|"index"}` and
///   `{"type":"tool_call_end","id"|"index"}` are a call in pieces; a piece without both belongs to the last call;
/// - `{"type":"usage","inputTokens","outputTokens","cacheReadTokens","cacheWriteTokens","cacheWriteHourTokens",
///   "reasoningTokens","audioInputTokens","audioOutputTokens","costUsd"}` is the usage; a missing count is 0, a
///   missing cost unknown;
/// - `{"type":"response","id"?,"model"?}` names the answer and its model;
/// - `{"type":"finish","reason"}` is the end, with `stop`, `length`, `tool_calls`, `content_filter`, `refusal` or
///   `pause`;
/// - `{"type":"error","code","message","status"?,"retryAfterMs"?,"retryable"?}` fails the call; its codes are those
///   of [`FailureCode`], by default `server`.
///
/// Lines of other types are ignored. A body that is one JSON value (`stream: false`) is an array of such objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NdjsonDecoder {
    /// The text, reasoning or refusal that is growing.
    flow: Option<(PartKind, usize)>,
    /// The blocks of the calls in pieces.
    calls: Vec<usize>,
    /// The last of them with an index, or with an id.
    by_index: BTreeMap<u64, usize>,
    by_id: BTreeMap<String, usize>,
    done: bool,
}

impl NdjsonDecoder {
    /// Decodes one line.
    ///
    /// # Errors
    /// The failure that an `error` line reports, or `malformed_stream`.
    pub fn decode_event(&mut self, data: &[u8], answer: &mut ModelAnswer) -> Result<(), Failure> {
        // Programs on Windows begin a body with a byte order mark.
        let data = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data).trim_ascii();
        if self.done || data.is_empty() {
            return Ok(());
        }
        let text = validate(data).ok_or_else(|| malformed("a line of the custom model is not JSON", data))?;
        self.read_line(&text, answer)
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// `malformed_stream` without a `finish` line.
    pub fn finish(&mut self) -> Result<(), Failure> {
        if self.done {
            return Ok(());
        }
        Err(malformed("the custom model ended without a finish line", &[]))
    }

    /// Decodes an array of lines.
    ///
    /// # Errors
    /// As [`NdjsonDecoder::decode_event`] and [`NdjsonDecoder::finish`].
    pub fn decode_body(&mut self, body: &[u8], answer: &mut ModelAnswer) -> Result<(), Failure> {
        let text = validate(body).ok_or_else(|| malformed("the custom model's answer is not JSON", body))?;
        match items(&text) {
            Some(lines) => {
                for line in lines {
                    self.read_line(line, answer)?;
                }
            }
            None => self.read_line(&text, answer)?,
        }
        self.finish()
    }

    fn read_line(&mut self, line: &str, answer: &mut ModelAnswer) -> Result<(), Failure> {
        let Some(event) = Object::parse(line) else {
            return Err(malformed(
                "a line of the custom model is not an object",
                line.as_bytes(),
            ));
        };
        match event.word("type") {
            "text" => self.push(PartKind::Text, &event, answer),
            "reasoning" => {
                self.push(PartKind::Thinking, &event, answer);
                if let Some(signature) = event.filled("signature")
                    && let Some((PartKind::Thinking, part)) = self.flow
                    && let Some(part) = answer.parts.get_mut(part)
                {
                    part.signature = Some(signature.into_owned());
                }
            }
            "refusal" => self.push(PartKind::Refusal, &event, answer),
            "file" => self.push_whole(
                PartKind::Media,
                &event.text("data"),
                &event.text("mediaType"),
                answer,
            ),
            "raw" => self.push_whole(PartKind::Raw, event.get("json").unwrap_or("null"), "", answer),
            "source" => cite(&event, answer),
            "tool_call" => {
                let part = self.start_call(&event, answer);
                push_input(part, &event, answer);
                answer.end(part);
            }
            "tool_call_start" => {
                let part = self.start_call(&event, answer);
                self.calls.push(part);
                self.by_index
                    .extend(event.number("index").map(|index| (index, part)));
                self.by_id.extend(event.owned("id").map(|id| (id, part)));
            }
            "tool_call_delta" => {
                if let Some(part) = self.call(&event) {
                    answer.push_piece(part, &event.piece("text"));
                }
            }
            "tool_call_end" => {
                if let Some(part) = self.call(&event) {
                    end_call(part, answer);
                }
            }
            "usage" => {
                if let Some(usage) = read_usage(&event) {
                    answer.set_usage(usage);
                }
            }
            "response" => {
                answer.response_id = event.owned("id");
                answer.model = event.owned("model");
            }
            "finish" => self.close(&event, answer),
            "error" => return Err(read_error(&event)),
            _ => {}
        }
        Ok(())
    }

    fn push(&mut self, kind: PartKind, event: &Object<'_>, answer: &mut ModelAnswer) {
        let text = event.piece("text");
        if text.is_empty() && event.get("signature").is_none() {
            return;
        }
        let part = match self.flow {
            Some((open, part)) if open == kind => part,
            _ => {
                self.end_flow(answer);
                let part = answer.start(kind);
                self.flow = Some((kind, part));
                part
            }
        };
        answer.push_piece(part, &text);
    }

    fn push_whole(&mut self, kind: PartKind, text: &str, name: &str, answer: &mut ModelAnswer) {
        self.end_flow(answer);
        let part = answer.start(kind);
        answer.push(part, text);
        if let Some(part) = answer.parts.get_mut(part) {
            part.name.push_str(name);
        }
        answer.end(part);
    }

    fn end_flow(&mut self, answer: &mut ModelAnswer) {
        if let Some((_, part)) = self.flow.take() {
            answer.end(part);
        }
    }

    fn start_call(&mut self, event: &Object<'_>, answer: &mut ModelAnswer) -> usize {
        self.end_flow(answer);
        let text = |name: &str| event.text(name);
        answer.start_tool_call(&text("id"), &text("name"))
    }

    fn call(&self, event: &Object<'_>) -> Option<usize> {
        let found = match (event.number("index"), event.filled("id")) {
            (Some(index), _) => self.by_index.get(&index),
            (None, Some(id)) => self.by_id.get(id.as_ref()),
            (None, None) => self.calls.last(),
        };
        found.copied()
    }

    fn close(&mut self, event: &Object<'_>, answer: &mut ModelAnswer) {
        self.end_flow(answer);
        note_reason(Some(event.text("reason").into_owned()), answer);
        if answer.finish_reason != Some(FinishReason::Length) {
            for part in &self.calls {
                end_call(*part, answer);
            }
        }
        answer.end_all();
        answer.complete = true;
        self.done = true;
    }
}

/// Adds a page to the citations of the last text, in the form of Anthropic's Messages API.
fn cite(event: &Object<'_>, answer: &mut ModelAnswer) {
    let mut texts = answer.parts.iter_mut().filter(|part| part.kind == PartKind::Text);
    let (Some(text), Some(url)) = (texts.next_back(), event.get("url")) else {
        return;
    };
    let title = event.get("title").map(|title| format!(",\"title\":{title}"));
    let citation = format!("{{\"url\":{url}{}}}", title.unwrap_or_default());
    let before = text
        .vendor
        .as_ref()
        .and_then(|vendor| vendor.as_str().strip_suffix("]}"));
    let all = match before {
        Some(before) => format!("{before},{citation}]}}"),
        None => format!("{{\"citations\":[{citation}]}}"),
    };
    text.vendor = Some(Json::from_valid(&all));
}

/// Writes a call's input. A string is the text of the input, any other value is written as its own text, and a
/// missing input is an empty object.
fn push_input(part: usize, event: &Object<'_>, answer: &mut ModelAnswer) {
    let input = event.get("input").unwrap_or("{}");
    match string(input) {
        Some(text) => answer.push(part, &text),
        None => answer.push(part, input),
    }
}

fn end_call(part: usize, answer: &mut ModelAnswer) {
    if answer
        .parts
        .get(part)
        .is_some_and(|call| call.text.trim().is_empty() && !call.ended)
    {
        answer.push(part, "{}");
    }
    answer.end(part);
}

/// Reads the usage. A missing count is 0. A line with a count that is not a number is ignored.
fn read_usage(event: &Object<'_>) -> Option<Usage> {
    let count = |name: &str| event.last(name).map_or(Some(0), whole);
    Some(Usage {
        input_tokens: count("inputTokens")?,
        output_tokens: count("outputTokens")?,
        cache_read_tokens: count("cacheReadTokens")?,
        cache_write_tokens: count("cacheWriteTokens")?,
        cache_write_hour_tokens: count("cacheWriteHourTokens")?,
        reasoning_tokens: count("reasoningTokens")?,
        audio_input_tokens: count("audioInputTokens")?,
        audio_output_tokens: count("audioOutputTokens")?,
        cost_nano_usd: event.get("costUsd").and_then(|usd| shifted(usd, 9)),
        ..Usage::default()
    })
}

fn read_error(event: &Object<'_>) -> Failure {
    let code = event
        .string("code")
        .and_then(|code| named(&code))
        .unwrap_or(FailureCode::Server);
    let mut failure = Failure::new(code, event.text("message"));
    failure.status = event
        .number("status")
        .and_then(|status| u16::try_from(status).ok());
    failure.retry_after_ms = event.number("retryAfterMs");
    match event.get("retryable") {
        Some("true") => failure.retryable = true,
        Some("false") => failure.retryable = false,
        _ => {}
    }
    failure
}
