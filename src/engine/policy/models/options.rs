//! Adapts the options of a request to its model, using its [`Row`].
//!
//! The vendor rejects an unsupported option with status 400. [`Asked::fit`] leaves such an option out, or replaces it
//! with the nearest supported one. The agent warns about the changes. Nothing fails.

use looplet_scan::reader::Object;

use crate::engine::model::config::{ModelConfig, ToolChoice};
use crate::engine::model::message::Json;
use crate::engine::policy::models::{Row, Sampling, Unset};

/// Every effort, from the lowest to the highest.
const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The tokens of an answer of a model that thinks.
const THINKING_TOKENS: u32 = 32_000;

/// The tokens of an answer with an effort above `high`, as Anthropic recommends:
/// <https://platform.claude.com/docs/en/build-with-claude/effort> (2026-11-29).
const HIGH_EFFORT_TOKENS: u32 = 64_000;

/// The request that options are made for.
pub struct Asked<'a> {
    pub row: &'static Row,
    pub protocol: &'a str,
    /// Whether the agent has tools.
    pub has_tools: bool,
}

impl Asked<'_> {
    /// Adapts the configuration to the model. Returns the changed options, each with what is sent instead. An effort
    /// is not among them if the model does not support efforts: see [`takes_effort`].
    pub fn fit(&self, model: &mut ModelConfig) -> Vec<String> {
        let mut changed = Vec::new();
        self.effort(model, &mut changed);
        self.sampling(model, &mut changed);
        self.thinking(model, &mut changed);
        let is_forced = matches!(
            model.tool_choice,
            Some(ToolChoice::Required | ToolChoice::Tool(_))
        );
        if is_forced && !self.row.forced_calls {
            model.tool_choice = Some(ToolChoice::Auto);
            changed.push("toolChoice (the model decides whether it calls a tool)".into());
        }
        changed
    }

    fn effort(&self, model: &mut ModelConfig, changed: &mut Vec<String>) {
        let Some(given) = model.effort.clone() else { return };
        // Other servers of Chat Completions translate the effort.
        let is_openai = self.protocol == "openai_chat" && matches!(&*model.vendor, "openai" | "azure");
        if is_openai && self.has_tools && !self.row.effort_with_tools && given != "none" {
            model.effort = None;
            changed.push(format!(
                "effort \"{given}\" (Chat Completions refuses it next to tools: use openai() for Responses)"
            ));
            return;
        }
        let taken = self.row.efforts.unwrap_or_default();
        if taken.is_empty() || taken.contains(&&*given) {
            return;
        }
        let Some(at) = EFFORTS.iter().position(|effort| *effort == given) else {
            return;
        };
        let above = EFFORTS.get(at..).unwrap_or_default();
        let thinks = |effort: &&&str| **effort != "none";
        let next = taken.iter().filter(thinks).find(|effort| above.contains(effort));
        let next = next.or_else(|| taken.iter().rfind(thinks));
        let sent = next.map_or("it is not sent".into(), |next| format!("\"{next}\" is sent"));
        model.effort = next.map(|next| (*next).to_owned());
        changed.push(format!("effort \"{given}\" ({sent})"));
    }

    fn sampling(&self, model: &mut ModelConfig, changed: &mut Vec<String>) {
        let effort = model.effort.as_deref();
        let is_taken = match self.row.sampling {
            Sampling::Taken => true,
            Sampling::RefusedWithEffort => effort.is_none_or(|effort| effort == "none"),
            Sampling::Refused => effort == Some("none"),
        };
        if is_taken {
            return;
        }
        let ModelConfig {
            temperature,
            top_p,
            top_k,
            ..
        } = model;
        for (name, value) in [("temperature", temperature), ("topP", top_p), ("topK", top_k)] {
            if value.take().is_some() {
                changed.push(name.into());
            }
        }
    }

    fn thinking(&self, model: &mut ModelConfig, changed: &mut Vec<String>) {
        let thinking = self.row.thinking;
        let Some(own) = &model.thinking else { return };
        let Some(own) = Object::parse(own.as_str()).filter(|_| !thinking.kinds.is_empty()) else {
            return;
        };
        let kind = kind(&own);
        let is_taken = |kind: &str| {
            thinking.kinds.contains(&kind)
                && !(is_above_high(model.effort.as_deref()) && thinking.up_to_high.contains(&kind))
        };
        if is_taken(kind) {
            return;
        }
        // A kind that no row names is new, and the vendor judges it.
        let instead = match kind {
            "disabled" if is_taken("between_tools") => "between_tools",
            "adaptive" | "between_tools" if is_taken("enabled") => "enabled",
            "enabled" | "disabled" | "between_tools" if is_taken("adaptive") => "adaptive",
            _ => return,
        };
        let (sent, text) = match (instead, self.protocol) {
            // Gemini decides itself when it gets no budget.
            ("adaptive", "gemini") => (r#"{"includeThoughts":true}"#.to_owned(), "no budget".to_owned()),
            ("enabled", _) => {
                let tokens = budget(model);
                let json = format!(r#"{{"type":"enabled","budget_tokens":{tokens}}}"#);
                (json, format!("{{ budgetTokens: {tokens} }}"))
            }
            _ => (
                format!(r#"{{"type":"{instead}"}}"#),
                format!("{{ type: \"{instead}\" }}"),
            ),
        };
        model.thinking = Json::parse(&sent).ok();
        changed.push(format!("thinking ({text} is sent)"));
    }
}

/// The kind of a configured `thinking`. An object without a type has a budget.
fn kind<'a>(thinking: &Object<'a>) -> &'a str {
    match thinking.word("type") {
        "" if ["budgetTokens", "thinkingBudget"]
            .iter()
            .any(|name| thinking.has(name)) =>
        {
            "enabled"
        }
        kind => kind,
    }
}

fn is_above_high(effort: Option<&str>) -> bool {
    matches!(effort, Some("xhigh" | "max"))
}

/// The budget for a model that needs one, if the caller does not set it: half of the answer, which includes it.
fn budget(model: &ModelConfig) -> u64 {
    model.max_output_tokens.map_or(8192, |tokens| tokens / 2)
}

/// Returns false if the model is known to refuse an effort.
pub fn takes_effort(row: &Row) -> bool {
    row.efforts.is_none_or(|taken| !taken.is_empty())
}

/// The tokens of an answer if the protocol requires a number and the configuration has none. They include thinking,
/// so they are more for a model that thinks, and a budget is added.
pub fn default_output_tokens(row: &Row, model: &ModelConfig) -> u64 {
    let thinking = model.thinking.as_ref();
    let thinking = thinking.and_then(|json| Object::parse(json.as_str()));
    let budget = thinking.as_ref().and_then(|thinking| {
        let own = thinking.number("budget_tokens");
        own.or(thinking.number("budgetTokens"))
    });
    let thinks = match &thinking {
        Some(thinking) => kind(thinking) == "adaptive",
        None => matches!(row.thinking.unset, Unset::On | Unset::Always),
    };
    let tokens = match (model.effort.as_deref(), row.output) {
        (_, None) => row.usual_output,
        (effort, _) if is_above_high(effort) => HIGH_EFFORT_TOKENS,
        _ if thinks => THINKING_TOKENS,
        _ => row.usual_output,
    };
    let tokens = u64::from(tokens).saturating_add(budget.unwrap_or(0));
    tokens.min(row.output.map_or(u64::MAX, u64::from))
}
