//! Hooks: the host's functions that are asked at certain points of a run, and what follows from what they say.
//!
//! [`Agent::ask_hooks`] asks every hook of a point at once; when the last has answered, or has failed to in time, their
//! answers are joined and [`Agent::after_hooks`] goes on from that point.

use serde::{Deserialize, Serialize};

use crate::engine::agent::guarding::Guarded;
use crate::engine::agent::tool_batch::{CallPhase, output_of};
use crate::engine::agent::{Agent, Desk};
use crate::engine::json::writer::{push_count, push_raw, push_text, push_text_if};
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::event::EventKind;
use crate::engine::model::input::{QuestionAnswer, ToolReturn};
use crate::engine::model::message::{Block, Json};
use crate::engine::model::outcome::{StoppedBy, ToolCallRecord};
use crate::engine::model::output::{EffectId, EffectKind, Output, Question};
use crate::engine::policy::hook::{Decision, Gate, Hook, HookAnswer, HookEvent};

/// Where hooks were asked, and what waits for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum HookPoint {
    /// A tool call, by its place in the batch.
    Call { event: HookEvent, index: usize },
    /// The host is about to be asked whether a call may run.
    Permission { index: usize, reason: String },
    /// A call was denied, in the host's words or for a reason of ours.
    Denied {
        index: usize,
        message: Option<String>,
        reason: String,
    },
    /// The host is waited for; nothing waits for the answer.
    Notified,
    /// A round of tools is over.
    Batch,
    /// A session begins, with this prompt.
    Session { prompt: Vec<Block> },
    /// Something new is said to the model.
    Prompt {
        content: Vec<Block>,
        source: String,
        owes_answer: bool,
    },
    /// The model has finished.
    Stop,
    /// The next request.
    Input,
    /// An answer of the model.
    Output(Guarded),
    /// A summary is about to be made.
    Compact,
    /// A summary was made.
    Compacted,
    /// The next iteration.
    Prepare,
    /// An iteration is over.
    IterationEnd { owes_answer: bool },
    /// A limit is hit.
    Limit { stopped_by: StoppedBy, before: Step },
    /// A time is over; nothing waits for the answer.
    Time { timer: TimerReason },
}

/// What a limit keeps from being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    Iteration,
    /// A further request of an iteration that has begun.
    Request,
    /// The calls of an answer.
    Tools,
}

/// One point that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hooking {
    point: HookPoint,
    asked: Vec<Asked>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Asked {
    question: EffectId,
    hook: u32,
    answer: Option<HookAnswer>,
}

impl Hooking {
    fn asks(&self, question: EffectId) -> bool {
        self.asked.iter().any(|asked| asked.question == question)
    }
}

impl<'a> Desk<'a> {
    pub(super) fn has_hooks(&self, event: HookEvent, name: &str) -> bool {
        self.hooks().iter().any(|hook| hook.is_for(event, name))
    }

    /// Those of the run are asked about all of its agents.
    fn hooks(&self) -> &'a [Hook] {
        self.profiles.first().map_or(&[], |root| &root.config.hooks)
    }
}

impl Agent {
    /// The beginning of what a hook is told; [`Agent::ask_hooks`] ends it.
    pub(super) fn hook_input(&self, event: HookEvent) -> Vec<u8> {
        let mut json = b"{".to_vec();
        push_text(&mut json, "event", event.name());
        push_text(&mut json, "agentPath", &self.path);
        push_count(&mut json, "iteration", self.iteration.into());
        json
    }

    /// What every hook is told besides.
    fn push_standing(&self, desk: &Desk<'_>, into: &mut Vec<u8>) {
        let name = self.parent.as_ref().map(|parent| parent.name.as_str());
        push_text_if(into, "agentName", name);
        let mode = desk
            .permissions
            .as_ref()
            .map(|permissions| permissions.mode.name());
        push_text_if(into, "permissionMode", mode);
        push_text_if(into, "effort", self.asked.config.effort.as_deref());
    }

    /// Asks the hooks of this event that are for `name`. There must be one.
    pub(super) fn ask_hooks(
        &mut self,
        desk: &mut Desk<'_>,
        event: HookEvent,
        name: &str,
        point: HookPoint,
        mut input: Vec<u8>,
    ) {
        if event.is_hook() {
            self.push_standing(desk, &mut input);
        }
        input.push(b'}');
        let input = Json::from_valid(&String::from_utf8(input).unwrap_or_default());
        let mut asked = Vec::new();
        for (hook, config) in desk.hooks().iter().enumerate() {
            if !config.is_for(event, name) {
                continue;
            }
            let question = desk.ledger.open(self.index, EffectKind::Question);
            let kind = EventKind::Question {
                question_id: question,
                question: event.name().to_owned(),
                data: None,
            };
            desk.ledger.emit(self.place(), kind);
            desk.ledger
                .set_timer(TimerReason::Question { question }, config.timeout_ms);
            let hook = hook as u32;
            let ask = Question::Hook {
                hook,
                event,
                input: input.clone(),
            };
            desk.ledger.output(Output::Ask { question, ask });
            asked.push(Asked {
                question,
                hook,
                answer: None,
            });
        }
        self.hooking.push(Hooking { point, asked });
    }

    /// Keeps a hook's answer, and goes on when it was the last that was waited for. An answer to anything else comes
    /// back.
    pub(super) fn take_hook_answer(
        &mut self,
        desk: &mut Desk<'_>,
        question: EffectId,
        answer: QuestionAnswer,
    ) -> Option<QuestionAnswer> {
        let Some(place) = self.hooking.iter().position(|hooking| hooking.asks(question)) else {
            return Some(answer);
        };
        let answer = match answer {
            QuestionAnswer::Hook(answer) => Ok(*answer),
            QuestionAnswer::Failed { why } => Err(why),
            _ => Err("the host gave another question's answer".to_owned()),
        };
        let hooking = self.hooking.get(place)?;
        let at = hooking
            .asked
            .iter()
            .position(|asked| asked.question == question)?;
        let hook = hooking.asked.get(at)?.hook;
        let mut answer = answer.unwrap_or_else(|why| self.failed_hook(desk, hook, why));
        if let Some(message) = answer.system_message.take() {
            self.warn(desk, "hook_message", message);
        }
        let hooking = self.hooking.get_mut(place)?;
        hooking.asked.get_mut(at)?.answer = Some(answer);
        if hooking.asked.iter().all(|asked| asked.answer.is_some()) {
            let Hooking { point, asked } = self.hooking.remove(place);
            let mut verdict = HookAnswer::default();
            for asked in asked {
                verdict.join(asked.answer.unwrap_or_default());
            }
            self.after_hooks(desk, point, verdict);
        }
        None
    }

    /// Whether it is a hook that has not answered in time: it is told to stop.
    pub(super) fn stop_late_hook(&mut self, desk: &mut Desk<'_>, question: EffectId) -> bool {
        let is_hook = self.hooking.iter().any(|hooking| hooking.asks(question));
        if is_hook {
            desk.ledger.output(Output::AbortTool {
                call: question,
                why: "it did not answer in time".into(),
            });
        }
        is_hook
    }

    /// The answer goes no further: nothing of what waits for hooks goes on, but what tools have brought stays. A question
    /// about time is of the iteration or the run: [`Agent::drop_time`].
    pub(super) fn drop_hooks(&mut self, desk: &mut Desk<'_>) {
        for Hooking { point, asked } in std::mem::take(&mut self.hooking) {
            if matches!(point, HookPoint::Time { .. } | HookPoint::Notified) {
                self.hooking.push(Hooking { point, asked });
                continue;
            }
            for Asked { question, .. } in asked {
                desk.ledger.timers.clear(TimerReason::Question { question });
                desk.ledger.close(question);
            }
            if let HookPoint::Output(guarded) = point {
                self.withhold(desk, guarded.blocks);
            }
        }
        for index in 0..self.tools.calls.len() {
            if let Some(result) = self.returned(index) {
                self.finish_call(desk, index, result);
            }
        }
    }

    pub(super) fn asks_about_time(&self, timer: TimerReason) -> bool {
        let point = HookPoint::Time { timer };
        self.hooking.iter().any(|hooking| hooking.point == point)
    }

    /// Nothing comes of what nobody waits for: the iteration is over, or the agent (`all`).
    pub(super) fn drop_time(&mut self, desk: &mut Desk<'_>, all: bool) {
        for at in (0..self.hooking.len()).rev() {
            let is_over = match self.hooking.get(at).map(|hooking| &hooking.point) {
                Some(HookPoint::Time { timer }) => all || matches!(timer, TimerReason::Iteration { .. }),
                Some(HookPoint::Notified) => all,
                _ => false,
            };
            if !is_over {
                continue;
            }
            for Asked { question, .. } in self.hooking.remove(at).asked {
                desk.ledger.timers.clear(TimerReason::Question { question });
                if desk.ledger.close(question) {
                    let why = "nobody waits for it any more".into();
                    desk.ledger.output(Output::AbortTool { call: question, why });
                }
            }
        }
    }

    /// What a failure of a hook comes to.
    fn failed_hook(&self, desk: &mut Desk<'_>, hook: u32, why: String) -> HookAnswer {
        let Some(Hook { event, blocks, .. }) = desk.hooks().get(hook as usize) else {
            return HookAnswer::default();
        };
        if *blocks && !matches!(event, HookEvent::Stop | HookEvent::SubagentStop) {
            return HookAnswer::denial(why);
        }
        let message = ["A hook for ", event.name(), " failed: ", &why].concat();
        self.warn(desk, "hook_failed", message);
        HookAnswer::default()
    }

    /// The calls of an answer wait for the host to raise a limit.
    pub(super) fn is_held(&self) -> bool {
        let before = Step::Tools;
        let is_limit = |hooking: &Hooking| matches!(hooking.point, HookPoint::Limit { before: step, .. } if step == before);
        self.hooking.iter().any(is_limit)
    }

    fn after_hooks(&mut self, desk: &mut Desk<'_>, point: HookPoint, mut verdict: HookAnswer) {
        let stop = match point {
            HookPoint::Stop | HookPoint::Output(_) => None,
            _ => verdict.stop.take(),
        };
        match point {
            HookPoint::Prompt { .. } | HookPoint::Session { .. } if stop.is_some() => {}
            HookPoint::Session { prompt } => {
                if verdict.denies() {
                    let why = verdict.reason.unwrap_or_default();
                    return self.stop_because(desk, StoppedBy::Hook, why);
                }
                self.note(&mut verdict, false);
                return self.submit(desk, prompt, "prompt", true);
            }
            HookPoint::Prompt {
                content,
                source,
                owes_answer,
            } => return self.after_prompt(desk, content, &source, owes_answer, verdict),
            HookPoint::Stop => return self.after_stop(desk, verdict),
            HookPoint::Input => return self.after_input(desk, verdict),
            HookPoint::Compact => return self.after_precompact(desk, verdict),
            HookPoint::Compacted => return self.guard_summary(desk),
            HookPoint::Prepare => return self.after_prepare(desk, verdict),
            HookPoint::IterationEnd { owes_answer } => return self.hand_over(desk, owes_answer),
            HookPoint::Limit { stopped_by, before } => {
                return self.after_limit(desk, stopped_by, before, verdict.limits);
            }
            HookPoint::Time { timer } => return self.after_time(desk, timer, verdict.limits),
            HookPoint::Output(guarded) => return self.after_output(desk, guarded, verdict),
            HookPoint::Notified => self.note(&mut verdict, false),
            HookPoint::Batch => {
                self.note(&mut verdict, true);
                if stop.is_none() {
                    return self.finish_round(desk);
                }
            }
            HookPoint::Permission { index, reason } => {
                self.note(&mut verdict, false);
                self.after_permission_hooks(desk, index, reason, verdict);
            }
            HookPoint::Denied {
                index,
                message,
                reason,
            } => {
                self.note(&mut verdict, false);
                self.deny(desk, index, message.as_deref(), &reason, verdict.retry);
            }
            HookPoint::Call { event, index } => {
                if self.after_call_hooks(desk, event, index, verdict) {
                    return self.stop(desk, StoppedBy::FatalTool);
                }
            }
        }
        if self.ended.is_some() {
            return;
        }
        match stop {
            Some(why) => self.stop_because(desk, StoppedBy::Hook, why),
            None => self.advance_tools(desk),
        }
    }

    /// The model is told what hooks add. `blocks`: a denial is no more than something to tell.
    fn note(&mut self, verdict: &mut HookAnswer, blocks: bool) {
        if blocks && verdict.denies() {
            self.notes.extend(verdict.reason.take().map(Block::text));
        }
        self.notes.extend(verdict.context.drain(..).map(Block::text));
    }
}

/// Hooks around tool calls.
impl Agent {
    /// Asks the hooks of this event about a call, which waits for them; false if there are none.
    pub(super) fn ask_about_call(&mut self, desk: &mut Desk<'_>, event: HookEvent, index: usize) -> bool {
        let Some(call) = self.tools.calls.get_mut(index) else {
            return false;
        };
        if !desk.has_hooks(event, &call.name) {
            return false;
        }
        call.phase = CallPhase::Hooking;
        let name = call.name.clone();
        let input = self.call_input(event, index);
        self.ask_hooks(desk, event, &name, HookPoint::Call { event, index }, input);
        true
    }

    /// What a hook is told about a call.
    pub(super) fn call_input(&self, event: HookEvent, index: usize) -> Vec<u8> {
        let mut input = self.hook_input(event);
        if let Some(call) = self.tools.calls.get(index) {
            push_text(&mut input, "toolCallId", &call.id);
            push_text(&mut input, "toolName", &call.name);
            push_raw(&mut input, "input", call.input.as_str());
        }
        input
    }

    /// Shows hooks what a tool has brought, before it counts; false if there are none.
    pub(super) fn hook_result(&mut self, desk: &mut Desk<'_>, index: usize, result: &ToolReturn) -> bool {
        let (event, key) = match result {
            ToolReturn::Fault(_) => (HookEvent::PostToolUseFailure, "error"),
            _ => (HookEvent::PostToolUse, "output"),
        };
        let Some(call) = self.tools.calls.get_mut(index) else {
            return false;
        };
        if !desk.has_hooks(event, &call.name) {
            return false;
        }
        let duration_ms = match call.phase {
            CallPhase::Running { started_ms, .. } => desk.ledger.now_ms.saturating_sub(started_ms),
            _ => 0,
        };
        call.phase = CallPhase::Returned {
            result: result.clone(),
            duration_ms,
        };
        let name = call.name.clone();
        let mut input = self.call_input(event, index);
        push_raw(&mut input, key, output_of(result).as_str());
        push_count(&mut input, "durationMs", duration_ms);
        self.ask_hooks(desk, event, &name, HookPoint::Call { event, index }, input);
        true
    }

    /// What a call has brought that hooks are looking at.
    fn returned(&self, index: usize) -> Option<ToolReturn> {
        match self.tools.calls.get(index).map(|call| &call.phase) {
            Some(CallPhase::Returned { result, .. }) => Some(result.clone()),
            _ => None,
        }
    }

    /// Whether the run cannot go on after what a tool has brought.
    fn after_call_hooks(
        &mut self,
        desk: &mut Desk<'_>,
        event: HookEvent,
        index: usize,
        mut verdict: HookAnswer,
    ) -> bool {
        let returned = self.returned(index);
        self.classifier_context.append(&mut verdict.classifier_context);
        self.note(&mut verdict, returned.is_some());
        if let Some(result) = returned {
            let result = match (event, verdict.updated_output) {
                (HookEvent::PostToolUse, Some(output)) => ToolReturn::Value(output),
                _ => result,
            };
            let is_fatal = matches!(&result, ToolReturn::Fault(fault) if !fault.recoverable);
            self.finish_call(desk, index, result);
            return is_fatal;
        }
        if event == HookEvent::ToolGuardrail {
            self.after_tool_guardrail(desk, index, verdict);
        } else if verdict.denies() {
            self.deny(desk, index, verdict.reason.as_deref(), "a hook denied it", false);
        } else if let Some(call) = self.tools.calls.get_mut(index) {
            call.gate = Gate::Passed {
                decision: verdict.decision,
                reason: verdict.reason,
            };
            let input = verdict.updated_input.filter(|_| !call.gate.said(Decision::Defer));
            if self.change_input(desk, index, input) {
                self.tools.set_phase(index, CallPhase::Checked);
            }
        }
        false
    }

    /// The round is over when its hooks say nothing against it.
    #[inline(never)]
    pub(super) fn close_round(&mut self, desk: &mut Desk<'_>) {
        let is_batch = |hooking: &Hooking| hooking.point == HookPoint::Batch;
        if self.hooking.iter().any(is_batch) {
            return;
        }
        let event = HookEvent::PostToolBatch;
        if !desk.has_hooks(event, "") {
            return self.finish_round(desk);
        }
        let mut input = self.hook_input(event);
        let calls: Vec<ToolCallRecord> = self.tools.told().map(|call| call.record(false)).collect();
        push_raw(&mut input, "toolCalls", Json::of(&calls).as_str());
        self.ask_hooks(desk, event, "", HookPoint::Batch, input);
    }
}
