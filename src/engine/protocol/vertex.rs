//! The addresses of Vertex AI, which serves Google's own models and those of other publishers in their own protocols.
//!
//! A model is `projects/P/locations/L/publishers/PUBLISHER/models/MODEL` after a version (`v1`, `v1beta1`), or
//! `publishers/PUBLISHER/models/MODEL` with an API key (express mode). A base URL may end after the host, the
//! version, the location or the publisher. The encoders of Gemini and Anthropic call these functions.
//! <https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference>,
//! <https://cloud.google.com/vertex-ai/generative-ai/docs/start/express-mode/vertex-ai-express-mode-api-reference>,
//! <https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai> (2026-11-23)

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::engine::model::config::ModelConfig;

/// True if the model's base URL is one of Vertex AI, or the beginning of one.
pub fn is_vertex(model: &ModelConfig) -> bool {
    let mut urls = [&model.base_url, &model.vendor_url].into_iter().flatten();
    urls.any(|url| has_version(url) || url.contains("aiplatform.googleapis.com"))
}

/// The path of a model after the base URL. The model's name is one segment, so that no name escapes the path. Of a
/// name that begins with the publisher's path (`publishers/google/models/…`), only the last part is used.
pub fn model_path(model: &ModelConfig, publisher: &str) -> String {
    let base = model.base_url.as_deref().unwrap_or_default();
    let prefix = format!("publishers/{publisher}/models/");
    let name = model.model.strip_prefix(&prefix).unwrap_or(&model.model);
    let mut path = String::from(VERSION);
    if !base.contains(PUBLISHERS) {
        path.extend(["/publishers/", publisher]);
    }
    path.push_str("/models/");
    path.extend(utf8_percent_encode(name, RESERVED));
    path
}

/// True when a base URL has its version in the middle.
pub fn has_version(base: &str) -> bool {
    base.contains(PUBLISHERS) || (base.contains("/projects/") && base.contains("/locations/"))
}

const VERSION: &str = "/v1";
const PUBLISHERS: &str = "/publishers/";

/// The characters that are escaped in a name. A model of Vertex AI may have a version after an `@`.
pub const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'@');
