//! The usage and the limits of each agent, including the agents below it.
//!
//! The root's account is the run's. An open call counts with its reported usage, or with its reservation if that is
//! more. So a limit is exceeded by at most one response per running agent.
//!
//! The agents record usage here and check limits before they send. Nothing here stops an agent.

use std::collections::BTreeMap;

use crate::engine::model::config::Limits;
use crate::engine::model::journal::UsageState;
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::usage::{Usage, add_report};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Account {
    /// The agent's caller; `None` for the root.
    parent: Option<u32>,
    max_total_tokens: Option<u64>,
    max_cost_nano_usd: Option<u64>,
    max_tool_calls: Option<u32>,
    kept: UsageState,
}

/// An open model call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OpenCall {
    agent: u32,
    reported: Option<Usage>,
    /// The estimated usage.
    reserved: Usage,
}

impl OpenCall {
    fn claimed(&self) -> Usage {
        let reserved = &self.reserved;
        let reported = self.reported.unwrap_or_default();
        Usage {
            input_tokens: reported.input_tokens.max(reserved.input_tokens),
            output_tokens: reported.output_tokens.max(reserved.output_tokens),
            cost_nano_usd: reported.cost_nano_usd.max(reserved.cost_nano_usd),
            ..reported
        }
    }
}

/// The accounts of a run, by the index of the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    all: Vec<Account>,
    open: Vec<OpenCall>,
    /// The reported usage of all finished calls, by the name of the model.
    by_model: BTreeMap<String, Option<Usage>>,
}

impl Accounts {
    /// Opens the account of the next agent.
    pub fn add(&mut self, parent: Option<u32>, limits: &Limits) {
        self.all.push(Account {
            parent,
            max_total_tokens: limits.max_total_tokens,
            max_cost_nano_usd: limits.max_cost_nano_usd,
            max_tool_calls: limits.max_tool_calls,
            kept: UsageState::default(),
        });
    }

    /// The counts of an agent, for the journal.
    pub fn kept(&self, agent: u32) -> UsageState {
        let account = self.account(agent);
        account.map(|account| account.kept.clone()).unwrap_or_default()
    }

    /// Restores the counts from another process.
    pub fn restore(&mut self, agent: u32, kept: &UsageState) {
        if let Some(account) = self.all.get_mut(agent as usize) {
            account.kept.clone_from(kept);
        }
    }

    /// Restores the usage per model from another process.
    pub fn restore_models(&mut self, by_model: &BTreeMap<String, Option<Usage>>) {
        self.by_model.clone_from(by_model);
    }

    /// Replaces the limits of an agent.
    pub fn limit(&mut self, agent: u32, limits: &Limits) {
        if let Some(account) = self.all.get_mut(agent as usize) {
            account.max_total_tokens = limits.max_total_tokens;
            account.max_cost_nano_usd = limits.max_cost_nano_usd;
            account.max_tool_calls = limits.max_tool_calls;
        }
    }

    /// Records the usage so far of the agent's open call.
    pub fn note(&mut self, agent: u32, usage: Usage) {
        self.change_open(agent, &mut |open| open.reported = Some(usage));
    }

    /// Reserves the estimated usage of the agent's next or open call.
    pub fn reserve(&mut self, agent: u32, usage: Usage) {
        let cost_nano_usd = usage.cost_nano_usd.or(Some(0));
        self.change_open(agent, &mut |open| {
            open.reserved = Usage {
                cost_nano_usd,
                ..usage
            }
        });
    }

    pub fn reserved(&self, agent: u32) -> Usage {
        let open = self.open.iter().find(|open| open.agent == agent);
        open.map(|open| open.reserved).unwrap_or_default()
    }

    /// Closes the agent's call with its reported usage. An answer without any counts with its estimate.
    pub fn count(&mut self, agent: u32, usage: Option<&Usage>) {
        let reserved = self.reserved(agent);
        self.open.retain(|open| open.agent != agent);
        let tokens = usage.map_or(0, Usage::total_tokens);
        let is_unreported = tokens == 0 && reserved.output_tokens > 0;
        let mut at = Some(agent);
        while let Some(account) = at.and_then(|at| self.all.get_mut(at as usize)) {
            add_report(&mut account.kept.spent, usage);
            if is_unreported {
                account.kept.unreported.add(&reserved);
            }
            at = account.parent;
        }
    }

    /// Returns true if every call has been counted.
    pub fn has_no_open_call(&self) -> bool {
        self.open.is_empty()
    }

    /// Adds a model's answer to the usage per model.
    pub fn count_model(&mut self, model: &str, usage: Option<&Usage>) {
        match self.by_model.get_mut(model) {
            Some(sum) => add_report(sum, usage),
            None => drop(self.by_model.insert(model.to_owned(), usage.copied())),
        }
    }

    /// The reported usage of each model that has answered.
    pub fn by_model(&self) -> &BTreeMap<String, Option<Usage>> {
        &self.by_model
    }

    /// The reported usage of the agent and those below it, including open calls. `None` if none was reported.
    pub fn used(&self, agent: u32) -> Option<Usage> {
        let mut used = self.account(agent).and_then(|account| account.kept.spent);
        for open in self.open_below(agent) {
            add_report(&mut used, open.reported.as_ref());
        }
        used
    }

    /// The reported usage with the reserved and estimated usage.
    fn claimed(&self, agent: u32) -> Usage {
        let mut claimed = Usage::default();
        if let Some(account) = self.account(agent) {
            claimed = account.kept.spent.unwrap_or_default();
            claimed.add(&account.kept.unreported);
        }
        for open in self.open_below(agent) {
            claimed.add(&open.claimed());
        }
        claimed
    }

    /// Records how many tools the agent has called so far.
    pub fn note_tool_calls(&mut self, agent: u32, calls: usize) {
        if let Some(account) = self.all.get_mut(agent as usize) {
            account.kept.tool_calls = calls;
        }
    }

    pub fn own_tool_calls(&self, agent: u32) -> usize {
        self.account(agent).map_or(0, |account| account.kept.tool_calls)
    }

    /// The number of tool calls of the agent and those below it.
    pub fn tool_calls(&self, agent: u32) -> usize {
        let of_it = |(index, account): (usize, &Account)| {
            let is_below = self.is_below(index as u32, agent);
            if is_below { account.kept.tool_calls } else { 0 }
        };
        self.all.iter().enumerate().map(of_it).sum()
    }

    /// The topmost agent, from this one upwards, that would exceed its tool calls if this one made `more`.
    pub fn overcalled(&self, agent: u32, more: usize) -> Option<u32> {
        let mut found = None;
        let mut at = Some(agent);
        while let Some((index, account)) = at.and_then(|at| Some((at, self.all.get(at as usize)?))) {
            let is_over = |most: u32| self.tool_calls(index) + more > most as usize;
            if account.max_tool_calls.is_some_and(is_over) {
                found = Some(index);
            }
            at = account.parent;
        }
        found
    }

    fn change_open(&mut self, agent: u32, change: &mut dyn FnMut(&mut OpenCall)) {
        if let Some(open) = self.open.iter_mut().find(|open| open.agent == agent) {
            return change(open);
        }
        let mut open = OpenCall {
            agent,
            ..OpenCall::default()
        };
        change(&mut open);
        self.open.push(open);
    }

    fn open_below(&self, agent: u32) -> impl Iterator<Item = &OpenCall> {
        self.open
            .iter()
            .filter(move |open| self.is_below(open.agent, agent))
    }

    fn account(&self, agent: u32) -> Option<&Account> {
        self.all.get(agent as usize)
    }

    /// The topmost agent, from this one upwards, that has used more tokens or money than it may.
    pub fn overrun(&self, agent: u32) -> Option<(u32, StoppedBy)> {
        let mut found = None;
        let mut at = Some(agent);
        while let Some((index, account)) = at.and_then(|at| Some((at, self.all.get(at as usize)?))) {
            at = account.parent;
            if account.max_total_tokens.is_none() && account.max_cost_nano_usd.is_none() {
                continue;
            }
            let used = self.claimed(index);
            let is_over = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used > limit);
            if is_over(account.max_total_tokens, used.total_tokens()) {
                found = Some((index, StoppedBy::Tokens));
            } else if is_over(account.max_cost_nano_usd, used.cost_nano_usd.unwrap_or(0)) {
                found = Some((index, StoppedBy::Usd));
            }
        }
        found
    }

    /// The topmost agent, from this one upwards, that has exceeded a limit on itself and the agents below it.
    pub fn exceeded(&self, agent: u32) -> Option<(u32, StoppedBy)> {
        let calls = self.overcalled(agent, 0);
        self.overrun(agent)
            .or_else(|| calls.map(|above| (above, StoppedBy::ToolCalls)))
    }

    /// Returns true if `above` is this agent or one above it.
    pub fn is_below(&self, agent: u32, above: u32) -> bool {
        let mut at = Some(agent);
        while let Some(index) = at {
            if index == above {
                return true;
            }
            at = self.all.get(index as usize).and_then(|account| account.parent);
        }
        false
    }
}
