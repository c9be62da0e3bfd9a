//! The tool calls of an answer: checked, prepared, scheduled, answered.

use crate::engine::agent::asks::Step;
use crate::engine::agent::calls::batch::{Call, CallPhase, output_of, written_json};
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::{Agent, Desk};
use crate::engine::json::digest;
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::config::AgentTool;
use crate::engine::model::event::{EventKind, ToolFault};
use crate::engine::model::input::ToolReturn;
use crate::engine::model::message::Json;
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::output::{EffectId, EffectKind, Output, ToolInvocation};
use crate::engine::model::question::Point;
use crate::engine::policy::binding::bound_input;
use crate::engine::policy::hook::Gate;

impl Agent {
    pub(crate) fn begin_tools(&mut self, desk: &mut Desk<'_>, written: Vec<WrittenCall>) {
        let mut faults = Vec::new();
        // Calls that have started early stand in the batch already.
        let early = self.tools.calls.len();
        for call in written.into_iter().skip(early) {
            let repair = call.repaired_by;
            let fault = self.problem_of(&call, desk);
            self.list_call(desk, call);
            let index = self.tools.calls.len() - 1;
            self.tell_call(desk, index);
            if let (Some(repair), Some(call)) = (repair, self.tools.calls.get(index)) {
                let message = [
                    "The arguments of ",
                    &call.name,
                    " were no JSON; repaired by ",
                    repair.name(),
                ]
                .concat();
                self.warn(desk, "repaired_arguments", message);
            }
            faults.extend(fault.map(|fault| (index, fault)));
        }
        for (index, fault) in faults {
            self.finish_call(desk, index, ToolReturn::Fault(fault));
        }
        if let Some(error) = self.unregistered(desk) {
            return self.end_failed(desk, error);
        }
        self.count_calls(desk);
        if let Some(stopped_by) = self.limit_on_tools(desk) {
            return self.reach_limit(desk, stopped_by, Step::Tools);
        }
        self.ask_to_prepare(desk);
        self.advance_tools(desk);
    }

    /// Takes a call into the batch.
    pub(crate) fn list_call(&mut self, desk: &Desk<'_>, written: WrittenCall) {
        self.tools.error_format = desk.config.tool_error_format;
        self.tools.calls.push(queued(written, desk));
    }

    pub(crate) fn tell_call(&mut self, desk: &mut Desk<'_>, index: usize) {
        let Some(call) = self.tools.calls.get(index) else {
            return;
        };
        if call.is_answer {
            return;
        }
        let name = call.name.clone();
        if desk.ledger.is_unheard() {
            return self.tools.note_call(&name);
        }
        let input = written_json(&call.written);
        let kind = EventKind::ToolCall {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            input_hash: desk.config.trace.then(|| digest::input_hash(input.as_str())),
            input,
        };
        self.tools.note_call(&name);
        desk.ledger.emit(self.place(), kind);
    }

    /// Calls of an answer that goes no further: listed, answered in the transcript, not run unless they were early.
    pub(crate) fn shelve(&mut self, desk: &mut Desk<'_>, written: Vec<WrittenCall>) {
        if written.is_empty() {
            return;
        }
        self.abort_calls(desk, "the answer that asked for it goes no further");
        let early = self.tools.calls.len();
        for index in 0..early {
            self.leave_call(desk, index);
        }
        // Tools that ran while the answer streamed are a round, even if it goes no further.
        self.tool_rounds += u32::from(early > 0);
        let mut batch = std::mem::take(&mut self.tools);
        let calls = written.into_iter().skip(early).map(|call| Call {
            phase: CallPhase::Done {
                result: ToolReturn::Fault(ToolFault::not_run()),
                duration_ms: 0,
            },
            ..bare(call, desk)
        });
        batch.calls.extend(calls);
        self.records.extend(batch.told().map(|call| call.record(false)));
        self.transcript.push_round(batch.results(), Vec::new());
    }

    pub fn handle_tool_finished(&mut self, desk: &mut Desk<'_>, effect: EffectId, result: ToolReturn) {
        let Some(index) = self.tools.index_of(effect) else {
            return;
        };
        desk.ledger.close(effect);
        let is_fatal = matches!(&result, ToolReturn::Fault(fault) if !fault.recoverable);
        let result = match result {
            ToolReturn::Last(result) => {
                if let Some(call) = self.tools.calls.get_mut(index) {
                    call.terminates = true;
                }
                *result
            }
            result => result,
        };
        if self.hook_result(desk, index, &result) {
            return;
        }
        self.finish_call(desk, index, result);
        if is_fatal {
            self.stop(desk, StoppedBy::FatalTool)
        } else {
            self.advance_tools(desk)
        }
    }

    #[inline(never)]
    pub fn handle_tool_progress(&mut self, desk: &mut Desk<'_>, effect: EffectId, data: Json) {
        let Some(call) = self
            .tools
            .index_of(effect)
            .and_then(|index| self.tools.calls.get(index))
        else {
            return;
        };
        let (tool_call_id, tool_name) = (call.id.clone(), call.name.clone());
        desk.ledger.emit(
            self.place(),
            EventKind::ToolProgress {
                tool_call_id,
                tool_name,
                data,
            },
        );
    }

    #[inline(never)]
    pub fn handle_tool_timeout(&mut self, desk: &mut Desk<'_>, effect: EffectId) {
        if let Some(child) = desk.child_of(effect) {
            return desk.on_child(child, &mut |child, desk| {
                child.time_is_up(desk, TimerReason::Effect(effect));
            });
        }
        let why = "the tool did not finish in time";
        desk.ledger.output(Output::AbortTool {
            call: effect,
            why: why.into(),
        });
        let fault = fault(
            "timeout",
            why.to_owned(),
            "Try again with less work, or go on without this result.",
        );
        self.handle_tool_finished(desk, effect, ToolReturn::Fault(fault));
    }

    /// Calls that wait for this save start, or are answered with its failure.
    #[inline(never)]
    pub fn handle_saved(&mut self, desk: &mut Desk<'_>, saved: EffectId, ok: bool) {
        for index in self.tools.under_way() {
            let Some(call) = self.tools.calls.get(index) else {
                continue;
            };
            let CallPhase::AwaitingSave { effect, save } = call.phase else {
                continue;
            };
            if save != Some(saved) {
                continue;
            }
            if ok {
                self.run_call(desk, index, effect);
            } else {
                desk.ledger.close(effect);
                let why = "the start of this call could not be saved, so it was not made";
                let fault = fault("save_failed", why.into(), "Tell the user that nothing was done.");
                self.finish_call(desk, index, ToolReturn::Fault(fault));
            }
        }
        self.advance_tools(desk);
    }

    /// Ties the calls that asked for a save to the one that was just made.
    pub fn note_save(&mut self, made: EffectId) {
        let under_way = self.tools.under_way();
        for call in self.tools.calls.get_mut(under_way).unwrap_or_default() {
            if let CallPhase::AwaitingSave {
                save: save @ None, ..
            } = &mut call.phase
            {
                *save = Some(made);
            }
        }
    }

    /// Starts what may start; when everything is done, the round is over.
    pub(crate) fn advance_tools(&mut self, desk: &mut Desk<'_>) {
        if self.asks.holds_calls() || self.tools.calls.is_empty() {
            return;
        }
        self.judge_calls(desk);
        let (mode, most) = (desk.config.tool_execution, desk.config.max_tool_concurrency);
        while let Some(index) = self.tools.next_to_start(mode, most) {
            let Some(call) = self.tools.calls.get(index) else {
                break;
            };
            let kind = match agent_of(desk, &call.name) {
                Some(_) => EffectKind::Subagent,
                None => EffectKind::Tool,
            };
            let effect = desk.ledger.open(self.index, kind);
            if call.replay_once {
                let phase = CallPhase::AwaitingSave { effect, save: None };
                self.tools.set_phase(index, phase);
                desk.ledger.await_save();
            } else {
                self.run_call(desk, index, effect);
            }
        }
        let is_wording = self.asks.is_at(Point::WordErrors);
        if self.tools.is_done() && !self.is_streaming() && !is_wording {
            self.close_round(desk);
        }
    }

    fn run_call(&mut self, desk: &mut Desk<'_>, index: usize, effect: EffectId) {
        let target = self
            .tools
            .calls
            .get(index)
            .and_then(|call| agent_of(desk, &call.name));
        if let Some(target) = target {
            return self.delegate(desk, index, effect, target);
        }
        let place = (self.iteration, self.index, self.profile);
        let started_ms = desk.ledger.now_ms;
        self.tools
            .set_phase(index, CallPhase::Running { effect, started_ms });
        let Some(call) = self.tools.calls.get(index) else {
            return;
        };
        let timeout_ms = call.timeout_ms.or(desk.config.timeouts.tool_ms);
        desk.ledger.set_timer(TimerReason::Effect(effect), timeout_ms);
        desk.ledger
            .output(Output::CallTool(invocation(call, effect, place)));
    }

    pub(crate) fn finish_call(&mut self, desk: &mut Desk<'_>, index: usize, result: ToolReturn) {
        let place = self.place();
        let Some(call) = self.tools.calls.get_mut(index) else {
            return;
        };
        let duration_ms = match call.phase {
            CallPhase::Running { started_ms, .. } => desk.ledger.now_ms.saturating_sub(started_ms),
            CallPhase::Returned { duration_ms, .. } => duration_ms,
            _ => 0,
        };
        if !desk.ledger.is_unheard() && !call.is_answer {
            let (tool_call_id, tool_name) = (call.id.clone(), call.name.clone());
            let kind = match &result {
                ToolReturn::Fault(fault) => EventKind::ToolError {
                    tool_call_id,
                    tool_name,
                    error: fault.clone(),
                    duration_ms,
                },
                _ => EventKind::ToolResult {
                    tool_call_id,
                    tool_name,
                    output: output_of(&result),
                    duration_ms,
                },
            };
            desk.ledger.emit(place, kind);
        }
        let is_cut = call.is_cut(&result);
        call.phase = CallPhase::Done { result, duration_ms };
        if is_cut {
            let name = self.tools.calls.get(index).map_or("", |call| &call.name);
            let message = ["The model is shown only the beginning of a result of ", name].concat();
            self.warn(desk, "result_cut", message);
        }
    }

    pub(crate) fn finish_round(&mut self, desk: &mut Desk<'_>) {
        if self.awaits_words(desk) {
            return;
        }
        let batch = std::mem::take(&mut self.tools);
        self.round_start = self.records.len();
        self.records.extend(batch.told().map(|call| call.record(false)));
        // An answer that must fit a schema is still owed.
        let is_last = desk.config.output.is_none() && batch.calls.iter().all(|call| call.terminates);
        let advice = self.judge_round(desk);
        let more = self.nudge(desk, advice);
        self.transcript.push_round(batch.results(), more);
        self.finish_iteration(desk);
        if is_last {
            return self.hand_over(desk, false);
        }
        self.follow_round(desk, advice);
    }
}

fn queued(written: WrittenCall, desk: &Desk<'_>) -> Call {
    let mut call = bare(written, desk);
    call.max_result_chars = desk.config.max_tool_result_chars;
    if let Some(tool) = desk.config.tools.iter().find(|tool| tool.name == call.name) {
        call.read_only = tool.read_only;
        call.replay_once = tool.replay_once;
        call.timeout_ms = tool.timeout_ms;
        call.needs_approval = tool.needs_approval;
        call.input = bound_input(&call.input, &tool.bindings, desk.config.inputs.as_ref());
        if let Some(most) = tool.max_result_chars {
            call.max_result_chars = most.min(u32::MAX.into()) as u32;
        }
        if let Some(agent) = tool.agent {
            // Agents work beside each other, but one that is kept has one conversation.
            let key = if agent.keep { &call.name } else { &call.id };
            call.resource_key = Some(["agent ", key].concat());
        }
        if tool.prepare {
            call.phase = CallPhase::Unprepared;
        }
    }
    call
}

fn bare(written: WrittenCall, desk: &Desk<'_>) -> Call {
    Call {
        is_answer: desk.config.is_answer_tool(&written.name),
        id: written.id,
        name: written.name,
        input: written_json(&written.input),
        written: written.input,
        read_only: false,
        replay_once: false,
        resource_key: None,
        timeout_ms: None,
        needs_approval: false,
        gate: Gate::default(),
        max_result_chars: u32::MAX,
        terminates: false,
        worded: None,
        phase: CallPhase::Checked,
    }
}

/// `place`: iteration, agent, profile.
pub(crate) fn invocation(call: &Call, effect: EffectId, place: (u32, u32, u32)) -> ToolInvocation {
    ToolInvocation {
        call: effect,
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        input: call.input.clone(),
        iteration: place.0,
        agent: place.1,
        profile: place.2,
    }
}

/// The agent that the tool is.
fn agent_of(desk: &Desk<'_>, name: &str) -> Option<AgentTool> {
    desk.config.tools.iter().find(|tool| tool.name == name)?.agent
}

pub(crate) fn fault(code: &str, message: String, hint: &str) -> ToolFault {
    ToolFault {
        code: code.into(),
        message,
        hint: hint.into(),
        recoverable: true,
    }
}
