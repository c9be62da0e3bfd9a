//! The beginning of an answer as the last message of a request, which the model continues.
//!
//! A protocol's row names one of these functions. Each returns `None` for a model that is not known to continue: it
//! would reject the request, or write another answer after the beginning. The engine asks such a model for the whole
//! answer.

use looplet_scan::reader::Object;

use crate::engine::model::config::{ModelConfig, ToolChoice};
use crate::engine::policy::models::row;

/// The fields that a server requires in addition to the beginning.
#[derive(Default)]
pub struct Prefill<'a> {
    /// Fields of the last message.
    pub message: Object<'a>,
    /// Fields of the body.
    pub body: Object<'a>,
}

/// Returns false if the vendor enforces a schema or a call, because the answer then cannot begin with text.
/// <https://platform.claude.com/docs/en/build-with-claude/structured-outputs> (2026-11-23)
pub fn is_free(model: &ModelConfig) -> bool {
    let is_forced = matches!(
        model.tool_choice,
        Some(ToolChoice::Required | ToolChoice::Tool(_))
    );
    !is_forced && model.response_format.is_none()
}

/// For a protocol that has no place for the beginning of an answer.
pub fn no_prefill(_model: &ModelConfig) -> Option<Prefill<'_>> {
    None
}

/// Claude up to 4.5, unless it thinks. Every later one answers 400: `This model does not support assistant message
/// prefill`. <https://docs.claude.com/en/docs/prefill-claudes-response> (2026-11-23)
pub fn of_claude(model: &ModelConfig) -> Option<Prefill<'_>> {
    let thinking = model
        .thinking
        .as_ref()
        .map(|json| Object::parse(json.as_str()).unwrap_or_default());
    let thinks = thinking.is_some_and(|thinking| thinking.word("type") != "disabled");
    let is_known = row("anthropic", &model.vendor, &model.model).prefill;
    (is_known && !thinks).then(Prefill::default)
}

/// Gemini up to 3.1.
pub fn of_gemini(model: &ModelConfig) -> Option<Prefill<'_>> {
    let is_known = row("gemini", &model.vendor, &model.model).prefill;
    is_known.then(Prefill::default)
}

/// A server of Chat Completions with the quirk `prefill`, an object with the fields `message` and `body`.
pub fn of_quirk(model: &ModelConfig) -> Option<Prefill<'_>> {
    let quirks = Object::parse(model.quirks.as_ref()?.as_str())?;
    let prefill = Object::parse(quirks.get("prefill")?)?;
    let fields = |name| prefill.get(name).and_then(Object::parse).unwrap_or_default();
    Some(Prefill {
        message: fields("message"),
        body: fields("body"),
    })
}
