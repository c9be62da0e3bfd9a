//! The stop conditions, which are judged when a round of calls is over.
//!
//! [`Calls::meets_condition`] judges those of the options. Your code is asked about the others, and about rounds that
//! repeat each other. Nothing here ends the agent.

use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::calls::Calls;
use crate::engine::agent::desk::Desk;
use crate::engine::agent::next::Next;
use crate::engine::model::config::StopCondition;
use crate::engine::model::question::{Facts, Point};

impl Calls {
    /// Returns true if the round meets one of the conditions in the options.
    pub fn meets_condition(&self, desk: &Desk<'_>) -> bool {
        let meets = |condition: &StopCondition| match condition {
            StopCondition::Iterations(most) => desk.who.kept.iteration >= *most,
            StopCondition::ToolCall(name) => {
                let mut round = self.last_round().iter();
                round.any(|record| record.tool_name == *name)
            }
        };
        desk.config.stop_when.iter().any(meets)
    }

    /// Asks about repeated rounds, of which there are `repeats`, or about the condition that is a function.
    pub fn ask_to_stop(&self, desk: &mut Desk<'_>, repeats: Option<u32>) -> Next {
        let point = match repeats {
            Some(_) => Point::StopRepeat,
            None if desk.config.ask_stop => Point::StopCondition,
            None => return Next::HandOver { owes_answer: true },
        };
        let facts = Facts::Round {
            iteration: desk.who.kept.iteration,
            times: repeats,
            tool_calls: self.last_round(),
        };
        desk.ask(Ask::new(point, About::Phase, &facts));
        Next::Wait
    }
}
