use super::options::{Asked, default_output_tokens, takes_effort};
use super::*;
use crate::engine::model::config::ModelConfig;
use crate::engine::model::json;

fn model(given: &str) -> ModelConfig {
    json::read("model", given).unwrap()
}

#[test]
fn a_model_has_one_row_by_each_of_its_ids() {
    for (protocol, id, name) in [
        ("anthropic", "claude-opus-5-5", "claude-opus-5-5"),
        ("anthropic", "claude-opus-5.5", "claude-opus-5-5"),
        ("anthropic", "anthropic/claude-opus-5.5:beta", "claude-opus-5-5"),
        ("anthropic", "claude-opus-5-5-20260901", "claude-opus-5-5"),
        ("anthropic", "claude-opus-5-5@20260901", "claude-opus-5-5"),
        ("anthropic", "claude-opus-5-7", "claude-opus-5*"),
        ("anthropic", "claude-opus-5", "claude-opus-5*"),
        ("anthropic", "claude-opus-4-20250514", "claude-opus-4"),
        ("anthropic", "claude-opus-4@20250514", "claude-opus-4"),
        ("anthropic", "claude-opus-4-9", ""),
        ("anthropic", "claude-opus-4-9@20260901", ""),
        ("anthropic", "claude-3-5-sonnet-v2@20241022", "claude-3*"),
        ("anthropic", "a-model-of-tomorrow", ""),
        ("gemini", "claude-opus-5-5", ""),
        (
            "bedrock_converse",
            "us.anthropic.claude-opus-4-5-20251101-v1:0",
            "claude-opus-4-5",
        ),
        (
            "bedrock_converse",
            "arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-haiku-5-5-v1:0",
            "claude-haiku-5-5",
        ),
        ("openai_responses", "gpt-6.2-sol", "gpt-6-2*"),
        ("openai_responses", "gpt-6.1-sol", "gpt-6-astra"),
        ("openai_responses", "gpt-6.1-terra", "gpt-6*"),
        ("openai_responses", "gpt-5-mini-2025-08-07", "gpt-5"),
        ("openai_responses", "gpt-5.2", "gpt-5-2"),
        ("openai_responses", "gpt-5.9", ""),
        ("openai_responses", "gpt-50", ""),
        ("openai_chat", "ft:gpt-4.1-mini:me", "gpt-4-1"),
        ("gemini", "gemini-4-argon-001", "gemini-4-argon"),
        ("gemini", "models/gemini-3-pro-preview", "gemini-3"),
        ("gemini", "gemini-3.1-pro-preview", "gemini-3"),
        ("gemini", "gemini-3.5-flash-lite", "gemini-3-6-flash"),
        ("gemini", "gemini-2.5-flash-preview-05-20", "gemini-2-5-pro"),
        ("gemini", "gemini-2.5-flash-lite", "gemini-2-5-flash-lite"),
        ("gemini", "gemini-2.0-flash", "gemini-2*"),
    ] {
        let first = row(protocol, "openai", id).names.first();
        let known = TABLE.iter().flat_map(|(_, rows)| *rows);
        let row_of = known
            .filter(|row| row.names.contains(&name))
            .find_map(|row| row.names.first());
        assert_eq!(first, row_of, "{id}");
    }
}

#[test]
fn no_two_rows_have_a_name_at_the_same_place() {
    let rows: Vec<&Row> = TABLE.iter().flat_map(|(_, rows)| *rows).collect();
    for (at, row) in rows.iter().enumerate() {
        assert!(!row.names.is_empty() && !row.protocols.is_empty(), "{row:?}");
        assert!(row.source.contains(" 2026-"), "{row:?}");
        assert!(row.names.iter().all(|name| !name.contains('.')), "{row:?}");
        for other in &rows[..at] {
            let shares = |ours: &[&str], theirs: &[&str]| ours.iter().any(|one| theirs.contains(one));
            let same_vendor =
                row.vendors.is_empty() || other.vendors.is_empty() || shares(row.vendors, other.vendors);
            assert!(
                !(same_vendor && shares(row.protocols, other.protocols) && shares(row.names, other.names)),
                "{row:?} and {other:?}"
            );
        }
    }
}

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
        assert_eq!(takes_effort(row(protocol, vendor, name)), takes, "{name}");
    }
}

#[test]
fn an_option_is_left_out_or_replaced_for_the_models_that_refuse_it() {
    for (protocol, given, changed) in [
        (
            "anthropic",
            r#"{"model":"claude-fable-5-2","temperature":0,"topK":5,"toolChoice":"required"}"#,
            "temperature, topK, toolChoice (the model decides whether it calls a tool)",
        ),
        (
            "anthropic",
            r#"{"model":"claude-opus-5.5","thinking":{"budgetTokens":2000},"toolChoice":{"tool":"a"}}"#,
            "thinking ({ type: \"adaptive\" } is sent), toolChoice (the model decides whether it calls a tool)",
        ),
        (
            "anthropic",
            r#"{"model":"claude-sonnet-5-5","thinking":{"type":"disabled"}}"#,
            "thinking ({ type: \"between_tools\" } is sent)",
        ),
        (
            "bedrock_converse",
            r#"{"model":"us.anthropic.claude-opus-4-7","topP":0.5,"toolChoice":"required"}"#,
            "topP",
        ),
        (
            "anthropic",
            r#"{"model":"claude-opus-5","thinking":{"type":"disabled"},"toolChoice":"required"}"#,
            "",
        ),
        (
            "anthropic",
            r#"{"model":"claude-sonnet-4-6","temperature":0,"thinking":{"budgetTokens":2000}}"#,
            "",
        ),
        (
            "openai_responses",
            r#"{"model":"gpt-6.2-sol","effort":"none","temperature":1}"#,
            "effort \"none\" (\"low\" is sent), temperature",
        ),
        (
            "openai_responses",
            r#"{"model":"gpt-6-luna","effort":"none","temperature":1}"#,
            "",
        ),
        (
            "openai_chat",
            r#"{"model":"gpt-5.5","effort":"minimal"}"#,
            "effort \"minimal\" (\"low\" is sent)",
        ),
        (
            "openai_chat",
            r#"{"model":"gpt-5.1","effort":"minimal","temperature":1}"#,
            "",
        ),
        ("gemini", r#"{"model":"claude-fable-5-2","temperature":0}"#, ""),
        (
            "anthropic",
            r#"{"model":"a-model-of-tomorrow","temperature":0,"toolChoice":"required"}"#,
            "",
        ),
        (
            "anthropic",
            r#"{"model":"claude-opus-5","thinking":{"type":"disabled"},"effort":"max"}"#,
            "thinking ({ type: \"adaptive\" } is sent)",
        ),
        (
            "anthropic",
            r#"{"model":"claude-opus-5","thinking":{"type":"disabled"},"effort":"high"}"#,
            "",
        ),
        (
            "anthropic",
            r#"{"model":"claude-sonnet-5-5","thinking":{"type":"between_tools"},"effort":"max"}"#,
            "thinking ({ type: \"adaptive\" } is sent)",
        ),
        (
            "anthropic",
            r#"{"model":"claude-opus-5-5","thinking":{"type":"between_tools"},"effort":"none"}"#,
            "effort \"none\" (\"low\" is sent), thinking ({ type: \"adaptive\" } is sent)",
        ),
        (
            "anthropic",
            r#"{"model":"claude-haiku-4-5","thinking":{"type":"adaptive"},"maxOutputTokens":4000}"#,
            "thinking ({ budgetTokens: 2000 } is sent)",
        ),
        (
            "anthropic",
            r#"{"model":"claude-opus-5-5","thinking":{"type":"of_tomorrow"}}"#,
            "",
        ),
        (
            "anthropic",
            r#"{"model":"claude-sonnet-4-6","effort":"xhigh"}"#,
            "effort \"xhigh\" (\"max\" is sent)",
        ),
        (
            "anthropic",
            r#"{"model":"claude-opus-4-5","effort":"max"}"#,
            "effort \"max\" (\"high\" is sent)",
        ),
        (
            "openai_chat",
            r#"{"vendor":"openai","model":"gpt-5.4","effort":"high","temperature":1}"#,
            "effort \"high\" (Chat Completions refuses it next to tools: use openai() for Responses)",
        ),
        (
            "openai_chat",
            r#"{"vendor":"openai","model":"gpt-5.4","effort":"none"}"#,
            "",
        ),
        (
            "openai_chat",
            r#"{"vendor":"openrouter","model":"openai/gpt-5.4","effort":"high","temperature":1}"#,
            "temperature",
        ),
        (
            "openai_responses",
            r#"{"vendor":"openai","model":"gpt-5.6-sol","effort":"high","topP":1}"#,
            "topP",
        ),
        (
            "openai_responses",
            r#"{"vendor":"openai","model":"gpt-5.6-sol","topP":1}"#,
            "",
        ),
        (
            "openai_chat",
            r#"{"vendor":"mistral","model":"mistral-small-2603","effort":"low"}"#,
            "effort \"low\" (\"high\" is sent)",
        ),
        (
            "openai_chat",
            r#"{"vendor":"xai","model":"grok-4.7","effort":"none"}"#,
            "effort \"none\" (\"low\" is sent)",
        ),
        (
            "gemini",
            r#"{"model":"gemini-4-argon","effort":"xhigh","thinking":{"budgetTokens":2000}}"#,
            "effort \"xhigh\" (\"high\" is sent), thinking (no budget is sent)",
        ),
        ("gemini", r#"{"model":"gemini-4-neon","effort":"xhigh"}"#, ""),
        (
            "gemini",
            r#"{"model":"gemini-2.5-pro","thinking":{"budgetTokens":2000}}"#,
            "",
        ),
    ] {
        let mut model = model(given);
        let asked = Asked {
            row: row(protocol, &model.vendor, &model.model),
            protocol,
            has_tools: true,
        };
        assert_eq!(asked.fit(&mut model).join(", "), changed, "{given}");
        assert_eq!(asked.fit(&mut model), [""; 0], "{given}, as it is sent");
    }
}

#[test]
fn an_answer_has_room_for_thinking() {
    for (given, tokens) in [
        (r#"{"model":"claude-opus-5-5"}"#, 32_000),
        (r#"{"model":"claude-opus-5-5","effort":"max"}"#, 64_000),
        (r#"{"model":"claude-sonnet-4-6"}"#, 8192),
        (
            r#"{"model":"claude-sonnet-4-6","thinking":{"type":"adaptive"}}"#,
            32_000,
        ),
        (r#"{"model":"claude-haiku-4-5"}"#, 8192),
        (r#"{"model":"a-model-of-tomorrow"}"#, 8192),
    ] {
        let model = model(given);
        let row = row("anthropic", "", &model.model);
        assert_eq!(default_output_tokens(row, &model), tokens, "{given}");
    }
}

#[test]
fn a_day_begins_at_midnight_in_utc() {
    for (date, http) in [
        (Date(1970, 1, 1), "Thu, 01 Jan 1970 00:00:00 GMT"),
        (Date(2000, 2, 29), "Tue, 29 Feb 2000 00:00:00 GMT"),
        (Date(2000, 3, 1), "Wed, 01 Mar 2000 00:00:00 GMT"),
        (Date(2026, 11, 30), "Mon, 30 Nov 2026 00:00:00 GMT"),
        (Date(2027, 1, 22), "Fri, 22 Jan 2027 00:00:00 GMT"),
    ] {
        let known = httpdate::parse_http_date(http).unwrap();
        let since = known.duration_since(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(u128::from(date.ms()), since.as_millis(), "{date}");
    }
    assert_eq!(Date(2027, 1, 2).to_string(), "2027-01-02");
}
