//! Tokens and money.

use serde::{Deserialize, Serialize};

/// Tokens of one model call or of a whole run.
///
/// `input_tokens` counts everything the model read, cached or not (as OpenTelemetry's `gen_ai.usage.input_tokens`);
/// the cache counts are parts of it. `output_tokens` counts everything it wrote; `reasoning_tokens` is a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Input plus output.
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    pub fn add(&mut self, other: &Usage) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
    }
}

/// What a model costs, in nano-USD per token (1 nano-USD per token = 0.001 USD per million tokens).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Price {
    pub input_nano_usd: u64,
    pub output_nano_usd: u64,
    /// Per token read from the cache; default: the input price.
    #[serde(default)]
    pub cache_read_nano_usd: Option<u64>,
    /// Per token written to the cache; default: the input price.
    #[serde(default)]
    pub cache_write_nano_usd: Option<u64>,
}

impl Price {
    /// The cost of `usage` in nano-USD.
    pub fn cost_nano_usd(&self, usage: &Usage) -> u64 {
        let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
        let fresh = usage.input_tokens.saturating_sub(cached);
        let parts = [
            (fresh, self.input_nano_usd),
            (
                usage.cache_read_tokens,
                self.cache_read_nano_usd.unwrap_or(self.input_nano_usd),
            ),
            (
                usage.cache_write_tokens,
                self.cache_write_nano_usd.unwrap_or(self.input_nano_usd),
            ),
            (usage.output_tokens, self.output_nano_usd),
        ];
        parts.iter().fold(0, |sum, (tokens, nano)| {
            sum.saturating_add(tokens.saturating_mul(*nano))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_are_priced_apart_from_fresh_ones() {
        let price = Price {
            input_nano_usd: 3000,
            output_nano_usd: 15000,
            cache_read_nano_usd: Some(300),
            cache_write_nano_usd: Some(3750),
        };
        let usage = Usage {
            input_tokens: 100,
            output_tokens: 10,
            cache_read_tokens: 60,
            cache_write_tokens: 30,
            reasoning_tokens: 4,
        };
        assert_eq!(
            price.cost_nano_usd(&usage),
            10 * 3000 + 60 * 300 + 30 * 3750 + 10 * 15000
        );
    }
}
