//! Message threads: Anthropic stores a conversation for a short time, and a request sends only what is new.
//!
//! A request with [`CREATE`] has the complete conversation. [`continued`] is the body of one that follows an answer:
//! it has neither system prompt nor tools, which the thread has, and all other fields. An answer can be continued
//! once. The agent decides which kind a request is ([`crate::engine::agent::request::thread`]).
//! <https://platform.claude.com/docs/en/build-with-claude/message-threads>, and the types of `@anthropic-ai/sdk`
//! 1.14.0 (2026-11-29)

use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_key, push_others, push_text};

/// The value of `anthropic-beta` that requests need.
pub const BETA: &str = "message-threads-2026-08-12";

/// The field `thread` of a request that begins a thread.
pub const CREATE: &str = r#"{"type":"create"}"#;

/// How long a thread can be continued after its last request.
pub const LIFETIME_S: u64 = 300;

/// The body of a request that follows the answer with this id. `whole` is the request without messages, and
/// `messages` are the new ones, with a comma before each.
pub fn continued(whole: &Object<'_>, id: &str, messages: &[u8]) -> Vec<u8> {
    const KEPT: &[&str] = &["system", "tools", "messages", "thread"];
    let mut body = b"{".to_vec();
    push_others(&mut body, whole, KEPT);
    push_key(&mut body, "thread");
    body.extend_from_slice(br#"{"type":"continue""#);
    push_text(&mut body, "previous_message_id", id);
    body.push(b'}');
    push_key(&mut body, "messages");
    body.push(b'[');
    body.extend_from_slice(messages.strip_prefix(b",").unwrap_or(messages));
    body.extend_from_slice(b"]}");
    body
}
