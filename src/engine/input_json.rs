//! What the host answers, from JSON, by hand: see [`super::config_json`].

use super::error::ConfigError;
use super::event::ToolFault;
use super::input::{PreparedCall, QuestionAnswer, ToolReturn};
use super::json_record::{Record, document, within};
use super::message_json::blocks;

impl ToolReturn {
    /// Reads `{"value": …}`, `{"content": [blocks]}` or `{"fault": {…}}`.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn from_json(json: &str) -> Result<ToolReturn, ConfigError> {
        let mut record = Record::new(document("", json)?);
        let result = if let Some(content) = record.get("content") {
            let read = blocks(content, 0).map_err(|(index, problem)| within("", index, problem));
            ToolReturn::Content(record.within("content", read).unwrap_or_default())
        } else if record.given("fault").is_some() {
            ToolReturn::Fault(record.object_or_default("fault", fault))
        } else {
            ToolReturn::Value(record.json("value"))
        };
        record.finish(result)
    }
}

fn fault(r: &mut Record<'_>) -> ToolFault {
    if r.get("recoverable").is_none() {
        r.refuse("recoverable", "is missing");
    }
    ToolFault {
        code: r.text("code"),
        message: r.text("message"),
        hint: r.text("hint"),
        recoverable: r.flag("recoverable", true),
    }
}

impl QuestionAnswer {
    /// Reads `{"prepared": […]}` or `{"failed": {"why": …}}`.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn from_json(json: &str) -> Result<QuestionAnswer, ConfigError> {
        let mut record = Record::new(document("", json)?);
        if record.given("failed").is_some() {
            let why = record.object_or_default("failed", |r| r.text("why"));
            return record.finish(QuestionAnswer::Failed { why });
        }
        let mut prepared = Vec::new();
        if record.get("prepared").is_none() {
            record.refuse("prepared", "is missing");
        }
        record.each("prepared", &mut |json| {
            let mut record = Record::new(json);
            let call = PreparedCall {
                input: record.json_if("input"),
                resource_key: record.text_if("resourceKey"),
                problem: record.text_if("problem"),
            };
            prepared.push(record.finish(call)?);
            Ok(())
        });
        record.finish(QuestionAnswer::Prepared(prepared))
    }
}
