//! Token counts, under all the names that servers give them, here and in Responses.

use super::super::super::json_reader::Object;
use super::super::super::usage::Usage;

/// The neutral counts. `prompt_tokens` already holds what came from the cache.
pub fn read_usage(wire: &Object<'_>) -> Usage {
    let details = |names: [&str; 2]| names.into_iter().find_map(|name| wire.object(name));
    let prompt = details(["prompt_tokens_details", "input_tokens_details"]);
    let completion = details(["completion_tokens_details", "output_tokens_details"]);
    let of =
        |details: &Option<Object<'_>>, name: &str| details.as_ref().and_then(|object| object.number(name));
    let input_tokens = wire
        .number("prompt_tokens")
        .or_else(|| wire.number("input_tokens"))
        .unwrap_or(0);
    let reasoning_tokens = of(&completion, "reasoning_tokens")
        .or_else(|| wire.number("reasoning_tokens"))
        .unwrap_or(0);
    let mut output_tokens = wire
        .number("completion_tokens")
        .or_else(|| wire.number("output_tokens"))
        .unwrap_or(0);
    // xAI counts reasoning beside the completion, everybody else within: the total tells.
    let beside = input_tokens
        .saturating_add(output_tokens)
        .saturating_add(reasoning_tokens);
    if reasoning_tokens > 0 && wire.number("total_tokens") == Some(beside) {
        output_tokens = output_tokens.saturating_add(reasoning_tokens);
    }
    Usage {
        input_tokens,
        output_tokens,
        cache_read_tokens: of(&prompt, "cached_tokens")
            .or_else(|| wire.number("prompt_cache_hit_tokens"))
            .or_else(|| wire.number("cached_tokens"))
            .unwrap_or(0),
        cache_write_tokens: of(&prompt, "cache_write_tokens")
            .or_else(|| of(&prompt, "cache_creation_tokens"))
            .or_else(|| wire.number("cache_creation_input_tokens"))
            .unwrap_or(0),
        reasoning_tokens,
    }
}
