//! Asks Claude to drop reasoning that does not fit instead of refusing the request.
//!
//! [`crate::engine::protocol::request::prefix`] leaves out what would not fit. This is the net below it, for
//! reasoning without a digest: of another library, or of an older version. A caller who sets `block_binding`,
//! `body.thinking` or a kind of thinking that cannot have it decides alone.
//! <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks> (2026-11-28)

use looplet_scan::reader::Object;

use crate::engine::model::config::ModelConfig;
use crate::engine::model::message::Json;
use crate::engine::policy::models::Row;
use crate::engine::protocol::Protocol;

/// The value of `anthropic-beta` that the field needs.
pub const BETA: &str = "thinking-binding-controls-2026-08-01";

/// The field of `thinking`.
pub const FIELD: &str = "block_binding";

const DROP: &str = r#""block_binding":{"prefix_mismatch_behavior":"drop_block"}}"#;

/// The `thinking` of a request whose reasoning may be dropped; `None` if the model does not compare, or if the caller
/// decides.
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
