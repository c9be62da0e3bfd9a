//! The models of Google, and of the vendors that speak Chat Completions or Converse.
//!
//! - Windows, answers and efforts, and Gemini's budgets: data of `@earendil-works/pi-ai` 1.6.0 (2026-11-20).
//! - Gemini's prefill: `Requests ending with a model turn are not supported`,
//!   <https://github.com/pipecat-ai/pipecat/pull/5821>, <https://github.com/LibreChat-AI/agents/pull/323> (2026-11-23).
//! - Models before Gemini 3: "If you use the thinking_level parameter with a model earlier than Gemini 3, the model
//!   returns an error." <https://cloud.google.com/vertex-ai/generative-ai/docs/thinking> (2026-11-23).

use super::{Date, Row, Thinking, UNKNOWN};

const DATA: &str = "https://www.npmjs.com/package/@earendil-works/pi-ai 1.6.0 2026-11-20";
const ENDS: &str = "https://ai.google.dev/gemini-api/docs/deprecations 2026-11-29";

const MINIMAL_TO_HIGH: &[&str] = &["minimal", "low", "medium", "high"];
const LOW_TO_XHIGH: &[&str] = &["low", "medium", "high", "xhigh"];
const LOW_TO_HIGH: &[&str] = &["low", "medium", "high"];

const GEMINI_3: Row = Row {
    protocols: &["gemini"],
    source: DATA,
    window: Some(1_048_576),
    output: Some(65_536),
    home: "google",
    ..UNKNOWN
};

/// A level of thinking, but no budget.
const LEVELS: Thinking = Thinking {
    kinds: &["adaptive"],
    ..UNKNOWN.thinking
};

const GEMINI_2: Row = Row {
    protocols: &["gemini"],
    source: "https://cloud.google.com/vertex-ai/generative-ai/docs/thinking 2026-11-23",
    efforts: Some(&[]),
    prefill: true,
    home: "google",
    ..UNKNOWN
};

pub const GEMINI: &[Row] = &[
    Row {
        names: &["gemini-4-neon", "gemini-4-hydrogen"],
        efforts: Some(LOW_TO_XHIGH),
        ..GEMINI_3
    },
    Row {
        names: &["gemini-4-argon", "gemini-4-carbon"],
        output: Some(32_768),
        thinking: LEVELS,
        efforts: Some(LOW_TO_HIGH),
        ..GEMINI_3
    },
    Row {
        names: &["gemini-3-8-flash", "gemini-3-7-flash"],
        thinking: LEVELS,
        efforts: Some(LOW_TO_HIGH),
        ..GEMINI_3
    },
    Row {
        names: &["gemini-3-6-flash", "gemini-3-5-flash"],
        efforts: Some(MINIMAL_TO_HIGH),
        ..GEMINI_3
    },
    Row {
        names: &["gemini-3", "gemini-3-1"],
        prefill: true,
        ..GEMINI_3
    },
    Row {
        names: &["gemini-3-1-flash-lite"],
        source: ENDS,
        prefill: true,
        ends: Some(Date(2027, 5, 7)),
        ..GEMINI_3
    },
    // The date applies to the Gemini API, not to Vertex AI.
    Row {
        names: &["gemini-2-5-pro", "gemini-2-5-flash"],
        source: ENDS,
        window: GEMINI_3.window,
        output: GEMINI_3.output,
        ends: Some(Date(2026, 12, 1)),
        ..GEMINI_2
    },
    Row {
        names: &["gemini-2-5-flash-lite"],
        window: GEMINI_3.window,
        output: GEMINI_3.output,
        ..GEMINI_2
    },
    Row {
        names: &["gemini-2*"],
        ..GEMINI_2
    },
    Row {
        names: &["gemini-1*"],
        prefill: false,
        ..GEMINI_2
    },
];

/// A model of a vendor that speaks Chat Completions.
const CHAT: Row = Row {
    protocols: &["openai_chat"],
    source: DATA,
    ..UNKNOWN
};

/// Models that refuse an effort.
const WITHOUT_EFFORT: Row = Row {
    efforts: Some(&[]),
    ..CHAT
};

const GROK: Row = Row {
    protocols: &["openai_chat", "openai_responses"],
    vendors: &["xai"],
    window: Some(500_000),
    efforts: Some(LOW_TO_XHIGH),
    ..CHAT
};

const DEEPSEEK: Row = Row {
    vendors: &["deepseek"],
    window: Some(1_000_000),
    output: Some(384_000),
    ..CHAT
};

const GLM: Row = Row {
    vendors: &["zai"],
    window: Some(1_000_000),
    output: Some(131_072),
    ..CHAT
};

const LOW_HIGH_MAX: &[&str] = &["low", "high", "max"];

pub const ROWS: &[Row] = &[
    Row {
        names: &["grok-4-7", "grok-4-6", "grok-4-5"],
        ..GROK
    },
    Row {
        names: &["grok-4-3"],
        window: Some(1_000_000),
        efforts: Some(&["none", "low", "medium", "high", "xhigh"]),
        ..GROK
    },
    Row {
        names: &["grok-2", "grok-3", "grok-4", "grok-4-1", "grok-4-20", "grok-code"],
        vendors: &["xai"],
        source: "https://github.com/vercel/ai/releases/tag/@ai-sdk%2Fxai@4.0.8 2026-11-23",
        ..WITHOUT_EFFORT
    },
    Row {
        names: &["grok-3-mini", "grok-4-20-multi-agent"],
        vendors: &["xai"],
        source: "https://github.com/vercel/ai/releases/tag/@ai-sdk%2Fxai@4.0.8 2026-11-23",
        ..CHAT
    },
    Row {
        names: &["mistral-large-4"],
        vendors: &["mistral"],
        window: Some(1_048_576),
        output: Some(262_144),
        efforts: Some(LOW_TO_HIGH),
        ..CHAT
    },
    Row {
        names: &["mistral-medium-2604", "mistral-small-2603"],
        vendors: &["mistral"],
        window: Some(262_144),
        efforts: Some(&["none", "high"]),
        ..CHAT
    },
    // Status 422. Reports about Magistral and about `-latest` of the other sizes differ:
    // https://github.com/anomalyco/models.dev/pull/1986
    Row {
        names: &[
            "mistral-large",
            "codestral",
            "devstral",
            "ministral",
            "pixtral",
            "open-mi*",
        ],
        vendors: &["mistral"],
        source: "https://github.com/NousResearch/hermes-agent/issues/11243 2026-11-23",
        ..WITHOUT_EFFORT
    },
    Row {
        names: &["gpt-oss-120b", "gpt-oss-20b"],
        vendors: &["groq"],
        window: Some(131_072),
        output: Some(65_536),
        efforts: Some(LOW_TO_HIGH),
        ..CHAT
    },
    Row {
        names: &["llama*"],
        vendors: &["groq", "cerebras"],
        source: "https://github.com/diegosouzapw/OmniRoute/pull/3277 2026-11-23",
        ..WITHOUT_EFFORT
    },
    Row {
        names: &["deepseek-flash", "deepseek-v4-flash"],
        efforts: Some(LOW_HIGH_MAX),
        ..DEEPSEEK
    },
    Row {
        names: &["deepseek-v4-pro"],
        efforts: Some(&["high", "max"]),
        ..DEEPSEEK
    },
    Row {
        names: &["glm-5-3"],
        efforts: Some(LOW_HIGH_MAX),
        ..GLM
    },
    Row {
        names: &["glm-5-2"],
        efforts: Some(&["none", "low", "high", "max"]),
        ..GLM
    },
    Row {
        names: &["kimi-k3", "kimi-k3-1-pro"],
        vendors: &["moonshot"],
        window: Some(1_048_576),
        efforts: Some(LOW_HIGH_MAX),
        ..CHAT
    },
    Row {
        names: &["kimi-k2-7-code"],
        vendors: &["moonshot"],
        window: Some(262_144),
        ..CHAT
    },
    Row {
        names: &["kimi-k2-6"],
        vendors: &["moonshot"],
        window: Some(262_144),
        ..WITHOUT_EFFORT
    },
    // Nova of the first generation. The others do not reason.
    Row {
        names: &[
            "nova-micro-v1",
            "nova-lite-v1",
            "nova-pro-v1",
            "nova-premier-v1",
            "amazon-titan-*",
            "meta-llama*",
            "mistral-mistral-*",
            "mistral-mixtral-*",
            "mistral-pixtral-*",
            "cohere-command-*",
            "ai21-jamba-*",
        ],
        protocols: &["bedrock_converse"],
        source: "https://github.com/UKGovernmentBEIS/inspect_ai/issues/5301 2026-11-23",
        ..WITHOUT_EFFORT
    },
];
