//! The calls of an answer, read from the arguments that the model wrote.
//!
//! Each call gets a unique id and its arguments as JSON, repaired where that only removes damage. Broken arguments
//! become [`ToolInput::Invalid`] with the problem in words, and `check.rs` answers them. Nothing here runs a call.

use looplet_scan::reader::{Object, string};

use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::calls::call::Call;
use crate::engine::agent::context::AgentContext;
use crate::engine::json::repair::{self, Repair};
use crate::engine::model::answer::{FinishReason, ModelAnswer, Part, PartKind};
use crate::engine::model::config::Loader;
use crate::engine::model::message::{Json, ToolInput, sendable_name};

/// A call as the model wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenCall {
    pub id: String,
    pub name: String,
    /// The index of its tool in the configuration; `None` for an unknown tool.
    pub tool: Option<usize>,
    pub input: ToolInput,
    /// The input of `call_tool` with which the model called this tool. The history has it.
    pub wrapped: Option<ToolInput>,
    /// The reason why `input` is [`ToolInput::Invalid`].
    pub problem: Option<String>,
    pub repaired_by: Option<Repair>,
    /// The output limit ended the answer within this call, or directly after it.
    pub is_cut_off: bool,
}

/// How an answer ended, as far as its last call depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The model ended it, or an abort did.
    Own,
    /// The limit of output tokens ended it.
    Length,
    /// A filter or a refusal ended it.
    Blocked,
}

impl Ending {
    pub fn of(reason: Option<FinishReason>) -> Ending {
        match reason {
            Some(FinishReason::Length) => Ending::Length,
            Some(FinishReason::ContentFilter | FinishReason::Refusal) => Ending::Blocked,
            _ => Ending::Own,
        }
    }
}

impl WrittenCall {
    /// Replaces a call of `call_tool` with one of the tool that it names. If there is no such tool, the call is
    /// unchanged and gets its error from `call_tool`.
    pub fn unpack(&mut self, ctx: &AgentContext<'_>) {
        let tool = ctx
            .tool(self.tool)
            .filter(|tool| tool.loader == Some(Loader::Call));
        let (Some(_), ToolInput::Json(json)) = (tool, &self.input) else {
            return;
        };
        let Some(object) = Object::parse(json.as_str()) else {
            return;
        };
        let (name, tool) = ctx.called(&object.text("name"));
        if tool.is_none() {
            return;
        }
        // Models write an object in a string where a schema leaves its fields open.
        let given = object.get("input").unwrap_or("{}");
        let text = string(given).filter(|text| text.trim_start().starts_with('{'));
        let input = match repair::parse_arguments(text.as_deref().unwrap_or(given)) {
            Ok(parsed) => ToolInput::Json(Json::from_valid(&parsed.json)),
            Err(error) => {
                self.problem = Some(error.describe());
                ToolInput::Invalid(given.to_owned())
            }
        };
        self.wrapped = Some(std::mem::replace(&mut self.input, input));
        (self.name, self.tool) = (name, tool);
    }

    /// Returns true if the call gives the structured answer.
    pub fn is_answer(&self, ctx: &AgentContext<'_>) -> bool {
        ctx.tool(self.tool).is_some_and(|tool| tool.answers)
    }
}

impl Batch {
    /// Reads the calls of an answer that was emitted. Calls that have started early stay as they are.
    pub fn read(
        &self,
        answer: &mut ModelAnswer,
        ending: Ending,
        ctx: &mut AgentContext<'_>,
    ) -> Vec<WrittenCall> {
        let is_call = |part: &Part| part.kind == PartKind::ToolCall;
        let last = answer.parts.iter().rposition(is_call);
        // Content after a call shows that the model had finished it.
        let end = answer
            .parts
            .iter()
            .rposition(|part| is_call(part) || !part.text.trim().is_empty());
        let mut early = self.calls().iter().map(started);
        let mut calls: Vec<WrittenCall> = Vec::new();
        for (index, part) in answer.parts.iter_mut().enumerate() {
            if part.kind != PartKind::ToolCall {
                continue;
            }
            if let Some(call) = early.next() {
                calls.push(call);
                continue;
            }
            let mut call = read_call(part, ctx);
            // A non-empty object has a visible end. An empty one may replace arguments that were never sent.
            let is_whole = call.repaired_by.is_none()
                && matches!(&call.input, ToolInput::Json(json) if json.as_str().trim() != "{}");
            // Gateways close the JSON of arguments that a model did not finish.
            let is_doubtful =
                ending == Ending::Length && Some(index) == end && !ctx.config.tool_calls.run_cut_off;
            let is_broken = ending != Ending::Own && Some(index) == last && !is_whole;
            call.is_cut_off = (is_broken || is_doubtful) && !ignores_arguments(&call, ctx);
            calls.push(call);
        }
        calls
    }
}

/// A call that has started early, as it was read.
fn started(call: &Call) -> WrittenCall {
    WrittenCall {
        id: call.id().to_owned(),
        name: call.name().to_owned(),
        tool: call.tool,
        input: call.written.clone(),
        wrapped: None,
        problem: None,
        repaired_by: None,
        is_cut_off: false,
    }
}

/// Reads one call.
pub(crate) fn read_call(part: &mut Part, ctx: &AgentContext<'_>) -> WrittenCall {
    let (input, problem, repaired_by) = match repair::parse_arguments(&part.text) {
        Ok(parsed) => (
            ToolInput::Json(Json::from_valid(&parsed.json)),
            None,
            parsed.repaired_by,
        ),
        Err(error) => (
            ToolInput::Invalid(part.text.clone()),
            Some(error.describe()),
            None,
        ),
    };
    let (name, tool) = ctx.called(&part.name);
    if tool.is_none() {
        part.name = sendable_name(&name);
    }
    let mut call = WrittenCall {
        id: part.id.clone(),
        name,
        tool,
        input,
        wrapped: None,
        problem,
        repaired_by,
        is_cut_off: false,
    };
    call.unpack(ctx);
    if call.problem.is_some() && ignores_arguments(&call, ctx) {
        (call.input, call.problem) = (ToolInput::Json(Json::empty_object()), None);
    }
    call
}

/// True for a handoff without a schema: it needs no arguments, so any arguments are ignored.
fn ignores_arguments(call: &WrittenCall, ctx: &AgentContext<'_>) -> bool {
    ctx.tool(call.tool)
        .is_some_and(|tool| tool.agent.is_some_and(|agent| agent.handoff) && !tool.validate && !tool.prepare)
}
