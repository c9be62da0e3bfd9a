//! The models of OpenAI.
//!
//! - Windows, answers, efforts and sampling: data of `@earendil-works/pi-ai` 1.6.0 (2026-11-20). It keeps OpenAI's
//!   models below their dearer tier, so the windows are those that it has for Azure.
//! - The models that do not reason: <https://platform.openai.com/docs/guides/reasoning> (2026-11-23).
//! - An effort next to tools: `Function tools with reasoning_effort are not supported for … in /v1/chat/completions`.
//! - Reasoning and changes at the end: <https://developers.openai.com/api/docs/guides/keep-prefix-unchanged>
//!   (2026-11-28).
//! - Summaries: <https://developers.openai.com/api/docs/guides/compaction> (2026-11-29), and for Azure
//!   <https://learn.microsoft.com/en-us/azure/foundry/reference/rest/compactconversation> (2026-11-29).
//! - Search for tools: <https://developers.openai.com/api/docs/guides/tools-tool-search> (2026-11-28).
//! - Ends: <https://developers.openai.com/api/docs/deprecations> (2026-11-29), and what the types of the package
//!   `openai` 7.59.0 say of each id.

use super::{Appends, Date, Row, Sampling, UNKNOWN};

const DATA: &str = "https://www.npmjs.com/package/@earendil-works/pi-ai 1.6.0 2026-11-20";
const ENDS: &str = "https://developers.openai.com/api/docs/deprecations 2026-11-29";

const SDK: &str = "https://www.npmjs.com/package/openai 7.59.0 2026-11-29";

const NONE_TO_MAX: &[&str] = &["none", "low", "medium", "high", "xhigh", "max"];
const NONE_TO_XHIGH: &[&str] = &["none", "low", "medium", "high", "xhigh"];
const LOW_TO_MAX: &[&str] = &["low", "medium", "high", "xhigh", "max"];

const ADDED_TOOLS: Appends = Appends {
    instructions: true,
    tools: true,
    effort: false,
};
const ALL: Appends = Appends {
    effort: true,
    ..ADDED_TOOLS
};

const REASONING: Row = Row {
    protocols: &["openai_responses", "openai_chat"],
    source: DATA,
    window: Some(1_050_000),
    output: Some(128_000),
    efforts: Some(NONE_TO_XHIGH),
    effort_with_tools: false,
    sampling: Sampling::RefusedWithEffort,
    summaries: &["openai", "azure"],
    home: "openai",
    ..UNKNOWN
};

const CURRENT: Row = Row {
    efforts: Some(NONE_TO_MAX),
    sampling: Sampling::Refused,
    appends: ALL,
    finds_tools: true,
    ..REASONING
};

/// A small model, which reads less than the others.
const SMALL: Row = Row {
    window: Some(400_000),
    ..REASONING
};

/// A row with nothing but the length of requests and the end of its models.
const OLDER: Row = Row {
    protocols: REASONING.protocols,
    source: ENDS,
    window: Some(400_000),
    output: Some(128_000),
    home: "openai",
    ..UNKNOWN
};

/// A model of the series `o`.
const O: Row = Row {
    source: DATA,
    window: Some(200_000),
    output: Some(100_000),
    ..OLDER
};

/// Models that refuse an effort at OpenAI, and where a deployment has the model's name.
/// <https://github.com/musistudio/claude-code-router/issues/724> (2026-11-23)
const WITHOUT_EFFORT: Row = Row {
    vendors: &["openai", "azure", "github-models"],
    source: "https://platform.openai.com/docs/guides/reasoning 2026-11-23",
    window: None,
    output: None,
    efforts: Some(&[]),
    ..OLDER
};

const GPT_4_1: Row = Row {
    window: Some(1_047_576),
    output: Some(32_768),
    ..WITHOUT_EFFORT
};

pub const ROWS: &[Row] = &[
    Row {
        names: &["gpt-6-2*"],
        efforts: Some(LOW_TO_MAX),
        compares: true,
        // But for that of a larger one. What earlier models were tied to is different.
        reads: &["gpt-6-2*"],
        ..CURRENT
    },
    Row {
        names: &["gpt-6-astra", "gpt-6-1-sol"],
        efforts: Some(LOW_TO_MAX),
        ..CURRENT
    },
    Row {
        names: &["gpt-6*", "gpt-6-1*"],
        ..CURRENT
    },
    Row {
        names: &["gpt-5-6"],
        efforts: Some(NONE_TO_MAX),
        appends: ADDED_TOOLS,
        finds_tools: true,
        ..REASONING
    },
    Row {
        names: &["gpt-5-6-cyber"],
        window: Some(400_000),
        efforts: Some(NONE_TO_MAX),
        appends: ADDED_TOOLS,
        finds_tools: true,
        ..REASONING
    },
    Row {
        names: &["gpt-daybreak-red"],
        source: DATA,
        ..OLDER
    },
    Row {
        names: &["gpt-daybreak-blue"],
        source: DATA,
        window: REASONING.window,
        ..OLDER
    },
    Row {
        names: &["gpt-5-5", "gpt-5-4"],
        ..REASONING
    },
    Row {
        names: &["gpt-5-4-mini"],
        ..SMALL
    },
    Row {
        names: &["gpt-5-4-nano"],
        ends: Some(Date(2027, 4, 1)),
        ..SMALL
    },
    Row {
        names: &["gpt-5-3-codex", "gpt-5-1"],
        ends: Some(Date(2027, 4, 1)),
        ..OLDER
    },
    Row {
        names: &["gpt-5-3-codex-spark"],
        window: Some(128_000),
        output: Some(32_000),
        ends: Some(Date(2027, 4, 1)),
        ..OLDER
    },
    Row {
        names: &["gpt-5-2"],
        source: DATA,
        ..OLDER
    },
    Row {
        names: &["gpt-5"],
        ends: Some(Date(2026, 12, 11)),
        ..OLDER
    },
    Row {
        names: &["o3"],
        source: ENDS,
        ends: Some(Date(2026, 12, 11)),
        ..O
    },
    Row {
        names: &["o1-pro", "o3-pro"],
        ..O
    },
    Row {
        names: &["o1", "o3-mini", "o4-mini"],
        source: SDK,
        ends: Some(Date(2026, 10, 23)),
        ..O
    },
    Row {
        names: &["gpt-5-1-codex", "gpt-5-1-chat"],
        source: SDK,
        ends: Some(Date(2026, 7, 23)),
        ..OLDER
    },
    Row {
        names: &["gpt-5-1-codex-max"],
        source: DATA,
        ..OLDER
    },
    Row {
        names: &["gpt-5-2-chat", "gpt-5-3-chat"],
        source: SDK,
        window: None,
        output: None,
        ends: Some(Date(2026, 8, 10)),
        ..OLDER
    },
    Row {
        names: &["o1-mini", "o1-preview", "gpt-3-5*", "gpt-4*"],
        ..WITHOUT_EFFORT
    },
    Row {
        names: &["gpt-3-5-turbo", "gpt-4"],
        source: SDK,
        ends: Some(Date(2026, 10, 23)),
        ..WITHOUT_EFFORT
    },
    Row {
        names: &["gpt-5-chat"],
        source: SDK,
        window: Some(128_000),
        output: Some(16_384),
        ends: Some(Date(2026, 7, 23)),
        ..WITHOUT_EFFORT
    },
    Row {
        names: &["gpt-4o"],
        source: ENDS,
        window: Some(128_000),
        output: Some(16_384),
        ends: Some(Date(2027, 1, 14)),
        ..WITHOUT_EFFORT
    },
    Row {
        names: &["gpt-4-1"],
        source: ENDS,
        ends: Some(Date(2027, 1, 14)),
        ..GPT_4_1
    },
    Row {
        names: &["gpt-4-1-nano"],
        source: SDK,
        ends: Some(Date(2026, 10, 23)),
        ..GPT_4_1
    },
    // OpenRouter drops the field without a word. It translates the effort for models of Claude.
    Row {
        names: &["gpt-3-5*", "gpt-4*", "gpt-5-chat", "llama-*"],
        protocols: &["openai_chat"],
        vendors: &["openrouter"],
        source: "https://github.com/AAswordman/Operit/issues/1048 2026-11-23",
        ..WITHOUT_EFFORT
    },
];
