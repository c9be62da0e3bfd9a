//! Questions and events as a test reads them.

use looplet::engine::model::event::EventKind;
use looplet::engine::model::output::ToolInvocation;
use looplet::engine::model::question::{Point, Question};
use serde_json::Value;

use super::settings::merge;

/// Every point at which hooks are asked.
pub const HOOK_EVENTS: [&str; 20] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PermissionRequest",
    "PermissionDenied",
    "Notification",
    "InputGuardrail",
    "OutputGuardrail",
    "ToolGuardrail",
    "PrepareIteration",
    "IterationEnd",
    "Limit",
];

/// What is told with a question.
pub fn data(ask: &Question) -> Value {
    serde_json::from_str(ask.data.as_str()).unwrap()
}

/// What a hook is told, with where it was asked.
pub fn hook_input(ask: &Question) -> Value {
    let mut input = serde_json::to_value(ask).unwrap();
    let fields = input.as_object_mut().unwrap();
    for other in ["asker", "profile", "data"] {
        fields.remove(other);
    }
    let point = fields.remove("point").unwrap();
    fields.insert("event".to_owned(), point);
    merge(&mut input, data(ask));
    input
}

/// The calls that are to be prepared.
pub fn calls_of(ask: &Question) -> Vec<ToolInvocation> {
    assert_eq!(ask.point, Point::PrepareCalls);
    serde_json::from_value(data(ask)["calls"].clone()).unwrap()
}

pub fn event_name(kind: &EventKind) -> String {
    let value = serde_json::to_value(kind).unwrap();
    value["type"].as_str().unwrap().to_owned()
}
