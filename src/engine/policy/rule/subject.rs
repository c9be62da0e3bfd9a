//! What a call is about: the parts of its input that the specifiers of rules are compared with.

use crate::engine::json::cursor::{Cursor, RawString};
use crate::engine::json::reader::Object;
use crate::engine::model::config::{Access, ToolConfig};
use crate::engine::policy::rule::{command, path};
use crate::engine::policy::shell::Line;

/// What a call is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Of no call in particular.
    Unknown,
    /// Every field that may say it, those in nested objects too: a tool reads some of them, and which ones nobody here
    /// knows. None if the input itself has none of them.
    Of(Vec<Text>),
}

/// One field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    Command(Line),
    Path(String),
    Address(String),
    Other(String),
    /// Something else than a text.
    Hidden,
}

impl Subject {
    pub fn of(tool: &ToolConfig, input: &str) -> Subject {
        let fields = fields(tool);
        // The tool reads something else than what rules could be shown.
        if !declares(tool, &fields) {
            return Subject::Of(Vec::new());
        }
        let mut texts = Vec::new();
        let (mut depth, mut is_shown) = (0, false);
        let mut cursor = Cursor::new(input.as_bytes());
        while let Some(byte) = cursor.peek() {
            if byte != b'"' {
                match byte {
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                cursor.step(1);
                continue;
            }
            let Some(key) = cursor.string() else {
                break;
            };
            if cursor.eat(b':').is_none() || !fields.contains(&key.to_text().as_ref()) {
                continue;
            }
            texts.push(match cursor.peek() {
                Some(b'n') => continue,
                Some(b'"') => text(tool.access(), cursor.string()),
                _ => Text::Hidden,
            });
            is_shown |= depth == 1;
        }
        // A list may hold more than the elements that show something.
        if !is_shown {
            texts.clear();
        }
        Subject::Of(texts)
    }

    /// Specifiers make sense for this tool.
    pub fn has_one(tool: &ToolConfig) -> bool {
        tool.rule_subject.is_some() || tool.access().is_some()
    }

    /// The tool's schema has none of the fields that would be looked at.
    pub fn is_undeclared(tool: &ToolConfig) -> bool {
        !declares(tool, &fields(tool))
    }

    /// An edit, or a command that only moves files about, that shows where, and that is not outside the place where the
    /// run works.
    pub fn is_file_work(&self, tool: &ToolConfig) -> bool {
        let Subject::Of(texts) = self else {
            return tool.access() == Some(Access::Edit);
        };
        match tool.access() {
            Some(Access::Shell) => {
                let is_file_work = |text: &Text| matches!(text, Text::Command(line) if command::only_moves_files(&line.text));
                !texts.is_empty() && texts.iter().all(is_file_work)
            }
            Some(Access::Edit) => {
                let is_inside = |text: &Text| matches!(text, Text::Path(path) if path::stays_inside(path));
                !texts.is_empty() && texts.iter().all(is_inside)
            }
            _ => false,
        }
    }
}

fn text(access: Option<Access>, raw: Option<RawString<'_>>) -> Text {
    let Some(raw) = raw else {
        return Text::Hidden;
    };
    let text = raw.to_text().into_owned();
    match access {
        Some(Access::Shell) => Text::Command(Line::read(text)),
        Some(Access::Read | Access::Edit) => Text::Path(text),
        Some(Access::Fetch) => Text::Address(text),
        None => Text::Other(text),
    }
}

fn fields(tool: &ToolConfig) -> Vec<&str> {
    if let Some(field) = &tool.rule_subject {
        return vec![field];
    }
    let fields: &[&str] = match tool.access() {
        Some(Access::Shell) => &["command", "cmd"],
        Some(Access::Read | Access::Edit) => &["file_path", "path", "notebook_path", "filePath"],
        Some(Access::Fetch) => &["url", "uri"],
        None => &[],
    };
    fields.to_vec()
}

/// One of the fields is the tool's, or its schema does not say so plainly.
fn declares(tool: &ToolConfig, fields: &[&str]) -> bool {
    let schema = tool.full_schema.as_ref().unwrap_or(&tool.input_schema);
    let Some(schema) = Object::parse(schema.as_str()) else {
        return true;
    };
    let Some(properties) = schema.object("properties") else {
        return true;
    };
    let is_open = ["$ref", "allOf", "anyOf", "oneOf"]
        .iter()
        .any(|key| schema.has(key));
    is_open || properties.fields().len() == 0 || fields.iter().any(|field| properties.has(field))
}
