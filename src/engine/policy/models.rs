//! What is known about the vendors' models: one table, with a row for each family of models.
//!
//! [`row`] finds the row of a model by its id, in any form that vendors and gateways use. The encoders and the agent
//! use the columns: [`options`] replaces what a model rejects, `request/prefix.rs` ties reasoning to its prefix,
//! `request/prefill.rs` continues an answer. A model without a row gets [`UNKNOWN`], with which every option is sent
//! unchanged, so a new model works without a row. `docs/vendors.md` shows the table.
//!
//! Each row has its source and the date when it was read. Nothing fails.

mod claude;
mod date;
mod gpt;
pub mod options;
mod others;

pub use date::Date;

/// What is known of a family of models.
#[derive(Debug)]
pub struct Row {
    /// The names of its models, with `-` for `.`. A name matches complete words within an id, with a date, a suffix
    /// or a prefix around it, but without a further version: `gpt-5` does not match `gpt-5.5`. A `*` matches any
    /// ending.
    pub names: &'static [&'static str],
    /// The protocols to which the row applies.
    pub protocols: &'static [&'static str],
    /// The vendors to which it applies, like [`crate::engine::model::config::ModelConfig::vendor`]. Empty for all.
    pub vendors: &'static [&'static str],
    /// Where the row was read, and the day.
    pub source: &'static str,
    /// The most tokens of a request with its answer.
    pub window: Option<u32>,
    /// The most tokens of an answer, thinking included.
    pub output: Option<u32>,
    /// The tokens of an answer without thinking where the protocol demands a number and the configuration has none.
    pub usual_output: u32,
    pub thinking: Thinking,
    /// The efforts that the model takes, from the lowest to the highest; empty if it refuses the option. `None` if
    /// that is not known: it gets any.
    pub efforts: Option<&'static [&'static str]>,
    /// The effort of a request that names none; empty if that is not known.
    pub default_effort: &'static str,
    /// False if Chat Completions of OpenAI and Azure refuses an effort next to tools.
    pub effort_with_tools: bool,
    pub sampling: Sampling,
    /// False if a tool choice that forces a call is refused.
    pub forced_calls: bool,
    /// True if the model is known to continue an answer that starts in the request.
    pub prefill: bool,
    /// True if the vendor compares what precedes reasoning, and drops or refuses reasoning if that has changed.
    pub compares: bool,
    /// The models with reasoning that it reads, itself included; empty if that is not known.
    pub reads: &'static [&'static str],
    pub appends: Appends,
    /// True if the vendor has a search for tools with `defer_loading`, in Messages and Responses.
    pub finds_tools: bool,
    /// The vendors that summarise a conversation on demand for it, and sign or encrypt the summary.
    pub summaries: &'static [&'static str],
    /// The vendors that can hide the calls and results of old answers from it.
    pub clears: &'static [&'static str],
    /// The date on which the vendor retires the model on its own platform.
    pub ends: Option<Date>,
    /// The vendor that ends it on that day. Other platforms have other days.
    pub home: &'static str,
}

impl Row {
    /// True if the model is known to read the reasoning of this other one.
    pub fn is_known_to_read(&self, author: &str) -> bool {
        let id = author.replace('.', "-");
        self.reads.iter().any(|name| is_named(&id, name))
    }

    /// True if a request includes the reasoning of this other model of the vendor. Claude gets all of it: if the
    /// model cannot read some of it, the vendor leaves it out without an error, counts it as preceding the next
    /// reasoning, and may use it again later.
    /// <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking> (2026-11-28)
    pub fn is_sent_reasoning_of(&self, author: &str) -> bool {
        const CLAUDE: &str = "claude";
        let is_claude = self.reads.iter().any(|name| name.starts_with(CLAUDE));
        self.is_known_to_read(author) || (is_claude && author.contains(CLAUDE))
    }
}

/// How a model thinks.
#[derive(Clone, Copy, Debug)]
pub struct Thinking {
    /// What a request without `thinking` gets.
    pub unset: Unset,
    /// The kinds that it takes; empty if that is not known. `enabled` needs a budget of tokens, `adaptive` leaves the
    /// amount to the model, `between_tools` thinks only between calls.
    pub kinds: &'static [&'static str],
    /// Those of them that it refuses together with an effort above `high`.
    pub up_to_high: &'static [&'static str],
    /// True if the text of its thinking is empty unless a request asks for it by `display`.
    pub is_silent: bool,
}

/// Whether a model thinks when a request does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset {
    Unknown,
    Off,
    On,
    /// It cannot be switched off.
    Always,
}

/// When a model refuses `temperature`, `top_p` and `top_k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Never, as far as is known.
    Taken,
    /// If the request has an effort other than `none`.
    RefusedWithEffort,
    /// Unless the effort is `none`.
    Refused,
}

/// What can be changed in the middle of a conversation by a message at its end, without changing the prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Appends {
    /// Instructions: a message with the role `system` (Claude) or `developer` (GPT).
    pub instructions: bool,
    /// Tools: `tool_addition` and `tool_removal` in such a message (Claude), `additional_tools` (GPT, which cannot
    /// remove one).
    pub tools: bool,
    /// The effort: `output_config` of such a message (Claude), `configuration_update` (GPT, also for the format of
    /// answers).
    pub effort: bool,
}

/// The row of a model that is not in the table.
pub const UNKNOWN: Row = Row {
    names: &[],
    protocols: &[],
    vendors: &[],
    source: "",
    window: None,
    output: None,
    usual_output: 8192,
    thinking: Thinking {
        unset: Unset::Unknown,
        kinds: &[],
        up_to_high: &[],
        is_silent: false,
    },
    efforts: None,
    default_effort: "",
    effort_with_tools: true,
    sampling: Sampling::Taken,
    forced_calls: true,
    prefill: false,
    compares: false,
    reads: &[],
    appends: Appends {
        instructions: false,
        tools: false,
        effort: false,
    },
    finds_tools: false,
    summaries: &[],
    clears: &[],
    ends: None,
    home: "",
};

static NO_ROW: Row = UNKNOWN;

/// The table, by vendor of the models.
pub const TABLE: &[(&str, &[Row])] = &[
    ("Anthropic", claude::ROWS),
    ("OpenAI", gpt::ROWS),
    ("Google", others::GEMINI),
    ("Others", others::ROWS),
];

/// The row of a model that is asked in this protocol at this vendor: the one with the longest name that matches, else
/// [`UNKNOWN`].
pub fn row(protocol: &str, vendor: &str, model: &str) -> &'static Row {
    let id = model.replace('.', "-");
    let rows = TABLE.iter().flat_map(|(_, rows)| *rows).filter(|row| {
        row.protocols.contains(&protocol) && (row.vendors.is_empty() || row.vendors.contains(&vendor))
    });
    let named = rows.flat_map(|row| row.names.iter().map(move |name| (*name, row)));
    let named = named.filter(|(name, _)| is_named(&id, name));
    named
        .max_by_key(|(name, _)| name.trim_end_matches('*').len())
        .map_or(&NO_ROW, |(_, row)| row)
}

/// Returns true if an id without dots has this name.
fn is_named(id: &str, name: &str) -> bool {
    let (name, takes_any_end) = match name.strip_suffix('*') {
        Some(name) => (name, true),
        None => (name, false),
    };
    id.match_indices(name).any(|(at, _)| {
        let (before, rest) = id.split_at_checked(at).unwrap_or_default();
        let end = rest.get(name.len()..).unwrap_or_default();
        !before.ends_with(|last: char| last.is_ascii_alphanumeric())
            && (takes_any_end
                || !(end.starts_with(|first: char| first.is_ascii_alphanumeric())
                    || begins_with_version(end)))
    })
}

/// Returns true for `-5` and `-5-20260101`. Dates and builds have more digits: `-20260101`, `-0709`, `-001`.
fn begins_with_version(end: &str) -> bool {
    let Some(end) = end.strip_prefix('-') else {
        return false;
    };
    let digits = end.len() - end.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    let next = end.get(digits..).unwrap_or_default();
    matches!(digits, 1 | 2) && !next.starts_with(|next: char| next.is_ascii_alphanumeric())
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
