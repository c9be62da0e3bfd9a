//! The state of an agent's iteration, and what the agent still has to do in it.
//!
//! [`IterationState::finish`] emits the end of an iteration once, however it ends. [`IterationState::ask_about_end`]
//! asks `onIterationEnd` once. Nothing here decides what happens next.

use crate::engine::agent::calls::rounds::Rounds;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::identity::AgentIdentity;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::model::event::EventKind;
use crate::engine::model::journal::{ProgressState, Reply};
use crate::engine::model::question::{Facts, Point};

#[derive(Clone)]
pub struct IterationState {
    kept: ProgressState,
}

/// The events of the iteration that are still to be emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// No iteration has started, or `onIterationEnd` was called for the last one.
    Told,
    Open,
    /// The iteration is open and restarts in this process.
    CutOff,
    /// The iteration has finished, and `onIterationEnd` was not called for it yet.
    Finished,
}

impl Default for IterationState {
    fn default() -> IterationState {
        IterationState {
            kept: ProgressState {
                is_told: true,
                ..ProgressState::default()
            },
        }
    }
}

impl IterationState {
    /// The state from a checkpoint, for an agent that has started this number of iterations.
    pub fn restored(mut kept: ProgressState, iterations: u32) -> IterationState {
        kept.is_told |= !kept.is_open && iterations == 0;
        IterationState { kept }
    }

    pub fn kept(&self) -> &ProgressState {
        &self.kept
    }

    fn progress(&self) -> Progress {
        match (self.kept.is_open, self.kept.begins_again) {
            (true, false) => Progress::Open,
            (true, true) => Progress::CutOff,
            (false, _) if self.kept.is_told => Progress::Told,
            (false, _) => Progress::Finished,
        }
    }

    fn set_progress(&mut self, progress: Progress) {
        self.kept.is_open = matches!(progress, Progress::Open | Progress::CutOff);
        self.kept.begins_again = progress == Progress::CutOff;
        self.kept.is_told = progress == Progress::Told;
    }

    /// Restarts an open iteration after its process has ended. The attempts are counted on.
    pub fn cut_off(&mut self, identity: &mut AgentIdentity) {
        if self.progress() == Progress::Open {
            identity.kept.iteration = identity.kept.iteration.saturating_sub(1);
            self.set_progress(Progress::CutOff);
        }
    }

    /// Counts the iteration that starts. Returns false if another process has started it: then its attempts and their
    /// usage count too.
    pub fn begin(&mut self, identity: &mut AgentIdentity) -> bool {
        let is_new = self.progress() != Progress::CutOff;
        identity.kept.iteration += 1;
        if is_new {
            identity.kept.attempt = 0;
        }
        self.set_progress(Progress::Open);
        is_new
    }

    /// Emits the end of the iteration, unless it was emitted before.
    pub fn finish(&mut self, ctx: &mut AgentContext<'_>, reply: &Reply) {
        match self.progress() {
            Progress::Open => {}
            Progress::CutOff => ctx.identity.kept.iteration += 1,
            Progress::Finished | Progress::Told => return,
        }
        self.set_progress(Progress::Finished);
        ctx.emit(EventKind::IterationFinish {
            finish_reason: reply.finish_reason,
            raw_finish_reason: reply.raw_finish_reason.clone(),
            usage: reply.usage,
            response_id: reply.response_id.clone(),
            response_model: reply.response_model.clone(),
        });
    }

    /// Asks `onIterationEnd`, once for each iteration. Returns false if there is no one to ask.
    pub fn ask_about_end(&mut self, ctx: &mut AgentContext<'_>, reply: &Reply, rounds: &Rounds) -> bool {
        let point = Point::IterationEnd;
        if self.progress() != Progress::Finished {
            return false;
        }
        if !ctx.has_hooks(point, "") {
            self.note_told();
            return false;
        }
        let facts = Facts::IterationEnd {
            text: reply.text(),
            finish_reason: reply.finish_reason,
            usage: reply.usage,
            tool_calls: rounds.last_of(ctx.identity.kept.iteration),
        };
        ctx.ask(Ask::new(point, About::Phase, &facts));
        true
    }

    /// `onIterationEnd` was called for the iteration.
    pub fn note_told(&mut self) {
        self.set_progress(Progress::Told);
    }

    /// Notes that your code has given the agent content, or nothing.
    pub fn note_content(&mut self, is_empty: bool) {
        self.kept.stop_hook_active &= is_empty;
        self.kept.has_new_prompt |= !is_empty;
    }

    /// The occasion for input guardrails: one that checks each prompt once is called only for `prompt`.
    pub fn occasion(&self) -> &'static str {
        if self.kept.has_new_prompt {
            "prompt"
        } else {
            "request"
        }
    }

    /// The input guardrail has seen the content of your code.
    pub fn note_guarded(&mut self) {
        self.kept.has_new_prompt = false;
    }

    /// True after a `Stop` hook has made the model continue.
    pub fn is_kept_going(&self) -> bool {
        self.kept.stop_hook_active
    }

    pub fn keep_going(&mut self) {
        self.kept.stop_hook_active = true;
    }

    /// The caller of a subagent has its result.
    pub fn has_reported(&self) -> bool {
        self.kept.has_reported
    }

    pub fn note_reported(&mut self) {
        self.kept.has_reported = true;
    }
}
