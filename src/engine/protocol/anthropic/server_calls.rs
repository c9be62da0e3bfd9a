//! Calls that wait for Anthropic's servers: of a server tool, or of a program there that calls the run's tools.
//!
//! While one waits, the next user message has only results. The API rejects anything else: `tool use with id … was
//! found without a corresponding … block`. So the agent holds the user's messages, and the encoder adds other texts
//! to the last result. A program continues in its container, with the container's id in the next request.
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools>,
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling> (2026-11-28)

use std::borrow::Cow;

use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_others, push_text};
use crate::engine::model::message::{Block, Json, Message, Role};

/// The field of a program's call with the id of its container. It is not a field of the API.
pub const CONTAINER: &str = "looplet_container";

/// Returns true if Anthropic's servers continue this answer only after a message of nothing but results. `next` is
/// the content of the answer after it, or empty without one. It still waits if the next answer is another model's,
/// which has no result for its call.
pub fn waits(answer: &Message, next: &[Block]) -> bool {
    let may_wait = answer.role == Role::Assistant && !answer.partial;
    let mut blocks = answer.content.iter().enumerate();
    may_wait
        && blocks.any(|(at, block)| {
            let after = answer.content.get(at + 1..).unwrap_or_default();
            let is_open = is_open_server_call(block, after) && is_open_server_call(block, next);
            is_open || (next.is_empty() && is_of_program(block))
        })
}

/// The id of the container in which a program waits for the results of this answer's calls.
pub fn container(answer: &Message) -> Option<String> {
    answer.content.iter().find_map(|block| match block {
        Block::ToolCall {
            vendor: Some(vendor), ..
        } => Object::parse(vendor.as_str())?.owned(CONTAINER),
        _ => None,
    })
}

/// The vendor's fields of a call of a program, with the id of its container.
pub fn with_container(vendor: &Json, container: &str) -> Option<Json> {
    let fields = Object::parse(vendor.as_str())?;
    is_program(&fields).then_some(())?;
    let mut out = b"{".to_vec();
    push_text(&mut out, CONTAINER, container);
    push_others(&mut out, &fields, &[CONTAINER]);
    out.push(b'}');
    Json::parse(str::from_utf8(&out).ok()?).ok()
}

/// Moves the other blocks of the message into its last result.
pub fn results_alone(message: &Message) -> Cow<'_, Message> {
    let is_result = |block: &Block| matches!(block, Block::ToolResult { .. });
    if message.content.iter().all(is_result) {
        return Cow::Borrowed(message);
    }
    let mut alone = message.clone();
    let (mut results, further): (Vec<Block>, Vec<Block>) = alone.content.drain(..).partition(is_result);
    let Some(Block::ToolResult { content, .. }) = results.last_mut() else {
        return Cow::Borrowed(message);
    };
    content.extend(further);
    alone.content = results;
    Cow::Owned(alone)
}

/// True for a call of a server tool without its result. The API rejects it, unless the vendor itself paused there.
pub fn is_open_server_call(block: &Block, after: &[Block]) -> bool {
    let Block::Raw { json } = block else { return false };
    let Some(object) = Object::parse(json.as_str()) else {
        return false;
    };
    if !object.word("type").ends_with("tool_use") {
        return false;
    }
    let id = object.string("id");
    !after.iter().any(|later| match later {
        Block::Raw { json } => {
            Object::parse(json.as_str()).is_some_and(|object| object.string("tool_use_id") == id)
        }
        _ => false,
    })
}

fn is_of_program(block: &Block) -> bool {
    let Block::ToolCall {
        vendor: Some(vendor), ..
    } = block
    else {
        return false;
    };
    Object::parse(vendor.as_str()).is_some_and(|fields| is_program(&fields))
}

fn is_program(fields: &Object<'_>) -> bool {
    let caller = fields.object("caller");
    caller.is_some_and(|caller| !matches!(caller.word("type"), "" | "direct"))
}
