//! What looplet adds to the `thinking` of Claude.
//!
//! [`thinking_with_drops`] asks Claude to drop invalid reasoning instead of rejecting the request.
//! [`crate::engine::protocol::request::prefix`] already leaves out what it knows to be invalid. This covers the rest:
//! reasoning without a digest, of another library or of an older version. A caller who sets `block_binding`,
//! `body.thinking` or a kind of thinking that cannot have it overrides this.
//! <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks> (2026-11-28)
//!
//! [`counts_thinking`] is true for a streamed request if the caller wants no text of the thinking. Claude then
//! estimates its tokens while it thinks, if a value of `anthropic-beta` asks for that. `BetaThinkingDelta` of
//! <https://www.npmjs.com/package/@anthropic-ai/sdk> 1.14.0 (2026-11-29)
//!
//! [`shown_thinking`] requests the text of thinking if a model leaves it empty. Current models send a signature
//! without a text, so a screen shows nothing while they think. A streamed request asks for a summary, which is not
//! billed (the thinking is). A caller who sets `display`, `body.thinking` or a kind of thinking that cannot have it
//! overrides this. Gateways and other platforms may not know the field, so it is not sent to them.
//! <https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting> (2026-11-28)

use looplet_scan::reader::Object;

use crate::engine::model::config::ModelConfig;
use crate::engine::model::message::Json;
use crate::engine::policy::models::{Row, Unset};
use crate::engine::protocol::Protocol;

/// The value of `anthropic-beta` that the field needs.
pub const BETA: &str = "thinking-binding-controls-2026-08-01";

/// The value of `anthropic-beta` with which Claude estimates the tokens of thinking without a text.
pub const TOKEN_COUNT_BETA: &str = "thinking-token-count-2026-05-13";

/// The field of `thinking`.
pub const FIELD: &str = "block_binding";

const DROP: &str = r#""block_binding":{"prefix_mismatch_behavior":"drop_block"}}"#;

/// The `thinking` of a request that allows reasoning to be dropped. `None` if the model does not compare, or if the
/// caller overrides it.
pub fn thinking_with_drops(protocol: &Protocol, row: &Row, model: &ModelConfig) -> Option<Json> {
    let is_claude = matches!(protocol.name, "anthropic" | "bedrock_converse");
    // Converse of GovCloud refuses the field.
    if !is_claude || !row.compares || model.model.starts_with("us-gov.") {
        return None;
    }
    let body = model.body.as_ref().and_then(|body| Object::parse(body.as_str()));
    let takes_over = ["thinking", "additionalModelRequestFields"];
    if body.is_some_and(|body| takes_over.iter().any(|field| body.has(field))) {
        return None;
    }
    let Some(thinking) = &model.thinking else {
        return Json::parse(&format!(r#"{{"type":"adaptive",{DROP}"#)).ok();
    };
    let object = Object::parse(thinking.as_str())?;
    if object.has(FIELD) || !matches!(object.word("type"), "adaptive" | "enabled") {
        return None;
    }
    let fields = thinking.as_str().trim_end().strip_suffix('}')?;
    Json::parse(&format!("{fields},{DROP}")).ok()
}

/// True if the model may leave out the text of its thinking, and its progress can be seen.
fn is_silent(protocol: &Protocol, row: &Row, model: &ModelConfig) -> bool {
    let is_known = protocol.name == "anthropic" && model.vendor == row.home;
    is_known && row.thinking.is_silent && model.stream
}

/// True if the caller wants no text of the thinking, and the model can estimate its tokens.
pub fn counts_thinking(protocol: &Protocol, row: &Row, model: &ModelConfig) -> bool {
    let thinking = model.thinking.as_ref();
    let thinking = thinking.and_then(|thinking| Object::parse(thinking.as_str()));
    is_silent(protocol, row, model) && thinking.is_some_and(|thinking| thinking.is("display", "omitted"))
}

/// The `thinking` of a request that asks for the text; `None` if it stays as it is.
pub fn shown_thinking(protocol: &Protocol, row: &Row, model: &ModelConfig) -> Option<Json> {
    if !is_silent(protocol, row, model) {
        return None;
    }
    let body = model.body.as_ref().and_then(|body| Object::parse(body.as_str()));
    if body.is_some_and(|body| body.has("thinking")) {
        return None;
    }
    let own = match &model.thinking {
        Some(own) => own.as_str(),
        None if matches!(row.thinking.unset, Unset::On | Unset::Always) => r#"{"type":"adaptive"}"#,
        None => return None,
    };
    let object = Object::parse(own)?;
    if object.has("display") || object.word("type") != "adaptive" {
        return None;
    }
    let fields = own.trim_end().strip_suffix('}')?;
    Json::parse(&format!("{fields},\"display\":\"summarized\"}}")).ok()
}
