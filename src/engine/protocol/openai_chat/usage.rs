//! Reads token counts under all the names that servers give them, in Chat Completions and in Responses.
//!
//! The decoders call [`read_usage`] for every usage object, and the last one counts. A count that is missing or not a
//! number is 0. The vendor's own cost is used if it sends one. Otherwise the cost is computed from the model's price.

use looplet_scan::reader::Object;

use crate::engine::model::usage::{Usage, shifted};

/// The neutral counts. `prompt_tokens` includes tokens from the cache.
pub fn read_usage(wire: &Object<'_>) -> Usage {
    let details = |names: [&str; 2]| names.into_iter().find_map(|name| wire.object(name));
    let prompt = details(["prompt_tokens_details", "input_tokens_details"]);
    let completion = details(["completion_tokens_details", "output_tokens_details"]);
    let of =
        |details: &Option<Object<'_>>, name: &str| details.as_ref().and_then(|object| object.number(name));
    let mut input_tokens = wire
        .number("prompt_tokens")
        .or_else(|| wire.number("input_tokens"))
        .unwrap_or(0);
    let mut reasoning_tokens = of(&completion, "reasoning_tokens")
        .or_else(|| wire.number("reasoning_tokens"))
        .unwrap_or(0);
    let mut output_tokens = wire
        .number("completion_tokens")
        .or_else(|| wire.number("output_tokens"))
        .unwrap_or(0);
    // xAI counts reasoning in addition to the completion, every other vendor within it. The total shows which.
    // Vercel's gateway also leaves Gemini's thoughts out of its total, but charges them: they are 4 to 13 times the
    // completion. Servers that count reasoning again report a few tokens more than the completion that includes it
    // (130 of 128).
    let separate = input_tokens
        .saturating_add(output_tokens)
        .saturating_add(reasoning_tokens);
    let is_separate = wire.number("total_tokens") == Some(separate) || reasoning_tokens / 2 > output_tokens;
    if reasoning_tokens > 0 && is_separate {
        output_tokens = output_tokens.saturating_add(reasoning_tokens);
    }
    reasoning_tokens = reasoning_tokens.min(output_tokens);
    // Mistral counts sound in addition to the prompt, every other vendor within it. The total shows which.
    let audio_input_tokens = of(&prompt, "audio_tokens").unwrap_or(0);
    let with_sound = input_tokens.saturating_add(audio_input_tokens);
    if wire.number("total_tokens") == Some(with_sound.saturating_add(output_tokens)) {
        input_tokens = with_sound;
    }
    Usage {
        input_tokens,
        output_tokens,
        cache_read_tokens: of(&prompt, "cached_tokens")
            .or_else(|| wire.number("prompt_cache_hit_tokens"))
            .or_else(|| wire.number("cached_tokens"))
            // Mistral, next to its details.
            .or_else(|| wire.number("num_cached_tokens"))
            .unwrap_or(0),
        cache_write_tokens: of(&prompt, "cache_write_tokens")
            .or_else(|| of(&prompt, "cache_creation_tokens"))
            .or_else(|| wire.number("cache_creation_input_tokens"))
            .unwrap_or(0),
        reasoning_tokens,
        audio_input_tokens,
        audio_output_tokens: of(&completion, "audio_tokens").unwrap_or(0),
        cost_nano_usd: read_cost(wire),
        ..Usage::default()
    }
}

/// The cost by the server's account: in dollars (OpenRouter), with its parts (Perplexity), or in ticks of 10⁻¹⁰
/// dollars (xAI). <https://openrouter.ai/docs/use-cases/usage-accounting>,
/// <https://docs.perplexity.ai/api-reference/chat-completions-post>, <https://docs.x.ai/developers/cost-tracking>
/// (2026-11-21). xAI also sends 0 ticks for tokens that it charges, so 0 ticks are no account.
fn read_cost(wire: &Object<'_>) -> Option<u64> {
    if let Some(ticks) = wire.get("cost_in_usd_ticks") {
        return shifted(ticks, -1).filter(|cost| *cost > 0);
    }
    match wire.object("cost") {
        Some(parts) => shifted(parts.get("total_cost")?, 9),
        None => {
            let cost = shifted(wire.get("cost")?, 9)?;
            Some(cost.saturating_add(read_upstream_cost(wire, cost)))
        }
    }
}

/// What the vendor charges next to OpenRouter: with a key of the user's own (BYOK), OpenRouter's `cost` is its fee
/// only, often 0. Without such a key the field repeats `cost`, and `is_byok` is false
/// (<https://openrouter.ai/docs/use-cases/usage-accounting>, 2026-11-29, and recordings of both).
fn read_upstream_cost(wire: &Object<'_>, cost: u64) -> u64 {
    let details = wire.object("cost_details");
    let upstream = details.and_then(|details| shifted(details.get("upstream_inference_cost")?, 9));
    let is_separate = match wire.get("is_byok") {
        Some("true") => true,
        Some("false") => false,
        _ => upstream > Some(cost),
    };
    upstream.filter(|_| is_separate).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_an_own_key_the_upstream_cost_is_added_to_the_fee_of_openrouter() {
        for (usage, nano) in [
            (
                r#"{"cost":0,"is_byok":true,"cost_details":{"upstream_inference_cost":0.00417}}"#,
                Some(4_170_000),
            ),
            (
                r#"{"cost":0.95,"is_byok":true,"cost_details":{"upstream_inference_cost":19}}"#,
                Some(19_950_000_000),
            ),
            (
                r#"{"cost":0.95,"cost_details":{"upstream_inference_cost":19}}"#,
                Some(19_950_000_000),
            ),
            (
                r#"{"cost":0.002,"cost_details":{"upstream_inference_cost":0.002}}"#,
                Some(2_000_000),
            ),
            (
                r#"{"cost":0.1,"is_byok":false,"cost_details":{"upstream_inference_cost":0.2}}"#,
                Some(100_000_000),
            ),
            (
                r#"{"cost":0,"is_byok":true,"cost_details":{"upstream_inference_cost":null}}"#,
                Some(0),
            ),
            (r#"{"cost":0,"is_byok":true,"cost_details":null}"#, Some(0)),
            (
                r#"{"is_byok":true,"cost_details":{"upstream_inference_cost":19}}"#,
                None,
            ),
        ] {
            let wire = Object::parse(usage).unwrap_or_default();
            assert_eq!(read_usage(&wire).cost_nano_usd, nano, "{usage}");
        }
    }
}
