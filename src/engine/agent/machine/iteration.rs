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
use crate::engine::agent::answer_events::take_back_blocks;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::identity::tuning::{end_tuning, to_send};
use crate::engine::agent::inbox::deliver;
use crate::engine::agent::machine::end::{completed, stopped};
use crate::engine::agent::machine::step::{Now, Phase};
use crate::engine::agent::next::Next;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::agent::request::handoff::chosen;
use crate::engine::agent::summary::{Retry, Summary};
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
    pub(crate) fn begin(&mut self, ctx: &mut AgentContext<'_>) {
        self.machine.enter(Step::Ask, Now::Preparing);
        self.history.reserve(ctx);
        match ctx.limit_on_iteration() {
            Some(stopped_by) => self.reach_limit(ctx, stopped_by),
            None => self.prepare(ctx),
        }
    }

    /// Asks `prepareIteration` how the iteration is to be, if it is set.
    pub(crate) fn prepare(&mut self, ctx: &mut AgentContext<'_>) {
        end_tuning(ctx, &mut self.history.transcript);
        let wait_ms = ctx.config.timeouts.iteration_ms;
        ctx.ledger.set_timer(ctx.identity.iteration_timer(), wait_ms);
        let point = Point::PrepareIteration;
        if !ctx.has_hooks(point, "") {
            return self.guard_input(ctx);
        }
        let facts = Facts::Iteration {
            model: &ctx.identity.model.config.model,
            messages: self.history.transcript.messages(),
        };
        ctx.ask(Ask::new(point, About::Phase, &facts));
    }

    /// Asks the input guardrail before an iteration opens, and again when a summary has changed the messages that it
    /// has seen.
    pub(crate) fn guard_input(&mut self, ctx: &mut AgentContext<'_>) {
        let occasion = self.iteration.occasion();
        if !ctx.has_hooks(Point::InputGuardrail, occasion) {
            return self.go_in(ctx);
        }
        if self.machine.is(Phase::Preparing) {
            // The guardrail sees the history that is sent.
            self.history.fit(ctx);
        }
        let messages = to_send(&self.history.transcript, ctx.identity).messages();
        let facts = Facts::Input { messages };
        let ask = Ask::new(Point::InputGuardrail, About::Phase, &facts);
        ctx.ask(ask.named(occasion));
    }

    pub(crate) fn after_input(&mut self, ctx: &mut AgentContext<'_>, verdict: HookAnswer) {
        if verdict.denies() {
            let next = denied(ctx, "Input", verdict.reason);
            return self.follow(ctx, next);
        }
        self.iteration.note_guarded();
        if let Some(messages) = verdict.messages
            && messages != self.history.transcript.messages()
        {
            match self
                .history
                .transcript
                .replaced(messages, |name| ctx.setup.has_tool(name))
            {
                Ok(transcript) => {
                    self.history.transcript = transcript;
                    self.history.transcript.causes.add(PrefixCause::Guardrail);
                    let message = "An input guardrail has rewritten the messages.".into();
                    ctx.warn("messages_rewritten", message);
                }
                Err(error) => {
                    let next = denied(ctx, "Input", Some(error.to_text()));
                    return self.follow(ctx, next);
                }
            }
        }
        self.go_in(ctx);
    }

    /// Takes the step that the input guardrail has held up.
    fn go_in(&mut self, ctx: &mut AgentContext<'_>) {
        match self.machine.phase() {
            Phase::Preparing => self.open(ctx),
            _ => self.send(ctx),
        }
    }

    fn open(&mut self, ctx: &mut AgentContext<'_>) {
        if self.iteration.begin(ctx.identity) {
            self.requests.count_tries_after(0);
            self.answers.begin();
        }
        self.calls.begin();
        ctx.emit(EventKind::IterationStart);
        self.machine.enter(Step::Ask, Now::Sending);
        self.history.fit(ctx);
        match Summary::wanted(ctx, &mut self.history) {
            Some(summary) => self.summarize(ctx, summary),
            None => self.send(ctx),
        }
    }

    /// Makes the history shorter before the request. The `PreCompact` hooks are asked first.
    pub(crate) fn summarize(&mut self, ctx: &mut AgentContext<'_>, summary: Box<Summary>) {
        let is_asked = summary.ask_hooks(ctx);
        self.machine.enter(Step::Ask, Now::Summarizing(summary));
        if !is_asked {
            self.write_summary(ctx);
        }
    }

    pub(crate) fn after_precompact(&mut self, ctx: &mut AgentContext<'_>, verdict: HookAnswer) {
        if !verdict.denies() {
            return self.write_summary(ctx);
        }
        if let Now::Summarizing(summary) = self.machine.leave() {
            self.machine.enter(Step::Ask, Now::Sending);
            let next = summary.block(ctx, &mut self.history, verdict.reason);
            self.follow(ctx, next);
        }
    }

    /// Asks your function for the summary, or the model.
    fn write_summary(&mut self, ctx: &mut AgentContext<'_>) {
        if let Now::Summarizing(summary) = &self.machine.now
            && !summary.ask(ctx, self.history.transcript.messages())
        {
            self.send_summary(ctx);
        }
    }

    /// Sends the request for the summary, also as a retry.
    fn send_summary(&mut self, ctx: &mut AgentContext<'_>) {
        if let Some(stopped_by) = self.history.limit_on_request(ctx) {
            return self.reach_limit(ctx, stopped_by);
        }
        if let Now::Summarizing(summary) = &mut self.machine.now
            && !summary.send(ctx, &self.history.transcript)
        {
            self.take_summary(ctx, "");
        }
    }

    /// Puts a summary in its place. An empty text gives way to the built-in summary.
    pub(crate) fn take_summary(&mut self, ctx: &mut AgentContext<'_>, text: &str) {
        if !self.machine.is(Phase::Summarizing) {
            return;
        }
        let Now::Summarizing(summary) = self.machine.leave() else {
            return;
        };
        self.machine.enter(Step::Ask, Now::Sending);
        self.requests.count_tries_after(ctx.identity.kept.attempt);
        let next = summary.take_place(ctx, &mut self.history, text);
        self.follow(ctx, next);
    }

    /// Sends the first attempt of a request, or a retry.
    pub(crate) fn send(&mut self, ctx: &mut AgentContext<'_>) {
        if self.history.wants_summary_alone() {
            return self.end(ctx, completed());
        }
        if let Some(stopped_by) = self.history.limit_on_request(ctx) {
            return self.reach_limit(ctx, stopped_by);
        }
        let before = match self.machine.leave() {
            Now::Reading(call) => Some(call),
            _ => None,
        };
        self.machine.enter(Step::Ask, Now::Sending);
        let (calls, history) = (&mut self.calls, &mut self.history);
        match self.requests.send(ctx, before, calls, history) {
            Ok(call) => self.machine.enter(Step::Ask, Now::Reading(Box::new(call))),
            Err(error) => self.end_failed(ctx, error.into()),
        }
    }

    /// Sends again after a wait, or after a limit was raised.
    pub fn send_again(&mut self, ctx: &mut AgentContext<'_>) {
        match self.machine.phase() {
            Phase::Summarizing => self.send_summary(ctx),
            _ => self.send(ctx),
        }
    }

    /// Takes the failure of an attempt, without secrets.
    pub fn attempt_failed(&mut self, ctx: &mut AgentContext<'_>, mut failure: Failure) {
        failure.add_facts();
        let (answers, calls, history) = (&mut self.answers, &mut self.calls, &mut self.history);
        let next = match &mut self.machine.now {
            Now::Reading(call) => self.requests.failed(ctx, call, failure, answers, calls, history),
            Now::Summarizing(summary) => match summary.retry(ctx, failure, answers) {
                Retry::Later => Next::Wait,
                Retry::Now => return self.send_summary(ctx),
                Retry::Never => return self.take_summary(ctx, ""),
            },
            _ => Next::Fail(failure),
        };
        self.follow(ctx, next);
    }

    /// The response is complete.
    pub(crate) fn finish_response(&mut self, ctx: &mut AgentContext<'_>) {
        if let Now::Summarizing(summary) = &mut self.machine.now {
            if summary.call().is_none() {
                return;
            }
            match summary.finished(ctx, &mut self.answers) {
                Some(text) => self.take_summary(ctx, &text),
                None => self.send_summary(ctx),
            }
        } else if let Now::Reading(call) = self.machine.leave() {
            let (calls, history) = (&mut self.calls, &mut self.history);
            let answer = self.answers.finish(ctx, call.answer, calls, history);
            self.guard_answer(ctx, answer);
        }
    }

    /// Asks the output guardrail about the answer. Without a guardrail the answer is accepted immediately.
    pub(crate) fn guard_answer(&mut self, ctx: &mut AgentContext<'_>, answer: CompleteAnswer) {
        if !self.answers.ask_guardrail(ctx, &answer.message) {
            return self.take_answer(ctx, answer);
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

    pub(crate) fn after_output(&mut self, ctx: &mut AgentContext<'_>, verdict: HookAnswer) {
        if !self.machine.is(Phase::Judging) {
            return;
        }
        let (Step::Judge { message, text, .. }, Now::Judging { calls, blocks }) =
            (self.machine.take_step(), self.machine.leave())
        else {
            return;
        };
        if verdict.denies() {
            take_back_blocks(ctx, blocks);
            let next = denied(ctx, "Output", verdict.reason);
            return self.follow(ctx, next);
        }
        let mut answer = CompleteAnswer {
            message,
            calls,
            blocks,
        };
        self.answers.let_through(text);
        self.answers
            .rewrite(ctx, &mut answer, verdict.updated_output.as_ref());
        self.take_answer(ctx, answer);
    }

    /// Takes an answer that the guardrails have accepted: runs its calls, or ends the iteration.
    fn take_answer(&mut self, ctx: &mut AgentContext<'_>, answer: CompleteAnswer) {
        self.answers.note_taken();
        self.history.transcript.push_assistant(answer.message);
        self.history.emit_answer(ctx, self.answers.reply());
        self.act_on_answer(ctx, answer.calls);
    }

    /// Takes the step that follows from the last message, an answer with these calls.
    pub(crate) fn act_on_answer(&mut self, ctx: &mut AgentContext<'_>, calls: Vec<WrittenCall>) {
        if calls.is_empty() && self.answers.needs_continuation(ctx) {
            self.finish_iteration(ctx);
            let content = vec![self.answers.continuation_prompt()];
            self.history.transcript.push_user(content);
            return self.hand_over(ctx, true);
        }
        if let Some(failure) = self.answers.refused_finish(ctx) {
            self.shelve(ctx, calls);
            return self.end_failed(ctx, failure);
        }
        let transcript = &mut self.history.transcript;
        let calls = match self.answers.structure(ctx, calls, transcript) {
            Judged::Open(calls) => calls,
            Judged::Asked { written, call_ids } => {
                return self.machine.enter(Step::Act, Now::Checking { written, call_ids });
            }
            Judged::Over(next) => {
                self.finish_iteration(ctx);
                return self.follow(ctx, next);
            }
        };
        if !calls.is_empty() && !self.answers.is_final(ctx) {
            return self.run_calls(ctx, calls);
        }
        self.shelve(ctx, calls);
        self.finish_iteration(ctx);
        self.hand_over(ctx, self.answers.is_paused());
    }

    pub(crate) fn after_check(&mut self, ctx: &mut AgentContext<'_>, checked: CheckedOutput) {
        if !self.machine.is(Phase::Checking) {
            return;
        }
        let Now::Checking { written, call_ids } = self.machine.leave() else {
            return;
        };
        let transcript = &mut self.history.transcript;
        let next = self
            .answers
            .after_check(ctx, checked, (written, call_ids), transcript);
        self.finish_iteration(ctx);
        self.follow(ctx, next);
    }

    /// Closes the calls of an answer without running them.
    fn shelve(&mut self, ctx: &mut AgentContext<'_>, calls: Vec<WrittenCall>) {
        let results = self.calls.shelve(ctx, calls);
        self.history.transcript.push_round(results, Vec::new());
    }

    fn run_calls(&mut self, ctx: &mut AgentContext<'_>, calls: Vec<WrittenCall>) {
        self.machine.enter(Step::Act, Now::Nothing);
        if let Err(error) = self.calls.take_in(ctx, calls) {
            return self.end_failed(ctx, error);
        }
        self.calls.note_count(ctx);
        match self.calls.limit(ctx, 0) {
            Some(stopped_by) => self.reach_limit(ctx, stopped_by),
            None => {
                let next = self.calls.set_out(ctx);
                self.follow(ctx, next);
            }
        }
    }

    pub(crate) fn close_round(&mut self, ctx: &mut AgentContext<'_>) {
        let round = self.calls.close(ctx);
        self.history.transcript.push_round(round.results, round.more);
        self.finish_iteration(ctx);
        if round.is_last {
            return self.hand_over(ctx, false);
        }
        match round.advice {
            Advice::Stop => self.end(ctx, stopped(StoppedBy::Repeat)),
            Advice::Ask(times) if ctx.config.ask_repeat => self.judge_round(ctx, Some(times)),
            _ => self.judge_round(ctx, None),
        }
    }

    /// Judges the stop conditions when the round is over. `repeats` is the number of repetitions that your code is
    /// asked about.
    pub(crate) fn judge_round(&mut self, ctx: &mut AgentContext<'_>, repeats: Option<u32>) {
        self.machine.enter(Step::Close { repeats }, Now::Nothing);
        if self.calls.rounds.meets_condition(ctx) {
            return self.end(ctx, stopped(StoppedBy::Condition));
        }
        let next = self.calls.rounds.ask_to_stop(ctx, repeats);
        self.follow(ctx, next);
    }

    pub(crate) fn after_stop_question(&mut self, ctx: &mut AgentContext<'_>, point: Point, stops: bool) {
        match (stops, point) {
            (true, Point::StopRepeat) => self.end(ctx, stopped(StoppedBy::Repeat)),
            (true, _) => self.end(ctx, stopped(StoppedBy::Condition)),
            (false, Point::StopRepeat) => {
                let next = self.calls.rounds.ask_to_stop(ctx, None);
                self.follow(ctx, next);
            }
            (false, _) => self.hand_over(ctx, true),
        }
    }

    pub(crate) fn finish_iteration(&mut self, ctx: &mut AgentContext<'_>) {
        self.iteration.finish(ctx, self.answers.reply());
    }

    /// Ends the iteration and yields to your code. The next iteration starts when your listeners have received all
    /// events, so a steer or an abort from a listener takes effect first. `owes_answer` means that the transcript
    /// ends with content that the model must answer.
    pub(crate) fn hand_over(&mut self, ctx: &mut AgentContext<'_>, owes_answer: bool) {
        let (reply, messages) = (self.answers.reply(), self.history.transcript.messages());
        let is_asked = self.iteration.ask_about_end(ctx, reply, &self.calls.rounds)
            || self.calls.delegations.ask_for_filter(ctx, messages);
        let handover = if is_asked {
            None
        } else {
            ctx.ledger.timers.clear(ctx.identity.iteration_timer());
            ctx.withdraw_time();
            let handover = ctx.ledger.open(ctx.identity.agent, EffectKind::Handover);
            ctx.ledger.output(Output::HandOver { handover });
            Some(handover)
        };
        self.machine
            .enter(Step::HandOver { owes_answer }, Now::HandingOver(handover));
    }

    pub(crate) fn after_iteration_end(&mut self, ctx: &mut AgentContext<'_>) {
        self.iteration.note_told();
        if let Step::HandOver { owes_answer } = *self.machine.step() {
            self.hand_over(ctx, owes_answer);
        }
    }

    /// Takes the messages that your code has chosen for the next agent, or the reason why there are none.
    pub(crate) fn after_filter(
        &mut self,
        ctx: &mut AgentContext<'_>,
        messages: Result<Vec<Message>, String>,
    ) {
        let Step::HandOver { owes_answer } = *self.machine.step() else {
            return;
        };
        match chosen(ctx, messages) {
            Ok(transcript) => {
                self.calls.delegations.note_filtered();
                self.history.emit_new_messages(ctx);
                self.history.begin_with(transcript);
                self.hand_over(ctx, owes_answer);
            }
            Err(why) => {
                let name = self.calls.delegations.successor();
                let message = format!("The inputFilter of {name} failed: {why}");
                self.end_failed(ctx, Failure::new(FailureCode::ConfigInvalid, message));
            }
        }
    }

    /// Starts the next iteration if a steer, a follow-up or an owed answer waits for the model. Else the agent is
    /// complete.
    pub fn handed_over(&mut self, ctx: &mut AgentContext<'_>) {
        let (&Step::HandOver { owes_answer }, &Now::HandingOver(Some(handover))) =
            (self.machine.step(), &self.machine.now)
        else {
            return;
        };
        ctx.ledger.close(handover);
        let may_continue = ctx.limit_on_iteration().is_none();
        let is_paused = self.answers.is_paused() || self.history.waits_for_vendor();
        let (mut content, mut source) = (Vec::new(), "steer");
        if may_continue && !is_paused {
            content = deliver(&mut self.inbox.steers, ctx.config.steering_mode.most(), ctx);
        }
        if may_continue && content.is_empty() && !owes_answer {
            content = deliver(&mut self.inbox.follow_ups, ctx.config.follow_up_mode.most(), ctx);
            source = "followUp";
        }
        if content.is_empty() && !owes_answer {
            return self.complete(ctx);
        }
        self.submit(ctx, content, source, owes_answer);
    }
}
