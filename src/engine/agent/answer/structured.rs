//! Reads and checks a structured answer, and asks again if it does not match.
//!
//! [`Answers::structure`] checks each answer that the guardrails have accepted. An answer that matches becomes the
//! result's `output`. Any other is rejected with a description of the problem, and the model has `output.maxRetries`
//! retries. After that the agent stops with `stoppedBy: "structured_output"`.

use crate::engine::agent::answer::Answers;
use crate::engine::agent::calls::fault;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::next::Next;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::json::repair::{Parsed, parse_arguments};
use crate::engine::model::answer::FinishReason;
use crate::engine::model::input::CheckedOutput;
use crate::engine::model::message::{Block, Json, ToolInput};
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::question::{Facts, Point};
use crate::engine::schema::Schema;

/// The verdict on an answer that must match a schema.
pub enum Judged {
    /// It is no structured answer yet, but calls of tools or a pause.
    Open(Vec<WrittenCall>),
    /// Your code checks it. `call_ids` names the calls that gave it.
    Asked { written: Json, call_ids: Vec<String> },
    /// It was taken or refused.
    Over(Next),
}

impl Answers {
    /// Checks an answer that must match a schema.
    pub fn structure(
        &mut self,
        ctx: &mut AgentContext<'_>,
        calls: Vec<WrittenCall>,
        transcript: &mut Transcript,
    ) -> Judged {
        let Some(format) = &ctx.config.output else {
            return Judged::Open(calls);
        };
        let is_paused = calls.is_empty() && self.is_paused();
        if is_paused || !calls.iter().all(|call| call.is_answer(ctx)) {
            return Judged::Open(calls);
        }
        let call_ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
        let read = match calls.into_iter().next() {
            Some(call) => read_call(call),
            None => self.read_text(ctx),
        };
        let checked = read.and_then(|json| match &ctx.catalog.output {
            Some(schema) => check(schema, &json).map(|()| json),
            None => Ok(json),
        });
        match checked {
            Err(problem) => Judged::Over(self.refuse(ctx, &call_ids, &problem, transcript)),
            Ok(written) if format.ask => {
                let facts = Facts::Checked { output: &written };
                ctx.ask(Ask::new(Point::CheckOutput, About::Phase, &facts));
                Judged::Asked { written, call_ids }
            }
            Ok(output) => Judged::Over(self.accept(&call_ids, output, transcript)),
        }
    }

    /// Applies your code's verdict on an answer that matches its schema.
    pub fn after_check(
        &mut self,
        ctx: &mut AgentContext<'_>,
        checked: CheckedOutput,
        (written, call_ids): (Json, Vec<String>),
        transcript: &mut Transcript,
    ) -> Next {
        match checked.problem {
            Some(problem) => self.refuse(ctx, &call_ids, &problem, transcript),
            None => self.accept(&call_ids, checked.output.unwrap_or(written), transcript),
        }
    }

    fn read_text(&self, ctx: &mut AgentContext<'_>) -> Result<Json, String> {
        let reply = &self.kept.reply;
        let is_cut_off = reply.finish_reason == Some(FinishReason::Length);
        let parsed = match read_object(reply.text()) {
            Err(_) if is_cut_off && !reply.text().trim().is_empty() => return Err(CUT_OFF.into()),
            parsed => parsed?,
        };
        let json = Json::from_valid(parsed.json.trim());
        if let Some(repair) = parsed.repaired_by {
            let message = format!("The answer was not valid JSON; repaired by {}", repair.name());
            ctx.warn("repaired_output", message);
        }
        Ok(json)
    }

    fn accept(&mut self, call_ids: &[String], output: Json, transcript: &mut Transcript) -> Next {
        let results = call_ids.iter().map(|id| Block::ToolResult {
            call_id: id.clone(),
            content: vec![Block::text("The answer was accepted.")],
            is_error: false,
            pending: None,
        });
        transcript.push_round(results.collect(), Vec::new());
        if !call_ids.is_empty() {
            self.kept.reply.text = Some(output.as_str().to_owned());
        }
        self.kept.misfits = 0;
        self.kept.output = Some(output);
        Next::HandOver { owes_answer: false }
    }

    /// Sends the problem to the model and asks again, unless it has refused to answer or has no retries left.
    fn refuse(
        &mut self,
        ctx: &mut AgentContext<'_>,
        call_ids: &[String],
        problem: &str,
        transcript: &mut Transcript,
    ) -> Next {
        self.kept.misfits += 1;
        let message = format!("The answer was not accepted: {problem}");
        ctx.warn("invalid_output", message.clone());
        let format = ctx.config.output.as_ref();
        let most = format.map_or(0, |format| format.max_retries);
        let refuses = matches!(
            self.kept.reply.finish_reason,
            Some(FinishReason::Refusal | FinishReason::ContentFilter)
        );
        let gives_up = refuses || self.kept.misfits > most;
        if !call_ids.is_empty() {
            let hint = "Call the tool again with an answer that matches its schema.";
            let fault = fault("invalid_output", message, hint);
            let results = call_ids.iter().map(|id| fault.result_of(id));
            transcript.push_round(results.collect(), Vec::new());
        } else if !gives_up {
            let how = how_to_answer(ctx);
            transcript.push_user(vec![Block::notice(format!("{message}\n{how}"))]);
        }
        if gives_up {
            return Next::StopBecause(StoppedBy::StructuredOutput, problem.to_owned());
        }
        Next::HandOver { owes_answer: true }
    }
}

fn how_to_answer(ctx: &AgentContext<'_>) -> String {
    if let Some(tool) = ctx.config.answer_tool() {
        return format!("Call the tool {} with the answer.", tool.name);
    }
    let format = ctx.config.output.as_ref();
    let schema = format.map_or("", |format| format.schema.as_str());
    format!("Answer again with one JSON object and nothing else, which matches this schema: {schema}")
}

const CUT_OFF: &str = "it was cut off at the length limit of an answer: make it shorter";

/// Gives a call another answer than the model's.
pub(crate) fn answer_with(call: &mut WrittenCall, text: &str) {
    call.is_cut_off = false;
    (call.input, call.problem) = match read_object(text) {
        Ok(parsed) => (ToolInput::Json(Json::from_valid(parsed.json.trim())), None),
        Err(problem) => (ToolInput::Invalid(text.to_owned()), Some(problem)),
    };
}

/// Reads the text of an answer. In a call, an empty text and `null` mean empty arguments. Here they are not an
/// answer.
fn read_object(text: &str) -> Result<Parsed<'_>, String> {
    match parse_arguments(text) {
        Ok(parsed) if parsed.json == "{}" && !text.contains('{') => Err("it is empty".into()),
        parsed => parsed.map_err(|error| error.describe()),
    }
}

fn read_call(call: WrittenCall) -> Result<Json, String> {
    match call.input {
        _ if call.is_cut_off => Err(CUT_OFF.into()),
        ToolInput::Json(json) => Ok(json),
        ToolInput::Invalid(_) => Err(call.problem.unwrap_or_default()),
    }
}

fn check(schema: &Schema, json: &Json) -> Result<(), String> {
    match schema.problem(json.as_str()) {
        None => Ok(()),
        Some(problem) => Err(format!("it does not match the schema: {problem}")),
    }
}
