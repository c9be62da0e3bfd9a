//! Changes of system prompt, tools, effort and format of answers that are sent at the end of a request, so that its
//! prefix does not change.
//!
//! A protocol has a row here if its vendor ties reasoning to the prefix. The agent decides when a change is sent
//! ([`crate::engine::agent::history::head`]), and [`crate::engine::agent::history::body`] adds it after its message.
//! <https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages>,
//! <https://platform.claude.com/docs/en/build-with-claude/effort-per-message> (2026-11-29),
//! <https://developers.openai.com/api/docs/guides/keep-prefix-unchanged> (2026-11-28)

use looplet_scan::reader::Object;

use crate::engine::json::writer::written;
use crate::engine::model::config::{ModelConfig, ResponseFormat, ToolConfig};
use crate::engine::model::journal::head::{Head, HeadChange};
use crate::engine::model::message::Json;
use crate::engine::policy::models::row;
use crate::engine::protocol::Protocol;

/// How a protocol sends changes at the end.
#[derive(Clone, Copy, Debug)]
pub struct AppendForm {
    /// The system prompt is part of the prefix, so a changed one is sent at the end. Otherwise each request has the
    /// current system prompt.
    pub has_system: bool,
    /// A message can remove tools, and declare one again differently. Otherwise each request names the tools that the
    /// model may call now, and a different declaration needs a new prefix.
    pub removes_tools: bool,
    /// The value of `anthropic-beta` that a change of tools needs; empty for none.
    pub beta: &'static str,
    /// How it sends a changed effort; `None` if the asked model takes none.
    pub effort: Option<EffortForm>,
    /// Appends the messages of a change, each with a comma before it. Effort and format are left out where `effort`
    /// is `None`.
    pub encode: fn(&AppendForm, &HeadChange, &mut Vec<u8>),
}

/// How a protocol sends a changed effort at the end.
#[derive(Clone, Copy, Debug)]
pub struct EffortForm {
    /// The value of `anthropic-beta` that it needs; empty for none.
    pub beta: &'static str,
    /// It applies from the next message of the user with more than results of tools.
    pub needs_input: bool,
    /// Writes a format of answers, `None` for text, if that is part of the prefix and changes with the effort.
    /// Otherwise each request has the current format.
    pub format: Option<WriteFormat>,
    /// The effort of a request that names none, for the asked model; empty if that is not known.
    pub default: &'static str,
}

/// Writes a format of answers; `None` is text.
pub type WriteFormat = fn(Option<&ResponseFormat>, &mut Vec<u8>);

/// The format as this function writes it.
pub fn format_json(write: WriteFormat, format: Option<&ResponseFormat>) -> Json {
    let mut json = Vec::new();
    write(format, &mut json);
    Json::from_valid(&written(json))
}

/// The changes of a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Appended<'a> {
    /// The form for the requested model. `None` if its requests always begin with the current head.
    pub form: Option<&'a AppendForm>,
    /// The head of the request, and the changes since.
    pub head: Option<&'a Head>,
    /// One more change, of this request.
    pub last: Option<&'a HeadChange>,
    /// The tools that the model may call, if the request declares others.
    pub offered: Option<&'a [ToolConfig]>,
}

/// The form in which this model accepts changes at the end. `None` if it accepts none, if its vendor does not compare
/// what precedes reasoning, or if the caller's own `body` has the head.
pub fn append_form(protocol: &Protocol, model: &ModelConfig) -> Option<AppendForm> {
    let form = *protocol.append?;
    let row = row(protocol.name, &model.vendor, &model.model);
    if !(row.compares && row.appends.instructions && row.appends.tools) {
        return None;
    }
    let body = model.body.as_ref().and_then(|body| Object::parse(body.as_str()));
    let has = |body: &Object<'_>, fields: &[&str]| fields.iter().any(|field| body.has(field));
    let body = body.unwrap_or_default();
    if has(&body, &["system", "instructions", "tools", "tool_choice"]) {
        return None;
    }
    let has_settings = has(&body, &["output_config", "thinking", "reasoning"])
        || body.object("text").is_some_and(|text| text.has("format"));
    let effort = form.effort.filter(|_| row.appends.effort && !has_settings);
    Some(AppendForm {
        effort: effort.filter(|_| thinks_freely(model)).map(|effort| EffortForm {
            default: row.default_effort,
            ..effort
        }),
        ..form
    })
}

/// True if the kind of thinking lets the effort change. `between_tools` of Claude and the mode `pro` of GPT refuse
/// it, and some efforts are refused with `disabled`.
/// <https://openrouter.ai/docs/cookbook/evaluate-and-optimize/model-migrations/gpt-6-astra> (2026-11-29)
fn thinks_freely(model: &ModelConfig) -> bool {
    let thinking = model.thinking.as_ref();
    let Some(thinking) = thinking.and_then(|json| Object::parse(json.as_str())) else {
        return true;
    };
    let is_free = ["", "adaptive"].contains(&thinking.word("type"));
    is_free && ["effort", "mode"].iter().all(|field| !thinking.has(field))
}

/// The text that announces another system prompt.
pub fn new_instructions(system: &str) -> String {
    match system.trim().is_empty() {
        true => "The instructions above no longer apply.".to_owned(),
        false => format!("These instructions replace all earlier ones:\n\n{system}"),
    }
}
