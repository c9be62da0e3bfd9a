//! The head of an agent's requests: system prompt, tools, effort and format of answers, and their later changes.
//!
//! Claude and GPT tie reasoning to what precedes it. For such a model the agent saves the head of its first request
//! and sends later changes as a message at the end. [`crate::engine::agent::history::head`] decides when. In a
//! journal the head is a separate fact, because it is long and seldom changes. The entry of a vendor's tool may
//! contain a secret, so a journal has only its digest. [`Head::complete`] restores the entry from the configuration.

use std::borrow::Cow;

use looplet_scan::reader::Object;
use serde::{Deserialize, Serialize};

use crate::engine::json::digest::short;
use crate::engine::model::config::{Loader, ToolConfig, VendorTool};
use crate::engine::model::message::Json;

/// The head that requests begin with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Head {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    #[serde(with = "declarations")]
    #[cfg_attr(test, schemars(with = "Vec<Declaration>"))]
    pub tools: Vec<ToolConfig>,
    /// The effort; absent if it is the model's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// True if the effort has changed where a message could not change it: it stays a field of the request.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub edits_effort: bool,
    /// The format of answers as the vendor has it; absent if that is text, or if the vendor does not compare it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Json>,
    /// The changes since, in their order.
    pub changes: Vec<HeadChange>,
    /// Digests of what the last request began with, if `events.prefix` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// True if there is only that digest.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_digest: bool,
}

impl Head {
    /// Adds the entries of the vendors' tools from these tools of the configuration. Returns false if one of them is
    /// missing or different: then no request can begin with this head.
    pub fn complete(&mut self, tools: &[ToolConfig]) -> bool {
        let added = self.changes.iter_mut().flat_map(|change| &mut change.added);
        self.tools.iter_mut().chain(added).all(|tool| {
            let Some(vendor) = &mut tool.vendor else {
                return true;
            };
            let now = tools.iter().find(|other| other.name == tool.name);
            let now = now.and_then(|other| other.vendor.as_ref());
            let Some(now) = now.filter(|now| entry_digest(now) == entry_digest(vendor)) else {
                return false;
            };
            if vendor != now {
                vendor.clone_from(now);
            }
            true
        })
    }
}

/// The digest of the entry, or what a journal has of it.
fn entry_digest(vendor: &VendorTool) -> String {
    let entry = vendor.entry.as_ref().map(Json::as_str).unwrap_or_default();
    match entry.strip_prefix('"') {
        Some(digest) => digest.trim_end_matches('"').to_owned(),
        None => short(entry),
    }
}

/// A change of the head, sent after a message of the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct HeadChange {
    /// The index of that message.
    pub at: usize,
    /// The system prompt from here on; empty for none. Absent if it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Tools that are new, or that have another declaration than before.
    #[serde(with = "declarations")]
    #[cfg_attr(test, schemars(with = "Vec<Declaration>"))]
    pub added: Vec<ToolConfig>,
    /// The names of removed tools that are offered again, as the model knows them.
    pub restored: Vec<String>,
    pub removed: Vec<String>,
    /// The effort from here on. Absent if it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The format of answers from here on, as the vendor has it. Absent if it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Json>,
}

impl HeadChange {
    /// True if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.system.is_none() && !self.changes_tools() && !self.changes_settings()
    }

    /// True if effort or format change.
    pub fn changes_settings(&self) -> bool {
        self.effort.is_some() || self.format.is_some()
    }

    pub fn changes_tools(&self) -> bool {
        !(self.added.is_empty() && self.restored.is_empty() && self.removed.is_empty())
    }

    /// The approximate length of its message.
    pub fn bytes(&self) -> usize {
        let tools = self.added.iter();
        let tools =
            tools.map(|tool| tool.description.len() + tool.input_schema.as_str().len() + tool.name.len());
        let format = self.format.as_ref().map_or(0, |format| format.as_str().len());
        self.system.as_ref().map_or(0, String::len) + tools.sum::<usize>() + format
    }
}

/// The name with which the model calls a tool. `None` for an entry without a name, which defines several tools.
pub fn called(tool: &ToolConfig) -> Option<Cow<'_, str>> {
    match tool.vendor.as_ref().and_then(|vendor| vendor.entry.as_ref()) {
        Some(entry) => Object::parse(entry.as_str())?.string("name"),
        None => Some(Cow::Borrowed(&tool.name)),
    }
}

/// What the model is shown of a tool.
pub fn declared(tool: &ToolConfig) -> ToolConfig {
    ToolConfig {
        name: tool.name.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
        strict: tool.strict,
        defer_loading: tool.defer_loading,
        loader: tool.loader,
        vendor: tool.vendor.clone(),
        ..ToolConfig::default()
    }
}

/// True if the model is shown the same of both tools.
pub fn is_same_declaration(tool: &ToolConfig, other: &ToolConfig) -> bool {
    let entry = |tool: &ToolConfig| tool.vendor.as_ref().and_then(|vendor| vendor.entry.clone());
    if tool.vendor.is_some() || other.vendor.is_some() {
        return tool.name == other.name && entry(tool) == entry(other);
    }
    tool.name == other.name
        && tool.description == other.description
        && tool.strict == other.strict
        && tool.input_schema == other.input_schema
}

/// The declaration of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
struct Declaration {
    name: String,
    description: String,
    input_schema: Option<Json>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    defer_loading: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    loader: Option<Loader>,
    /// The digest of a vendor's entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
}

impl From<&ToolConfig> for Declaration {
    fn from(tool: &ToolConfig) -> Declaration {
        Declaration {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: Some(tool.input_schema.clone()),
            strict: tool.strict,
            defer_loading: tool.defer_loading,
            loader: tool.loader,
            entry: tool.vendor.as_ref().map(entry_digest),
        }
    }
}

impl From<Declaration> for ToolConfig {
    fn from(declaration: Declaration) -> ToolConfig {
        ToolConfig {
            name: declaration.name,
            description: declaration.description,
            input_schema: declaration.input_schema.unwrap_or_else(Json::empty_object),
            strict: declaration.strict,
            defer_loading: declaration.defer_loading,
            loader: declaration.loader,
            vendor: declaration.entry.map(|digest| VendorTool {
                entry: Some(Json::string(&digest)),
                ..VendorTool::default()
            }),
            ..ToolConfig::default()
        }
    }
}

/// Tools as their declarations.
mod declarations {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Declaration, ToolConfig};

    pub fn serialize<S: Serializer>(tools: &[ToolConfig], serializer: S) -> Result<S::Ok, S::Error> {
        let tools: Vec<Declaration> = tools.iter().map(Declaration::from).collect();
        tools.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ToolConfig>, D::Error> {
        let tools = Vec::<Declaration>::deserialize(deserializer)?;
        Ok(tools.into_iter().map(ToolConfig::from).collect())
    }
}
