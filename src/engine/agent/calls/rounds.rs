//! The rounds of calls that are over: their number, their records, and whether they repeat each other.
//!
//! [`Rounds::add`] adds the calls of a round that is over. The stop conditions then judge it:
//! [`Rounds::meets_condition`] those of the options, and [`Rounds::ask_to_stop`] asks your code about the others and
//! about rounds that repeat each other. Nothing here ends the agent.

use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::next::Next;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::model::config::StopCondition;
use crate::engine::model::journal::{RepeatsState, RoundsState};
use crate::engine::model::outcome::ToolCallRecord;
use crate::engine::model::question::{Facts, Point};
use crate::engine::policy::repeat::Advice;

/// The rounds of an agent that are over.
#[derive(Clone, Default)]
pub struct Rounds {
    kept: RoundsState,
    repeats: RepeatsState,
    records: Vec<ToolCallRecord>,
    /// Index of the first record of the last round.
    last_start: usize,
}

impl Rounds {
    /// The rounds of a checkpoint. `last_round` is the number of the records of the last one.
    pub fn restored(
        kept: RoundsState,
        repeats: RepeatsState,
        records: Vec<ToolCallRecord>,
        last_round: usize,
    ) -> Rounds {
        Rounds {
            kept,
            repeats,
            last_start: records.len().saturating_sub(last_round),
            records,
        }
    }

    pub fn kept(&self) -> (&RoundsState, &RepeatsState) {
        (&self.kept, &self.repeats)
    }

    /// The number of rounds.
    pub fn count(&self) -> u32 {
        self.kept.rounds
    }

    /// The calls of all rounds, in request order.
    pub fn records(&self) -> &[ToolCallRecord] {
        &self.records
    }

    /// The calls of the last round.
    pub fn last(&self) -> &[ToolCallRecord] {
        self.records.get(self.last_start..).unwrap_or_default()
    }

    /// The calls of the last round, if it was in this iteration.
    pub fn last_of(&self, iteration: u32) -> &[ToolCallRecord] {
        if self.kept.round_iteration == iteration {
            self.last()
        } else {
            &[]
        }
    }

    /// Adds a round. Returns the step that its repetitions call for.
    pub fn add(&mut self, ctx: &AgentContext<'_>, batch: &Batch) -> Advice {
        self.last_start = self.records.len();
        self.records.extend(batch.told().map(|call| call.record(false)));
        self.kept.rounds += 1;
        self.kept.round_iteration = ctx.identity.kept.iteration;
        let round = self.records.get(self.last_start..).unwrap_or_default();
        self.repeats.repeats.note(&ctx.config.repeat, round)
    }

    /// Adds the calls of an answer that is not used. They are a round if some of them `ran` while it streamed.
    pub fn add_unused(&mut self, batch: &Batch, ran: bool) {
        self.kept.rounds += u32::from(ran);
        self.records.extend(batch.told().map(|call| call.record(false)));
    }

    /// Returns true if the last round meets one of the conditions in the options.
    pub fn meets_condition(&self, ctx: &AgentContext<'_>) -> bool {
        let meets = |condition: &StopCondition| match condition {
            StopCondition::Iterations(most) => ctx.identity.kept.iteration >= *most,
            StopCondition::ToolCall(name) => self.last().iter().any(|record| record.tool_name == *name),
        };
        ctx.config.stop_when.iter().any(meets)
    }

    /// Asks about repeated rounds, with their number `repeats`, or calls the condition that is a function.
    pub fn ask_to_stop(&self, ctx: &mut AgentContext<'_>, repeats: Option<u32>) -> Next {
        let point = match repeats {
            Some(_) => Point::StopRepeat,
            None if ctx.config.ask_stop => Point::StopCondition,
            None => return Next::HandOver { owes_answer: true },
        };
        let facts = Facts::Round {
            iteration: ctx.identity.kept.iteration,
            times: repeats,
            tool_calls: self.last(),
        };
        ctx.ask(Ask::new(point, About::Phase, &facts));
        Next::Wait
    }
}
