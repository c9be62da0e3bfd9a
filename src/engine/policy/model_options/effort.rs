//! The models that refuse the option `effort`.
//!
//! Vendors answer a request with status 400 if its model does not take the field. The table names the models of which
//! that is known. A model that it does not name gets the effort that was asked for, so a new model works without an
//! entry here.

use crate::engine::model::config::ModelConfig;

/// Models of one vendor in one protocol that refuse an effort.
struct Refusing {
    protocol: &'static str,
    /// Empty for every vendor.
    vendor: &'static str,
    /// Parts of the models' names. A `$` after a part stands for the end of the name.
    names: &'static [&'static str],
}

const REFUSING: &[Refusing] = &[
    Refusing {
        protocol: "anthropic",
        vendor: "",
        names: CLAUDE,
    },
    Refusing {
        protocol: "bedrock_converse",
        vendor: "",
        names: CLAUDE,
    },
    // Nova of the first generation: https://github.com/UKGovernmentBEIS/inspect_ai/issues/5301 2026-11-23. The others
    // do not reason.
    Refusing {
        protocol: "bedrock_converse",
        vendor: "",
        names: &[
            "nova-micro-v1",
            "nova-lite-v1",
            "nova-pro-v1",
            "nova-premier-v1",
            "amazon.titan-",
            "meta.llama",
            "mistral.mistral-",
            "mistral.mixtral-",
            "mistral.pixtral-",
            "cohere.command-",
            "ai21.jamba-",
        ],
    },
    // "If you use the thinking_level parameter with a model earlier than Gemini 3, the model returns an error."
    // https://cloud.google.com/vertex-ai/generative-ai/docs/thinking 2026-11-23
    Refusing {
        protocol: "gemini",
        vendor: "",
        names: &["gemini-1.", "gemini-2."],
    },
    Refusing {
        protocol: "openai_chat",
        vendor: "openai",
        names: GPT,
    },
    Refusing {
        protocol: "openai_responses",
        vendor: "openai",
        names: GPT,
    },
    // Azure names deployments; a deployment that has a model's name most likely has this model.
    // https://github.com/musistudio/claude-code-router/issues/724 2026-11-23
    Refusing {
        protocol: "openai_chat",
        vendor: "azure",
        names: GPT,
    },
    Refusing {
        protocol: "openai_responses",
        vendor: "azure",
        names: GPT,
    },
    Refusing {
        protocol: "openai_chat",
        vendor: "github-models",
        names: GPT,
    },
    // OpenRouter drops the field without a word. It translates the effort for models of Claude.
    // https://github.com/AAswordman/Operit/issues/1048 2026-11-23
    Refusing {
        protocol: "openai_chat",
        vendor: "openrouter",
        names: &[
            "openai/gpt-3.5",
            "openai/gpt-4",
            "openai/gpt-5-chat",
            "meta-llama/llama-",
        ],
    },
    // https://github.com/diegosouzapw/OmniRoute/pull/3277 and
    // https://github.com/brendanlong/lion-reader/pull/1325 2026-11-23
    Refusing {
        protocol: "openai_chat",
        vendor: "groq",
        names: LLAMA,
    },
    Refusing {
        protocol: "openai_chat",
        vendor: "cerebras",
        names: LLAMA,
    },
    // Status 422: https://github.com/NousResearch/hermes-agent/issues/11243 2026-11-23. Reports about Magistral and
    // about `-latest` of the other sizes differ: https://github.com/anomalyco/models.dev/pull/1986
    Refusing {
        protocol: "openai_chat",
        vendor: "mistral",
        names: &[
            "mistral-large",
            "codestral",
            "devstral",
            "ministral",
            "pixtral",
            "open-mi",
        ],
    },
    // https://github.com/vercel/ai/releases/tag/@ai-sdk%2Fxai@4.0.8 and
    // https://github.com/tetsuo-ai/agenc-core/pull/416 2026-11-23
    Refusing {
        protocol: "openai_chat",
        vendor: "xai",
        names: &[
            "grok-2",
            "grok-3$",
            "grok-3-beta",
            "grok-3-fast",
            "grok-3-latest",
            "grok-4$",
            "grok-4-",
            "grok-4.20$",
            "grok-code-",
            "grok-4.20-0309-",
            "grok-4.20-reasoning",
            "grok-4.20-non-reasoning",
        ],
    },
];

/// The models before Opus 4.5 and Sonnet 4.6, and Haiku 4.5. A name ends in its date; Vertex AI writes `@` before it.
/// <https://platform.claude.com/docs/en/build-with-claude/effort> 2026-11-23
const CLAUDE: &[&str] = &[
    "claude-2",
    "claude-3",
    "claude-haiku-4-5",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2",
    "claude-sonnet-4@",
    "claude-sonnet-4-5",
    "claude-opus-4-0",
    "claude-opus-4-2",
    "claude-opus-4@",
    "claude-opus-4-1",
];

/// The models that do not reason, and the first ones that did.
/// <https://platform.openai.com/docs/guides/reasoning> 2026-11-23
const GPT: &[&str] = &["gpt-3.5", "gpt-4", "gpt-5-chat", "o1-mini", "o1-preview"];

const LLAMA: &[&str] = &["llama"];

/// Returns false if the vendor is known to refuse an effort for this model.
pub fn takes_effort(protocol: &str, model: &ModelConfig) -> bool {
    let refuses = |row: &Refusing| {
        row.protocol == protocol
            && (row.vendor.is_empty() || row.vendor == model.vendor)
            && row.names.iter().any(|name| is_part(name, &model.model))
    };
    !REFUSING.iter().any(refuses)
}

fn is_part(part: &str, name: &str) -> bool {
    match part.strip_suffix('$') {
        Some(end) => name.ends_with(end),
        None => name.contains(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effort_goes_to_every_model_that_is_not_known_to_refuse_it() {
        for (protocol, vendor, name, takes) in [
            ("anthropic", "anthropic", "claude-haiku-4-5-20251001", false),
            ("anthropic", "anthropic", "claude-3-7-sonnet-latest", false),
            ("anthropic", "anthropic", "claude-sonnet-4-20250514", false),
            ("anthropic", "vertex", "claude-opus-4@20250514", false),
            ("anthropic", "anthropic", "claude-sonnet-4-5", false),
            ("anthropic", "anthropic", "claude-opus-4-1", false),
            ("anthropic", "anthropic", "claude-opus-4-5-20251101", true),
            ("anthropic", "anthropic", "claude-sonnet-4-6", true),
            ("anthropic", "anthropic", "claude-haiku-5", true),
            (
                "bedrock_converse",
                "bedrock",
                "us.anthropic.claude-haiku-4-5-20251001-v1:0",
                false,
            ),
            ("bedrock_converse", "bedrock", "amazon.nova-2-lite-v1:0", true),
            ("bedrock_converse", "bedrock", "us.amazon.nova-pro-v1:0", false),
            (
                "bedrock_converse",
                "bedrock",
                "us.meta.llama4-scout-17b-instruct-v1:0",
                false,
            ),
            (
                "bedrock_converse",
                "bedrock",
                "mistral.mistral-large-2407-v1:0",
                false,
            ),
            ("bedrock_converse", "bedrock", "openai.gpt-oss-120b-1:0", true),
            ("gemini", "google", "gemini-2.5-flash", false),
            ("gemini", "google", "gemini-3-pro-preview", true),
            ("gemini", "google", "gemini-flash-latest", true),
            ("openai_chat", "openai", "gpt-4o", false),
            ("openai_responses", "openai", "ft:gpt-4.1-mini:me", false),
            ("openai_responses", "openai", "gpt-5-chat-latest", false),
            ("openai_responses", "openai", "gpt-5.1", true),
            ("openai_chat", "openai", "o3-mini", true),
            ("openai_chat", "openrouter", "openai/gpt-4o", false),
            ("openai_chat", "openrouter", "openai/gpt-5.1", true),
            ("openai_chat", "openrouter", "anthropic/claude-haiku-4.5", true),
            ("openai_chat", "azure", "gpt-4o", false),
            ("openai_responses", "azure", "gpt-4.1-mini", false),
            ("openai_chat", "azure", "our-deployment", true),
            ("openai_chat", "github-models", "openai/gpt-4o", false),
            ("openai_chat", "groq", "llama-3.3-70b-versatile", false),
            ("openai_chat", "groq", "openai/gpt-oss-120b", true),
            ("openai_chat", "groq", "qwen/qwen3-32b", true),
            ("openai_chat", "cerebras", "llama3.1-8b", false),
            ("openai_chat", "cerebras", "gpt-oss-120b", true),
            ("openai_chat", "mistral", "mistral-large-latest", false),
            ("openai_chat", "mistral", "mistral-small-latest", true),
            ("openai_chat", "xai", "grok-4", false),
            ("openai_chat", "xai", "grok-4-0709", false),
            ("openai_chat", "xai", "grok-3", false),
            ("openai_chat", "xai", "grok-3-mini", true),
            ("openai_chat", "xai", "grok-4.20-multi-agent", true),
            ("openai_chat", "compatible", "llama-3.3-70b", true),
            ("openai_chat", "xai", "grok-4.20-reasoning", false),
            ("openai_chat", "xai", "grok-4.3", true),
            ("ndjson", "custom", "gpt-4o", true),
        ] {
            let model = ModelConfig {
                vendor: vendor.into(),
                model: name.into(),
                ..ModelConfig::default()
            };
            assert_eq!(takes_effort(protocol, &model), takes, "{name}");
        }
    }
}
