//! What a vendor demands of requests to each of its models: the options that it refuses, with what is sent in their
//! place, and whether it compares what precedes reasoning.
//!
//! The vendor answers such a request with status 400. A model that the tables do not name gets what was asked for, so
//! a new model works without an entry here. [`effort`] has the models that take no effort at all.

pub mod effort;

use looplet_scan::reader::Object;

use crate::engine::model::config::{ModelConfig, ToolChoice};
use crate::engine::model::message::Json;

/// Parts of the names of models. Some gateways write `5.5` for `5-5`.
type Names = &'static [&'static str];

/// `temperature`, `top_p`, `top_k`, and `thinking` with a budget: `"thinking.type.enabled" is not supported for this
/// model`. <https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting> (2026-11-28)
const CURRENT_CLAUDE: Names = &[
    "claude-fable-5",
    "claude-mythos-5",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-haiku-5",
    "claude-opus-4-8",
    "claude-opus-4-7",
];

/// `tool_choice: type "tool" and "any" are not supported for this model.` The pages `whats-new` of the models there
/// (2026-11-28).
const UNFORCED_CLAUDE: Names = &[
    "claude-fable-5-1",
    "claude-fable-5-2",
    "claude-mythos-5",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
];

/// `"thinking.type.disabled" is not supported for this model`: the page above (2026-11-28).
const THINKING_CLAUDE: Names = &["claude-fable-5", "claude-mythos-5", "claude-opus-5-5"];

/// The same, with `between_tools` in its place.
const LESS_THINKING_CLAUDE: Names = &["claude-sonnet-5-5"];

/// `temperature` and `top_p`, but not with the effort `none` where that exists: data of `@earendil-works/pi-ai` 1.6.0
/// (2026-11-20).
const CURRENT_GPT: Names = &["gpt-6"];

/// The effort `none`: `Unsupported value: 'none' is not supported`, as above.
const THINKING_GPT: Names = &["gpt-6-2", "gpt-6-1-sol", "gpt-6-astra"];

/// The effort `minimal`, as above.
const GPT_WITHOUT_MINIMAL: Names = &["gpt-6", "gpt-5-4", "gpt-5-5", "gpt-5-6"];

/// Models whose vendor compares what precedes their reasoning; see `prefix` of the protocols.
/// <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking>,
/// <https://developers.openai.com/api/docs/guides/keep-prefix-unchanged> (2026-11-28)
const COMPARING: Names = &[
    "claude-fable-5-1",
    "claude-fable-5-2",
    "claude-mythos-5-1",
    "claude-mythos-5-2",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "gpt-6-2",
];

/// Returns true if the vendor of this model compares what precedes its reasoning.
pub fn compares(model: &str) -> bool {
    is_one_of(model, COMPARING)
}

/// Makes the configuration one that the vendor takes. Returns the options that are not sent as they are, each with
/// what is sent instead.
pub fn fit(protocol: &str, model: &mut ModelConfig) -> Vec<String> {
    let changed = Vec::new();
    let mut fit = Fit { model, changed };
    match protocol {
        "anthropic" | "bedrock_converse" => fit.claude(),
        "openai_responses" | "openai_chat" => fit.gpt(),
        _ => {}
    }
    fit.changed
}

/// The tokens of an answer where the protocol demands a number and the configuration has none. Models that think
/// unasked think within it: with 8192, answers end before their text. They may write 128,000.
pub fn default_output_tokens(model: &str) -> u64 {
    if is_one_of(model, CURRENT_CLAUDE) {
        32_000
    } else {
        8192
    }
}

fn is_one_of(model: &str, names: Names) -> bool {
    let name = model.replace('.', "-");
    names.iter().any(|part| name.contains(part))
}

struct Fit<'a> {
    model: &'a mut ModelConfig,
    changed: Vec<String>,
}

impl Fit<'_> {
    fn is(&self, names: Names) -> bool {
        is_one_of(&self.model.model, names)
    }

    fn claude(&mut self) {
        if self.is(CURRENT_CLAUDE) {
            self.drop_sampling();
            self.thinking();
        }
        let is_forced = matches!(
            self.model.tool_choice,
            Some(ToolChoice::Required | ToolChoice::Tool(_))
        );
        if is_forced && self.is(UNFORCED_CLAUDE) {
            self.model.tool_choice = Some(ToolChoice::Auto);
            self.changed
                .push("toolChoice (the model decides whether it calls a tool)".into());
        }
    }

    fn thinking(&mut self) {
        let thinking = self.model.thinking.as_ref();
        let Some(thinking) = thinking.and_then(|json| Object::parse(json.as_str())) else {
            return;
        };
        let kind = thinking.word("type");
        let instead = match kind {
            "" | "enabled" => Some("adaptive"),
            "disabled" if self.is(THINKING_CLAUDE) => Some("adaptive"),
            "disabled" if self.is(LESS_THINKING_CLAUDE) => Some("between_tools"),
            _ => None,
        };
        if let Some(kind) = instead {
            self.model.thinking = Json::parse(&format!(r#"{{"type":"{kind}"}}"#)).ok();
            self.changed
                .push(format!("thinking ({{ type: \"{kind}\" }} is sent)"));
        }
    }

    fn gpt(&mut self) {
        let effort = self.model.effort.as_deref();
        let refused = match effort {
            Some("none") => self.is(THINKING_GPT),
            Some("minimal") => self.is(GPT_WITHOUT_MINIMAL),
            _ => false,
        };
        if refused {
            let given = self.model.effort.replace("low".into()).unwrap_or_default();
            self.changed.push(format!("effort \"{given}\" (\"low\" is sent)"));
        }
        if self.is(CURRENT_GPT) && self.model.effort.as_deref() != Some("none") {
            self.drop_sampling();
        }
    }

    fn drop_sampling(&mut self) {
        let ModelConfig {
            temperature,
            top_p,
            top_k,
            ..
        } = self.model;
        for (name, value) in [("temperature", temperature), ("topP", top_p), ("topK", top_k)] {
            if value.take().is_some() {
                self.changed.push(name.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            let mut model = crate::engine::model::json::read::<ModelConfig>("model", given).unwrap();
            assert_eq!(fit(protocol, &mut model).join(", "), changed, "{given}");
            assert_eq!(fit(protocol, &mut model), [""; 0], "{given}, as it is sent");
        }
    }
}
