//! Hooks before a summary of the history is made, and after.

use crate::engine::agent::hooking::HookPoint;
use crate::engine::agent::{Agent, Desk};
use crate::engine::json::writer::push_field;
use crate::engine::json::writer::{push_count, push_text, push_text_if};
use crate::engine::model::event::CompactTrigger;
use crate::engine::model::json::word;
use crate::engine::policy::hook::{HookAnswer, HookEvent};

impl Agent {
    /// The summary is made, unless a hook says no.
    pub(super) fn ask_before_summary(
        &mut self,
        desk: &mut Desk<'_>,
        trigger: CompactTrigger,
        pre_tokens: u64,
    ) {
        let event = HookEvent::PreCompact;
        if !desk.has_hooks(event, &word(trigger)) {
            return self.summarize(desk);
        }
        let mut input = self.hook_input(event);
        push_field(&mut input, "trigger", &trigger);
        push_count(&mut input, "preTokens", pre_tokens);
        push_text_if(&mut input, "instructions", self.context.instructions());
        self.ask_hooks(desk, event, &word(trigger), HookPoint::Compact, input);
    }

    /// The history is shorter: hooks are told of the summary before the request goes out.
    pub(super) fn ask_after_summary(&mut self, desk: &mut Desk<'_>, trigger: CompactTrigger, summary: &str) {
        let event = HookEvent::PostCompact;
        if !desk.has_hooks(event, &word(trigger)) {
            return self.guard_summary(desk);
        }
        let mut input = self.hook_input(event);
        push_field(&mut input, "trigger", &trigger);
        push_text(&mut input, "summary", summary);
        self.ask_hooks(desk, event, &word(trigger), HookPoint::Compacted, input);
    }

    /// Without the summary the request goes out as it is; one that the vendor has refused as too long stays refused.
    pub(super) fn after_precompact(&mut self, desk: &mut Desk<'_>, verdict: HookAnswer) {
        if !verdict.denies() {
            return self.summarize(desk);
        }
        let why = verdict
            .reason
            .unwrap_or_else(|| "a hook kept the history as it is".into());
        self.warn(desk, "compaction_blocked", why);
        match self.context.refuse() {
            Some(failure) => self.end_failed(desk, failure),
            None => self.send(desk),
        }
    }
}
