//! The gate for every question of an agent to your functions: hooks, guardrails, permissions, limits, stop
//! conditions, summaries and so on ([`points`]). Tool calls do not pass through it.
//!
//! [`AgentContext::ask`] asks all functions of a point at the same time. Call [`AgentContext::has_hooks`] before you
//! ask a point of hooks: a point without hooks is never answered. Each answer arrives in [`AgentContext::answered`].
//! If a question times out, [`AgentContext::late_answer`] creates its answer. The last answer closes the point, and
//! the agent takes the step that was waiting (`Agent::continue_step`).
//!
//! [`AgentContext::withdraw_asks`], [`AgentContext::withdraw_time`] and [`AgentContext::withdraw_all`] close
//! questions that have become irrelevant. [`points`] has the data of each point. Nothing here evaluates an answer,
//! and nothing fails: the row of the point says which answer replaces a missing one.

pub mod points;

use crate::engine::agent::context::AgentContext;
use crate::engine::agent::questions::points::{Class, Missing, Wait, as_reported, row};
use crate::engine::ledger::timers::{QUESTION_MS, TimerReason};
use crate::engine::model::event::EventKind;
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::json::word;
use crate::engine::model::message::Json;
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::output::{EffectId, EffectKind, Output};
use crate::engine::model::question::{Answer, Facts, Point, Question};

/// The open questions of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Questions {
    open: Vec<Pending>,
}

/// An open question.
#[derive(Clone, Debug, PartialEq)]
struct Pending {
    agent: u32,
    point: Point,
    about: About,
    questions: Vec<OpenQuestion>,
}

/// The question to one function.
#[derive(Clone, Debug, PartialEq)]
struct OpenQuestion {
    question: EffectId,
    asker: u32,
    answer: Option<Answer>,
}

/// The subject of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum About {
    /// The data of the agent's phase.
    Phase,
    /// A tool call, by its place in the batch.
    Call(usize),
    /// A question of a running call, by the call's place in the batch and the number of the question.
    Elicitation(usize, u32),
    /// Calls that are prepared together.
    Calls(Vec<usize>),
    /// A limit that blocks the next step.
    Limit(StoppedBy),
    /// More time is requested. Everything continues meanwhile.
    Time(TimerReason),
    /// No step waits for the answer.
    Nothing,
}

/// A question on its way out.
pub struct Ask<'a> {
    pub point: Point,
    /// The name that hooks with a matcher are compared with: a tool, an agent, a source.
    pub name: &'a str,
    pub about: About,
    /// The [`Facts`] of the point.
    pub data: Json,
    /// The time of the tools that the question is about.
    pub tool_ms: Option<u64>,
    /// The question is opened, but the output `Ask` is left out. It stays open until your code answers it.
    pub is_put_off: bool,
    /// The id with which another process has asked it.
    pub id: Option<EffectId>,
}

impl<'a> Ask<'a> {
    pub fn new(point: Point, about: About, facts: &Facts<'_>) -> Ask<'a> {
        Ask {
            point,
            name: "",
            about,
            data: facts.to_json(),
            tool_ms: None,
            is_put_off: false,
            id: None,
        }
    }

    pub fn named(self, name: &'a str) -> Ask<'a> {
        Ask { name, ..self }
    }
}

/// A point with the answers of all its functions.
pub struct Settled {
    pub point: Point,
    pub about: About,
    pub answer: Answer,
}

impl Questions {
    pub fn is_at(&self, agent: u32, point: Point) -> bool {
        let is_it = |pending: &Pending| pending.agent == agent && pending.point == point;
        self.open.iter().any(is_it)
    }

    /// Returns true if the agent waits for a limit to be raised.
    pub fn holds(&self, agent: u32) -> bool {
        let holds = |pending: &Pending| pending.agent == agent && matches!(pending.about, About::Limit(_));
        self.open.iter().any(holds)
    }

    /// Returns true if more of this time has been asked for.
    pub fn is_about(&self, timer: TimerReason) -> bool {
        let about = About::Time(timer);
        self.open.iter().any(|pending| pending.about == about)
    }

    fn find(&mut self, question: EffectId) -> Option<(usize, &mut OpenQuestion)> {
        self.open.iter_mut().enumerate().find_map(|(at, pending)| {
            let mut questions = pending.questions.iter_mut();
            let open = questions.find(|open| open.question == question);
            open.map(|open| (at, open))
        })
    }
}

impl AgentContext<'_> {
    /// Asks every function at this point with a matcher that matches the name. There must be at least one. Returns
    /// the id of the first question.
    pub fn ask(&mut self, ask: Ask<'_>) -> EffectId {
        let Ask { point, name, .. } = ask;
        let question = self.question(point, ask.data);
        let row = row(point);
        let askers: Vec<(u32, Option<u64>)> = if row.class.is_hooked() {
            let hooks = (0..).zip(self.hooks());
            let hooks = hooks.filter(|(_, hook)| hook.is_for(point, name));
            hooks.map(|(asker, hook)| (asker, hook.timeout_ms)).collect()
        } else {
            vec![(0, self.wait_ms(row.wait, ask.tool_ms))]
        };
        let is_about_call = row.class == Class::Permission;
        let mut questions = Vec::with_capacity(askers.len());
        for (asker, timeout_ms) in askers {
            let kind = EffectKind::Question(point);
            let id = match ask.id {
                Some(id) => self.ledger.reopen(id, self.identity.agent, kind),
                None => self.ledger.open(self.identity.agent, kind),
            };
            let kind = EventKind::Question {
                question_id: id,
                question: as_reported(point),
                data: is_about_call.then(|| question.data.clone()),
            };
            self.emit(kind);
            self.ledger.set_timer(TimerReason::Effect(id), timeout_ms);
            if !ask.is_put_off {
                let ask = Question {
                    asker,
                    ..question.clone()
                };
                self.ledger.output(Output::Ask { question: id, ask });
            }
            questions.push(OpenQuestion {
                question: id,
                asker,
                answer: None,
            });
        }
        let first = questions.first().map_or(0, |open| open.question);
        self.questions.open.push(Pending {
            agent: self.identity.agent,
            point,
            about: ask.about,
            questions,
        });
        first
    }

    fn question(&self, point: Point, data: Json) -> Question {
        let identity = &*self.identity;
        let mut question = Question {
            point,
            asker: 0,
            profile: identity.kept.profile,
            agent_path: identity.path.clone(),
            iteration: identity.kept.iteration,
            agent_name: None,
            permission_mode: None,
            effort: None,
            data,
        };
        if row(point).class == Class::Hook {
            let permissions = self.permissions.as_ref();
            question.agent_name = identity.parent.as_ref().map(|parent| parent.name.clone());
            question.permission_mode = permissions.map(|permissions| permissions.mode);
            question.effort.clone_from(&identity.model.asked().effort);
        }
        question
    }

    /// The wait for an answer, in milliseconds. `None` waits for ever.
    fn wait_ms(&self, wait: Wait, tool_ms: Option<u64>) -> Option<u64> {
        let timeouts = &self.config.timeouts;
        match wait {
            Wait::Permission => timeouts.permission_ms,
            Wait::Person => None,
            Wait::FirstChunk => timeouts.first_chunk_ms,
            // A function that never settles would block the run forever.
            Wait::Tool => tool_ms.or(timeouts.tool_ms).or(Some(QUESTION_MS)),
            Wait::Hook | Wait::Longest => Some(QUESTION_MS),
        }
    }

    /// Takes the answer to a question, or the failure in its place. Returns the point if that was its last answer.
    pub fn answered(&mut self, question: EffectId, answer: Answer) -> Option<Settled> {
        if let (Answer::Failed { why }, Missing::StaysOpen(code)) = (&answer, self.missing(question)?) {
            self.warn(code, why.clone());
            return None;
        }
        self.ledger.close(question);
        let question_id = question;
        self.emit(EventKind::Answered {
            question_id,
            updated_input: answer.updated_input().cloned(),
            is_withdrawn: false,
        });
        let (at, OpenQuestion { asker, .. }) = self.questions.find(question)?;
        let (asker, point) = (*asker, self.questions.open.get(at)?.point);
        let mut answer = match answer {
            Answer::Failed { why } => self.replaced(point, asker, why),
            answer => answer,
        };
        if let Answer::Hook(said) = &mut answer
            && let Some(message) = said.system_message.take()
        {
            self.warn("hook_message", message);
        }
        self.questions.find(question)?.1.answer = Some(answer);
        let pending = self.questions.open.get(at)?;
        if pending.questions.iter().any(|open| open.answer.is_none()) {
            return None;
        }
        let Pending {
            point,
            about,
            questions,
            ..
        } = self.questions.open.remove(at);
        let answer = joined(questions.into_iter().filter_map(|open| open.answer));
        Some(Settled { point, about, answer })
    }

    fn missing(&mut self, question: EffectId) -> Option<Missing> {
        let (at, _) = self.questions.find(question)?;
        Some(row(self.questions.open.get(at)?.point).missing)
    }

    /// The answer that replaces a missing one. `asker` is the index of the hook that was asked.
    fn replaced(&mut self, point: Point, asker: u32, why: String) -> Answer {
        let blocks = match row(point).missing {
            Missing::Answer(answer) => return answer(why),
            Missing::Warned(answer, code, words) => {
                self.warn(code, format!("{}{why}", words.concat()));
                return answer(why);
            }
            Missing::AsHookSays => self.hooks().get(asker as usize).is_some_and(|hook| hook.blocks),
            Missing::PassedOver | Missing::StaysOpen(_) => false,
        };
        let verdict = if blocks {
            HookAnswer::denial(why)
        } else {
            let message = format!("A hook for {} failed: {why}", word(point));
            self.warn("hook_failed", message);
            HookAnswer::default()
        };
        Answer::Hook(Box::new(verdict))
    }

    /// Aborts the function after its timeout. Returns the failure that replaces its answer.
    pub fn late_answer(&mut self, question: EffectId, point: Point) -> Answer {
        let why = row(point).late.to_owned();
        self.call_off(question, &why);
        Answer::Failed { why }
    }

    fn call_off(&mut self, question: EffectId, why: &str) {
        let why = why.to_owned();
        self.ledger.output(Output::Withdraw { question, why });
    }

    /// Closes questions of the agent that no one waits for any more.
    fn withdraw(&mut self, which: impl Fn(&About) -> bool) {
        let agent = self.identity.agent;
        let (closed, open) = std::mem::take(&mut self.questions.open)
            .into_iter()
            .partition(|pending| pending.agent == agent && which(&pending.about));
        self.questions.open = open;
        let closed: Vec<Pending> = closed;
        for OpenQuestion { question, .. } in closed.into_iter().flat_map(|pending| pending.questions) {
            if self.ledger.close(question) {
                self.emit(EventKind::Answered {
                    question_id: question,
                    updated_input: None,
                    is_withdrawn: true,
                });
                self.call_off(question, "its answer is no longer needed");
            }
        }
    }

    /// Closes all questions that a step of the agent waits for.
    pub fn withdraw_asks(&mut self) {
        self.withdraw(|about| !matches!(about, About::Time(_) | About::Nothing));
    }

    /// Closes the question for more time of an iteration that is over.
    pub fn withdraw_time(&mut self) {
        self.withdraw(|about| matches!(about, About::Time(TimerReason::Iteration { .. })));
    }

    /// Closes the questions of a call that has ended.
    pub fn withdraw_elicitations(&mut self, of: usize) {
        self.withdraw(|about| matches!(about, About::Elicitation(call, _) if *call == of));
    }

    /// Closes all questions of an agent that has ended.
    pub fn withdraw_all(&mut self) {
        self.withdraw(|_| true);
    }
}

/// Joins the answers of hooks. Only hooks have several functions at one point.
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
