//! Whether a run stops after a round of tools: its conditions, its repetitions.

use serde::Serialize;

use crate::engine::agent::{Agent, Desk};
use crate::engine::json::writer::decimal;
use crate::engine::ledger::timers::{QUESTION_MS, TimerReason};
use crate::engine::model::config::StopCondition;
use crate::engine::model::event::EventKind;
use crate::engine::model::input::QuestionAnswer;
use crate::engine::model::message::{Block, Json};
use crate::engine::model::outcome::{StoppedBy, ToolCallRecord};
use crate::engine::model::output::{EffectKind, Output, Question, StopAbout};
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
                self.ask_stop(desk, StopAbout::Repeat, Some(times));
            }
            _ => self.ask_condition(desk),
        }
    }

    pub(super) fn handle_stop_answer(&mut self, desk: &mut Desk<'_>, answer: QuestionAnswer) {
        let Some((_, about)) = self.stop_question.take() else {
            return;
        };
        let stop = matches!(answer, QuestionAnswer::Stop(true));
        if let QuestionAnswer::Failed { why } = answer {
            let message = ["Whether to stop was not decided: ", &why].concat();
            self.warn(desk, "stop_undecided", message);
        }
        match (stop, about) {
            (true, StopAbout::Condition) => self.end_stopped(desk, StoppedBy::Condition),
            (true, StopAbout::Repeat) => self.end_stopped(desk, StoppedBy::Repeat),
            (false, StopAbout::Repeat) => self.ask_condition(desk),
            (false, StopAbout::Condition) => self.hand_over(desk, true),
        }
    }

    fn ask_condition(&mut self, desk: &mut Desk<'_>) {
        if desk.config.ask_stop {
            self.ask_stop(desk, StopAbout::Condition, None);
        } else {
            self.hand_over(desk, true);
        }
    }

    fn ask_stop(&mut self, desk: &mut Desk<'_>, about: StopAbout, times: Option<u32>) {
        let question = desk.ledger.open(self.index, EffectKind::Question);
        self.stop_question = Some((question, about));
        desk.ledger
            .set_timer(TimerReason::Question { question }, Some(QUESTION_MS));
        let kind = EventKind::Question {
            question_id: question,
            question: ["stop_", about.name()].concat(),
            data: None,
        };
        desk.ledger.emit(self.place(), kind);
        let round = self.round_json(times);
        desk.ledger.output(Output::Ask {
            question,
            ask: Question::Stop { about, round },
        });
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

    fn round_json(&self, times: Option<u32>) -> Json {
        Json::of(&Round {
            iteration: self.iteration,
            times,
            tool_calls: self.last_round(),
        })
    }
}

/// A round of tools that is over, as those hear of it who decide whether the run stops.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Round<'a> {
    iteration: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<u32>,
    tool_calls: &'a [ToolCallRecord],
}
