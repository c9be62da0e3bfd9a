//! The models of Anthropic.
//!
//! - Thinking, sampling and forced calls:
//!   <https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting>, and the pages `whats-new` of the
//!   models there (2026-11-28). Sampling of any value is refused, though some models take the default one.
//! - Efforts: <https://platform.claude.com/docs/en/build-with-claude/effort> (2026-11-29).
//! - Reasoning: <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking> (2026-11-28).
//! - Changes at the end:
//!   <https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages> (2026-11-28).
//! - Search for tools: <https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool> (2026-11-28).
//! - Summaries: <https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand> (2026-09-30).
//! - Clearing of results: <https://platform.claude.com/docs/en/build-with-claude/context-editing> (2026-11-29). It names
//!   Amazon Bedrock with InvokeModel, and says nothing of Converse.
//! - Prefill: <https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-6#prefill-removal>,
//!   <https://platform.claude.com/docs/en/models/haiku-5-5/migration-guide> (2026-11-23).
//! - Ends: <https://platform.claude.com/docs/en/about-claude/model-deprecations> (2026-11-29).

use super::{Appends, Date, Row, Sampling, Thinking, UNKNOWN, Unset};

const PAGES: &str =
    "https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting 2026-11-28";
const ENDS: &str = "https://platform.claude.com/docs/en/about-claude/model-deprecations 2026-11-29";

const LOW_TO_HIGH: &[&str] = &["low", "medium", "high"];
const LOW_TO_MAX: &[&str] = &["low", "medium", "high", "xhigh", "max"];

const ALL: Appends = Appends {
    instructions: true,
    tools: true,
    effort: true,
};
const ALL_BUT_EFFORT: Appends = Appends { effort: false, ..ALL };

/// Amazon Bedrock has no summaries. Other platforms of Claude are reached by a base URL.
const SUMMARIES: &[&str] = &["anthropic"];
const CLEARS: &[&str] = SUMMARIES;

const FABLE_5_1_READS: &[&str] = &[
    "claude-fable-5-1",
    "claude-mythos-5-1",
    "claude-fable-5",
    "claude-mythos-5",
    "claude-opus-5-5",
    "claude-haiku-5-5",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-opus-4*",
    "claude-sonnet-4*",
    "claude-haiku-4*",
];
const FABLE_5_2_READS: &[&str] = &["claude-fable-5-2", "claude-mythos-5-2", "claude-haiku-5-5"];
const OPUS_5_5_READS: &[&str] = &[
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-opus-4*",
    "claude-sonnet-4*",
    "claude-haiku-4*",
];
const SONNET_5_5_READS: &[&str] = &[
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-sonnet-5",
    "claude-opus-4*",
    "claude-sonnet-4*",
    "claude-haiku-4*",
];

/// A model that thinks only when it is asked to, with a budget.
const FIRST: Row = Row {
    protocols: &["anthropic", "bedrock_converse"],
    source: PAGES,
    window: Some(200_000),
    thinking: Thinking {
        unset: Unset::Off,
        kinds: &["enabled", "disabled"],
        ..UNKNOWN.thinking
    },
    efforts: Some(&[]),
    prefill: true,
    home: "anthropic",
    ..UNKNOWN
};

/// A model that decides how much it thinks.
const CURRENT: Row = Row {
    window: Some(1_000_000),
    output: Some(128_000),
    usual_output: 32_000,
    thinking: Thinking {
        unset: Unset::Always,
        kinds: &["adaptive"],
        up_to_high: &[],
        is_silent: true,
    },
    efforts: Some(LOW_TO_MAX),
    default_effort: "high",
    sampling: Sampling::Refused,
    prefill: false,
    finds_tools: true,
    summaries: SUMMARIES,
    clears: CLEARS,
    ..FIRST
};

/// A current model whose thinking can be disabled.
const FREE: Row = Row {
    thinking: Thinking {
        unset: Unset::Off,
        kinds: &["adaptive", "disabled"],
        ..CURRENT.thinking
    },
    ..CURRENT
};

const FREE_UP_TO_HIGH: Thinking = Thinking {
    unset: Unset::On,
    up_to_high: &["disabled"],
    ..FREE.thinking
};

pub const ROWS: &[Row] = &[
    Row {
        names: &["claude-fable-5-2", "claude-mythos-5-2"],
        forced_calls: false,
        compares: true,
        reads: FABLE_5_2_READS,
        appends: ALL,
        ..CURRENT
    },
    Row {
        names: &["claude-fable-5-1", "claude-mythos-5-1"],
        forced_calls: false,
        compares: true,
        reads: FABLE_5_1_READS,
        appends: ALL,
        ..CURRENT
    },
    Row {
        names: &["claude-mythos-5*"],
        forced_calls: false,
        appends: ALL_BUT_EFFORT,
        ..CURRENT
    },
    Row {
        names: &["claude-fable-5*"],
        appends: ALL_BUT_EFFORT,
        ..CURRENT
    },
    Row {
        names: &["claude-opus-5-5"],
        default_effort: "medium",
        forced_calls: false,
        compares: true,
        reads: OPUS_5_5_READS,
        appends: ALL,
        ..CURRENT
    },
    Row {
        names: &["claude-sonnet-5-5"],
        thinking: Thinking {
            unset: Unset::On,
            kinds: &["adaptive", "between_tools"],
            up_to_high: &["between_tools"],
            ..CURRENT.thinking
        },
        forced_calls: false,
        compares: true,
        reads: SONNET_5_5_READS,
        appends: ALL,
        ..CURRENT
    },
    Row {
        names: &["claude-haiku-5-5"],
        thinking: FREE_UP_TO_HIGH,
        default_effort: "medium",
        compares: true,
        reads: &["claude-haiku-5-5"],
        appends: ALL,
        summaries: &[],
        ..CURRENT
    },
    Row {
        names: &["claude-opus-5*"],
        thinking: FREE_UP_TO_HIGH,
        appends: ALL,
        ..CURRENT
    },
    Row {
        names: &["claude-sonnet-5*"],
        thinking: Thinking {
            unset: Unset::On,
            ..FREE.thinking
        },
        ..FREE
    },
    Row {
        names: &["claude-haiku-5*"],
        thinking: Thinking {
            unset: Unset::On,
            ..FREE.thinking
        },
        summaries: &[],
        ..FREE
    },
    Row {
        names: &["claude-opus-4-8"],
        appends: ALL_BUT_EFFORT,
        ..FREE
    },
    Row {
        names: &["claude-opus-4-7"],
        ..FREE
    },
    Row {
        names: &["claude-opus-4-6", "claude-sonnet-4-6"],
        window: Some(1_000_000),
        output: Some(128_000),
        thinking: Thinking {
            kinds: &["adaptive", "enabled", "disabled"],
            ..FIRST.thinking
        },
        efforts: Some(&["low", "medium", "high", "max"]),
        default_effort: "high",
        finds_tools: true,
        summaries: SUMMARIES,
        clears: CLEARS,
        prefill: false,
        ..FIRST
    },
    Row {
        names: &["claude-opus-4-5"],
        output: Some(64_000),
        efforts: Some(LOW_TO_HIGH),
        default_effort: "high",
        ends: Some(Date(2027, 1, 22)),
        finds_tools: true,
        clears: CLEARS,
        ..FIRST
    },
    Row {
        names: &["claude-sonnet-4-5"],
        output: Some(64_000),
        ends: Some(Date(2026, 11, 30)),
        finds_tools: true,
        clears: CLEARS,
        ..FIRST
    },
    Row {
        names: &["claude-haiku-4-5"],
        output: Some(64_000),
        finds_tools: true,
        clears: CLEARS,
        ..FIRST
    },
    Row {
        names: &["claude-opus-4-1"],
        source: ENDS,
        ends: Some(Date(2026, 8, 5)),
        ..FIRST
    },
    Row {
        names: &[
            "claude-opus-4",
            "claude-opus-4-0",
            "claude-sonnet-4",
            "claude-sonnet-4-0",
        ],
        source: ENDS,
        ends: Some(Date(2026, 6, 15)),
        ..FIRST
    },
    Row {
        names: &["claude-3*"],
        source: ENDS,
        ..FIRST
    },
    Row {
        names: &["claude-2*"],
        source: ENDS,
        prefill: false,
        ..FIRST
    },
];
