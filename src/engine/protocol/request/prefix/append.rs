//! Changes of system prompt and tools that are sent at the end of a request, instead of another beginning.
//!
//! A protocol whose vendor ties reasoning to the beginning has a row here. The agent decides when a change is sent
//! ([`crate::engine::agent::history::head`]), and [`crate::engine::agent::history::body`] puts it after its message.
//! <https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages>,
//! <https://developers.openai.com/api/docs/guides/keep-prefix-unchanged> (2026-11-28)

use looplet_scan::reader::Object;

use crate::engine::model::config::{ModelConfig, ToolConfig};
use crate::engine::model::journal::head::HeadChange;
use crate::engine::policy::models::row;
use crate::engine::protocol::Protocol;

/// How a protocol sends changes at the end.
#[derive(Debug)]
pub struct AppendForm {
    /// The system prompt is a part of the beginning, so a changed one is sent at the end. Otherwise each request has
    /// the system prompt of now.
    pub has_system: bool,
    /// A message can remove tools, and declare one again in another way. Otherwise each request names the tools that
    /// the model may call now, and another declaration needs another beginning.
    pub removes_tools: bool,
    /// The value of `anthropic-beta` that a change of tools needs; empty for none.
    pub beta: &'static str,
    /// Appends the messages of a change, each with a comma before it.
    pub encode: fn(&HeadChange, &mut Vec<u8>),
}

/// The changes of a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Appended<'a> {
    /// The form of the asked model; `None` if its requests always begin with the head of now.
    pub form: Option<&'static AppendForm>,
    pub changes: &'a [HeadChange],
    /// The tools that the model may call, if the request declares others.
    pub offered: Option<&'a [ToolConfig]>,
}

/// The form in which this model takes changes at the end. `None` if it takes none, if its vendor does not compare
/// what precedes reasoning, or if the caller's own `body` has the head.
pub fn append_form(protocol: &Protocol, model: &ModelConfig) -> Option<&'static AppendForm> {
    let form = protocol.append?;
    let row = row(protocol.name, &model.vendor, &model.model);
    if !(row.compares && row.appends.instructions && row.appends.tools) {
        return None;
    }
    let body = model.body.as_ref().and_then(|body| Object::parse(body.as_str()));
    let has_head = body.is_some_and(|body| {
        ["system", "instructions", "tools", "tool_choice"]
            .iter()
            .any(|field| body.has(field))
    });
    (!has_head).then_some(form)
}

/// The text that announces another system prompt.
pub fn new_instructions(system: &str) -> String {
    match system.trim().is_empty() {
        true => "The instructions above no longer apply.".to_owned(),
        false => format!("These instructions replace all earlier ones:\n\n{system}"),
    }
}
