//! The parts of a call's input that the specifiers of rules are compared with.

use crate::engine::json::cursor::Cursor;
use crate::engine::json::reader::Object;
use crate::engine::model::config::{Access, ToolConfig};
use crate::engine::model::permission::{Address, Reading};
use crate::engine::policy::rule::reading;
use crate::engine::policy::rule::{command, path};

/// A call to be judged.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub tool: &'a ToolConfig,
    /// The arguments, as JSON.
    pub input: &'a str,
    pub readings: &'a [Reading],
}

/// The texts that say what a call is about.
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
    Command(String),
    Path {
        path: String,
        folded: Option<String>,
    },
    Address {
        text: String,
        /// None: nobody can read it.
        address: Option<Address>,
    },
    Other(String),
    /// Something else than a text.
    Hidden,
}

impl Subject {
    pub fn of(asked: &Asked<'_>) -> Subject {
        let Asked {
            tool,
            input,
            readings,
        } = *asked;
        let fields = fields(tool);
        // The tool reads something else than rules could be shown.
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
            let raw = match cursor.peek() {
                Some(b'n') => continue,
                Some(b'"') => cursor.string(),
                _ => None,
            };
            texts.push(raw.map_or(Text::Hidden, |raw| {
                Text::read(tool.access(), raw.to_text().into_owned(), readings)
            }));
            is_shown |= depth == 1;
        }
        // A list may hold more than the elements that show something.
        if !is_shown {
            texts.clear();
        }
        Subject::Of(texts)
    }

    pub fn texts(&self) -> &[Text] {
        match self {
            Subject::Unknown => &[],
            Subject::Of(texts) => texts,
        }
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
        let is_fine = |text: &Text| match text {
            Text::Command(line) => command::only_moves_files(line),
            Text::Path { path, .. } => tool.access() == Some(Access::Edit) && path::stays_inside(path),
            _ => false,
        };
        !texts.is_empty() && texts.iter().all(is_fine)
    }
}

impl Text {
    pub fn read(access: Option<Access>, text: String, readings: &[Reading]) -> Text {
        let reading = || reading::of(&text, readings);
        match access {
            Some(Access::Shell) => Text::Command(text),
            Some(Access::Read | Access::Edit) => Text::Path {
                folded: reading().and_then(|reading| reading.folded.clone()),
                path: text,
            },
            Some(Access::Fetch) => Text::Address {
                address: reading().and_then(|reading| reading.address.clone()),
                text,
            },
            None => Text::Other(text),
        }
    }

    /// The platform's reading of it counts.
    pub fn to_read(&self) -> Option<&str> {
        match self {
            Text::Address { text, .. } => Some(text),
            Text::Path { path, .. } => Some(path.as_str()).filter(|path| !path.is_ascii()),
            _ => None,
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
