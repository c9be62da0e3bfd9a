//! New tools as an item at the end. The system prompt is no part of the beginning, and a request names the tools of
//! now with `allowed_tools`. A declared tool cannot be declared in another way.
//! <https://developers.openai.com/api/docs/guides/keep-prefix-unchanged> (2026-11-28)

use crate::engine::json::writer::push_comma;
use crate::engine::model::journal::head::HeadChange;
use crate::engine::protocol::openai_responses::encode::push_declaration;
use crate::engine::protocol::request::prefix::append::AppendForm;

pub const FORM: AppendForm = AppendForm {
    has_system: false,
    removes_tools: false,
    beta: "",
    encode,
};

/// Models take a further list for all of the tools unless they are told otherwise:
/// `dist/api` of `@earendil-works/pi-ai` 1.6.0 (2026-11-20).
const MORE_TOOLS: &[u8] = br#",{"type":"message","role":"developer","content":[{"type":"input_text","text":"These tools are added to the ones that were declared before."}]}"#;

fn encode(change: &HeadChange, into: &mut Vec<u8>) {
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
