//! The limits of an agent: when they are reached, and how they are raised.
//!
//! [`AgentLimits`] owns the raised limits. They are part of the context, because a limit can block any step. Steps
//! check [`AgentContext::limit_on_iteration`] or [`AgentContext::overrun`] before they continue. If a limit is
//! reached, the agent does what [`AgentContext::reach_limit`] returns: it asks `onLimit` for a higher limit, or stops
//! if there is no `onLimit`. The counts are in the ledger's accounts, and the deadlines in its timers.

use crate::engine::agent::context::AgentContext;
use crate::engine::agent::next::Next;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::answer::ModelAnswer;
use crate::engine::model::config::Limits;
use crate::engine::model::event::{CurrentLimits, EventKind};
use crate::engine::model::hook::Raise;
use crate::engine::model::journal::LimitsState;
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::question::{Facts, Point};
use crate::engine::model::usage::{Terms, Usage};
use crate::engine::policy::estimate;

/// The limits of an agent that differ from its configuration.
#[derive(Clone, Default)]
pub struct AgentLimits {
    kept: LimitsState,
}

impl AgentLimits {
    pub fn restored(kept: LimitsState) -> AgentLimits {
        AgentLimits { kept }
    }

    pub fn kept(&self) -> &LimitsState {
        &self.kept
    }
}

impl AgentContext<'_> {
    /// The agent's current limits, raised or not.
    pub fn limits(&self) -> &Limits {
        self.identity
            .limits
            .kept
            .limits
            .as_ref()
            .unwrap_or(&self.config.limits)
    }

    /// Returns true if your code is asked before a limit stops an agent.
    pub fn may_raise(&self) -> bool {
        self.has_hooks(Point::Limit, "")
    }

    /// The limit that this agent or one above it has exceeded. An agent above is stopped next. An expired time limit
    /// counts even before the input that reports it.
    pub fn overrun(&self) -> Option<StoppedBy> {
        if self.ledger.is_late(self.identity.agent) && !self.may_raise() {
            return Some(StoppedBy::Time);
        }
        self.ledger
            .accounts
            .overrun(self.identity.agent)
            .map(|(_, by)| by)
    }

    /// The limit that prevents the next iteration.
    pub fn limit_on_iteration(&self) -> Option<StoppedBy> {
        if Some(self.identity.kept.iteration) >= self.limits().max_iterations {
            return Some(StoppedBy::Iterations);
        }
        self.overrun()
    }

    /// Asks for more of the limit, or stops the agent if there is no one to ask.
    pub fn reach_limit(&mut self, stopped_by: StoppedBy, tool_rounds: u32) -> Next {
        // Your code is asked about a limit in the name of the agent that owns it, so an agent below stops here.
        let accounts = &self.ledger.accounts;
        let whose = match stopped_by {
            StoppedBy::ToolCalls => accounts.overcalled(self.identity.agent, 0),
            _ => accounts.overrun(self.identity.agent).map(|(agent, _)| agent),
        };
        let is_own = whose.is_none_or(|agent| agent == self.identity.agent);
        if !is_own || !self.may_raise() {
            return Next::Stop(stopped_by);
        }
        self.ask_about_limit(stopped_by, About::Limit(stopped_by), None, tool_rounds)
    }

    /// Asks for more time, or stops the agent. Everything continues until the answer arrives.
    pub fn time_is_up(&mut self, timer: TimerReason, tool_rounds: u32) -> Next {
        if !self.may_raise() {
            return Next::Stop(StoppedBy::Time);
        }
        let timeout = match timer {
            TimerReason::Iteration { .. } => "iterationMs",
            _ => "totalMs",
        };
        self.ask_about_limit(StoppedBy::Time, About::Time(timer), Some(timeout), tool_rounds)
    }

    fn ask_about_limit(
        &mut self,
        limit: StoppedBy,
        about: About,
        timeout: Option<&str>,
        tool_rounds: u32,
    ) -> Next {
        let accounts = &self.ledger.accounts;
        let facts = Facts::Limit {
            limit,
            timeout,
            usage: accounts.used(self.identity.agent),
            tool_rounds,
            tool_calls: accounts.tool_calls(self.identity.agent),
        };
        self.ask(Ask::new(Point::Limit, about, &facts));
        Next::Wait
    }

    /// Raises limits by the answer of your code at one of them.
    pub fn raise(&mut self, raise: &Raise) {
        self.change_limits(|limits| raise.apply(limits));
    }

    /// Gives the time that your code adds when it is up. Without more time the agent stops.
    pub fn raise_time(&mut self, timer: TimerReason, raise: &Raise) -> Next {
        // Your code may also have added time unasked in the meantime.
        let from_ms = self.ledger.timers.at(timer);
        match raise.time_ms.filter(|ms| *ms > 0) {
            Some(ms) => {
                let from_ms = from_ms.unwrap_or(self.ledger.now_ms);
                self.ledger.timers.set(timer, from_ms.saturating_add(ms));
            }
            None if from_ms.is_none() => return Next::Stop(StoppedBy::Time),
            None => {}
        }
        if *raise != Raise::default() {
            self.raise(raise);
        }
        Next::Wait
    }

    /// Adds to a limit, unasked.
    pub fn add_budget(&mut self, more: &Raise) {
        let timer = self.identity.total_timer();
        if let Some(ms) = more.time_ms {
            let at_ms = self.ledger.timers.at(timer);
            if let Some(at_ms) = at_ms {
                self.ledger.timers.set(timer, at_ms.saturating_add(ms));
            } else if self.questions.is_about(timer) {
                self.ledger.set_timer(timer, Some(ms));
            }
        }
        self.change_limits(|limits| more.add_to(limits));
    }

    fn change_limits(&mut self, change: impl FnOnce(&mut Limits)) {
        let own = &mut self.identity.limits.kept.limits;
        let limits = own.get_or_insert_with(|| self.config.limits.clone());
        change(limits);
        self.ledger.accounts.limit(self.identity.agent, limits);
        self.emit_limits();
    }

    fn emit_limits(&mut self) {
        let limits = self.limits();
        let at_ms = self.ledger.timers.at(self.identity.total_timer());
        let limits = CurrentLimits {
            max_iterations: limits.max_iterations.unwrap_or(u32::MAX),
            max_total_tokens: limits.max_total_tokens,
            max_cost_nano_usd: limits.max_cost_nano_usd,
            max_tool_rounds: limits.max_tool_rounds,
            max_tool_calls: limits.max_tool_calls,
            time_left_ms: at_ms.map(|at_ms| at_ms.saturating_sub(self.ledger.now_ms)),
        };
        self.emit(EventKind::Limits { limits });
    }

    /// Returns true if limits also count estimates of tokens that vendors have not reported yet.
    pub fn estimates_usage(&self) -> bool {
        self.setup.root.config.limits.estimate_usage
    }

    /// Sets the estimated text of the answer aside, until the vendor reports its usage.
    pub fn reserve_answer(&mut self, answer: &ModelAnswer) {
        if self.estimates_usage() {
            let written: usize = answer.parts.iter().map(|part| part.text.len()).sum();
            let input_tokens = self.ledger.accounts.reserved(self.identity.agent).input_tokens;
            self.reserve(input_tokens, estimate::tokens(written as u64));
        }
    }

    /// Sets tokens aside in the accounts of this agent and those above it.
    pub fn reserve(&mut self, input_tokens: u64, output_tokens: u64) {
        let reserved = Usage {
            input_tokens,
            output_tokens,
            ..Usage::default()
        };
        let price = self.identity.model.config.price.as_ref();
        let accounts = &mut self.ledger.accounts;
        accounts.reserve(self.identity.agent, reserved.priced(price, Terms::default()));
    }
}
