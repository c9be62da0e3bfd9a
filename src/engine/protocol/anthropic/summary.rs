//! Summaries on demand: `compaction` in a request, a signed block in its answer.
//! <https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand> (2026-09-30)

use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_count, push_key, push_others, push_text};
use crate::engine::protocol::request::prefix::summary::SummaryForm;

pub const FORM: SummaryForm = SummaryForm {
    path: "",
    beta: "compact-2026-09-04",
    takes_instructions: true,
    excluded_by: &["context_management", "thread"],
    encode,
    read,
    push,
};

/// The minimum tokens of the answer, which include thinking.
const LEAST_TOKENS: u64 = 8192;
/// The most characters of instructions.
const MOST_INSTRUCTIONS: usize = 16_384;

/// What an answer would need and a summary must not have is left out.
fn encode(request: &Object<'_>, instructions: Option<&str>, into: &mut Vec<u8>) {
    const CHANGED: &[&str] = &[
        "max_tokens",
        "output_config",
        "stop_sequences",
        "thread",
        "tool_choice",
    ];
    into.push(b'{');
    push_others(into, request, CHANGED);
    let tokens = request.number("max_tokens").unwrap_or_default();
    push_count(into, "max_tokens", tokens.max(LEAST_TOKENS));
    if let Some(config) = request.object("output_config") {
        push_key(into, "output_config");
        into.push(b'{');
        push_others(into, &config, &["format", "task_budget"]);
        into.push(b'}');
    }
    push_key(into, "compaction");
    into.extend_from_slice(br#"{"type":"summarize""#);
    if let Some(instructions) = instructions {
        let text: String = instructions.chars().take(MOST_INSTRUCTIONS).collect();
        push_text(into, "instructions", &text);
    }
    into.extend_from_slice(b"}}");
}

fn read(block: &str) -> Option<(String, String)> {
    let object = Object::parse(block).filter(is_summary)?;
    let text = object.filled("content")?;
    Some((text.into_owned(), block.to_owned()))
}

/// True for a summary that replaces the messages before it. One without a signature, from `context_management`,
/// follows them.
pub fn is_summary(block: &Object<'_>) -> bool {
    block.is("type", "compaction") && block.filled("signature").is_some()
}

fn push(items: &str, into: &mut Vec<u8>) {
    into.extend_from_slice(br#",{"role":"assistant","content":["#);
    into.extend_from_slice(items.as_bytes());
    into.extend_from_slice(b"]}");
}
