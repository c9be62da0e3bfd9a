//! The model of a request and the way it is asked: plain data, part of a [`crate::engine::model::config::Config`].
//!
//! A protocol's `encode` reads it for every request. `Run::new` refuses a vendor or protocol that does not exist. No
//! key stands here: `authorize` adds it in JavaScript after the request has left the engine.

use serde::{Deserialize, Serialize};

use crate::engine::model::message::Json;
use crate::engine::model::usage::Price;

/// A model, its address, and the way it is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ModelConfig {
    /// The face's number of the model. Each request carries it, so that the right key is used.
    pub slot: u32,
    /// The name of a vendor row (`anthropic`, `openai`, …), or `compatible` or `custom`.
    pub vendor: String,
    /// The wire protocol's name; default: the vendor's own.
    pub protocol: Option<String>,
    pub model: String,
    /// The address of the API, with or without a trailing slash; default: the vendor's own.
    pub base_url: Option<String>,
    /// Further request headers, in order. A key never stands here: `authorize` adds it.
    pub headers: Vec<(String, String)>,
    /// Asks for a stream; default true.
    pub stream: bool,
    /// The most tokens of one answer; default 8192 where the protocol demands a number, else the vendor's own default.
    pub max_output_tokens: Option<u64>,
    /// Sampling numbers, kept as their JSON text.
    pub temperature: Option<Json>,
    pub top_p: Option<Json>,
    pub top_k: Option<Json>,
    pub frequency_penalty: Option<Json>,
    pub presence_penalty: Option<Json>,
    pub seed: Option<Json>,
    pub stop_sequences: Vec<String>,
    /// `{ "budgetTokens": n }` for Anthropic's extended thinking, or the vendor's own object.
    pub thinking: Option<Json>,
    /// `low`, `medium`, `high`, `xhigh` or `max`, for vendors that have such a setting.
    pub effort: Option<String>,
    pub tool_choice: Option<ToolChoice>,
    /// `false` asks the vendor for at most one call per answer.
    pub parallel_tool_calls: Option<bool>,
    /// The form of an answer's text; default: any.
    pub response_format: Option<ResponseFormat>,
    pub prompt_caching: PromptCaching,
    /// A JSON object that the vendor stores with the request, for vendors that have such a field.
    pub metadata: Option<Json>,
    /// A JSON object whose fields are added to the request body. They win over looplet's own.
    pub body: Option<Json>,
    /// A JSON object of the server's deviations from its protocol's documentation: see
    /// [`crate::engine::protocol::quirks`]. Default: the deviations in the vendor's row.
    pub quirks: Option<Json>,
    pub price: Option<Price>,
}

impl ModelConfig {
    /// Creates a model with this vendor and name; every other field has its default.
    pub fn new(vendor: String, model: String) -> ModelConfig {
        ModelConfig {
            vendor,
            model,
            ..ModelConfig::default()
        }
    }
}

impl Default for ModelConfig {
    fn default() -> ModelConfig {
        ModelConfig {
            slot: 0,
            vendor: String::new(),
            protocol: None,
            model: String::new(),
            base_url: None,
            headers: Vec::new(),
            stream: true,
            max_output_tokens: None,
            temperature: None,
            top_p: None,
            top_k: None,
            frequency_penalty: None,
            presence_penalty: None,
            seed: None,
            stop_sequences: Vec::new(),
            thinking: None,
            effort: None,
            tool_choice: None,
            parallel_tool_calls: None,
            response_format: None,
            prompt_caching: PromptCaching::default(),
            metadata: None,
            body: None,
            quirks: None,
            price: None,
        }
    }
}

/// The calls that the model may or must make. JSON: `"auto"`, `"none"`, `"required"` or `{"tool":"name"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    Auto,
    None,
    Required,
    Tool(String),
}

/// Asks for an answer that is JSON and fits a schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ResponseFormat {
    /// The schema's name, for vendors that want one; default `answer`.
    pub name: String,
    /// JSON Schema, sent as it is.
    pub schema: Json,
    /// The vendor enforces the schema, where it can; default true.
    pub strict: bool,
}

/// Asks the vendor to cache the beginning of the prompt. Vendors that cache by themselves need none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PromptCaching {
    /// Sends cache markers; default: true where the vendor's own endpoint is known to take them and does not cache
    /// unasked.
    pub enabled: Option<bool>,
    /// The time for which the vendor keeps a marked prefix, `5m` or `1h`; default: the vendor's own.
    pub ttl: Option<String>,
    /// A key that routes requests to the same cache, for vendors that have one.
    pub key: Option<String>,
}

impl Default for ResponseFormat {
    fn default() -> ResponseFormat {
        ResponseFormat {
            name: "answer".to_owned(),
            schema: Json::empty_object(),
            strict: true,
        }
    }
}
