//! Hooks before a summary of the history is made, and after.

use crate::engine::agent::asks::Wait;
use crate::engine::agent::{Agent, Desk};
use crate::engine::model::event::CompactTrigger;
use crate::engine::model::json::word;
use crate::engine::model::question::{Facts, Point};
use crate::engine::policy::hook::HookAnswer;

impl Agent {
    /// The summary is made, unless a hook says no.
    pub(crate) fn ask_before_summary(
        &mut self,
        desk: &mut Desk<'_>,
        trigger: CompactTrigger,
        pre_tokens: u64,
    ) {
        let point = Point::PreCompact;
        if !desk.has_hooks(point, &word(trigger)) {
            return self.summarize(desk);
        }
        let facts = Facts::Compact {
            trigger,
            pre_tokens,
            instructions: self.context.instructions(),
        };
        let data = facts.to_json();
        self.ask(desk, point, &word(trigger), data, Wait::Point);
    }

    /// The history is shorter: hooks are told of the summary before the request goes out.
    pub(crate) fn ask_after_summary(&mut self, desk: &mut Desk<'_>, trigger: CompactTrigger, summary: &str) {
        let point = Point::PostCompact;
        if !desk.has_hooks(point, &word(trigger)) {
            return self.guard_summary(desk);
        }
        let data = Facts::Compacted { trigger, summary }.to_json();
        self.ask(desk, point, &word(trigger), data, Wait::Point);
    }

    /// Without the summary the request goes out as it is; one that the vendor has refused as too long stays refused.
    pub(crate) fn after_precompact(&mut self, desk: &mut Desk<'_>, verdict: HookAnswer) {
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
