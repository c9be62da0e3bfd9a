//! Answers of Gemini, streamed or whole, into an [`Answer`].
//!
//! Every chunk is a whole `GenerateContentResponse` with what is new in its parts; usage counts up from chunk to chunk.
//! A finish reason may stand in any chunk and the last one counts; the stream has no other end than that of its body.

use serde::{Deserialize, Serialize};

use super::super::super::answer::{Answer, FinishReason, Part, PartKind};
use super::super::super::error::Failure;
use super::super::super::json_reader::{Object, items, validate};
use super::super::super::json_writer::object_of;
use super::super::super::message::Json;
use super::super::super::text::join;
use super::super::super::usage::Usage;
use super::super::failure::{decode_error_value, malformed};
use super::partial_args::PartialArgs;

/// The state between chunks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeminiDecoder {
    /// The text or thinking that is growing.
    flow: Option<(PartKind, usize)>,
    /// The call whose arguments are still coming.
    call: Option<(usize, PartialArgs)>,
    has_calls: bool,
    /// What the answer's text rests on.
    citations: Vec<String>,
    grounding: String,
    url_context: String,
    /// The vendor's words about the finish reason.
    finish_message: String,
    done: bool,
}

impl GeminiDecoder {
    /// Decodes the data of one event.
    ///
    /// # Errors
    /// The failure that an error chunk reports, or `malformed_stream`.
    pub fn decode_event(&mut self, data: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        let data = data.trim_ascii();
        if data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        let text = validate(data).ok_or_else(|| malformed("an event of the stream is no JSON", data))?;
        self.read_chunks(&text, answer).map(|_| ())
    }

    /// The body has ended.
    ///
    /// # Errors
    /// `malformed_stream` when it was cut off before, or when all that came is a call that the vendor could not read.
    pub fn finish(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        if !self.done && answer.raw_finish_reason.is_none() {
            return Err(malformed("the stream ended before the answer did", &[]));
        }
        self.close(answer)
    }

    /// Decodes an answer that comes whole, or the list of chunks that a stream without `alt=sse` is.
    ///
    /// # Errors
    /// The failure that the body reports, or `malformed_stream`.
    pub fn decode_body(&mut self, body: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        let text = validate(body).ok_or_else(|| malformed("the body is no JSON", body))?;
        if !self.read_chunks(&text, answer)? {
            return Err(malformed("the body is no answer", body));
        }
        if text.trim_ascii_start().starts_with('[') {
            return self.finish(answer);
        }
        self.close(answer)
    }

    /// One chunk or a list of them. Returns whether one of them is a part of an answer.
    fn read_chunks(&mut self, json: &str, answer: &mut Answer) -> Result<bool, Failure> {
        let mut is_answer = false;
        for chunk in items(json).unwrap_or_else(|| vec![json]) {
            is_answer |= self.read_chunk(chunk, answer)?;
        }
        Ok(is_answer)
    }

    fn read_chunk(&mut self, json: &str, answer: &mut Answer) -> Result<bool, Failure> {
        let Some(chunk) = Object::parse(json) else {
            return Err(malformed("a chunk of the answer is no object", json.as_bytes()));
        };
        if answer.response_id.is_none() {
            answer.response_id = chunk.filled("responseId").map(|id| id.into_owned());
        }
        if answer.model.is_none() {
            answer.model = chunk.filled("modelVersion").map(|model| model.into_owned());
        }
        for candidate in chunk.items("candidates") {
            if let Some(candidate) = Object::parse(candidate)
                && candidate.number("index").unwrap_or(0) == 0
            {
                self.read_candidate(&candidate, answer)?;
            }
        }
        if let Some(usage) = chunk.object("usageMetadata") {
            read_usage(&usage, answer);
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

    fn read_candidate(&mut self, candidate: &Object<'_>, answer: &mut Answer) -> Result<(), Failure> {
        if let Some(content) = candidate.object("content") {
            for part in content.items("parts") {
                self.read_part(part, answer)?;
            }
        }
        if let Some(citations) = candidate.object("citationMetadata") {
            for citation in citations.items("citations") {
                if !self.citations.iter().any(|known| known == citation) {
                    self.citations.push(citation.to_owned());
                }
            }
        }
        for (slot, name) in [
            (&mut self.grounding, "groundingMetadata"),
            (&mut self.url_context, "urlContextMetadata"),
        ] {
            if let Some(metadata) = candidate.get(name).filter(|metadata| *metadata != "{}") {
                metadata.clone_into(slot);
            }
        }
        let reason = candidate.filled("finishReason");
        if let Some(reason) = reason.filter(|reason| reason != "FINISH_REASON_UNSPECIFIED") {
            answer.finish_reason = Some(neutral(&reason));
            answer.raw_finish_reason = Some(reason.into_owned());
            self.finish_message = candidate.string("finishMessage").unwrap_or_default().into_owned();
        }
        Ok(())
    }

    /// Text, thinking and calls; all else (inline data, code that the vendor ran, its own tools, what is unknown) is
    /// kept raw, and so is a signature without a text.
    fn read_part(&mut self, json: &str, answer: &mut Answer) -> Result<(), Failure> {
        let Some(part) = Object::parse(json) else {
            return Ok(());
        };
        if let Some(function) = part.object("functionCall") {
            return self.read_call(&part, &function, answer);
        }
        let kind = match part.get("thought") {
            Some("true") => PartKind::Thinking,
            _ => PartKind::Text,
        };
        let signature = part.filled("thoughtSignature");
        let further = vendor_fields(&part, &["text", "thought"], None);
        match part.string("text") {
            Some(text) if further.is_none() => self.push(kind, &text, answer),
            Some(text) if kind == PartKind::Thinking || !text.trim().is_empty() => {
                self.end_open(answer);
                let at = answer.start(kind);
                answer.push(at, &text);
                if let Some(open) = answer.parts.get_mut(at) {
                    if kind == PartKind::Thinking {
                        open.signature = signature.map(|signature| signature.into_owned());
                    } else {
                        open.vendor = further;
                    }
                }
                answer.end(at);
            }
            _ if part.fields().next().is_some() => {
                self.end_open(answer);
                let at = answer.start(PartKind::Raw);
                if let Some(open) = answer.parts.get_mut(at) {
                    json.clone_into(&mut open.text);
                }
                answer.end(at);
            }
            _ => {}
        }
        Ok(())
    }

    fn push(&mut self, kind: PartKind, text: &str, answer: &mut Answer) {
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
        answer.push(part, text);
    }

    /// A call with a name begins. Without one it goes on with the call that is open, or says that this one has ended.
    fn read_call(
        &mut self,
        part: &Object<'_>,
        function: &Object<'_>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        // Arguments of nothing that is open are a call whose name the model forgot.
        let nameless = (self.call.is_none() && function.get("args").is_some()).then_some("".into());
        if let Some(name) = function.filled("name").or(nameless) {
            self.end_open(answer);
            let id = function.filled("id");
            let at = answer.start_tool_call(id.as_deref().unwrap_or_default(), &name);
            if let Some(open) = answer.parts.get_mut(at) {
                let id = id.and_then(|_| function.get("id"));
                open.vendor = vendor_fields(part, &["functionCall"], id);
            }
            self.has_calls = true;
            self.call = Some((at, PartialArgs::default()));
        }
        let Some((at, partial)) = &mut self.call else {
            return Ok(());
        };
        let mut text = String::new();
        for arg in function.items("partialArgs") {
            let more = partial.write(arg);
            text.push_str(&more.ok_or_else(|| malformed("an argument fits nowhere", arg.as_bytes()))?);
        }
        answer.push(*at, &text);
        let is_empty = answer.parts.get(*at).is_some_and(|call| call.text.is_empty());
        if let Some(args) = function.get("args").filter(|_| is_empty) {
            answer.push(*at, args);
        }
        if function.get("willContinue") != Some("true") {
            self.end_open(answer);
        }
        Ok(())
    }

    /// Ends what is growing.
    fn end_open(&mut self, answer: &mut Answer) {
        if let Some((_, part)) = self.flow.take() {
            answer.end(part);
        }
        if let Some((part, mut partial)) = self.call.take() {
            answer.push(part, &partial.close());
            if answer.parts.get(part).is_some_and(|call| call.text.is_empty()) {
                answer.push(part, "{}");
            }
            answer.end(part);
        }
    }

    /// Completes what only the end can tell.
    fn close(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        if answer.finish_reason == Some(FinishReason::Length) {
            // A call that the limit has cut off must look like it.
            self.call = None;
        }
        self.end_open(answer);
        answer.end_all();
        self.attach_sources(answer);
        // The model's call could not be parsed and was left out of the answer: without the call there is nothing to go
        // on with, and the next attempt mostly succeeds.
        let is_malformed = answer
            .raw_finish_reason
            .as_ref()
            .is_some_and(|reason| reason.starts_with("MALFORMED_"));
        if is_malformed && !self.has_calls {
            let mut failure = malformed("the model wrote a call that the vendor could not read", &[]);
            failure.body = Some(std::mem::take(&mut self.finish_message)).filter(|said| !said.is_empty());
            return Err(failure);
        }
        if self.has_calls && matches!(answer.finish_reason, None | Some(FinishReason::Stop)) {
            answer.finish_reason = Some(FinishReason::ToolCalls);
        }
        answer.complete = true;
        self.done = true;
        Ok(())
    }

    /// The sources stand beside the last text.
    fn attach_sources(&self, answer: &mut Answer) {
        let is_text = |part: &&mut Part| part.kind == PartKind::Text;
        let Some(text) = answer.parts.iter_mut().rev().find(is_text) else {
            return;
        };
        let list = join(&mut self.citations.iter().map(String::as_str), ",");
        let list = ["[", &list, "]"].concat();
        let known = text.vendor.take();
        let known = known.as_ref().and_then(|json| Object::parse(json.as_str()));
        let sources = [
            (CITATIONS, if list == "[]" { "" } else { &list }),
            (GROUNDING, &self.grounding),
            (URL_CONTEXT, &self.url_context),
        ];
        let sources = sources.into_iter().filter(|(_, json)| !json.is_empty());
        text.vendor = object_of(&mut known.iter().flat_map(Object::fields).chain(sources));
    }
}

const CITATIONS: &str = "citations";
const GROUNDING: &str = "groundingMetadata";
const URL_CONTEXT: &str = "urlContextMetadata";

/// What is kept beside a text block and no part can have.
pub const SOURCES: &[&str] = &[CITATIONS, GROUNDING, URL_CONTEXT];

/// The fields of a part but for `ours`, and the call's own id.
fn vendor_fields(part: &Object<'_>, ours: &[&str], id: Option<&str>) -> Option<Json> {
    let further = part.fields().filter(|(key, _)| !ours.contains(key));
    object_of(&mut id.map(|id| ("id", id)).into_iter().chain(further))
}

/// <https://ai.google.dev/api/generate-content#FinishReason> and
/// <https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#FinishReason>
/// (2026-11-21)
fn neutral(reason: &str) -> FinishReason {
    match reason {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::ContentFilter,
        _ => FinishReason::Other,
    }
}

/// The prompt's count holds what came from the cache, but not what the vendor's tools read; thoughts are counted beside
/// the candidates. Chunks that name no count (Vertex AI's `trafficType` alone) say nothing.
fn read_usage(wire: &Object<'_>, answer: &mut Answer) {
    let count = |name: &str| wire.number(name).unwrap_or(0);
    if wire.get("promptTokenCount").is_none() && wire.get("totalTokenCount").is_none() {
        return;
    }
    let reasoning_tokens = count("thoughtsTokenCount");
    answer.set_usage(Usage {
        input_tokens: count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount")),
        output_tokens: count("candidatesTokenCount").saturating_add(reasoning_tokens),
        cache_read_tokens: count("cachedContentTokenCount"),
        reasoning_tokens,
        ..Usage::default()
    });
}
