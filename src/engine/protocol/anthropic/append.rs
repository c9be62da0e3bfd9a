//! Changes of system prompt, tools and effort as system messages.
//!
//! A message with content follows a message of the user, and precedes an answer or is at the end. Its role is its
//! last field, so that no cache marker is added to it.
//! <https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages> (2026-11-28)
//!
//! An effort applies to the answer after the previous message only if that message has more than results.
//! <https://platform.claude.com/docs/en/build-with-claude/effort-per-message> (2026-11-29)

use crate::engine::json::writer::{push_comma, push_key, push_text};
use crate::engine::model::journal::head::HeadChange;
use crate::engine::protocol::anthropic::encode::push_declaration;
use crate::engine::protocol::request::accepts::ANTHROPIC;
use crate::engine::protocol::request::prefix::append::{AppendForm, EffortForm, new_instructions};

pub const FORM: AppendForm = AppendForm {
    has_system: true,
    removes_tools: true,
    beta: "inline-tools-2026-09-15",
    effort: Some(EffortForm {
        beta: "mid-conversation-output-config-2026-07-01",
        needs_input: true,
        format: None,
        default: "",
    }),
    encode,
};

fn encode(form: &AppendForm, change: &HeadChange, into: &mut Vec<u8>) {
    if let (Some(effort), Some(_)) = (&change.effort, &form.effort) {
        open(into);
        into.extend_from_slice(br#"],"output_config":{"#);
        push_text(into, "effort", effort);
        into.extend_from_slice(br#"},"role":"system"}"#);
    }
    if change.changes_tools() {
        open(into);
        for name in &change.removed {
            push_reference("tool_removal", name, into);
        }
        for name in &change.restored {
            push_reference("tool_addition", name, into);
        }
        for tool in &change.added {
            open_block("tool_addition", "tool_definition", into);
            push_key(into, "definition");
            match tool.vendor.as_ref().and_then(|vendor| vendor.entry.as_ref()) {
                Some(entry) => into.extend_from_slice(entry.as_str().as_bytes()),
                None => {
                    into.push(b'{');
                    push_declaration(tool, into);
                    into.push(b'}');
                }
            }
            into.extend_from_slice(b"}}");
        }
        into.extend_from_slice(CLOSE);
    }
    if let Some(system) = &change.system {
        open(into);
        into.extend_from_slice(br#"{"type":"text""#);
        push_text(into, "text", &new_instructions(system));
        into.push(b'}');
        into.extend_from_slice(CLOSE);
    }
}

fn open(into: &mut Vec<u8>) {
    into.extend_from_slice(br#",{"content":["#);
}

const CLOSE: &[u8] = br#"],"role":"system"}"#;

fn push_reference(block: &str, name: &str, into: &mut Vec<u8>) {
    open_block(block, "tool_reference", into);
    push_text(into, "name", &ANTHROPIC.tool_name(name));
    into.extend_from_slice(b"}}");
}

/// Writes `{"type":…,"tool":{"type":…`.
fn open_block(block: &str, tool: &str, into: &mut Vec<u8>) {
    push_comma(into);
    into.push(b'{');
    push_text(into, "type", block);
    push_key(into, "tool");
    into.push(b'{');
    push_text(into, "type", tool);
}
