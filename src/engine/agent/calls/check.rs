//! The checks of a call before it may run: its tool, its arguments, its schema, its count, and your code's
//! preparation.
//!
//! [`Calls::take_in`] checks each call first, and [`Calls::prepare`] then asks your code once for the whole batch. A
//! call that fails a check is not run. It gets a fault that tells the model how to correct it.

use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::calls::batch::{Call, CallPhase};
use crate::engine::agent::calls::permission::tool_of;
use crate::engine::agent::calls::run::invocation;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::calls::{Calls, Next, fault};
use crate::engine::agent::desk::Desk;
use crate::engine::agent::who::Who;
use crate::engine::json::writer::decimal;
use crate::engine::model::config::OnUnknownTool;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event::ToolFault;
use crate::engine::model::input::{PreparedCall, ToolReturn};
use crate::engine::model::message::{Json, ToolInput};
use crate::engine::model::question::{Facts, Point};
use crate::engine::policy::binding::bound_input;
use crate::engine::policy::rule::subject::Asked;

impl Calls {
    /// Asks your code to prepare the calls, in one question for the batch, before anything else happens to them.
    pub fn prepare(&mut self, who: &Who, desk: &mut Desk<'_>) {
        let default_ms = desk.config.timeouts.tool_ms;
        let mut tool_ms = None;
        let (mut indexes, mut calls, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for (index, call) in self.batch.calls.iter_mut().enumerate() {
            if call.phase == CallPhase::Unprepared {
                call.phase = CallPhase::Preparing;
                // The check of an input counts against the tool's time.
                tool_ms = tool_ms.max(call.timeout_ms.or(default_ms));
                texts.extend(texts_to_read(call, desk));
                calls.push(invocation(call, 0, who));
                indexes.push(index);
            }
        }
        if calls.is_empty() {
            return;
        }
        let facts = Facts::Calls { calls, texts };
        let ask = Ask {
            tool_ms,
            ..Ask::new(Point::PrepareCalls, About::Calls(indexes), &facts)
        };
        desk.ask(who, ask);
    }

    fn take_one(&mut self, who: &Who, desk: &mut Desk<'_>, index: usize, prepared: PreparedCall) {
        if let Some(problem) = prepared.problem {
            let fault = fault(
                "invalid_input",
                problem,
                "Call the tool again with input that fits its schema.",
            );
            return self.finish(who, desk, index, ToolReturn::Fault(fault));
        }
        if let Some(call) = self.batch.calls.get_mut(index) {
            call.resource_key = prepared.resource_key.or(call.resource_key.take());
            if let Some(input) = prepared.input {
                call.input = input;
            }
            call.needs_approval |= prepared.needs_approval;
        }
        self.batch.set_phase(index, CallPhase::Checked);
    }

    /// Takes one answer for each call of the question, in order. A call without an answer fails with the reason.
    pub fn take_prepared(
        &mut self,
        who: &Who,
        desk: &mut Desk<'_>,
        about: &About,
        prepared: Result<Vec<PreparedCall>, String>,
    ) -> Next {
        let About::Calls(indexes) = about else {
            return Next::Wait;
        };
        let missing = "your code did not prepare this call".to_owned();
        let (prepared, why) = match prepared {
            Ok(prepared) => (prepared, missing),
            Err(why) => (Vec::new(), why),
        };
        let mut prepared = prepared.into_iter();
        for index in indexes {
            if let Some(prepared) = prepared.next() {
                self.take_one(who, desk, *index, prepared);
                continue;
            }
            let hint = "Call the tool again, or go on without it.";
            let fault = fault("tool_failed", why.clone(), hint);
            self.finish(who, desk, *index, ToolReturn::Fault(fault));
        }
        self.advance(who, desk)
    }

    /// Replaces the input of a call with one of your code. An input that does not fit the tool's schema leads to a
    /// fault and a warning. Returns false then.
    pub(super) fn change_input(
        &mut self,
        who: &Who,
        desk: &mut Desk<'_>,
        index: usize,
        input: Option<Json>,
    ) -> bool {
        let (Some(input), Some(call)) = (input, self.batch.calls.get_mut(index)) else {
            return true;
        };
        let tool = desk.config.tools.iter().position(|tool| tool.name == call.name);
        let Some(problem) = tool.and_then(|tool| misfit(desk, tool, &input)) else {
            call.input = input;
            return true;
        };
        let message = [
            "The application changed the input of ",
            &call.name,
            ", and it does not fit the tool's schema: ",
            &problem,
        ]
        .concat();
        desk.warn(who.place(), "invalid_updated_input", message.clone());
        let hint = "Do not repeat the call as it is; go on without it or ask the user.";
        self.finish(
            who,
            desk,
            index,
            ToolReturn::Fault(fault("invalid_input", message, hint)),
        );
        false
    }

    /// The fault that keeps a call from being run.
    pub(super) fn problem_of(&mut self, call: &WrittenCall, desk: &Desk<'_>) -> Option<ToolFault> {
        check(call, desk).err().or_else(|| self.check_count(call, desk))
    }

    /// The failure for a call of an unknown tool, where the configuration does not allow one.
    pub(super) fn unregistered(&self, desk: &Desk<'_>) -> Option<Failure> {
        if desk.config.on_unknown_tool != OnUnknownTool::Throw {
            return None;
        }
        let is_unknown = |call: &&Call| call.fault().is_some_and(|fault| fault.code == "unknown_tool");
        let call = self.batch.calls.iter().find(is_unknown)?;
        let message = ["Tool not registered: ", &call.name].concat();
        Some(Failure::new(FailureCode::ConfigInvalid, message))
    }

    /// The fault for a call of a tool that has been called `maxCalls` times in this run.
    fn check_count(&mut self, call: &WrittenCall, desk: &Desk<'_>) -> Option<ToolFault> {
        let tool = desk.config.tools.iter().find(|tool| tool.name == call.name)?;
        let most = tool.max_calls?;
        if self.batch.count(&call.name, &self.records) < most {
            return None;
        }
        let message = [
            &call.name,
            " was called as often as it may be in one run (",
            &decimal(most as usize),
            ").",
        ]
        .concat();
        Some(fault("call_limit", message, "Go on with what you have."))
    }
}

/// The texts of the call that rules compare and only the platform can read.
pub(super) fn texts_to_read(call: &Call, desk: &Desk<'_>) -> Vec<String> {
    let Some(permissions) = desk.permissions.as_ref() else {
        return Vec::new();
    };
    let tool = tool_of(call, desk);
    permissions.texts_to_read(&Asked {
        tool: &tool,
        input: call.input.as_str(),
        readings: &[],
    })
}

fn check(call: &WrittenCall, desk: &Desk<'_>) -> Result<(), ToolFault> {
    let tools = &desk.config.tools;
    if tools.iter().any(|tool| tool.answers && tool.name == call.name) {
        let message = "The answer came together with other calls, so it was not taken.";
        let hint = "Give the answer again, by itself, when you have the results.";
        return Err(fault("early_answer", message.into(), hint));
    }
    let index = tools.iter().position(|tool| tool.name == call.name);
    if index.is_none() && desk.config.on_unknown_tool != OnUnknownTool::Host {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let hint = if tools.is_empty() {
            "There are no tools.".into()
        } else {
            ["Use one of: ", &names.join(", ")].concat()
        };
        return Err(ToolFault {
            hint,
            ..fault(
                "unknown_tool",
                ["There is no tool named ", &call.name].concat(),
                "",
            )
        });
    }
    if call.is_cut_off {
        let message = "The answer reached its length limit within this call, so the call was not run.";
        return Err(fault(
            "cut_off",
            message.into(),
            "Call the tool again with shorter arguments.",
        ));
    }
    let input = match &call.input {
        ToolInput::Json(input) => input,
        ToolInput::Invalid(_) => {
            let problem = call.problem.as_deref().unwrap_or_default();
            let message = ["Invalid JSON in tool arguments: ", problem].concat();
            return Err(fault(
                "invalid_json",
                message,
                "Call the tool again with one valid JSON object.",
            ));
        }
    };
    let Some((index, tool)) = index.and_then(|index| Some((index, tools.get(index)?))) else {
        return Ok(());
    };
    let input = bound_input(input, &tool.bindings, desk.inputs);
    match misfit(desk, index, &input) {
        None => Ok(()),
        Some(problem) => Err(fault(
            "invalid_input",
            ["The input does not fit the tool's schema: ", &problem].concat(),
            "Call the tool again with input that fits its schema.",
        )),
    }
}

/// The problem that the schema of the tool at this index finds in an input.
fn misfit(desk: &Desk<'_>, tool: usize, input: &Json) -> Option<String> {
    desk.catalog.schemas.get(tool)?.as_ref()?.problem(input.as_str())
}
