//! One iteration of an agent, from top to bottom: from "begin" to "hand over".
//!
//! ```text
//! begin → prepare → guard the input → open → fit the history (→ summary) → send
//!       → read (request/reading.rs) → finish the answer → guard it → take it
//!       → run its calls (calls/) → close the round → stop? → hand over → begin, or complete (prompt.rs)
//! ```
//!
//! Each step ends in the next one, or in a phase that waits for the model, a tool or a question. The run enters at
//! [`Agent::handed_over`], and answers to questions enter at the `after_…` step of their point. A limit leads to
//! `reach_limit`, a failure to `end_failed`. This file decides the order only: requests, answers and calls belong to
//! their own modules.

use crate::engine::agent::answer::telling::tell_changes;
use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::calls::batch::ToolBatch;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::desk::Desk;
use crate::engine::agent::inbox::deliver;
use crate::engine::agent::machine::step::{Now, Phase};
use crate::engine::agent::{Agent, Progress};
use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::{OnOutputLimit, StopCondition};
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event::EventKind;
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::journal::Step;
use crate::engine::model::journal::Tries;
use crate::engine::model::message::{Block, Message};
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::output::{EffectKind, Output};
use crate::engine::model::question::{Facts, Point};
use crate::engine::policy::repeat::Advice;

/// The message that makes the model continue an answer that was cut off.
const GO_ON: &str = "Your answer was cut off at the limit of output tokens. Go on exactly where it stopped, without repeating any of it.";

impl Agent {
    pub(super) fn begin(&mut self, desk: &mut Desk<'_>) {
        self.machine.enter(Step::Ask, Now::Preparing);
        self.reserve(desk);
        match self.limit_on_iteration(desk) {
            Some(stopped_by) => self.reach_limit(desk, stopped_by),
            None => self.prepare(desk),
        }
    }

    /// Asks `prepareIteration` how the iteration is to be, if it is set.
    pub(super) fn prepare(&mut self, desk: &mut Desk<'_>) {
        self.end_tuning(desk);
        let wait_ms = desk.config.timeouts.iteration_ms;
        desk.ledger.set_timer(desk.who.iteration_timer(), wait_ms);
        let point = Point::PrepareIteration;
        if !desk.has_hooks(point, "") {
            return self.guard_input(desk);
        }
        let facts = Facts::Iteration {
            model: &desk.who.model.config.model,
            messages: self.history.transcript.messages(),
        };
        desk.ask(Ask::new(point, About::Phase, &facts));
    }

    pub(super) fn after_prepare(&mut self, desk: &mut Desk<'_>, verdict: HookAnswer) {
        self.tune(desk, verdict);
        self.guard_input(desk);
    }

    fn guard_input(&mut self, desk: &mut Desk<'_>) {
        if !desk.has_hooks(Point::InputGuardrail, self.occasion()) {
            return self.open(desk);
        }
        // The guardrail sees the history that is sent.
        self.history.fit(desk);
        self.ask_about_input(desk);
    }

    /// Asks the input guardrail again, because a summary has changed the messages that it has seen.
    pub(super) fn guard_summary(&mut self, desk: &mut Desk<'_>) {
        if !desk.has_hooks(Point::InputGuardrail, self.occasion()) {
            return self.send(desk);
        }
        self.ask_about_input(desk);
    }

    /// The name by which an input guardrail that looks at each prompt once is found.
    fn occasion(&self) -> &'static str {
        if self.kept.has_new_prompt {
            "prompt"
        } else {
            "request"
        }
    }

    fn ask_about_input(&mut self, desk: &mut Desk<'_>) {
        let messages = self.to_send(desk.who).messages();
        let facts = Facts::Input { messages };
        let ask = Ask::new(Point::InputGuardrail, About::Phase, &facts);
        desk.ask(ask.named(self.occasion()));
    }

    pub(super) fn after_input(&mut self, desk: &mut Desk<'_>, verdict: HookAnswer) {
        if verdict.denies() {
            return self.end_denied(desk, "Input", verdict.reason);
        }
        self.kept.has_new_prompt = false;
        if let Some(messages) = verdict.messages
            && messages != self.history.transcript.messages()
        {
            match self
                .history
                .transcript
                .replaced(messages, |name| desk.setup.has_tool(name))
            {
                Ok(transcript) => {
                    self.history.transcript = transcript;
                    let message = "An input guardrail has rewritten the messages.".into();
                    desk.warn("messages_rewritten", message);
                }
                Err(error) => return self.end_denied(desk, "Input", Some(error.to_text())),
            }
        }
        match self.machine.phase() {
            Phase::Preparing => self.open(desk),
            _ => self.send(desk),
        }
    }

    fn open(&mut self, desk: &mut Desk<'_>) {
        desk.who.kept.iteration += 1;
        // The attempts of another process count, and so does their usage.
        if self.progress() != Progress::CutOff {
            desk.who.kept.attempt = 0;
            self.requests.kept.tries = Tries::default();
            self.answers.reply.begin();
        }
        self.set_progress(Progress::Open);
        // The batch still counts the parts of an answer that had no calls.
        self.calls.batch = ToolBatch::default();
        desk.emit(EventKind::IterationStart);
        self.machine.enter(Step::Ask, Now::Sending);
        self.fit(desk);
    }

    /// Shortens the history as far as needed, then sends the request.
    fn fit(&mut self, desk: &mut Desk<'_>) {
        self.history.fit(desk);
        if !self.begin_wanted_summary(desk) {
            self.send(desk);
        }
    }

    /// Sends the first attempt of a request, or a further one.
    pub(super) fn send(&mut self, desk: &mut Desk<'_>) {
        if self.history.length.wants_summary_alone() {
            return self.end_completed(desk);
        }
        if self.lacks_budget(desk) {
            return;
        }
        desk.who.kept.attempt += 1;
        if let Some(call) = self.attach(desk) {
            self.machine.enter(Step::Ask, Now::Reading(Box::new(call)));
            return;
        }
        self.take_next_model(desk);
        self.history.tell_new(desk);
        self.warn_of_raw_results(desk);
        let begun = self.begun(desk);
        if begun.is_none()
            && let Err(error) = self.encode(desk.who, desk.config)
        {
            return self.end_failed(desk, error.into());
        }
        let mut call = self.open_request(desk);
        if let Some((text, body)) = begun {
            call.go_on_from(&text, body);
            tell_changes(&mut call.answer, desk, false);
        }
        self.machine.enter(Step::Ask, Now::Reading(Box::new(call)));
    }

    /// Takes an answer that the guardrails have let through: runs its calls, or ends the iteration.
    pub(super) fn take_answer(&mut self, desk: &mut Desk<'_>, message: Message, calls: Vec<WrittenCall>) {
        self.answers.reply.text_before = String::new();
        self.history.transcript.push_assistant(message);
        self.history.tell_new(desk);
        self.act_on_answer(desk, calls);
    }

    /// Takes the step that follows from the last message, an answer with these calls.
    pub(super) fn act_on_answer(&mut self, desk: &mut Desk<'_>, calls: Vec<WrittenCall>) {
        if calls.is_empty() && self.goes_on(desk) {
            return self.continue_answer(desk);
        }
        if let Some(failure) = self.refused_finish(desk) {
            self.shelve(desk, calls);
            return self.end_failed(desk, failure);
        }
        let Some(calls) = self.structure(desk, calls) else {
            return;
        };
        // The model still owes a structured answer as long as it calls tools.
        let may_end = desk.config.strict_stop_reason && desk.config.output.is_none();
        let is_over = may_end && self.answers.reply.finish_reason == Some(FinishReason::Stop);
        if !calls.is_empty() && !is_over {
            return self.run_calls(desk, calls);
        }
        self.shelve(desk, calls);
        self.finish_iteration(desk);
        let is_paused = self.answers.reply.finish_reason == Some(FinishReason::Pause);
        self.hand_over(desk, is_paused);
    }

    /// Makes the model continue an answer that was cut off.
    fn continue_answer(&mut self, desk: &mut Desk<'_>) {
        self.finish_iteration(desk);
        self.answers.reply.text_before = self.answers.reply.text().to_owned();
        self.history.transcript.push_user(vec![Block::text(GO_ON)]);
        self.hand_over(desk, true);
    }

    /// Returns true if the answer was cut off and the model is to continue it.
    fn goes_on(&self, desk: &Desk<'_>) -> bool {
        self.answers.reply.finish_reason == Some(FinishReason::Length)
            && desk.config.on_max_tokens == OnOutputLimit::Continue
            && !self.answers.reply.text().is_empty()
            && Some(desk.who.kept.iteration) < desk.limits().max_iterations
    }

    /// The failure for a finish reason that the options do not accept.
    fn refused_finish(&self, desk: &Desk<'_>) -> Option<Failure> {
        let raw = self.answers.reply.raw_finish_reason.as_deref().unwrap_or("none");
        let message = match self.answers.reply.finish_reason {
            Some(FinishReason::Length) if desk.config.on_max_tokens == OnOutputLimit::Error => format!(
                "The answer was cut off at the limit of output tokens ({raw}). Raise maxOutputTokens, or set onMaxTokens to \"return\" or \"continue\"."
            ),
            Some(FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Pause) => return None,
            _ if desk.config.strict_stop_reason => format!("unexpected stop_reason: {raw}"),
            _ => return None,
        };
        let mut failure = desk
            .who
            .model
            .describe(Failure::new(FailureCode::FinishReason, message));
        failure.tell_facts();
        Some(failure)
    }

    fn run_calls(&mut self, desk: &mut Desk<'_>, calls: Vec<WrittenCall>) {
        self.machine.enter(Step::Act, Now::Nothing);
        if let Err(error) = self.calls.take_in(desk, calls) {
            return self.end_failed(desk, error);
        }
        self.calls.note_count(desk);
        match self.calls.limit(desk, 0) {
            Some(stopped_by) => self.reach_limit(desk, stopped_by),
            None => self.start_calls(desk),
        }
    }

    pub(super) fn start_calls(&mut self, desk: &mut Desk<'_>) {
        self.calls.prepare(desk);
        let next = self.calls.advance(desk);
        self.follow(desk, next);
    }

    pub(super) fn close_round(&mut self, desk: &mut Desk<'_>) {
        let round = self.calls.close(desk);
        self.history.transcript.push_round(round.results, round.more);
        self.finish_iteration(desk);
        if round.is_last {
            return self.hand_over(desk, false);
        }
        match round.advice {
            Advice::Stop => self.end_stopped(desk, StoppedBy::Repeat),
            Advice::Ask(times) if desk.config.ask_repeat => self.judge_round(desk, Some(times)),
            _ => self.judge_round(desk, None),
        }
    }

    /// Judges the stop conditions when the round is over. `repeats` is the number of repetitions that your code is
    /// asked about.
    pub(super) fn judge_round(&mut self, desk: &mut Desk<'_>, repeats: Option<u32>) {
        self.machine.enter(Step::Close { repeats }, Now::Nothing);
        let conditions = &desk.config.stop_when;
        if conditions.iter().any(|condition| self.meets(desk, condition)) {
            return self.end_stopped(desk, StoppedBy::Condition);
        }
        match repeats {
            Some(times) => self.ask_to_stop(desk, Point::StopRepeat, Some(times)),
            None => self.ask_condition(desk),
        }
    }

    fn meets(&self, desk: &Desk<'_>, condition: &StopCondition) -> bool {
        match condition {
            StopCondition::Iterations(most) => desk.who.kept.iteration >= *most,
            StopCondition::ToolCall(name) => {
                let mut round = self.calls.last_round().iter();
                round.any(|record| record.tool_name == *name)
            }
        }
    }

    fn ask_condition(&mut self, desk: &mut Desk<'_>) {
        if desk.config.ask_stop {
            self.ask_to_stop(desk, Point::StopCondition, None);
        } else {
            self.hand_over(desk, true);
        }
    }

    fn ask_to_stop(&mut self, desk: &mut Desk<'_>, point: Point, times: Option<u32>) {
        let facts = Facts::Round {
            iteration: desk.who.kept.iteration,
            times,
            tool_calls: self.calls.last_round(),
        };
        desk.ask(Ask::new(point, About::Phase, &facts));
    }

    pub(super) fn after_stop_question(&mut self, desk: &mut Desk<'_>, point: Point, stops: bool) {
        match (stops, point) {
            (true, Point::StopRepeat) => self.end_stopped(desk, StoppedBy::Repeat),
            (true, _) => self.end_stopped(desk, StoppedBy::Condition),
            (false, Point::StopRepeat) => self.ask_condition(desk),
            (false, _) => self.hand_over(desk, true),
        }
    }

    pub(super) fn finish_iteration(&mut self, desk: &mut Desk<'_>) {
        match self.progress() {
            Progress::Open => {}
            Progress::CutOff => desk.who.kept.iteration += 1,
            Progress::Finished | Progress::Told => return,
        }
        self.set_progress(Progress::Finished);
        let reply = &self.answers.reply;
        let kind = EventKind::IterationFinish {
            finish_reason: reply.finish_reason,
            raw_finish_reason: reply.raw_finish_reason.clone(),
            usage: reply.usage,
            response_id: reply.response_id.clone(),
            response_model: reply.response_model.clone(),
        };
        desk.emit(kind);
    }

    /// Closes the clock of the iteration and the question for more of its time.
    pub(super) fn end_iteration_time(&mut self, desk: &mut Desk<'_>) {
        desk.ledger.timers.clear(desk.who.iteration_timer());
        desk.withdraw_time();
    }

    /// Ends the iteration. The next one begins when your code has heard everything so far, so that a steer or an
    /// abort from a listener counts. `owes_answer` is true if the transcript ends with content that the model has to
    /// answer.
    pub(super) fn hand_over(&mut self, desk: &mut Desk<'_>, owes_answer: bool) {
        let handover = if self.ask_about_end(desk) || self.ask_for_filter(desk) {
            None
        } else {
            self.end_iteration_time(desk);
            let handover = desk.ledger.open(desk.who.agent, EffectKind::Handover);
            desk.ledger.output(Output::HandOver { handover });
            Some(handover)
        };
        self.machine
            .enter(Step::HandOver { owes_answer }, Now::HandingOver(handover));
    }

    /// Asks `onIterationEnd`, once for each iteration. Returns false if nobody is asked.
    fn ask_about_end(&mut self, desk: &mut Desk<'_>) -> bool {
        let point = Point::IterationEnd;
        if self.progress() != Progress::Finished {
            return false;
        }
        if !desk.has_hooks(point, "") {
            self.set_progress(Progress::Told);
            return false;
        }
        let is_of_this = self.calls.kept.round_iteration == desk.who.kept.iteration;
        let facts = Facts::IterationEnd {
            text: self.answers.reply.text(),
            finish_reason: self.answers.reply.finish_reason,
            usage: self.answers.reply.usage,
            tool_calls: if is_of_this { self.calls.last_round() } else { &[] },
        };
        desk.ask(Ask::new(point, About::Phase, &facts));
        true
    }

    pub(super) fn after_iteration_end(&mut self, desk: &mut Desk<'_>) {
        self.set_progress(Progress::Told);
        if let Step::HandOver { owes_answer } = *self.machine.step() {
            self.hand_over(desk, owes_answer);
        }
    }

    /// Starts the next iteration if a steer, a follow-up or an owed answer waits for the model. Else the agent is
    /// complete.
    pub fn handed_over(&mut self, desk: &mut Desk<'_>) {
        let (&Step::HandOver { owes_answer }, &Now::HandingOver(Some(handover))) =
            (self.machine.step(), &self.machine.now)
        else {
            return;
        };
        desk.ledger.close(handover);
        let may_go_on = self.limit_on_iteration(desk).is_none();
        let is_paused = self.answers.reply.finish_reason == Some(FinishReason::Pause);
        let (mut content, mut source) = (Vec::new(), "steer");
        if may_go_on && !is_paused {
            content = deliver(&mut self.inbox.steers, desk.config.steering_mode.most(), desk);
        }
        if may_go_on && content.is_empty() && !owes_answer {
            content = deliver(
                &mut self.inbox.follow_ups,
                desk.config.follow_up_mode.most(),
                desk,
            );
            source = "followUp";
        }
        if content.is_empty() && !owes_answer {
            return self.complete(desk);
        }
        self.submit(desk, content, source, owes_answer);
    }
}
