//! One iteration of an agent, from top to bottom: from "begin" to "yield".
//!
//! ```text
//! begin → prepare → guard the input → open → fit the history (→ summary) → send
//!       → read (request/reading.rs) → finish the answer → guard it → take it
//!       → run its calls (calls/) → close the round → stop? → hand over → begin, or complete (prompt.rs)
//! ```
//!
//! Each step ends in the next one, or in a phase that waits for the model, a tool or a question. The run enters at
//! [`Agent::handed_over`], and answers to questions enter at the `after_…` step of their point. A limit leads to
//! `reach_limit`, a failure to `end_failed`. This file only decides the order: requests, answers and calls are in
//! their own modules.

use crate::engine::agent::Agent;
use crate::engine::agent::answer::guardrail::denied;
use crate::engine::agent::answer::message::CompleteAnswer;
use crate::engine::agent::answer::structured::Judged;
use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::desk::AgentContext;
use crate::engine::agent::inbox::deliver;
use crate::engine::agent::machine::end::{completed, stopped};
use crate::engine::agent::machine::step::{Now, Phase};
use crate::engine::agent::next::Next;
use crate::engine::agent::request::handoff::chosen;
use crate::engine::agent::summary::{Retry, Summary};
use crate::engine::agent::telling::take_back_blocks;
use crate::engine::agent::who::tuning::{end_tuning, to_send};
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event::EventKind;
use crate::engine::model::event::prefix::PrefixCause;
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::input::CheckedOutput;
use crate::engine::model::journal::Step;
use crate::engine::model::message::Message;
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::output::{EffectKind, Output};
use crate::engine::model::question::{Facts, Point};
use crate::engine::policy::repeat::Advice;

impl Agent {
    pub(crate) fn begin(&mut self, desk: &mut AgentContext<'_>) {
        self.machine.enter(Step::Ask, Now::Preparing);
        self.history.reserve(desk);
        match desk.limit_on_iteration() {
            Some(stopped_by) => self.reach_limit(desk, stopped_by),
            None => self.prepare(desk),
        }
    }

    /// Asks `prepareIteration` how the iteration is to be, if it is set.
    pub(crate) fn prepare(&mut self, desk: &mut AgentContext<'_>) {
        end_tuning(desk, &mut self.history.transcript);
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

    /// Asks the input guardrail before an iteration opens, and again when a summary has changed the messages that it
    /// has seen.
    pub(crate) fn guard_input(&mut self, desk: &mut AgentContext<'_>) {
        let occasion = self.course.occasion();
        if !desk.has_hooks(Point::InputGuardrail, occasion) {
            return self.go_in(desk);
        }
        if self.machine.is(Phase::Preparing) {
            // The guardrail sees the history that is sent.
            self.history.fit(desk);
        }
        let messages = to_send(&self.history.transcript, desk.who).messages();
        let facts = Facts::Input { messages };
        let ask = Ask::new(Point::InputGuardrail, About::Phase, &facts);
        desk.ask(ask.named(occasion));
    }

    pub(crate) fn after_input(&mut self, desk: &mut AgentContext<'_>, verdict: HookAnswer) {
        if verdict.denies() {
            let next = denied(desk, "Input", verdict.reason);
            return self.follow(desk, next);
        }
        self.course.note_guarded();
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
                    self.history.transcript.causes.add(PrefixCause::Guardrail);
                    let message = "An input guardrail has rewritten the messages.".into();
                    desk.warn("messages_rewritten", message);
                }
                Err(error) => {
                    let next = denied(desk, "Input", Some(error.to_text()));
                    return self.follow(desk, next);
                }
            }
        }
        self.go_in(desk);
    }

    /// Takes the step that the input guardrail has held up.
    fn go_in(&mut self, desk: &mut AgentContext<'_>) {
        match self.machine.phase() {
            Phase::Preparing => self.open(desk),
            _ => self.send(desk),
        }
    }

    fn open(&mut self, desk: &mut AgentContext<'_>) {
        if self.course.begin(desk.who) {
            self.requests.count_tries_after(0);
            self.answers.begin();
        }
        self.calls.begin();
        desk.emit(EventKind::IterationStart);
        self.machine.enter(Step::Ask, Now::Sending);
        self.history.fit(desk);
        match Summary::wanted(desk, &mut self.history) {
            Some(summary) => self.summarize(desk, summary),
            None => self.send(desk),
        }
    }

    /// Makes the history shorter before the request. The `PreCompact` hooks are asked first.
    pub(crate) fn summarize(&mut self, desk: &mut AgentContext<'_>, summary: Box<Summary>) {
        let is_asked = summary.ask_hooks(desk);
        self.machine.enter(Step::Ask, Now::Summarizing(summary));
        if !is_asked {
            self.write_summary(desk);
        }
    }

    pub(crate) fn after_precompact(&mut self, desk: &mut AgentContext<'_>, verdict: HookAnswer) {
        if !verdict.denies() {
            return self.write_summary(desk);
        }
        if let Now::Summarizing(summary) = self.machine.leave() {
            self.machine.enter(Step::Ask, Now::Sending);
            let next = summary.block(desk, &mut self.history, verdict.reason);
            self.follow(desk, next);
        }
    }

    /// Asks your function for the summary, or the model.
    fn write_summary(&mut self, desk: &mut AgentContext<'_>) {
        if let Now::Summarizing(summary) = &self.machine.now
            && !summary.ask(desk, self.history.transcript.messages())
        {
            self.send_summary(desk);
        }
    }

    /// Sends the request for the summary, also as a retry.
    fn send_summary(&mut self, desk: &mut AgentContext<'_>) {
        if let Some(stopped_by) = self.history.limit_on_request(desk) {
            return self.reach_limit(desk, stopped_by);
        }
        if let Now::Summarizing(summary) = &mut self.machine.now
            && !summary.send(desk, &self.history.transcript)
        {
            self.take_summary(desk, "");
        }
    }

    /// Puts a summary in its place. An empty text gives way to the built-in summary.
    pub(crate) fn take_summary(&mut self, desk: &mut AgentContext<'_>, text: &str) {
        if !self.machine.is(Phase::Summarizing) {
            return;
        }
        let Now::Summarizing(summary) = self.machine.leave() else {
            return;
        };
        self.machine.enter(Step::Ask, Now::Sending);
        self.requests.count_tries_after(desk.who.kept.attempt);
        let next = summary.take_place(desk, &mut self.history, text);
        self.follow(desk, next);
    }

    /// Sends the first attempt of a request, or a retry.
    pub(crate) fn send(&mut self, desk: &mut AgentContext<'_>) {
        if self.history.wants_summary_alone() {
            return self.end(desk, completed());
        }
        if let Some(stopped_by) = self.history.limit_on_request(desk) {
            return self.reach_limit(desk, stopped_by);
        }
        let before = match self.machine.leave() {
            Now::Reading(call) => Some(call),
            _ => None,
        };
        self.machine.enter(Step::Ask, Now::Sending);
        let (calls, history) = (&mut self.calls, &mut self.history);
        match self.requests.send(desk, before, calls, history) {
            Ok(call) => self.machine.enter(Step::Ask, Now::Reading(Box::new(call))),
            Err(error) => self.end_failed(desk, error.into()),
        }
    }

    /// Sends again after a wait, or after a limit was raised.
    pub fn send_again(&mut self, desk: &mut AgentContext<'_>) {
        match self.machine.phase() {
            Phase::Summarizing => self.send_summary(desk),
            _ => self.send(desk),
        }
    }

    /// Takes the failure of an attempt, without secrets.
    pub fn attempt_failed(&mut self, desk: &mut AgentContext<'_>, mut failure: Failure) {
        failure.tell_facts();
        let (answers, calls, history) = (&mut self.answers, &mut self.calls, &mut self.history);
        let next = match &mut self.machine.now {
            Now::Reading(call) => self.requests.failed(desk, call, failure, answers, calls, history),
            Now::Summarizing(summary) => match summary.retry(desk, failure, answers) {
                Retry::Later => Next::Wait,
                Retry::Now => return self.send_summary(desk),
                Retry::Never => return self.take_summary(desk, ""),
            },
            _ => Next::Fail(failure),
        };
        self.follow(desk, next);
    }

    /// The response is complete.
    pub(crate) fn finish_response(&mut self, desk: &mut AgentContext<'_>) {
        if let Now::Summarizing(summary) = &mut self.machine.now {
            if summary.call().is_none() {
                return;
            }
            match summary.finished(desk, &mut self.answers) {
                Some(text) => self.take_summary(desk, &text),
                None => self.send_summary(desk),
            }
        } else if let Now::Reading(call) = self.machine.leave() {
            let (calls, history) = (&mut self.calls, &mut self.history);
            let answer = self.answers.finish(desk, call.answer, calls, history);
            self.guard_answer(desk, answer);
        }
    }

    /// Asks the output guardrail about the answer. Without a guardrail the answer is accepted immediately.
    pub(crate) fn guard_answer(&mut self, desk: &mut AgentContext<'_>, answer: CompleteAnswer) {
        if !self.answers.ask_guardrail(desk, &answer.message) {
            return self.take_answer(desk, answer);
        }
        let CompleteAnswer {
            message,
            calls,
            blocks,
        } = answer;
        let cut_off = calls.iter().filter(|call| call.is_cut_off);
        let step = Step::Judge {
            message,
            text: self.answers.hold_back(),
            cut_off: cut_off.map(|call| call.id.clone()).collect(),
        };
        self.machine.enter(step, Now::Judging { calls, blocks });
    }

    pub(crate) fn after_output(&mut self, desk: &mut AgentContext<'_>, verdict: HookAnswer) {
        if !self.machine.is(Phase::Judging) {
            return;
        }
        let (Step::Judge { message, text, .. }, Now::Judging { calls, blocks }) =
            (self.machine.take_step(), self.machine.leave())
        else {
            return;
        };
        if verdict.denies() {
            take_back_blocks(desk, blocks);
            let next = denied(desk, "Output", verdict.reason);
            return self.follow(desk, next);
        }
        let mut answer = CompleteAnswer {
            message,
            calls,
            blocks,
        };
        self.answers.let_through(text);
        self.answers
            .rewrite(desk, &mut answer, verdict.updated_output.as_ref());
        self.take_answer(desk, answer);
    }

    /// Takes an answer that the guardrails have accepted: runs its calls, or ends the iteration.
    fn take_answer(&mut self, desk: &mut AgentContext<'_>, answer: CompleteAnswer) {
        self.answers.note_taken();
        self.history.transcript.push_assistant(answer.message);
        self.history.tell_answer(desk, self.answers.reply());
        self.act_on_answer(desk, answer.calls);
    }

    /// Takes the step that follows from the last message, an answer with these calls.
    pub(crate) fn act_on_answer(&mut self, desk: &mut AgentContext<'_>, calls: Vec<WrittenCall>) {
        if calls.is_empty() && self.answers.goes_on(desk) {
            self.finish_iteration(desk);
            let content = vec![self.answers.go_on()];
            self.history.transcript.push_user(content);
            return self.hand_over(desk, true);
        }
        if let Some(failure) = self.answers.refused_finish(desk) {
            self.shelve(desk, calls);
            return self.end_failed(desk, failure);
        }
        let transcript = &mut self.history.transcript;
        let calls = match self.answers.structure(desk, calls, transcript) {
            Judged::Open(calls) => calls,
            Judged::Asked { written, call_ids } => {
                return self.machine.enter(Step::Act, Now::Checking { written, call_ids });
            }
            Judged::Over(next) => {
                self.finish_iteration(desk);
                return self.follow(desk, next);
            }
        };
        if !calls.is_empty() && !self.answers.is_final(desk) {
            return self.run_calls(desk, calls);
        }
        self.shelve(desk, calls);
        self.finish_iteration(desk);
        self.hand_over(desk, self.answers.is_paused());
    }

    pub(crate) fn after_check(&mut self, desk: &mut AgentContext<'_>, checked: CheckedOutput) {
        if !self.machine.is(Phase::Checking) {
            return;
        }
        let Now::Checking { written, call_ids } = self.machine.leave() else {
            return;
        };
        let transcript = &mut self.history.transcript;
        let next = self
            .answers
            .after_check(desk, checked, (written, call_ids), transcript);
        self.finish_iteration(desk);
        self.follow(desk, next);
    }

    /// Closes the calls of an answer without running them.
    fn shelve(&mut self, desk: &mut AgentContext<'_>, calls: Vec<WrittenCall>) {
        let results = self.calls.shelve(desk, calls);
        self.history.transcript.push_round(results, Vec::new());
    }

    fn run_calls(&mut self, desk: &mut AgentContext<'_>, calls: Vec<WrittenCall>) {
        self.machine.enter(Step::Act, Now::Nothing);
        if let Err(error) = self.calls.take_in(desk, calls) {
            return self.end_failed(desk, error);
        }
        self.calls.note_count(desk);
        match self.calls.limit(desk, 0) {
            Some(stopped_by) => self.reach_limit(desk, stopped_by),
            None => {
                let next = self.calls.set_out(desk);
                self.follow(desk, next);
            }
        }
    }

    pub(crate) fn close_round(&mut self, desk: &mut AgentContext<'_>) {
        let round = self.calls.close(desk);
        self.history.transcript.push_round(round.results, round.more);
        self.finish_iteration(desk);
        if round.is_last {
            return self.hand_over(desk, false);
        }
        match round.advice {
            Advice::Stop => self.end(desk, stopped(StoppedBy::Repeat)),
            Advice::Ask(times) if desk.config.ask_repeat => self.judge_round(desk, Some(times)),
            _ => self.judge_round(desk, None),
        }
    }

    /// Judges the stop conditions when the round is over. `repeats` is the number of repetitions that your code is
    /// asked about.
    pub(crate) fn judge_round(&mut self, desk: &mut AgentContext<'_>, repeats: Option<u32>) {
        self.machine.enter(Step::Close { repeats }, Now::Nothing);
        if self.calls.rounds.meets_condition(desk) {
            return self.end(desk, stopped(StoppedBy::Condition));
        }
        let next = self.calls.rounds.ask_to_stop(desk, repeats);
        self.follow(desk, next);
    }

    pub(crate) fn after_stop_question(&mut self, desk: &mut AgentContext<'_>, point: Point, stops: bool) {
        match (stops, point) {
            (true, Point::StopRepeat) => self.end(desk, stopped(StoppedBy::Repeat)),
            (true, _) => self.end(desk, stopped(StoppedBy::Condition)),
            (false, Point::StopRepeat) => {
                let next = self.calls.rounds.ask_to_stop(desk, None);
                self.follow(desk, next);
            }
            (false, _) => self.hand_over(desk, true),
        }
    }

    pub(crate) fn finish_iteration(&mut self, desk: &mut AgentContext<'_>) {
        self.course.finish(desk, self.answers.reply());
    }

    /// Ends the iteration and yields to your code. The next iteration starts when your listeners have received all
    /// events, so a steer or an abort from a listener takes effect first. `owes_answer` means that the transcript
    /// ends with content that the model must answer.
    pub(crate) fn hand_over(&mut self, desk: &mut AgentContext<'_>, owes_answer: bool) {
        let (reply, messages) = (self.answers.reply(), self.history.transcript.messages());
        let is_asked = self.course.ask_about_end(desk, reply, &self.calls.rounds)
            || self.calls.delegations.ask_for_filter(desk, messages);
        let handover = if is_asked {
            None
        } else {
            desk.ledger.timers.clear(desk.who.iteration_timer());
            desk.withdraw_time();
            let handover = desk.ledger.open(desk.who.agent, EffectKind::Handover);
            desk.ledger.output(Output::HandOver { handover });
            Some(handover)
        };
        self.machine
            .enter(Step::HandOver { owes_answer }, Now::HandingOver(handover));
    }

    pub(crate) fn after_iteration_end(&mut self, desk: &mut AgentContext<'_>) {
        self.course.note_told();
        if let Step::HandOver { owes_answer } = *self.machine.step() {
            self.hand_over(desk, owes_answer);
        }
    }

    /// Takes the messages that your code has chosen for the next agent, or the reason why there are none.
    pub(crate) fn after_filter(
        &mut self,
        desk: &mut AgentContext<'_>,
        messages: Result<Vec<Message>, String>,
    ) {
        let Step::HandOver { owes_answer } = *self.machine.step() else {
            return;
        };
        match chosen(desk, messages) {
            Ok(transcript) => {
                self.calls.delegations.note_filtered();
                self.history.tell_new(desk);
                self.history.begin_with(transcript);
                self.hand_over(desk, owes_answer);
            }
            Err(why) => {
                let name = self.calls.delegations.successor();
                let message = format!("The inputFilter of {name} failed: {why}");
                self.end_failed(desk, Failure::new(FailureCode::ConfigInvalid, message));
            }
        }
    }

    /// Starts the next iteration if a steer, a follow-up or an owed answer waits for the model. Else the agent is
    /// complete.
    pub fn handed_over(&mut self, desk: &mut AgentContext<'_>) {
        let (&Step::HandOver { owes_answer }, &Now::HandingOver(Some(handover))) =
            (self.machine.step(), &self.machine.now)
        else {
            return;
        };
        desk.ledger.close(handover);
        let may_go_on = desk.limit_on_iteration().is_none();
        let is_paused = self.answers.is_paused() || self.history.waits_for_vendor();
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
