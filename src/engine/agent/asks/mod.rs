//! The one gate between the agents of a run and your functions: hooks, guardrails, permissions, limits, stop
//! conditions, summaries, preparation, the wording of errors, checks of answers.
//!
//! [`Desk::ask`] asks all functions of a point at once. Each answer comes in through [`Desk::answered`], each
//! time-out through [`Desk::late_answer`]. The last of them closes the point, and the agent takes the step that has
//! waited ([`crate::engine::agent::Agent::go_on`]). [`Desk::withdraw`] closes questions whose answers nobody waits
//! for any more. [`failure`] words the answer that replaces a missing one. Nothing here judges an answer.

mod failure;

use serde::{Deserialize, Serialize};

use crate::engine::agent::desk::Desk;
use crate::engine::agent::who::Who;
use crate::engine::ledger::Place;
use crate::engine::ledger::timers::{QUESTION_MS, TimerReason};
use crate::engine::model::event::EventKind;
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::output::{EffectId, EffectKind, Output};
use crate::engine::model::question::{Answer, Facts, Point, Question};

/// The open questions of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Asks {
    open: Vec<Pending>,
}

/// A point at which somebody is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pending {
    agent: u32,
    point: Point,
    about: About,
    asked: Vec<Asked>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Asked {
    question: EffectId,
    asker: u32,
    answer: Option<Answer>,
}

/// The subject of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum About {
    /// The data of the agent's phase.
    Phase,
    /// A tool call, by its place in the batch.
    Call(usize),
    /// Calls that are prepared together.
    Calls(Vec<usize>),
    /// A limit that keeps the next step from being taken.
    Limit(StoppedBy),
    /// More time is asked for, and everything goes on meanwhile.
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
    pub facts: &'a Facts<'a>,
    /// The wait for one function, for points that have no wait of their own.
    pub patience_ms: Option<u64>,
    /// The question is opened, but nobody is told. It stays open until your code answers it.
    pub is_put_off: bool,
}

impl<'a> Ask<'a> {
    pub fn new(point: Point, about: About, facts: &'a Facts<'a>) -> Ask<'a> {
        Ask {
            point,
            name: "",
            about,
            facts,
            patience_ms: None,
            is_put_off: false,
        }
    }

    pub fn named(self, name: &'a str) -> Ask<'a> {
        Ask { name, ..self }
    }
}

/// A point at which all functions have answered.
pub struct Settled {
    pub point: Point,
    pub about: About,
    pub answer: Answer,
}

impl Asks {
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

    fn find(&mut self, question: EffectId) -> Option<(usize, &mut Asked)> {
        self.open.iter_mut().enumerate().find_map(|(at, pending)| {
            let asked = pending.asked.iter_mut().find(|asked| asked.question == question);
            asked.map(|asked| (at, asked))
        })
    }
}

impl Desk<'_> {
    /// Asks every function at this point whose matcher fits the name; there must be at least one. Returns the id of
    /// the first question.
    pub fn ask(&mut self, who: &Who, ask: Ask<'_>) -> EffectId {
        let Ask { point, about, .. } = ask;
        let question = self.question(who, point, ask.facts);
        let askers: Vec<(u32, Option<u64>)> = if point.is_hooked() {
            let hooks = (0..).zip(self.hooks());
            let hooks = hooks.filter(|(_, hook)| hook.is_for(point, ask.name));
            hooks.map(|(asker, hook)| (asker, hook.timeout_ms)).collect()
        } else {
            vec![(0, self.patience_ms(point, ask.patience_ms))]
        };
        let is_about_call = matches!(point, Point::Permission | Point::Classify);
        let mut asked = Vec::with_capacity(askers.len());
        for (asker, timeout_ms) in askers {
            let id = self.ledger.open(who.agent, EffectKind::Question(point));
            let kind = EventKind::Question {
                question_id: id,
                question: point.told(),
                data: is_about_call.then(|| question.data.clone()),
            };
            self.emit(who.place(), kind);
            self.ledger.set_timer(TimerReason::Effect(id), timeout_ms);
            if !ask.is_put_off {
                let ask = Question {
                    asker,
                    ..question.clone()
                };
                self.ledger.output(Output::Ask { question: id, ask });
            }
            asked.push(Asked {
                question: id,
                asker,
                answer: None,
            });
        }
        let first = asked.first().map_or(0, |asked| asked.question);
        self.asks.open.push(Pending {
            agent: who.agent,
            point,
            about,
            asked,
        });
        first
    }

    fn question(&self, who: &Who, point: Point, facts: &Facts<'_>) -> Question {
        let mut question = Question {
            point,
            asker: 0,
            profile: who.profile,
            agent_path: who.path.clone(),
            iteration: who.iteration,
            agent_name: None,
            permission_mode: None,
            effort: None,
            data: facts.to_json(),
        };
        if point.is_hook() {
            let permissions = self.permissions.as_ref();
            question.agent_name = who.parent.as_ref().map(|parent| parent.name.clone());
            question.permission_mode = permissions.map(|permissions| permissions.mode);
            question.effort.clone_from(&who.model.config.effort);
        }
        question
    }

    /// The wait for an answer, in milliseconds. `None` waits for ever.
    fn patience_ms(&self, point: Point, own_ms: Option<u64>) -> Option<u64> {
        let timeouts = &self.config.timeouts;
        match point {
            Point::Permission | Point::Classify => self.permissions.as_ref()?.timeout_ms,
            Point::Summarize => timeouts.first_chunk_ms,
            Point::StopCondition | Point::StopRepeat => Some(QUESTION_MS),
            // A function that never settles would hold the run for ever.
            _ => own_ms.or(timeouts.tool_ms).or(Some(QUESTION_MS)),
        }
    }

    /// Takes the answer to a question, or the failure in its place. Returns the point if that was its last answer.
    pub fn answered(&mut self, place: Place, question: EffectId, answer: Answer) -> Option<Settled> {
        self.ledger.close(question);
        let question_id = question;
        self.emit(place, EventKind::Answered { question_id });
        let (at, Asked { asker, .. }) = self.asks.find(question)?;
        let (asker, point) = (*asker, self.asks.open.get(at)?.point);
        let mut answer = match answer {
            Answer::Failed { why } => self.failed(place, point, asker, why),
            answer => answer,
        };
        if let Answer::Hook(said) = &mut answer
            && let Some(message) = said.system_message.take()
        {
            self.warn(place, "hook_message", message);
        }
        self.asks.find(question)?.1.answer = Some(answer);
        let pending = self.asks.open.get(at)?;
        if pending.asked.iter().any(|asked| asked.answer.is_none()) {
            return None;
        }
        let Pending {
            point, about, asked, ..
        } = self.asks.open.remove(at);
        let answer = joined(asked.into_iter().filter_map(|asked| asked.answer));
        Some(Settled { point, about, answer })
    }

    /// Tells the function that was asked to stop, because its time is over. Returns the failure that replaces its
    /// answer.
    pub fn late_answer(&mut self, question: EffectId, point: Point) -> Answer {
        let why = failure::late(point).to_owned();
        self.call_off(question, &why);
        Answer::Failed { why }
    }

    fn call_off(&mut self, question: EffectId, why: &str) {
        let why = why.to_owned();
        self.ledger.output(Output::Withdraw { question, why });
    }

    /// Closes questions of an agent whose answers nobody waits for any more.
    fn withdraw(&mut self, agent: u32, which: impl Fn(&About) -> bool) {
        let (closed, open) = std::mem::take(&mut self.asks.open)
            .into_iter()
            .partition(|pending| pending.agent == agent && which(&pending.about));
        self.asks.open = open;
        let closed: Vec<Pending> = closed;
        for Asked { question, .. } in closed.into_iter().flat_map(|pending| pending.asked) {
            if self.ledger.close(question) {
                self.call_off(question, "nobody waits for it any more");
            }
        }
    }

    /// Closes all questions that a step of the agent waits for.
    pub fn withdraw_asks(&mut self, agent: u32) {
        self.withdraw(agent, |about| !matches!(about, About::Time(_) | About::Nothing));
    }

    /// Closes the question for more time of an iteration that is over.
    pub fn withdraw_time(&mut self, agent: u32) {
        self.withdraw(agent, |about| {
            matches!(about, About::Time(TimerReason::Iteration { .. }))
        });
    }

    /// Closes all questions of an agent that has ended.
    pub fn withdraw_all(&mut self, agent: u32) {
        self.withdraw(agent, |_| true);
    }
}

/// Joins the verdicts of hooks. Only hooks have several functions at one point.
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
