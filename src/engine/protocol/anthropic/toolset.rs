//! Members of Anthropic's toolsets, which have one entry for all: `browser_toolset_…`, `computer_toolset_…`.
//!
//! A call of a member has the member's name and `toolset_name`, and its result has `toolset_name` too. In the run the
//! member `click` of the toolset `browser` is the tool `browser_click`, because the names of members are not unique.
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/browser-use-tool> (2026-11-28)

use std::borrow::Cow;

use looplet_scan::reader::Object;

use crate::engine::model::message::{Block, Json};

/// The field of a call and of its result.
pub const TOOLSET: &str = "toolset_name";

/// The name in the run of the tool that this block calls.
pub fn own_name<'a>(call: &Object<'a>) -> Cow<'a, str> {
    let name = call.text("name");
    match call.filled(TOOLSET) {
        Some(toolset) => Cow::Owned(format!("{toolset}_{name}")),
        None => name,
    }
}

/// The name of a member on the wire; `None` for a tool that is not a member.
pub fn member_name<'a>(name: &'a str, vendor: Option<&Json>) -> Option<&'a str> {
    let toolset = toolset_of(vendor)?;
    name.strip_prefix(&*toolset)?.strip_prefix('_')
}

/// The toolset of the call with these fields.
pub fn toolset_of(vendor: Option<&Json>) -> Option<Cow<'_, str>> {
    Object::parse(vendor?.as_str())?.filled(TOOLSET)
}

/// The toolset of a call.
pub fn toolset_of_call(call: &Block) -> Option<Cow<'_, str>> {
    match call {
        Block::ToolCall { vendor, .. } => toolset_of(vendor.as_ref()),
        _ => None,
    }
}
