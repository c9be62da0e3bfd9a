//! Whether a run stops before or after a round of tools: its limits, its conditions, its repetitions.

use super::super::config::{Limits, StopCondition};
use super::super::event::EventKind;
use super::super::event_json::push_usage;
use super::super::json_writer::{decimal, push_comma, push_count, push_flag, push_key, push_raw, push_text};
use super::super::message::{Block, Json};
use super::super::outcome::{StoppedBy, ToolCallRecord};
use super::super::output::{EffectKind, Output, Question, StopAbout};
use super::super::policy::hook::{HookEvent, Raise};
use super::super::policy::repeat::Advice;
use super::hooking::HookPoint;
use super::{Agent, Desk};

impl Agent {
    /// The limits as they stand.
    pub(super) fn limits<'a>(&'a self, desk: &Desk<'a>) -> &'a Limits {
        self.limits.as_ref().unwrap_or(&desk.config.limits)
    }

    /// What keeps the next iteration from beginning.
    pub(super) fn limit_on_iteration(&self, desk: &Desk<'_>) -> Option<StoppedBy> {
        if self.iteration >= self.limits(desk).max_iterations {
            return Some(StoppedBy::Iterations);
        }
        self.over_budget(desk)
    }

    /// Whether the host is asked before a limit stops the agent.
    pub(super) fn may_raise(&self, desk: &Desk<'_>) -> bool {
        desk.has_hooks(HookEvent::Limit, "")
    }

    /// The host may raise it; else the agent stops. `in_tools`: before the calls of an answer.
    pub(super) fn reach_limit(&mut self, desk: &mut Desk<'_>, stopped_by: StoppedBy, in_tools: bool) {
        // Of a limit of an agent above, that one is asked about.
        let overrun = desk.ledger.accounts.overrun(self.index);
        let is_own = overrun.is_none_or(|(agent, _)| agent == self.index);
        if !is_own || !self.may_raise(desk) {
            return self.stop(desk, stopped_by);
        }
        let event = HookEvent::Limit;
        let mut input = self.hook_input(event);
        push_text(&mut input, "limit", stopped_by.name());
        push_usage(&mut input, "usage", &desk.ledger.accounts.used(self.index));
        push_count(&mut input, "toolRounds", self.tool_rounds.into());
        let calls = self.records.len() + self.tools.calls.len();
        push_count(&mut input, "toolCalls", calls as u64);
        let point = HookPoint::Limit { stopped_by, in_tools };
        self.ask_hooks(desk, event, "", point, input);
    }

    pub(super) fn after_limit(
        &mut self,
        desk: &mut Desk<'_>,
        stopped_by: StoppedBy,
        in_tools: bool,
        raise: Option<Raise>,
    ) {
        let Some(raise) = raise else {
            return self.stop(desk, stopped_by);
        };
        let limits = self.limits.get_or_insert_with(|| desk.config.limits.clone());
        raise.apply(limits);
        desk.ledger.accounts.limit(self.index, limits);
        let left = if in_tools {
            self.limit_on_tools(desk)
        } else {
            self.limit_on_iteration(desk)
        };
        match left {
            Some(same) if same == stopped_by => self.stop(desk, same),
            Some(other) => self.reach_limit(desk, other, in_tools),
            None if in_tools => {
                self.ask_to_prepare(desk);
                self.advance_tools(desk);
            }
            None => self.prepare_iteration(desk),
        }
    }

    /// What keeps the calls of an answer from being run.
    pub(super) fn limit_on_tools(&self, desk: &Desk<'_>) -> Option<StoppedBy> {
        let limits = self.limits(desk);
        let calls = self.records.len() + self.tools.calls.len();
        if let Some(stopped_by) = self.over_budget(desk) {
            Some(stopped_by)
        } else if limits
            .max_tool_rounds
            .is_some_and(|most| self.tool_rounds >= most)
        {
            Some(StoppedBy::ToolRounds)
        } else if limits.max_tool_calls.is_some_and(|most| calls > most as usize) {
            Some(StoppedBy::ToolCalls)
        } else {
            None
        }
    }

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
        let code = "repeat".into();
        desk.ledger.emit(
            self.place(),
            EventKind::Warning {
                code,
                message: message.clone(),
            },
        );
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

    pub(super) fn handle_stop_answer(&mut self, desk: &mut Desk<'_>, stop: bool) {
        let Some((_, about)) = self.stop_question.take() else {
            return;
        };
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
            StopCondition::ToolCall(name) => self.last_round().iter().any(|record| record.name == *name),
        }
    }

    /// The calls of the round that is over.
    pub(super) fn last_round(&self) -> &[ToolCallRecord] {
        self.records.get(self.round_start..).unwrap_or_default()
    }

    fn round_json(&self, times: Option<u32>) -> Json {
        let mut json = b"{".to_vec();
        let into = &mut json;
        push_count(into, "iteration", self.iteration.into());
        if let Some(times) = times {
            push_count(into, "times", times.into());
        }
        push_key(into, "toolCalls");
        into.push(b'[');
        for record in self.last_round() {
            push_comma(into);
            into.push(b'{');
            push_text(into, "toolCallId", &record.id);
            push_text(into, "toolName", &record.name);
            push_raw(into, "input", record.input.as_str());
            push_raw(
                into,
                "output",
                record.output.as_ref().map_or("null", Json::as_str),
            );
            push_flag(into, "isError", record.is_error);
            into.push(b'}');
        }
        into.extend_from_slice(b"]}");
        Json::from_valid(&String::from_utf8(json).unwrap_or_default())
    }
}
