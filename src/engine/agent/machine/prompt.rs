//! Content for the model: the first prompt, steers and follow-ups.
//!
//! The run calls [`Agent::start`], and [`Agent::open_with`] asks the session's hooks. `submit` asks the hooks of a
//! prompt, `say` puts the content into the transcript. A hook that denies a first prompt stops the agent; a later one
//! is left out with a warning.

use crate::engine::agent::Agent;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::machine::end::completed;
use crate::engine::agent::machine::step::{Now, Phase};
use crate::engine::agent::questions::{About, Ask};
use crate::engine::agent::summary::Summary;
use crate::engine::model::config::ModelConfig;
use crate::engine::model::event::EventKind;
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::journal::Step;
use crate::engine::model::message::Block;
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::question::{Facts, Point};

/// The source of a first prompt.
pub(crate) const PROMPT: &str = "prompt";

impl Agent {
    /// Starts with a prompt. If only a summary is requested, the prompt is left out.
    pub fn start(&mut self, ctx: &mut AgentContext<'_>, prompt: Vec<Block>) {
        let ModelConfig { model, vendor, .. } = &ctx.identity.model.config;
        let kind = EventKind::AgentStart {
            model: model.clone(),
            vendor: vendor.clone(),
        };
        ctx.emit(kind);
        if !self.history.wants_summary_alone() {
            return self.open_with(ctx, prompt);
        }
        match Summary::wanted(ctx, &mut self.history) {
            Some(summary) => self.summarize(ctx, summary),
            None => self.end(ctx, completed()),
        }
    }

    /// Gives the agent its first prompt. If it starts a session, the session's hooks are asked first.
    pub(crate) fn open_with(&mut self, ctx: &mut AgentContext<'_>, prompt: Vec<Block>) {
        let point = Point::SessionStart;
        let session = ctx.session.unwrap_or_default();
        if session.is_empty() || !ctx.has_hooks(point, session) {
            return self.submit(ctx, prompt, PROMPT, true);
        }
        let facts = Facts::Session {
            source: session,
            model: &ctx.identity.model.config.model,
        };
        ctx.ask(Ask::new(point, About::Phase, &facts).named(session));
        let step = Step::Prompt {
            content: prompt,
            source: PROMPT.to_owned(),
            owes_answer: true,
            is_opening: true,
        };
        self.machine.enter(step, Now::Nothing);
    }

    pub(crate) fn after_prompt_hooks(&mut self, ctx: &mut AgentContext<'_>, mut verdict: HookAnswer) {
        if let Some(why) = verdict.stop.take() {
            return self.stop_because(ctx, StoppedBy::Hook, why);
        }
        if !self.machine.is(Phase::Prompting) {
            return;
        }
        if let Step::Prompt {
            content,
            source,
            owes_answer,
            is_opening,
        } = self.machine.take_step()
        {
            if !is_opening {
                return self.say(ctx, content, &source, owes_answer, verdict);
            }
            if verdict.denies() {
                let why = verdict.reason.unwrap_or_default();
                return self.stop_because(ctx, StoppedBy::Hook, why);
            }
            self.calls.approvals.note(&mut verdict, false);
            self.submit(ctx, content, PROMPT, true);
        }
    }

    /// Gives the model new content, after its hooks. `source` is `prompt`, `steer` or `followUp`.
    pub(crate) fn submit(
        &mut self,
        ctx: &mut AgentContext<'_>,
        content: Vec<Block>,
        source: &str,
        owes_answer: bool,
    ) {
        let (point, name) = ctx
            .identity
            .its_point(Point::UserPromptSubmit, Point::SubagentStart);
        if content.is_empty() || !ctx.has_hooks(point, &name) {
            return self.say(ctx, content, source, owes_answer, HookAnswer::default());
        }
        let facts = Facts::Prompt {
            tool_call_id: ctx.identity.its_call(),
            prompt: content.iter().filter_map(text_of).collect(),
            source,
        };
        ctx.ask(Ask::new(point, About::Phase, &facts).named(&name));
        let step = Step::Prompt {
            content,
            source: source.to_owned(),
            owes_answer,
            is_opening: false,
        };
        self.machine.enter(step, Now::Nothing);
    }

    /// Puts content into the transcript, after its hooks have answered.
    fn say(
        &mut self,
        ctx: &mut AgentContext<'_>,
        mut content: Vec<Block>,
        source: &str,
        owes_answer: bool,
        verdict: HookAnswer,
    ) {
        let is_first = source == PROMPT;
        if verdict.denies() {
            let turned_down = || "a hook blocked the prompt".into();
            let why = verdict.reason.unwrap_or_else(turned_down);
            if is_first {
                return self.stop_because(ctx, StoppedBy::Hook, why);
            }
            ctx.warn("prompt_blocked", why);
            content.clear();
            if !owes_answer {
                return self.hand_over(ctx, false);
            }
        }
        content.append(&mut self.calls.approvals.take_notes());
        content.extend(verdict.context.into_iter().map(Block::notice));
        self.iteration.note_content(content.is_empty());
        self.history.transcript.push_user(content);
        if is_first {
            self.hand_over(ctx, true);
        } else {
            self.begin(ctx);
        }
    }
}

fn text_of(block: &Block) -> Option<&str> {
    match block {
        Block::Text { text, .. } => Some(text),
        _ => None,
    }
}
