//! What each agent and those below it have used, and may use.
//!
//! The root's account is the run's. A call under way counts as far as its usage has been reported, so what is
//! overrun is at most one response per running agent.

use serde::{Deserialize, Serialize};

use super::config::Limits;
use super::outcome::StoppedBy;
use super::usage::Usage;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Account {
    /// Who called the agent; none for the root.
    parent: Option<u32>,
    max_total_tokens: Option<u64>,
    max_cost_nano_usd: Option<u64>,
    /// Of all finished model calls.
    spent: Usage,
}

/// The accounts of a run, by the index of the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounts {
    all: Vec<Account>,
    /// Of the model calls under way.
    open: Vec<(u32, Usage)>,
}

impl Accounts {
    /// The account of the next agent.
    pub fn add(&mut self, parent: Option<u32>, limits: &Limits) {
        self.all.push(Account {
            parent,
            max_total_tokens: limits.max_total_tokens,
            max_cost_nano_usd: limits.max_cost_nano_usd,
            spent: Usage::default(),
        });
    }

    /// What the agent may use from now on.
    pub fn limit(&mut self, agent: u32, limits: &Limits) {
        if let Some(account) = self.all.get_mut(agent as usize) {
            account.max_total_tokens = limits.max_total_tokens;
            account.max_cost_nano_usd = limits.max_cost_nano_usd;
        }
    }

    /// What the agent's call under way has used so far.
    pub fn note(&mut self, agent: u32, usage: Usage) {
        match self.open.iter_mut().find(|(other, _)| *other == agent) {
            Some((_, open)) => *open = usage,
            None => self.open.push((agent, usage)),
        }
    }

    /// The agent's call is over.
    pub fn count(&mut self, agent: u32, usage: &Usage) {
        self.open.retain(|(other, _)| *other != agent);
        let mut at = Some(agent);
        while let Some(account) = at.and_then(|at| self.all.get_mut(at as usize)) {
            account.spent.add(usage);
            at = account.parent;
        }
    }

    /// What the agent and those below it have used, calls under way included.
    pub fn used(&self, agent: u32) -> Usage {
        let mut used = self
            .all
            .get(agent as usize)
            .map(|account| account.spent)
            .unwrap_or_default();
        for (other, usage) in &self.open {
            if self.is_below(*other, agent) {
                used.add(usage);
            }
        }
        used
    }

    /// The topmost agent, of this one and those above it, that has used more than it may.
    pub fn overrun(&self, agent: u32) -> Option<(u32, StoppedBy)> {
        let mut found = None;
        let mut at = Some(agent);
        while let Some((index, account)) = at.and_then(|at| Some((at, self.all.get(at as usize)?))) {
            let used = self.used(index);
            let is_over = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used > limit);
            if is_over(account.max_total_tokens, used.total_tokens()) {
                found = Some((index, StoppedBy::Tokens));
            } else if is_over(account.max_cost_nano_usd, used.cost_nano_usd.unwrap_or(0)) {
                found = Some((index, StoppedBy::Usd));
            }
            at = account.parent;
        }
        found
    }

    fn is_below(&self, agent: u32, above: u32) -> bool {
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
