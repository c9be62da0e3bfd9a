//! Google Gemini: `models/…:streamGenerateContent?alt=sse` and `models/…:generateContent`, for the Gemini API and
//! Vertex AI.
//!
//! Written from <https://ai.google.dev/api/generate-content>, <https://ai.google.dev/gemini-api/docs/function-calling>,
//! <https://ai.google.dev/gemini-api/docs/thought-signatures>, <https://ai.google.dev/gemini-api/docs/thinking> and
//! <https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference> (2026-11-21), and from
//! recorded answers.
//!
//! An answer is a list of parts without a frame. Text joins until another kind of part comes, but a part with a
//! `thoughtSignature` is never joined with another. The model stands in the URL, and a result names its call's
//! function.

mod decode;
mod encode;
mod encode_message;
mod partial_args;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::engine::model::config::ModelConfig;
use crate::engine::protocol::{Decoder, Framing, Protocol, no_marker};

pub use decode::GeminiDecoder;

/// The row of this protocol.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    framing: Framing::Sse,
    path,
    headers: &[],
    encode_head: encode::encode_head,
    encode_message: encode_message::encode_message,
    encode_tail: encode::encode_tail,
    marked_end: no_marker,
    decoder: || Decoder::Gemini(GeminiDecoder::default()),
    lane: None,
};

const NAME: &str = "gemini";

/// The path. The name is one segment behind its collection, so that no name climbs out of the path.
fn path(model: &ModelConfig) -> String {
    let (collection, name) = match model.model.split_once('/') {
        Some((collection @ ("models" | "tunedModels"), name)) => (collection, name),
        _ => ("models", model.model.as_str()),
    };
    let mut path = ["/v1beta/", collection, "/"].concat();
    path.extend(utf8_percent_encode(name, RESERVED));
    path.push_str(if model.stream {
        ":streamGenerateContent?alt=sse"
    } else {
        ":generateContent"
    });
    path
}

/// A model of Vertex AI may have a version behind an `@`.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'@');
