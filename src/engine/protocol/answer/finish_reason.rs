//! Translates the vendors' finish reasons to neutral ones.
//!
//! Every decoder calls [`note_reason`] when it reads a reason. The answer stores both words, because the result shows
//! the vendor's own. A word without a row becomes [`FinishReason::Other`]. Nothing fails.

use crate::engine::model::answer::{FinishReason, ModelAnswer};

use FinishReason::{ContentFilter, Length, Pause, Refusal, Stop, ToolCalls};

/// The neutral word, or [`FinishReason::Other`] for a word that no vendor has been seen to use.
pub fn finish_reason(word: &str) -> FinishReason {
    for (known, reason) in WORDS {
        if known.split('|').any(|known| known == word) {
            return *reason;
        }
    }
    FinishReason::Other
}

/// Stores the vendor's word, if there is one, together with its neutral meaning.
pub fn note_reason(word: Option<String>, answer: &mut ModelAnswer) {
    if let Some(word) = word {
        answer.finish_reason = Some(finish_reason(&word));
        answer.raw_finish_reason = Some(word);
    }
}

/// <https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>,
/// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html>,
/// <https://ai.google.dev/api/generate-content#FinishReason>,
/// <https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#FinishReason>,
/// <https://platform.openai.com/docs/api-reference/chat/object> (2026-11-21), and recorded answers.
const WORDS: &[(&str, FinishReason)] = &[
    ("stop|end_turn|stop_sequence|STOP|eos", Stop),
    (
        "length|max_tokens|MAX_TOKENS|model_length|model_context_window_exceeded",
        Length,
    ),
    ("tool_calls|tool_use|function_call", ToolCalls),
    ("pause_turn|compaction|pause", Pause),
    ("refusal", Refusal),
    (
        "content_filter|content_filtered|guardrail_intervened|SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|\
         MODEL_ARMOR|IMAGE_SAFETY|IMAGE_PROHIBITED_CONTENT|IMAGE_RECITATION",
        ContentFilter,
    ),
];
