//! How much of a conversation is sent: when it is summarised, where it may be cut, what stands for what is gone.
//!
//! A cut never parts a call from its result: what is kept begins with an answer of the model, or with a message of the
//! user's own.

use crate::engine::model::config::Config;
use crate::engine::model::context::{ContextPolicy, HistoryPolicy};
use crate::engine::model::message::{Block, Json, Message, Role, ToolInput};
use crate::engine::policy::estimate;

impl ContextPolicy {
    /// Tokens above which the history is summarised, if the window is known. Room for the answer is left.
    pub fn limit_tokens(&self, max_output_tokens: Option<u64>) -> Option<u64> {
        let window = self.window_tokens?;
        let part = window.saturating_mul(self.threshold_percent.into()) / 100;
        Some(part.min(window.saturating_sub(max_output_tokens.unwrap_or(0))))
    }
}

/// Estimated tokens of a request with nothing but system prompt and tools.
pub fn head_tokens(config: &Config) -> u64 {
    let mut bytes = config.system.as_ref().map_or(0, String::len);
    for tool in &config.tools {
        bytes += tool.name.len() + tool.description.len() + tool.input_schema.as_str().len();
    }
    estimate::tokens(bytes as u64)
}

/// The place from which on `keep_last` answers are kept, or fewer if nothing would be left to cut. `None` if nothing
/// that a model has said stands before any such place.
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

/// What is kept may begin with this message.
fn begins(message: &Message) -> bool {
    let is_result = |block: &Block| matches!(block, Block::ToolResult { .. });
    !message.content.iter().any(is_result)
}

/// What a history is cut to for a budget of characters.
pub struct Trimmed {
    /// The first message that is kept.
    pub cut: usize,
    /// Of those before it.
    pub summary: String,
}

/// Drops the oldest messages until the rest and its summary are within `budget` (P-17): room for the summary is left, at
/// least two messages are kept. `None` if nothing need be dropped, or if that would make nothing shorter.
pub fn trim_to_budget(messages: &[Message], system: Option<&str>, budget: u64) -> Option<Trimmed> {
    let mut left: u64 = messages.iter().map(characters).sum();
    if let Some(system) = system {
        left += SYSTEM_CHARACTERS + length(system);
    }
    if left <= budget {
        return None;
    }
    let whole = left;
    // Five in a hundred of a very small budget would not even hold what encloses the summary.
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
    // What cannot be brought within the budget is not summarised again and again for the little that it would gain.
    if dropped <= room {
        return None;
    }
    let most = SUMMARY_CHARS.min((room - FRAME_CHARACTERS) as usize);
    let summary = first(&plain_summary(messages.get(..cut).unwrap_or_default()), most);
    Some(Trimmed { cut, summary })
}

/// A user message that is `[Context summary: ]`.
const FRAME_CHARACTERS: u64 = 8 + 19;

/// The role's name and four.
const SYSTEM_CHARACTERS: u64 = 10;

/// Characters of a message, as P-17 counts them: its role and 4, its text, 200 for what is none, its calls as JSON. A
/// result is a message of its own there.
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

/// `{"id":"","name":"","arguments":""}`.
const CALL_CHARACTERS: u64 = 35;

fn length(text: &str) -> u64 {
    text.chars().count() as u64
}

/// How much of each message the built-in summary keeps, and how long it is at most, in characters.
const LINE_CHARS: usize = 200;
const SUMMARY_CHARS: usize = 4000;

/// A summary without a model: who said what, shortened, and which tools were called (P-17).
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
                    lines.push([who, &first(text.trim(), LINE_CHARS)].concat());
                }
                Block::ToolCall { name, .. } => names.push(name.as_str()),
                _ => {}
            }
        }
        if !names.is_empty() {
            lines.push(["  Called tools: ", &names.join(", ")].concat());
        }
    }
    first(&lines.join("\n"), SUMMARY_CHARS)
}

fn first(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// What stands for the messages that are gone.
pub fn summary_block(summary: &str) -> Block {
    Block::text(["[Context summary: ", summary, "]"].concat())
}

/// Cuts thinking and calls of old answers short and marks those; whether there were any.
pub fn shorten(messages: &mut [Message], policy: &HistoryPolicy) -> bool {
    let mut after = 0;
    let mut changed = false;
    for message in messages.iter_mut().rev() {
        if message.role != Role::Assistant {
            continue;
        }
        if after >= policy.after_responses && !message.compacted {
            changed |= shorten_one(message, policy.prefix_chars as usize);
        }
        after += 1;
    }
    changed
}

/// An answer with blocks of the vendor's own stays whole: they belong together.
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

/// It stays an object (S002-19).
fn shorten_input(input: &mut ToolInput, chars: usize) -> bool {
    let text = match input {
        ToolInput::Json(json) => json.as_str(),
        ToolInput::Invalid(text) => text,
    };
    if text.chars().nth(chars).is_none() {
        return false;
    }
    let prefix = Json::string(&first(text, chars));
    let object = ["{\"_compacted\":", prefix.as_str(), "}"].concat();
    *input = ToolInput::Json(Json::from_valid(&object));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 200 characters each.
    fn turns(count: usize) -> Vec<Message> {
        let turn = |at: usize| match at % 2 {
            0 => Message::user(vec![Block::text("x".repeat(192))]),
            _ => Message::assistant(vec![Block::text("x".repeat(187))]),
        };
        (0..count).map(turn).collect()
    }

    #[test]
    fn the_budget_is_kept_with_as_much_as_fits_and_at_least_two_messages() {
        let cut_to = |messages: &[Message], system, budget| {
            trim_to_budget(messages, system, budget).map(|trimmed| trimmed.cut)
        };
        // A twentieth is left for the summary: 631 hold 600.
        for (count, budget, cut) in [
            (4, 800, None),
            (4, 799, Some(1)),
            (4, 631, Some(1)),
            (4, 630, Some(2)),
            (4, 1, Some(2)),
            (3, 1, Some(1)),
            (5, 1, Some(3)),
        ] {
            assert_eq!(cut_to(&turns(count), None, budget), cut, "{count} {budget}");
        }
        assert_eq!(cut_to(&turns(4), Some("sixteen in length"), 826), Some(1));
        assert_eq!(cut_to(&turns(4), Some("sixteen in length"), 827), None);
    }
}
