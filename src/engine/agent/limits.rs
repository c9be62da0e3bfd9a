//! The limits of an agent: when they are reached, and how they are raised.
//!
//! Steps ask `limit_on_iteration` or `lacks_budget` before they go on, and call `reach_limit` if there is a limit.
//! With `onLimit` your code is asked for more; else the agent stops. The counts themselves stand in the ledger's
//! accounts, and the deadlines in its timers.

use crate::engine::agent::Agent;
use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::desk::Desk;
use crate::engine::agent::machine::step::Phase;
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::answer::ModelAnswer;
use crate::engine::model::config::Limits;
use crate::engine::model::event::{CurrentLimits, EventKind};
use crate::engine::model::hook::Raise;
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::question::{Facts, Point};
use crate::engine::model::usage::Usage;
use crate::engine::policy::estimate;

impl Agent {
    /// The limit that keeps the next iteration from beginning.
    pub(super) fn limit_on_iteration(&self, desk: &Desk<'_>) -> Option<StoppedBy> {
        if Some(desk.who.kept.iteration) >= desk.limits().max_iterations {
            return Some(StoppedBy::Iterations);
        }
        desk.overrun()
    }

    /// Asks for more of the limit, or stops the agent if nobody can be asked.
    pub(super) fn reach_limit(&mut self, desk: &mut Desk<'_>, stopped_by: StoppedBy) {
        // Your code is asked about a limit in the name of the agent that owns it, so an agent below stops here.
        let accounts = &desk.ledger.accounts;
        let whose = match stopped_by {
            StoppedBy::ToolCalls => accounts.overcalled(desk.who.agent, 0),
            _ => accounts.overrun(desk.who.agent).map(|(agent, _)| agent),
        };
        let is_own = whose.is_none_or(|agent| agent == desk.who.agent);
        if !is_own || !desk.may_raise() {
            return self.stop(desk, stopped_by);
        }
        self.ask_about_limit(desk, stopped_by, About::Limit(stopped_by), None);
    }

    /// Asks for more time, or stops the agent. Everything goes on until the answer comes.
    pub fn time_is_up(&mut self, desk: &mut Desk<'_>, timer: TimerReason) {
        if !desk.may_raise() {
            return self.stop(desk, StoppedBy::Time);
        }
        let timeout = match timer {
            TimerReason::Iteration { .. } => "iterationMs",
            _ => "totalMs",
        };
        self.ask_about_limit(desk, StoppedBy::Time, About::Time(timer), Some(timeout));
    }

    fn ask_about_limit(
        &mut self,
        desk: &mut Desk<'_>,
        limit: StoppedBy,
        about: About,
        timeout: Option<&str>,
    ) {
        let accounts = &desk.ledger.accounts;
        let facts = Facts::Limit {
            limit,
            timeout,
            usage: accounts.used(desk.who.agent),
            tool_rounds: self.calls.kept.rounds,
            tool_calls: accounts.tool_calls(desk.who.agent),
        };
        desk.ask(Ask::new(Point::Limit, about, &facts));
    }

    /// Takes the answer of your code at a limit.
    pub(super) fn after_limit(&mut self, desk: &mut Desk<'_>, about: &About, raise: Option<Raise>) {
        match *about {
            About::Limit(stopped_by) => self.go_on_behind(desk, stopped_by, raise),
            About::Time(timer) => self.after_time(desk, timer, raise),
            About::Phase | About::Call(_) | About::Elicitation(..) | About::Calls(_) | About::Nothing => {}
        }
    }

    /// Takes the step that the limit has held up, unless a limit still holds it.
    fn go_on_behind(&mut self, desk: &mut Desk<'_>, stopped_by: StoppedBy, raise: Option<Raise>) {
        if let Some(raise) = raise {
            self.change_limits(desk, &mut |limits| raise.apply(limits));
        }
        // Your code may also have raised the limit unasked in the meantime.
        let phase = self.machine.phase();
        let left = match phase {
            Phase::Preparing => {
                self.reserve(desk);
                self.limit_on_iteration(desk)
            }
            Phase::Running => self.calls.limit(desk, 0),
            _ => desk.overrun(),
        };
        match (left, phase) {
            (Some(same), _) if same == stopped_by => self.stop(desk, same),
            (Some(other), _) => self.reach_limit(desk, other),
            (None, Phase::Preparing) => self.prepare(desk),
            (None, Phase::Running) => self.start_calls(desk),
            (None, _) => self.send_again(desk),
        }
    }

    /// Returns true if the next request must wait for more budget or never goes out. An earlier attempt, a summary or
    /// another agent may have used the budget up.
    pub(super) fn lacks_budget(&mut self, desk: &mut Desk<'_>) -> bool {
        self.reserve(desk);
        let stopped_by = desk.overrun();
        if let Some(stopped_by) = stopped_by {
            self.reach_limit(desk, stopped_by);
        }
        stopped_by.is_some()
    }

    fn after_time(&mut self, desk: &mut Desk<'_>, timer: TimerReason, raise: Option<Raise>) {
        let raise = raise.unwrap_or_default();
        // Your code may also have added time unasked in the meantime.
        let from_ms = desk.ledger.timers.at(timer);
        match raise.time_ms.filter(|ms| *ms > 0) {
            Some(ms) => {
                let from_ms = from_ms.unwrap_or(desk.ledger.now_ms);
                desk.ledger.timers.set(timer, from_ms.saturating_add(ms));
            }
            None if from_ms.is_none() => return self.stop(desk, StoppedBy::Time),
            None => {}
        }
        if raise != Raise::default() {
            self.change_limits(desk, &mut |limits| raise.apply(limits));
        }
    }

    /// Sets the estimated input of the next request aside in the accounts of this agent and those above it.
    pub(super) fn reserve(&self, desk: &mut Desk<'_>) {
        if desk.estimates_usage() {
            self.reserve_tokens(desk, self.history.tokens(desk), 0);
        }
    }

    /// Sets the estimated text of the answer aside, until the vendor reports its usage.
    pub(super) fn reserve_answer(&self, desk: &mut Desk<'_>, answer: &ModelAnswer) {
        if desk.estimates_usage() {
            let written: usize = answer.parts.iter().map(|part| part.text.len()).sum();
            let input_tokens = desk.ledger.accounts.reserved(desk.who.agent).input_tokens;
            self.reserve_tokens(desk, input_tokens, estimate::tokens(written as u64));
        }
    }

    fn reserve_tokens(&self, desk: &mut Desk<'_>, input_tokens: u64, output_tokens: u64) {
        let reserved = Usage {
            input_tokens,
            output_tokens,
            ..Usage::default()
        };
        let price = desk.who.model.config.price.as_ref();
        desk.ledger
            .accounts
            .reserve(desk.who.agent, reserved.priced(price));
    }

    /// Adds to a limit, unasked.
    pub fn add_budget(&mut self, desk: &mut Desk<'_>, more: &Raise) {
        let timer = desk.who.total_timer();
        if let Some(ms) = more.time_ms {
            let at_ms = desk.ledger.timers.at(timer);
            if let Some(at_ms) = at_ms {
                desk.ledger.timers.set(timer, at_ms.saturating_add(ms));
            } else if desk.asks.is_about(timer) {
                desk.ledger.set_timer(timer, Some(ms));
            }
        }
        self.change_limits(desk, &mut |limits| more.add_to(limits));
    }

    fn change_limits(&mut self, desk: &mut Desk<'_>, change: &mut dyn FnMut(&mut Limits)) {
        let limits = desk
            .who
            .kept
            .limits
            .get_or_insert_with(|| desk.config.limits.clone());
        change(limits);
        desk.ledger.accounts.limit(desk.who.agent, limits);
        self.tell_limits(desk);
    }

    fn tell_limits(&self, desk: &mut Desk<'_>) {
        let limits = desk.limits();
        let at_ms = desk.ledger.timers.at(desk.who.total_timer());
        let limits = CurrentLimits {
            max_iterations: limits.max_iterations.unwrap_or(u32::MAX),
            max_total_tokens: limits.max_total_tokens,
            max_cost_nano_usd: limits.max_cost_nano_usd,
            max_tool_rounds: limits.max_tool_rounds,
            max_tool_calls: limits.max_tool_calls,
            time_left_ms: at_ms.map(|at_ms| at_ms.saturating_sub(desk.ledger.now_ms)),
        };
        desk.emit(EventKind::Limits { limits });
    }
}
