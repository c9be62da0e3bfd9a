//! Reasoning that does not reach the model, because looplet leaves it out, or the vendor drops or rejects it.
//!
//! A request calls [`warn_of_left_out`] when its body is encoded, an answer [`warn_of_dropped`] when it is complete,
//! and a failure [`recover_from`], which changes the next attempt so that the vendor accepts it. Nothing fails.

use crate::engine::agent::context::AgentContext;
use crate::engine::agent::history::{History, warn_of_pruning};
use crate::engine::model::error::Failure;
use crate::engine::model::event::prefix::PrefixCause;
use crate::engine::protocol::request::claude_thinking::{BETA, FIELD};

/// Warns once per run that reasoning is left out because the prefix of the conversation has changed.
pub(super) fn warn_of_left_out(ctx: &mut AgentContext<'_>, left_out: usize) {
    if left_out > 0 {
        let model = &ctx.identity.model.config.model;
        let message = format!(
            "{model} accepts its earlier reasoning only after the same system prompt, tools and messages. One of them has changed (an option, a hook, a summary, pruning, a handoff or a new version of your program), so reasoning is left out of the requests. The model may have to think again."
        );
        ctx.warn_once("reasoning_not_sent", message);
    }
}

/// Warns once per run and reason that the vendor has dropped reasoning.
pub(crate) fn warn_of_dropped(ctx: &mut AgentContext<'_>, reasons: &[String]) {
    for reason in reasons {
        let model = &ctx.identity.model.config.model;
        let message =
            format!("The vendor of {model} does not show it some of its earlier reasoning: {reason}.");
        ctx.warn_once("reasoning_dropped", message);
    }
}

/// Removes from the next request what the vendor has rejected: reasoning, or the field that allows it to drop some.
/// Returns false for another failure, or if nothing is left to remove.
pub(super) fn recover_from(ctx: &mut AgentContext<'_>, failure: &Failure, history: &mut History) -> bool {
    if failure.status != Some(400) {
        return false;
    }
    let code = failure.vendor_code.as_deref().unwrap_or_default();
    let says = |words: &str| failure.message.contains(words) || code.contains(words);
    // The text after these words varies:
    // https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting
    let is_refused = says("Invalid `signature` in")
        || says("blocks in the latest assistant message cannot be modified")
        || (says("encrypted content") && says("could not be verified"));
    if is_refused && !(says("encrypted content") && history.transcript.has_signed_summary()) {
        return !ctx.identity.model.wants_refusals()
            && history.transcript.refuse_reasoning()
            && told(
                ctx,
                "reasoning_refused",
                "The vendor has rejected earlier reasoning of the model. This request is sent again without it, and so are later requests.",
            );
    }
    if ["context_management", "context-management"]
        .iter()
        .any(|words| says(words))
        && leaves_pruning(ctx, failure, history)
    {
        return true;
    }
    // The vendor may have signed it for another account or platform.
    if ["compaction", "encrypted content"]
        .iter()
        .any(|words| says(words))
        && history.transcript.refuse_summary()
    {
        return told(
            ctx,
            "summary_refused",
            "The vendor has rejected its own summary of the conversation. The request is sent again with the text of the summary.",
        );
    }
    if history.transcript.heads.has_changes()
        && APPENDED.iter().any(|words| says(words))
        && ctx.identity.model.leave_out_appended()
    {
        history.transcript.heads.forget();
        history.transcript.causes.add(PrefixCause::Refused);
        history.transcript.forget_body();
        return told(
            ctx,
            "change_not_appended",
            "The server has rejected a system message, tools or an effort within the conversation. The request is sent again with the current system prompt, tools and options at its beginning, so earlier reasoning may be left out.",
        );
    }
    // Bedrock's message is `invalid beta flag`.
    let is_net = [FIELD, BETA, "anthropic_beta", "anthropic-beta", "beta flag"]
        .iter()
        .any(|words| says(words));
    let changes = is_net && ctx.identity.model.leave_refusals_to_vendor();
    if changes {
        history.transcript.forget_body();
    }
    changes || (is_net && leaves_pruning(ctx, failure, history))
}

/// Lets looplet shorten old answers, because the server cannot. Returns false if it was not asked to.
fn leaves_pruning(ctx: &mut AgentContext<'_>, failure: &Failure, history: &mut History) -> bool {
    let was_asked = ctx.identity.model.leave_out_clearing();
    if was_asked {
        warn_of_pruning(ctx, failure.message.trim_end_matches('.'));
        history.transcript.forget_body();
    }
    was_asked
}

/// Words of a failure that names what a change at the end consists of. Servers that do not know it say
/// `messages.5.role: Input should be 'user' or 'assistant'`, `Unexpected role "system"`, `Input tag 'tool_addition'
/// found`, `messages.5.output_config: Extra inputs are not permitted`, `Unexpected value(s) … for the anthropic-beta
/// header` or `invalid beta flag`.
const APPENDED: &[&str] = &[
    "role: Input should be",
    "Unexpected role",
    "system message",
    "tool_addition",
    "tool_removal",
    "inline-tools",
    "additional_tools",
    "configuration_update",
    ".output_config: Extra inputs",
    "allowed_tools",
    "tool_reference_unresolved",
    "tool_name_conflict",
    "anthropic-beta",
    "beta flag",
];

fn told(ctx: &mut AgentContext<'_>, code: &str, message: &str) -> bool {
    ctx.warn(code, message.to_owned());
    true
}
