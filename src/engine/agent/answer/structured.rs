//! A structured answer is read, checked, and asked for again when it does not fit.
//!
//! [`Agent::structure`] judges each answer that passed the guardrails. An answer that fits becomes the result's
//! `output`. Any other is refused with the problem in words, and the model may try again as often as
//! `maxStructuredOutputRetries` says. After that the agent stops with `stoppedBy: "structured_output"`.

use crate::engine::agent::Agent;
use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::calls::fault;
use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::desk::Desk;
use crate::engine::agent::machine::step::{Now, Phase};
use crate::engine::json::repair::{Parsed, parse_arguments};
use crate::engine::model::answer::FinishReason;
use crate::engine::model::input::CheckedOutput;
use crate::engine::model::journal::Step;
use crate::engine::model::message::{Block, Json, ToolInput};
use crate::engine::model::outcome::StoppedBy;
use crate::engine::model::question::{Facts, Point};
use crate::engine::schema::Schema;

impl Agent {
    /// Judges an answer that must fit a schema. Returns the calls if it is no such answer yet, but a call of tools or
    /// a pause.
    pub(crate) fn structure(
        &mut self,
        desk: &mut Desk<'_>,
        calls: Vec<WrittenCall>,
    ) -> Option<Vec<WrittenCall>> {
        let Some(format) = &desk.config.output else {
            return Some(calls);
        };
        let is_paused = calls.is_empty() && self.answers.reply.finish_reason == Some(FinishReason::Pause);
        if is_paused || !calls.iter().all(|call| call.is_answer(desk)) {
            return Some(calls);
        }
        let call_ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
        let read = match calls.into_iter().next() {
            Some(call) => read_call(call),
            None => self.read_text(desk),
        };
        let checked = read.and_then(|json| match &desk.catalog.output {
            Some(schema) => check(schema, &json).map(|()| json),
            None => Ok(json),
        });
        match checked {
            Err(problem) => self.refuse_output(desk, &call_ids, &problem),
            Ok(written) if format.ask => self.ask_to_check(desk, written, call_ids),
            Ok(output) => self.accept_output(desk, &call_ids, output),
        }
        None
    }

    fn read_text(&mut self, desk: &mut Desk<'_>) -> Result<Json, String> {
        let is_cut_off = self.answers.reply.finish_reason == Some(FinishReason::Length);
        let parsed = match read_object(self.answers.reply.text()) {
            Err(_) if is_cut_off && !self.answers.reply.text().trim().is_empty() => {
                return Err(CUT_OFF.into());
            }
            parsed => parsed?,
        };
        let json = Json::from_valid(parsed.json.trim());
        if let Some(repair) = parsed.repaired_by {
            let message = format!("The answer was not valid JSON; repaired by {}", repair.name());
            desk.warn("repaired_output", message);
        }
        Ok(json)
    }

    fn ask_to_check(&mut self, desk: &mut Desk<'_>, written: Json, call_ids: Vec<String>) {
        let facts = Facts::Checked { output: &written };
        let ask = Ask::new(Point::CheckOutput, About::Phase, &facts);
        desk.ask(ask);
        self.machine.enter(Step::Act, Now::Checking { written, call_ids });
    }

    pub(crate) fn after_check(&mut self, desk: &mut Desk<'_>, checked: CheckedOutput) {
        if !self.machine.is(Phase::Checking) {
            return;
        }
        let Now::Checking { written, call_ids } = self.machine.leave() else {
            return;
        };
        match checked.problem {
            Some(problem) => self.refuse_output(desk, &call_ids, &problem),
            None => self.accept_output(desk, &call_ids, checked.output.unwrap_or(written)),
        }
    }

    fn accept_output(&mut self, desk: &mut Desk<'_>, call_ids: &[String], output: Json) {
        let results = call_ids.iter().map(|id| Block::ToolResult {
            call_id: id.clone(),
            content: vec![Block::text("The answer was taken.")],
            is_error: false,
            pending: None,
        });
        self.history.transcript.push_round(results.collect(), Vec::new());
        if !call_ids.is_empty() {
            self.answers.reply.text = Some(output.as_str().to_owned());
        }
        self.answers.misfits = 0;
        self.answers.output = Some(output);
        self.finish_iteration(desk);
        self.hand_over(desk, false);
    }

    /// Tells the model the problem and asks again, unless it has refused to answer or has no retries left.
    fn refuse_output(&mut self, desk: &mut Desk<'_>, call_ids: &[String], problem: &str) {
        self.answers.misfits += 1;
        let message = format!("The answer was not taken: {problem}");
        desk.warn("invalid_output", message.clone());
        let most = desk
            .config
            .output
            .as_ref()
            .map_or(0, |format| format.max_structured_output_retries);
        let refuses = matches!(
            self.answers.reply.finish_reason,
            Some(FinishReason::Refusal | FinishReason::ContentFilter)
        );
        let gives_up = refuses || self.answers.misfits > most;
        if call_ids.is_empty() {
            let how = match desk.config.answer_tool() {
                Some(tool) => format!("\nCall the tool {} with the answer.", tool.name),
                None => self.how_to_answer(desk),
            };
            if !gives_up {
                self.history
                    .transcript
                    .push_user(vec![Block::text(format!("{message}{how}"))]);
            }
        } else {
            let fault = fault(
                "invalid_output",
                message,
                "Call the tool again with an answer that fits its schema.",
            );
            let results = call_ids.iter().map(|id| fault.result_of(id));
            self.history.transcript.push_round(results.collect(), Vec::new());
        }
        self.finish_iteration(desk);
        if gives_up {
            return self.stop_because(desk, StoppedBy::StructuredOutput, problem.to_owned());
        }
        self.hand_over(desk, true);
    }

    fn how_to_answer(&self, desk: &Desk<'_>) -> String {
        let schema = desk
            .config
            .output
            .as_ref()
            .map_or("", |format| format.schema.as_str());
        format!("\nAnswer again with one JSON object and nothing else, which fits this schema: {schema}")
    }
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

/// Reads the text of an answer. An empty text and `null` stand for empty arguments in a call, but they are no answer.
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
        Some(problem) => Err(format!("it does not fit the schema: {problem}")),
    }
}
