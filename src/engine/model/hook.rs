//! The answers of hooks and guardrails, and how they are joined.
//!
//! All hooks of an event run at the same time, and the agent joins their answers with [`HookAnswer::join`]. The
//! strictest decision wins: deny, defer, ask, allow. A hook that fails is ignored with a warning, unless its failure
//! counts as a denial. The functions themselves are in JavaScript.
//! <https://code.claude.com/docs/en/agent-sdk/hooks> (2026-11-21)

use serde::{Deserialize, Serialize};

#[cfg(test)]
use crate::engine::model::config::Fields;
use crate::engine::model::config::{Limits, ModelConfig, ToolChoice};
use crate::engine::model::input::PermissionUpdate;
use crate::engine::model::message::{Json, Message};
use crate::engine::model::question::Point;

/// One hook or guardrail, without its function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Hook {
    pub event: Point,
    /// The tools or other names for which it is called. Default: all.
    #[serde(default)]
    pub names: Option<Vec<String>>,
    /// The timeout in milliseconds, after which it counts as failed. Default: none.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// Whether its failure counts as a denial. Default: it is ignored with a warning.
    #[serde(default)]
    pub blocks: bool,
}

impl Hook {
    pub fn is_for(&self, event: Point, name: &str) -> bool {
        let is_named = |names: &Vec<String>| names.iter().any(|known| known == name);
        self.event == event && self.names.as_ref().is_none_or(is_named)
    }
}

/// A hook's decision, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    Allow,
    Ask,
    Defer,
    Deny,
}

/// The joined answer of the `PreToolUse` hooks for a call that they accept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Gate {
    #[default]
    Unasked,
    Passed {
        decision: Option<Decision>,
        reason: Option<String>,
    },
}

impl Gate {
    pub fn is_unasked(&self) -> bool {
        *self == Gate::Unasked
    }

    pub fn said(&self, wanted: Decision) -> bool {
        matches!(self, Gate::Passed { decision, .. } if *decision == Some(wanted))
    }
}

/// Changes to the requests of the next iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Prepared {
    pub model: Option<ModelConfig>,
    /// Names of the tools that the model may see, in this order; a call of any other tool is denied.
    #[cfg_attr(test, schemars(extend("x-option" = "prepared")))]
    pub tools: Option<Vec<String>>,
    #[cfg_attr(test, schemars(extend("x-option" = "prepared")))]
    pub tool_choice: Option<ToolChoice>,
    /// The system prompt; `""` sends none.
    #[cfg_attr(test, schemars(extend("x-option" = "prepared", "x-kind" = "string")))]
    pub system: Option<String>,
}

/// Limits for the rest of the run. A limit that is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Raise {
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "raise")))]
    pub max_iterations: Option<u32>,
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "raise")))]
    pub max_total_tokens: Option<u64>,
    pub max_cost_nano_usd: Option<u64>,
    #[cfg_attr(test, schemars(extend("x-option" = "raise")))]
    pub max_tool_rounds: Option<u32>,
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "raise")))]
    pub max_tool_calls: Option<u32>,
    /// Milliseconds that are added from the answer on, for the limit `time`. `run.addBudget` adds them to
    /// `timeouts.totalMs`.
    #[cfg_attr(test, schemars(extend("x-option" = "raise")))]
    pub time_ms: Option<u64>,
}

impl Raise {
    /// Adds each value to its limit. A limit that does not exist stays absent.
    pub fn add_to(&self, limits: &mut Limits) {
        let small = |limit: &mut Option<u32>, more: Option<u32>| {
            *limit = limit.map(|limit| limit.saturating_add(more.unwrap_or(0)));
        };
        let large = |limit: &mut Option<u64>, more: Option<u64>| {
            *limit = limit.map(|limit| limit.saturating_add(more.unwrap_or(0)));
        };
        small(&mut limits.max_iterations, self.max_iterations);
        large(&mut limits.max_total_tokens, self.max_total_tokens);
        large(&mut limits.max_cost_nano_usd, self.max_cost_nano_usd);
        small(&mut limits.max_tool_rounds, self.max_tool_rounds);
        small(&mut limits.max_tool_calls, self.max_tool_calls);
    }

    pub fn apply(&self, limits: &mut Limits) {
        limits.max_iterations = self.max_iterations.or(limits.max_iterations);
        limits.max_total_tokens = self.max_total_tokens.or(limits.max_total_tokens);
        limits.max_cost_nano_usd = self.max_cost_nano_usd.or(limits.max_cost_nano_usd);
        limits.max_tool_rounds = self.max_tool_rounds.or(limits.max_tool_rounds);
        limits.max_tool_calls = self.max_tool_calls.or(limits.max_tool_calls);
    }
}

/// The answer of a hook, or of several hooks joined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct HookAnswer {
    pub decision: Option<Decision>,
    /// The reason for the decision; the model reads it.
    #[cfg_attr(test, schemars(extend("x-option" = "hook", "x-kind" = "string")))]
    pub reason: Option<String>,
    /// `PreToolUse` (not with `"defer"`), `PermissionRequest`: the tool's new input. The history has the model's
    /// input, and the model reads the new one next to the result.
    #[cfg_attr(test, schemars(with = "Option<Fields>", extend("x-option" = "hook")))]
    pub updated_input: Option<Json>,
    /// `PostToolUse`: the new output for the model, the events and the result.
    #[cfg_attr(test, schemars(extend("x-option" = "hook")))]
    pub updated_output: Option<Json>,
    /// The messages with which the conversation continues.
    pub messages: Option<Vec<Message>>,
    /// Additional texts for the model.
    pub context: Vec<String>,
    /// The reason to end the run. Absent if the run continues.
    pub stop: Option<String>,
    /// `PermissionDenied`: whether the model may retry the call.
    #[cfg_attr(test, schemars(extend("x-option" = "hook")))]
    pub retry: bool,
    /// `PermissionRequest` with `"deny"`: ends the run as `cancelled`.
    #[cfg_attr(test, schemars(extend("x-option" = "hook")))]
    pub interrupt: bool,
    /// `PermissionRequest`: changes of the rules for the rest of the run.
    #[cfg_attr(test, schemars(extend("x-option" = "hook")))]
    pub updated_permissions: Vec<PermissionUpdate>,
    /// Text for the user, not for the model: a `warning` event with the code `hook_message`.
    #[cfg_attr(test, schemars(extend("x-option" = "hook", "x-kind" = "string")))]
    pub system_message: Option<String>,
    /// Texts that your classifier gets with later calls.
    pub classifier_context: Vec<String>,
    pub prepared: Option<Box<Prepared>>,
    pub limits: Option<Raise>,
}

impl HookAnswer {
    /// The answer of a hook whose failure counts as a denial.
    pub fn denial(reason: String) -> HookAnswer {
        HookAnswer {
            decision: Some(Decision::Deny),
            reason: Some(reason),
            ..HookAnswer::default()
        }
    }

    pub fn denies(&self) -> bool {
        self.decision == Some(Decision::Deny)
    }

    /// Joins the answer of the next hook. The stricter decision wins. A later value replaces an earlier one.
    pub fn join(&mut self, next: HookAnswer) {
        if next.decision > self.decision {
            self.decision = next.decision;
            self.reason = next.reason;
        }
        self.updated_input = next.updated_input.or(self.updated_input.take());
        self.updated_output = next.updated_output.or(self.updated_output.take());
        self.messages = next.messages.or(self.messages.take());
        self.context.extend(next.context);
        self.stop = self.stop.take().or(next.stop);
        self.retry |= next.retry;
        self.interrupt |= next.interrupt;
        self.updated_permissions.extend(next.updated_permissions);
        self.classifier_context.extend(next.classifier_context);
        self.prepared = next.prepared.or(self.prepared.take());
        self.limits = next.limits.or(self.limits.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(decision: Option<Decision>, reason: &str) -> HookAnswer {
        HookAnswer {
            decision,
            reason: Some(reason.to_owned()),
            ..HookAnswer::default()
        }
    }

    #[test]
    fn the_strictest_decision_counts_and_of_equals_the_first() {
        use Decision::{Allow, Ask, Defer, Deny};
        let rows = [
            ([Some(Allow), Some(Deny), Some(Ask)], Some(Deny), "1"),
            ([Some(Ask), Some(Allow), Some(Defer)], Some(Defer), "2"),
            ([Some(Allow), Some(Ask), None], Some(Ask), "1"),
            ([None, Some(Allow), Some(Allow)], Some(Allow), "1"),
            ([Some(Deny), Some(Deny), Some(Allow)], Some(Deny), "0"),
        ];
        for (decisions, expected, by) in rows {
            let mut sum = HookAnswer::default();
            for (index, decision) in decisions.into_iter().enumerate() {
                sum.join(says(decision, &index.to_string()));
            }
            assert_eq!((sum.decision, sum.reason.as_deref()), (expected, Some(by)));
        }
    }
}
