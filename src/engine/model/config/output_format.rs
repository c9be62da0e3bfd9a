//! The format that answers must have: the schema of a structured answer, and how it is enforced.
//!
//! The options are in [`crate::engine::model::config::Config`]. The agent applies them to its requests and checks
//! each final answer. A schema that cannot be compiled is rejected before the run begins.

use serde::{Deserialize, Serialize};

use crate::engine::model::message::Json;

/// Asks for answers that match a schema. looplet checks each answer and asks again if it does not match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OutputFormat {
    /// The schema's name for the vendor, and the tool's name in tool mode.
    #[cfg_attr(test, schemars(extend("x-option" = "output")))]
    pub name: String,
    /// A description of the answer, for the model; used in tool mode. Default: none.
    #[cfg_attr(test, schemars(extend("x-option" = "output", "x-kind" = "string")))]
    pub description: String,
    /// JSON Schema of an object.
    pub schema: Json,
    /// Whether native mode uses the vendor's strict mode, for vendors that let you choose. Default: true if the
    /// schema allows it.
    #[cfg_attr(test, schemars(extend("x-option" = "output")))]
    pub strict: Option<bool>,
    /// How the answer is requested.
    #[cfg_attr(test, schemars(extend("x-option" = "output")))]
    pub mode: OutputMode,
    /// True when the engine checks answers against the schema; false when a Standard Schema does.
    pub validate: bool,
    /// Your code checks answers, too.
    pub ask: bool,
    /// How many times looplet asks again after an answer that does not match the schema, a non-negative integer.
    /// After the last retry the run is `stopped` by `structured_output`.
    #[cfg_attr(test, schemars(extend("x-option" = "output")))]
    pub max_retries: u32,
}

/// How the schema is enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OutputMode {
    /// Native if the vendor is known to enforce this schema, else by a tool.
    #[default]
    Auto,
    /// The vendor enforces the schema on the answer's text.
    Native,
    /// The model answers by a call of a tool that looplet adds; events and results do not show it.
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
