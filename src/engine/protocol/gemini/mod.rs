//! Google Gemini: `models/…:streamGenerateContent?alt=sse` and `models/…:generateContent`, for the Gemini API and
//! Vertex AI.
//!
//! Written from <https://ai.google.dev/api/generate-content>,
//! <https://ai.google.dev/gemini-api/docs/function-calling>,
//! <https://ai.google.dev/gemini-api/docs/thought-signatures>, <https://ai.google.dev/gemini-api/docs/thinking> and
//! <https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference> (2026-11-21), and from
//! recorded answers.
//!
//! An answer is a list of parts without a frame. Text is joined until another kind of part follows, but a part with a
//! `thoughtSignature` is never joined with another. The model is in the URL, and a result names its call's function.

mod decode;
mod encode;
mod encode_message;
mod partial_args;

use percent_encoding::utf8_percent_encode;

use crate::engine::model::config::ModelConfig;
use crate::engine::protocol::request::accepts;
use crate::engine::protocol::request::prefill;
use crate::engine::protocol::vertex::{RESERVED, is_vertex, model_path};
use crate::engine::protocol::{Decoder, Framing, Protocol, no_marker};

pub use decode::GeminiDecoder;

/// The row of this protocol.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    framing: Framing::Sse,
    path,
    base_path: "",
    before_endpoint,
    title: "Google's Gemini",
    constructor: "gemini",
    marks: &[r#""candidates""#, r#""usageMetadata""#],
    headers: &[],
    encode_head: encode::encode_head,
    accepts: Some(&accepts::GEMINI),
    bound: None,
    append: None,
    summary: None,
    raw_in_results: true,
    waits_for_results: |_, _| false,
    begins_with_user: true,
    encode_message: encode_message::encode_message,
    encode_tail: encode::encode_tail,
    prefill: prefill::of_gemini,
    is_background: |_| false,
    marked_end: no_marker,
    decoder: || Decoder::Gemini(GeminiDecoder::default()),
    lane: None,
};

const NAME: &str = "gemini";

/// The path. The name is one segment after its collection, so that no name escapes the path.
fn path(model: &ModelConfig) -> String {
    let mut path = if is_vertex(model) {
        model_path(model, "google")
    } else {
        let (collection, name) = match model.model.split_once('/') {
            Some((collection @ ("models" | "tunedModels"), name)) => (collection, name),
            _ => ("models", model.model.as_str()),
        };
        let mut path = format!("/v1beta/{collection}/");
        path.extend(utf8_percent_encode(name, RESERVED));
        path
    };
    path.push_str(if model.stream {
        ":streamGenerateContent?alt=sse"
    } else {
        ":generateContent"
    });
    path
}

/// The part before `/models/NAME:generateContent`, with any name and any method.
fn before_endpoint(url: &str) -> Option<&str> {
    let (collection, method) = url.rsplit_once('/')?;
    let before = collection
        .strip_suffix("/models")
        .or_else(|| collection.strip_suffix("/tunedModels"))?;
    method.contains(':').then_some(before)
}
