//! Hooks at both ends of a run: of what is said to the model, and when it has finished.

use crate::engine::agent::asks::Wait;
use crate::engine::agent::{Agent, Desk};
use crate::engine::model::message::Block;
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::question::{Facts, Point};
use crate::engine::policy::hook::HookAnswer;

impl Agent {
    /// The root's event, or that of a subagent with the name of its tool.
    fn its_hooks(&self, root: Point, subagent: Point) -> (Point, String) {
        match &self.parent {
            None => (root, String::new()),
            Some(parent) => (subagent, parent.name.clone()),
        }
    }

    /// The call that it answers.
    fn its_call(&self) -> Option<&str> {
        self.parent.as_ref().map(|parent| parent.tool_call_id.as_str())
    }

    /// The agent's first words to its model. Where a session begins with them its hooks come before.
    pub(super) fn open_with(&mut self, desk: &mut Desk<'_>, prompt: Vec<Block>) {
        let point = Point::SessionStart;
        let session = desk.config.session.as_deref().unwrap_or_default();
        if session.is_empty() || !desk.has_hooks(point, session) {
            return self.submit(desk, prompt, "prompt", true);
        }
        let facts = Facts::Session {
            source: session,
            model: &self.asked.config.model,
        };
        let data = facts.to_json();
        self.ask(desk, point, session, data, Wait::Session { prompt });
    }

    pub(super) fn after_session(&mut self, desk: &mut Desk<'_>, prompt: Vec<Block>, mut verdict: HookAnswer) {
        if verdict.denies() {
            let why = verdict.reason.unwrap_or_default();
            return self.stop_because(desk, StoppedBy::Hook, why);
        }
        self.note(&mut verdict, false);
        self.submit(desk, prompt, "prompt", true);
    }

    /// Something new for the model: the host's prompt (`prompt`), or what it has said since (`steer`, `followUp`).
    pub(super) fn submit(
        &mut self,
        desk: &mut Desk<'_>,
        content: Vec<Block>,
        source: &str,
        owes_answer: bool,
    ) {
        let (point, name) = self.its_hooks(Point::UserPromptSubmit, Point::SubagentStart);
        if content.is_empty() || !desk.has_hooks(point, &name) {
            return self.after_prompt(desk, content, source, owes_answer, HookAnswer::default());
        }
        let facts = Facts::Prompt {
            tool_call_id: self.its_call(),
            prompt: content.iter().filter_map(text_of).collect(),
            source,
        };
        let data = facts.to_json();
        let wait = Wait::Prompt {
            content,
            source: source.to_owned(),
            owes_answer,
        };
        self.ask(desk, point, &name, data, wait);
    }

    pub(super) fn after_prompt(
        &mut self,
        desk: &mut Desk<'_>,
        mut content: Vec<Block>,
        source: &str,
        owes_answer: bool,
        verdict: HookAnswer,
    ) {
        let is_first = source == "prompt";
        if verdict.denies() {
            let why = verdict
                .reason
                .unwrap_or_else(|| "a hook turned the prompt down".into());
            if is_first {
                return self.stop_because(desk, StoppedBy::Hook, why);
            }
            self.warn(desk, "prompt_blocked", why);
            content.clear();
            if !owes_answer {
                return self.hand_over(desk, false);
            }
        }
        content.append(&mut self.notes);
        content.extend(verdict.context.into_iter().map(Block::text));
        self.stop_hook_active &= content.is_empty();
        self.transcript.push_user(content);
        if is_first {
            self.hand_over(desk, true);
        } else {
            self.begin_iteration(desk);
        }
    }

    /// The model has finished, unless a hook has it go on.
    pub(super) fn complete(&mut self, desk: &mut Desk<'_>) {
        let (point, name) = self.its_hooks(Point::Stop, Point::SubagentStop);
        if !desk.has_hooks(point, &name) {
            return self.end_completed(desk);
        }
        let facts = Facts::Stop {
            tool_call_id: self.its_call(),
            stop_hook_active: self.stop_hook_active,
            last_assistant_message: &self.text,
        };
        let data = facts.to_json();
        self.ask(desk, point, &name, data, Wait::Point);
    }

    pub(super) fn after_stop(&mut self, desk: &mut Desk<'_>, mut verdict: HookAnswer) {
        let mut told = std::mem::take(&mut verdict.context);
        if verdict.denies() {
            let go_on = || "Go on: you have not finished.".to_owned();
            told.insert(0, verdict.reason.unwrap_or_else(go_on));
        }
        if verdict.stop.is_some() {
            return self.end_completed(desk);
        }
        if !told.is_empty() {
            self.stop_hook_active = true;
            self.transcript
                .push_user(told.into_iter().map(Block::text).collect());
            return self.hand_over(desk, true);
        }
        let has_more = !self.steers.is_empty() || !self.follow_ups.is_empty();
        if has_more && self.may_go_on(desk) {
            self.hand_over(desk, false)
        } else {
            self.end_completed(desk)
        }
    }
}

fn text_of(block: &Block) -> Option<&str> {
    match block {
        Block::Text { text, .. } => Some(text),
        _ => None,
    }
}
