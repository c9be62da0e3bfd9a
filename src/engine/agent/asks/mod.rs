//! The one gate between an agent and whoever it asks: hooks, guardrails, permissions, limits, stop conditions,
//! summaries, preparation, the wording of errors, checks of answers.
//!
//! A point is opened by [`Agent::ask`], which asks all of its functions at once. Each answer comes in through
//! [`Agent::handle_answered`], each time-out through [`Agent::handle_question_timeout`]; with the last of them
//! [`Agent::go_on`] takes up what has waited. [`Agent::withdraw`] closes what nobody waits for any more. What a failure
//! comes to stands in [`failure`].

mod failure;

use serde::{Deserialize, Serialize};

use crate::engine::agent::answer::guardrail::Guarded;
use crate::engine::agent::{Agent, Desk};
use crate::engine::ledger::timers::{QUESTION_MS, TimerReason};
use crate::engine::model::event::EventKind;
use crate::engine::model::json::word;
use crate::engine::model::message::{Block, Json};
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::output::{EffectId, EffectKind, Output};
use crate::engine::model::question::{Answer, Point, Question};
use crate::engine::policy::hook::{Hook, HookAnswer};

/// The open questions of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Asks {
    open: Vec<Pending>,
}

/// A point at which somebody is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pending {
    point: Point,
    wait: Wait,
    asked: Vec<Asked>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Asked {
    question: EffectId,
    asker: u32,
    answer: Option<Answer>,
}

/// What waits at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Wait {
    /// No more than the point says.
    Point,
    /// A tool call, by its place in the batch.
    Call { index: usize },
    /// A call about which somebody is to be asked next.
    Permission { index: usize, reason: String },
    /// A call that was denied, in the words of who denied it or for a reason of ours.
    Denied {
        index: usize,
        message: Option<String>,
        reason: String,
    },
    /// Calls that are prepared together.
    Calls { indexes: Vec<usize> },
    /// A session, with this prompt.
    Session { prompt: Vec<Block> },
    /// Something new that is said to the model.
    Prompt {
        content: Vec<Block>,
        source: String,
        owes_answer: bool,
    },
    /// An answer of the model.
    Output(Guarded),
    /// An answer that fits its schema. `call_ids`: the calls that gave it; none if it was text.
    Check { written: Json, call_ids: Vec<String> },
    /// The next iteration.
    IterationEnd { owes_answer: bool },
    /// What a limit keeps from being done.
    Limit { stopped_by: StoppedBy, before: Step },
    /// Nothing but more time: everything goes on meanwhile.
    Time { timer: TimerReason },
}

/// What a limit keeps from being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    Iteration,
    /// A further request of an iteration that has begun.
    Request,
    /// The calls of an answer.
    Tools,
}

impl Wait {
    /// Nothing of the agent's own way waits.
    fn is_beside(&self, point: Point) -> bool {
        matches!(self, Wait::Time { .. }) || point == Point::Notification
    }
}

impl Asks {
    pub fn is_at(&self, point: Point) -> bool {
        self.open.iter().any(|pending| pending.point == point)
    }

    /// What waits at this point.
    pub fn waiting(&self, point: Point) -> Option<&Wait> {
        let at = self.open.iter().find(|pending| pending.point == point);
        at.map(|pending| &pending.wait)
    }

    /// More of this time was asked for.
    pub fn is_about_time(&self, timer: TimerReason) -> bool {
        let wait = Wait::Time { timer };
        self.open.iter().any(|pending| pending.wait == wait)
    }

    /// The calls of an answer wait for a limit to be raised.
    pub fn holds_calls(&self) -> bool {
        let before = Step::Tools;
        let holds =
            |pending: &Pending| matches!(pending.wait, Wait::Limit { before: step, .. } if step == before);
        self.open.iter().any(holds)
    }

    fn find(&mut self, question: EffectId) -> Option<(usize, &mut Asked)> {
        self.open.iter_mut().enumerate().find_map(|(at, pending)| {
            let asked = pending.asked.iter_mut().find(|asked| asked.question == question);
            asked.map(|asked| (at, asked))
        })
    }
}

impl<'a> Desk<'a> {
    /// Whether anybody is asked at this point about `name`.
    pub(crate) fn has_hooks(&self, point: Point, name: &str) -> bool {
        self.hooks().iter().any(|hook| hook.is_for(point, name))
    }

    /// Those of the run are asked about all of its agents.
    fn hooks(&self) -> &'a [Hook] {
        self.profiles.first().map_or(&[], |root| &root.config.hooks)
    }
}

impl Agent {
    /// Asks everybody at this point who is for `name`; there must be somebody. Returns the first question's id.
    pub(crate) fn ask(
        &mut self,
        desk: &mut Desk<'_>,
        point: Point,
        name: &str,
        data: Json,
        wait: Wait,
    ) -> EffectId {
        let ask = self.question(desk, point, data);
        let askers: Vec<(u32, Option<u64>)> = if point.is_hooked() {
            let hooks = (0..).zip(desk.hooks());
            let hooks = hooks.filter(|(_, hook)| hook.is_for(point, name));
            hooks.map(|(asker, hook)| (asker, hook.timeout_ms)).collect()
        } else {
            vec![(0, self.patience_ms(desk, point, &wait))]
        };
        let is_about_call = matches!(point, Point::Permission | Point::Classify);
        // Nobody is asked about a call that a hook has put off: its question stays open until it is answered.
        let is_told = !self.is_put_off(point, &wait);
        let mut asked = Vec::with_capacity(askers.len());
        for (asker, timeout_ms) in askers {
            let question = desk.ledger.open(self.index, EffectKind::Question(point));
            let kind = EventKind::Question {
                question_id: question,
                question: word(point.told()),
                data: is_about_call.then(|| ask.data.clone()),
            };
            desk.ledger.emit(self.place(), kind);
            desk.ledger.set_timer(TimerReason::Effect(question), timeout_ms);
            if is_told {
                let ask = Question { asker, ..ask.clone() };
                desk.ledger.output(Output::Ask { question, ask });
            }
            asked.push(Asked {
                question,
                asker,
                answer: None,
            });
        }
        let first = asked.first().map_or(0, |asked| asked.question);
        self.asks.open.push(Pending { point, wait, asked });
        first
    }

    fn question(&self, desk: &Desk<'_>, point: Point, data: Json) -> Question {
        let mut question = Question {
            point,
            asker: 0,
            profile: self.profile,
            agent_path: self.path.clone(),
            iteration: self.iteration,
            agent_name: None,
            permission_mode: None,
            effort: None,
            data,
        };
        if point.is_hook() {
            let permissions = desk.permissions.as_ref();
            question.agent_name = self.parent.as_ref().map(|parent| parent.name.clone());
            question.permission_mode = permissions.map(|permissions| permissions.mode);
            question.effort.clone_from(&self.asked.config.effort);
        }
        question
    }

    /// How long an answer is waited for; none for ever.
    fn patience_ms(&self, desk: &Desk<'_>, point: Point, wait: &Wait) -> Option<u64> {
        let timeouts = &desk.config.timeouts;
        match (point, wait) {
            (Point::Permission | Point::Classify, _) => desk.permissions.as_ref()?.timeout_ms,
            (Point::Summarize, _) => timeouts.first_chunk_ms,
            (Point::StopCondition | Point::StopRepeat, _) => Some(QUESTION_MS),
            // Checking an input counts against the tool's time, or a check that never settles would hold the run for ever.
            (Point::PrepareCalls, Wait::Calls { indexes }) => {
                let calls = indexes.iter().filter_map(|index| self.tools.calls.get(*index));
                let longest_ms = calls.map(|call| call.timeout_ms.or(timeouts.tool_ms)).max();
                longest_ms.flatten().or(Some(QUESTION_MS))
            }
            _ => timeouts.tool_ms.or(Some(QUESTION_MS)),
        }
    }

    /// A question was answered, by whom it was put to or by nobody.
    pub fn handle_answered(&mut self, desk: &mut Desk<'_>, question: EffectId, answer: Answer) {
        desk.ledger.close(question);
        let kind = EventKind::Answered {
            question_id: question,
        };
        desk.ledger.emit(self.place(), kind);
        let Some((at, asked)) = self.asks.find(question) else {
            return;
        };
        let asker = asked.asker;
        let Some(point) = self.asks.open.get(at).map(|pending| pending.point) else {
            return;
        };
        let mut answer = match answer {
            Answer::Failed { why } => self.failed(desk, point, asker, why),
            answer => answer,
        };
        if let Answer::Hook(said) = &mut answer
            && let Some(message) = said.system_message.take()
        {
            self.warn(desk, "hook_message", message);
        }
        if let Some((_, asked)) = self.asks.find(question) {
            asked.answer = Some(answer);
        }
        let is_settled = |pending: &mut Pending| pending.asked.iter().all(|asked| asked.answer.is_some());
        if self.asks.open.get_mut(at).is_some_and(is_settled) {
            let Pending { point, wait, asked } = self.asks.open.remove(at);
            let answers = asked.into_iter().filter_map(|asked| asked.answer);
            self.go_on(desk, point, wait, joined(answers));
        }
    }

    /// Nobody has answered in time.
    #[inline(never)]
    pub fn handle_question_timeout(&mut self, desk: &mut Desk<'_>, question: EffectId, point: Point) {
        let why = failure::late(point).to_owned();
        self.call_off(desk, question, &why);
        self.handle_answered(desk, question, Answer::Failed { why });
    }

    /// Whoever was asked is told to stop.
    fn call_off(&self, desk: &mut Desk<'_>, question: EffectId, why: &str) {
        let why = why.to_owned();
        desk.ledger.output(Output::Withdraw { question, why });
    }

    /// Closes the questions of these points: nobody waits for them any more. Gives what has waited.
    fn withdraw(&mut self, desk: &mut Desk<'_>, which: impl Fn(Point, &Wait) -> bool) -> Vec<Wait> {
        let open = std::mem::take(&mut self.asks.open);
        let mut waited = Vec::new();
        for pending in open {
            if !which(pending.point, &pending.wait) {
                self.asks.open.push(pending);
                continue;
            }
            for Asked { question, .. } in pending.asked {
                if desk.ledger.close(question) {
                    self.call_off(desk, question, "nobody waits for it any more");
                }
            }
            waited.push(pending.wait);
        }
        waited
    }

    /// The answer goes no further: nothing of what waits at a point goes on, but what tools have brought stays.
    pub(crate) fn withdraw_all(&mut self, desk: &mut Desk<'_>) {
        let waited = self.withdraw(desk, |point, wait| !wait.is_beside(point));
        for wait in waited {
            match wait {
                Wait::Output(guarded) => self.withhold(desk, guarded.blocks),
                // The calls that gave an answer which is still being checked are closed.
                Wait::Check { call_ids, .. } => self.close_answer(&call_ids),
                _ => {}
            }
        }
    }

    /// Nothing comes of what nobody waits for: the iteration is over, or the agent (`all`).
    pub(crate) fn withdraw_beside(&mut self, desk: &mut Desk<'_>, all: bool) {
        let is_of_iteration = |wait: &Wait| {
            let Wait::Time { timer } = wait else { return false };
            matches!(timer, TimerReason::Iteration { .. })
        };
        self.withdraw(desk, |point, wait| {
            wait.is_beside(point) && (all || is_of_iteration(wait))
        });
    }

    /// Everybody has answered: takes up what has waited.
    fn go_on(&mut self, desk: &mut Desk<'_>, point: Point, wait: Wait, answer: Answer) {
        match answer {
            Answer::Hook(verdict) => self.after_hooks(desk, point, wait, *verdict),
            Answer::Permission(answer) | Answer::Classified(answer) => {
                let Wait::Call { index } = wait else { return };
                self.handle_permission(desk, index, answer);
            }
            Answer::Stop(stops) => self.handle_stop_answer(desk, point, stops),
            Answer::Summary(summary) => self.apply_summary(desk, &summary),
            Answer::Worded(texts) => self.handle_words(desk, texts),
            Answer::Checked(checked) => {
                let Wait::Check { written, call_ids } = wait else {
                    return;
                };
                self.handle_checked(desk, written, &call_ids, checked);
            }
            answer => {
                let Wait::Calls { indexes } = wait else { return };
                self.handle_prepared(desk, &indexes, answer);
            }
        }
    }

    fn after_hooks(&mut self, desk: &mut Desk<'_>, point: Point, wait: Wait, mut verdict: HookAnswer) {
        let stop = match point {
            Point::Stop | Point::SubagentStop | Point::OutputGuardrail => None,
            _ => verdict.stop.take(),
        };
        match (point, wait) {
            (_, Wait::Prompt { .. } | Wait::Session { .. }) if stop.is_some() => {}
            (_, Wait::Session { prompt }) => return self.after_session(desk, prompt, verdict),
            (
                _,
                Wait::Prompt {
                    content,
                    source,
                    owes_answer,
                },
            ) => return self.after_prompt(desk, content, &source, owes_answer, verdict),
            (_, Wait::Output(guarded)) => return self.after_output(desk, guarded, verdict),
            (_, Wait::IterationEnd { owes_answer }) => return self.hand_over(desk, owes_answer),
            (_, Wait::Limit { stopped_by, before }) => {
                return self.after_limit(desk, stopped_by, before, verdict.limits);
            }
            (_, Wait::Time { timer }) => return self.after_time(desk, timer, verdict.limits),
            (Point::Stop | Point::SubagentStop, _) => return self.after_stop(desk, verdict),
            (Point::InputGuardrail, _) => return self.after_input(desk, verdict),
            (Point::PreCompact, _) => return self.after_precompact(desk, verdict),
            (Point::PostCompact, _) => return self.guard_summary(desk),
            (Point::PrepareIteration, _) => return self.after_prepare(desk, verdict),
            (Point::PostToolBatch, _) => {
                self.note(&mut verdict, true);
                if stop.is_none() {
                    return self.finish_round(desk);
                }
            }
            (point, wait) => {
                if self.after_call_hooks(desk, point, wait, verdict) {
                    return self.stop(desk, StoppedBy::FatalTool);
                }
            }
        }
        if self.ended.is_some() {
            return;
        }
        match stop {
            Some(why) => self.stop_because(desk, StoppedBy::Hook, why),
            None => self.advance_tools(desk),
        }
    }

    /// The model is told what hooks add. `blocks`: a denial is no more than something to tell.
    pub(crate) fn note(&mut self, verdict: &mut HookAnswer, blocks: bool) {
        if blocks && verdict.denies() {
            self.notes.extend(verdict.reason.take().map(Block::text));
        }
        self.notes.extend(verdict.context.drain(..).map(Block::text));
    }
}

/// Several functions answer together only where hooks do.
fn joined(mut answers: impl Iterator<Item = Answer>) -> Answer {
    let mut verdict = HookAnswer::default();
    loop {
        match answers.next() {
            Some(Answer::Hook(said)) => verdict.join(*said),
            Some(answer) => return answer,
            None => return Answer::Hook(Box::new(verdict)),
        }
    }
}
