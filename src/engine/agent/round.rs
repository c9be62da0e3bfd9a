//! Whether a run stops after a round of tools: its conditions, its repetitions.

use crate::engine::agent::asks::Wait;
use crate::engine::agent::{Agent, Desk};
use crate::engine::json::writer::decimal;
use crate::engine::model::config::StopCondition;
use crate::engine::model::message::Block;
use crate::engine::model::outcome::{StoppedBy, ToolCallRecord};
use crate::engine::model::question::{Facts, Point};
use crate::engine::policy::repeat::Advice;

impl Agent {
    /// Notes the round that is over.
    pub(super) fn judge_round(&mut self, desk: &Desk<'_>) -> Advice {
        self.tool_rounds += 1;
        self.round_iteration = self.iteration;
        let round = self.records.get(self.round_start..).unwrap_or_default();
        self.repeats.note(&desk.config.repeat, round)
    }

    /// What the model is told beside the results: what hooks say, and about its repetitions.
    pub(super) fn nudge(&mut self, desk: &mut Desk<'_>, advice: Advice) -> Vec<Block> {
        let mut more = std::mem::take(&mut self.notes);
        let (Advice::Nudge(times) | Advice::Ask(times)) = advice else {
            return more;
        };
        let message = [
            "You have made the same tool calls with the same results ",
            &decimal(times as usize),
            " times. Do something else, or answer with what you know.",
        ]
        .concat();
        self.warn(desk, "repeat", message.clone());
        more.push(Block::text(message));
        more
    }

    /// The round is in the transcript: the run stops, the host is asked, or the model goes on.
    pub(super) fn follow_round(&mut self, desk: &mut Desk<'_>, advice: Advice) {
        if advice == Advice::Stop {
            return self.end_stopped(desk, StoppedBy::Repeat);
        }
        if desk
            .config
            .stop_when
            .iter()
            .any(|condition| self.meets(condition))
        {
            return self.end_stopped(desk, StoppedBy::Condition);
        }
        match advice {
            Advice::Ask(times) if desk.config.ask_repeat => {
                self.ask_stop(desk, Point::StopRepeat, Some(times));
            }
            _ => self.ask_condition(desk),
        }
    }

    pub(super) fn handle_stop_answer(&mut self, desk: &mut Desk<'_>, point: Point, stops: bool) {
        match (stops, point) {
            (true, Point::StopRepeat) => self.end_stopped(desk, StoppedBy::Repeat),
            (true, _) => self.end_stopped(desk, StoppedBy::Condition),
            (false, Point::StopRepeat) => self.ask_condition(desk),
            (false, _) => self.hand_over(desk, true),
        }
    }

    fn ask_condition(&mut self, desk: &mut Desk<'_>) {
        if desk.config.ask_stop {
            self.ask_stop(desk, Point::StopCondition, None);
        } else {
            self.hand_over(desk, true);
        }
    }

    fn ask_stop(&mut self, desk: &mut Desk<'_>, point: Point, times: Option<u32>) {
        let facts = Facts::Round {
            iteration: self.iteration,
            times,
            tool_calls: self.last_round(),
        };
        let data = facts.to_json();
        self.ask(desk, point, "", data, Wait::Point);
    }

    fn meets(&self, condition: &StopCondition) -> bool {
        match condition {
            StopCondition::Iterations(most) => self.iteration >= *most,
            StopCondition::ToolCall(name) => self.last_round().iter().any(|record| record.tool_name == *name),
        }
    }

    /// The calls of the round that is over.
    pub(super) fn last_round(&self) -> &[ToolCallRecord] {
        self.records.get(self.round_start..).unwrap_or_default()
    }
}
