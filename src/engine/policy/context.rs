//! The length of a conversation: when it is summarised, where it may be cut, and which text replaces the rest.
//!
//! The agent asks before each request whether the history is too long, and `agent::history` makes the change.
//! Decisions here use only estimates and character counts. The model writes a summary elsewhere. A cut never
//! separates a call from its result: the rest begins with an answer of the model or with a user's own message. A
//! history that cannot be shortened remains unchanged.

use crate::engine::model::config::Config;
use crate::engine::model::config::context::{ContextPolicy, Pruning};
use crate::engine::model::message::{Block, Json, Message, Role, SUMMARY_HEAD, TextPurpose, ToolInput};
use crate::engine::policy::estimate;

impl ContextPolicy {
    /// The number of tokens above which the history is summarised, if the window is known: the configured one, or
    /// that of the model. It leaves space for the answer.
    pub fn limit_tokens(&self, of_model: Option<u32>, max_output_tokens: Option<u64>) -> Option<u64> {
        let window = self.window.or(of_model.map(u64::from))?;
        let part = window.saturating_mul(self.threshold_percent.into()) / 100;
        Some(part.min(window.saturating_sub(max_output_tokens.unwrap_or(0))))
    }
}

/// The estimated tokens of a request with nothing but system prompt and tools.
pub fn head_tokens(config: &Config) -> u64 {
    let mut bytes = config.system.as_ref().map_or(0, String::len);
    for tool in config.tools.iter().filter(|tool| !tool.defer_loading) {
        let entry = tool.vendor.as_ref().and_then(|vendor| vendor.entry.as_ref());
        bytes += entry.map_or(0, |entry| entry.as_str().len());
        bytes += tool.name.len() + tool.description.len() + tool.input_schema.as_str().len();
    }
    estimate::tokens(bytes as u64)
}

/// The index after which `keep_last` answers remain, or fewer if nothing else could be cut. `None` if no answer of
/// the model precedes any such index.
pub fn cut_for(messages: &[Message], keep_last: u32) -> Option<usize> {
    let mut best = None;
    let mut answers = 0;
    for (at, message) in messages.iter().enumerate().rev() {
        if !begins(message) {
            continue;
        }
        answers += u32::from(message.role == Role::Assistant);
        let before = messages.get(..at).unwrap_or_default();
        if !before.iter().any(|message| message.role == Role::Assistant) {
            break;
        }
        best = Some(at);
        if answers >= keep_last {
            break;
        }
    }
    best
}

/// True if the rest may begin with this message.
fn begins(message: &Message) -> bool {
    let is_result = |block: &Block| matches!(block, Block::ToolResult { .. });
    !message.content.iter().any(is_result)
}

/// A cut that reduces a history to a budget of characters.
pub struct Trimmed {
    /// The index of the first message that remains.
    pub cut: usize,
    /// The summary of the messages before it.
    pub summary: String,
}

/// Drops the oldest messages until the rest and its summary are within `budget`, as in Prompty's specification
/// (§13.3). Space for the summary is reserved, and at least two messages remain. `None` if nothing has to be dropped,
/// or if dropping would not shorten the history.
pub fn trim_to_budget(messages: &[Message], system: Option<&str>, budget: u64) -> Option<Trimmed> {
    let mut left: u64 = messages.iter().map(characters).sum();
    if let Some(system) = system {
        left += SYSTEM_CHARACTERS + length(system);
    }
    if left <= budget {
        return None;
    }
    let whole = left;
    // Five percent of a very small budget would be too small even for the summary's frame.
    let reserve = (budget / 20).clamp(FRAME_CHARACTERS, 5000);
    let target = budget.saturating_sub(reserve);
    let mut found = None;
    for (at, message) in messages.iter().enumerate() {
        if at > 0 && begins(message) {
            found = Some((at, left));
            if left <= target {
                break;
            }
        }
        if messages.len() - at <= 2 {
            break;
        }
        left -= characters(message);
    }
    let (cut, left) = found?;
    let dropped = whole - left;
    let room = budget.saturating_sub(left).max(reserve);
    // A history that cannot be reduced to the budget is not summarised repeatedly for a small gain.
    if dropped <= room {
        return None;
    }
    let most = SUMMARY_CHARS.min((room - FRAME_CHARACTERS) as usize);
    let summary = first(&plain_summary(messages.get(..cut).unwrap_or_default()), most);
    Some(Trimmed { cut, summary })
}

/// The length of a user message with an empty summary.
const FRAME_CHARACTERS: u64 = 8 + 19;

/// The role's name and four more.
const SYSTEM_CHARACTERS: u64 = 10;

/// The characters of a message, counted like Prompty: its role and 4, its text, 200 for a block that is not text, its
/// calls as JSON. A result counts as a separate message.
pub fn characters(message: &Message) -> u64 {
    let mut sum = match message.role {
        Role::User => 8,
        Role::Assistant => 13,
    };
    for block in &message.content {
        sum += match block {
            Block::Text { text, .. } | Block::Refusal { text } => length(text),
            Block::Thinking { .. } | Block::RedactedThinking { .. } => 0,
            Block::ToolCall { id, name, input, .. } => {
                let input = match input {
                    ToolInput::Json(json) => json.as_str(),
                    ToolInput::Invalid(text) => text,
                };
                length(id) + length(name) + length(input) + CALL_CHARACTERS
            }
            Block::ToolResult { content, .. } => {
                8 + content
                    .iter()
                    .map(|block| match block {
                        Block::Text { text, .. } => length(text),
                        _ => 200,
                    })
                    .sum::<u64>()
            }
            Block::Media { .. } | Block::Raw { .. } => 200,
        };
    }
    sum
}

/// The length of `{"id":"","name":"","arguments":""}`.
const CALL_CHARACTERS: u64 = 35;

fn length(text: &str) -> u64 {
    text.chars().count() as u64
}

/// The length of each message's excerpt in the built-in summary, and the summary's own greatest length, in
/// characters.
const LINE_CHARS: usize = 200;
const SUMMARY_CHARS: usize = 4000;

/// A summary without a model: the speakers, their shortened words, and the tools that were called, in Prompty's form.
pub fn plain_summary(messages: &[Message]) -> String {
    let mut lines = Vec::new();
    for message in messages {
        let who = match message.role {
            Role::User => "User asked: ",
            Role::Assistant => "Assistant: ",
        };
        let mut names = Vec::new();
        for block in &message.content {
            match block {
                Block::Text { text, .. } | Block::Refusal { text } => {
                    lines.push(format!("{who}{}", first(text.trim(), LINE_CHARS)));
                }
                Block::ToolCall { name, .. } => names.push(name.as_str()),
                _ => {}
            }
        }
        if !names.is_empty() {
            lines.push(format!("  Called tools: {}", names.join(", ")));
        }
    }
    first(&lines.join("\n"), SUMMARY_CHARS)
}

fn first(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// The block that replaces the messages that were dropped. `signed` is the summary as its vendor has made it.
pub fn summary_block(summary: &str, signed: Option<Json>) -> Block {
    Block::Text {
        text: format!("{SUMMARY_HEAD}{summary}]"),
        purpose: Some(TextPurpose::Summary),
        vendor: signed,
    }
}

/// The calls of old answers that the vendor hides from the model.
pub struct OldCalls {
    /// The number of messages that have them.
    pub upto: usize,
    /// The number of calls after them.
    pub later_calls: usize,
}

/// The calls of a history that are old. Answers become old in groups as large as the number that stays, because the
/// vendor's cache ends at the first call that is newly hidden. `None` if no old answer has a call.
pub fn old_calls(messages: &[Message], policy: &Pruning) -> Option<OldCalls> {
    let is_answer = |message: &Message| message.role == Role::Assistant;
    let size = policy.after_responses.max(1) as usize;
    let answers = messages.iter().filter(|message| is_answer(message)).count();
    let old = (answers / size).saturating_sub(1) * size;
    let mut at = messages
        .iter()
        .enumerate()
        .filter(|(_, message)| is_answer(message));
    let (upto, _) = at.nth(old).filter(|_| old > 0)?;
    let (before, later) = messages.split_at_checked(upto)?;
    let calls = |messages: &[Message]| -> usize {
        let blocks = messages.iter().flat_map(|message| &message.content);
        blocks.filter(|block| is_call(block)).count()
    };
    (calls(before) > 0).then(|| OldCalls {
        upto,
        later_calls: calls(later),
    })
}

/// True for a call, also one of a vendor's own tool.
fn is_call(block: &Block) -> bool {
    match block {
        Block::ToolCall { .. } => true,
        Block::Raw { json } => json.as_str().contains("tool_use\""),
        _ => false,
    }
}

/// Cuts the thinking and the calls of old answers short and marks these answers. Returns their indexes.
pub fn shorten(messages: &mut [Message], policy: &Pruning) -> Vec<usize> {
    let mut after = 0;
    let mut changed = Vec::new();
    for (at, message) in messages.iter_mut().enumerate().rev() {
        if message.role != Role::Assistant {
            continue;
        }
        let is_old = after >= policy.after_responses && !message.compacted;
        if is_old && shorten_one(message, policy.prefix_chars as usize) {
            changed.push(at);
        }
        after += 1;
    }
    changed
}

/// Shortens one answer. An answer with vendor blocks remains complete, because its blocks belong together.
fn shorten_one(message: &mut Message, chars: usize) -> bool {
    if message
        .content
        .iter()
        .any(|block| matches!(block, Block::Raw { .. }))
    {
        return false;
    }
    for block in &mut message.content {
        let shortened = match block {
            Block::Thinking {
                text,
                signature,
                vendor,
            } => {
                *text = first(text, chars);
                *signature = None;
                *vendor = None;
                true
            }
            Block::RedactedThinking { data } => {
                data.clear();
                true
            }
            Block::ToolCall { input, .. } => shorten_input(input, chars),
            _ => false,
        };
        message.compacted |= shortened;
    }
    message
        .content
        .retain(|block| !matches!(block, Block::RedactedThinking { data } if data.is_empty()));
    message.compacted
}

/// Cuts a call's input short. It stays a JSON object, because every provider demands one.
fn shorten_input(input: &mut ToolInput, chars: usize) -> bool {
    let text = match input {
        ToolInput::Json(json) => json.as_str(),
        ToolInput::Invalid(text) => text,
    };
    if text.chars().nth(chars).is_none() {
        return false;
    }
    let prefix = Json::string(&first(text, chars));
    let object = format!("{{\"_compacted\":{}}}", prefix.as_str());
    *input = ToolInput::Json(Json::from_valid(&object));
    true
}

#[cfg(test)]
mod tests;
