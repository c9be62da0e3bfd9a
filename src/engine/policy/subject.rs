//! What a call is about: the parts of its input that the specifiers of rules are compared with.

use super::super::config::{Access, ToolConfig};
use super::super::json_reader::{Object, string};
use super::{command, path};

/// What a call is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Of no call in particular.
    Unknown,
    /// Every field that may say it: a tool reads one of them, and which one nobody here knows. None if the input has
    /// none of them.
    Of(Vec<Text>),
}

/// One field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    Command(String),
    Path(String),
    Address(String),
    Other(String),
    /// Something else than a text.
    Hidden,
}

impl Subject {
    pub fn of(tool: &ToolConfig, input: &str) -> Subject {
        let Some(object) = Object::parse(input) else {
            return Subject::Of(Vec::new());
        };
        let access = tool.access();
        let text = |json: &str| match (string(json), access) {
            (None, _) => Text::Hidden,
            (Some(text), Some(Access::Shell)) => Text::Command(text.into_owned()),
            (Some(text), Some(Access::Read | Access::Edit)) => Text::Path(text.into_owned()),
            (Some(text), Some(Access::Fetch)) => Text::Address(text.into_owned()),
            (Some(text), None) => Text::Other(text.into_owned()),
        };
        let fields = fields(tool);
        // The tool reads something else than what rules could be shown.
        if !declares(tool, &fields) {
            return Subject::Of(Vec::new());
        }
        Subject::Of(
            fields
                .iter()
                .filter_map(|field| object.get(field).map(text))
                .collect(),
        )
    }

    /// Specifiers make sense for this tool.
    pub fn has_one(tool: &ToolConfig) -> bool {
        tool.rule_subject.is_some() || tool.access().is_some()
    }

    /// The tool's schema has none of the fields that would be looked at.
    pub fn is_undeclared(tool: &ToolConfig) -> bool {
        !declares(tool, &fields(tool))
    }

    /// An edit, or a command that only moves files about, of nothing outside the place where the run works.
    pub fn is_file_work(&self, tool: &ToolConfig) -> bool {
        let Subject::Of(texts) = self else {
            return tool.access() == Some(Access::Edit);
        };
        match tool.access() {
            Some(Access::Shell) => {
                let is_file_work =
                    |text: &Text| matches!(text, Text::Command(line) if command::only_moves_files(line));
                !texts.is_empty() && texts.iter().all(is_file_work)
            }
            Some(Access::Edit) => texts
                .iter()
                .all(|text| matches!(text, Text::Path(path) if path::stays_inside(path))),
            _ => false,
        }
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
