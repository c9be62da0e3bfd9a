//! Opens the JSON of an event or of a whole body for a decoder.
//!
//! The decoders call these functions for every event. The complete text is checked once. A text that is not valid
//! JSON, or not an object, is a `malformed_stream`.

use std::borrow::Cow;

use looplet_scan::reader::{Object, validate};

use crate::engine::model::answer::ModelAnswer;
use crate::engine::model::error::Failure;
use crate::engine::protocol::failure::malformed;

/// The data of one event as text.
///
/// # Errors
/// `malformed_stream` for data that is not valid JSON.
pub fn event_text(data: &[u8]) -> Result<Cow<'_, str>, Failure> {
    text_of(data, "an event of the stream is not JSON")
}

/// The object in an event's text.
///
/// # Errors
/// `malformed_stream` for a text that is not an object.
pub fn event_object(text: &str) -> Result<Object<'_>, Failure> {
    object_of(text, "an event of the stream is not an object")
}

/// The text of a body that is not streamed.
///
/// # Errors
/// Like [`event_text`].
pub fn body_text(body: &[u8]) -> Result<Cow<'_, str>, Failure> {
    text_of(body, "the body is not JSON")
}

/// The object in a body's text.
///
/// # Errors
/// As [`event_object`].
pub fn body_object(text: &str) -> Result<Object<'_>, Failure> {
    object_of(text, "the body is not an object")
}

fn text_of<'a>(data: &'a [u8], fault: &str) -> Result<Cow<'a, str>, Failure> {
    validate(data).ok_or_else(|| malformed(fault, data))
}

fn object_of<'a>(text: &'a str, fault: &str) -> Result<Object<'a>, Failure> {
    Object::parse(text).ok_or_else(|| malformed(fault, text.as_bytes()))
}

/// Reads the answer's id and model, and why the vendor has dropped reasoning, for vendors with these names:
/// `BetaInputTransformation` of Anthropic's SDK 1.14.0, `Response.input_transformations` of OpenAI's 7.59.0.
pub fn read_head(from: &Object<'_>, answer: &mut ModelAnswer) {
    if let Some(id) = from.owned("id") {
        answer.response_id = Some(id);
    }
    if let Some(model) = from.owned("model") {
        answer.model = Some(model);
    }
    for change in from.items("input_transformations") {
        let change = Object::parse(change).unwrap_or_default();
        let is_dropped = change.is("type", "thinking_dropped") || change.is("action", "removed");
        // Models that use only this turn's reasoning report all of the others, each time.
        let reason = change.owned("reason").filter(|reason| reason != "turn_boundary");
        if let Some(reason) = reason
            && is_dropped
            && !answer.dropped_reasoning.contains(&reason)
            && answer.dropped_reasoning.len() < MAX_REASONS
        {
            answer.dropped_reasoning.push(reason);
        }
    }
}

/// The most reasons that are reported, of the five that vendors have.
const MAX_REASONS: usize = 8;
