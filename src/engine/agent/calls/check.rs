//! The checks of a call before it may run: its tool, its arguments, its schema and its count.
//!
//! A call that fails a check is not run. Its fault says how the model can correct it.

use serde::Deserialize;

use crate::engine::agent::calls::call::Call;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::calls::{Calls, fault};
use crate::engine::agent::context::AgentContext;
use crate::engine::model::config::OnUnknownTool;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event::ToolFault;
use crate::engine::model::json;
use crate::engine::model::message::{Json, ToolInput};
use crate::engine::policy::binding::bound_input;

impl Calls {
    /// The fault of a call that must not run.
    pub(super) fn problem_of(&mut self, call: &WrittenCall, ctx: &AgentContext<'_>) -> Option<ToolFault> {
        check(call, ctx).err().or_else(|| self.check_count(call, ctx))
    }

    /// The failure for a call of an unknown tool, where the configuration does not allow one.
    pub(super) fn unregistered(&self, ctx: &AgentContext<'_>) -> Option<Failure> {
        if ctx.config.tool_calls.on_unknown_tool != OnUnknownTool::Throw {
            return None;
        }
        let is_unknown = |call: &&Call| call.fault().is_some_and(|fault| fault.code == "unknown_tool");
        let call = self.batch.calls().iter().find(is_unknown)?;
        let message = format!("Tool not registered: {}", call.name());
        Some(Failure::new(FailureCode::ConfigInvalid, message))
    }

    /// The fault for a call of a tool that has been called `maxCalls` times in this run.
    fn check_count(&mut self, call: &WrittenCall, ctx: &AgentContext<'_>) -> Option<ToolFault> {
        let most = ctx.tool(call.tool)?.max_calls?;
        if self.batch.count(&call.name, self.rounds.records()) < most {
            return None;
        }
        let message = format!(
            "{} was called as often as it may be in one run ({}).",
            call.name, most
        );
        Some(fault("call_limit", message, "Continue with what you have."))
    }
}

fn check(call: &WrittenCall, ctx: &AgentContext<'_>) -> Result<(), ToolFault> {
    let tool = ctx.tool(call.tool);
    if tool.is_some_and(|tool| tool.answers) {
        let message = "The answer was given together with other calls, so it was not accepted.";
        let hint = "Give the answer again, without other calls, when you have the results.";
        return Err(fault("early_answer", message, hint));
    }
    if tool.is_none() && ctx.config.tool_calls.on_unknown_tool != OnUnknownTool::Host {
        return Err(unknown_tool(&call.name, ctx));
    }
    if call.is_cut_off {
        let message = "The answer reached its length limit at this call, so its arguments may be cut off and the call was not run.";
        return Err(fault(
            "cut_off",
            message,
            "Call the tool again with shorter arguments.",
        ));
    }
    let input = match &call.input {
        ToolInput::Json(input) => input,
        ToolInput::Invalid(_) => {
            let problem = call.problem.as_deref().unwrap_or_default();
            let message = format!("Invalid JSON in tool arguments: {problem}");
            return Err(fault(
                "invalid_json",
                message,
                "Call the tool again with one valid JSON object.",
            ));
        }
    };
    let Some(tool) = tool else { return Ok(()) };
    if !tool.validate && is_empty(input) && has_required(&tool.input_schema) {
        let message = "The arguments are empty, and the tool has required fields.";
        let hint = "Call the tool again with the required fields.";
        return Err(fault("invalid_input", message, hint));
    }
    let input = bound_input(input, &tool.bindings, ctx.inputs);
    match misfit(ctx, call.tool, &input) {
        None => Ok(()),
        Some(problem) => Err(fault(
            "invalid_input",
            format!("The input does not match the tool's schema: {problem}"),
            "Call the tool again with input that matches its schema.",
        )),
    }
}

fn unknown_tool(name: &str, ctx: &AgentContext<'_>) -> ToolFault {
    let tools = ctx.config.tools.iter();
    let callable = tools.filter(|tool| !tool.is_hosted() && !tool.defer_loading);
    let names: Vec<&str> = callable.map(|tool| tool.name.as_str()).collect();
    let message = format!("There is no tool named {}", shown_name(name));
    match names.is_empty() {
        true => fault("unknown_tool", message, "There are no tools."),
        false => fault(
            "unknown_tool",
            message,
            &format!("Use one of: {}", names.join(", ")),
        ),
    }
}

/// The name as a message shows it. No vendor's names have more than 128 characters.
fn shown_name(name: &str) -> String {
    match name.char_indices().nth(128).and_then(|(end, _)| name.get(..end)) {
        None => name.to_owned(),
        Some(head) => format!("{head}…"),
    }
}

/// True for an empty object, which missing arguments and `null` also become.
fn is_empty(input: &Json) -> bool {
    let text = input.as_str().trim_ascii();
    let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    inside.is_some_and(|inside| inside.trim_ascii().is_empty())
}

/// True if the schema that the model sees requires a field.
fn has_required(schema: &Json) -> bool {
    #[derive(Deserialize)]
    struct Schema {
        #[serde(default)]
        required: Vec<String>,
    }
    let schema: Option<Schema> = json::read("", schema.as_str()).ok();
    schema.is_some_and(|schema| !schema.required.is_empty())
}

/// The problem that the schema of the tool at this index finds in an input.
pub fn misfit(ctx: &AgentContext<'_>, tool: Option<usize>, input: &Json) -> Option<String> {
    ctx.catalog.schemas.get(tool?)?.as_ref()?.problem(input.as_str())
}
