//! Which model a request is for, and how it is asked: plain data, part of a [`crate::engine::model::config::Config`].

use serde::{Deserialize, Serialize};

use crate::engine::model::message::Json;
use crate::engine::model::usage::Price;

/// Which model, where, and how it is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelConfig {
    /// The host's number for it, told with each request, so that the right key is used.
    pub slot: u32,
    /// A vendor row's name (`anthropic`, `openai`, …) or `compatible` / `custom`.
    pub vendor: String,
    /// The wire protocol's name; default: the vendor's own.
    pub protocol: Option<String>,
    pub model: String,
    /// Default: the vendor's. Without a trailing slash or with one.
    pub base_url: Option<String>,
    /// Further request headers, in order. Never a key: those come from `authorize`.
    pub headers: Vec<(String, String)>,
    /// Ask for a stream; default true.
    pub stream: bool,
    /// Tokens of one answer; default 8192 where the protocol demands a number, else the vendor's own default.
    pub max_output_tokens: Option<u64>,
    /// Sampling numbers are kept as their JSON text.
    pub temperature: Option<Json>,
    pub top_p: Option<Json>,
    pub top_k: Option<Json>,
    pub frequency_penalty: Option<Json>,
    pub presence_penalty: Option<Json>,
    pub seed: Option<Json>,
    pub stop_sequences: Vec<String>,
    /// `{ "budgetTokens": n }` for Anthropic's extended thinking, or the vendor's own object.
    pub thinking: Option<Json>,
    /// `low`, `medium`, `high`, `xhigh` or `max`, where the vendor has such a thing.
    pub effort: Option<String>,
    pub tool_choice: Option<ToolChoice>,
    /// `false` asks the vendor for at most one call per answer.
    pub parallel_tool_calls: Option<bool>,
    /// What the text of an answer must look like; default: anything.
    pub response_format: Option<ResponseFormat>,
    pub prompt_caching: PromptCaching,
    /// A JSON object that the vendor keeps with the request, where it has such a thing.
    pub metadata: Option<Json>,
    /// A JSON object whose fields are added to the request body; they win over ours.
    pub body: Option<Json>,
    /// What the server does otherwise than its protocol's documentation, a JSON object: see
    /// [`crate::engine::protocol::quirks`]. Default: those of the vendor's row.
    pub quirks: Option<Json>,
    pub price: Option<Price>,
}

impl ModelConfig {
    /// A model with this vendor and name, and nothing else said.
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

/// Whether and what the model must call. JSON: `"auto"`, `"none"`, `"required"` or `{"tool":"name"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    Auto,
    None,
    Required,
    Tool(String),
}

/// Asks for an answer that is JSON of a schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResponseFormat {
    /// The schema's name where the vendor wants one; default `answer`.
    pub name: String,
    /// JSON Schema, sent as it is.
    pub schema: Json,
    /// The vendor enforces the schema, where it can; default true.
    pub strict: bool,
}

/// Whether and how the vendor is asked to keep the prompt's prefix. Vendors that cache by themselves need none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptCaching {
    /// Markers are sent; default: where the vendor's own endpoint is known to take them and does not cache unasked.
    pub enabled: Option<bool>,
    /// How long the vendor keeps what is marked; default: its own (`5m` or `1h`).
    pub ttl: Option<String>,
    /// Requests with one key are sent to the same cache, where the vendor has such a thing.
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
