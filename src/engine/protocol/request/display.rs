//! Asks Claude for the text of its thinking where a model leaves it empty.
//!
//! Today's models send a signature without a text, so a screen shows nothing while they think. A request that is
//! streamed asks for a summary, which is not billed: the thinking is. A caller who sets `display`, `body.thinking` or
//! a kind of thinking that cannot have it decides. Gateways and other platforms may not know the field, and get none.
//! <https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting> (2026-11-28)

use looplet_scan::reader::Object;

use crate::engine::model::config::ModelConfig;
use crate::engine::model::message::Json;
use crate::engine::policy::models::{Row, Unset};
use crate::engine::protocol::Protocol;

/// The `thinking` of a request that asks for the text; `None` if it stays as it is.
pub fn shown_thinking(protocol: &Protocol, row: &Row, model: &ModelConfig) -> Option<Json> {
    let is_known = protocol.name == "anthropic" && model.vendor == row.home;
    if !is_known || !row.thinking.is_silent || !model.stream {
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
