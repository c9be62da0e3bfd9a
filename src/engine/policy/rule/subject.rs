//! Finds the parts of a call's input that the specifiers of rules are compared with.
//!
//! The fields depend on the kind of resource that the tool accesses, or on the tool's `ruleSubject`. Every field that
//! may be the subject counts, because only the tool knows which one it reads. If a field cannot be read, the whole
//! call is unclear: allow rules then cover nothing. [`super::Rule`] compares the texts, and
//! [`crate::engine::policy::permission`] calls [`Subject::of`] once per call.

use looplet_scan::cursor::Cursor;
use looplet_scan::reader::Object;

use crate::engine::model::config::permission::{Address, Reading};
use crate::engine::model::config::{Access, ToolConfig};
use crate::engine::policy::rule::command;
use crate::engine::policy::rule::path::Folders;
use crate::engine::policy::rule::reading;

/// A call that is to be judged.
#[derive(Clone, Copy)]
pub struct RuledCall<'a> {
    pub tool: &'a ToolConfig,
    /// The arguments, as JSON.
    pub input: &'a str,
    pub readings: &'a [Reading],
    /// The call accesses another path than its input names. Its tool has reported this.
    pub leads_elsewhere: bool,
}

/// The texts that identify the subject of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// No particular call is meant.
    Unknown,
    /// Every field that may be the subject, also in nested objects, because only the tool knows which of them it
    /// reads. The list is empty if the input has none of them.
    Of(Vec<Text>),
}

/// The text of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    Command(String),
    Path {
        path: String,
        /// The path in Unicode's NFC; `None` if it is in that form.
        composed: Option<String>,
        /// The folder of a relative path; `None` if it is unknown.
        cwd: Option<String>,
    },
    Address {
        text: String,
        /// The parsed address; `None` if the platform cannot read it.
        address: Option<Address>,
    },
    Other(String),
    /// A value that is not text.
    Hidden,
}

impl Subject {
    /// The subject of the call. Relative paths are those of the folder `cwd`, if it is known.
    pub fn of(call: &RuledCall<'_>, cwd: Option<&str>) -> Subject {
        let RuledCall {
            tool,
            input,
            readings,
            ..
        } = *call;
        let fields = fields(tool);
        // The tool reads other fields than the ones that rules look at.
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
                Text::read(tool.access(), raw.to_text().into_owned(), readings, cwd)
            }));
            is_shown |= depth == 1;
        }
        // A search without a path begins in the working folder.
        if texts.is_empty() && tool.searches() {
            return Subject::Of(vec![Text::read(Some(Access::Read), ".".into(), readings, cwd)]);
        }
        // A list may contain more than the readable elements.
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

    /// True when specifiers can work for this tool.
    pub fn has_one(tool: &ToolConfig) -> bool {
        tool.rule_subject.is_some() || tool.access().is_some()
    }

    /// True when the tool's schema has none of the fields that rules look at.
    pub fn is_undeclared(tool: &ToolConfig) -> bool {
        !declares(tool, &fields(tool))
    }

    /// True for an edit, or a command that only moves files, if its path is known and inside the working folder.
    pub fn is_file_work(&self, tool: &ToolConfig, folders: &Folders<'_>) -> bool {
        let Subject::Of(texts) = self else {
            return tool.access() == Some(Access::Edit);
        };
        let is_fine = |text: &Text| match text {
            Text::Command(line) => command::only_moves_files(line),
            Text::Path { path, .. } => tool.access() == Some(Access::Edit) && folders.may_edit(path),
            _ => false,
        };
        !texts.is_empty() && texts.iter().all(is_fine)
    }

    /// True for a call that only reads, below a folder where the run works.
    pub fn is_reading(&self, tool: &ToolConfig, folders: &Folders<'_>) -> bool {
        let is_inside = |text: &Text| matches!(text, Text::Path { path, .. } if folders.hold(path));
        let is_fine = match self {
            Subject::Unknown => folders.cwd.is_some(),
            Subject::Of(texts) => !texts.is_empty() && texts.iter().all(is_inside),
        };
        tool.access() == Some(Access::Read) && is_fine
    }
}

impl Text {
    pub fn read(access: Option<Access>, text: String, readings: &[Reading], cwd: Option<&str>) -> Text {
        let reading = || reading::of(&text, readings);
        match access {
            Some(Access::Shell) => Text::Command(text),
            Some(Access::Read | Access::Edit) => Text::Path {
                composed: reading().and_then(|reading| reading.composed.clone()),
                path: text,
                cwd: cwd.map(str::to_owned),
            },
            Some(Access::Fetch) => Text::Address {
                address: reading().and_then(|reading| reading.address.clone()),
                text,
            },
            None => Text::Other(text),
        }
    }

    /// The text, if the platform's reading of it is used.
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

/// True when one of the fields belongs to the tool, or when the tool's schema does not plainly list its fields.
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
