//! The start of a run: its warnings, and the root's first step.
//!
//! The first prompt of a run calls [`Run::start`]. Later prompts have no effect. Warnings never prevent a start,
//! because an invalid configuration has already failed in its `Setup`.

use crate::engine::agent::profile::Profile;
use crate::engine::ledger::Place;
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::config::{Replay, ToolConfig};
use crate::engine::model::event::EventKind;
use crate::engine::model::message::Block;
use crate::engine::policy::permission::IGNORED_RULES;
use crate::engine::run::Run;

/// The save of a call ends with the run, because nothing stores it.
const REPLAY_NEEDS_STORE: &str = "replay: \"once\" holds within this run only, because the agent has no store. After a crash a second run may repeat calls of: ";

impl Run {
    pub(super) fn start(&mut self, prompt: Vec<Block>) {
        if self.is_restored() {
            return self.pick_up(&prompt);
        }
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        self.note_prompt(&prompt);
        self.emit_start(0);
        self.warn_of_tear();
        let wait_ms = self.setup.root.config.timeouts.total_ms;
        self.ledger.set_timer(TimerReason::Total, wait_ms);
        self.on_root(|agent, ctx| agent.start(ctx, prompt));
    }

    /// Emits the start of a process, with its warnings. The run has been active for `elapsed_ms` in other processes.
    pub(super) fn emit_start(&mut self, elapsed_ms: u64) {
        self.started = true;
        let Run { setup, ledger, .. } = self;
        ledger.start_clock(elapsed_ms);
        let Profile { config, .. } = &setup.root;
        let model = config.model.model.clone();
        let tools = config.own_tools().map(|tool| tool.name.clone()).collect();
        ledger.emit(Place::default(), EventKind::RunStart { model, tools });
        for message in setup
            .profiles()
            .flat_map(|profile| &profile.catalog.schema_warnings)
        {
            let kind = EventKind::warning("schema_keyword", message.clone());
            ledger.emit(Place::default(), kind);
        }
        self.warn_of_tools(
            "no_description",
            "Without a description, the model decides by a tool's name and schema when to call it. Describe: ",
            |tool| tool.vendor.is_none() && tool.description.trim().is_empty(),
        );
        if !self.ledger.has_journal {
            self.warn_of_tools("replay_needs_store", REPLAY_NEEDS_STORE, |tool| {
                tool.replay == Some(Replay::Once)
            });
        }
        if self.permissions.is_some() {
            self.warn_of_permissions();
        }
    }

    /// Warns once of all tools that `concerns` finds. The message ends in their names.
    fn warn_of_tools(&mut self, code: &str, message: &str, concerns: fn(&ToolConfig) -> bool) {
        let mut names: Vec<&str> = Vec::new();
        for tool in self
            .setup
            .profiles()
            .flat_map(|profile| profile.config.own_tools())
        {
            if concerns(tool) && !names.contains(&tool.name.as_str()) {
                names.push(&tool.name);
            }
        }
        if !names.is_empty() {
            let message = format!("{message}{}", names.join(", "));
            let kind = EventKind::warning(code, message);
            self.ledger.emit(Place::default(), kind);
        }
    }

    /// Warns of tools that cannot run, and of rules without effect.
    #[inline(never)]
    fn warn_of_permissions(&mut self) {
        let Some(permissions) = &self.permissions else {
            return;
        };
        let mut denied: Vec<String> = Vec::new();
        let mut unasked: Vec<String> = Vec::new();
        for profile in self.setup.profiles() {
            for tool in profile.config.own_tools() {
                let names = if permissions.forbids(tool) {
                    &mut denied
                } else if permissions.shadows(tool) {
                    &mut unasked
                } else {
                    continue;
                };
                if !names.contains(&tool.name) {
                    names.push(tool.name.clone());
                }
            }
        }
        let ignored = permissions.ignored_rules();
        for (code, names, what) in [
            (
                "tools_denied",
                denied,
                "These tools are denied, because no rule allows them: ",
            ),
            (
                "can_use_tool_shadowed",
                unasked,
                "canUseTool is not asked about calls of these tools: an allow rule with the tool's bare name lets all of them run. To be asked, take the name out of permissions.allow, or add it to permissions.ask: ",
            ),
            ("rules_ignored", ignored, IGNORED_RULES),
        ] {
            if !names.is_empty() {
                let message = format!("{what}{}", names.join(", "));
                self.ledger
                    .emit(Place::default(), EventKind::warning(code, message));
            }
        }
    }
}
