//! Limits of an agent: when they are hit, and how the host raises them, asked or unasked.

use crate::engine::agent::asks::{Step, Wait};
use crate::engine::agent::{Agent, Desk};
use crate::engine::json::writer::{push_key, push_number};
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::config::Limits;
use crate::engine::model::event::EventKind;
use crate::engine::model::message::Json;
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::question::{Facts, Point};
use crate::engine::model::usage::Usage;
use crate::engine::policy::estimate;
use crate::engine::policy::hook::Raise;

impl Desk<'_> {
    /// Limits also count what vendors have not reported yet, by estimate.
    pub(super) fn estimates_usage(&self) -> bool {
        let root = self.profiles.first();
        root.is_some_and(|root| root.config.estimate_usage)
    }
}

impl Agent {
    /// The limits as they stand.
    pub(super) fn limits<'a>(&'a self, desk: &Desk<'a>) -> &'a Limits {
        self.limits.as_ref().unwrap_or(&desk.config.limits)
    }

    /// What keeps the next iteration from beginning.
    pub(super) fn limit_on_iteration(&self, desk: &Desk<'_>) -> Option<StoppedBy> {
        if Some(self.iteration) >= self.limits(desk).max_iterations {
            return Some(StoppedBy::Iterations);
        }
        self.over_limit(desk)
    }

    /// What keeps the calls of an answer from being run.
    pub(super) fn limit_on_tools(&self, desk: &Desk<'_>) -> Option<StoppedBy> {
        let limits = self.limits(desk);
        if let Some(stopped_by) = self.over_limit(desk) {
            Some(stopped_by)
        } else if limits
            .max_tool_rounds
            .is_some_and(|most| self.tool_rounds >= most)
        {
            Some(StoppedBy::ToolRounds)
        } else {
            let over = desk.ledger.accounts.overcalled(self.index, self.new_calls(desk));
            over.map(|_| StoppedBy::ToolCalls)
        }
    }

    /// Calls that its account does not have yet.
    fn new_calls(&self, desk: &Desk<'_>) -> usize {
        let all = self.records.len() + self.tools.told().count();
        all.saturating_sub(desk.ledger.accounts.own_tool_calls(self.index))
    }

    /// The calls of a whole answer count, for the agents above too.
    pub(super) fn count_calls(&self, desk: &mut Desk<'_>) {
        let all = self.records.len() + self.tools.told().count();
        desk.ledger.accounts.note_tool_calls(self.index, all);
    }

    /// Whether the host is asked before a limit stops the agent.
    pub(super) fn may_raise(&self, desk: &Desk<'_>) -> bool {
        desk.has_hooks(Point::Limit, "")
    }

    /// The host may raise it; else the agent stops.
    pub(super) fn reach_limit(&mut self, desk: &mut Desk<'_>, stopped_by: StoppedBy, before: Step) {
        // Of a limit of an agent above, that one is asked about.
        let accounts = &desk.ledger.accounts;
        let whose = match stopped_by {
            StoppedBy::ToolCalls => accounts.overcalled(self.index, 0),
            _ => accounts.overrun(self.index).map(|(agent, _)| agent),
        };
        let is_own = whose.is_none_or(|agent| agent == self.index);
        if !is_own || !self.may_raise(desk) {
            return self.stop(desk, stopped_by);
        }
        let wait = Wait::Limit { stopped_by, before };
        self.ask_about_limit(desk, stopped_by, wait, None);
    }

    /// A time is over. The host may give more; until it has answered everything goes on.
    pub fn time_is_up(&mut self, desk: &mut Desk<'_>, timer: TimerReason) {
        if !self.may_raise(desk) {
            return self.stop(desk, StoppedBy::Time);
        }
        let timeout = match timer {
            TimerReason::Iteration { .. } => "iterationMs",
            _ => "totalMs",
        };
        self.ask_about_limit(desk, StoppedBy::Time, Wait::Time { timer }, Some(timeout));
    }

    fn ask_about_limit(
        &mut self,
        desk: &mut Desk<'_>,
        stopped_by: StoppedBy,
        wait: Wait,
        timeout: Option<&str>,
    ) {
        let facts = Facts::Limit {
            limit: stopped_by,
            timeout,
            usage: &desk.ledger.accounts.used(self.index),
            tool_rounds: self.tool_rounds,
            tool_calls: desk.ledger.accounts.tool_calls(self.index),
        };
        let data = facts.to_json();
        self.ask(desk, Point::Limit, "", data, wait);
    }

    pub(super) fn after_limit(
        &mut self,
        desk: &mut Desk<'_>,
        stopped_by: StoppedBy,
        before: Step,
        raise: Option<Raise>,
    ) {
        if let Some(raise) = raise {
            self.change_limits(desk, &mut |limits| raise.apply(limits));
        }
        // The host may also have raised it unasked meanwhile.
        let left = match before {
            Step::Iteration => {
                self.reserve(desk);
                self.limit_on_iteration(desk)
            }
            Step::Request => self.over_limit(desk),
            Step::Tools => self.limit_on_tools(desk),
        };
        match (left, before) {
            (Some(same), _) if same == stopped_by => self.stop(desk, same),
            (Some(other), _) => self.reach_limit(desk, other, before),
            (None, Step::Iteration) => self.prepare_iteration(desk),
            (None, Step::Request) => self.handle_backoff_over(desk),
            (None, Step::Tools) => {
                self.ask_to_prepare(desk);
                self.advance_tools(desk);
            }
        }
    }

    /// Whether the next request of an iteration must wait for more budget, or never goes out: an attempt before it, a
    /// summary or another agent has used up what there was.
    pub(super) fn lacks_budget(&mut self, desk: &mut Desk<'_>) -> bool {
        self.reserve(desk);
        let stopped_by = self.over_limit(desk);
        if let Some(stopped_by) = stopped_by {
            self.reach_limit(desk, stopped_by, Step::Request);
        }
        stopped_by.is_some()
    }

    pub(super) fn after_time(&mut self, desk: &mut Desk<'_>, timer: TimerReason, raise: Option<Raise>) {
        let raise = raise.unwrap_or_default();
        // The host may also have added time unasked meanwhile.
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

    /// Where usage is estimated, the next request's input is set aside in its account and those above before it is sent.
    pub(super) fn reserve(&self, desk: &mut Desk<'_>) {
        if desk.estimates_usage() {
            self.reserve_tokens(desk, self.tokens(desk), 0);
        }
    }

    /// The same for what has come of its answer, until the vendor reports more.
    pub(super) fn reserve_answer(&self, desk: &mut Desk<'_>) {
        let Some(model) = self.model.as_ref().filter(|_| desk.estimates_usage()) else {
            return;
        };
        let written: usize = model.answer.parts.iter().map(|part| part.text.len()).sum();
        let input_tokens = desk.ledger.accounts.reserved(self.index).input_tokens;
        self.reserve_tokens(desk, input_tokens, estimate::tokens(written as u64));
    }

    fn reserve_tokens(&self, desk: &mut Desk<'_>, input_tokens: u64, output_tokens: u64) {
        let reserved = Usage {
            input_tokens,
            output_tokens,
            ..Usage::default()
        };
        let price = self.asked.config.price.as_ref();
        desk.ledger.accounts.reserve(self.index, reserved.priced(price));
    }

    /// The host gives more of what is limited, unasked.
    #[inline(never)]
    pub fn add_budget(&mut self, desk: &mut Desk<'_>, more: &Raise) {
        let timer = self.total_timer();
        if let Some(ms) = more.time_ms {
            let at_ms = desk.ledger.timers.at(timer);
            if let Some(at_ms) = at_ms {
                desk.ledger.timers.set(timer, at_ms.saturating_add(ms));
            } else if self.asks.is_about_time(timer) {
                desk.ledger.set_timer(timer, Some(ms));
            }
        }
        self.change_limits(desk, &mut |limits| more.add_to(limits));
    }

    fn change_limits(&mut self, desk: &mut Desk<'_>, change: &mut dyn FnMut(&mut Limits)) {
        let limits = self.limits.get_or_insert_with(|| desk.config.limits.clone());
        change(limits);
        desk.ledger.accounts.limit(self.index, limits);
        self.tell_limits(desk);
    }

    /// Of the run, or of the call that the agent answers.
    fn total_timer(&self) -> TimerReason {
        match &self.parent {
            None => TimerReason::Total,
            Some(parent) => TimerReason::Effect(parent.call),
        }
    }

    fn tell_limits(&self, desk: &mut Desk<'_>) {
        let limits = self.limits(desk);
        let at_ms = desk.ledger.timers.at(self.total_timer());
        let rows = [
            ("maxIterations", limits.max_iterations.map(u64::from)),
            ("maxTotalTokens", limits.max_total_tokens),
            ("maxCostNanoUsd", limits.max_cost_nano_usd),
            ("maxToolRounds", limits.max_tool_rounds.map(u64::from)),
            ("maxToolCalls", limits.max_tool_calls.map(u64::from)),
            (
                "timeLeftMs",
                at_ms.map(|at_ms| at_ms.saturating_sub(desk.ledger.now_ms)),
            ),
        ];
        let mut json = b"{".to_vec();
        for (key, limit) in rows {
            push_key(&mut json, key);
            match limit {
                Some(limit) => push_number(&mut json, limit),
                None => json.extend_from_slice(b"null"),
            }
        }
        json.push(b'}');
        let limits = Json::from_valid(&String::from_utf8(json).unwrap_or_default());
        desk.ledger.emit(self.place(), EventKind::Limits { limits });
    }
}
