//! Tokens and money of model calls and runs.
//!
//! Decoders write the vendor's numbers into a [`Usage`]; the model call adds the cost by its [`Price`] and the ledger
//! sums up. Money is an integer of billionths of a US dollar, so that a sum is exact. No addition overflows: sums
//! saturate.

use serde::{Deserialize, Serialize};

/// Tokens of one model call or of a whole run, and their cost.
///
/// [`Usage::input_tokens`] counts everything that the model read, cached or not, like OpenTelemetry's
/// `gen_ai.usage.input_tokens`, and includes the cache counts. [`Usage::output_tokens`] counts everything that the
/// model wrote, and includes [`Usage::reasoning_tokens`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    /// The part of [`Usage::cache_write_tokens`] that the vendor caches for an hour.
    pub cache_write_hour_tokens: u64,
    pub reasoning_tokens: u64,
    /// The part of [`Usage::input_tokens`] that is sound. Vendors charge more for it, and a `price` does not know
    /// that.
    pub audio_input_tokens: u64,
    /// The part of [`Usage::output_tokens`] that is sound.
    pub audio_output_tokens: u64,
    /// The cost as an integer of billionths of a US dollar: the vendor's own figure, else the cost by the model's
    /// price; `null` when neither is known.
    pub cost_nano_usd: Option<u64>,
    /// True if the vendor reported the whole cost.
    pub is_cost_reported: bool,
}

impl Usage {
    /// Input plus output tokens.
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Adds up. The cost of a sum is known only if the cost of each call is known; a call that used nothing costs
    /// nothing.
    pub fn add(&mut self, other: &Usage) {
        if self.is_nothing() {
            *self = *other;
            return;
        }
        if !other.is_nothing() {
            self.cost_nano_usd = match (self.cost_nano_usd, other.cost_nano_usd) {
                (Some(cost), Some(more)) => Some(cost.saturating_add(more)),
                _ => None,
            };
            self.is_cost_reported &= other.is_cost_reported;
        }
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.cache_write_hour_tokens = self
            .cache_write_hour_tokens
            .saturating_add(other.cache_write_hour_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.audio_input_tokens = self.audio_input_tokens.saturating_add(other.audio_input_tokens);
        self.audio_output_tokens = self.audio_output_tokens.saturating_add(other.audio_output_tokens);
    }

    /// Caps each part of a count at the count. For Grok, Azure reports 373 tokens from the cache of 235 (recorded
    /// 2026-08-19), and its total includes only the 235.
    pub fn bounded(mut self) -> Usage {
        self.cache_read_tokens = self.cache_read_tokens.min(self.input_tokens);
        let fresh = self.input_tokens - self.cache_read_tokens;
        self.cache_write_tokens = self.cache_write_tokens.min(fresh);
        self.cache_write_hour_tokens = self.cache_write_hour_tokens.min(self.cache_write_tokens);
        self.reasoning_tokens = self.reasoning_tokens.min(self.output_tokens);
        self.audio_input_tokens = self.audio_input_tokens.min(self.input_tokens);
        self.audio_output_tokens = self.audio_output_tokens.min(self.output_tokens);
        self
    }

    /// The usage of one call with its cost. The vendor's own figure wins over the price.
    pub fn priced(mut self, price: Option<&Price>, terms: Terms) -> Usage {
        self.is_cost_reported = self.cost_nano_usd.is_some();
        if let Some(price) = price.filter(|_| !self.is_cost_reported) {
            self.cost_nano_usd = Some(price.cost_nano_usd(&self, terms));
        }
        self
    }

    fn is_nothing(&self) -> bool {
        self.total_tokens() == 0 && !self.is_cost_reported
    }
}

/// Adds the reported usage of a call to a sum. A call without reported usage adds nothing.
pub fn add_report(sum: &mut Option<Usage>, report: Option<&Usage>) {
    if let Some(report) = report {
        sum.get_or_insert_default().add(report);
    }
}

/// A usage as the journal has it, without the counts that are 0.
pub mod sparse {
    use serde::ser::{SerializeMap, Serializer};

    use super::Usage;

    pub fn option<S: Serializer>(usage: &Option<Usage>, serializer: S) -> Result<S::Ok, S::Error> {
        match usage {
            Some(usage) => counts(usage, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub fn counts<S: Serializer>(usage: &Usage, serializer: S) -> Result<S::Ok, S::Error> {
        let Usage {
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens,
            cache_write_hour_tokens,
            reasoning_tokens,
            audio_input_tokens,
            audio_output_tokens,
            cost_nano_usd,
            is_cost_reported,
        } = *usage;
        let mut map = serializer.serialize_map(None)?;
        for (name, count) in [
            ("inputTokens", input_tokens),
            ("outputTokens", output_tokens),
            ("cacheReadTokens", cache_read_tokens),
            ("cacheWriteTokens", cache_write_tokens),
            ("cacheWriteHourTokens", cache_write_hour_tokens),
            ("reasoningTokens", reasoning_tokens),
            ("audioInputTokens", audio_input_tokens),
            ("audioOutputTokens", audio_output_tokens),
        ] {
            if count > 0 {
                map.serialize_entry(name, &count)?;
            }
        }
        if let Some(cost) = cost_nano_usd {
            map.serialize_entry("costNanoUsd", &cost)?;
        }
        if is_cost_reported {
            map.serialize_entry("isCostReported", &true)?;
        }
        map.end()
    }
}

/// The price of a model in nano-USD per token (1 nano-USD per token = 0.001 USD per million tokens).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Per token written to the cache for an hour; default: as any other token written to it.
    #[serde(default)]
    pub cache_write_hour_nano_usd: Option<u64>,
    /// The number of input tokens above which the long-context price applies to the whole call. Default: none.
    #[serde(default)]
    pub long_above_tokens: Option<u64>,
    /// The input price of such a call, in percent of the normal one; default 100.
    #[serde(default)]
    pub long_input_percent: Option<u64>,
    /// The output price of such a call, in percent; default 100.
    #[serde(default)]
    pub long_output_percent: Option<u64>,
    /// The cost of a call that the vendor served as a batch, in percent of the normal one; default 100.
    #[serde(default)]
    pub batch_percent: Option<u64>,
    /// The same of the service tier `flex`.
    #[serde(default)]
    pub flex_percent: Option<u64>,
    /// The same of the service tier `priority`.
    #[serde(default)]
    pub priority_percent: Option<u64>,
    /// The same of a call at the speed `fast`.
    #[serde(default)]
    pub fast_percent: Option<u64>,
    /// The same of inference that stays in the USA.
    #[serde(default)]
    pub us_percent: Option<u64>,
}

/// The facts of a call, in addition to its tokens, that its price depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    pub tier: Option<Tier>,
    pub is_fast: bool,
    pub is_us: bool,
}

/// A service tier with a different price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    Batch,
    Flex,
    Priority,
}

impl Tier {
    /// The tier of a vendor's word, such as `flex` or Vertex AI's `ON_DEMAND_FLEX`. `None` for the normal tier and
    /// for an unknown one. OpenAI's `fast` is another name of `priority`.
    pub fn read(word: &str) -> Option<Tier> {
        let word = word.to_ascii_lowercase();
        match word.strip_prefix("on_demand_").unwrap_or(&word) {
            "batch" => Some(Tier::Batch),
            "flex" => Some(Tier::Flex),
            "priority" | "fast" => Some(Tier::Priority),
            _ => None,
        }
    }
}

impl Price {
    /// The cost of `usage` in nano-USD.
    pub fn cost_nano_usd(&self, usage: &Usage, terms: Terms) -> u64 {
        let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
        let fresh = usage.input_tokens.saturating_sub(cached);
        let read = self.cache_read_nano_usd.unwrap_or(self.input_nano_usd);
        let write = self.cache_write_nano_usd.unwrap_or(self.input_nano_usd);
        let hour = usage.cache_write_hour_tokens.min(usage.cache_write_tokens);
        let input = [
            (fresh, self.input_nano_usd),
            (usage.cache_read_tokens, read),
            (usage.cache_write_tokens.saturating_sub(hour), write),
            (hour, self.cache_write_hour_nano_usd.unwrap_or(write)),
        ];
        let input = input.iter().fold(0u64, |sum, (tokens, nano)| {
            sum.saturating_add(tokens.saturating_mul(*nano))
        });
        let output = usage.output_tokens.saturating_mul(self.output_nano_usd);
        let is_long = self
            .long_above_tokens
            .is_some_and(|above| usage.input_tokens > above);
        let part = |cost: u64, percent: Option<u64>| match percent.filter(|_| is_long) {
            Some(percent) => cost.saturating_mul(percent) / 100,
            None => cost,
        };
        let cost =
            part(input, self.long_input_percent).saturating_add(part(output, self.long_output_percent));
        let factors = self.percents(terms);
        factors
            .into_iter()
            .flatten()
            .fold(cost, |cost, percent| cost.saturating_mul(percent) / 100)
    }

    /// The percentages of the cost under these terms.
    fn percents(&self, terms: Terms) -> [Option<u64>; 3] {
        let tier = terms.tier.and_then(|tier| match tier {
            Tier::Batch => self.batch_percent,
            Tier::Flex => self.flex_percent,
            Tier::Priority => self.priority_percent,
        });
        [
            tier,
            self.fast_percent.filter(|_| terms.is_fast),
            self.us_percent.filter(|_| terms.is_us),
        ]
    }
}

/// Whether a vendor's name of a model is the asked one or that with a date: `claude-opus-4-8-20260501`.
pub fn is_version_of(told: &str, asked: &str) -> bool {
    let Some(date) = told.strip_prefix(asked) else {
        return false;
    };
    let digits = date.trim_start_matches(['-', '@']);
    date.is_empty() || (digits.len() == 8 && digits.bytes().all(|digit| digit.is_ascii_digit()))
}

/// A decimal number times ten to the power of `shift`, rounded: `0.0000702` with 9 is 70,200. `None` for text that is
/// not a number, for a negative number and for one that is too large.
pub fn shifted(text: &str, shift: i32) -> Option<u64> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (text.get(..at)?, text.get(at + 1..)?.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() {
        return None;
    }
    let mut number = 0u64;
    let mut power = exponent.saturating_add(shift);
    for (at, digit) in whole.bytes().chain(fraction.bytes()).enumerate() {
        if !digit.is_ascii_digit() {
            return None;
        }
        let is_fraction = at >= whole.len();
        if is_fraction && number > u64::MAX / 100 {
            continue;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        power = power.saturating_sub(i32::from(is_fraction));
    }
    if number == 0 {
        return Some(0);
    }
    if power >= 0 {
        return number.checked_mul(10u64.checked_pow(power.unsigned_abs())?);
    }
    let Some(divisor) = 10u64.checked_pow(power.unsigned_abs()) else {
        return Some(0);
    };
    Some(number / divisor + u64::from(number % divisor >= divisor.div_ceil(2)))
}

/// The maximum that a run can use under its limits, including subagents, calculated before any request
/// ([`crate::engine::policy::bound`]). A figure is `null` if nothing limits it, and [`Bound::unbounded`] has the
/// reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Bound {
    /// Requests to models: iterations, retries, fallback models, summaries and subagents.
    pub requests: Option<u64>,
    /// Tokens that the models read, cached ones included.
    pub input_tokens: Option<u64>,
    /// Tokens that the models write, reasoning included.
    pub output_tokens: Option<u64>,
    /// The cost in billionths of a US dollar, an integer.
    pub cost_nano_usd: Option<u64>,
    /// The options that would limit the figures that are `null` (`context.window`, `maxOutputTokens`, `price`,
    /// `limits.maxToolCalls`), and your functions that can lift a limit (`prepareIteration`, `limits.onLimit`). Empty
    /// when every figure has a limit.
    pub unbounded: Vec<&'static str>,
    /// What looplet knows of the models and counted with, because the options have no such number.
    pub assumed: Vec<AssumedLimits>,
}

/// What a [`Bound`] takes from the table of models.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AssumedLimits {
    pub vendor: String,
    pub model: String,
    /// The maximum number of tokens of a request and its answer, instead of `context.window`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The maximum number of tokens of an answer, instead of `maxOutputTokens`: what looplet asks for, or what the
    /// model can write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
}

#[cfg(test)]
mod tests;
