//! What an answer must be: the schema of a structured answer, and how a model is held to it.

use serde::{Deserialize, Serialize};

use crate::engine::model::message::Json;

/// Asks for answers that fit a schema; each is checked, and asked for again if it does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OutputFormat {
    /// For the vendor, and of the tool; default `answer`.
    pub name: String,
    /// What the answer is, for the model.
    pub description: String,
    /// JSON Schema of an object.
    pub schema: Json,
    /// The vendor enforces the schema, where it can choose; default: if it can enforce this one.
    pub strict: Option<bool>,
    pub mode: OutputMode,
    /// The engine checks answers against the schema; false where a Standard Schema does.
    pub validate: bool,
    /// The host checks answers too.
    pub ask: bool,
    /// Answers that do not fit, beyond the first; then the run is stopped. Default 3.
    pub max_retries: u32,
}

/// How a model is held to a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OutputMode {
    /// Natively where the protocol and the model can, else by a tool.
    #[default]
    Auto,
    Native,
    Tool,
}

impl Default for OutputFormat {
    fn default() -> OutputFormat {
        OutputFormat {
            name: "answer".to_owned(),
            description: String::new(),
            schema: Json::empty_object(),
            strict: None,
            mode: OutputMode::default(),
            validate: true,
            ask: false,
            max_retries: 3,
        }
    }
}
