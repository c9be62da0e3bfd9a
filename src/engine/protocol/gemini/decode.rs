//! Decodes Gemini's answers, streamed or complete, into an [`ModelAnswer`].
//!
//! Every chunk is a complete `GenerateContentResponse` with the new content as parts. Usage counts up from chunk to
//! chunk. A finish reason may be in any chunk, and the last one counts. The stream has no other end than the end of
//! its body.
//!
//! The model call feeds chunks, then calls [`GeminiDecoder::finish`]. An error chunk, unreadable JSON and a body
//! without a finish reason fail.

use looplet_scan::piece::Piece;
use looplet_scan::reader::{Object, items, string, validate};

use crate::engine::json::writer::{push_others, push_raw};
use crate::engine::model::answer::{FinishReason, ModelAnswer, PartKind};
use crate::engine::model::error::Failure;
use crate::engine::model::message::Json;
use crate::engine::model::usage::{Tier, Usage};
use crate::engine::protocol::answer::finish_reason::note_reason;
use crate::engine::protocol::answer::sources::{Sources, attach_sources};
use crate::engine::protocol::failure::{decode_error_value, malformed};
use crate::engine::protocol::gemini::partial_args::PartialArgs;
use crate::engine::protocol::vendor_fields::{closed, others};

/// The state between chunks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeminiDecoder {
    /// The text or thinking that is growing.
    flow: Option<(PartKind, usize)>,
    /// The call whose arguments are incomplete.
    call: Option<(usize, PartialArgs)>,
    has_calls: bool,
    citations: Sources,
    /// The other sources of the answer's text, in the order of [`SOURCES`].
    metadata: [String; 2],
}

impl GeminiDecoder {
    /// Decodes the data of one event.
    ///
    /// # Errors
    /// The failure that an error chunk reports, or `malformed_stream`.
    pub fn decode_event(&mut self, data: &[u8], answer: &mut ModelAnswer) -> Result<(), Failure> {
        let data = data.trim_ascii();
        if data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        let text = validate(data).ok_or_else(|| malformed("an event of the stream is not JSON", data))?;
        self.read_chunks(&text, answer).map(|_| ())
    }

    /// Ends the body.
    ///
    /// # Errors
    /// `malformed_stream` when the body was cut off earlier.
    pub fn finish(&mut self, answer: &mut ModelAnswer) -> Result<(), Failure> {
        if answer.raw_finish_reason.is_none() {
            return Err(malformed("the stream ended before the answer did", &[]));
        }
        self.close(answer);
        Ok(())
    }

    /// Decodes an answer that is not streamed, or the list of chunks of a stream without `alt=sse`.
    ///
    /// # Errors
    /// The failure that the body reports, or `malformed_stream`.
    pub fn decode_body(&mut self, body: &[u8], answer: &mut ModelAnswer) -> Result<(), Failure> {
        let text = validate(body).ok_or_else(|| malformed("the body is not JSON", body))?;
        if !self.read_chunks(&text, answer)? {
            return Err(malformed("the body is not an answer", body));
        }
        if text.trim_ascii_start().starts_with('[') {
            return self.finish(answer);
        }
        self.close(answer);
        Ok(())
    }

    /// Reads one chunk or a list of them. Returns true if one of them is a part of an answer.
    fn read_chunks(&mut self, json: &str, answer: &mut ModelAnswer) -> Result<bool, Failure> {
        let mut is_answer = false;
        for chunk in items(json).unwrap_or_else(|| vec![json]) {
            is_answer |= self.read_chunk(chunk, answer)?;
        }
        Ok(is_answer)
    }

    fn read_chunk(&mut self, json: &str, answer: &mut ModelAnswer) -> Result<bool, Failure> {
        let Some(chunk) = Object::parse(json) else {
            return Err(malformed(
                "a chunk of the answer is not an object",
                json.as_bytes(),
            ));
        };
        for (slot, name) in [
            (&mut answer.response_id, "responseId"),
            (&mut answer.model, "modelVersion"),
        ] {
            if slot.is_none() {
                *slot = chunk.owned(name);
            }
        }
        if let Some(usage) = chunk.object("usageMetadata") {
            read_usage(&usage, answer);
        }
        for candidate in chunk.items("candidates") {
            self.read_candidate(candidate, answer)?;
        }
        let feedback = chunk.object("promptFeedback");
        if let Some(reason) = feedback
            .as_ref()
            .and_then(|feedback| feedback.filled("blockReason"))
        {
            answer.finish_reason = Some(FinishReason::ContentFilter);
            answer.raw_finish_reason = Some(reason.into_owned());
        }
        if chunk.get("error").is_some() {
            return Err(decode_error_value(json));
        }
        Ok(feedback.is_some() || chunk.get("candidates").is_some())
    }

    fn read_candidate(&mut self, json: &str, answer: &mut ModelAnswer) -> Result<(), Failure> {
        let candidate = Object::parse(json).unwrap_or_default();
        if candidate.number("index").unwrap_or(0) != 0 {
            return Ok(());
        }
        let content = candidate.object("content").unwrap_or_default();
        for part in content.items("parts") {
            self.read_part(part, answer)?;
        }
        let citations = candidate.object("citationMetadata").unwrap_or_default();
        // Vertex AI's name, and that of the Gemini API:
        // <https://ai.google.dev/api/generate-content#citationmetadata>.
        for name in ["citations", "citationSources"] {
            for citation in citations.items(name) {
                self.citations.push(citation, answer);
            }
        }
        for (slot, name) in self.metadata.iter_mut().zip(SOURCES.iter().skip(1)) {
            if let Some(metadata) = candidate.get(name).filter(|metadata| *metadata != "{}") {
                metadata.clone_into(slot);
            }
        }
        match candidate.filled("finishReason") {
            None => {}
            Some(reason) if reason == "FINISH_REASON_UNSPECIFIED" => {}
            // Gemini could not parse the model's call and left it out of the answer. The run cannot continue without
            // it, and the next attempt usually succeeds.
            Some(reason) if reason.starts_with("MALFORMED_") && !self.has_calls => {
                let why = "the model wrote a call that the vendor could not read";
                return Err(malformed(why, json.as_bytes()));
            }
            Some(reason) => note_reason(Some(reason.into_owned()), answer),
        }
        Ok(())
    }

    /// Reads text, thinking, media and calls. Every other part is stored raw: code that the vendor ran, its own
    /// tools, unknown parts, and a signature without a text.
    fn read_part(&mut self, json: &str, answer: &mut ModelAnswer) -> Result<(), Failure> {
        let part = Object::parse(json).unwrap_or_default();
        if let Some(function) = part.object("functionCall") {
            return self.read_call(&part, &function, answer);
        }
        let mut kind = match part.get("thought") {
            Some("true") => PartKind::Thinking,
            _ => PartKind::Text,
        };
        if kind == PartKind::Text && self.read_media(&part, answer).is_some() {
            return Ok(());
        }
        let text = part.get("text").and_then(Piece::of_json);
        let vendor = vendor_fields(&part, None);
        match &text {
            Some(text) if vendor.is_none() => {
                self.push(kind, text, answer);
                return Ok(());
            }
            Some(text) if kind == PartKind::Thinking || !text.text.trim().is_empty() => {}
            _ if part.fields().next().is_none() => return Ok(()),
            _ => kind = PartKind::Raw,
        }
        self.end_open(answer);
        let at = answer.start(kind);
        match text.filter(|_| kind != PartKind::Raw) {
            Some(text) => drop(answer.push_piece(at, &text)),
            None => answer.push(at, if kind == PartKind::Raw { json } else { "" }),
        }
        if let Some(open) = answer.parts.get_mut(at) {
            match kind {
                PartKind::Text => open.vendor = vendor,
                PartKind::Thinking => open.signature = part.owned("thoughtSignature"),
                _ => {}
            }
        }
        answer.end(at);
        Ok(())
    }

    /// Reads media. `None` if the part is something else, or has fields beyond the neutral form.
    fn read_media(&mut self, part: &Object<'_>, answer: &mut ModelAnswer) -> Option<()> {
        let data = part.object("inlineData")?;
        if part.get("text").is_some() || data.fields().len() != 2 {
            return None;
        }
        let (media_type, bytes) = (data.filled("mimeType")?, data.filled("data")?);
        self.end_open(answer);
        let at = answer.start(PartKind::Media);
        answer.push(at, &bytes);
        if let Some(open) = answer.parts.get_mut(at) {
            open.name.push_str(&media_type);
            open.vendor = others(part, &["inlineData", "thought"]);
        }
        answer.end(at);
        Some(())
    }

    fn push(&mut self, kind: PartKind, text: &Piece<'_>, answer: &mut ModelAnswer) {
        if text.is_empty() {
            return;
        }
        let part = match self.flow {
            Some((open, part)) if open == kind => part,
            _ => {
                self.end_open(answer);
                let part = answer.start(kind);
                self.flow = Some((kind, part));
                part
            }
        };
        answer.push_piece(part, text);
    }

    /// Reads a call. A name begins a call. A part without a name, or with the id of the open call, continues that
    /// call or ends it.
    fn read_call(
        &mut self,
        part: &Object<'_>,
        function: &Object<'_>,
        answer: &mut ModelAnswer,
    ) -> Result<(), Failure> {
        // Arguments without an open call belong to a call for which the model forgot the name.
        let nameless = (self.call.is_none() && function.get("args").is_some()).then_some("".into());
        let id = function.filled("id");
        let open = self.call.as_ref().and_then(|(at, _)| answer.parts.get(*at));
        let is_known = open.is_some_and(|open| id.as_deref() == Some(open.id.as_str()));
        if let Some(name) = function.filled("name").or(nameless).filter(|_| !is_known) {
            self.end_open(answer);
            let at = answer.start_tool_call(id.as_deref().unwrap_or_default(), &name);
            if let Some(open) = answer.parts.get_mut(at) {
                let id = id.and_then(|_| function.get("id"));
                open.vendor = vendor_fields(part, id);
            }
            self.has_calls = true;
            self.call = Some((at, PartialArgs::default()));
        }
        let Some((at, partial)) = &mut self.call else {
            return Ok(());
        };
        let mut text = Vec::new();
        for arg in function.items("partialArgs") {
            if partial.write(arg, &mut text).is_none() {
                return Err(malformed("an argument has no valid position", arg.as_bytes()));
            }
        }
        answer.push(*at, str::from_utf8(&text).unwrap_or_default());
        let is_empty = answer.parts.get(*at).is_some_and(|call| call.text.is_empty());
        if let Some(args) = function.get("args").filter(|_| is_empty) {
            answer.push(*at, string(args).as_deref().unwrap_or(args));
        }
        if function.get("willContinue") != Some("true") {
            self.end_open(answer);
        }
        Ok(())
    }

    /// Ends the block that is growing.
    fn end_open(&mut self, answer: &mut ModelAnswer) {
        if let Some((_, part)) = self.flow.take() {
            answer.end(part);
        }
        if let Some((part, mut partial)) = self.call.take() {
            let mut text = Vec::new();
            partial.close(&mut text);
            answer.push(part, str::from_utf8(&text).unwrap_or_default());
            if answer.parts.get(part).is_some_and(|call| call.text.is_empty()) {
                answer.push(part, "{}");
            }
            answer.end(part);
        }
    }

    /// Completes the fields that are known only at the end.
    fn close(&mut self, answer: &mut ModelAnswer) {
        let is_cut = self.call.as_ref().is_some_and(|(_, partial)| partial.is_cut());
        if is_cut || answer.finish_reason == Some(FinishReason::Length) {
            // A call that was cut off must look cut off.
            self.call = None;
        }
        self.end_open(answer);
        answer.end_all();
        // Only the citations are a list.
        let [grounding, urls] = &self.metadata;
        attach_sources(&SOURCES, &[&self.citations.list, grounding, urls], 1, answer);
        if self.has_calls && matches!(answer.finish_reason, None | Some(FinishReason::Stop)) {
            answer.finish_reason = Some(FinishReason::ToolCalls);
        }
        answer.complete = true;
    }
}

/// The fields that are stored next to a text block. No part can have them.
pub const SOURCES: [&str; 3] = ["citations", "groundingMetadata", "urlContextMetadata"];

/// The fields of a part without a neutral form, and the call's own id.
fn vendor_fields(part: &Object<'_>, id: Option<&str>) -> Option<Json> {
    let mut out = b"{".to_vec();
    if let Some(id) = id {
        push_raw(&mut out, "id", id);
    }
    push_others(&mut out, part, &["text", "thought", "functionCall"]);
    closed(out)
}

/// Reads the usage. The prompt's count includes tokens from the cache, but not the tokens that the vendor's tools
/// read. Thoughts are counted in addition to the candidates. A chunk without a count (only Vertex AI's `trafficType`)
/// changes nothing. A chunk without the prompt's count and the total has only some counts. The others remain
/// unchanged.
fn read_usage(wire: &Object<'_>, answer: &mut ModelAnswer) {
    // The Gemini API has the first, Vertex AI the other.
    let tiers = ["serviceTier", "trafficType"].map(|name| Tier::read(wire.word(name)));
    answer.terms.tier = tiers.into_iter().flatten().next().or(answer.terms.tier);
    let is_whole = wire.get("promptTokenCount").is_some() || wire.get("totalTokenCount").is_some();
    let known = answer.usage.filter(|_| !is_whole).unwrap_or_default();
    let sum = |one: &str, other: &str| match (wire.number(one), wire.number(other)) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
    };
    let input = sum("promptTokenCount", "toolUsePromptTokenCount");
    let output = sum("candidatesTokenCount", "thoughtsTokenCount");
    let cached = wire.number("cachedContentTokenCount");
    if !is_whole && input.is_none() && output.is_none() && cached.is_none() {
        return;
    }
    answer.set_usage(Usage {
        input_tokens: input.unwrap_or(known.input_tokens),
        output_tokens: output.unwrap_or(known.output_tokens),
        cache_read_tokens: cached.unwrap_or(known.cache_read_tokens),
        reasoning_tokens: wire
            .number("thoughtsTokenCount")
            .unwrap_or(known.reasoning_tokens),
        audio_input_tokens: audio_of(wire, "promptTokensDetails").unwrap_or(known.audio_input_tokens),
        audio_output_tokens: audio_of(wire, "candidatesTokensDetails").unwrap_or(known.audio_output_tokens),
        ..Usage::default()
    });
}

/// The tokens of sound in a list of counts by modality; `None` without such a list.
/// <https://ai.google.dev/api/generate-content#ModalityTokenCount> (2026-11-23)
fn audio_of(wire: &Object<'_>, details: &str) -> Option<u64> {
    wire.get(details)?;
    let counts = wire.items(details).into_iter().filter_map(Object::parse);
    let sounds = counts.filter(|count| count.is("modality", "AUDIO"));
    Some(sounds.fold(0, |sum, count| {
        count.number("tokenCount").unwrap_or(0).saturating_add(sum)
    }))
}
