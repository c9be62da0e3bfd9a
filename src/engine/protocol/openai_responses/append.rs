//! New tools, effort and format of answers as items at the end. The system prompt is not part of the prefix, and a
//! request names the current tools with `allowed_tools`. A declared tool cannot be declared differently.
//! <https://developers.openai.com/api/docs/guides/keep-prefix-unchanged> (2026-11-28)

use crate::engine::json::writer::{push_comma, push_key, push_raw, push_text};
use crate::engine::model::journal::head::HeadChange;
use crate::engine::protocol::openai_responses::encode::{push_declaration, push_format};
use crate::engine::protocol::request::prefix::append::{AppendForm, EffortForm};

pub const FORM: AppendForm = AppendForm {
    has_system: false,
    removes_tools: false,
    beta: "",
    effort: Some(EffortForm {
        beta: "",
        needs_input: false,
        format: Some(push_format),
        default: "",
    }),
    encode,
};

/// Without this text, models take a further list for all of the tools: `dist/api` of `@earendil-works/pi-ai` 1.6.0
/// (2026-11-20).
const MORE_TOOLS: &[u8] = br#",{"type":"message","role":"developer","content":[{"type":"input_text","text":"These tools are added to the ones that were declared before."}]}"#;

fn encode(form: &AppendForm, change: &HeadChange, into: &mut Vec<u8>) {
    if form.effort.is_some() && change.changes_settings() {
        into.extend_from_slice(br#",{"type":"configuration_update""#);
        if let Some(effort) = &change.effort {
            push_key(into, "reasoning");
            into.push(b'{');
            push_text(into, "effort", effort);
            into.push(b'}');
        }
        if let Some(format) = &change.format {
            push_key(into, "text");
            into.push(b'{');
            push_raw(into, "format", format.as_str());
            into.push(b'}');
        }
        into.push(b'}');
    }
    if change.added.is_empty() {
        return;
    }
    into.extend_from_slice(MORE_TOOLS);
    into.extend_from_slice(br#",{"type":"additional_tools","role":"developer","tools":["#);
    for tool in &change.added {
        push_comma(into);
        push_declaration(tool, into);
    }
    into.extend_from_slice(b"]}");
}
